"""Consoles of rich that treat standard output as `core.terminal` does."""

from __future__ import annotations

import sys

from rich.console import Console

from phantom_envs.core.terminal import takes_color


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let who runs the program decide; rich would end it."""
        raise  # rich calls this while it handles the error


def console(stderr: bool = False) -> Console:
    """A console for standard output, or for standard error."""
    colored = takes_color(sys.stderr if stderr else sys.stdout)
    return _Console(stderr=stderr, color_system="auto" if colored else None)
