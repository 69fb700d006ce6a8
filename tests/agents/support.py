"""What tests of the searching agents share: decisions made of games in play, and findings held against each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.ismcts import IsmctsAgent
from agents.pimc import PimcAgent
from agents.search.found import Found
from phantom_envs.arena.agent import Decisions
from phantom_envs.core.game import States
from phantom_envs.core.table import Table
from phantom_envs.registry import game_ids, get_game
from tests.settings import settings_of

AnyAgent: TypeAlias = PimcAgent | IsmctsAgent

Setting: TypeAlias = tuple[str, int, dict[str, Any]]

SETTINGS: list[Setting] = [
    (game_id, players, options)
    for game_id in game_ids()
    for players, options in product(get_game(game_id).players, settings_of(get_game(game_id)))
]
"""Every game, player count and combination of options."""


def decisions_of(
    tables: Sequence[Table], keys: Sequence[int] | None = None, numbers: Sequence[int] | None = None
) -> Decisions:
    """The decisions to be made at some tables of equal settings, with keys and numbers by their place."""
    first = tables[0]
    states = np.concatenate([table.states for table in tables])
    places = np.arange(len(tables))
    given = places * 977 if keys is None else keys
    return Decisions(
        first.game,
        first.num_players,
        first.options,
        states,
        np.array(given, np.uint64),
        np.array(places if numbers is None else numbers, np.int64),
    )


def with_states(decisions: Decisions, states: States) -> Decisions:
    """The same decisions with other true states."""
    return Decisions(decisions.game, decisions.num_players, decisions.options, states, decisions.keys, decisions.tables)


def ready(agent: Any, table: Table) -> Any:
    """The agent, prepared for games like the one on `table`."""
    agent.prepare(table.game, table.num_players, table.options)
    return agent


def same_found(one: Found, other: Found) -> bool:
    """Whether two searches found the same, to the last bit."""
    return bool((one.visits == other.visits).all()) and np.array_equal(one.values, other.values, equal_nan=True)


def walk(game_id: str, players: int, options: dict[str, Any], seed: int, every: int, most: int) -> list[Table]:
    """Copies of a random game at every so many steps, where there is a choice; `most` at most, from all of it."""
    table = Table(get_game(game_id), players, options)
    table.deal(seed)
    rng = np.random.default_rng(seed)
    found: list[Table] = []
    step = 0
    while not table.over and len(found) < most:
        legal = table.legal()
        if step >= every * len(found) and len(legal) > 1:
            found.append(table.copy())
        table.play(int(rng.choice(legal)))
        step += 1
    return found


def by_name(decisions: Decisions, row: int, values: NDArray[Any]) -> dict[str, float]:
    """Entries of `values` (K, A) at the legal actions of a row, by their names."""
    return {
        name: float(values[row, action])
        for name, action in zip(decisions.names(row), decisions.legal(row), strict=True)
    }
