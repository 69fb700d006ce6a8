"""A table that is shown in the terminal and written into the documentation."""

from __future__ import annotations

from dataclasses import dataclass

from rich.markup import escape
from rich.table import Table


@dataclass(frozen=True)
class Grid:
    """A table, for the terminal and for documentation."""

    title: str
    note: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def rich(self) -> Table:
        """For the terminal."""
        shown = Table(title=escape(self.title), caption=escape(self.note), title_justify="left")
        for column, heading in enumerate(self.headings):
            shown.add_column(heading, justify="right" if column else "left", no_wrap=column > 0)
        for row in self.rows:
            shown.add_row(*map(escape, row))
        return shown

    def markdown(self) -> str:
        """For documentation, the note below it."""
        lines = [self.headings, ("---",) * len(self.headings), *self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines) + f"\n\n{self.note}.\n"
