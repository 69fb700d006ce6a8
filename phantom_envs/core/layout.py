"""The layout of an observation: named blocks, one after the other, in one int8 vector."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Block:
    """A part of the observation.

    Attributes:
        name: Unique in its layout.
        shape: Shape of the block once cut out, in C order.
        low: Least value of an entry.
        high: Greatest value of an entry.
        meaning: One sentence for the documentation.
        actions: If the entries are about actions (a card that may be played, a cell that may be entered), the first
            of these and how many: entry i is about action `first + i % count`. Networks can score actions by it.
        start: Offset in the vector, set by `Layout`.
    """

    name: str
    shape: tuple[int, ...]
    low: int
    high: int
    meaning: str
    actions: tuple[int, int] | None = None
    start: int = 0

    @property
    def size(self) -> int:
        """Number of entries."""
        return prod(self.shape)

    @property
    def stop(self) -> int:
        """Offset behind the block."""
        return self.start + self.size


class Layout:
    """Named blocks that fill a vector of `size` int8 entries without gaps."""

    def __init__(self, *blocks: Block) -> None:
        placed: list[Block] = []
        start = 0
        for block in blocks:
            placed.append(replace(block, start=start))
            start = placed[-1].stop
        self.blocks: tuple[Block, ...] = tuple(placed)
        self.size: int = start
        self._by_name = {block.name: block for block in placed}
        if len(self._by_name) != len(placed):
            raise ValueError("two blocks of an observation have the same name")

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    def __getitem__(self, name: str) -> Block:
        return self._by_name[name]

    @property
    def digest(self) -> str:
        """SHA-256 of what says how to read an observation: names, shapes, bounds and actions of the blocks, in order.

        Observations of equal digests are read alike; what the documentation says of a block does not count.
        """
        blocks = [(block.name, block.shape, block.low, block.high, block.actions) for block in self.blocks]
        return hashlib.sha256(json.dumps(blocks).encode()).hexdigest()

    def cut(self, observation: NDArray[Any], name: str) -> NDArray[Any]:
        """A view of block `name` of `observation` (…, size), with shape `(…, *block.shape)`."""
        block = self._by_name[name]
        return observation[..., block.start : block.stop].reshape(*observation.shape[:-1], *block.shape)

    def bounds(self) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Least and greatest value of every entry, each int8 of shape (size,)."""
        low, high = np.empty(self.size, np.int8), np.empty(self.size, np.int8)
        for block in self.blocks:
            low[block.start : block.stop] = block.low
            high[block.start : block.stop] = block.high
        return low, high


def offsets(layout: Callable[[int], Layout], players: Sequence[int]) -> NDArray[np.void]:
    """Where the blocks of an observation begin, for compiled code: `AT[num_players]["scores"]`.

    Args:
        layout: The blocks by player count, of the same names for all.
        players: The player counts.

    Returns:
        Shape (max(players) + 1,), an int64 for each block; zeros for counts that are not played. A global of this
        kind compiles to the same code as numbers written out.
    """
    names = [block.name for block in layout(players[0])]
    found = np.zeros(max(players) + 1, [(name, np.int64) for name in names])
    for count in players:
        found[count] = tuple(layout(count)[name].start for name in names)
    return found
