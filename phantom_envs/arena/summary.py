"""What a match says about its agents: means per agent, and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phantom_envs.arena.match import Results, Setting
from phantom_envs.registry import get_game

RESAMPLES = 10_000
FEW_RESAMPLES = 1_000
"""For somebody who waits for the end."""

CONFIDENCE = 0.95
_BLOCK = 2_000_000  # indexes drawn at once: bounds the memory, 16 bytes each


@dataclass(frozen=True)
class Estimate:
    """A mean with its confidence interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class AgentSummary:
    """How an agent did.

    Attributes:
        agent: Its label.
        win_share: Mean share of the victory of its seats, 1/w for each of w winners; 1/P is a fair share.
        margin: Mean score margin of its seats: own points of the game minus the mean of the other seats' points, the
            sign turned where few points are good, so that more is better. None in a game without points.
        ms_per_decision: Time it took per decision, in milliseconds.
        games: Games it took part in.
        decisions: Decisions it made.
    """

    agent: str
    win_share: Estimate
    margin: Estimate | None
    ms_per_decision: float
    games: int
    decisions: int


def bootstrap(
    values: NDArray[np.float64], seed: int, resamples: int = RESAMPLES, confidence: float = CONFIDENCE
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Percentile bootstrap intervals of the means of the columns of `values`.

    Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), section 13.3. The rows, here deals, are what is
    drawn again with replacement; all columns see the same draws.

    Args:
        values: (D, M).
        seed: Of the draws.
        resamples: Number of draws.
        confidence: What the interval is to cover.

    Returns:
        Lower and upper ends, (M,) each.
    """
    rng = np.random.default_rng(seed)
    rows = len(values)
    means = np.empty((resamples, values.shape[1]))
    block = max(1, _BLOCK // rows)
    for first in range(0, resamples, block):
        drawn = rng.integers(rows, size=(min(block, resamples - first), rows))
        for column in range(values.shape[1]):
            means[first : first + block, column] = values[drawn, column].mean(axis=1)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return low, high


def margins(setting: Setting, results: Results) -> NDArray[np.float64] | None:
    """Score margin of each seat in each game, (D, G, P), or None in a game without points."""
    weights = get_game(setting.game).reward_weights
    if "score" not in weights:
        return None
    sign = np.sign(weights["score"](setting.num_players)[1])
    others = results.points.sum(axis=2, keepdims=True) - results.points
    return np.asarray(sign * (results.points - others / (setting.num_players - 1)), np.float64)


def per_deal(setting: Setting, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of (D, G, P) values over the seats of each agent in each deal, (D, E)."""
    return np.stack([values[:, setting.seating == agent].mean(axis=1) for agent in range(len(setting.agents))], axis=1)


def summarize(setting: Setting, results: Results, resamples: int = RESAMPLES) -> list[AgentSummary]:
    """How each agent did, in the order given; see `bootstrap` for `resamples`."""
    wins = _estimates(setting, results.share, resamples)
    margin = margins(setting, results)
    scores = [None] * len(wins) if margin is None else _estimates(setting, margin, resamples)
    return [
        AgentSummary(
            agent=label,
            win_share=wins[agent],
            margin=scores[agent],
            ms_per_decision=1000 * float(results.seconds[agent]) / max(int(results.decisions[agent]), 1),
            games=results.deals * int((setting.seating == agent).any(axis=1).sum()),
            decisions=int(results.decisions[agent]),
        )
        for agent, label in enumerate(setting.labels)
    ]


def _estimates(setting: Setting, values: NDArray[np.float64], resamples: int) -> list[Estimate]:
    deals = per_deal(setting, values)
    low, high = bootstrap(deals, setting.seed, resamples)
    return [Estimate(*map(float, row)) for row in zip(deals.mean(axis=0), low, high, strict=True)]
