"""The speed of the searching agents for readers: tables for the terminal and the documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agents.ismcts import IsmctsAgent
from agents.search.playout import HORIZONS
from benchmarks.bare import POLICIES
from benchmarks.grid import Grid
from benchmarks.searches import BARE, GUIDED, PLAYOUTS, STYLES
from phantom_envs.registry import get_game

Row = Mapping[str, Any]
"""A line of the report's `results`."""


@dataclass(frozen=True)
class Setting:
    """A game with so many players, and all that was found of it.

    Attributes:
        title: The game's title and the number of players.
        results: Lines of the report's `results`.
        ratios: Per policy, playouts by the bare loop.
        gains: Per comparison, two threads by one.
        choices: Legal actions at the roots, on the mean.
    """

    title: str
    results: list[Row]
    ratios: dict[str, float]
    gains: dict[str, float]
    choices: float

    def per_second(self, wanted: Callable[[str], bool]) -> float | None:
        """The pace of the first way to play that is wanted."""
        return next((row["per_second"] for row in self.results if wanted(row["way"])), None)


def settings_of(report: Mapping[str, Any]) -> list[Setting]:
    """The games and player counts of a report."""

    def here(part: str, about: Row) -> list[Row]:
        return [row for row in report[part] if (row["game"], row["players"]) == (about["game"], about["players"])]

    return [
        Setting(
            f"{get_game(about['game']).title}, {about['players']}",
            here("results", about),
            {row["policy"]: row["ratio"] for row in here("playouts", about)},
            {row["of"]: row["speed_up"] for row in here("two_threads", about)},
            about["choices"],
        )
        for about in report["roots"]
    ]


def grids(report: Mapping[str, Any]) -> list[Grid]:
    """All tables of a report that have any figures."""
    settings = settings_of(report)
    budget = report["settings"]
    tables = [_playouts(settings), *_ismcts(settings, budget), *_pimc(settings, budget)]
    tables += [_networks(settings), _threads(settings, budget)]
    return [table for table in tables if table.rows]


def page(report: Mapping[str, Any], command: str) -> str:
    """The tables of the documentation, with where they come from."""
    machine = ", ".join(f"{name} {value}" for name, value in report["machine"].items())
    tables = "\n".join(f"### {grid.title}\n\n{grid.markdown()}" for grid in grids(report))
    return f"<!-- written by benchmarks.search --write-docs -->\n\n`{command}`, on {machine}.\n\n{tables}"


def _playouts(settings: list[Setting]) -> Grid:
    headings = ["game, players"]
    for policy in POLICIES:
        headings += [f"bare loop, {policy}", f"playouts, {policy}", "ratio"]
    rows = []
    for setting in settings:
        cells = [setting.title]
        for policy in POLICIES:
            paces = [setting.per_second(_is(f"{kind}, {policy}")) for kind in (BARE, PLAYOUTS)]
            cells += [_cell(pace) for pace in paces if pace is not None] + [f"{setting.ratios[policy]:.0%}"]
        rows.append(tuple(cells))
    return Grid("Playouts and the bare loop", "Decisions per second on one core", tuple(headings), tuple(rows))


def _is(wanted: str) -> Callable[[str], bool]:
    return lambda way: way == wanted


def _is_search(agent: str, style: str, horizon: str) -> Callable[[str], bool]:
    return lambda way: way.startswith(f"{agent}:") and way.endswith(f",{style},horizon={horizon}")


def _searches(settings: list[Setting], agent: str, note: str, cell: Callable[[Setting, float], str]) -> list[Grid]:
    """For each horizon a line for each setting that has it, a cell for each style."""
    tables = []
    for horizon in HORIZONS:
        wanted = [_is_search(agent, style, horizon) for style in STYLES[agent].values()]
        paces = {setting.title: (setting, list(map(setting.per_second, wanted))) for setting in settings}
        rows = [
            (title, *(cell(setting, pace) for pace in found if pace is not None))
            for title, (setting, found) in paces.items()
            if found[0] is not None
        ]
        title = f"{agent} to the end of the {horizon}"
        tables.append(Grid(title, note, ("game, players", *STYLES[agent]), tuple(rows)))
    return tables


def _ismcts(settings: list[Setting], budget: Mapping[str, Any]) -> list[Grid]:
    note = (
        f"Iterations per second on one core, {budget['iterations']} for each decision, by selection and the playouts' "
        f"policy (rule: {IsmctsAgent().noise:.0%} of its moves at random)"
    )
    return _searches(settings, "ismcts", note, lambda _, pace: _cell(pace))


def _pimc(settings: list[Setting], budget: Mapping[str, Any]) -> list[Grid]:
    note = (
        f"Worlds per second on one core, {budget['worlds']} for each decision, by the playouts' policy; in parentheses "
        "playouts per second, one for each legal action in each world"
    )
    return _searches(settings, "pimc", note, lambda setting, pace: f"{_cell(pace)} ({_cell(pace * setting.choices)})")


def _networks(settings: list[Setting]) -> Grid:
    rows = [
        (setting.title, title, str(row["batch"]), _cell(row["per_second"]), f"{row['nodes_per_batch']:.1f}")
        for setting in settings
        for title, style in GUIDED.items()
        for row in setting.results
        if "nodes_per_batch" in row and row["way"].endswith(f",{style}")
    ]
    note = (
        "Iterations per second on one core, the network included, which gives values and priors (`rollout=none`) or "
        "priors only (`rollout=rule,blend=1`); and how many nodes it is asked about at once, on the mean"
    )
    headings = ("game, players", "the network gives", "decisions at once", "iterations per second", "nodes at once")
    return Grid("ismcts with a network", note, headings, tuple(rows))


def _threads(settings: list[Setting], budget: Mapping[str, Any]) -> Grid:
    comparisons = list(dict.fromkeys(of for setting in settings for of in setting.gains))
    rows = [
        (setting.title, *(f"{setting.gains[of]:.2f}×" for of in comparisons)) for setting in settings if setting.gains
    ]
    note = (
        f"Iterations per second of two threads by those of one. One decision: `searches=2,threads=2` by one search in "
        f"one thread, {budget['iterations']} iterations each; many decisions: {budget['roots']} at once, each searched "
        "by one thread"
    )
    return Grid("Two threads on two cores", note, ("game, players", *comparisons), tuple(rows))


def _cell(pace: float) -> str:
    """A pace in three digits."""
    if pace >= 1e6:
        return f"{pace / 1e6:.3g} M"
    return f"{float(f'{pace:.3g}'):,.0f}"
