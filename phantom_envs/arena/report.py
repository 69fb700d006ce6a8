"""The results of a match as a table, as JSON and as CSV."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from phantom_envs.arena.match import Results, Setting
from phantom_envs.arena.summary import AgentSummary, Estimate
from phantom_envs.core.errors import PhantomError
from phantom_envs.core.files import whole_file
from phantom_envs.core.terminal import printable
from phantom_envs.tables import NumberTable

COLUMNS = (
    "agent",
    "win_share",
    "win_share_low",
    "win_share_high",
    "margin",
    "margin_low",
    "margin_high",
    "ms_per_decision",
    "games",
    "decisions",
)


class InvalidReport(PhantomError, ValueError):
    """A file name that does not say how to write."""


def table(setting: Setting, results: Results, agents: list[AgentSummary]) -> NumberTable:
    """The results for the terminal."""
    options = ", ".join(f"{name}={value}" for name, value in setting.options.items())
    deals = f"{setting.deals} deals"
    if results.deals < setting.deals:
        deals = f"broken off, {results.deals} of {deals} finished"
    title = f"{setting.game}, {setting.num_players} players, {options}: {deals}, seed {setting.seed}"
    fair = 1 / setting.num_players
    caption = f"{results.truncated.size} games; [95 % interval], bootstrap over deals; a fair win share is {fair:.3f}"
    cut_off = int(results.truncated.sum())
    if cut_off:
        caption += f"; {cut_off} games were cut off by their length limit and have no winner"
    return NumberTable(
        ("agent", "win share", "score margin", "ms/move", "games"),
        (
            (
                printable(agent.agent),
                _cell(agent.win_share, "{:.3f}"),
                _cell(agent.margin, "{:+.2f}"),
                f"{agent.ms_per_decision:.3g}",
                str(agent.games),
            )
            for agent in agents
        ),
        title=title,
        caption=caption,
    )


def _cell(estimate: Estimate | None, form: str) -> str:
    if estimate is None:
        return "-"
    return f"{form} [{form}, {form}]".format(estimate.mean, estimate.low, estimate.high)


def as_data(setting: Setting, results: Results, agents: list[AgentSummary]) -> dict[str, Any]:
    """The results as plain JSON-able data."""
    return {
        "game": setting.game,
        "num_players": setting.num_players,
        "options": dict(setting.options),
        "seed": setting.seed,
        "deals": results.deals,
        "deals_asked": setting.deals,
        "partial": results.deals < setting.deals,
        "games": results.truncated.size,
        "truncated": int(results.truncated.sum()),
        "seating": [[setting.labels[agent] for agent in seats] for seats in setting.seating.tolist()],
        "agents": [asdict(agent) for agent in agents],
    }


def check_name(path: Path) -> None:
    """Refuse a file name that `write` could not write, before the match is played."""
    if path.suffix.lower() not in (".json", ".csv"):
        raise InvalidReport(f"{path}: name a .json or a .csv file")
    if not path.parent.is_dir():
        raise InvalidReport(f"{path}: there is no folder {path.parent}")


def write(path: Path, setting: Setting, results: Results, agents: list[AgentSummary]) -> None:
    """Write the results as JSON or CSV, as the file's name says. What was there stays if that fails."""
    check_name(path)
    with whole_file(path) as file:
        if path.suffix.lower() == ".json":
            file.write(json.dumps(as_data(setting, results, agents), indent=2) + "\n")
            return
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        rows.writerows(_row(agent) for agent in agents)


def _row(agent: AgentSummary) -> list[Any]:
    margin = agent.margin
    return [
        agent.agent,
        agent.win_share.mean,
        agent.win_share.low,
        agent.win_share.high,
        *((margin.mean, margin.low, margin.high) if margin else ("", "", "")),
        agent.ms_per_decision,
        agent.games,
        agent.decisions,
    ]
