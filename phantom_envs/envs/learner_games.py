"""Games in which one seat learns and the others are played by given opponents: what both Gymnasium faces stand on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from phantom_envs.core.batch import (
    ASK,
    GO_ON,
    PLAY_FIRST,
    PLAY_RANDOM,
    PLAY_RULE,
    SKIP,
    illegal,
    kernels,
    sample,
)
from phantom_envs.core.checks import as_actions
from phantom_envs.core.errors import IllegalAction, InvalidOption, NotReset
from phantom_envs.core.game import RUNNING, TERMINATED, TRUNCATED, Game, members
from phantom_envs.core.rng import successors

Policy: TypeAlias = Callable[[NDArray[np.int8], NDArray[np.int8]], Any]
"""`policy(observation (K, D), action_mask (K, A))` answers K actions, legal ones."""

Opponent: TypeAlias = str | Policy
"""`"random"`, `"rule"` or a policy."""

COMPLAINT = "opponent {who!r} must answer integers of shape ({count},), got {what}"
BUILT_IN = {"random": PLAY_RANDOM, "rule": PLAY_RULE}
ILLEGAL_ACTION = ("raise", "random")


def check_opponents(opponents: Opponent | Sequence[Opponent], count: int) -> tuple[Opponent, ...]:
    """One opponent for each of `count` seats, from one for all or one for each; else `InvalidOption`."""
    if isinstance(opponents, str) or callable(opponents):
        chosen: tuple[Opponent, ...] = (opponents,) * count
    else:
        chosen = tuple(opponents)
    if len(chosen) != count:
        raise InvalidOption(f"{len(chosen)} opponents for {count} seats; give one for all, or one for each")
    for opponent in chosen:
        if not callable(opponent) and opponent not in BUILT_IN:
            raise InvalidOption(f"opponent {opponent!r}: choose 'random', 'rule' or a callable policy")
    return chosen


def check_seat(seat: int | str, num_players: int) -> int | None:
    """The learner's seat, None for `"rotate"`; else `InvalidOption`."""
    if isinstance(seat, str) and seat == "rotate":
        return None
    if isinstance(seat, bool) or not isinstance(seat, int | np.integer) or not 0 <= seat < num_players:
        raise InvalidOption(f"seat={seat!r}: give a seat from 0 to {num_players - 1}, or 'rotate'")
    return int(seat)


class LearnerGames:
    """N games of P players, each waiting for its learner's decision or over.

    Args:
        game: The game.
        count: Number of games N.
        num_players: Players in each game; None for the game's default.
        opponents: Who plays the other seats: one for all, or one for each clockwise from the learner.
        seat: The learner's seat, or `"rotate"`: row i begins in seat i modulo P and moves on by one each game.
        illegal_action: `"raise"`, or `"random"`: a random legal action is played instead.
        options: The game's options.

    Attributes:
        observation: (N, D) int8: what each learner knows.
        mask: (N, A) int8: its legal actions, all zero when the game is over.
        rewards: (N,) what each learner has gained by the last `step`.
        learner: (N,) seat of each learner.
        states: The records, hidden information included.
    """

    def __init__(
        self,
        game: Game,
        count: int,
        num_players: int | None,
        opponents: Opponent | Sequence[Opponent],
        seat: int | str,
        illegal_action: str,
        options: Mapping[str, Any],
    ) -> None:
        self.game = game
        self.count = count
        self.num_players = game.check_players(num_players)
        self.options = game.check_options(options)
        self.opponents = check_opponents(opponents, self.num_players - 1)
        self.seat = check_seat(seat, self.num_players)
        if illegal_action not in ILLEGAL_ACTION:
            raise InvalidOption(f"illegal_action={illegal_action!r}: choose one of 'raise', 'random'")
        self.illegal_action = illegal_action
        self.dealt = False
        self.states = game.blank(count, self.num_players, self.options)
        self.words = np.zeros((count, game.num_words), np.uint64)
        self.mask = np.zeros((count, game.num_actions), np.int8)
        self.observation = np.zeros((count, game.layout(self.num_players).size), np.int8)
        self.rewards = np.zeros(count)
        self.learner = np.zeros(count, np.int64)
        self._games = np.zeros(count, np.int64)  # dealt since the last seed, less one: counts the rotation
        self._roles = np.full((count, self.num_players), ASK, np.int8)
        self._rng = np.zeros((count, 1), np.uint64)
        self._step_rewards = np.zeros((count, self.num_players))
        self._weights = game.weights(self.num_players, self.options)

    def check_dealt(self) -> None:
        """`NotReset` before the first deal."""
        if not self.dealt:
            raise NotReset("no game has been dealt; call reset() first")

    @property
    def running(self) -> NDArray[np.bool_]:
        """(N,): whether the game is not over."""
        return np.asarray(self.states["status"] == RUNNING)

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """(N,): whether the game has ended by its rules."""
        return np.asarray(self.states["status"] == TERMINATED)

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """(N,): whether the game was cut off at its length limit."""
        return np.asarray(self.states["status"] == TRUNCATED)

    def deal(self, which: NDArray[np.bool_], seeds: NDArray[np.uint64], fresh: NDArray[np.bool_]) -> None:
        """Deal new games in the rows `which` and play up to the learner's first decision.

        A game that ends before its learner has anything to decide is left out: the next one is dealt.

        Args:
            which: (N,) rows.
            seeds: (N,) their seeds.
            fresh: (N,) rows in which the rotation of seats begins anew.
        """
        self._games[which & fresh] = -1
        while which.any():
            self._games[which] += 1
            self._seat_players(which)
            self.states["seed"][which] = seeds[which]
            self._rng[which, 0] = ~seeds[which]
            kernels(self.game).start(self.states, which, 0, self.count)
            self.rewards[which] = 0.0
            self._run(np.where(which, GO_ON, SKIP), np.zeros(self.count, np.int64))
            which = which & ~self.running
            seeds = self.next_seeds()
        self.dealt = True

    def next_seeds(self) -> NDArray[np.uint64]:
        """(N,): the seed of the game that follows in each row."""
        return successors(self.states["seed"])

    def _seat_players(self, which: NDArray[np.bool_]) -> None:
        """Give every player a seat in the rows `which`."""
        rows = np.flatnonzero(which)
        self.learner[rows] = (rows + self._games[rows]) % self.num_players if self.seat is None else self.seat
        for offset, opponent in enumerate(self.opponents):
            seats = (self.learner[rows] + 1 + offset) % self.num_players
            self._roles[rows, seats] = ASK if callable(opponent) else BUILT_IN[opponent]

    def check_actions(self, actions: Any) -> NDArray[np.int64]:
        """`actions` as integers of shape (N,), legal where a game runs; nothing changes.

        Raises:
            InvalidAction: Wrong shape or no integers.
            IllegalAction: Some are not legal, unless `illegal_action="random"`, which replaces them.
        """
        played = as_actions(actions, self.count).copy()
        row = illegal(self.words, played, 0, self.count)
        if row >= 0 and self.illegal_action == "raise":
            self._refuse(row, played[row], "the learner")
        while row >= 0:
            sample(self.words, self._rng, played, row, row + 1)
            row = illegal(self.words, played, row + 1, self.count)
        return played

    def step(self, which: NDArray[np.bool_], actions: NDArray[np.int64]) -> None:
        """Play checked `actions` in the rows `which`, then the opponents, up to the learner's next decision or the end.

        Raises:
            InvalidAction: A policy did not answer integers, one a row.
            IllegalAction: A policy chose what the rules do not allow.
        """
        self.rewards[:] = 0.0
        self._run(np.where(which, PLAY_FIRST, SKIP), actions)

    def _run(self, orders: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        advance = kernels(self.game).advance
        while True:
            advance(
                self.states,
                self.words,
                orders,
                actions,
                self._roles,
                self.learner,
                self._rng,
                *self._weights,
                self.mask,
                self.observation,
                self.rewards,
                self._step_rewards,
                0,
                self.count,
            )
            waiting = np.flatnonzero((orders != SKIP) & self.running & (self.states["seat"] != self.learner))
            if not len(waiting):
                return
            orders = np.full(self.count, SKIP)
            orders[waiting] = PLAY_FIRST
            self._ask(waiting, actions)

    def _ask(self, rows: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Fill `actions` with the decisions of the policies that are to act in `rows`, one call for each policy."""
        offsets = (self.states["seat"][rows] - self.learner[rows] - 1) % self.num_players
        for policy in {id(self.opponents[offset]): self.opponents[offset] for offset in np.unique(offsets)}.values():
            mine = rows[[self.opponents[offset] is policy for offset in offsets]]
            answer = policy(self.observation[mine], self.mask[mine])  # copies, the policy's own
            actions[mine] = as_actions(answer, len(mine), COMPLAINT, policy)
            bad = illegal(self.words[mine], actions[mine], 0, len(mine))
            if bad >= 0:
                self._refuse(int(mine[bad]), actions[mine[bad]], f"opponent {policy!r}")

    def _refuse(self, row: int, action: int, who: str) -> None:
        state = self.states[row]
        legal = ", ".join(f"{each} ({self.game.action_name(state, each)})" for each in members(self.words[row]))
        where = f" in row {row}" if self.count > 1 else ""
        raise IllegalAction(
            f"player_{state['seat']}, {who}, may not choose action {action}{where}; legal are {legal}. "
            "The action mask marks them"
        )

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Within it, a policy that fails half-way leaves all games as they were."""
        kept = None
        if any(map(callable, self.opponents)):
            kept = {name: value.copy() for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        try:
            yield
        except BaseException:
            for name, value in (kept or {}).items():
                vars(self)[name][:] = value
            raise
