"""What the searching agents share: their settings, their threads, and the decisions that need no search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.search.budget import check_choice, check_number, check_positive, check_share
from agents.search.forest import Lane
from agents.search.found import Found
from agents.search.kernels import SETTINGS
from agents.search.playout import GOALS, HORIZONS, ROLLOUT_NOISE, goal_weights
from phantom_envs.arena.agent import Decisions
from phantom_envs.core.errors import InvalidOption, PhantomError
from phantom_envs.core.game import Game, States
from phantom_envs.core.rng import successors

DAY = 86_400_000.0
"""Most milliseconds for a decision."""

MOST_SEARCHES = 1000
MOST_THREADS = 1024
"""Each has arrays of its own."""


class NotPrepared(PhantomError, RuntimeError):
    """A search was asked before it knew its game."""


@dataclass(eq=False)
class Task:
    """N searches to be made, each from a root of its own.

    Attributes:
        roots: (N,) worlds that the deciding seats imagine.
        words: (N, W) uint64, the legal actions there.
        keys: (N,) uint64, what each search's chance begins with.
        tables: (N,) int64, see `Decisions`; searches of one decision have the same.
        number: (N,) int64, which of the searches of its decision it is.
        visits: (N, A) int64, to be filled.
        totals: (N, A) float64, to be filled.
    """

    roots: States
    words: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    tables: NDArray[np.int64]
    number: NDArray[np.int64]
    visits: NDArray[np.int64]
    totals: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.roots)


class Searcher(ABC):
    """An agent that searches. It sees the game only through worlds that its `Decisions` imagine.

    Args:
        rollout: Who plays playouts: `rule` (the game's rule bot), `random`, or nobody (`none`).
        noise: Share of random moves in playouts by the rule bot, 0 … 1.
        horizon: Playouts go to the end of the `game`, or of the `deal` in games of several.
        goal: What counts: `win`, `score` (the game's last reward), or `both`, the latter and half a win.
        milliseconds: Time for each decision; None: as many worlds or iterations as given.
        searches: Searches for each decision, whose findings are added up (root parallelization).
        threads: Threads over which searches are spread; this changes no choice unless the clock does.
    """

    def __init__(
        self,
        rollout: str,
        noise: float,
        horizon: str,
        goal: str,
        milliseconds: float | None,
        searches: int,
        threads: int,
    ) -> None:
        self.rollout = check_choice("rollout", rollout, (*ROLLOUT_NOISE, "none"))
        self.noise = check_share("noise", noise)
        self.horizon = check_choice("horizon", horizon, HORIZONS)
        self.goal = check_choice("goal", goal, GOALS)
        self.milliseconds = None if milliseconds is None else check_positive("milliseconds", milliseconds, DAY)
        self.searches = check_number("searches", searches, 1, MOST_SEARCHES)
        self.threads = check_number("threads", threads, 1, MOST_THREADS)
        self.settings: NDArray[np.void] = np.zeros(1, SETTINGS)
        self.lanes: list[Lane] = []
        self._game: Game | None = None

    @property
    def game(self) -> Game:
        """The game it was prepared for."""
        if self._game is None:
            raise NotPrepared("call prepare(game, num_players, options) before the first decision")
        return self._game

    def prepare(self, game: Game, num_players: int, options: Mapping[str, Any]) -> None:
        """Make room, forget earlier games, and compile.

        Raises:
            InvalidOption: The game has no deals to search to the end of.
        """
        if self.horizon == "deal" and game.deal_field is None:
            raise InvalidOption(f"horizon='deal': {game.id} is a single deal; leave it at 'game'")
        self._game = game
        self.num_players = num_players
        self.lanes = [Lane(game, num_players) for _ in range(self.threads)]
        setting = self.settings[0]
        setting["win"], setting["point"] = goal_weights(game, num_players, self.goal)
        setting["noise"] = self.noise if self.rollout == "rule" else ROLLOUT_NOISE.get(self.rollout, -1.0)
        setting["horizon"] = HORIZONS[self.horizon]
        self.make_room()
        self.run(self._task(game.blank(0, num_players, options), np.zeros((0, game.num_words), np.uint64)))

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """The choice for every decision, (K,)."""
        return self.choose(self.search(decisions))

    def search(self, decisions: Decisions) -> Found:
        """What is found for every decision.

        Where nothing was tried, for want of a choice or of time, the first legal action has one visit of worth NaN.
        """
        size, game = len(decisions), self.game
        visits = np.zeros((size, game.num_actions), np.int64)
        totals = np.zeros((size, game.num_actions))
        rows = np.flatnonzero(decisions.mask.sum(axis=1) > 1)
        if len(rows):
            worlds = decisions.determinize(decisions.keys)[rows]
            task = self._task(worlds, decisions.words[rows], decisions.keys[rows], decisions.tables[rows])
            self.run(task)
            shape = (len(rows), self.searches, game.num_actions)
            visits[rows] = task.visits.reshape(shape).sum(axis=1)
            totals[rows] = task.totals.reshape(shape).sum(axis=1)
        untried = np.flatnonzero(visits.sum(axis=1) == 0)
        visits[untried, decisions.mask[untried].argmax(axis=1)] = 1
        totals[untried] = np.nan
        return Found.of(visits, totals)

    def _task(
        self,
        roots: States,
        words: NDArray[np.uint64],
        keys: NDArray[np.uint64] | None = None,
        tables: NDArray[np.int64] | None = None,
    ) -> Task:
        times, rows = self.searches, len(roots)
        number = np.tile(np.arange(times, dtype=np.int64), rows)
        first = np.zeros(rows, np.uint64) if keys is None else keys
        return Task(
            roots=np.repeat(roots, times),
            words=np.repeat(words, times, axis=0),
            keys=successors(successors(np.repeat(first, times)) + number.astype(np.uint64)),
            tables=np.repeat(np.zeros(rows, np.int64) if tables is None else tables, times),
            number=number,
            visits=np.zeros((rows * times, self.game.num_actions), np.int64),
            totals=np.zeros((rows * times, self.game.num_actions)),
        )

    def spread(self, count: int, work: Callable[[int, int, int], None]) -> None:
        """Do `work(lane, first, last)` for the parts of `range(count)`, one part for each thread."""
        lanes = min(self.threads, count)
        if lanes < 2:
            work(0, 0, count)
            return
        bounds = [count * lane // lanes for lane in range(lanes + 1)]
        with ThreadPoolExecutor(lanes) as pool:
            for done in [pool.submit(work, lane, bounds[lane], bounds[lane + 1]) for lane in range(lanes)]:
                done.result()

    @abstractmethod
    def make_room(self) -> None:
        """Complete `settings` and make the arrays that depend on the game."""

    @abstractmethod
    def run(self, task: Task) -> None:
        """Make the searches of `task`."""

    @abstractmethod
    def choose(self, found: Found) -> NDArray[np.int64]:
        """The choice that follows from what was found, (K,)."""
