"""Clearing a record in compiled code, all of it but for some fields."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils as untyped_cgutils

from phantom_envs.core.jit import JIT_DISABLED

intrinsic: Any = extending.intrinsic  # numba's own types miss that callers leave the typing context out
cgutils: Any = untyped_cgutils


def clearing(dtype: np.dtype[np.void], kept: Collection[str]) -> Callable[[Any], None]:
    """A function `(s)` that sets every byte of a record to zero, padding included, but for the fields `kept`."""
    names = tuple(name for name in dtype.names or () if name not in kept)
    spans = _spans(dtype, kept)

    def clear(s: Any) -> None:
        for name in names:
            s[name] = 0

    if JIT_DISABLED:
        return clear

    @intrinsic
    def fill(typingctx: Any, s: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            start = builder.bitcast(args[0], ir.IntType(8).as_pointer())
            for first, last in spans:
                cgutils.memset(builder, builder.gep(start, [ir.IntType(64)(first)]), ir.IntType(64)(last - first), 0)
            return context.get_dummy_value()

        return types.void(s), codegen

    fill.py_func = clear  # what it does, for the fingerprint of its callers
    return fill  # type: ignore[no-any-return]  # an intrinsic, called like the function


def _spans(dtype: np.dtype[np.void], kept: Collection[str]) -> list[tuple[int, int]]:
    """The bytes outside the fields `kept`, as (first, last + 1)."""
    fields: dict[str, Any] = dict(dtype.fields or {})
    bounds = sorted((fields[name][1], fields[name][1] + fields[name][0].itemsize) for name in kept)
    edges = [0, *(edge for bound in bounds for edge in bound), dtype.itemsize]
    return [(first, last) for first, last in zip(edges[::2], edges[1::2], strict=True) if first < last]
