"""How fast the searching agents are: playouts against the bare loop, iterations and worlds per second, two threads.

    python -m benchmarks.search --json search.json
    python -m benchmarks.search --games phantom_trick_v0 --players 4 --runs 1

The bare loop plays legal moves and nothing else: no observation, no mask, no rewards. A playout redraws what a player
cannot know, plays to the end by the same policy, and counts what each seat gained. Both, and the searches, start from
positions spread evenly over whole games of the rule bot. Everything runs pinned to one core, but for one thread against
two, which share two cores. All ways are timed in turn, several times over; the median counts, and ratios are taken
within a round.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.bare import POLICIES
from benchmarks.machine import ROOT, cores, describe
from benchmarks.search_report import grids, page
from benchmarks.searches import (
    BARE,
    PLAYOUTS,
    Budget,
    SearchLoop,
    choices_at,
    playout_contenders,
    roots,
    search_contenders,
)
from benchmarks.throughput import WIDTH, build
from benchmarks.timing import Contender, Loop, Result, measure
from phantom_envs.registry import game_ids, get_game


@dataclass
class Config:
    """What is timed, and how long."""

    games: tuple[str, ...] = ()
    """Games; all if none is given."""
    players: tuple[int, ...] = ()
    """Player counts; all that a game has if none is given."""
    weights: Path = ROOT / "agents" / "weights"
    """Folder of networks, `<game>_<players>.safetensors`, to search with as well where there is one."""
    roots: int = 16
    """Positions searched from, in each game."""
    iterations: int = 1000
    """Of `ismcts`, for each decision."""
    worlds: int = 100
    """Of `pimc`, for each decision."""
    runs: int = 3
    """Rounds through everything; the median counts."""
    seconds: float = 0.3
    """Duration of one timing, at least; searches go once through all positions."""
    core: int | None = None
    """Core that all but the comparison of one thread and two is pinned to; None for the last one."""
    json: Path | None = None
    """File to write the figures to."""
    write_docs: bool = False
    """Write the tables of the documentation."""


DOCS = ROOT / "docs" / "figures" / "search.md"
"""The tables of the documentation."""


def choose(config: Config, core: int) -> tuple[list[Contender], dict[str, str]]:
    """What `config` asks for, and what is not timed and why."""
    chosen: list[Contender] = []
    skipped: dict[str, str] = {}
    others = [other for other in cores() if other != core]
    if not others:
        skipped["two threads"] = "this process may use only one core"
    pair = (core, others[-1]) if others else None
    budget = Budget(config.roots, config.iterations, config.worlds)
    for game_id in config.games or game_ids():
        game = get_game(game_id)
        for count in game.players:
            if config.players and count not in config.players:
                continue
            network = config.weights / f"{game_id}_{count}.safetensors"
            if not network.is_file():
                skipped[f"{game_id} with {count} players and a network"] = f"there is no {network.name}"
            chosen += playout_contenders(game, count, budget, core)
            chosen += search_contenders(game, count, budget, network if network.is_file() else None, core, pair)
    return chosen, skipped


def run(config: Config, console: Console) -> dict[str, Any]:
    """Time everything and return the report as plain data."""
    core = cores()[-1] if config.core is None else config.core
    chosen, skipped = choose(config, core)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("compiling", total=config.runs * len(chosen))
        ready, loops = build(chosen, skipped)

        def tick(label: str) -> None:
            progress.update(task, description=label, advance=1)

        results = measure(ready, loops, config.runs, config.seconds, tick)
    settings = {name: getattr(config, name) for name in ("games", "players", "roots", "iterations", "worlds", "runs")}
    return {
        "benchmark": "search",
        "machine": describe("torch"),
        "settings": settings | {"seconds": config.seconds, "core": core},
        "results": [figures(result, loop) for result, loop in zip(results, loops, strict=True)],
        "playouts": compare_playouts(results),
        "two_threads": compare_threads(results),
        "roots": [
            {"game": game, "players": players, "choices": mean_choices(game, players, config.roots)}
            for game, players in dict.fromkeys((result.game, result.players) for result in results)
        ],
        "skipped": skipped,
    }


def unit(way: str) -> str:
    """What is counted."""
    agent = way.partition(":")[0]
    return {"ismcts": "iterations", "pimc": "worlds"}.get(agent, "decisions")


def figures(result: Result, loop: Loop) -> dict[str, Any]:
    """What was found of one contender, as plain data."""
    row = {name: getattr(result, name) for name in ("game", "players", "way", "batch", "threads", "cores")}
    row |= {"unit": unit(result.way), "per_second": result.steps_per_second, "runs": list(result.runs)}
    nodes = loop.nodes_per_batch if isinstance(loop, SearchLoop) else None
    return row if nodes is None else row | {"nodes_per_batch": nodes}


def mean_choices(game_id: str, players: int, count: int) -> float:
    """Legal actions at the roots, on the mean: a world of `pimc` takes so many playouts."""
    game = get_game(game_id)
    return float(choices_at(game, players, roots(game, players, count)).mean())


def ratio(results: Mapping[str, Result], over: str, under: str) -> float:
    """The median over the rounds of one pace by another."""
    return median(a / b for a, b in zip(results[over].runs, results[under].runs, strict=True))


def compare_playouts(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Playout decisions per second by those of the bare loop, for each game, player count and policy."""
    rows = []
    for game, players, found in by_setting(results):
        rows += [
            {
                "game": game,
                "players": players,
                "policy": policy,
                "ratio": ratio(found, f"{PLAYOUTS}, {policy}", f"{BARE}, {policy}"),
            }
            for policy in POLICIES
        ]
    return rows


def compare_threads(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Iterations per second of two threads by those of one, both on two cores.

    `one decision` has a search for each thread; `many decisions` have one search each.
    """
    rows = []
    for game, players, found in by_setting([result for result in results if result.cores == 2]):
        for of, ways in (
            ("one decision", [way for way in found if "searches=" in way]),
            ("many decisions", [way for way in found if "searches=" not in way]),
        ):
            one, two = ways
            rows.append({"game": game, "players": players, "of": of, "speed_up": ratio(found, two, one)})
    return rows


def by_setting(results: Sequence[Result]) -> list[tuple[str, int, dict[str, Result]]]:
    """The results of each game and player count, by way."""
    settings = dict.fromkeys((result.game, result.players) for result in results)
    return [
        (game, players, {result.way: result for result in results if (result.game, result.players) == (game, players)})
        for game, players in settings
    ]


def command(arguments: Sequence[str]) -> str:
    """The command line for the documentation, without the file that is written besides."""
    kept: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--json":
            next(rest, None)
        elif not argument.startswith("--json="):
            kept.append(argument)
    return shlex.join(["python", "-m", "benchmarks.search", *kept])


def main(config: Config, arguments: Sequence[str] = ()) -> None:
    """Time, show and write; `arguments` are what the command line was, for the documentation."""
    console = Console(width=max(WIDTH, Console().width))
    report = run(config, console)
    for grid in grids(report):
        console.print(grid.rich())
    for name, reason in report["skipped"].items():
        console.print(f"skipped {name}: {reason}", soft_wrap=True)
    console.print(", ".join(f"{name} {value}" for name, value in report["machine"].items()))
    if config.json is not None:
        config.json.write_text(json.dumps(report, indent=2) + "\n")
        console.print(f"figures in {config.json}")
    if config.write_docs:
        DOCS.write_text(page(report, command(arguments)), encoding="utf-8")
        console.print(f"tables in {DOCS}")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__), sys.argv[1:])
