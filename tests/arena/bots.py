"""Agents that the tests name in specs or make themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phantom_envs.arena.agent import Agent, Decision, Decisions, SingleAgent
from phantom_envs.core.game import Game


class First:
    """Takes the first legal action: deterministic, and blind to all else."""

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        actions: NDArray[np.int64] = decisions.mask.argmax(axis=1)
        return actions


class Drawing(SingleAgent):
    """Draws from its own generator, one decision at a time."""

    def act_one(self, decision: Decision) -> int:
        return int(decision.rng().choice(decision.legal()))


class Configured(First):
    """Keeps what it was made with."""

    def __init__(self, level: int, name: str = "x", *, wild: bool = False) -> None:
        self.values = (level, name, wild)
        self.prepared: list[Any] = []
        self.closed = 0

    def prepare(self, game: Game, num_players: int, options: Mapping[str, Any]) -> None:
        self.prepared.append((game.id, num_players, dict(options)))

    def close(self) -> None:
        self.closed += 1


class Answers:
    """Answers what it was given, right or wrong."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, decisions: Decisions) -> Any:
        return self.answer


class Vandal:
    """Writes into all that it is given, and then does what its fellow chose before."""

    def __init__(self, fellow: Agent, options: Mapping[str, Any]) -> None:
        self.fellow = fellow
        self.options = options

    def prepare(self, game: Game, num_players: int, options: Any) -> None:
        options.update(self.options)

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        actions = self.fellow.act(decisions)
        ravage(decisions, self.options)
        return actions


def ravage(decisions: Decisions, options: Mapping[str, Any]) -> None:
    """Write into everything that an agent is given, write protection or not."""
    names = ("words", "mask", "observation", "keys", "tables", "seat")
    given = [getattr(each, name) for each in (decisions, decisions[0]) for name in names if hasattr(each, name)]
    for array in given:
        if isinstance(array, np.ndarray):
            array.setflags(write=True)
            array[...] = 99
            if isinstance(array.base, np.ndarray):
                array.base[...] = 99
    decisions.words[:] = ~np.uint64(0)
    for mapping in (decisions.options, decisions[0].options):
        mapping.update(options)  # type: ignore[attr-defined]  # it is declared as one that cannot be changed


class NoAgent:
    """Has no `act`."""
