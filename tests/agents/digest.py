"""What the same searches find with compiled and with uncompiled rules.

    NUMBA_DISABLE_JIT=1 python -m tests.agents.digest

prints, for every game, visits and values found in a few positions by searches of every sort, with very few playouts.
"""

from __future__ import annotations

import json

import numpy as np

from agents.ismcts import IsmctsAgent
from agents.pimc import PimcAgent
from phantom_envs.registry import game_ids, get_game
from tests.agents.support import AnyAgent, decisions_of, ready, walk
from tests.settings import settings_of


def searches(game_id: str) -> list[AnyAgent]:
    """One search of every sort."""
    near = "game" if get_game(game_id).deal_field is None else "deal"
    return [
        PimcAgent(worlds=2, rollout="random", horizon=near),
        PimcAgent(worlds=1, playouts=2, noise=0.2, horizon=near),
        IsmctsAgent(iterations=6, horizon=near),
        IsmctsAgent(
            iterations=4, rollout="random", selection="ucb", goal="score", searches=2, reuse=True, horizon=near
        ),
    ]


def digest(game_id: str) -> list[list[list[float]]]:
    """Per search, visits and values at the legal actions; values rounded, since compiled code may fuse operations."""
    game = get_game(game_id)
    tables = walk(game_id, game.default_players, settings_of(game)[-1], seed=6, every=17, most=2)
    decisions = decisions_of(tables)
    found = []
    for agent in searches(game_id):
        what = ready(agent, tables[0]).search(decisions)
        legal = decisions.mask > 0
        values = np.round(np.nan_to_num(what.values[legal], nan=-99.0), 9)
        found.append([what.visits[legal].tolist(), values.tolist()])
    return found


def digests() -> dict[str, list[list[list[float]]]]:
    """What is found in all games."""
    return {game_id: digest(game_id) for game_id in game_ids()}


if __name__ == "__main__":
    print(json.dumps(digests()))
