"""Who meets whom: the agents that compete in a game, and the matches between them.

* Every two agents A and B: A alone among seats of B, and B alone among seats of A.
* With three seats or more, mixed fields: each group of as many different agents as there are seats. With fewer agents
  than seats, all of them sit down, each of them once filling the seats left.

Every match is one of `phantom_envs.arena.match`, all with the same deals, each deal in all rotations of the seats.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.match_cache import Block, identity, make_block
from phantom_envs.arena.agent import Decisions
from phantom_envs.arena.builtin import RuleAgent
from phantom_envs.arena.match import deal_seeds, play_match, seat_agents
from phantom_envs.arena.specs import InvalidSpec, named_agents

TIME, NETWORK = "{ms}", "{network}"
"""What a template of a spec holds in place of the milliseconds per decision and of the path of the game's network."""

UNTIMED_MS = 0.5
"""What a decision of an agent without `milliseconds=` is taken to last in estimates."""

SAMPLE_DEALS = 4
"""Deals from which the number of decisions of a game is estimated."""


@dataclass(frozen=True)
class Entrant:
    """An agent that takes part.

    Attributes:
        label: What tables call it.
        spec: As the arena takes it.
        shown: The spec for readers, without the path of the network.
        identity: What it is, wherever its files lie; see `match_cache.identity`.
    """

    label: str
    spec: str
    shown: str
    identity: str

    @property
    def milliseconds(self) -> float:
        """Time that it takes for a decision, or an assumption."""
        given = re.search(r"\bmilliseconds=([\d.]+)", self.spec)
        return float(given[1]) if given else UNTIMED_MS


@dataclass(frozen=True)
class Fixture:
    """A match to be played.

    Attributes:
        game: Id of the game.
        num_players: Seats P.
        entrants: The different agents in the order that `play_match` takes them: the last one fills the seats left.
        mixed: Whether it is a mixed field, not one agent alone among others.
    """

    game: str
    num_players: int
    entrants: tuple[Entrant, ...]
    mixed: bool

    @property
    def labels(self) -> tuple[str, ...]:
        """Of the agents."""
        return tuple(entrant.label for entrant in self.entrants)

    def seconds(self, choices: float) -> float:
        """About how long a deal takes in all rotations, with so many choices of a seat in a game."""
        seating = seat_agents(len(self.entrants), self.num_players)
        seats = [int((seating == each).sum()) for each in range(len(self.entrants))]
        return sum(
            count * choices * entrant.milliseconds / 1000 for count, entrant in zip(seats, self.entrants, strict=True)
        )

    def blocks(self, rules: str, deals: int, size: int, seed: int) -> list[Block]:
        """The match in blocks of `size` deals and a last one of the rest; every match of a game has the same deals."""
        specs = tuple(entrant.spec for entrant in self.entrants)
        identities = tuple(entrant.identity for entrant in self.entrants)
        starts = range(0, deals, size)
        seeds = deal_seeds(seed, range(len(starts))).tolist()
        return [
            make_block(self.game, self.num_players, specs, identities, rules, own, min(size, deals - start))
            for start, own in zip(starts, seeds, strict=True)
        ]


def enter(templates: Sequence[str], milliseconds: float, network: Path | None) -> list[Entrant]:
    """The agents of a game; without a network those that need one are left out.

    Raises:
        InvalidSpec: An agent is named twice, or does not exist.
    """
    timed = [template.replace(TIME, f"{milliseconds:g}") for template in templates]
    if len(set(timed)) < len(timed):
        raise InvalidSpec(f"agents {' '.join(timed)}: each of them once")
    chosen = [template for template in timed if network is not None or NETWORK not in template]
    briefs = Counter(map(_brief, chosen))
    entrants = []
    for template in chosen:
        spec = template.replace(NETWORK, str(network))
        shown = template.replace(NETWORK, "" if network is None else network.name)
        brief = _brief(template)
        label = brief if briefs[brief] == 1 else template.replace(NETWORK, "network")
        entrants.append(Entrant(label, spec, shown, identity(spec)))
    return entrants


def _brief(template: str) -> str:
    """A short name: `ismcts + network` of `ismcts:network={network},milliseconds=10`."""
    name = template.partition(":")[0]
    if name not in named_agents():
        return template
    return f"{name} + network" if NETWORK in template and name != "neural" else name


def fixtures(game: str, num_players: int, entrants: Sequence[Entrant], mixed: bool = True) -> list[Fixture]:
    """All matches of a game, see the head of this file. The order in which agents are given makes no difference."""
    ordered = sorted(entrants, key=lambda entrant: entrant.identity)
    lineups: list[tuple[tuple[Entrant, ...], bool]] = [(pair, False) for pair in combinations(ordered, 2)]
    if num_players > 2:
        lineups += [((second, first), False) for first, second in combinations(ordered, 2)]
    if mixed and num_players > 2:
        if len(ordered) >= num_players:
            lineups += [(group, True) for group in combinations(ordered, num_players)]
        elif len(ordered) > 2:
            lineups += [((*(each for each in ordered if each != last), last), True) for last in ordered]
    return [Fixture(game, num_players, lineup, field) for lineup, field in lineups]


class _Counting(RuleAgent):
    """The rule bot, counting the decisions in which there is a choice."""

    choices = 0

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        self.choices += int((decisions.mask.sum(axis=1) > 1).sum())
        return super().act(decisions)


def choices_per_seat(game: str, num_players: int) -> float:
    """Decisions with a choice that a seat makes in a game, on the mean, among rule bots."""
    agent = _Counting()
    setting, _ = play_match(game, [agent], num_players, deals=SAMPLE_DEALS)
    return agent.choices / (setting.games * num_players)
