"""One game in play, from Python: the plain way to hold a single record."""

from __future__ import annotations

import copy
import operator
import secrets
from collections.abc import Mapping
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from phantom_envs.core.batch import DEAL, DEAL_NEXT, KEEP, REWARDED, SEAT_BITS, STATUS_SHIFT, kernels, places
from phantom_envs.core.checks import as_action, as_seat
from phantom_envs.core.errors import GameOver, IllegalAction, NotReset
from phantom_envs.core.game import RUNNING, TERMINATED, TRUNCATED, Game, Record, States, members
from phantom_envs.core.rng import as_seed


class Table:
    """A game of `game`, its legal actions and the rewards of the last step.

    The arrays but `words` are views that the next step changes; copy what you keep.

    Attributes:
        states: The record, shape (1,).
        mask: Legal actions of the seat to act as 0 and 1, int8 (A,); all zero when the game is over.
        rewards: Rewards of the last step, float64 (P,).
        rewarded: Whether any of them is not zero.
        observation: What the seat to act knows, int8 (D,); without meaning when the game is over.
        seat: Seat to act, -1 before the first game and when the game is over.
        status: RUNNING, TERMINATED or TRUNCATED.
        dealt: Whether there has been a game.
    """

    def __init__(self, game: Game, num_players: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        self.game = game
        self.num_players = game.check_players(num_players)
        self.options = game.check_options(options or {})
        self.seat = -1
        self.status = RUNNING
        self.dealt = False
        self.rewarded = False
        self._attach(np.zeros(places(game).observation + game.layout(self.num_players).size, np.uint8))
        self.states[:] = game.blank(1, self.num_players, self.options)
        self._memory[places(game).weights :][:16].view(np.float64)[:] = game.weights(self.num_players, self.options)

    def _attach(self, memory: NDArray[np.uint8]) -> None:
        """Work on `memory` from now on; `Places` says what lies where."""
        at, game = places(self.game), self.game
        self._memory = memory
        self._turn = kernels(game).turn
        self._num_actions = game.num_actions
        self.states: States = memory[: game.dtype.itemsize].view(game.dtype)
        self.rewards: NDArray[np.float64] = memory[at.rewards : at.words].view(np.float64)[: self.num_players]
        self._words: NDArray[np.uint64] = memory[at.words : at.mask].view(np.uint64)
        self.mask: NDArray[np.int8] = memory[at.mask : at.observation].view(np.int8)
        self.observation: NDArray[np.int8] = memory[at.observation :].view(np.int8)

    @property
    def words(self) -> NDArray[np.uint64]:
        """The legal actions as a set, uint64 (W,); a copy, since it decides what may be played."""
        return self._words.copy()

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

    def deal(self, seed: SupportsIndex | None = None) -> None:
        """Begin the game of `seed`; None: of the successor of the last seed, at first of one from the system."""
        if seed is None and self.dealt:
            how = DEAL_NEXT
        else:
            how = DEAL
            self.states["seed"] = secrets.randbits(64) if seed is None else as_seed(seed)
        self.dealt = True
        self.rewards[:] = 0.0
        self.rewarded = False
        self._set_up(how)

    def refresh(self) -> None:
        """Derive everything from the record, after it was replaced."""
        self.dealt = True
        self._set_up(KEEP)

    def _set_up(self, how: int) -> None:
        kernels(self.game).set_up(self._memory, how)
        self.seat = int(self.states["seat"][0])
        self.status = int(self.states["status"][0])

    def play(self, action: SupportsIndex) -> None:
        """Play a legal action of the seat to act.

        Raises:
            NotReset: No game has been dealt.
            GameOver: The game has ended.
            InvalidAction: `action` is no integer; True and False are none.
            IllegalAction: The rules do not allow it now. The state is as it was.
        """
        if not self.attempt(action):
            self._refuse(action)

    def attempt(self, action: SupportsIndex) -> bool:
        """Play `action` if it is a legal one; if not, nothing has changed. Returns whether it was played."""
        if isinstance(action, bool):
            return False
        try:
            index = operator.index(action)
        except TypeError:
            return False
        if not 0 <= index < self._num_actions:
            return False
        code: int = self._turn(self._memory, index)
        if code < 0:
            return False
        self.seat = (code & SEAT_BITS) - 1
        self.status = code >> STATUS_SHIFT & 3
        self.rewarded = code >= REWARDED
        return True

    def _refuse(self, action: SupportsIndex) -> None:
        self._check_dealt()
        if self.status != RUNNING:
            raise GameOver(f"this game of {self.game.title} is over; call reset() for the next one")
        index = as_action(action, self._num_actions)
        legal = self.legal()
        shown = ", ".join(f"{each} ({self.action_name(each)})" for each in legal)
        inside = 0 <= index < self._num_actions
        name = f" ({self.action_name(index)})" if inside else f" (not in 0 … {self._num_actions - 1})"
        raise IllegalAction(f"player_{self.seat} may not choose action {index}{name}; legal are {shown}")

    def legal(self) -> list[int]:
        """The legal actions, ascending."""
        return members(self._words)

    def legal_names(self) -> list[str]:
        """The names of the legal actions, in order of their indexes."""
        return [self.action_name(action) for action in self.legal()]

    def action_name(self, action: SupportsIndex) -> str:
        """The canonical name of an action now.

        Raises:
            NotReset: No game has been dealt.
            InvalidAction: `action` is no integer.
            IllegalAction: There is no such action in this game.
        """
        self._check_dealt()
        return self.game.action_name(self.state, action)

    def action_of(self, name: str) -> int:
        """The legal action of that name; `IllegalAction` if there is none."""
        for action in self.legal():
            if self.action_name(action) == name:
                return action
        raise IllegalAction(f"player_{self.seat} may not {name!r}; legal are {', '.join(self.legal_names())}")

    def observe(self, seat: SupportsIndex) -> NDArray[np.int8]:
        """What `seat` knows, int8 (D,).

        Raises:
            NotReset: No game has been dealt.
            InvalidSeat: Nobody sits there.
        """
        self._check_dealt()
        index = as_seat(seat, self.num_players)
        if index == self.seat:
            return self.observation.copy()
        out = np.zeros_like(self.observation)
        kernels(self.game).look(self.states, 0, index, out)
        return out

    def resample(self, seat: SupportsIndex, seed: SupportsIndex) -> None:
        """Redraw what `seat` cannot know, chance to come included.

        Raises:
            NotReset: No game has been dealt.
            InvalidSeat: Nobody sits there.
        """
        self._check_dealt()
        kernels(self.game).redraw(self.states, 0, as_seat(seat, self.num_players), np.uint64(as_seed(seed)))
        self.refresh()

    def _check_dealt(self) -> None:
        if not self.dealt:
            raise NotReset("no game has been dealt; call reset() first")

    def state_dict(self) -> dict[str, Any]:
        """The complete state as plain data. It holds hidden information."""
        return self.game.state_dict(self.state)

    def copy(self) -> Table:
        """A game that goes on from here by itself, and exactly alike."""
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the compiled functions and the views."""
        kept = ("game", "num_players", "options", "seat", "status", "dealt", "rewarded")
        return {name: vars(self)[name] for name in kept} | {"memory": self._memory}

    def __setstate__(self, state: dict[str, Any]) -> None:
        memory = state.pop("memory").copy()
        vars(self).update(state)
        self._attach(memory)
