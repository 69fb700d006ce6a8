"""The same training with several seeds, and a table of what each of them learned.

    python -m training.seeds --seeds 0 1 2 --json seeds.json

Every claim of the README about what `training.ppo` learns comes from here.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agents.network import load_network
from phantom_envs.core.files import whole_file
from phantom_envs.core.terminal import say
from phantom_envs.tables import NumberTable
from training import ppo
from training.command import command
from training.evaluate import Evaluation
from training.monitor import print_table
from training.run_folder import RunRefused, check_free, new_folder
from training.settings import InvalidSetting, check_device, check_game, check_settings


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
    _, about = load_network(run / "agent.safetensors")
    return {
        "seed": seed,
        "opponent": evaluation.opponent,
        "num_players": evaluation.num_players,
        "deals": evaluation.deals,
        "steps": about["steps"],
        "seconds": about["seconds"],
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
    """Train once with every seed. With `ppo.resume` runs that were begun go on, and others begin.

    Raises:
        PhantomError: A setting or folder is at fault; nothing has been trained.
    """
    if not config.seeds or len(set(config.seeds)) < len(config.seeds):
        raise InvalidSetting(f"seeds={config.seeds!r}: give one or more, each once")
    for seed in config.seeds:
        check_settings(replace(config.ppo, seed=seed))
    check_game(config.ppo)
    check_device(config.ppo.device)
    if config.json is not None and (config.json.is_dir() or not config.json.absolute().parent.is_dir()):
        raise InvalidSetting(f"json={str(config.json)!r}: give a file in a folder that exists")
    base = _folder(config)
    rows: list[dict[str, Any]] = []
    for seed in config.seeds:
        run = base / str(seed)
        say(f"seed {seed}, in {run}")
        resume = config.ppo.resume and run.exists()
        more_steps = config.ppo.more_steps if resume else 0
        evaluations = ppo.train(replace(config.ppo, seed=seed, run=run, resume=resume, more_steps=more_steps))
        rows += [as_data(seed, run, evaluation) for evaluation in evaluations]
    print_table(show(f"{config.ppo.game}: {config.ppo.final_deals} deals", rows))
    if config.json is not None:
        with whole_file(config.json) as file:
            file.write(json.dumps({"config": repr(config.ppo), "rows": rows}, indent=1) + "\n")
    return rows


def _folder(config: Config) -> Path:
    """Where the runs are: one folder each."""
    given = config.ppo.run
    if config.ppo.resume:
        if given is None or not given.is_dir():
            raise RunRefused(f"there is no folder {given} to go on in; --ppo.resume needs --ppo.run as it was")
        return given
    if given is None:
        return new_folder(f"{config.ppo.game}-seeds")
    for seed in config.seeds:
        check_free(given / str(seed))
    return given


if __name__ == "__main__":
    sys.exit(command("training.seeds", Config, main, __doc__))
