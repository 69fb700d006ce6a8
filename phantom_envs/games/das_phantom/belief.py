"""What a player of Das Phantom cannot know, redrawn: the items in other hands, and the order of the piles."""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.core.rng import shuffle
from phantom_envs.games.das_phantom.components import ITEM_COUNTS, NUM_ITEMS, NUM_PILES, PILE_OF


@jit
def resample(s: Record, seat: int) -> None:
    """Redraw what `seat` cannot know: per pile, its items and those of the other hands are one pool (R31).

    If another is in a turn, as many of the items in that hand count as taken this turn as did before.
    """
    pool = np.zeros(int(ITEM_COUNTS.sum()), np.int64)
    for pile in range(NUM_PILES):
        size = 0
        for kind in range(NUM_ITEMS):
            if int(PILE_OF[kind]) == pile:
                for _ in range(int(ITEM_COUNTS[kind]) - int(s["gone"][kind]) - int(s["hands"][seat, kind])):
                    pool[size] = kind
                    size += 1
        shuffle(s["rng"], pool, size)
        for position in range(int(s["pile_size"][pile])):
            size -= 1
            s["piles"][pile, position] = pool[size]
        for other in range(int(s["num_players"])):
            if other != seat:
                size = deal_again(s, other, pile, pool, size)


@jit
def deal_again(s: Record, seat: int, pile: int, pool: Any, size: int) -> int:
    """Replace the items of one pile in a hand by the last of `pool[:size]`; returns how many are left there."""
    fresh = 0
    for kind in range(NUM_ITEMS):
        if int(PILE_OF[kind]) == pile:
            s["hands"][seat, kind] = 0
            if seat == int(s["seat"]):
                fresh += int(s["fresh"][kind])
                s["fresh"][kind] = 0
    for _ in range(int(s["held"][seat, pile])):
        size -= 1
        kind = int(pool[size])
        s["hands"][seat, kind] += 1
        if fresh > 0:
            fresh -= 1
            s["fresh"][kind] += 1
    return size
