"""The one way the house compiles a function.

`jit` marks a function as compiled; it is compiled together with whoever calls it. `entry` marks a function that
Python calls: it is compiled once and kept on disk, see `compile_cache`.

Every function that Numba compiles gets a symbol of its own. Numba tells closures of one source apart by counting the
functions of the process; code that two processes have compiled then has the same symbols, and a third process that
loads both calls the wrong one. Here a random number takes the place of the count.

With `NUMBA_DISABLE_JIT=1` both decorators leave plain Python behind.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import bytecode, config

from phantom_envs.core.compile_cache import CompileCache

FunctionIdentity: Any = bytecode.FunctionIdentity

F = TypeVar("F", bound=Callable[..., Any])

JIT_DISABLED: bool = bool(vars(config)["DISABLE_JIT"])
"""Whether this process runs the rules as plain Python."""

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": True}
"""What numba is told. `_nrt`, whether references to arrays are counted, would else be as in whoever calls first."""

if not hasattr(FunctionIdentity, "_unique_ids"):
    raise ImportError(f"numba {numba.__version__} numbers its symbols in another way; install another version of numba")
FunctionIdentity._unique_ids = iter(lambda: uuid.uuid4().int, None)  # noqa: SLF001  # a process and its forks differ


def jit(function: F) -> F:
    """Compile `function` into its compiled callers. It may not allocate in a step and keeps no state of its own."""
    if JIT_DISABLED:
        return function
    compiled: F = numba.njit(**OPTIONS)(function)
    return compiled


def wrapping(function: F) -> F:
    """`jit` for arithmetic that is meant to wrap around modulo 2**64; plain NumPy scalars would warn of it."""
    if JIT_DISABLED:
        return np.errstate(over="ignore")(function)
    return jit(function)


def entry(tag: str, allocates: bool = False) -> Callable[[F], F]:
    """Compile a function that Python calls, once for each content and signature, and keep it on disk.

    A closure is fine: what it closes over is part of its content.

    Args:
        tag: Names the file, and is what a user reads while it compiles.
        allocates: Whether the function itself makes arrays or is returned new ones; what the functions that it calls do
            within does not matter. One that does not is compiled without counting references to its arrays and to
            views of them: Python holds these meanwhile, and to count takes as long as to play, longer still where
            threads share an array. Numba asks for "NRT", its counting, where a function should have been marked.
    """

    def decorate(function: F) -> F:
        if JIT_DISABLED:
            return function
        options = OPTIONS | {"_nrt": allocates}
        compiled: Any = numba.njit(**options)(function)
        compiled._cache = CompileCache(tag, function, options)  # noqa: SLF001  # what numba's enable_caching() does
        return compiled  # type: ignore[no-any-return]  # a numba dispatcher, called like the function

    return decorate
