"""What an agent is: it is shown decisions, many at once, and answers an action for each.

Whoever thinks about one decision at a time derives from `SingleAgent`. An agent may also have

* `prepare(game, num_players, options)`, called once before the first decision, to refuse a game or to make room;
* `close()`, called after the last one, to let go of what it holds.
"""

from __future__ import annotations

import contextlib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from phantom_envs.core.batch import illegal, kernels
from phantom_envs.core.checks import as_actions, as_row, as_seeds_of
from phantom_envs.core.errors import GameOver, InvalidAction, PhantomError
from phantom_envs.core.game import RUNNING, Game, States, members
from phantom_envs.core.table import Table

COMPLAINT = "{who} answered {what}; one integer for each of {count} decisions is wanted"


class AgentError(PhantomError, RuntimeError):
    """An agent did not answer, or answered something that is no legal action."""


class Decisions:
    """K decisions to be made in games of one kind, each by the seat to act.

    The records of the games are kept in a private attribute, for `names` and `determinize` only: an agent that reads
    them cheats. Arrays and options are copies: whatever an agent writes into them, the match does not see it.

    Args:
        game: The game.
        num_players: Players P in each of the games.
        options: The game's options, all of them.
        states: (K,) the true records; running games only. Not copied.
        keys: (K,) uint64, see below.
        tables: (K,), see below.

    Attributes:
        observation: (K, D) int8, what the deciding seat knows.
        mask: (K, A) int8, 1 for the legal actions.
        keys: (K,) uint64, a random number for each decision: whatever an agent does at random it does from these,
            so that it plays alike however the decisions are cut into batches.
        tables: (K,) int64, a number for each game in play that stays the same from its first decision to its last,
            so that an agent may go on with what it thought before.
    """

    def __init__(
        self,
        game: Game,
        num_players: int,
        options: Mapping[str, Any],
        states: States,
        keys: NDArray[np.uint64],
        tables: NDArray[np.int64],
    ) -> None:
        if (states["status"] != RUNNING).any():
            raise GameOver(f"decisions are made in running games of {game.title} only; some of these are over")
        size = len(states)
        self.game = game
        self.num_players = num_players
        self.options = dict(options)
        self.keys = keys.copy()
        self.tables = tables.copy()
        self.mask: NDArray[np.int8] = np.zeros((size, game.num_actions), np.int8)
        self.observation: NDArray[np.int8] = np.zeros((size, game.layout(num_players).size), np.int8)
        self._states = states
        self._options = dict(options)
        self._words: NDArray[np.uint64] = np.zeros((size, game.num_words), np.uint64)
        self._seat: NDArray[np.int64] = np.zeros(size, np.int64)
        kernels(game).view(states, self._words, self.mask, self.observation, self._seat, 0, size)

    def __len__(self) -> int:
        return len(self._seat)

    @property
    def seat(self) -> NDArray[np.int64]:
        """(K,) int64, who decides; a copy."""
        return self._seat.copy()

    @property
    def words(self) -> NDArray[np.uint64]:
        """(K, W) uint64, the legal actions as sets, which the kernels of `core.batch` take; a copy."""
        return self._words.copy()

    def __getitem__(self, row: int) -> Decision:
        row = as_row(row, len(self))
        return Decision(
            game=self.game,
            num_players=self.num_players,
            options=self.options,
            observation=self.observation[row],
            mask=self.mask[row],
            seat=int(self._seat[row]),
            key=int(self.keys[row]),
            table=int(self.tables[row]),
            _all=self,
            _row=row,
        )

    def __iter__(self) -> Iterator[Decision]:
        return (self[row] for row in range(len(self)))

    def legal(self, row: int) -> list[int]:
        """The legal actions of a row, ascending."""
        return members(self._words[as_row(row, len(self))])

    def names(self, row: int) -> list[str]:
        """The names of the legal actions of a row, in order of their indexes."""
        return [self.game.action_name(self._states[row], action) for action in self.legal(row)]

    def determinize(self, seeds: NDArray[np.uint64]) -> States:
        """Worlds as the deciding seats may imagine them: all they cannot know redrawn, chance to come included.

        Args:
            seeds: (K,) uint64 for one world each, or (K, M) for M worlds each; a world depends on its seed alone.

        Returns:
            Records of the shape of `seeds`, the caller's own. Observation and legal actions of the deciding seat are
            those of the true game.

        Raises:
            InvalidBatch: `seeds` is not one or several seeds for each row.
        """
        wanted = as_seeds_of(seeds, len(self))
        each = prod(wanted.shape[1:])
        worlds: States = np.repeat(self._states, each)
        kernels(self.game).redraw_all(worlds, np.repeat(self._seat, each), wanted.reshape(-1), 0, len(worlds))
        return worlds.reshape(wanted.shape)

    def world(self, row: int, seed: int) -> Table:
        """One world of a row, as `determinize` makes it, as a game that may be played on."""
        row = as_row(row, len(self))
        table = Table(self.game, int(self._states["num_players"][row]), self._options)
        table.states[0] = self._states[row]
        table.refresh()
        table.resample(int(self._seat[row]), seed)
        return table


@dataclass(frozen=True, eq=False)
class Decision:
    """One decision, for agents that think about one at a time. Arrays and options are copies, as in `Decisions`.

    Attributes:
        game: The game.
        num_players: Its number of players.
        options: Its options, all of them.
        observation: (D,) int8, what the deciding seat knows.
        mask: (A,) int8, 1 for the legal actions.
        seat: Who decides.
        key: A random number for this decision, of 64 bits; seed with it whatever is random.
        table: Number of the game in play, the same at all its decisions.
    """

    game: Game
    num_players: int
    options: Mapping[str, Any]
    observation: NDArray[np.int8]
    mask: NDArray[np.int8]
    seat: int
    key: int
    table: int
    _all: Decisions
    _row: int

    def legal(self) -> list[int]:
        """The legal actions, ascending."""
        return self._all.legal(self._row)

    def names(self) -> list[str]:
        """The names of the legal actions, in order of their indexes."""
        return self._all.names(self._row)

    def rng(self) -> np.random.Generator:
        """A generator seeded with `key`: the same one each time."""
        return np.random.default_rng(self.key)

    def determinize(self, rng: np.random.Generator) -> Table:
        """A game that may be played on, all that the seat cannot know redrawn; never the true one."""
        return self._all.world(self._row, int(rng.integers(2**64, dtype=np.uint64)))


@runtime_checkable
class Agent(Protocol):
    """Answers many decisions at once."""

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """A legal action for every decision, (K,)."""
        ...


class SingleAgent(ABC):
    """An agent that thinks about one decision at a time."""

    @abstractmethod
    def act_one(self, decision: Decision) -> int:
        """A legal action."""

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """`act_one` for every decision, (K,); `InvalidAction` if one of its answers is no integer."""
        answers = [self.act_one(decision) for decision in decisions]
        if not answers:
            return np.zeros(0, np.int64)
        return as_actions(answers, len(answers), COMPLAINT, f"act_one of {type(self).__name__}")


def ask(agent: Agent, label: str, decisions: Decisions) -> NDArray[np.int64]:
    """The actions (K,) of an agent, all of them legal.

    Raises:
        AgentError: They are of the wrong type or shape, or not legal. It says so with `label` as the agent's name.
    """
    size, words = len(decisions), decisions.words  # its own, taken before the agent has the decisions in its hands
    answer = agent.act(decisions)
    try:
        actions = as_actions(answer, size, COMPLAINT, f"agent {label!r}").copy()  # what is checked is what is played
    except InvalidAction as error:
        raise AgentError(str(error)) from error
    row = illegal(words, actions, 0, size)
    if row >= 0:
        legal = ", ".join(f"{a} ({name})" for a, name in zip(decisions.legal(row), decisions.names(row), strict=True))
        raise AgentError(
            f"agent {label!r} chose action {actions[row]} as player_{decisions[row].seat} of "
            f"{decisions.game.id}; legal are {legal}"
        )
    return actions


def prepare(agent: Agent, game: Game, num_players: int, options: Mapping[str, Any]) -> None:
    """Tell an agent what it will play; most do not ask."""
    preparing = getattr(agent, "prepare", None)
    if preparing is not None:
        preparing(game, num_players, dict(options))


def close(agent: Agent) -> None:
    """Let an agent go; most have nothing to close."""
    closing = getattr(agent, "close", None)
    if closing is not None:
        closing()


@contextlib.contextmanager
def staying(label: str) -> Iterator[None]:
    """An agent does not decide that the whole program is over."""
    try:
        yield
    except SystemExit as error:
        raise AgentError(f"agent {label!r} called sys.exit({error.code!r}); raise an error instead") from error


def close_all(agents: Sequence[Agent], labels: Sequence[str]) -> None:
    """Let all agents go: one that fails keeps neither the others nor the results from anybody."""
    for agent, label in zip(agents, labels, strict=True):
        try:
            with staying(label):
                close(agent)
        except Exception as error:  # noqa: BLE001  # whatever an agent raises
            warnings.warn(f"agent {label!r} failed to close: {error!r}", RuntimeWarning, stacklevel=3)
