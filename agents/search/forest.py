"""The arrays of many search trees, made once; working space for those who grow them; which tree belongs to whom."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.search.kernels import LEAF
from agents.search.tree import EDGE, HEAD, MAX_DEPTH, NODE, STEP
from phantom_envs.core.batch import Kernel
from phantom_envs.core.game import MAX_PLAYERS, Game, States


class Forest:
    """Trees of equal capacity. Memory that no tree has used yet costs nothing: the system lends it when it is written.

    Args:
        trees: Number of trees.
        nodes: Nodes of each.
        edges: Edges of each.
    """

    def __init__(self, trees: int, nodes: int, edges: int) -> None:
        size = 2
        while size < 2 * nodes:
            size *= 2
        self.heads: NDArray[np.void] = np.zeros(trees, HEAD)
        self.nodes: NDArray[np.void] = np.zeros((trees, nodes), NODE)
        self.edges: NDArray[np.void] = np.zeros((trees, edges), EDGE)
        self.slots: NDArray[np.int32] = np.zeros((trees, size), np.int32)

    def arrays(self) -> tuple[NDArray[np.void], NDArray[np.void], NDArray[np.void], NDArray[np.int32]]:
        """Heads, nodes, edges and hash tables, in the order that the kernels take them."""
        return self.heads, self.nodes, self.edges, self.slots

    def room(self, tree: int) -> int:
        """Nodes that a tree may still make."""
        return int(self.nodes.shape[1] - self.heads["num_nodes"][tree])


class Lane:
    """Working space of one thread."""

    def __init__(self, game: Game, num_players: int) -> None:
        self.size = game.layout(num_players).size
        self.memory: NDArray[np.uint8] = np.zeros(-(-self.size // 32) * 32, np.uint8)
        self.scratch: NDArray[np.uint64] = np.zeros((2, game.num_words), np.uint64)
        self.worlds: NDArray[np.void] = np.zeros(2, game.dtype)
        self.path: NDArray[np.void] = np.zeros(MAX_DEPTH, STEP)
        self.leaves: NDArray[np.void] = np.zeros(1, LEAF)
        self.rng: NDArray[np.uint64] = np.zeros(1, np.uint64)
        self.gained: NDArray[np.int64] = np.zeros(MAX_PLAYERS, np.int64)
        self.values: NDArray[np.float64] = np.zeros(MAX_PLAYERS)

    def grow(
        self,
        kernel: Kernel,
        roots: States,
        keys: NDArray[np.uint64],
        iterations: int,
        fresh: NDArray[np.bool_],
        settings: NDArray[np.void],
        forest: Forest,
        tree_of: NDArray[np.int64],
        questions: tuple[NDArray[np.void], NDArray[np.int8], NDArray[np.uint64]],
        visits: NDArray[np.int64],
        totals: NDArray[np.float64],
        first: int,
        last: int,
    ) -> None:
        """Run the kernel `grow` in this space."""
        space = (self.path, self.leaves, self.worlds, self.memory, self.size, self.scratch)
        found = (*questions, visits, totals)
        kernel(roots, keys, iterations, fresh, settings, *forest.arrays(), tree_of, *space, *found, first, last)


def no_questions(rows: int, size: int, words: int) -> tuple[NDArray[np.void], NDArray[np.int8], NDArray[np.uint64]]:
    """Room for no question of a network, in the shapes that the kernel `grow` takes."""
    return np.zeros((rows, 0), LEAF), np.zeros((rows, 0, 1, size), np.int8), np.zeros((rows, 0, words), np.uint64)


class Owners:
    """Which tree of a forest belongs to which seat of which table; the one longest unused gives way.

    Args:
        trees: Number of trees.
    """

    def __init__(self, trees: int) -> None:
        self._free = list(range(trees - 1, -1, -1))
        self._tree_of: dict[tuple[int, int], int] = {}

    def find(self, table: int, seat: int) -> tuple[int, bool]:
        """The tree of a seat at a table, and whether it is new to it."""
        tree = self._tree_of.pop((table, seat), None)
        new = tree is None
        if tree is None:
            tree = self._free.pop() if self._free else self._tree_of.pop(next(iter(self._tree_of)))
        self._tree_of[table, seat] = tree
        return tree, new
