"""What rich prints: on consoles that treat standard output as `core.terminal` does, and without cutting words off."""

from __future__ import annotations

import sys

import tyro
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, TableElement
from rich.table import Table

from phantom_envs.core.terminal import takes_color


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let who runs the program decide; rich would end it."""
        raise  # rich calls this while it handles the error


def console(stderr: bool = False) -> Console:
    """A console for standard output, or for standard error."""
    colored = takes_color(sys.stderr if stderr else sys.stdout)
    return _Console(stderr=stderr, color_system="auto" if colored else None)


class _FoldedTable(TableElement):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table of a page, with words folded where its columns are too narrow."""
        for part in super().__rich_console__(console, options):
            if isinstance(part, Table):
                for column in part.columns:
                    column.overflow = "fold"
            yield part


class Page(Markdown):
    """Markdown for the terminal."""

    elements = Markdown.elements | {"table_open": _FoldedTable}


def color_help() -> None:
    """Let tyro paint help and errors of usage where `takes_color` says so: of itself it knows no `NO_COLOR`."""
    options = getattr(tyro, "_experimental_options", None)  # newer versions have it
    if options is not None:
        options["ansi_codes"] = takes_color(sys.stdout)
