"""Tables for the terminal that never cut a number, however narrow it is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.table import Table
from rich.text import Text

LEAST = 8
"""Width to which a column of words is folded, at least."""

_PADDING, _BORDER = 2, 1


class NumberTable:
    """A table of words and numbers.

    Where it is too wide, first the columns of words are folded, then numbers that stand side by side come below each
    other, and at last there is no table but a list, a line for each cell.

    Args:
        headings: One a column.
        rows: Cells as plain text. Numbers are parted by blanks.
        words: The columns, from 0, of text that may be folded anywhere. They and the first stand left, others right.
        title: Above the table.
        caption: Below it.
    """

    def __init__(
        self,
        headings: Sequence[str],
        rows: Iterable[Sequence[str]],
        words: Collection[int] = (0,),
        title: str = "",
        caption: str = "",
    ) -> None:
        self.headings = list(headings)
        self.rows = [list(row) for row in rows]
        self.words = words
        self.title = title
        self.caption = caption

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """What rich prints."""
        widths = self._widths(options.max_width)
        if widths is None:
            yield from self._list()
        else:
            yield self._table(widths)

    def _widths(self, available: int) -> list[int] | None:
        """Width of each column, or None if there is too little room for a table."""
        columns = [[heading, *cells] for heading, *cells in zip(self.headings, *self.rows, strict=True)]
        most = [max(map(cell_len, column)) for column in columns]
        widths = [max(cell_len(word) for cell in column for word in [*cell.split(), ""]) for column in columns]
        for column in self.words:
            widths[column] = min(most[column], LEAST)
        left = available - _BORDER - sum(width + _PADDING + _BORDER for width in widths)
        if left < 0:
            return None
        for column in range(len(columns)):  # words are as wide as they need be, or wait
            if column not in self.words and most[column] - widths[column] <= left:
                left -= most[column] - widths[column]
                widths[column] = most[column]
        while left and (narrow := [column for column in self.words if widths[column] < most[column]]):
            widths[min(narrow, key=widths.__getitem__)] += 1
            left -= 1
        return widths

    def _table(self, widths: Sequence[int]) -> Table:
        shown = Table(title=escape(self.title) or None, caption=escape(self.caption) or None)
        for column, (heading, width) in enumerate(zip(self.headings, widths, strict=True)):
            left = column == 0 or column in self.words
            shown.add_column(escape(heading), width=width, overflow="fold", justify="left" if left else "right")
        for row in self.rows:
            shown.add_row(*map(escape, row))
        return shown

    def _list(self) -> Iterable[Text]:
        lines = [self.title] if self.title else []
        for row in self.rows:
            lines += [f"{heading}: {cell}" for heading, cell in zip(self.headings, row, strict=True)] + [""]
        lines += [self.caption] if self.caption else []
        return (Text(line, overflow="fold") for line in lines)
