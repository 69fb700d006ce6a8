"""Each helper, compiled and plain, against Python's own sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from phantom_envs.core import bits
from phantom_envs.core.jit import JIT_DISABLED, jit

UNTOUCHED = 99


def plain(function: Any) -> Any:
    """The Python function behind a compiled one."""
    return getattr(function, "py_func", function)


@jit
def _count(members: Any) -> int:
    return bits.count(members)


@jit
def _lowest(members: Any) -> int:
    return bits.lowest(members)


@jit
def _highest(members: Any) -> int:
    return bits.highest(members)


@jit
def _spread(out: Any, start: int, members: Any) -> None:
    bits.spread(out, start, members)


@jit
def _spread_exact(out: Any, start: int, members: Any, width: int) -> None:
    bits.spread_exact(out, start, members, width)


@jit
def _spread_numbers(out: Any, start: int, ones: Any, twos: Any, fours: Any, eights: Any) -> None:
    bits.spread_numbers(out, start, ones, twos, fours, eights)


def both(name: str, compiled: Any) -> list[Any]:
    """A helper compiled and plain, where this process compiles."""
    kinds = [pytest.param(plain(getattr(bits, name)), id="plain")]
    return kinds if JIT_DISABLED else [*kinds, pytest.param(compiled, id="compiled")]


def some_sets() -> list[set[int]]:
    """Corners, and random sets from sparse to dense."""
    rng = np.random.default_rng(1)
    corners: list[set[int]] = [{0}, {63}, {0, 63}, {31, 32}, set(range(64)), set(range(32)), set(range(32, 64))]
    shares = np.repeat([0.03, 0.2, 0.5, 0.9], 10)
    return corners + [set(np.flatnonzero(rng.random(64) < share).tolist()) | {5} for share in shares]


def word(members: set[int]) -> np.uint64:
    """A set as the bits of a number."""
    return np.uint64(sum(1 << member for member in members))


def members_of(value: Any) -> set[int]:
    """The set that a number's bits are; the number must have stayed a 64-bit one."""
    assert isinstance(value, int | np.uint64)
    return {index for index in range(64) if int(value) >> index & 1}


@pytest.mark.parametrize("bit", both("bit", bits.bit))
def test_bit(bit: Any) -> None:
    assert [members_of(bit(index)) for index in range(64)] == [{index} for index in range(64)]


@pytest.mark.parametrize("has", both("has", bits.has))
def test_has(has: Any) -> None:
    for members in [*some_sets(), set()]:
        assert {index for index in range(64) if has(word(members), index)} == members


@pytest.mark.parametrize("first_n", both("first_n", bits.first_n))
def test_first_n(first_n: Any) -> None:
    assert [members_of(first_n(n)) for n in range(65)] == [set(range(n)) for n in range(65)]


@pytest.mark.parametrize("drop_lowest", both("drop_lowest", bits.drop_lowest))
def test_drop_lowest(drop_lowest: Any) -> None:
    for members in some_sets():
        assert members_of(drop_lowest(word(members))) == members - {min(members)}


@pytest.mark.parametrize("count", both("count", _count))
def test_count(count: Any) -> None:
    for members in [*some_sets(), set()]:
        assert count(word(members)) == len(members)


@pytest.mark.parametrize("lowest", both("lowest", _lowest))
def test_lowest(lowest: Any) -> None:
    for members in some_sets():
        assert lowest(word(members)) == min(members)


@pytest.mark.parametrize("highest", both("highest", _highest))
def test_highest(highest: Any) -> None:
    for members in some_sets():
        assert highest(word(members)) == max(members)


def test_nth() -> None:
    """It calls other helpers, so it is plain only in a process that is."""
    for members in some_sets():
        assert [bits.nth(word(members), n) for n in range(len(members))] == sorted(members)


def flags(members: set[int], width: int) -> list[int]:
    """Membership of 0 … width-1."""
    return [int(index in members) for index in range(width)]


@pytest.mark.parametrize("spread", both("spread", _spread))
@pytest.mark.parametrize("start", [0, 1, 13])
def test_spread(spread: Any, start: int) -> None:
    for members in [*some_sets(), set()]:
        out = np.full(start + 64 + 7, UNTOUCHED, np.int8)
        spread(out, start, word(members))
        assert out.tolist() == [UNTOUCHED] * start + flags(members, 64) + [UNTOUCHED] * 7


@pytest.mark.parametrize("spread_exact", both("spread_exact", _spread_exact))
@pytest.mark.parametrize("start", [0, 3])
def test_spread_exact_writes_its_width_and_no_more(spread_exact: Any, start: int) -> None:
    for width in range(1, 65):
        for members in [*some_sets()[::3], set()]:
            out = np.full(start + width + 64, UNTOUCHED, np.int8)
            spread_exact(out, start, word(members), width)
            assert out.tolist() == [UNTOUCHED] * start + flags(members, width) + [UNTOUCHED] * 64, width


@pytest.mark.parametrize("spread_numbers", both("spread_numbers", _spread_numbers))
@pytest.mark.parametrize("start", [0, 5])
def test_spread_numbers(spread_numbers: Any, start: int) -> None:
    rng = np.random.default_rng(2)
    numbers = [np.full(64, 15), np.zeros(64, np.int64), np.arange(64) % 16, *rng.integers(16, size=(10, 64))]
    for row in numbers:
        digits = [word(set(np.flatnonzero(row >> digit & 1).tolist())) for digit in range(4)]
        out = np.full(start + 64 + 7, UNTOUCHED, np.int8)
        spread_numbers(out, start, *digits)
        assert out.tolist() == [UNTOUCHED] * start + row.tolist() + [UNTOUCHED] * 7


def test_a_row_of_a_batch_is_written_in_place() -> None:
    """A row of a C-contiguous batch is what the engine hands in."""
    batch = np.full((3, 70), UNTOUCHED, np.int8)
    _spread(batch[1], 4, word({0, 63}))
    assert batch[1, 4:68].tolist() == flags({0, 63}, 64)
    assert (batch[[0, 2]] == UNTOUCHED).all()
