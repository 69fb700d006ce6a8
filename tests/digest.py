"""What the same games come to with compiled and with uncompiled rules.

    NUMBA_DISABLE_JIT=1 python -m tests.digest

prints a checksum for every setting, over a few decisions from the start of a game and all that can be seen of it.
"""

from __future__ import annotations

import json
from itertools import product
from zlib import crc32

import numpy as np

from phantom_envs.core.batch import kernels
from phantom_envs.core.game import Game
from phantom_envs.core.table import Table
from phantom_envs.registry import game_ids, get_game
from tests.play import choose
from tests.settings import settings_of

STEPS = 40


def digest(game: Game, num_players: int, options: dict[str, object]) -> int:
    """Checksum over states, observations, masks, rewards, redrawn states and the rule bot's choices."""
    table = Table(game, num_players, options)
    table.deal(11)
    rng = np.random.default_rng(11)
    advice = np.zeros(1, np.int64)
    checksum = 0
    for step in range(STEPS):
        if table.over:
            table.deal()
        seen = [table.state_dict(), table.legal(), table.rewards.tolist(), table.observe(step % num_players).tolist()]
        kernels(game).advise(table.states, table.words.reshape(1, -1), advice, 0, 1)
        twin = table.copy()
        twin.resample(step % num_players, step)
        seen += [int(advice[0]), twin.state_dict()]
        checksum = crc32(json.dumps(seen).encode(), checksum)
        table.play(int(advice[0]) if step % 3 else choose(table.mask, rng))
    return checksum


def digests() -> dict[str, int]:
    """The checksums of all settings."""
    return {
        f"{game_id} {players} {options}": digest(get_game(game_id), players, options)
        for game_id in game_ids()
        for players, options in product(get_game(game_id).players, settings_of(get_game(game_id)))
    }


if __name__ == "__main__":
    print(json.dumps(digests()))
