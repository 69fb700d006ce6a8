"""How long a search goes on, in numbers or by the clock, and the checks of this and the other settings of a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import perf_counter

from phantom_envs.core.errors import InvalidOption

FIRST_PORTION = 1
LEAST = 4
"""Worlds, or iterations or batches of them, that are done whatever the clock says: less is no search."""

PORTIONS = 16
"""A search by the clock looks at it about this many times."""


SHOWN = 60
"""Characters of a wrong value that an error message repeats."""

MANY = 10**9
"""Most worlds, visits and the like that are taken: more than any search comes to, and sums of them fit 64 bits."""


def check_number(name: str, value: object, least: int, most: int = MANY) -> int:
    """`value` if it is an integer from `least` to `most`, else `InvalidOption`."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidOption(f"{name}={shown(value)}: give an integer of at least {least} and at most {most}")
    return value


def check_share(name: str, value: object) -> float:
    """`value` if it is a number of 0 … 1, else `InvalidOption`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidOption(f"{name}={shown(value)}: give a number from 0 to 1")
    return float(value)


def check_positive(name: str, value: object, most: float) -> float:
    """`value` if it is a positive number of at most `most`, else `InvalidOption`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
        raise InvalidOption(f"{name}={shown(value)}: give a positive number of at most {most:g}")
    return float(value)


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """`value` if it is one of `choices`, else `InvalidOption`."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidOption(f"{name}={shown(value)}: choose one of {', '.join(map(repr, choices))}")
    return value


def shown(value: object) -> str:
    """A value as an error message has it, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write integers of more digits than some thousands
        return "(a huge integer)"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


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
