"""Both searches against exact values: all worlds enumerated, the games played out by the slow references.

What the searching seat should do is settled where

* all cards lie open (`open`), so that max^n by full search tells; or nothing hidden matters any more, as in the last
  turn of Phantom;
* cards are hidden, but whoever else may choose does not need them: then it is the optimum over information sets, each
  action's mean over all worlds that fit what the seat knows, its later decisions made without seeing more;
* two players are left with two turns: the rival answers with the best of what its hidden hand holds.

Positions where it is not settled are passed over; they are found by going through random games of consecutive seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.ismcts import IsmctsAgent
from agents.pimc import PimcAgent
from phantom_envs.arena.agent import Decisions
from phantom_envs.core.jit import JIT_DISABLED
from tests.agents.exact import Position, Unclear
from tests.agents.positions import fantasmagoria, open_phantom_trick, phantom, phantom_trick
from tests.agents.support import by_name, decisions_of, ready

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="searches to convergence; uncompiled they would take hours")

NUMBER = 8  # positions of each kind
PLAYED_OUT = 5  # of them also by random play, which takes far more steps
LEAST_STEPS = 15  # of full search; below that there is next to nothing to find out
WORLDS = 4_000
SURE = 5.0  # standard errors
CLOSE = {
    "score": 0.02,
    "win": 0.1,
}  # what exploration may cost, in rewards: a fifth of a point, or of 1.5 that a win is

KINDS: dict[str, Callable[[], Iterator[Position]]] = {
    "phantom_trick-open": lambda: open_phantom_trick(range(60)),
    "phantom_trick-3": lambda: phantom_trick(3, range(60)),
    "phantom_trick-4": lambda: phantom_trick(4, range(60)),
    "phantom_trick-5": lambda: phantom_trick(5, range(60)),
    "phantom_trick-3-win": lambda: phantom_trick(3, range(120), goal="win", horizon="game"),
    "fantasmagoria-open": lambda: fantasmagoria(3, range(60), most=1),
    "fantasmagoria-3-game": lambda: fantasmagoria(3, range(120), horizon="game"),
    "fantasmagoria-4": lambda: fantasmagoria(4, range(60)),
    "phantom-two-turns": lambda: phantom(99, 1, range(60)),
    "phantom-last-turn-win": lambda: phantom(100, 1, range(90), goal="win"),
    "phantom-last-turn-four-plays": lambda: phantom(100, 4, range(60)),
}

every_kind = pytest.mark.parametrize("kind", KINDS)


@dataclass
class Truth:
    """A position and, per action, what it is worth to the seat to act."""

    position: Position
    values: dict[str, float]

    @property
    def best(self) -> float:
        """The worth of the best action."""
        return max(self.values.values())


@cache
def solved(kind: str) -> list[Truth]:
    """The first positions of a kind that have an exact value and where it matters what is done."""
    found: list[Truth] = []
    for position in KINDS[kind]():
        solver = position.solver()
        try:
            values = solver.best(position.references(), position.seat)
        except Unclear:
            continue
        worth = {action: float(value[position.seat]) for action, value in values.items()}
        if solver.steps >= LEAST_STEPS and max(worth.values()) - min(worth.values()) > 0.01:
            found.append(Truth(position, worth))
        if len(found) == NUMBER:
            break
    return found


@cache
def moments(kind: str) -> list[dict[str, tuple[float, float]]]:
    """Per position and action, mean and variance of what random play from there on brings."""
    return [
        {
            action: truth.position.solver().at_random(truth.position.references(), action, truth.position.seat)
            for action in truth.values
        }
        for truth in solved(kind)[:PLAYED_OUT]
    ]


def searcher(agent_type: Any, kind: str, **options: Any) -> Any:
    """An agent that strives for what the positions of a kind are about."""
    position = solved(kind)[0].position
    return ready(agent_type(goal=position.goal, horizon=position.horizon, **options), position.table)


@every_kind
def test_there_is_enough_to_test(kind: str) -> None:
    truths = solved(kind)
    assert len(truths) == NUMBER
    assert ("open" in kind) == all(len(truth.position.worlds) == 1 for truth in truths)


@every_kind
@pytest.mark.parametrize("playouts", [1, 3])
def test_pimc_values_actions_by_random_play_in_all_worlds(kind: str, playouts: int) -> None:
    agent = searcher(PimcAgent, kind, worlds=WORLDS, playouts=playouts, rollout="random")
    decisions = decisions_of([truth.position.table for truth in solved(kind)[:PLAYED_OUT]])
    found = agent.search(decisions)
    chosen = agent.choose(found)
    for row, exact in enumerate(moments(kind)):
        values = by_name(decisions, row, found.values)
        assert values.keys() == exact.keys()
        errors = {action: sqrt(max(variance, 0) / WORLDS) for action, (_, variance) in exact.items()}
        for action, (mean, _) in exact.items():
            assert values[action] == pytest.approx(mean, abs=SURE * errors[action] + 1e-9), (row, action)
        top, second = sorted((mean for mean, _ in exact.values()), reverse=True)[:2]
        if top - second > 2 * SURE * max(errors.values()) + 1e-9:
            assert exact[name_of(decisions, row, chosen)][0] == top


def name_of(decisions: Decisions, row: int, chosen: NDArray[np.int64]) -> str:
    """The name of the action chosen in a row."""
    return dict(zip(decisions.legal(row), decisions.names(row), strict=True))[int(chosen[row])]


SELECTIONS: dict[str, dict[str, Any]] = {
    "puct": {"selection": "puct", "iterations": 15_000},
    "puct without advice": {"selection": "puct", "trust": 0.0, "iterations": 15_000},
    "ucb": {"selection": "ucb", "iterations": 40_000},
}


@every_kind
@pytest.mark.parametrize("selection", SELECTIONS)
def test_ismcts_finds_the_optimum(kind: str, selection: str) -> None:
    truths = solved(kind)
    agent = searcher(IsmctsAgent, kind, rollout="random", **SELECTIONS[selection])
    decisions = decisions_of([truth.position.table for truth in truths])
    found = agent.search(decisions)
    chosen = agent.choose(found)
    for row, truth in enumerate(truths):
        assert truth.values[name_of(decisions, row, chosen)] == pytest.approx(truth.best, abs=1e-9), row
        assert found.values[row, chosen[row]] == pytest.approx(truth.best, abs=CLOSE[truth.position.goal]), row
