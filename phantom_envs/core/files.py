"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """A text file (UTF-8, line ends as given) to write to, which takes the place of `path` once all is written.

    It is written beside it, under another name. If anything fails, that is removed, and what was at `path` is as it
    was. What is no plain file (`/dev/stdout`, a named pipe) is written to directly.
    """
    target = Path(os.path.realpath(path))  # a link stays, and what it names is replaced
    if target.exists() and not target.is_file():
        with target.open("w", encoding="utf-8", newline="") as file:
            yield file
        return
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="") as file:
            yield file
        if target.exists():
            partial.chmod(target.stat().st_mode & 0o7777)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
