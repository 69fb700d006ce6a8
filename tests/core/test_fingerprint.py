"""The hash of what a compiled function depends on."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
import pytest

from phantom_envs.core import bits
from phantom_envs.core.fingerprint import UnclearDependency, fingerprint

SOURCE = """
@jit
def called(x):
    return x + SHIFT

@jit
def top(x):
    return called(x) * int(np.int64(2)) + TABLE[0]
"""


def top(source: str = SOURCE, **names: Any) -> Callable[..., Any]:
    """The function `top` of a source, as a module with these globals would have it."""
    scope: dict[str, Any] = {"jit": numba.njit, "np": np, "SHIFT": 3, "TABLE": np.arange(3)} | names
    exec(source, scope)  # noqa: S102  # written above
    made: FunctionType = scope["top"].py_func
    return made


def test_the_same_function_made_twice_is_the_same() -> None:
    assert fingerprint(top()) == fingerprint(top())


def test_words_do_not_count() -> None:
    commented = SOURCE.replace("    return x +", '    """What it does."""\n    # why\n    return x +')
    assert commented != SOURCE
    assert fingerprint(top(commented)) == fingerprint(top())
    assert fingerprint(top(commented.replace("What it does", "Words"))) == fingerprint(top())


@pytest.mark.parametrize(
    ("old", "new"),
    [("x + SHIFT", "x - SHIFT"), ("* int", "+ int"), ("TABLE[0]", "TABLE[1]"), ("def called(x)", "def called(x, y=1)")],
)
def test_an_edit_counts_also_in_what_is_called(old: str, new: str) -> None:
    assert SOURCE.count(old) == 1
    assert fingerprint(top(SOURCE.replace(old, new))) != fingerprint(top())


@pytest.mark.parametrize(
    "names",
    [
        {"SHIFT": 4},
        {"SHIFT": 3.0},
        {"SHIFT": True},
        {"TABLE": np.arange(1, 4)},
        {"TABLE": np.arange(3, dtype=np.int32)},
        {"TABLE": np.arange(3).reshape(1, 3)},
        {"TABLE": (0, 1, 2)},
    ],
    ids=str,
)
def test_values_of_globals_count(names: dict[str, Any]) -> None:
    assert fingerprint(top(**names)) != fingerprint(top())


def closure(number: Any) -> Callable[[], Any]:
    def made() -> Any:
        return number

    return made


def test_what_is_closed_over_counts() -> None:
    assert fingerprint(closure(1)) == fingerprint(closure(1))
    different = [1, 2, 1.0, "1", (1,), np.uint64(1), np.dtype(np.int8), None, math.sin, bits.bit, bits.has, bits.count]
    assert len({fingerprint(closure(each)) for each in different}) == len(different)


def test_functions_that_call_each_other_have_an_end() -> None:
    circle = """
@jit
def even(n):
    return n == 0 or top(n - 1)

@jit
def top(n):
    return n != 0 and even(n - 1)
"""
    assert fingerprint(top(circle)) == fingerprint(top(circle))
    assert fingerprint(top(circle)) != fingerprint(top(circle.replace("n != 0", "n != 1")))


def test_what_is_taken_from_a_module_counts() -> None:
    module = ModuleType("tables")
    source = "@jit\ndef top(x):\n    return tables.OFFSET + tables.called(x)\n"
    seen = set()
    for offset, called in ((1, bits.bit), (2, bits.bit), (1, bits.has)):
        vars(module).update(OFFSET=offset, called=called, other=object())
        seen.add(fingerprint(top(source, tables=module)))
    assert len(seen) == 3


def test_code_inside_counts() -> None:
    inner = "@jit\ndef top(n):\n    return [SHIFT * each for each in range(n)]\n"
    assert fingerprint(top(inner)) != fingerprint(top(inner, SHIFT=5))
    assert fingerprint(top(inner)) != fingerprint(top(inner.replace("SHIFT * each", "SHIFT + each")))


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, object(), bits], ids=["list", "dict", "object", "module"])
def test_what_cannot_be_told_is_refused(value: Any) -> None:
    with pytest.raises(UnclearDependency, match=r"top uses SHIFT, .* and cannot be kept: .* numbers, strings"):
        fingerprint(top("@jit\ndef top(x):\n    return SHIFT\n", SHIFT=value))
