"""Ratings: against numbers worked by hand and from the literature, and whether intervals cover what they should."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks import ratings
from phantom_envs.arena.match import Results, Setting, seat_agents

# Agresti, "Categorical data analysis" (2nd edition, 2002), table 10.10: games won in the American League East, 1987.
# Milwaukee, Detroit, Toronto, New York, Boston, Cleveland, Baltimore.
BASEBALL = [
    [0, 7, 9, 7, 7, 9, 11],
    [6, 0, 7, 5, 11, 9, 9],
    [4, 6, 0, 7, 7, 8, 12],
    [6, 8, 6, 0, 6, 7, 10],
    [6, 2, 6, 7, 0, 7, 12],
    [4, 4, 5, 6, 6, 0, 6],
    [2, 4, 1, 3, 1, 7, 0],
]
BASEBALL_FIT = [1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0.0]


def match(num_players: int, agents: int, share: NDArray[np.float64]) -> tuple[Setting, Results]:
    """A match of which only the shares of victory (D, G, P) are known."""
    names = tuple("ABCDE"[:agents])
    seating = seat_agents(agents, num_players)
    setting = Setting("phantom_trick_v0", num_players, {}, names, names, seating, 0, len(share))
    nothing = np.zeros(share.shape, np.int64)
    return setting, Results(share, nothing, share.sum(axis=2) == 0, np.zeros(agents, np.int64), np.zeros(agents))


def test_two_agents_by_hand() -> None:
    first, second = ratings.bradley_terry(np.array([[0.0, 30.0], [10.0, 0.0]]))
    assert first - second == pytest.approx(400 * math.log10(30.5 / 10.5))
    assert first + second == pytest.approx(0)


def test_an_example_of_the_literature(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "PRIOR", 0.0)
    fit = ratings.bradley_terry(np.array(BASEBALL, np.float64)) / ratings.ELO
    assert fit - fit[-1] == pytest.approx(np.array(BASEBALL_FIT), abs=0.005)


def test_who_never_wins_has_a_finite_rating() -> None:
    first, second = ratings.bradley_terry(np.array([[0.0, 40.0], [0.0, 0.0]]))
    assert first - second == pytest.approx(400 * math.log10(40.5 / 0.5))
    deals = np.zeros((10, 3, 3))
    deals[:, 0, 1] = deals[:, 0, 2] = deals[:, 1, 2] = 4
    rated = ratings.rate(deals, 2, seed=0, resamples=50)
    assert [each.low for each in rated] == pytest.approx([each.mean for each in rated])  # every deal is the same
    assert rated[0].mean > rated[1].mean > rated[2].mean == 0


def test_comparisons_by_hand() -> None:
    share = np.zeros((2, 4, 4))  # A sits in seat 0, 1, 2, 3 of the four games, B in the others
    share[0, 0, 0] = 1  # A wins against three
    share[0, 1, 0] = 1  # a B wins: over A alone, since two losers are not compared
    share[0, 2, [2, 3]] = 0.5  # A and a B share: half over each of three, and half a win for B
    # nobody wins the last one, nor any game of the second deal
    wins = ratings.comparisons(*match(4, 2, share))
    assert wins.tolist() == [[[0, 3 + 1.5], [1 + 0.5, 0]], [[0, 0], [0, 0]]]


def test_comparisons_of_a_mixed_field_by_hand() -> None:
    share = np.zeros((1, 3, 3))
    share[0, :, 0] = 1  # seat 0 holds A, C, B in the three rotations
    wins = ratings.comparisons(*match(3, 3, share))
    assert wins.tolist() == [[[0, 1, 1], [1, 0, 1], [1, 1, 0]]]


def test_matches_are_gathered_under_their_agents() -> None:
    first, second = np.array([[[0.0, 2.0], [1.0, 0.0]]]), np.array([[[0.0, 5.0], [3.0, 0.0]]])
    total = ratings.gather([([2, 0], first), ([0, 2], second)], 3)
    assert total.tolist() == [[[0, 0, 1 + 5], [0, 0, 0], [2 + 3, 0, 0]]]


def play(strengths: list[float], deals: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Comparisons of two agents at four seats, each alone among the other, by Luce's model."""
    parts = []
    for lineup in ([0, 1], [1, 0]):
        share = np.zeros((deals, 4, 4))
        setting, results = match(4, 2, share)
        weights = np.array(strengths)[np.array(lineup)[setting.seating]]
        for game, weight in enumerate(weights):
            winners = rng.choice(4, size=deals, p=weight / weight.sum())
            share[np.arange(deals), game, winners] = 1
        parts.append((lineup, ratings.comparisons(setting, results)))
    return ratings.gather(parts, 2)


def test_strengths_are_found_again_whoever_sits_alone() -> None:
    (rated, _) = ratings.rate(play([3.0, 1.0], 20_000, np.random.default_rng(1)), 1, seed=0, resamples=1)
    assert rated.mean == pytest.approx(400 * math.log10(3), abs=3)


def test_intervals_cover_the_truth() -> None:
    rng = np.random.default_rng(2)
    truth = 400 * math.log10(2)
    rated = [ratings.rate(play([2.0, 1.0], 60, rng), 1, seed, 200)[0] for seed in range(40)]
    covered = sum(each.low <= truth <= each.high for each in rated)
    assert 33 <= covered <= 40  # 38 are expected; binomial(40, 0.95) is below 33 in one of a thousand


def test_intervals_depend_on_the_seed_alone() -> None:
    deals = play([2.0, 1.0], 30, np.random.default_rng(3))
    assert ratings.rate(deals, None, 7, 20) == ratings.rate(deals, None, 7, 20)
    assert ratings.rate(deals, None, 7, 20) != ratings.rate(deals, None, 8, 20)


def test_alpha_rank_is_left_out_without_openspiel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "open_spiel", None)
    assert ratings.alpha_rank(np.zeros((2, 2))) is None


def test_alpha_rank_of_known_games() -> None:
    pytest.importorskip("open_spiel.python.egt.alpharank", exc_type=ImportError)
    cycle = np.array([[0.0, 90.0, 10.0], [10.0, 0.0, 90.0], [90.0, 10.0, 0.0]])  # rock, paper, scissors
    assert ratings.alpha_rank(cycle) == pytest.approx([1 / 3] * 3)
    order = np.array([[0.0, 90.0, 90.0], [10.0, 0.0, 90.0], [10.0, 10.0, 0.0]])
    assert ratings.alpha_rank(order) == pytest.approx([1, 0, 0], abs=1e-6)
