"""What all matches of a game say about its agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks import ratings
from benchmarks.fields import Entrant, Fixture
from benchmarks.match_cache import Played
from phantom_envs.arena.match import Setting
from phantom_envs.arena.summary import AgentSummary, Estimate, bootstrap, margins, per_deal, summarize

ANCHOR = "rule"
"""The agent whose rating is 0, where it takes part."""


@dataclass(frozen=True)
class Duel:
    """One agent alone among seats of another, and how either did."""

    alone: AgentSummary
    field: AgentSummary


@dataclass(frozen=True)
class Standing:
    """How an agent did over all matches of a game.

    Attributes:
        agent: Its label.
        spec: For readers.
        rating: Bradley-Terry, on the scale of Elo.
        alpha_rank: Its mass, None where OpenSpiel is not installed.
        mixed_wins: Mean share of the victory of its seats in mixed fields, None without such.
        mixed_margin: Mean score margin there, None also in a game without points.
        ms_per_decision: Time per decision, forced ones included.
        decisions: Decisions it made.
    """

    agent: str
    spec: str
    rating: Estimate
    alpha_rank: float | None
    mixed_wins: Estimate | None
    mixed_margin: Estimate | None
    ms_per_decision: float
    decisions: int


@dataclass(frozen=True)
class GameReport:
    """Everything about one game.

    Attributes:
        game: Its id.
        num_players: Seats.
        deals: Deals of each match.
        games: Games of all matches.
        truncated: Those cut off by their length limit.
        anchor: Whose rating is 0; None: the mean is.
        standings: Per agent.
        duels: Per pairing.
        wins: (K, K) comparisons won by the row's agent over the column's, see `ratings`.
        left_out: What does not take part, and why.
    """

    game: str
    num_players: int
    deals: int
    games: int
    truncated: int
    anchor: str | None
    standings: tuple[Standing, ...]
    duels: tuple[Duel, ...]
    wins: tuple[tuple[float, ...], ...]
    left_out: tuple[str, ...]


def evaluate(
    entrants: Sequence[Entrant], matches: Sequence[tuple[Fixture, Played]], seed: int, left_out: Sequence[str] = ()
) -> GameReport:
    """What all matches of a game say; `seed` is of the bootstrap's draws."""
    labels = [entrant.label for entrant in entrants]
    won = [
        ([labels.index(label) for label in played.setting.labels], ratings.comparisons(played.setting, played.results))
        for _, played in matches
    ]
    deals = ratings.gather(won, len(labels))
    wins = deals.sum(axis=0)
    anchor = labels.index(ANCHOR) if ANCHOR in labels else None
    rated = ratings.rate(deals, anchor, seed)
    masses = ratings.alpha_rank(wins)
    mixed = [played for fixture, played in matches if fixture.mixed]
    shares = [(played.setting, played.results.share) for played in mixed]
    points = [(played.setting, margins(played.setting, played.results)) for played in mixed]
    made, seconds = _time(labels, [played for _, played in matches])
    fixture, first = matches[0]
    return GameReport(
        game=fixture.game,
        num_players=fixture.num_players,
        deals=first.setting.deals,
        games=sum(played.setting.games for _, played in matches),
        truncated=sum(int(played.results.truncated.sum()) for _, played in matches),
        anchor=None if anchor is None else ANCHOR,
        standings=tuple(
            Standing(
                agent=entrant.label,
                spec=entrant.shown,
                rating=rated[each],
                alpha_rank=None if masses is None else float(masses[each]),
                mixed_wins=_pooled(entrant.label, shares, seed),
                mixed_margin=_pooled(entrant.label, points, seed),
                ms_per_decision=float(1000 * seconds[each] / max(made[each], 1)),
                decisions=int(made[each]),
            )
            for each, entrant in enumerate(entrants)
        ),
        duels=tuple(_duels(labels, matches)),
        wins=tuple(tuple(row) for row in wins.tolist()),
        left_out=tuple(left_out),
    )


def _pooled(label: str, matches: Sequence[tuple[Setting, NDArray[np.float64] | None]], seed: int) -> Estimate | None:
    """Mean over an agent's matches of the mean value of its seats, out of (D, G, P); all have the same deals."""
    own = [
        per_deal(setting, values)[:, setting.labels.index(label)]
        for setting, values in matches
        if values is not None and label in setting.labels
    ]
    if not own:
        return None
    deals = np.mean(own, axis=0)
    low, high = bootstrap(deals[:, None], seed)
    return Estimate(float(deals.mean()), float(low[0]), float(high[0]))


def _time(labels: Sequence[str], matches: Sequence[Played]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Decisions and seconds of each agent in all matches."""
    made, seconds = np.zeros(len(labels), np.int64), np.zeros(len(labels))
    for played in matches:
        which = [labels.index(label) for label in played.setting.labels]
        made[which] += played.results.decisions
        seconds[which] += played.results.seconds
    return made, seconds


def _duels(labels: Sequence[str], matches: Sequence[tuple[Fixture, Played]]) -> list[Duel]:
    """Pairings in the order of the agents; among two players each pair once, the later agent first."""
    found = {}
    for fixture, played in matches:
        if not fixture.mixed:
            alone, field = summarize(played.setting, played.results)
            found[alone.agent, field.agent] = Duel(alone, field)
            if fixture.num_players == 2:
                found[field.agent, alone.agent] = Duel(field, alone)
    two = matches[0][0].num_players == 2
    order = [(a, b) for a in labels for b in labels if (labels.index(b) < labels.index(a) if two else a != b)]
    return [found[pair] for pair in order]
