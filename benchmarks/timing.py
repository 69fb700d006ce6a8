"""How things are timed: all contenders in turn, several times over, so that a machine that drifts hits all alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, TypeAlias

from benchmarks.machine import pinned

Loop: TypeAlias = Callable[[], int]
"""Plays on for some steps, well under a tenth of a second, and returns how many it played."""


@dataclass(frozen=True)
class Contender:
    """One way to play, to be timed.

    Attributes:
        library: Whose environment it is.
        game: The game there.
        players: Players.
        way: What drives the steps.
        make: Builds the loop. Called, as the loop, with this thread pinned to `cores`.
        cores: Where it runs.
        batch: Games at a time.
        threads: Threads that step them.
        observation: Numbers in an observation.
    """

    library: str
    game: str
    players: int
    way: str
    make: Callable[[], Loop] = field(compare=False)
    cores: tuple[int, ...] = (0,)
    batch: int = 1
    threads: int = 1
    observation: int | None = None


@dataclass(frozen=True)
class Result:
    """Steps per second of one contender."""

    library: str
    game: str
    players: int
    way: str
    batch: int
    threads: int
    cores: int
    observation: int | None
    runs: tuple[float, ...]

    @property
    def steps_per_second(self) -> float:
        """The median of the runs."""
        return median(self.runs)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"steps_per_second": self.steps_per_second, "runs": list(self.runs)}


def rate(loop: Loop, seconds: float) -> float:
    """Steps per second of `loop` over at least that time."""
    steps = 0
    began = time.perf_counter()
    while (passed := time.perf_counter() - began) < seconds:
        steps += loop()
    return steps / passed


def measure(
    contenders: Sequence[Contender], loops: Sequence[Loop], runs: int, seconds: float, tick: Callable[[str], None]
) -> list[Result]:
    """Time every contender's loop once per run, after one call that is not counted.

    Args:
        contenders: What is timed.
        loops: The loop of each.
        runs: Rounds through all of them.
        seconds: Duration of one timing.
        tick: Told what is timed next.
    """
    rates: list[list[float]] = [[] for _ in contenders]
    for _ in range(runs):
        for contender, loop, found in zip(contenders, loops, rates, strict=True):
            tick(f"{contender.library} {contender.game} {contender.players} {contender.way}")
            with pinned(contender.cores):
                loop()
                found.append(rate(loop, seconds))
    return [
        Result(
            each.library,
            each.game,
            each.players,
            each.way,
            each.batch,
            each.threads,
            len(each.cores),
            each.observation,
            tuple(found),
        )
        for each, found in zip(contenders, rates, strict=True)
    ]
