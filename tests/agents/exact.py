"""Exact values of small positions, by full search with the slow references of the rules.

Nothing here knows of the engine's rules or of the searches that are tested: a position is taken over from its
`state_dict`, and every move is made by `tests.reference`. A value is what a seat gains from here to the end of the
game, or of the deal, in the rewards of the game ("score" or "win").
"""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import dataclass, is_dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phantom_envs.core.game import Game
from phantom_envs.core.table import Table

State = dict[str, Any]
Vector = tuple[float, ...]

DERIVED = ("game", "num_players", "cup_trick")  # keys of state dicts that no reference keeps as an attribute

MAX_STEPS = 4_500
"""Moves made for one position before it is given up as too large."""


class Unclear(Exception):
    """What a search should find here is not settled by these means, or would take too long to find out."""


@dataclass
class Position:
    """A decision, and all worlds that the deciding seat must hold for equally likely.

    Attributes:
        table: The game, as it truly is.
        worlds: The states that fit what the seat to act knows.
        goal: Whose rewards count, "score" or "win".
        horizon: "game" or "deal".
    """

    table: Table
    worlds: list[State]
    goal: str = "score"
    horizon: str = "game"

    @property
    def seat(self) -> int:
        """Who decides."""
        return self.table.seat

    def solver(self) -> Solver:
        """A solver from here on."""
        return Solver(self.table.game, self.table.num_players, self.horizon, int(self.worlds[0].get("round", 0)))

    def references(self) -> list[Any]:
        """The worlds as games of the slow reference."""
        return [adopt(self.table.game, state, self.goal) for state in self.worlds]


def adopt(game: Game, state: State, reward: str) -> Any:
    """A game of the slow reference that goes on from `state`."""
    module = import_module(f"tests.reference.{game.name}")
    fields = {key: value for key, value in deepcopy(state).items() if key not in DERIVED}
    if "table" in fields:
        fields["table"] = [module.Laid(**laid) for laid in fields["table"]]
    reference = object.__new__(module.Reference)
    kind = {"reward": reward} if game.name == "phantom" else {"reward_kind": reward, "n": state["num_players"]}
    vars(reference).update(fields, terminated=False, truncated=False, points=None, **kind)
    assert reference.state_dict() == state
    return reference


def clone(value: Any) -> Any:
    """A copy of plain data; much faster than `deepcopy`, which would be most of the work."""
    if type(value) is list:
        return [clone(each) if type(each) not in (str, int) else each for each in value]
    if type(value) is dict:
        return {key: clone(each) for key, each in value.items()}
    return copy(value) if is_dataclass(value) else value


def fork(reference: Any) -> Any:
    """A game of the reference that goes on by itself."""
    twin = object.__new__(type(reference))
    vars(twin).update({name: clone(value) for name, value in vars(reference).items()})
    return twin


@cache
def next_deal(game: Game, players: int) -> State:
    """Some deal for a reference to begin the next round with; nothing that is computed here looks at it."""
    if game.deal_field is None:
        return {}  # a shuffle would be read from here: a position that comes to one has no exact value
    table = Table(game, players)
    table.deal(0)
    return table.state_dict()


HIDDEN: dict[str, Callable[[State, int], State]] = {
    "phantom_trick": lambda state, seat: {"hands": state["hands"][seat], "unused": None},
    "fantasmagoria": lambda state, seat: {
        "hands": [state["hands"][seat], *([card.startswith(("ghost", "cup")) for card in h] for h in state["hands"])],
        "piles": [pile is None for pile in state["piles"]],
    },
    "phantom": lambda state, seat: {
        "hands": [state["hands"][seat], len(state["hands"][1 - seat])],
        "ghost_pile": len(state["ghost_pile"]),
        "place_pile": len(state["place_pile"]),
    },
}
"""Per game, what a seat sees in place of the keys that hide something, once all cards laid in secret are revealed."""


class Solver:
    """Values of positions up to a horizon.

    Args:
        game: The game.
        players: Players.
        horizon: "game" or "deal".
        deal: Number of the deal that is played.
    """

    def __init__(self, game: Game, players: int, horizon: str, deal: int) -> None:
        self.game = game
        self.players = players
        self.deal = deal if horizon == "deal" else None
        self.steps = 0

    def over(self, reference: Any) -> bool:
        """Whether the horizon is reached."""
        return bool(reference.terminated) or (self.deal is not None and reference.round != self.deal)

    def after(self, reference: Any, action: str) -> tuple[Any, NDArray[np.float64]]:
        """The game after an action, and the rewards of that step."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise Unclear("too large")
        twin = fork(reference)
        try:
            rewards = twin.step(action, next_deal(self.game, self.players))
        except KeyError as error:
            raise Unclear("chance") from error
        if self.deal is None and "round" in vars(twin) and twin.round != reference.round:
            raise Unclear("a new deal")
        return twin, np.array(rewards)

    # Uniformly random play

    def at_random(self, worlds: list[Any], action: str, seat: int) -> tuple[float, float]:
        """Mean and variance of what `seat` gains by `action` in one of `worlds` and by random play of all after it."""
        mean, square = np.mean([self._moments(*self.after(world, action), seat) for world in worlds], axis=0)
        return float(mean), float(square - mean * mean)

    def _moments(self, reference: Any, gained: NDArray[np.float64], seat: int) -> tuple[float, float]:
        """Mean of what `seat` gains in all, `gained` until here, and mean of its square."""
        if self.over(reference):
            return float(gained[seat]), float(gained[seat] ** 2)
        moments = []
        for action in reference.legal():
            twin, rewards = self.after(reference, action)
            moments.append(self._moments(twin, gained + rewards, seat))
        return float(np.mean([mean for mean, _ in moments])), float(np.mean([square for _, square in moments]))

    # All cards open, each seat the best for itself

    def open_values(self, reference: Any, blind: int | None = None) -> set[Vector]:
        """The values for all seats that max^n play can lead to: several, where who is to act does not care which.

        Luckhardt and Irani, "An algorithmic solution of n-person games" (AAAI 1986). `Unclear` if the seat `blind`, who
        would have to know more than it does, has anything left to decide that matters.
        """
        if self.over(reference):
            return {(0.0,) * self.players}
        seat = reference.to_act
        actions = [self.open_action_values(reference, action, blind) for action in reference.legal()]
        if seat == blind and any(values != actions[0] for values in actions):
            raise Unclear("cards that are hidden would have to be known")
        threshold = max(min(value[seat] for value in values) for values in actions)
        return {value for values in actions for value in values if value[seat] >= threshold - 1e-9}

    def open_action_values(self, reference: Any, action: str, blind: int | None = None) -> set[Vector]:
        """Likewise, after an action."""
        twin, rewards = self.after(reference, action)
        return {tuple(np.round(rewards + np.array(value), 9).tolist()) for value in self.open_values(twin, blind)}

    # What one seat should do that does not see the others' cards

    def view(self, reference: Any, seat: int) -> str:
        """What `seat` sees of a game, as text."""
        state = reference.state_dict()
        return json.dumps(state | HIDDEN[self.game.name](state, seat))

    def best(self, worlds: list[Any], seat: int) -> dict[str, NDArray[np.float64]]:
        """The mean values for all seats of each action of `seat`, which cannot tell the `worlds` apart.

        Others must have nothing to choose that their hidden cards matter for; `Unclear` if they have.
        """
        return {
            action: self._mean([self.after(world, action) for world in worlds], seat) for action in worlds[0].legal()
        }

    def _mean(self, outcomes: list[tuple[Any, NDArray[np.float64]]], seat: int) -> NDArray[np.float64]:
        """The mean value over equally likely worlds, each with the rewards of the step into it."""
        groups: dict[str, list[Any]] = {}
        total = np.zeros(self.players)
        for world, rewards in outcomes:
            total += rewards
            if not self.over(world):
                groups.setdefault(self.view(world, seat), []).append(world)
        for group in groups.values():
            total += len(group) * self._value(group, seat)
        return total / len(outcomes)

    def _value(self, worlds: list[Any], seat: int) -> NDArray[np.float64]:
        """The mean value of worlds that `seat` cannot tell apart."""
        actor = worlds[0].to_act
        if actor == seat:
            values = list(self.best(worlds, seat).values())
            top = max(value[seat] for value in values)
            return self._only([value for value in values if value[seat] >= top - 1e-9])
        if all(len(world.legal()) == 1 for world in worlds):
            return self._mean([self.after(world, world.legal()[0]) for world in worlds], seat)
        blind = seat if len(worlds) > 1 else None
        known: dict[str, NDArray[np.float64]] = {}
        total = np.zeros(self.players)
        for world in worlds:
            values = []
            for action in world.legal():
                value = self._only([np.array(each) for each in self.open_action_values(world, action, blind)])
                values.append(self._only([known.setdefault(action, value), value]))
            top = max(value[actor] for value in values)
            total += self._only([value for value in values if value[actor] >= top - 1e-9])
        return total / len(worlds)

    def _only(self, values: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        """The value of all of `values`, which must be the same."""
        if any(np.abs(value - values[0]).max() > 1e-9 for value in values):
            raise Unclear("it depends on what is hidden, or on what somebody does not care about")
        return values[0]
