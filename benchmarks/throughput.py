"""Steps per second of uniformly random legal play, observation and mask of the acting seat produced at every step.

    python -m benchmarks.throughput --json throughput.json
    python -m benchmarks.throughput --games phantom_trick_v0 --players 4 --no-peers

Everything runs pinned to one core, but for one thread against two, which share two cores with two processes of one
thread each: what these make together is what two threads could make at best, on a machine as busy as it was. All ways
are timed in turn, several times over, and the median counts. Beside this library's games it times what one would
otherwise use, as far as it is installed (`pip install -e '.[benchmarks]'`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks import companion, ours, peers
from benchmarks.machine import cores, describe, pinned
from benchmarks.timing import Contender, Loop, Result, measure
from phantom_envs.registry import game_ids, get_game


@dataclass
class Config:
    """What is timed, and how long."""

    games: tuple[str, ...] = ()
    """Games; all if none is given."""
    players: tuple[int, ...] = ()
    """Player counts; all that a game has if none is given."""
    batches: tuple[int, ...] = (1, 64, 1024, 4096)
    """Games at a time, driven from Python."""
    runs: int = 5
    """Rounds through everything; the median counts."""
    seconds: float = 0.5
    """Duration of one timing."""
    core: int | None = None
    """Core that everything is pinned to; None for the last one."""
    peers: bool = True
    """Time other libraries too."""
    json: Path | None = None
    """File to write the figures to."""


WIDTH = 112
"""Characters a line that the tables need, also where the terminal has fewer or none is there."""

Skipped = dict[str, str]
"""What is not timed, and why."""


def choose(config: Config, core: int) -> tuple[list[Contender], Skipped]:
    """What `config` asks for."""
    chosen: list[Contender] = []
    skipped: Skipped = {}
    others = [other for other in cores() if other != core]
    if not others:
        skipped["two threads"] = "this process may use only one core"
    for game in config.games or game_ids():
        for count in get_game(game).players:
            if not config.players or count in config.players:
                pair = (core, others[-1]) if others else None
                chosen += ours.contenders(game, count, config.batches, core, pair)
                if pair is not None:
                    chosen.append(companion.contender(game, count, max(config.batches), pair))
    if config.peers:
        chosen += peers.contenders(core)
    return chosen, skipped


def build(chosen: Sequence[Contender], skipped: Skipped) -> tuple[list[Contender], list[Loop]]:
    """The loops of those that can be built here; the reasons for the others go to `skipped`."""
    ready: list[Contender] = []
    loops: list[Loop] = []
    for contender in chosen:
        try:
            with pinned(contender.cores):
                loop = contender.make()
                loop()  # the first call may compile
        except Exception as error:
            if contender.library == ours.LIBRARY:
                raise
            skipped[f"{contender.library} {contender.game}"] = f"{type(error).__name__}: {error}"
            continue
        ready.append(contender)
        loops.append(loop)
    return ready, loops


def run(config: Config, console: Console) -> dict[str, Any]:
    """Time everything and return the report as plain data."""
    core = cores()[-1] if config.core is None else config.core
    chosen, skipped = choose(config, core)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("compiling", total=config.runs * len(chosen))
        ready, loops = build(chosen, skipped)
        progress.update(task, total=config.runs * len(ready))

        def tick(label: str) -> None:
            progress.update(task, description=label, advance=1)

        results = measure(ready, loops, config.runs, config.seconds, tick)
    settings = {name: value for name, value in asdict(config).items() if name != "json"} | {"core": core}
    return {
        "benchmark": "throughput",
        "machine": describe(*peers.DISTRIBUTIONS),
        "settings": settings,
        "results": [result.as_json() for result in results],
        "two_threads": two_threads(results),
        "skipped": skipped,
    }


def two_threads(results: Sequence[Result]) -> list[dict[str, Any]]:
    """How much faster two threads are than one for each game and player count, and two processes, the ceiling for it.

    All run on the same two cores, one after the other in each round; the median of the rounds' ratios counts.
    """
    runs = {(r.game, r.players, r.way, r.threads): r.runs for r in results if r.cores == 2}

    def gain(game: str, players: int, way: str, threads: int) -> float:
        alone = runs[game, players, ours.SAMPLER, 1]
        return median(rate / base for rate, base in zip(runs[game, players, way, threads], alone, strict=True))

    return [
        {
            "game": game,
            "players": players,
            "speed_up": gain(game, players, ours.SAMPLER, 2),
            "ceiling": gain(game, players, companion.TWO_PROCESSES, 1),
        }
        for game, players in dict.fromkeys((game, players) for game, players, _, _ in runs)
    ]


def own_table(game: str, rows: Sequence[dict[str, Any]], gains: Sequence[dict[str, Any]]) -> Table:
    """One game of ours: a line per way, a column per player count."""
    counts = list(dict.fromkeys(row["players"] for row in rows))
    shown = Table(title=f"{game}: steps per second", title_justify="left")
    shown.add_column("way")
    shown.add_column("batch", justify="right")
    for count in counts:
        shown.add_column(f"{count} players", justify="right", no_wrap=True)
    figures: dict[tuple[str, int], dict[int, float]] = {}
    for row in rows:
        way = row["way"] if row["cores"] == 1 else f"{row['way']}, threads={row['threads']}, two cores"
        figures.setdefault((way, row["batch"]), {})[row["players"]] = row["steps_per_second"]
    for (way, batch), found in figures.items():
        shown.add_row(way, str(batch), *(f"{found[count]:,.0f}" for count in counts))
    if gains:
        for what, name in (("second thread", "speed_up"), ("second process, what the cores can do", "ceiling")):
            found = {gain["players"]: gain[name] for gain in gains}
            shown.add_row(f"gain from a {what}", "", *(f"{found[count]:.2f}×" for count in counts))
    sizes = {row["players"]: row["observation"] for row in rows}
    shown.add_row("bytes of an observation", "", *(str(sizes[count]) for count in counts))
    return shown


def peers_table(rows: Sequence[dict[str, Any]]) -> Table:
    """The other libraries, a line each."""
    shown = Table(title="other libraries: steps per second", title_justify="left")
    for heading in ("library", "game", "players", "way", "batch", "observed", "steps/s"):
        shown.add_column(heading, justify="left" if heading in ("library", "game", "way") else "right", no_wrap=True)
    for row in rows:
        cells = (row[name] for name in ("library", "game", "players", "way", "batch", "observation"))
        shown.add_row(*map(str, cells), f"{row['steps_per_second']:,.0f}")
    return shown


def show(report: dict[str, Any], console: Console) -> None:
    """The report for the terminal."""
    rows: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for row in report["results"]:
        rows[row["library"] == ours.LIBRARY].append(row)
    for game in dict.fromkeys(row["game"] for row in rows[True]):
        gains = [gain for gain in report["two_threads"] if gain["game"] == game]
        console.print(own_table(game, [row for row in rows[True] if row["game"] == game], gains))
    if rows[False]:
        console.print(peers_table(rows[False]))
    for name, reason in report["skipped"].items():
        console.print(f"skipped {name}: {reason}", soft_wrap=True)
    console.print(", ".join(f"{name} {value}" for name, value in report["machine"].items()))


def main(config: Config) -> None:
    """Time, show and write."""
    console = Console(width=max(WIDTH, Console().width))
    report = run(config, console)
    show(report, console)
    if config.json is not None:
        config.json.write_text(json.dumps(report, indent=2) + "\n")
        console.print(f"figures in {config.json}")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
