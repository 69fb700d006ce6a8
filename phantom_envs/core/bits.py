"""Sets of up to 64 small numbers as one `uint64`, and the fast way to write them out as bytes.

Numba turns `int64` combined with `uint64` into `float64`. The helpers below make every operand unsigned first; code
that shifts or masks sets by itself must do the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils as untyped_cgutils
from numba.extending import overload

from phantom_envs.core.jit import jit

intrinsic: Any = extending.intrinsic  # numba's own types miss that callers leave the typing context out
cgutils: Any = untyped_cgutils

EMPTY = np.uint64(0)
ONE = np.uint64(1)


@jit
def bit(index: int) -> Any:
    """The set {index}, `0 <= index < 64`."""
    return ONE << np.uint64(index)


@jit
def has(members: Any, index: int) -> bool:
    """Whether `index` is in the set."""
    return bool((members >> np.uint64(index)) & ONE != EMPTY)


@jit
def first_n(n: int) -> Any:
    """The set {0, …, n-1}, `0 <= n <= 64`."""
    if n == 0:
        return EMPTY
    return np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - n)


@jit
def shifted(members: Any, by: int) -> Any:
    """The set with `by` added to every member, `0 <= by < 64`; members that reach 64 are lost."""
    return np.uint64(members) << np.uint64(by)


@jit
def drop_lowest(members: Any) -> Any:
    """The set without its lowest member; it must not be empty."""
    return members & (members - ONE)


def count(members: Any) -> int:
    """Number of members."""
    return int(members).bit_count()


def lowest(members: Any) -> int:
    """Lowest member; the set must not be empty."""
    value = int(members)
    return (value & -value).bit_length() - 1


def highest(members: Any) -> int:
    """Highest member; the set must not be empty."""
    return int(members).bit_length() - 1


@intrinsic
def _ctpop(typingctx: Any, members: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def _cttz(typingctx: Any, members: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@intrinsic
def _ctlz(typingctx: Any, members: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@overload(count, inline="always")
def _count(members: Any) -> Any:
    def compute(members: Any) -> Any:
        return _ctpop(np.uint64(members))

    return compute


@overload(lowest, inline="always")
def _lowest(members: Any) -> Any:
    def compute(members: Any) -> Any:
        return _cttz(np.uint64(members))

    return compute


@overload(highest, inline="always")
def _highest(members: Any) -> Any:
    def compute(members: Any) -> Any:
        return 63 - _ctlz(np.uint64(members))

    return compute


@jit
def nth(members: Any, n: int) -> int:
    """The member with `n` smaller ones before it, `0 <= n < count(members)`."""
    for _ in range(n):
        members = drop_lowest(members)
    return lowest(members)


def spread(out: Any, start: int, members: Any) -> None:
    """Write 64 bytes of 0 and 1 from `out[start]`: byte i says whether i is in the set.

    `out`: contiguous int8 vector. A block of fewer than 64 bytes is written this way too when what follows is
    written later; `start + 64 <= len(out)` is the caller's care.
    """
    for index in range(64):
        out[start + index] = (int(members) >> index) & 1


def _store(width: int) -> Any:
    """An intrinsic that writes the `width` lowest bits of a word as bytes."""

    @intrinsic
    def store(typingctx: Any, out: Any, start: Any, members: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0])
            word = builder.trunc(args[2], ir.IntType(width)) if width < 64 else args[2]
            bools = builder.bitcast(word, ir.VectorType(ir.IntType(1), width))
            vector = ir.VectorType(ir.IntType(8), width)
            target = builder.bitcast(builder.gep(array.data, [args[1]]), vector.as_pointer())
            builder.store(builder.zext(bools, vector), target, align=1)
            return context.get_dummy_value()

        return types.void(out, types.int64, types.uint64), codegen

    return store


_store64, _store32, _store8 = _store(64), _store(32), _store(8)


@overload(spread, inline="always")
def _spread(out: Any, start: Any, members: Any) -> Any:
    def write(out: Any, start: Any, members: Any) -> Any:
        _store64(out, start, np.uint64(members))

    return write


def spread_numbers(out: Any, start: int, ones: Any, twos: Any, fours: Any, eights: Any) -> None:
    """Like `spread`, but byte i is the number of 0 … 15 whose binary digits are the memberships of i in four sets."""
    for index in range(64):
        digits = int(ones) >> index & 1, int(twos) >> index & 1, int(fours) >> index & 1, int(eights) >> index & 1
        out[start + index] = digits[0] + 2 * digits[1] + 4 * digits[2] + 8 * digits[3]


@intrinsic
def _store_numbers(typingctx: Any, out: Any, start: Any, ones: Any, twos: Any, fours: Any, eights: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0])
        vector = ir.VectorType(ir.IntType(8), 64)
        zero = ir.Constant(vector, [0] * 64)
        total = zero
        for power, digits in enumerate(args[2:]):
            bools = builder.bitcast(digits, ir.VectorType(ir.IntType(1), 64))
            total = builder.or_(total, builder.select(bools, ir.Constant(vector, [1 << power] * 64), zero))
        target = builder.bitcast(builder.gep(array.data, [args[1]]), vector.as_pointer())
        builder.store(total, target, align=1)
        return context.get_dummy_value()

    word = types.uint64
    return types.void(out, types.int64, word, word, word, word), codegen


@overload(spread_numbers, inline="always")
def _spread_numbers(out: Any, start: Any, ones: Any, twos: Any, fours: Any, eights: Any) -> Any:
    def write(out: Any, start: Any, ones: Any, twos: Any, fours: Any, eights: Any) -> Any:
        _store_numbers(out, start, np.uint64(ones), np.uint64(twos), np.uint64(fours), np.uint64(eights))

    return write


def spread_exact(out: Any, start: int, members: Any, width: int) -> None:
    """`spread`, but exactly `width` bytes, `1 <= width <= 64`."""
    for index in range(width):
        out[start + index] = (int(members) >> index) & 1


@overload(spread_exact)
def _spread_exact(out: Any, start: Any, members: Any, width: Any) -> Any:
    def write(out: Any, start: Any, members: Any, width: Any) -> Any:
        members = np.uint64(members)
        if width == 64:
            _store64(out, start, members)
        elif width >= 32:
            _store32(out, start, members)
            _store32(out, start + width - 32, members >> np.uint64(width - 32))
        elif width >= 8:
            for index in range(0, width - 7, 8):
                _store8(out, start + index, members >> np.uint64(index))
            _store8(out, start + width - 8, members >> np.uint64(width - 8))
        else:
            for index in range(width):
                out[start + index] = np.int8((members >> np.uint64(index)) & ONE)

    return write
