"""A trained network that judges the leaves of many trees at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from agents.neural import NeuralAgent
from agents.search.forest import Forest
from agents.search.kernels import LEAF, ascend, prime, search_kernels
from agents.search.tree import MAX_DEPTH, STEP
from phantom_envs.core.game import Game

if TYPE_CHECKING:
    from agents.ismcts import IsmctsAgent
    from agents.search.searcher import Task

MOST_TREES = 64
"""Trees that grow at the same time."""

ITERATIONS_BETWEEN = 128
"""Iterations of each tree between two batches, where a network gives priors only."""

ROWS_FOR_BFLOAT16 = 64
"""Batches from this size on are computed in bfloat16, as in training: twice as fast there, slower below."""


class Judge:
    """Priors and values from a network, and the loop that grows trees with them.

    The worth of a leaf is the network's value for each seat, asked with that seat's own observation, less their mean:
    what players expect of a game sums to zero. Networks learn values where their seat is to act; for the other seats
    they are asked outside of that, and were found to explain returns nearly as well there.

    Args:
        path: The network's file.
        device: Where it runs.
        blend: Share of the playout in a leaf's worth. With 1 the network gives priors only: nodes that have been
            visited often enough ask for them, and the search goes on without waiting.
        doubt: Share of the priors that is spread evenly.
    """

    def __init__(self, path: str | Path, device: str, blend: float, doubt: float) -> None:
        self.agent = NeuralAgent(path, device)
        self.blend = blend
        self.doubt = doubt
        self.most_trees = MOST_TREES

    def prepare(self, game: Game, num_players: int, leaves: int) -> None:
        """Make room; `WrongNetwork` if the network is not one for this game."""
        self.agent.prepare(game, num_players, {})
        trees, size = self.most_trees, game.layout(num_players).size
        self.viewers = num_players if self.blend < 1 else 1
        self.paths: NDArray[np.void] = np.zeros((trees, leaves, MAX_DEPTH), STEP)
        self.leaves: NDArray[np.void] = np.zeros((trees, leaves), LEAF)
        self.worlds: NDArray[np.void] = np.zeros((trees, leaves), game.dtype)
        self.observations: NDArray[np.int8] = np.zeros((trees, leaves, self.viewers, size), np.int8)
        self.legals: NDArray[np.uint64] = np.zeros((trees, leaves, game.num_words), np.uint64)
        self.num_actions = game.num_actions
        for rows in (1, trees):  # the first time takes longer
            self.ask(np.ones((rows, leaves), np.bool_))

    def grow(
        self,
        agent: IsmctsAgent,
        task: Task,
        rows: range,
        forest: Forest,
        tree_of: NDArray[np.int64],
        empty: NDArray[np.bool_],
    ) -> None:
        """Grow the trees of some searches side by side and write what is at their roots."""
        kernels = search_kernels(agent.game)
        part = slice(rows.start, rows.stop)
        roots, keys, visits, totals = task.roots[part], task.keys[part], task.visits[part], task.totals[part]
        seats = roots["seat"].astype(np.int64)
        size = len(rows)

        def descend(number: int, first: int, last: int) -> None:
            lane = agent.lanes[number]
            kernels.descend(
                roots, keys, empty, agent.settings, *forest.arrays(), tree_of, self.paths, self.leaves, self.worlds,
                lane.memory, lane.size, lane.scratch, self.viewers, self.observations, self.legals, first, last,
            )  # fmt: skip  # the order of the kernel

        def judge_leaves() -> None:
            agent.spread(size, descend)
            judged, logits, values = self.ask(self.leaves["seat"][:size] >= 0)
            ascend(
                *forest.arrays()[:3], tree_of, seats, agent.num_players, self.paths, self.leaves,
                self.legals, judged, logits, self.viewers, values, self.blend, self.doubt, 0, size,
            )  # fmt: skip

        def grow(number: int, first: int, last: int) -> None:
            agent.lanes[number].grow(
                kernels.grow, roots, keys, iterations, empty, agent.settings, forest, tree_of,
                (self.leaves, self.observations, self.legals), visits, totals, first, last,
            )  # fmt: skip

        def give_priors() -> None:
            agent.spread(size, grow)
            asked = np.arange(self.leaves.shape[1]) < forest.heads["asked"][tree_of][:, None]
            if size and not asked.any():
                return
            judged, logits, _ = self.ask(asked)
            prime(*forest.arrays()[:3], tree_of, self.leaves, self.legals, judged, logits, self.doubt, 0, size)

        iterations = ITERATIONS_BETWEEN
        once, each = (judge_leaves, self.leaves.shape[1]) if self.blend < 1 else (give_priors, ITERATIONS_BETWEEN)
        for portion in agent.parts(size, each) if size else [range(1)]:  # with nothing to grow it compiles
            for number in portion:
                if agent.milliseconds is None:
                    iterations = min(each, agent.iterations - number * each)
                once()
                empty[:] = False
        lane = agent.lanes[0]
        kernels.read_all(roots, *forest.arrays(), tree_of, lane.memory, lane.size, visits, totals, 0, size)

    @torch.inference_mode()
    def ask(self, which: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
        """What the network says where `which` (trees, L) is set.

        Returns:
            Where in the other two it is, (trees, L), -1 if nowhere; logits (J, A) of the acting seats; values
            (J, viewers).
        """
        size = len(which)
        judged = np.where(which, np.cumsum(which).reshape(which.shape) - 1, -1)
        observations = self.observations[:size][which]
        words = self.legals[:size][which]
        count = len(observations)
        masks = np.zeros((count, self.viewers, self.num_actions), np.uint8)
        masks[:, 0] = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, : self.num_actions]
        device = torch.device(self.agent.device)
        with torch.autocast(device.type, torch.bfloat16, enabled=count * self.viewers >= ROWS_FOR_BFLOAT16):
            logits, values = self.agent.net(
                torch.from_numpy(observations.reshape(-1, self.observations.shape[3])).to(device),
                torch.from_numpy(masks.reshape(-1, self.num_actions)).to(device),
            )
        first = logits.reshape(count, self.viewers, self.num_actions)[:, 0].contiguous()
        return judged, first.cpu().numpy(), values.reshape(count, self.viewers).cpu().numpy()
