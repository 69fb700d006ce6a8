"""What goes to standard output, whatever that is: a terminal, a file, a closed pipe, with few characters or many."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
import unicodedata
from typing import TextIO, TypeGuard

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
    "white": "37",
}
"""ANSI escape codes (SGR)."""

PLAIN = "phantom_envs.plain"
"""Name of the error handler that writes what an encoding lacks in ASCII: `...` for an ellipsis, o for ó, ? at worst."""

_ALIKE = {"×": "x", "–": "-", "—": "-", "−": "-", "•": "*", "─": "-", "━": "-", "│": "|", "’": "'", "“": '"', "”": '"'}
"""Characters that Unicode does not take apart into ASCII."""


def paint(text: str, style: str, color: bool) -> str:
    """`text` in a style or colour; unchanged when `color` is off."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if color else text


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody sits at the other end."""
    return _is_open(stream) and stream.isatty()


def takes_color(stream: TextIO | None) -> bool:
    """Whether to paint what goes to `stream`.

    A terminal is painted unless it is dumb (`TERM=dumb`). `FORCE_COLOR` paints everything, and `NO_COLOR`
    (https://no-color.org) nothing; set to nothing, neither counts.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(stream) and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


def printable(text: str, most: int | None = None) -> str:
    """Text of foreign origin in one line: control characters are written out, what is beyond `most` is left out."""
    if most is not None and len(text) > most:
        text = f"{text[: most // 2]} … {text[-(most // 2) :]}"
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def say(text: str) -> None:
    """Print a line to standard output, at once; nothing if that is closed, or nobody reads it any longer.

    For programs that are not ours: it leaves their standard output as it is, but for a pipe that has broken, which
    from then on leads nowhere.
    """
    out = sys.stdout
    if not _is_open(out):
        return
    encoding = getattr(out, "encoding", None) or "utf-8"
    try:
        print(text.encode(encoding, PLAIN).decode(encoding), flush=True)
    except BrokenPipeError:
        lead_nowhere(out)


def open_streams() -> None:
    """For a program of our own: standard streams that are closed lead nowhere, and no character fails to be written."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # in the order of their descriptors
        stream = getattr(sys, name)
        if not _is_open(stream):
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(nowhere, True)  # it may have become standard output, also of programs started here
            setattr(sys, name, open(nowhere, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  # open to the end
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN)


def lead_nowhere(stream: TextIO) -> None:
    """Drop what is still to be written to `stream`, or else Python complains about it when it ends."""
    with contextlib.suppress(io.UnsupportedOperation):  # a stream without a descriptor has nothing to drop
        target = stream.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, target)
        os.close(nowhere)


def _is_open(stream: TextIO | None) -> TypeGuard[TextIO]:
    return stream is not None and not getattr(stream, "closed", False)


def _write_plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_ALIKE.get(each) or _ascii(each) or "?" for each in lacking), error.end


def _ascii(character: str) -> str:
    return unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()


codecs.register_error(PLAIN, _write_plain)
