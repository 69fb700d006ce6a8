"""What a compiled function depends on, as one hash.

Numba's own disk cache looks at the file of the cached function only, so an edit in a function that another file calls
returns old results (numba issue 1833). Here the byte code of a function counts, with the values of all globals and
closed-over names in it and, where these are functions, theirs in turn. Comments, layout and docstrings do not count,
and it is the code in memory that does, not a file that may have been edited since.
"""

from __future__ import annotations

import dis
import hashlib
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba import extending, types
from numba.core.dispatcher import Dispatcher

from phantom_envs.core.errors import PhantomError

Intrinsic: Any = vars(extending)["_Intrinsic"]

STABLE_MODULES = frozenset(sys.stdlib_module_names) | {"numpy", "numba"}
"""Modules of which the name says enough: their versions are counted elsewhere."""


class UnclearDependency(PhantomError, TypeError):
    """A compiled function uses something whose content cannot be told."""


HAS_DOCSTRING = 0x4000000
"""A flag of code objects since Python 3.13."""


def fingerprint(function: Callable[..., Any]) -> str:
    """A hash of all that decides what `function` compiles to, but for versions, options and argument types.

    Raises:
        UnclearDependency: It uses a global or closed-over value that is neither data nor a function.
    """
    digest = hashlib.sha256()
    numbers: dict[int, int] = {}
    waiting: list[Any] = [function]
    while waiting:
        found = waiting.pop(0)
        text, used = _own_part(found)
        digest.update(text)
        for name, value in used:
            if _is_compiled(value):
                known = id(_python_function(value)) in numbers
                number = numbers.setdefault(id(_python_function(value)), len(numbers))
                digest.update(f"{name}: function {number}\n".encode())
                if not known:
                    waiting.append(value)
            else:
                digest.update(f"{name}: {_describe(name, value, found)}\n".encode())
    return digest.hexdigest()


@cache
def _own_part(function: Any) -> tuple[bytes, tuple[tuple[str, Any], ...]]:
    """The code of a function as text, and the outside names in it with their values, in order of appearance."""
    plain = _python_function(function)
    code: CodeType = plain.__code__
    text = f"{_code_text(code)} {plain.__defaults__!r} {plain.__kwdefaults__!r}\n".encode()
    cells = plain.__closure__ or ()
    used = dict(zip(code.co_freevars, (cell.cell_contents for cell in cells), strict=True))
    for name, *attributes in _global_names(code):
        if name not in plain.__globals__:
            continue  # a builtin
        value = plain.__globals__[name]
        while attributes and isinstance(value, ModuleType) and not _is_stable(value.__name__):
            name, value = f"{name}.{attributes[0]}", getattr(value, attributes.pop(0))
        used[name] = value
    return text, tuple(used.items())


def _python_function(function: Any) -> Any:
    return getattr(function, "py_func", function)


def _is_compiled(value: Any) -> bool:
    return isinstance(value, Dispatcher) or hasattr(value, "py_func")  # the latter: see `late`


def _global_names(code: CodeType) -> Iterator[tuple[str, ...]]:
    """Names that are looked up outside, each with the attributes that are taken of it at once."""
    chain: tuple[str, ...] = ()
    for step in dis.get_instructions(code):
        if chain and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            chain = (*chain, step.argval)
            continue
        if chain:
            yield chain
        chain = (step.argval,) if step.opname == "LOAD_GLOBAL" else ()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _is_stable(module: str) -> bool:
    return module.partition(".")[0] in STABLE_MODULES


def _code_text(code: CodeType) -> str:
    """What of a code object decides what it does: no lines, no names of files, no docstring."""
    steps = [
        f"{step.opname} {_constant_text(step.argval) if step.opcode in dis.hasconst else step.arg}"
        for step in dis.get_instructions(code)
    ]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_argcount, code.co_flags & ~HAS_DOCSTRING
    return f"{names!r} {steps!r}"


def _constant_text(value: Any) -> str:
    return _code_text(value) if isinstance(value, CodeType) else f"{type(value).__name__} {value!r}"


def _describe(name: str, value: Any, user: Any) -> str:
    """A global or closed-over value that is no compiled function."""
    if isinstance(value, np.ndarray):
        return f"array {value.dtype!r} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple):
        return f"{type(value).__name__} ({', '.join(_describe(name, each, user) for each in value)})"
    if isinstance(value, Enum):
        return f"{value!r} {value.value!r}"
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic | np.dtype):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, type):
        return f"type {value.__module__}.{value.__qualname__}"
    if isinstance(value, BuiltinFunctionType | np.ufunc | types.Type):
        return repr(value)
    if isinstance(value, ModuleType) and _is_stable(value.__name__):
        return f"module {value.__name__}"
    if isinstance(value, FunctionType | Intrinsic):  # what it compiles to is told to numba somewhere in its module
        module = value.__module__
        if _is_stable(module):
            return f"{module}.{value.__qualname__}"
        return f"{value.__name__} of a module {_hash_of_module(module)}"
    kind = f"module {value.__name__}" if isinstance(value, ModuleType) else f"of type {type(value).__name__}"
    raise UnclearDependency(
        f"{_python_function(user).__qualname__} uses {name}, {kind}, and cannot be kept: compiled functions may use "
        "numbers, strings, tuples, arrays, dtypes, compiled functions, and what is taken by name from a module"
    )


@cache
def _hash_of_module(name: str) -> str:
    return hashlib.sha256(Path(str(sys.modules[name].__file__)).read_bytes()).hexdigest()
