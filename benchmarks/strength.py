"""How strong the agents are: all against all in each game, win shares, score margins and ratings with intervals.

    python -m benchmarks.strength --deals 100 --workers 2
    python -m benchmarks.strength --games phantom_trick_v0 --agents rule pimc:milliseconds=100 --no-mixed
    python -m benchmarks.strength --agents random rule 'neural:{network}' --weights runs/weights --write-docs

Who meets whom is told in `benchmarks/fields.py`, how agents are rated in `benchmarks/ratings.py`. Matches are kept on
disk (`benchmarks/match_cache.py`), so a run that was interrupted goes on, and more deals or agents cost what is new.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks.fields import NETWORK, Entrant, Fixture, choices_per_seat, enter, fixtures
from benchmarks.machine import ROOT, describe
from benchmarks.match_cache import Block, Played, join, play_block, read_block, rules_hash
from benchmarks.standings import GameReport, evaluate
from benchmarks.strength_report import grids, page, plot
from phantom_envs.arena.agent import close
from phantom_envs.arena.specs import InvalidSpec, make_agent
from phantom_envs.arena.workers import Job, one_interrupt
from phantom_envs.arena.workers import run as run_in_processes
from phantom_envs.core.errors import InvalidBatch, PhantomError, UnknownGame
from phantom_envs.registry import game_ids, get_game

WIDTH = 132
"""Characters a line that the tables need, also where the terminal has fewer or none is there."""

DISTRIBUTIONS = ("torch",)
"""Whose versions are noted with each match."""

DOCS = ROOT / "docs"


@dataclass
class Config:
    """What is played, and where it is kept."""

    games: tuple[str, ...] = ()
    """Games; all if none is given."""
    players: dict[str, int] = field(default_factory=dict)
    """Players of a game, as `--players phantom_trick_v0 5`; the game's default if not given."""
    agents: tuple[str, ...] = (
        "random",
        "rule",
        "pimc:milliseconds={ms}",
        "ismcts:milliseconds={ms}",
        "neural:{network}",
        "ismcts:network={network},milliseconds={ms}",
    )
    """Specs of agents, in which `{ms}` stands for `milliseconds` and `{network}` for the path of the game's network."""
    milliseconds: float = 10
    """Time per decision of all agents whose specs have `{ms}`."""
    weights: Path = ROOT / "agents" / "weights"
    """Folder of networks, `<game>_<players>.safetensors`. Without one for a game its agents with `{network}` are left
    out."""
    networks: dict[str, Path] = field(default_factory=dict)
    """Networks from elsewhere, as `--networks phantom_trick_v0 run/agent.safetensors`."""
    mixed: bool = True
    """Also mixed fields, in games of three players or more."""
    deals: int = 100
    """Deals of each match, each played in all rotations of the seats."""
    deals_of: dict[str, int] = field(default_factory=dict)
    """Deals of a game, as `--deals-of das_phantom_v0 20`; `deals` if not given."""
    block: int = 20
    """Deals that are kept as one file, and the most that an interrupt loses of a match, for each worker."""
    seed: int = 0
    """Of the deals, of what agents do at random, and of the bootstrap's draws."""
    workers: int = 1
    """Processes, each of which plays a block at a time. Agents on a clock need a core for each."""
    cache: Path = Path("runs/strength")
    """Folder of the matches."""
    json: Path | None = None
    """File to write the figures to."""
    write_docs: bool = False
    """Write the page and the plot of the documentation; needs matplotlib."""


@dataclass(frozen=True)
class Plan:
    """The matches of a game.

    Attributes:
        game: Its id.
        num_players: Seats.
        entrants: The agents.
        left_out: What does not take part, and why.
        matches: Each match with its blocks.
    """

    game: str
    num_players: int
    entrants: list[Entrant]
    left_out: list[str]
    matches: list[tuple[Fixture, list[Block]]]


def make_plan(config: Config, game_id: str) -> Plan:
    """What `config` asks for in a game."""
    game = get_game(game_id)
    num_players = game.check_players(config.players.get(game_id))
    path = config.networks.get(game_id, config.weights / f"{game_id}_{num_players}.safetensors")
    if game_id in config.networks and not path.is_file():
        raise InvalidSpec(f"there is no network {path}")
    entrants = enter(config.agents, config.milliseconds, path if path.is_file() else None)
    if len(entrants) < 2:
        raise InvalidSpec(f"{game_id}: two agents at least are needed, there are {len(entrants)}")
    needing = [template for template in config.agents if NETWORK in template]
    left_out = (
        [] if path.is_file() or not needing else [f"left out without a network {path.name}: {', '.join(needing)}"]
    )
    rules = rules_hash(game_id)
    return Plan(
        game_id,
        num_players,
        entrants,
        left_out,
        [
            (fixture, fixture.blocks(rules, config.deals_of.get(game_id, config.deals), config.block, config.seed))
            for fixture in fixtures(game_id, num_players, entrants, config.mixed)
        ],
    )


def missing(plan: Plan, cache: Path) -> list[tuple[Fixture, Block]]:
    """What is still to be played of a game."""
    return [(fixture, block) for fixture, blocks in plan.matches for block in blocks if not block.path(cache).exists()]


def check_agents(plan: Plan, todo: Sequence[tuple[Fixture, Block]]) -> None:
    """Make each agent that will play once: what is wrong with a spec shows before hours of play, and code compiles."""
    game = get_game(plan.game)
    for spec in dict.fromkeys(spec for _, block in todo for spec in block.specs):
        close(make_agent(spec, game, plan.num_players, game.check_options({})))


def schedule(plans: Sequence[Plan], cache: Path, workers: int, say: Callable[[str], None]) -> list[tuple[float, Block]]:
    """The blocks that are missing with the seconds that each may take, those of cheap matches first."""
    timed: list[tuple[float, Block]] = []
    for plan in plans:
        for reason in plan.left_out:
            say(f"{plan.game}: {reason}")
        todo = missing(plan, cache)
        if not todo:
            say(f"{plan.game}: all {len(plan.matches)} matches are there")
            continue
        check_agents(plan, todo)
        choices = choices_per_seat(plan.game, plan.num_players)
        costs = [(fixture.seconds(choices) * block.deals, block) for fixture, block in todo]
        timed += costs
        matches = len({id(fixture) for fixture, _ in todo})
        say(
            f"{plan.game}: {matches} of {len(plan.matches)} matches to play, {choices:.0f} choices a seat and game, "
            f"about {duration(sum(cost for cost, _ in costs) / workers)}"
        )
    if timed:
        total = duration(sum(cost for cost, _ in timed) / workers)
        say(f"in all about {total} with workers={workers}; agents without milliseconds=… may take longer")
    return sorted(timed, key=lambda each: each[0])


def duration(seconds: float) -> str:
    """Hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


class _PlayBlocks(Job[Block, None]):
    """Plays blocks in another process, and keeps each as soon as it is played."""

    def __init__(self, cache: Path, machine: Mapping[str, Any]) -> None:
        self._cache = cache
        self._machine = machine

    def do(self, task: Block, tell: Callable[[int], None]) -> None:
        play_block(task, self._cache, self._machine)

    def name(self, task: Block) -> str:
        return f"a block of {task.game} between {', '.join(task.specs)}"


def play_all(
    blocks: Sequence[Block], cache: Path, workers: int, tick: Callable[[], None], own_process: bool = False
) -> None:
    """Play blocks in this order and keep each as soon as it is played; `own_process` as in `play_match`."""
    machine = describe(*DISTRIBUTIONS)
    if blocks and (own_process or (workers > 1 and len(blocks) > 1)):
        run_in_processes(_PlayBlocks(cache, machine), blocks, workers, lambda *_: tick(), lambda _: None)
        return
    for block in blocks:
        play_block(block, cache, machine)
        tick()


def _one_thread() -> None:
    """Before torch is imported: a network's time is that of one core, with one process as with several."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def run(
    config: Config, console: Console, own_process: bool = False
) -> tuple[list[GameReport], list[Mapping[str, Any]], list[str]]:
    """Play what is missing, and evaluate: per game, then the machines and days of the matches."""
    if min(config.deals, *config.deals_of.values(), config.block, config.workers) < 1 or config.milliseconds <= 0:
        raise InvalidBatch("give deals, block and workers of at least 1, and milliseconds above 0")
    for game in (*config.players, *config.networks, *config.deals_of):
        if game not in game_ids():
            raise UnknownGame(f"no game {game!r}; there are {', '.join(game_ids())}")
    config.cache.mkdir(parents=True, exist_ok=True)
    plans = [make_plan(config, game) for game in config.games or game_ids()]
    timed = schedule(plans, config.cache, config.workers, lambda line: console.print(line, highlight=False))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        task = progress.add_task("blocks of deals", total=len(timed))
        blocks = [block for _, block in timed]
        play_all(blocks, config.cache, config.workers, lambda: progress.advance(task), own_process)
    reports: list[GameReport] = []
    machines: dict[str, Mapping[str, Any]] = {}
    dates: list[str] = []
    for plan in plans:
        matches = [(fixture, _read(fixture, blocks, config)) for fixture, blocks in plan.matches]
        reports.append(evaluate(plan.entrants, matches, config.seed, plan.left_out))
        machines |= {json.dumps(each): each for _, played in matches for each in played.machines}
        dates += [date for _, played in matches for date in played.dates]
    return reports, list(machines.values()), sorted(set(dates))


def _read(fixture: Fixture, blocks: Sequence[Block], config: Config) -> Played:
    return join([read_block(block, config.cache, fixture.labels) for block in blocks], config.seed)


def write_docs(folder: Path, text: str, reports: Sequence[GameReport]) -> None:
    """The page `strength.md` of the documentation and its plot."""
    (folder / "_static").mkdir(exist_ok=True)
    plot(reports, folder / "_static" / "strength.svg")
    (folder / "strength.md").write_text(text, encoding="utf-8")


def main(config: Config, arguments: Sequence[str] = ()) -> None:
    """Play, show and write; `arguments` are what the command line was, for the page."""
    console = Console(width=max(WIDTH, Console().width))
    reports, machines, dates = run(config, console, own_process=True)
    for report in reports:
        for grid in grids(report):
            console.print(grid.rich())
    if any(standing.alpha_rank is None for report in reports for standing in report.standings):
        console.print("no α-rank: open_spiel.python.egt cannot be imported here")
    if config.json is not None:
        figures = {"benchmark": "strength", "machines": machines, "dates": dates}
        figures |= {"games": [asdict(report) for report in reports]}
        config.json.write_text(json.dumps(figures, indent=2) + "\n")
        console.print(f"figures in {config.json}")
    if config.write_docs:
        command = shlex.join(["python", "-m", "benchmarks.strength", *arguments])
        write_docs(DOCS, page(reports, command, machines, dates), reports)
        console.print(f"page in {DOCS}")


if __name__ == "__main__":
    _one_thread()
    try:
        with one_interrupt():
            main(tyro.cli(Config, description=__doc__), sys.argv[1:])
    except PhantomError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from what is kept", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
