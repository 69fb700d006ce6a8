"""Compiled code on disk: one file for each entry and signature, named by a hash of all that decides its content.

The folder is `PHANTOM_ENVS_CACHE_DIR`, or in the user's cache directory. A file begins with the checksum of the rest,
is moved into place when it is whole, and is compiled anew when it is damaged. Where nothing can be written, what is
there is still used, and what is missing is compiled in every process, after one warning. Files that have not been used
for `KEPT_DAYS` days are removed when new ones are written.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import compiler as untyped_compiler
from numba.core import config
from numba.core import serialize as untyped_serialize
from platformdirs import user_cache_path

from phantom_envs.core.errors import PhantomError
from phantom_envs.core.fingerprint import fingerprint

CompileResult: Any = untyped_compiler.CompileResult
serialize: Any = untyped_serialize

VARIABLE = "PHANTOM_ENVS_CACHE_DIR"
SUFFIX = ".nbc"
KEPT_DAYS = 30
DAY = 86400.0

FLAGS = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE")
"""Settings of numba that change what it compiles."""

CHECKSUM = hashlib.sha256().digest_size

_loaded: dict[str, bytes] = {}
"""Checksum of the file that stands for each entry's symbol in this process. Code that was linked into another entry's
file has the symbol, too; that it is the same code follows from the number in its name, see `jit`."""

_told: set[str] = set()


class SymbolTaken(PhantomError, RuntimeError):
    """Compiled code on disk defines a symbol that other code of this process has already."""


def tell(text: str) -> None:
    """Say something on standard error, once a process. Compiling goes on where nobody can hear it."""
    if text not in _told and sys.stderr is not None:
        _told.add(text)
        with suppress(OSError, ValueError):  # full, or closed
            print(f"phantom_envs: {text}", file=sys.stderr, flush=True)


def cache_folder() -> Path | None:
    """Folder of the compiled code, whether it exists or not; None where there is no home to put it in."""
    try:
        given = os.environ.get(VARIABLE)
        folder = Path(given) if given else user_cache_path("phantom_envs", appauthor=False) / "compiled"
        if folder.is_absolute():
            return folder
        return folder.absolute() if given else None  # no home: "~" is left as it stands
    except (RuntimeError, KeyError, OSError):  # no home, a user without an entry, no working directory
        return None


def cached_files(folder: Path) -> Iterator[Path]:
    """Files of compiled code in `folder`, those that earlier versions left in folders of theirs included."""
    for pattern in (f"*{SUFFIX}", f"*{SUFFIX}.*.tmp", "*/*.nbi", f"*/*{SUFFIX}"):
        yield from folder.glob(pattern)


def remove_files(folder: Path, unused_days: float = 0.0) -> int:
    """Remove compiled code from `folder` that has not been used for some days. Returns the number of files."""
    oldest = time.time() - unused_days * DAY
    removed = 0
    for path in list(cached_files(folder)):
        with suppress(OSError):  # another process was faster, or it is not ours
            if unused_days == 0.0 or path.stat().st_mtime < oldest:
                path.unlink()
                removed += 1
                if path.parent != folder:
                    path.parent.rmdir()  # fails while anything else is in it
    return removed


class CompileCache:
    """Where Numba finds and puts the compiled forms of one entry.

    Args:
        tag: What the user is told is being compiled; the beginning of file names.
        function: The plain function.
        options: What numba is told to compile it with.
    """

    def __init__(self, tag: str, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._tag = tag
        self._function = function
        self._options = options

    @property
    def cache_path(self) -> str | None:
        """The folder, for `inspect` functions of numba."""
        folder = cache_folder()
        return None if folder is None else str(folder)

    @cached_property
    def _content(self) -> str:
        flags = [f"{flag}={vars(config)[flag]}" for flag in FLAGS]
        versions = f"{sys.version} {np.__version__} {numba.__version__}"
        return f"{versions} {flags} {self._options} {fingerprint(self._function)}"

    def _path(self, sig: Any, codegen: Any) -> Path | None:
        folder = cache_folder()
        if folder is None:
            return None
        key = hashlib.sha256(f"{self._content} {sig!r} {codegen.magic_tuple()!r}".encode()).hexdigest()
        return folder / f"{self._tag}-{self._function.__name__}-{key[:32]}{SUFFIX}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for a signature, or None, in which case numba compiles it and calls `save_overload`.

        Raises:
            SymbolTaken: The file would put its code in the place of other code.
        """
        target_context.refresh()
        codegen = target_context.codegen()
        path = self._path(sig, codegen)
        content = None if path is None else _read(path)
        if content is None:
            folder = "not kept: there is no home directory" if path is None else f"kept in {path.parent}"
            tell(f"compiling {self._tag} for this machine (once, some seconds; {folder})")
            return None
        payload = pickle.loads(content)  # noqa: S301  # from the user's own cache; numba's caches are pickles, too
        symbol = payload[1].llvm_func_name
        checksum = _checksum(content)
        if _loaded.setdefault(symbol, checksum) != checksum:
            raise SymbolTaken(f"{path} defines {symbol} once more; remove it, or run `phantom-envs cache --clear`")
        return CompileResult._rebuild(target_context, *payload)  # noqa: SLF001  # as numba's own cache does

    def save_overload(self, sig: Any, compiled: Any) -> None:
        """Keep a compiled function."""
        path = self._path(sig, compiled.codegen)
        if path is None:
            return
        content = serialize.dumps(compiled._reduce())  # noqa: SLF001  # as numba's own cache does
        _loaded[compiled.fndesc.llvm_func_name] = _checksum(content)
        _write(path, content)

    def flush(self) -> None:
        """Numba calls this when a function is recompiled: files are named by content, so nothing is out of date."""


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _read(path: Path) -> bytes | None:
    """What a file holds behind its checksum; None where it is missing or damaged."""
    try:
        whole = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        tell(f"{path} cannot be read ({error.strerror}); its code is compiled anew")
        return None
    if _checksum(whole[CHECKSUM:]) != whole[:CHECKSUM]:
        tell(f"{path} is damaged; its code is compiled anew")
        return None
    with suppress(OSError):  # a folder that is only for reading is used as it is
        if path.stat().st_mtime < time.time() - DAY:
            os.utime(path)
    return whole[CHECKSUM:]


def _write(path: Path, content: bytes) -> None:
    """Put a file in place, whole or not at all; where that fails, say so once."""
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _tidy(path.parent)
        partial.write_bytes(_checksum(content) + content)
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        tell(
            f"compiled code cannot be kept in {path.parent} ({error.strerror}), so every process compiles anew; "
            f"set {VARIABLE} to a folder that can be written"
        )


@cache
def _tidy(folder: Path) -> None:
    """Remove what has long been unused, once a process."""
    remove_files(folder, KEPT_DAYS)
