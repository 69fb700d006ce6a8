"""The one way the house compiles a function.

`jit` marks a function as compiled; it is compiled together with whoever calls it. `entry` marks a function that
Python calls: it is compiled once and kept on disk.

Numba's own disk cache looks at the file of the cached function only, so an edit in a function that another file calls
returns old results (numba issue 1833). Here the folder of the cache is named by a hash over all sources that can be
compiled into an entry (`core`, and the folder of its game) and over the versions of Python, NumPy and Numba, so any
edit there starts a new folder.

With `NUMBA_DISABLE_JIT=1` both decorators leave plain Python behind.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from platformdirs import user_cache_path

F = TypeVar("F", bound=Callable[..., Any])

CORE = Path(__file__).resolve().parent

JIT_DISABLED: bool = bool(vars(config)["DISABLE_JIT"])
"""Whether this process runs the rules as plain Python."""

SUFFIXES = (".py", ".txt")
"""What counts as a source: code, and the tables that it reads to build its constants."""

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


@cache
def source_hash(sources: tuple[Path, ...] = ()) -> str:
    """Hash of every source of `core` and of the folders `sources`, and of the versions that compile them."""
    digest = hashlib.sha256(f"{sys.version} {np.__version__} {numba.__version__}".encode())
    for folder in (CORE, *sources):
        for path in sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES):
            digest.update(path.relative_to(folder.parent).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_folder(sources: tuple[Path, ...] = ()) -> Path:
    """Folder of the compiled code: `PHANTOM_ENVS_CACHE_DIR`, or the user's cache directory.

    Where that cannot be written, a temporary folder of this process: a shared one that others can foresee would let
    them plant code.
    """
    root = os.environ.get("PHANTOM_ENVS_CACHE_DIR")
    base = Path(root) if root else user_cache_path("phantom_envs", appauthor=False) / "compiled"
    folder = base / source_hash(sources)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="phantom_envs-compiled-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _announce(name: str, sources: tuple[Path, ...]) -> None:
    print(
        f"phantom_envs: compiling {name} for this machine (once, some seconds; kept in {cache_folder(sources)})",
        file=sys.stderr,
        flush=True,
    )


def _cache_for(tag: str, sources: tuple[Path, ...]) -> type[FunctionCache]:
    """A Numba cache whose entries are found by `tag`, since the folder already stands for all sources."""

    class Locator(_CacheLocator):
        def __init__(self, py_file: str) -> None:
            self._py_file = py_file

        def get_cache_path(self) -> str:
            return str(cache_folder(sources))

        def get_source_stamp(self) -> str:
            return source_hash(sources)

        def get_disambiguator(self) -> str:
            return "entry"

        @classmethod
        def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Locator:
            return cls(py_file)

    class Impl(CompileResultCacheImpl):
        _locator_classes = [Locator]  # type: ignore[list-item]  # noqa: RUF012  # as numba has it

        def get_filename_base(self, fullname: str, abiflags: str) -> str:
            return f"{tag}-{fullname.rpartition('.')[2]}-py{sys.version_info[0]}{sys.version_info[1]}{abiflags}"

    class HouseCache(FunctionCache):
        _impl_class = Impl

        def _index_key(self, sig: Any, codegen: Any) -> Any:
            return sig, codegen.magic_tuple()

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]  # numba's, untyped
            if found is None:
                _announce(tag, sources)
            return found

    return HouseCache


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


def entry(tag: str, sources: tuple[Path, ...] = ()) -> Callable[[F], F]:
    """Compile a function that Python calls, on disk under `tag` and the function's name.

    A closure is fine; `tag` must tell two closures of one function apart. `sources` are the folders, besides `core`,
    of all functions that it calls.
    """

    def decorate(function: F) -> F:
        if JIT_DISABLED:
            return function
        compiled: Any = numba.njit(**OPTIONS)(function)
        compiled._cache = _cache_for(tag, sources)(function)  # noqa: SLF001  # what numba's enable_caching() does
        return compiled  # type: ignore[no-any-return]  # a numba dispatcher, called like the function

    return decorate
