"""Standard outputs that programs meet."""

from __future__ import annotations

import io
import os
from typing import TextIO

import pytest


def of_encoding(encoding: str) -> io.TextIOWrapper:
    """A file."""
    return io.TextIOWrapper(io.BytesIO(), encoding)


def text_of(file: io.TextIOWrapper) -> str:
    """What was written to a file of `of_encoding`."""
    file.flush()
    buffer = file.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode(file.encoding)


def unread() -> TextIO:
    """A pipe whose reader has gone."""
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "w", encoding="utf-8")


def closed() -> TextIO:
    """A stream that somebody closed."""
    stream = io.StringIO()
    stream.close()
    return stream


class Terminal(io.StringIO):
    """Says that somebody sits there."""

    def isatty(self) -> bool:
        return True


def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that speaks for or against colours."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
