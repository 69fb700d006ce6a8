"""What a player of Das Phantom cannot know, redrawn: the items in other hands, and the order of the piles."""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.core.rng import below, shuffle
from phantom_envs.games.das_phantom.components import (
    ITEM_COUNTS,
    MAX_DISCARDS,
    MAX_PILE,
    NUM_ITEMS,
    NUM_PILES,
    PILE_OF,
)


@jit
def resample(s: Record, seat: int) -> None:
    """Redraw what `seat` cannot know: per pile, its items and those of the other hands are one pool (R31).

    If another is in a turn, which items of that hand were taken this turn is redrawn too (R35).
    """
    # a card discarded may have been shuffled, and be in hand again
    pool = np.zeros(2 * MAX_PILE + MAX_DISCARDS, np.int64)
    took = np.zeros(MAX_DISCARDS, np.int64)
    for pile in range(NUM_PILES):
        redeal(s, seat, pile, pool)
        if int(s["seat"]) not in (seat, -1):
            mark_fresh(s, pile, pool, took)


@jit
def redeal(s: Record, seat: int, pile: int, pool: Any) -> None:
    """Redraw the items of one pile, there and in the hands of others. `pool` is working space."""
    size = 0
    for kind in range(NUM_ITEMS):
        if int(PILE_OF[kind]) == pile:
            number = int(ITEM_COUNTS[kind]) - int(s["gone"][kind]) - int(s["hands"][seat, kind])
            size = add(pool, size, kind, number)
    shuffle(s["rng"], pool, size)
    for position in range(int(s["pile_size"][pile])):
        size -= 1
        s["piles"][pile, position] = pool[size]
    for other in range(int(s["num_players"])):
        if other != seat:
            size = deal_again(s, other, pile, pool, size)


@jit
def add(pool: Any, size: int, kind: int, number: int) -> int:
    """Put `number` items behind the first `size` of `pool`; returns how many there are then."""
    for position in range(size, size + number):
        pool[position] = kind
    return size + number


@jit
def deal_again(s: Record, seat: int, pile: int, pool: Any, size: int) -> int:
    """Replace the items of one pile in a hand by the last of `pool[:size]`; returns how many are left there."""
    for kind in range(NUM_ITEMS):
        if int(PILE_OF[kind]) == pile:
            s["hands"][seat, kind] = 0
    for _ in range(int(s["held"][seat, pile])):
        size -= 1
        s["hands"][seat, int(pool[size])] += 1
    return size


@jit
def mark_fresh(s: Record, pile: int, pool: Any, took: Any) -> None:
    """Redraw which items of one pile the player in turn took this turn, of those in hand and discarded this turn.

    The turn is walked back: what was taken last is any of the items that were in hand then, each alike, and so on.
    Items that were played are none of them. Of equal items, those taken this turn were discarded first (R6). `pool` and
    `took` are working space.
    """
    size = 0
    for kind in range(NUM_ITEMS):
        if int(PILE_OF[kind]) == pile:
            size = add(pool, size, kind, int(s["hands"][int(s["seat"]), kind]))
            s["fresh"][kind] = 0
    discards = int(s["num_dropped"])
    number = discards
    for take in range(int(s["taken"][pile]) - 1, -1, -1):
        while number > 0:
            kind = int(s["dropped"][number - 1])
            if int(PILE_OF[kind]) == pile:
                if int(s["taken_before"][number - 1]) <= take:
                    break
                pool[size] = kind
                size += 1
            number -= 1
        place = below(s["rng"], size)
        size -= 1
        took[take] = pool[place]
        pool[place] = pool[size]
    take = 0
    for number in range(discards):
        kind = int(s["dropped"][number])
        if int(PILE_OF[kind]) == pile:
            while take < int(s["taken_before"][number]):
                s["fresh"][int(took[take])] += 1
                take += 1
            if int(s["fresh"][kind]) > 0:
                s["fresh"][kind] -= 1
    while take < int(s["taken"][pile]):
        s["fresh"][int(took[take])] += 1
        take += 1
