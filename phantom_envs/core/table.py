"""One game in play, from Python: the plain way to hold a single record."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from phantom_envs.core.batch import kernels
from phantom_envs.core.errors import GameOver, IllegalAction, InvalidAction, NotReset
from phantom_envs.core.game import RUNNING, TERMINATED, TRUNCATED, Game, Record, members
from phantom_envs.core.rng import as_seed


class Table:
    """A game of `game`, its legal actions and the rewards of the last step.

    Attributes:
        states: The record, shape (1,).
        mask: Legal actions of the seat to act as 0 and 1, int8 (A,); all zero when the game is over.
        rewards: Rewards of the last step, float64 (P,).
        seat: Seat to act, -1 before the first game and when the game is over.
        status: RUNNING, TERMINATED or TRUNCATED.
    """

    def __init__(self, game: Game, num_players: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        self.game = game
        self.num_players = game.check_players(num_players)
        self.options = game.check_options(options or {})
        self.states = game.blank(1, self.num_players, self.options)
        self.words: NDArray[np.uint64] = np.zeros(game.num_words, np.uint64)
        self.mask: NDArray[np.int8] = np.zeros(game.num_actions, np.int8)
        self.rewards: NDArray[np.float64] = np.zeros(self.num_players)
        self.seat = -1
        self.status = RUNNING
        self.dealt = False
        self._weights = game.weights(self.num_players, self.options)
        self._turn = kernels(game).turn

    @property
    def state(self) -> Record:
        """The record itself (a view: do not keep it)."""
        return self.states[0]

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.status != RUNNING

    @property
    def terminated(self) -> bool:
        """Whether the game has ended by its rules."""
        return self.status == TERMINATED

    @property
    def truncated(self) -> bool:
        """Whether the game was cut off by its length limit."""
        return self.status == TRUNCATED

    def deal(self, seed: SupportsIndex) -> None:
        """Begin the game of `seed`."""
        self.states["seed"] = as_seed(seed)
        kernels(self.game).start(self.states, np.ones(1, np.bool_), 0, 1)
        self.dealt = True
        self.rewards[:] = 0.0
        self.refresh()

    def refresh(self) -> None:
        """Derive everything from the record, after it was replaced."""
        kernels(self.game).options(self.states, 0, self.words, self.mask)
        self.seat = int(self.states["seat"][0])
        self.status = int(self.states["status"][0])

    def play(self, action: SupportsIndex) -> None:
        """Play a legal action of the seat to act.

        Raises:
            NotReset: No game has been dealt.
            GameOver: The game has ended.
            InvalidAction: `action` is no integer.
            IllegalAction: The rules do not allow it now. The state is as it was.
        """
        try:
            index = operator.index(action)
        except TypeError as error:
            last = self.game.num_actions - 1
            kind = type(action).__name__
            raise InvalidAction(f"an action is an integer from 0 to {last}, got {action!r} of type {kind}") from error
        code = -1
        if 0 <= index < self.game.num_actions:
            code = self._turn(self.states, 0, index, self.words, self.mask, self.rewards, *self._weights)
        if code < 0:
            self._refuse(index)
        self.seat = (code & 15) - 1
        self.status = code >> 4

    def _refuse(self, action: int) -> None:
        if not self.dealt:
            raise NotReset("no game has been dealt; call reset() first")
        if self.status != RUNNING:
            raise GameOver(f"this game of {self.game.title} is over; call reset() for the next one")
        legal = self.legal()
        shown = ", ".join(f"{index} ({self.action_name(index)})" for index in legal)
        inside = 0 <= action < self.game.num_actions
        name = f" ({self.action_name(action)})" if inside else f" (not in 0 … {self.game.num_actions - 1})"
        raise IllegalAction(f"player_{self.seat} may not choose action {action}{name}; legal are {shown}")

    def legal(self) -> list[int]:
        """The legal actions, ascending."""
        return members(self.words)

    def legal_names(self) -> list[str]:
        """The names of the legal actions, in order of their indexes."""
        return [self.action_name(action) for action in self.legal()]

    def action_name(self, action: int) -> str:
        """The canonical name of an action now."""
        return self.game.action_name(self.state, action)

    def action_of(self, name: str) -> int:
        """The legal action of that name; `IllegalAction` if there is none."""
        for action in self.legal():
            if self.action_name(action) == name:
                return action
        raise IllegalAction(f"player_{self.seat} may not {name!r}; legal are {', '.join(self.legal_names())}")

    def observe(self, seat: int) -> NDArray[np.int8]:
        """What `seat` knows, int8 (D,)."""
        out = np.empty(self.game.layout(self.num_players).size, np.int8)
        kernels(self.game).look(self.states, 0, seat, out)
        return out

    def resample(self, seat: int, seed: int) -> None:
        """Redraw what `seat` cannot know, chance to come included."""
        kernels(self.game).redraw(self.states, 0, seat, np.uint64(as_seed(seed)))
        self.refresh()

    def state_dict(self) -> dict[str, Any]:
        """The complete state as plain data. It holds hidden information."""
        return self.game.state_dict(self.state)

    def copy(self) -> Table:
        """A game that goes on from here by itself, and exactly alike."""
        twin = Table(self.game, self.num_players, self.options)
        twin.states[:] = self.states
        twin.rewards[:] = self.rewards
        twin.dealt = self.dealt
        twin.refresh()
        return twin
