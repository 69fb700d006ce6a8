"""What a training run shows while it runs: how far it is, where the time goes, and tensorboard files."""

from __future__ import annotations

import io
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from torch.utils.tensorboard import SummaryWriter

from phantom_envs.console import console
from phantom_envs.core.terminal import is_terminal, say
from training.evaluate import Evaluation

PARTS = ("environment", "inference", "update")
EVERY = 10.0
"""Seconds between two lines of progress where the output is no terminal."""

WIDE = 120
"""Columns of tables where the output is no terminal."""


class Display:
    """Progress of a run: a bar in a terminal; elsewhere, or in a dumb one, a plain line every `EVERY` seconds.

    Args:
        total_steps: Steps of the whole run.
        steps: Steps already made by an earlier part of it.
    """

    def __init__(self, total_steps: int, steps: int = 0) -> None:
        self._total, self._first_step = total_steps, steps
        self._began = time.monotonic()
        self._told = self._began - EVERY
        self._console = console()
        self._bar = Progress(
            TextColumn("[bold]training"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}", markup=False),
            console=self._console,
            disable=not _moves(),
        )
        self._task = self._bar.add_task("training", total=total_steps, completed=steps, figures="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def rate(self, steps: int) -> float:
        """Steps per second of this part of the run, evaluations included."""
        return (steps - self._first_step) / max(time.monotonic() - self._began, 1e-9)

    def update(self, steps: int, figures: str = "") -> None:
        """Show where the run is, with something to say about it."""
        figures = f"{self.rate(steps):,.0f} steps/s  {figures}".rstrip()
        if not self._bar.disable:
            self._bar.update(self._task, completed=steps, figures=figures)
        elif time.monotonic() - self._told >= EVERY:
            self._told = time.monotonic()
            gone = timedelta(seconds=round(self._told - self._began))
            say(f"{steps:>12,} of {self._total:,} steps ({steps / self._total:.1%}) after {gone}: {figures}")

    def say(self, text: str) -> None:
        """Print lines as they are, however long."""
        if self._bar.disable:
            say(text)
        else:
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def print_table(table: RenderableType) -> None:
    """Print a table, in a file or pipe at least `WIDE` columns wide."""
    out = console()
    if not is_terminal(sys.stdout):
        out.width = max(out.width, WIDE)
    out.file = picture = io.StringIO()
    out.print(table)
    say(picture.getvalue().rstrip("\n"))


def _moves() -> bool:
    """Whether standard output is a terminal that can move its cursor."""
    return is_terminal(sys.stdout) and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


class Monitor:
    """Counts steps and seconds of a run, shows them, and logs them with its figures for tensorboard.

    Args:
        folder: Where the tensorboard files go.
        total_steps: Steps of the whole run.
        steps: Steps already made by an earlier part of it.
    """

    def __init__(self, folder: Path, total_steps: int, steps: int = 0) -> None:
        self._seconds = dict.fromkeys(PARTS, 0.0)
        self.display = Display(total_steps, steps)
        self._writer: SummaryWriter | None = SummaryWriter(str(folder / "tensorboard"), purge_step=steps or None)

    def __enter__(self) -> Self:
        self.display.__enter__()
        threading.excepthook = _leave_out_disk_errors
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.display.__exit__(kind, error, trace)
        threading.excepthook = threading.__excepthook__
        with self._logging():
            if self._writer is not None:
                self._writer.close()

    @contextmanager
    def time(self, part: str) -> Iterator[None]:
        """Count the seconds of a block for one of `PARTS`."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[part] += time.perf_counter() - began

    def shares(self) -> dict[str, float]:
        """Share of the timed seconds that each part took."""
        total = sum(self._seconds.values()) or 1.0
        return {part: seconds / total for part, seconds in self._seconds.items()}

    def update(self, steps: int, losses: Mapping[str, float]) -> None:
        """Show and log where the run is."""
        shares = self.shares()
        self.display.update(steps, " ".join(f"{part[:3]} {share:.0%}" for part, share in shares.items()))
        figures = {f"loss/{name}": value for name, value in losses.items()}
        figures |= {f"time/{part}": share for part, share in shares.items()}
        self._log(steps, figures | {"time/steps_per_second": self.display.rate(steps)})

    def report(self, steps: int, evaluations: Iterable[Evaluation]) -> None:
        """Print and log evaluations made at `steps`."""
        for evaluation in evaluations:
            self.display.say(f"{steps:>12,} steps: {evaluation}")
            figures = evaluation.figures()
            self._log(steps, {f"against_{evaluation.opponent}/{name}": value for name, value in figures.items()})

    def _log(self, steps: int, figures: Mapping[str, float]) -> None:
        with self._logging():
            if self._writer is not None:
                for name, value in figures.items():
                    self._writer.add_scalar(name, value, steps)

    @contextmanager
    def _logging(self) -> Iterator[None]:
        """Curves are not worth a run: where they cannot be written, say so and go on without them."""
        try:
            yield
        except OSError as error:
            self._writer = None
            self.display.say(f"tensorboard files are no longer written ({error.strerror})")


def _leave_out_disk_errors(thrown: threading.ExceptHookArgs) -> None:
    """What tensorboard's thread says of a full disk; the next call of its writer raises the same."""
    if not (isinstance(thrown.exc_value, OSError) and type(thrown.thread).__name__ == "_AsyncWriterThread"):
        threading.__excepthook__(thrown)
