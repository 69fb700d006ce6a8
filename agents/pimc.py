"""Perfect-information Monte Carlo: what is best on the mean over worlds in which the cards lie open.

Long, Sturtevant, Buro and Furtak, "Understanding the success of perfect information Monte Carlo sampling in game tree
search" (AAAI 2010), with playouts in place of a solver. Specs: `pimc:worlds=30`, `pimc:milliseconds=10,rollout=random`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.search.budget import check_number, portions
from agents.search.found import Found
from agents.search.kernels import search_kernels
from agents.search.searcher import Searcher, Task
from phantom_envs.core.errors import InvalidOption

MOST_PLAYOUTS = 10**6
"""For each world and action."""


class PimcAgent(Searcher):
    """Tries every legal action in the same imagined worlds, plays each out, and takes the best mean.

    Args:
        worlds: Worlds for each decision; with `milliseconds`, they are drawn until these are up.
        playouts: Playouts for each world and action; more than one differ by chance to come and random moves only.
        rollout, noise, horizon, goal, milliseconds, searches, threads: See `Searcher`.
    """

    def __init__(
        self,
        worlds: int = 100,
        playouts: int = 1,
        rollout: str = "rule",
        noise: float = 0.1,
        horizon: str = "game",
        goal: str = "both",
        milliseconds: float | None = None,
        searches: int = 1,
        threads: int = 1,
    ) -> None:
        super().__init__(rollout, noise, horizon, goal, milliseconds, searches, threads)
        if rollout == "none":
            raise InvalidOption(
                "rollout='none': without playouts there is nothing to compare; choose 'rule' or 'random'"
            )
        self.worlds = check_number("worlds", worlds, 1)
        self.playouts = check_number("playouts", playouts, 1, MOST_PLAYOUTS)

    def make_room(self) -> None:
        """Nothing but the number of playouts."""
        self.settings["playouts"] = self.playouts

    def run(self, task: Task) -> None:
        """Survey the worlds of every search."""
        survey = search_kernels(self.game).survey
        tried = np.zeros(len(task), np.int64)

        def work(number: int, first: int, last: int) -> None:
            lane = self.lanes[number]
            space = (self.settings, task.totals, lane.worlds, lane.scratch[0], lane.rng, lane.gained, lane.values)
            if self.milliseconds is None or first == last:  # with nothing to survey it compiles
                survey(task.roots, task.words, task.keys, 0, self.worlds, *space, first, last)
                tried[first:last] = self.worlds
                return
            for row in range(first, last):
                for part in portions(self.milliseconds / 1000):
                    survey(task.roots, task.words, task.keys, part.start, part.stop, *space, row, row + 1)
                    tried[row] = part.stop

        self.spread(len(task), work)
        actions = np.arange(self.game.num_actions, dtype=np.uint64)
        legal = task.words[:, (actions >> np.uint64(6)).astype(np.int64)] >> (actions & np.uint64(63)) & np.uint64(1)
        task.visits[:] = legal.astype(np.int64) * (tried * self.playouts)[:, None]

    def choose(self, found: Found) -> NDArray[np.int64]:
        """The action of the best mean."""
        return found.best()
