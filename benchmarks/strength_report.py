"""Strength for readers: tables for the terminal and the documentation, and a plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.grid import Grid
from benchmarks.standings import GameReport
from phantom_envs.arena.summary import Estimate
from phantom_envs.registry import get_game

INTERVAL = "in parentheses: 95 % interval, bootstrap over deals"


def grids(report: GameReport) -> list[Grid]:
    """Standings and pairings of a game; columns without any figure are left out."""
    title = f"{get_game(report.game).title}, {report.num_players} players"
    return [_standings(report, title), _pairings(report, title)]


def _standings(report: GameReport, title: str) -> Grid:
    fair = f"{1 / report.num_players:.1%}"
    columns: dict[str, list[str | None]] = {
        "agent": [each.agent for each in report.standings],
        "rating": [_cell(each.rating, "{:+.0f}") for each in report.standings],
        "α-rank": [None if each.alpha_rank is None else f"{each.alpha_rank:.3f}" for each in report.standings],
        "wins in mixed fields": [_cell(each.mixed_wins, "{:.1%}") for each in report.standings],
        "score margin there": [_cell(each.mixed_margin, "{:+.2f}") for each in report.standings],
        "ms/decision": [f"{each.ms_per_decision:.3g}" for each in report.standings],
    }
    kept = {heading: cells for heading, cells in columns.items() if any(cell is not None for cell in cells)}
    zero = f"0 is `{report.anchor}`" if report.anchor else "0 is the mean"
    note = f"Ratings: 400 points are odds of ten to one between two seats, {zero}; {INTERVAL}"
    if "wins in mixed fields" in kept:
        note += f"; a fair share is {fair}"
    if report.truncated:
        note += f"; {report.truncated} of {report.games} games were cut off by their length limit and have no winner"
    rows = tuple(tuple(cell or "-" for cell in row) for row in zip(*kept.values(), strict=True))
    return Grid(f"{title}: ratings", note, tuple(kept), rows)


def _pairings(report: GameReport, title: str) -> Grid:
    others = report.num_players - 1
    headings = ["one", "against", "wins", "score margin", "ms/decision", "theirs"]
    rows = [
        [
            duel.alone.agent,
            f"{others} × {duel.field.agent}" if others > 1 else duel.field.agent,
            _cell(duel.alone.win_share, "{:.1%}") or "-",
            _cell(duel.alone.margin, "{:+.2f}") or "-",
            f"{duel.alone.ms_per_decision:.3g}",
            f"{duel.field.ms_per_decision:.3g}",
        ]
        for duel in report.duels
    ]
    if all(duel.alone.margin is None for duel in report.duels):
        column = headings.index("score margin")
        for line in (headings, *rows):
            del line[column]
    note = f"{report.deals} deals in all rotations; a fair share of wins is {1 / report.num_players:.1%}; {INTERVAL}"
    name = f"one against {others}" if others > 1 else "pairings"
    return Grid(f"{title}: {name}", note, tuple(headings), tuple(map(tuple, rows)))


def _cell(estimate: Estimate | None, form: str) -> str | None:
    if estimate is None:
        return None
    return f"{form} ({form} … {form})".format(estimate.mean, estimate.low, estimate.high)


def plot(reports: Sequence[GameReport], path: Path) -> None:
    """Ratings with their intervals as an SVG, a panel for each game. Needs matplotlib."""
    from matplotlib import rc_context  # an extra, and slow to import
    from matplotlib.figure import Figure

    most = max(len(report.standings) for report in reports)
    columns = min(2, len(reports))
    lines = -(-len(reports) // columns)
    with rc_context({"svg.hashsalt": "strength", "svg.fonttype": "none", "font.size": 10}):  # the same file each time
        figure = Figure(figsize=(5 * columns, (0.9 + 0.4 * most) * lines), layout="constrained")
        panels = figure.subplots(lines, columns, squeeze=False).flat
        for panel, report in zip(panels, reports, strict=False):
            ranked = sorted(report.standings, key=lambda standing: standing.rating.mean)
            means = np.array([standing.rating.mean for standing in ranked])
            ends = np.array([(standing.rating.low, standing.rating.high) for standing in ranked]).T
            panel.errorbar(
                means, range(len(ranked)), xerr=np.maximum(np.abs(ends - means), 0), fmt="o", capsize=3, markersize=4
            )
            panel.axvline(0, color="0.6", linewidth=0.8, zorder=0)
            panel.set_yticks(range(len(ranked)), [standing.agent for standing in ranked])
            panel.set_ylim(-0.6, len(ranked) - 0.4)
            panel.set_title(f"{get_game(report.game).title}, {report.num_players} players")
            panel.set_xlabel(f"rating, {report.anchor} = 0" if report.anchor else "rating, mean = 0")
            panel.grid(axis="x", alpha=0.3)
        for panel in list(figure.axes)[len(reports) :]:
            panel.set_axis_off()
        figure.savefig(path, format="svg", metadata={"Date": None})


PAGE = """# How strong the agents are

Made by `python -m benchmarks.strength --write-docs`. In every game every two agents meet, each alone among seats of the
other{mixed}.
All matches of a game have the same deals, and every deal is played in all rotations of the seats. How agents are named
is told in {{doc}}`arena`.

![Ratings of the agents with 95 % intervals, a panel for each game](_static/strength.svg)

{games}
## How this was measured

* Command: `{command}`
* Played: {dates}
* On: {machines}
* Revision: {revisions}

Win share is 1/w of a victory shared by w. The score margin is the seat's points minus the mean of the others', the sign
turned where few points are good. Milliseconds are over all decisions, those without a choice included, as measured
during the matches. Ratings are fitted to comparisons between seats:

```{{eval-rst}}
.. automodule:: benchmarks.ratings
   :no-members:
   :no-index:
```

An agent is taken to have beaten each other one in half a comparison before the first game, so that ratings stay finite
where somebody never wins; such a rating says "at least this far apart". Intervals are of deals drawn again with
replacement and the model fitted anew.

{alpha_rank}
"""

ALPHA_RANK = """The α-rank (Omidshafiei et al. 2019) is OpenSpiel's, over one population whose members meet in pairs:
its mass tells which agents remain where better ones displace worse ones, without supposing that strength is transitive.
It takes the shares as they are, so a small lead that may be chance can have all the mass."""
NO_ALPHA_RANK = "There is no column of α-rank: OpenSpiel, which computes it, was not installed."


def page(
    reports: Sequence[GameReport], command: str, machines: Sequence[Mapping[str, Any]], dates: Sequence[str]
) -> str:
    """The page of the documentation."""
    return PAGE.format(
        mixed=", and there are mixed fields of different agents" if _any_mixed(reports) else "",
        games="\n".join(map(_section, reports)),
        command=command,
        dates=" to ".join(dict.fromkeys((min(dates), max(dates)))),
        machines="; ".join(dict.fromkeys(_machine(machine) for machine in machines)),
        revisions=", ".join(dict.fromkeys(str(machine["revision"]) for machine in machines)),
        alpha_rank=NO_ALPHA_RANK if _without_alpha_rank(reports) else ALPHA_RANK,
    )


def _section(report: GameReport) -> str:
    standings, pairings = grids(report)
    specs = "\n".join(
        f"* {standing.agent}: `{standing.spec}`" for standing in report.standings if standing.spec != standing.agent
    )
    parts = [f"## {get_game(report.game).title}, {report.num_players} players", standings.markdown()]
    parts += [pairings.markdown(), specs, *(f"* {reason}" for reason in report.left_out)]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _any_mixed(reports: Sequence[GameReport]) -> bool:
    return any(standing.mixed_wins is not None for report in reports for standing in report.standings)


def _without_alpha_rank(reports: Sequence[GameReport]) -> bool:
    return any(standing.alpha_rank is None for report in reports for standing in report.standings)


def _machine(machine: Mapping[str, Any]) -> str:
    names = [f"{name} {value}" for name, value in machine.items() if name not in ("cpu", "revision", "system")]
    return ", ".join([str(machine["cpu"]), *names])
