"""What a training run shows while it runs: a progress line, where the time goes, and tensorboard files."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from torch.utils.tensorboard import SummaryWriter

from training.evaluate import Evaluation

PARTS = ("environment", "inference", "update")


class Monitor:
    """Counts steps and seconds of a run and shows them.

    Args:
        folder: Where the tensorboard files go.
        total_steps: Steps of the whole run.
        steps: Steps already made by an earlier part of it.
    """

    def __init__(self, folder: Path, total_steps: int, steps: int = 0) -> None:
        self._seconds = dict.fromkeys(PARTS, 0.0)
        self._first_step, self._began = steps, time.monotonic()
        self._writer = SummaryWriter(str(folder / "tensorboard"), purge_step=steps or None)
        self.console = Console()
        self._progress = Progress(
            TextColumn("[bold]training"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}"),
            console=self.console,
        )
        self._task = self._progress.add_task("training", total=total_steps, completed=steps, figures="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
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

    def rate(self, steps: int) -> float:
        """Steps per second of this part of the run, evaluations included."""
        return (steps - self._first_step) / max(time.monotonic() - self._began, 1e-9)

    def update(self, steps: int, losses: Mapping[str, float]) -> None:
        """Show and log where the run is."""
        shares = " ".join(f"{part[:3]} {share:.0%}" for part, share in self.shares().items())
        self._progress.update(self._task, completed=steps, figures=f"{self.rate(steps):,.0f} steps/s  {shares}")
        figures = {f"loss/{name}": value for name, value in losses.items()}
        figures |= {f"time/{part}": share for part, share in self.shares().items()}
        figures["time/steps_per_second"] = self.rate(steps)
        for name, value in figures.items():
            self._writer.add_scalar(name, value, steps)

    def report(self, steps: int, evaluations: Iterable[Evaluation]) -> None:
        """Print and log evaluations made at `steps`."""
        for evaluation in evaluations:
            self._progress.console.print(f"{steps:>12,} steps: {evaluation}")
            for name, value in evaluation.figures().items():
                self._writer.add_scalar(f"against_{evaluation.opponent}/{name}", value, steps)
