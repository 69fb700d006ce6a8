"""Colours of terminal pictures (ANSI escape codes, SGR)."""

from __future__ import annotations

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


def paint(text: str, style: str, color: bool) -> str:
    """`text` in a style or colour; unchanged when `color` is off."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if color else text
