"""Files that are written whole or not at all."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """A text file (UTF-8, line ends as given) to write to, which takes the place of `path` once all is written.

    It is written beside it, under another name. If anything fails, that is removed, and what was at `path` is as it
    was. What is no plain file (a named pipe, a device, whatever `/dev/stdout` leads to) is written to directly.
    """
    if path.exists() and (not path.is_file() or path.is_relative_to("/dev")):  # the latter: a file as standard output
        with path.open("a", encoding="utf-8", newline="") as file:
            yield file
        return
    target = Path(os.path.realpath(path))  # a link stays, and what it names is replaced
    with _replacement(target) as partial, _named(path, partial) as file:
        yield file


def write_whole(path: Path, content: bytes) -> None:
    """Put `content` at `path`, or nothing at all; it is on the disk when this returns, whatever then happens.

    A new file has the mode of any new file, another keeps its own. A process that is killed meanwhile leaves a file
    `<name>.<number>.partial` beside it.

    Raises:
        OSError: It cannot be written; the error names it. What was at `path` is as it was.
    """
    try:
        with _replacement(Path(os.path.realpath(path))) as partial, partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _named(path: Path, partial: Path) -> TextIO:
    """The open file `partial`; an error names `path`, which the user knows."""
    try:
        return partial.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def _replacement(target: Path) -> Iterator[Path]:
    """A path beside `target` for a file that takes its place if all goes well, and else is removed."""
    for left in target.parent.glob(f"{glob.escape(target.name)}.*.partial"):
        if _is_orphan(left):
            left.unlink(missing_ok=True)
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        yield partial
        if target.exists():
            partial.chmod(target.stat().st_mode & 0o7777)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _is_orphan(partial: Path) -> bool:
    """Whether the process that wrote a partial file is gone, as far as can be told here."""
    number = partial.name.split(".")[-2]
    if os.name != "posix" or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False
