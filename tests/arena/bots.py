"""Agents that the tests name in specs or make themselves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from phantom_envs.arena.agent import Decision, Decisions, SingleAgent
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


class NoAgent:
    """Has no `act`."""


class Twitching(First):
    """Plays like `First` and does something else at its nth decision of a process.

    Args:
        folder: Gets a file named like each process that has come there.
        decision: Which one.
        deed: What it does then.
    """

    def __init__(self, folder: str, decision: int, deed: str) -> None:
        self.folder = folder
        self.left = decision
        self.deed = deed

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        before, self.left = self.left, self.left - len(decisions)
        if self.left <= 0 < before:
            Path(self.folder, str(os.getpid())).touch()
            self.do()
        return super().act(decisions)

    def do(self) -> None:
        match self.deed:
            case "spin":
                spin(np.ones(1))
            case "spin with the GIL":
                spin_with_the_gil(np.ones(1))
            case "leave":
                sys.exit(0)
            case "vanish":
                os._exit(0)
            case "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "starve":
                os.kill(os.getpid(), signal.SIGKILL)
            case "raise":
                raise Sealed(1, 2)
            case "start":  # a program that outlives whoever does not kill it
                command = "trap '' INT TERM HUP; while :; do sleep 0.1; done"
                program = subprocess.Popen(["/bin/sh", "-c", command])
                Path(self.folder, str(program.pid)).touch()
            case _:
                raise AssertionError(self.deed)


def _spin(value: NDArray[np.float64]) -> None:
    while value[0] > 0:
        value[0] = value[0] + 1.0 if value[0] < 1e6 else 1.0


spin = numba.njit(nogil=True)(_spin)
spin_with_the_gil = numba.njit(nogil=False)(_spin)


class Sealed(Exception):
    """Does not come back from a pickle."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


class Clinging(First):
    """Cannot be closed."""

    def close(self) -> None:
        raise OSError("it clings")
