"""Random numbers from a generator that lives in one `uint64`: SplitMix64.

Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014); constants as in Vigna's
reference `splitmix64.c`. A generator is a `uint64` array of length one, so it can be a field of a record.
"""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from phantom_envs.core.jit import jit, wrapping

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)
_THIRTY_TWO = np.uint64(32)
_TWO_TO_32 = np.uint64(1 << 32)


@wrapping
def mix(value: Any) -> Any:
    """SplitMix64's finalizer: a bijection of `uint64` that scatters neighbouring values."""
    value = (value ^ (value >> np.uint64(30))) * _MIX_A
    value = (value ^ (value >> np.uint64(27))) * _MIX_B
    return value ^ (value >> np.uint64(31))


@wrapping
def successor(seed: Any) -> Any:
    """The seed of the game that follows the game of `seed` when no seed is given."""
    return mix(seed + _GAMMA)


def successors(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """`successor` of every entry, in NumPy, whose arrays wrap around silently."""
    scattered: NDArray[np.uint64] = getattr(mix, "py_func", mix)(seeds + _GAMMA)
    return scattered


@wrapping
def next64(rng: Any) -> Any:
    """The next 64 random bits of the generator `rng` (`uint64`, shape (1,)), which moves on."""
    rng[0] = rng[0] + _GAMMA
    return mix(rng[0])


@jit
def below(rng: Any, n: int) -> int:
    """A uniformly random integer of 0 … n-1, `1 <= n < 2**32`.

    Lemire, "Fast random integer generation in an interval" (2019), with its rejection, so without any bias.
    """
    bound = np.uint64(n)
    product = (next64(rng) >> _THIRTY_TWO) * bound
    if (product & _LOW_32) < bound:
        threshold = (_TWO_TO_32 - bound) % bound
        while (product & _LOW_32) < threshold:
            product = (next64(rng) >> _THIRTY_TWO) * bound
    return np.int64(product >> _THIRTY_TWO)  # type: ignore[return-value]  # numba's integers are NumPy's


@jit
def uniform(rng: Any) -> float:
    """A uniformly random float of [0, 1), 53 bits."""
    return np.float64(next64(rng) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@jit
def shuffle(rng: Any, items: Any, n: int) -> None:
    """Shuffle `items[:n]` in place, every order equally likely (Fisher-Yates)."""
    for i in range(n - 1, 0, -1):
        j = below(rng, i + 1)
        kept = items[i]
        items[i] = items[j]
        items[j] = kept


def as_seed(seed: SupportsIndex) -> int:
    """`seed` as a number of 0 … 2**64-1. Takes whatever has `__index__`; larger numbers are folded.

    Raises:
        TypeError: `seed` is no integer.
        ValueError: `seed` is negative.
    """
    value = operator.index(seed)
    if value < 0:
        raise ValueError(f"a seed must not be negative, got {value}; pass 0 or more")
    folded = 0
    while True:
        folded ^= value & 0xFFFFFFFFFFFFFFFF
        value >>= 64
        if not value:
            return folded
