"""One number per agent out of all matches of a game: Bradley-Terry ratings, and the masses of α-rank.

What is compared are seats: the winner's seat wins a comparison with each seat of another agent, and two losers are not
compared. A victory shared by w seats counts 1/w for each of them, as if lots were drawn, so among two players a shared
victory is half a win each, as usual; a game cut off by its length limit compares nobody.

Under Luce's model of choice (Luce, "Individual choice behavior", 1959), where seat i wins a game with probability
π_i / Σ π, the winner of a pair of which one wins is i with probability π_i / (π_i + π_j), whoever else sits at the
table: that is the model of Bradley and Terry ("Rank analysis of incomplete block designs", Biometrika 39, 1952) with
the same π. So wins over losers estimate π consistently, also where one of A sits among several of B; Azari Soufiani,
Chen, Parkes and Xia, "Generalized method-of-moments for rank aggregation" (NIPS 2013), call it top-1 breaking.
"""

from __future__ import annotations

from collections.abc import Sequence

import choix
import numpy as np
from numpy.typing import NDArray

from phantom_envs.arena.match import Results, Setting
from phantom_envs.arena.summary import CONFIDENCE, Estimate

PRIOR = 0.5
"""Comparisons that each agent is taken to have won against each other one before any game (Haldane 1955 and Anscombe
1956 add as much to both counts of an odds ratio). Ratings so stay finite where somebody never wins."""

ELO = 400 / np.log(10)
"""Points of the scale per unit of log π: 400 points are odds of ten to one between two seats."""

RESAMPLES = 1000
"""Refits of the bootstrap."""

MOST_ITERATIONS = 10_000

POPULATION, SELECTION = 50, 100.0
"""Of α-rank: agents in the evolving population, and the strength of selection α; OpenSpiel's defaults."""


def comparisons(setting: Setting, results: Results) -> NDArray[np.float64]:
    """Comparisons won in each deal by seats of each agent over seats of each other one, (D, E, E); see above."""
    sits = (setting.seating[..., None] == np.arange(len(setting.agents))).astype(np.float64)
    won = np.einsum("dgp,gpe->dge", results.share, sits)
    wins: NDArray[np.float64] = np.einsum("dga,gb->dab", won, sits.sum(axis=1))
    wins[:, np.eye(wins.shape[1], dtype=bool)] = 0.0
    return wins


def gather(matches: Sequence[tuple[list[int], NDArray[np.float64]]], agents: int) -> NDArray[np.float64]:
    """Comparisons of all matches of a game, (D, K, K).

    Args:
        matches: Per match, which of the K agents its E agents are, and its `comparisons`. All matches have the same
            deals.
        agents: Number of agents K.
    """
    deals = len(matches[0][1])
    total = np.zeros((deals, agents, agents))
    for which, wins in matches:
        places = np.array(which)
        total[:, places[:, None], places] += wins
    return total


def bradley_terry(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ratings (K,) on the scale of Elo, of mean 0.

    The maximum-likelihood fit with `PRIOR`, by iterative Luce spectral ranking (Maystre and Grossglauser, "Fast and
    accurate inference of Plackett-Luce models", NIPS 2015).

    Args:
        wins: (K, K) comparisons that the row's agent won over the column's, not necessarily whole numbers.
    """
    strengths = choix.ilsr_pairwise_dense(wins + PRIOR * (1 - np.eye(len(wins))), max_iter=MOST_ITERATIONS)
    ratings: NDArray[np.float64] = ELO * (strengths - strengths.mean())
    return ratings


def rate(deals: NDArray[np.float64], anchor: int | None, seed: int, resamples: int = RESAMPLES) -> list[Estimate]:
    """Ratings of all agents with percentile bootstrap intervals.

    Deals are drawn again with replacement, each with all its games in all matches, and the model is fitted anew.

    Args:
        deals: (D, K, K) comparisons won in each deal.
        anchor: The agent whose rating is 0; None: their mean is.
        seed: Of the draws.
        resamples: Number of draws.
    """
    count, agents = deals.shape[:2]
    draws = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), resamples)
    sums = (draws @ deals.reshape(count, -1)).reshape(-1, agents, agents)
    fits = np.array([bradley_terry(wins) for wins in (deals.sum(axis=0), *sums)])
    if anchor is not None:
        fits -= fits[:, [anchor]]
    low, high = np.quantile(fits[1:], [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    return [Estimate(*map(float, row)) for row in zip(fits[0], low, high, strict=True)]


def alpha_rank(wins: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Masses (K,) of α-rank's stationary distribution, or None where OpenSpiel's `egt` cannot be imported.

    Omidshafiei et al., "α-Rank: multi-agent evaluation by evolution" (Scientific Reports 9, 2019), in one population
    whose members meet in pairs; the payoff of A against B is A's part of the comparisons between the two. In contrast
    to a rating it does not suppose that strength is transitive.

    Args:
        wins: As in `bradley_terry`.
    """
    try:
        from open_spiel.python.egt import alpharank  # an extra, and slow to import
    except ImportError:
        return None
    payoff = (wins + PRIOR) / (wins + wins.T + 2 * PRIOR)
    np.fill_diagonal(payoff, 0.5)
    with np.errstate(over="ignore"):  # exp of a large difference: a fixation of probability 0, as is meant
        masses: NDArray[np.float64] = alpharank.compute([payoff], m=POPULATION, alpha=SELECTION)[2]
    return masses
