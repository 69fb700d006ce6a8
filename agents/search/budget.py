"""How long a search goes on: a number of iterations, or milliseconds for each decision."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from phantom_envs.core.errors import InvalidOption

FIRST_PORTION = 1
LEAST = 4
"""Worlds, or iterations or batches of them, that are done whatever the clock says: less is no search."""

PORTIONS = 16
"""A search by the clock looks at it about this many times."""


def check_number(name: str, value: object, least: int) -> int:
    """`value` if it is an integer of at least `least`, else `InvalidOption`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidOption(f"{name}={value!r}: give an integer of at least {least}")
    return value


def check_share(name: str, value: object) -> float:
    """`value` if it is a number of 0 … 1, else `InvalidOption`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidOption(f"{name}={value!r}: give a number from 0 to 1")
    return float(value)


def check_positive(name: str, value: object) -> float:
    """`value` if it is a positive number, else `InvalidOption`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise InvalidOption(f"{name}={value!r}: give a positive number")
    return float(value)


def portions(seconds: float) -> Iterator[range]:
    """Portions of work, as ranges that follow each other, until the time since the first one is up.

    Each is sized by the pace so far; the first are small.
    """
    began = perf_counter()
    done = 0
    size = FIRST_PORTION
    while True:
        yield range(done, done + size)
        done += size
        gone = perf_counter() - began
        if gone >= seconds and done >= LEAST:
            return
        pace = done / gone
        size = max(1, min(int(pace * seconds / PORTIONS), int(pace * (seconds - gone)), 4 * size))
