"""Is what was drawn uniform? A chi-square test without tables."""

from __future__ import annotations

from collections.abc import Collection
from math import sqrt

SURE = 4.5  # standard deviations: a sound generator fails one test in 300,000


def excess(observed: Collection[float], expected: float) -> float:
    """How many standard deviations the chi-square of `observed`, each expected alike, lies above its mean.

    Wilson and Hilferty (1931): the cube root of chi-square over its degrees of freedom is nearly normal.
    """
    freedom = len(observed) - 1
    square = sum((count - expected) ** 2 for count in observed) / expected
    spread = 2 / (9 * freedom)
    return float(((square / freedom) ** (1 / 3) - (1 - spread)) / sqrt(spread))


def assert_uniform(observed: Collection[float]) -> None:
    """The counts of equally likely outcomes, zeros included."""
    expected = sum(observed) / len(observed)
    assert expected >= 5, "too few draws to judge"
    if len(observed) > 1:
        assert excess(observed, expected) < SURE
