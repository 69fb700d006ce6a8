"""The same training with several seeds, and a table of what each of them learned.

    python -m training.seeds --seeds 0 1 2 --json seeds.json

Every claim of the README about what `training.ppo` learns comes from here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console

from phantom_envs.tables import NumberTable
from training import ppo
from training.evaluate import Evaluation


@dataclass
class Config:
    """Which seeds, of which training."""

    seeds: tuple[int, ...] = (0, 1, 2)
    """One run each, one after the other."""
    json: Path | None = None
    """File to write the figures to."""
    ppo: ppo.Config = field(default_factory=ppo.Config)
    """The training; its seed and run folder are set here."""


def as_data(seed: int, run: Path, evaluation: Evaluation) -> dict[str, Any]:
    """One line of the table as plain data."""
    wins, margin = evaluation.result.win_share, evaluation.result.margin
    note = json.loads(max(run.glob("checkpoint-*.json")).read_text())
    return {
        "seed": seed,
        "opponent": evaluation.opponent,
        "num_players": evaluation.num_players,
        "deals": evaluation.deals,
        "steps": note["step"],
        "seconds": round(note["seconds"], 1),
        "win_share": [wins.mean, wins.low, wins.high],
        "margin": [margin.mean, margin.low, margin.high] if margin else None,
    }


def show(title: str, rows: list[dict[str, Any]]) -> NumberTable:
    """The figures for the terminal."""
    headings = ("seed", "steps", "seconds", "opponents", "win share", "95 %", "fair", "score margin", "95 %")
    return NumberTable(
        headings,
        map(_cells, rows),
        words=(headings.index("opponents"),),
        title=title,
        caption="intervals: 95 %, bootstrap over deals; every deal is played in every seat",
    )


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    wins, margin, players = row["win_share"], row["margin"], row["num_players"]
    return (
        str(row["seed"]),
        f"{row['steps']:,}",
        f"{row['seconds']:.0f}",
        f"{players - 1} × {row['opponent']}",
        f"{wins[0]:.1%}",
        f"{wins[1]:.1%} … {wins[2]:.1%}",
        f"{1 / players:.1%}",
        f"{margin[0]:+.3f}" if margin else "-",
        f"{margin[1]:+.3f} … {margin[2]:+.3f}" if margin else "-",
    )


def main(config: Config) -> list[dict[str, Any]]:
    """Train once with every seed."""
    base = config.ppo.run or Path("runs") / f"{config.ppo.game}-seeds"
    rows: list[dict[str, Any]] = []
    for seed in config.seeds:
        run = base / str(seed)
        evaluations = ppo.train(replace(config.ppo, seed=seed, run=run))
        rows += [as_data(seed, run, evaluation) for evaluation in evaluations]
    Console().print(show(f"{config.ppo.game}: {config.ppo.final_deals} deals", rows))
    if config.json is not None:
        config.json.write_text(json.dumps({"config": repr(config.ppo), "rows": rows}, indent=1) + "\n")
    return rows


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
