"""The generator against its published output, and what is drawn from it against what it should be."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from phantom_envs.core.jit import JIT_DISABLED, jit
from phantom_envs.core.rng import as_seed, below, mix, next64, shuffle, successor, uniform
from tests.chance import assert_uniform

DRAWS = 3_000 if JIT_DISABLED else 300_000


def generator(seed: int) -> Any:
    """A generator in the state `seed`."""
    return np.array([seed], np.uint64)


@jit
def count_below(rng: Any, counts: Any, draws: int) -> None:
    """Count `draws` numbers below `len(counts)`."""
    for _ in range(draws):
        counts[below(rng, len(counts))] += 1


@jit
def mean_below(rng: Any, n: int, draws: int) -> float:
    """Mean of `draws` numbers below `n`, as a share of n."""
    total = 0.0
    for _ in range(draws):
        total += (below(rng, n) + 0.5) / n
    return total / draws


def test_reference_output() -> None:
    """First output of Vigna's splitmix64.c for the state 1234567, as published with many ports of it."""
    rng = generator(1234567)
    assert [int(next64(rng)) for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_wraps_around_without_a_warning() -> None:
    rng = generator(2**64 - 1)
    assert int(next64(rng)) == int(mix(rng[0]))
    assert int(rng[0]) == 0x9E3779B97F4A7C15 - 1


def test_successor_is_the_first_output_of_the_seed() -> None:
    assert int(successor(np.uint64(1234567))) == 6457827717110365317


def test_same_state_same_numbers() -> None:
    one, two = generator(9), generator(9)
    assert [below(one, 10) for _ in range(50)] == [below(two, 10) for _ in range(50)]


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 60, 64])
def test_below_is_uniform(n: int) -> None:
    counts = np.zeros(n, np.int64)
    count_below(generator(n), counts, DRAWS)
    assert counts.sum() == DRAWS
    assert_uniform(counts.tolist())


@pytest.mark.parametrize("n", [3 * 2**30, 2**32 - 1])
def test_below_is_unbiased_where_a_plain_product_is_not(n: int) -> None:
    """With n of 3/4 of the range, a third of the numbers would come twice as often as the others without rejection."""
    rng = generator(n)
    thirds = Counter(int(below(rng, n)) % 3 for _ in range(3_000))
    assert_uniform([thirds[rest] for rest in range(3)])
    assert max(int(below(rng, n)) for _ in range(1_000)) < n
    assert mean_below(rng, n, DRAWS) == pytest.approx(0.5, abs=5 * (1 / 12 / DRAWS) ** 0.5)


def test_below_one_is_zero() -> None:
    assert {int(below(generator(seed), 1)) for seed in range(20)} == {0}


def test_uniform_is_in_the_half_open_interval() -> None:
    rng = generator(4)
    drawn = [float(uniform(rng)) for _ in range(4_000)]
    assert 0.0 <= min(drawn) < 0.01
    assert 0.99 < max(drawn) < 1.0
    tenths = Counter(int(10 * number) for number in drawn)
    assert_uniform([tenths[tenth] for tenth in range(10)])


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_order_is_equally_likely(n: int) -> None:
    rng = generator(n)
    orders: Counter[tuple[int, ...]] = Counter()
    for _ in range(4_800):
        items = np.arange(6)
        shuffle(rng, items, n)
        assert items[n:].tolist() == list(range(n, 6)), "nothing behind the first n moves"
        orders[tuple(items[:n].tolist())] += 1
    assert_uniform([orders[order] for order in permutations(range(n))])


def test_as_seed() -> None:
    assert as_seed(0) == 0
    assert as_seed(True) == 1
    assert as_seed(np.uint64(2**64 - 1)) == 2**64 - 1
    assert as_seed(np.int8(5)) == 5
    assert as_seed(2**64) == 1
    assert as_seed((7 << 128) | (2 << 64) | 1) == 7 ^ 2 ^ 1
    with pytest.raises(ValueError, match="negative"):
        as_seed(-1)
    for wrong in (1.0, "1", None):
        with pytest.raises(TypeError):
            as_seed(wrong)  # type: ignore[arg-type]  # what the test is about
