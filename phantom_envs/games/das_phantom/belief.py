"""What a player of Das Phantom cannot know, redrawn: the items in other hands, and the order of the piles."""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.core.rng import shuffle
from phantom_envs.games.das_phantom.components import ITEM_COUNTS, MAX_PILE, NUM_ITEMS, NUM_PILES, PILE_OF


@jit
def resample(s: Record, seat: int) -> None:
    """Redraw what `seat` cannot know: per pile, its items and those of the other hands are one pool (R31).

    If another is in a turn, which items of that hand were taken this turn is redrawn too (R35). Deals and orders of
    taking are drawn together until they fit what was discarded, so all that fit are equally likely. Only a discard
    before a take from the same pile may not fit.
    """
    pool = np.zeros(2 * MAX_PILE, np.int64)  # a card discarded may have been shuffled, and be in hand again
    old = np.zeros(NUM_ITEMS, np.int64)
    for pile in range(NUM_PILES):
        redeal(s, seat, pile, pool)
        if int(s["seat"]) not in (seat, -1):
            while not mark_fresh(s, pile, pool, old):
                redeal(s, seat, pile, pool)


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
def mark_fresh(s: Record, pile: int, pool: Any, old: Any) -> bool:
    """Redraw which items of one pile the player in turn took this turn, of those in hand and discarded this turn.

    Of equal items, those taken this turn were discarded first (R6). `pool` and `old` (NUM_ITEMS,) are working space.

    Returns:
        False if the order drawn does not fit: something would have been discarded before it was taken.
    """
    player, discards = int(s["seat"]), int(s["num_dropped"])
    size = 0
    for kind in range(NUM_ITEMS):
        if int(PILE_OF[kind]) == pile:
            old[kind] = int(s["hands"][player, kind])
            for number in range(discards):
                if int(s["dropped"][number]) == kind:
                    old[kind] += 1
            size = add(pool, size, kind, old[kind])
            s["fresh"][kind] = 0
    shuffle(s["rng"], pool, size)  # the first were taken this turn, in this order
    for position in range(int(s["taken"][pile])):
        old[pool[position]] -= 1
    position = 0
    for number in range(discards):
        kind = int(s["dropped"][number])
        if int(PILE_OF[kind]) != pile:
            continue
        while position < int(s["taken_before"][number]):
            s["fresh"][int(pool[position])] += 1
            position += 1
        if int(s["fresh"][kind]) > 0:
            s["fresh"][kind] -= 1
        elif old[kind] > 0:
            old[kind] -= 1
        else:
            return False
    while position < int(s["taken"][pile]):
        s["fresh"][int(pool[position])] += 1
        position += 1
    return True
