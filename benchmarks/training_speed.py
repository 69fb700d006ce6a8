"""Decisions of learning seats per second: `training/ppo.py` against MaskablePPO, same network and game.

    python -m benchmarks.training_speed --json training_speed.json

Each way to train runs in a process of its own, one at a time, for a fixed time; the runs take turns, and the median
counts. What counts as a step is told in `benchmarks/trainers.py`. The ratios are to the fastest of the wrapped setups.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Literal

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks.machine import ROOT, describe
from benchmarks.trainers import Settings
from training.monitor import PARTS

DISTRIBUTIONS = ("torch", "stable-baselines3", "sb3-contrib")
"""Whose versions are reported."""

TITLES = {
    "ppo": "training/ppo.py",
    "sb3_native": "training/sb3_maskable_ppo.py",
    "sb3_dummy": "MaskablePPO, wrapped AEC, DummyVecEnv",
    "sb3_subproc": "MaskablePPO, wrapped AEC, SubprocVecEnv",
}
WRAPPED = ("sb3_dummy", "sb3_subproc")
"""What the others are compared with."""


@dataclass
class Config:
    """What is timed, and how often."""

    settings: Settings = field(default_factory=Settings)
    """Common to all."""
    trainers: tuple[Literal["ppo", "sb3_native", "sb3_dummy", "sb3_subproc"], ...] = (
        "ppo",
        "sb3_native",
        "sb3_dummy",
        "sb3_subproc",
    )
    """Ways to train."""
    runs: int = 3
    """Times that each runs; the median counts."""
    json: Path | None = None
    """File to write the figures to."""


def train(trainer: str, settings: Settings) -> dict[str, Any]:
    """One run, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "speed.json"
        command = [sys.executable, "-m", "benchmarks.trainers", "--trainer", trainer, "--out", str(out)]
        for name, value in asdict(settings).items():
            command += [f"--settings.{name.replace('_', '-')}", str(value)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603  # ourselves
        if done.returncode:
            raise RuntimeError(f"{trainer} failed:\n{done.stderr}")
        speed: dict[str, Any] = json.loads(out.read_text())
        return speed | {"steps_per_second": speed["steps"] / speed["seconds"]}


def run(config: Config, console: Console) -> dict[str, Any]:
    """Run everything and return the report as plain data."""
    runs: dict[str, list[dict[str, Any]]] = {trainer: [] for trainer in config.trainers}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=config.runs * len(runs))
        for _ in range(config.runs):
            for trainer, speeds in runs.items():
                progress.update(task, description=TITLES[trainer])
                speeds.append(train(trainer, config.settings))
                progress.advance(task)
    results = [
        {
            "trainer": trainer,
            "steps_per_second": median(speed["steps_per_second"] for speed in speeds),
            "shares": {part: median(speed["shares"][part] for speed in speeds) for part in PARTS},
            "runs": speeds,
        }
        for trainer, speeds in runs.items()
    ]
    rates = {result["trainer"]: result["steps_per_second"] for result in results}
    wrapped = max((rate for trainer, rate in rates.items() if trainer in WRAPPED), default=None)
    return {
        "benchmark": "training_speed",
        "machine": describe(*DISTRIBUTIONS),
        "settings": asdict(config.settings) | {"runs": config.runs},
        "results": results,
        "ratios": {} if wrapped is None else {trainer: rate / wrapped for trainer, rate in rates.items()},
    }


def show(report: dict[str, Any], console: Console) -> None:
    """The report for the terminal."""
    settings = report["settings"]
    shown = Table(
        title=f"{settings['game']}, {settings['num_players']} players, {settings['threads']} threads",
        caption="decisions of learning seats per second; shares of time; × the faster wrapped setup",
    )
    for heading in ("", "steps/s", *PARTS, "×"):
        shown.add_column(heading, justify="right" if heading else "left", no_wrap=heading != "")
    for result in report["results"]:
        ratio = report["ratios"].get(result["trainer"])
        shown.add_row(
            TITLES[result["trainer"]],
            f"{result['steps_per_second']:,.0f}",
            *(f"{result['shares'][part]:.0%}" for part in PARTS),
            "-" if ratio is None else f"{ratio:.1f}",
        )
    console.print(shown)
    console.print(", ".join(f"{name} {value}" for name, value in report["machine"].items()))


def main(config: Config) -> None:
    """Run, show and write."""
    console = Console()
    report = run(config, console)
    show(report, console)
    if config.json is not None:
        config.json.write_text(json.dumps(report, indent=2) + "\n")
        console.print(f"figures in {config.json}")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
