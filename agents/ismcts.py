"""Information-set Monte Carlo tree search, by itself or guided by a trained network.

Cowling, Powley and Whitehouse, "Information set Monte Carlo tree search" (2012), with one tree of the searching seat's
information sets (see `agents.search.tree`); every seat maximizes what it makes of the game itself. A network helps in
one of two ways. Where playouts go on, it gives priors to nodes visited often enough, as the policy network does in
Silver et al., "Mastering the game of Go with deep neural networks and tree search" (2016). With `rollout=none` its
values take the place of playouts, as in Silver et al., "Mastering the game of Go without human knowledge" (2017).

Specs: `ismcts:iterations=1000`, `ismcts:milliseconds=10,rollout=random`, `ismcts:network=run/agent.safetensors`,
`ismcts:network=run/agent.safetensors,rollout=none,iterations=200`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agents.search.budget import check_choice, check_number, check_positive, check_share, portions, shown
from agents.search.forest import Forest, Owners, no_questions
from agents.search.found import Found
from agents.search.kernels import LEAVES, NO_NETWORK, PRIORS, search_kernels
from agents.search.searcher import Searcher, Task
from agents.search.tree import SELECTIONS
from phantom_envs.core.errors import InvalidOption

if TYPE_CHECKING:
    from agents.search.judge import Judge

EXPLORATION = 2.0
TRUST = 0.3
"""Defaults that were best, or nearly so, in every game against rule bots with 600 iterations."""

DOUBT = 0.5
"""Default where playouts tell what leaves are worth: a network that is weak by itself does no harm then."""

EDGES_PER_NODE = 4
"""Room for edges that no network has made: at least one for each node, more where worlds differ."""

JUDGED_EDGES_PER_NODE = 32
"""Room for edges where a network gives each legal action one."""

GENERATIONS = 8
"""Room of a tree that is used again, in decisions."""

TIMED_NODES = 1 << 16
"""Room of a tree that grows by the clock."""

KEPT_TREES = 1024
"""Trees that are kept for later decisions, at most; the one longest unused gives way."""

KEPT_EDGES = 1 << 26
"""Room for edges that they share out, 2 GiB: large trees are fewer, but for those that grow at the same time."""


MOST_ITERATIONS = 10**7
MOST_LEAVES = 256
MOST_EXPLORATION = 1e6
"""What is taken at most."""

MOST_EDGES = np.iinfo(np.int32).max
"""Of one tree: they are numbered in 32 bits."""

SMALLER = "give fewer iterations, threads or searches, or reuse=False"


class IsmctsAgent(Searcher):
    """Grows a tree of its own information sets and takes the action tried most often.

    Args:
        iterations: Iterations for each decision, one way down the tree and one playout each. Where a network judges
            leaves, rounded up to whole batches.
        selection: `puct`, or `ucb`, which knows no priors.
        exploration: The constant c of the selection, in units of the spread of values.
        trust: Share of the prior of `puct` that goes to the rule bot's action; None: 0.3, without playouts 0.
        reuse: Keep each tree for the next decisions of its seat in the same game.
        network: A `.safetensors` file of a trained network that gives priors, and with `blend` below 1 judges leaves.
        device: Where it runs: cpu, cuda, …
        blend: With a network, share of the playout in a leaf's worth; None: 1, without playouts 0.
        leaves: With a network, leaves, or with `blend=1` nodes, of one tree that are judged at once.
        threshold: With `blend=1`, visits after which a node gets the network's priors.
        doubt: Share of the network's priors that is spread evenly over the legal actions; None: 0.5 with `blend=1`,
            else 0.
        rollout, noise, horizon, goal, milliseconds, searches, threads: See `Searcher`.
    """

    def __init__(
        self,
        iterations: int = 1000,
        selection: str = "puct",
        exploration: float = EXPLORATION,
        trust: float | None = None,
        rollout: str = "rule",
        noise: float = 0.1,
        horizon: str = "game",
        goal: str = "both",
        milliseconds: float | None = None,
        reuse: bool = False,
        network: str | Path | None = None,
        device: str = "cpu",
        blend: float | None = None,
        leaves: int = 8,
        threshold: int = 50,
        doubt: float | None = None,
        searches: int = 1,
        threads: int = 1,
    ) -> None:
        super().__init__(rollout, noise, horizon, goal, milliseconds, searches, threads)
        if rollout == "none" and network is None:
            raise InvalidOption("rollout='none' needs a network=… that judges leaves, or choose 'rule' or 'random'")
        self.iterations = check_number("iterations", iterations, 1, MOST_ITERATIONS)
        self.selection = check_choice("selection", selection, SELECTIONS)
        if selection == "ucb" and (network is not None or trust):
            raise InvalidOption("selection='ucb' uses no priors; with a network or trust=… take 'puct'")
        hinted = selection == "puct" and rollout != "none"
        self.trust = (TRUST if hinted else 0.0) if trust is None else check_share("trust", trust)
        self.exploration = check_positive("exploration", exploration, MOST_EXPLORATION)
        if not isinstance(reuse, bool):
            raise InvalidOption(f"reuse={shown(reuse)}: give True or False")
        if not isinstance(device, str):
            raise InvalidOption(f"device={shown(device)}: give a name, as 'cpu' or 'cuda'")
        self.reuse = reuse
        self.blend = (0.0 if rollout == "none" else 1.0) if blend is None else check_share("blend", blend)
        if network is not None and self.blend > 0 and rollout == "none":
            raise InvalidOption(f"blend={blend}: playouts need a rollout policy, 'rule' or 'random'")
        if network is not None and self.blend < 1 and goal != "both":
            raise InvalidOption(f"goal={goal!r}: networks are trained to judge goal='both'; take that, or blend=1")
        self.leaves = check_number("leaves", leaves, 1, MOST_LEAVES)
        self.threshold = check_number("threshold", threshold, 1)
        self.doubt = (DOUBT if self.blend == 1 else 0.0) if doubt is None else check_share("doubt", doubt)
        self.judge: Judge | None = None
        if network is not None:
            from agents.search.judge import Judge  # needs torch, which a search without a network does not

            self.judge = Judge(network, device, self.blend, self.doubt)

    def make_room(self) -> None:
        """Room for the trees that grow at the same time, or are kept."""
        setting = self.settings[0]
        setting["selection"] = SELECTIONS[self.selection]
        setting["exploration"] = self.exploration
        setting["trust"] = self.trust
        setting["network"] = NO_NETWORK if self.judge is None else LEAVES if self.blend < 1 else PRIORS
        setting["threshold"] = self.threshold
        setting["loss"] = 1.0 if self.leaves > 1 else 0.0
        if self.milliseconds is not None:
            nodes = TIMED_NODES
        else:
            nodes = (self.iterations + self.leaves + 1) * (GENERATIONS if self.reuse else 1)
        each = JUDGED_EDGES_PER_NODE if self.judge is not None else EDGES_PER_NODE
        edges = each * nodes + self.game.num_actions
        if edges > MOST_EDGES:
            raise InvalidOption(f"trees of {nodes} nodes each are too large: {SMALLER}")
        if self.judge is not None:
            self.judge.prepare(self.game, self.num_players, self.leaves)
        at_once = max(self.threads, 0 if self.judge is None else self.judge.most_trees)
        kept = min(KEPT_TREES, KEPT_EDGES // edges) if self.reuse else 0
        self.kept = max(-(-at_once // self.searches), kept // self.searches)
        try:
            self.forest = Forest(self.kept * self.searches, nodes, edges)
        except MemoryError as error:
            raise InvalidOption(f"trees of {nodes} nodes each do not fit into the memory: {SMALLER}") from error
        self.forest.slots[: self.threads] = 0  # or the first decision by the clock would wait for this memory
        self.owners = [Owners(self.kept) for _ in range(self.searches)]

    def run(self, task: Task) -> None:
        """Grow the tree of every search."""
        size = len(task)
        if self.judge is not None:
            most = self.judge.most_trees
        else:
            most = self.kept * self.searches if self.reuse else max(size, 1)
        for first in range(0, max(size, 1), most):  # with nothing to grow it compiles
            rows = range(first, min(first + most, size))
            if self.judge is not None:
                self.judge.grow(self, task, rows, self.forest, *self._trees(task, rows))
            else:
                self._grow(task, rows)

    def choose(self, found: Found) -> NDArray[np.int64]:
        """The action tried most often: Cowling et al., algorithm 1."""
        return found.most_visited()

    def _grow(self, task: Task, rows: range) -> None:
        kernel = search_kernels(self.game).grow
        kept, empty = self._trees(task, rows)
        size, part = len(rows), slice(rows.start, rows.stop)
        roots, keys, visits, totals = task.roots[part], task.keys[part], task.visits[part], task.totals[part]

        def work(number: int, first: int, last: int) -> None:
            lane = self.lanes[number]
            tree_of = kept if self.reuse else np.full(size, number, np.int64)
            fresh = empty.copy()
            questions = no_questions(size, lane.size, self.game.num_words)

            def grow(iterations: int, first: int, last: int) -> None:
                lane.grow(
                    kernel, roots, keys, iterations, fresh, self.settings, self.forest, tree_of, questions,
                    visits, totals, first, last,
                )  # fmt: skip  # the order of the kernel

            for row in range(first, last):
                for portion in self.parts():
                    grow(len(portion), row, row + 1)
                    fresh[row] = False
            if not size:
                grow(0, 0, 0)  # compiles

        self.spread(size, work)

    def parts(self, times: int = 1, each: int = 1) -> Iterable[range]:
        """The portions in which `times` searches are made at once, `each` iterations at a time."""
        if self.milliseconds is None:
            return [range(-(-self.iterations // each))]
        return portions(times * self.milliseconds / 1000)

    def _trees(self, task: Task, rows: range) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The trees of some searches, and which of them are to be emptied first."""
        if not self.reuse:
            return np.arange(len(rows), dtype=np.int64), np.ones(len(rows), np.bool_)
        trees = np.zeros(len(rows), np.int64)
        empty = np.zeros(len(rows), np.bool_)
        for place, row in enumerate(rows):
            number = int(task.number[row])
            tree, new = self.owners[number].find(int(task.tables[row]), int(task.roots["seat"][row]))
            trees[place] = tree + number * self.kept
            empty[place] = new or self.forest.room(trees[place]) < self.forest.nodes.shape[1] // GENERATIONS
        return trees, empty
