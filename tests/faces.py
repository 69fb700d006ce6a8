"""What each game comes to in each face, as checksums, in one process.

    python -m tests.faces phantom_v0:batch das_phantom_v0:match

prints a line `phantom_v0:batch CHECKSUM` for each of them, in that order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from typing import Any
from zlib import crc32

import gymnasium
import numpy as np

import phantom_envs
from phantom_envs.arena.match import play_match
from phantom_envs.core.table import Table
from phantom_envs.registry import game_ids, get_game

STEPS = 60


def table(game_id: str) -> list[Any]:
    """A single game, copied and redrawn on the way."""
    played = Table(get_game(game_id))
    played.deal(5)
    seen: list[Any] = []
    while not played.over:
        twin = played.copy()
        twin.resample(played.seat, 3)
        seen += [twin.observe(0).tobytes(), twin.state_dict()]
        played.play(played.legal()[-1])
        seen.append(played.observe(1).tobytes())
    return seen


def batch(game_id: str) -> list[Any]:
    """A batch with random and with rule bot moves."""
    return stepped(game_id, number=1)


def threads(game_id: str) -> list[Any]:
    """The same over threads, whose code holds that of the kernels."""
    return stepped(game_id, number=2)


def stepped(game_id: str, number: int) -> list[Any]:
    """What a batch shows that is stepped by some threads."""
    vec = phantom_envs.make_vec(game_id, num_envs=6, seed=3, threads=number)
    vec.reset()
    seen: list[Any] = []
    for step in range(STEPS):
        found = vec.step(vec.sample() if step % 2 else vec.rule_actions())
        seen += [found.observation.tobytes(), found.action_mask.tobytes(), found.reward.tobytes()]
    return seen


def learner(game_id: str) -> list[Any]:
    """Gymnasium's batch, the opponents played in compiled code."""
    env_id = next(name for name, spec in gymnasium.registry.items() if spec.kwargs.get("game") == game_id)
    env: Any = gymnasium.make_vec(env_id, num_envs=4, vectorization_mode="vector_entry_point", opponents="rule")
    _, info = env.reset(seed=7)
    seen: list[Any] = []
    for _ in range(STEPS):
        observation, reward, *_, info = env.step(info["action_mask"].argmax(axis=1))
        seen += [observation.tobytes(), reward.tobytes()]
    return seen


def match(game_id: str) -> list[Any]:
    """The arena."""
    return played(game_id, ["rule", "random"], deals=5)


def search(game_id: str) -> list[Any]:
    """Agents that search."""
    return played(game_id, ["pimc:worlds=2", "ismcts:iterations=20", "random"][: get_game(game_id).default_players], 1)


def played(game_id: str, agents: list[str], deals: int) -> list[Any]:
    """What comes of a match."""
    _, results = play_match(game_id, agents, deals=deals, seed=1)
    return [results.share.tobytes(), results.points.tobytes(), results.decisions.tobytes()]


FACES: dict[str, Callable[[str], list[Any]]] = {
    face.__name__: face for face in (table, batch, threads, learner, match, search)
}

NAMES = [f"{game_id}:{face}" for game_id, face in product(game_ids(), FACES)]
"""Every game and face."""


def checksum(name: str) -> int:
    """The checksum of one of `NAMES`."""
    game_id, _, face = name.partition(":")
    return crc32(repr(FACES[face](game_id)).encode())


if __name__ == "__main__":
    np.seterr(all="raise")
    for name in sys.argv[1:]:
        print(name, checksum(name), flush=True)
