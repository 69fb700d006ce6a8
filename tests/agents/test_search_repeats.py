"""The same decisions with the same keys are searched alike: in any company, on any number of threads, at any time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from agents.ismcts import IsmctsAgent
from agents.pimc import PimcAgent
from phantom_envs.arena.agent import ask
from phantom_envs.core.jit import JIT_DISABLED
from phantom_envs.core.table import Table
from phantom_envs.registry import game_ids, get_game
from tests.agents.digest import digests
from tests.agents.support import SETTINGS, Setting, decisions_of, ready, same_found, walk

pytestmark = pytest.mark.skipif(
    JIT_DISABLED, reason="whole games are searched; compiled and uncompiled searches are compared in small"
)

EFFORT = 24

every_game = pytest.mark.parametrize("game_id", game_ids())
every_search = pytest.mark.parametrize(
    ("agent_type", "options"),
    [
        (PimcAgent, {"worlds": EFFORT // 3, "playouts": 2}),
        (IsmctsAgent, {"iterations": EFFORT}),
        (IsmctsAgent, {"iterations": EFFORT, "selection": "ucb", "rollout": "random", "reuse": True}),
    ],
    ids=["pimc", "ismcts", "ismcts-reuse"],
)


def tables_of(game_id: str, most: int = 7) -> list[Table]:
    return walk(game_id, get_game(game_id).default_players, {}, seed=8, every=5, most=most)


@every_game
@every_search
def test_company_and_threads_change_nothing(game_id: str, agent_type: Any, options: dict[str, Any]) -> None:
    tables = tables_of(game_id)
    decisions = decisions_of(tables)
    together = ready(agent_type(**options), tables[0]).search(decisions)
    for more in ({"threads": 2}, {"threads": 3, "searches": 1}):
        assert same_found(ready(agent_type(**options, **more), tables[0]).search(decisions), together)
    agent = ready(agent_type(**options), tables[0])
    order = np.random.default_rng(0).permutation(len(tables))
    for row in order:
        alone = agent.search(decisions_of([tables[row]], [977 * int(row)], [int(row)]))
        assert (alone.visits[0] == together.visits[row]).all()
        assert np.array_equal(alone.values[0], together.values[row], equal_nan=True)
    other_keys = ready(agent_type(**options), tables[0]).search(decisions_of(tables, range(5, 5 + len(tables))))
    assert not same_found(other_keys, together)


@every_search
def test_games_played_before_change_nothing(agent_type: Any, options: dict[str, Any]) -> None:
    tables, others = tables_of("fantasmagoria_v0"), tables_of("phantom_v0")
    agent = agent_type(**options)
    first = ready(agent, tables[0]).search(decisions_of(tables))
    ready(agent, others[0]).search(decisions_of(others))
    assert same_found(ready(agent, tables[0]).search(decisions_of(tables)), first)


@every_search
def test_a_search_of_several_is_the_sum_of_them(agent_type: Any, options: dict[str, Any]) -> None:
    """Each of them once more by itself, as the only search of an agent."""
    tables = tables_of("phantom_trick_v0", 4)
    decisions = decisions_of(tables)
    double = ready(agent_type(**options, searches=2), tables[0])
    found = double.search(decisions)
    worlds = decisions.determinize(decisions.keys)
    task = double._task(worlds, decisions.words, decisions.keys, decisions.tables)
    assert len(task) == 2 * len(tables)
    single = ready(agent_type(**options), tables[0])
    visits, totals = np.zeros_like(found.visits), np.zeros_like(found.values)
    found_by: list[list[Any]] = [[], []]
    for number in range(2):
        for row in range(number, len(task), 2):
            fields = {name: value[row : row + 1] for name, value in vars(task).items()}
            part = replace(task, **fields | {"number": np.zeros(1, np.int64), "tables": np.array([row])})
            single.run(part)
            visits[row // 2] += part.visits[0]
            totals[row // 2] += part.totals[0]
            found_by[number].append(part.totals[0].copy())
    assert (visits == found.visits).all()
    tried = visits > 0
    assert (totals[tried] / visits[tried] == found.values[tried]).all()
    assert not np.array_equal(found_by[0], found_by[1])
    assert same_found(ready(agent_type(**options, searches=2, threads=2), tables[0]).search(decisions), found)


@pytest.fixture(scope="module")
def uncompiled() -> dict[str, Any]:
    """What a process without compilation finds."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.agents.digest"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_compiled_and_uncompiled_searches_agree(uncompiled: dict[str, Any]) -> None:
    assert digests() == uncompiled


@pytest.mark.parametrize(
    "setting", [pytest.param(s, id=f"{s[0]}-{s[1]}-{'-'.join(map(str, s[2].values()))}") for s in SETTINGS]
)
def test_whole_games(setting: Setting) -> None:
    """Pimc and ismcts take turns, with tiny budgets; every action is legal and no state is touched but by playing."""
    game_id, players, options = setting
    table = Table(get_game(game_id), players, options)
    table.deal(12)
    agents = [
        ready(PimcAgent(worlds=1, rollout="random"), table),
        ready(IsmctsAgent(iterations=2, reuse=True), table),
        ready(IsmctsAgent(iterations=3, selection="ucb"), table),
    ]
    for step in range(250):
        if table.over:
            break
        decisions = decisions_of([table], [step], [1])
        before = table.states.tobytes()
        action = int(ask(agents[step % 3], "a", decisions)[0])
        assert table.states.tobytes() == before
        if len(table.legal()) == 1:
            found = agents[step % 3].search(decisions)
            assert (found.visits.sum(), found.visits[0, action]) == (1, 1)
            assert np.isnan(found.values).all()
        table.play(action)
