"""Random legal play for tests, by generators of their own so that two runs can be held against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phantom_envs.core.table import Table


def choose(mask: NDArray[Any], rng: np.random.Generator) -> int:
    """A uniformly random action of a mask that is not empty."""
    return int(rng.choice(np.flatnonzero(mask)))


def advance(table: Table, rng: np.random.Generator, steps: int) -> None:
    """Play up to `steps` random steps of the game on `table`."""
    for _ in range(steps):
        if table.over:
            return
        table.play(choose(table.mask, rng))


def same(one: Any, other: Any) -> bool:
    """Whether nested dicts, tuples, lists and arrays are equal, dtypes and shapes included."""
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        if one.dtype == object:
            return one.shape == other.shape and all(map(same, one, other))
        return one.dtype == other.dtype and one.shape == other.shape and bool((one == other).all())
    return type(one) is type(other) and bool(one == other)
