"""How an agent does against the baselines: one of it against the same opponent in all other seats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from phantom_envs.arena.agent import Agent
from phantom_envs.arena.match import play_match
from phantom_envs.arena.summary import AgentSummary, summarize
from phantom_envs.tables import NumberTable

BASELINES = ("random", "rule")
SEED = 20_000_000
"""Of the deals of evaluations, far from the seeds that users give to training."""


@dataclass(frozen=True)
class Evaluation:
    """An agent against one kind of opponent."""

    opponent: str
    deals: int
    num_players: int
    result: AgentSummary

    def figures(self) -> dict[str, float]:
        """What is worth a curve."""
        figures = {"win_share": self.result.win_share.mean}
        if self.result.margin is not None:
            figures["margin"] = self.result.margin.mean
        return figures

    def __str__(self) -> str:
        wins, margin = self.result.win_share, self.result.margin
        text = f"against {self.opponent}: wins {wins.mean:.1%} ({wins.low:.1%} … {wins.high:.1%})"
        if margin is not None:
            text += f", margin {margin.mean:+.2f} ({margin.low:+.2f} … {margin.high:+.2f})"
        return text


def evaluate(
    agent: Agent,
    game: str,
    num_players: int,
    options: Mapping[str, Any],
    deals: int,
    opponents: Iterable[str] = BASELINES,
    seed: int = SEED,
) -> list[Evaluation]:
    """Play `deals` deals in every seat against each opponent."""
    results = []
    for opponent in opponents:
        setting, played = play_match(game, [agent, opponent], num_players, options, deals, seed)
        results.append(Evaluation(opponent, deals, num_players, summarize(setting, played)[0]))
    return results


def table(title: str, evaluations: Iterable[Evaluation]) -> NumberTable:
    """Evaluations for the terminal."""
    return NumberTable(
        ("opponents", "deals × seats", "win share", "95 %", "fair", "score margin", "95 %"),
        map(_row, evaluations),
        title=title,
        caption="intervals: 95 %, bootstrap over deals; every deal is played in every seat",
    )


def _row(evaluation: Evaluation) -> tuple[str, ...]:
    wins, margin = evaluation.result.win_share, evaluation.result.margin
    return (
        f"{evaluation.num_players - 1} × {evaluation.opponent}",
        f"{evaluation.deals} × {evaluation.num_players}",
        f"{wins.mean:.1%}",
        f"{wins.low:.1%} … {wins.high:.1%}",
        f"{1 / evaluation.num_players:.1%}",
        f"{margin.mean:+.2f}" if margin else "-",
        f"{margin.low:+.2f} … {margin.high:+.2f}" if margin else "-",
    )
