"""Redraw hidden cards uniformly among all deals that fit hand sizes and suits shown to lack.

Every deal of distinct cards to receivers that respects `sizes` and `barred` is equally likely. A plain shuffle is
tried first and kept when it fits. When several do not fit, how many cards of each class every receiver gets is drawn
with probability proportional to the number of deals that have these counts (dynamic programming over the classes),
and then the cards. A shuffle that fits and a drawn deal have the same, uniform, distribution, so the mixture has too.

What keeps the counting small: receivers with the same bars are one group, dealt out among themselves at the end; the
largest group takes what the others leave and needs no counting; nor do the classes that nobody is barred from.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from numba import types

from phantom_envs.core.bits import EMPTY, bit, count, drop_lowest, has, lowest
from phantom_envs.core.jit import jit
from phantom_envs.core.late import late
from phantom_envs.core.rng import shuffle, uniform

MAX_CARDS = 64
SHUFFLES = 8  # plain attempts before counting, which costs as much as some ten to a thousand of them

_SETS, _NUMBERS = types.Array(types.uint64, 1, "C"), types.Array(types.int64, 1, "C")

_FACTORIAL = np.array([float(factorial(n)) for n in range(MAX_CARDS + 1)])
_INVERSE = 1.0 / _FACTORIAL


@jit
def redeal(rng: Any, classes: Any, sizes: Any, barred: Any, hands: Any) -> bool:
    """Deal all cards of `classes` anew.

    Args:
        rng: Generator, uint64 (1,).
        classes: uint64 (C,), disjoint sets of hidden cards (a suit each, say).
        sizes: int64 (R,), number of cards each receiver gets; they sum to the number of cards.
        barred: uint64 (R,), per receiver the set of classes it holds nothing of.
        hands: uint64 (R,), filled with the cards of each receiver.

    Returns:
        False if no deal fits (`hands` is then undefined).
    """
    cards = np.empty(MAX_CARDS, np.int64)
    total = 0
    for kind in range(len(classes)):
        left = classes[kind]
        while left != EMPTY:
            cards[total] = lowest(left)
            left = drop_lowest(left)
            total += 1
    free = True
    for receiver in range(len(sizes)):
        free = free and (barred[receiver] == EMPTY or sizes[receiver] == 0)
    for _ in range(1 if free else SHUFFLES):
        shuffle(rng, cards, total)
        if _deal_in_order(cards, classes, sizes, barred, hands):
            return True
    return _deal_by_counts(rng, classes, sizes, barred, hands)


@jit
def _deal_in_order(cards: Any, classes: Any, sizes: Any, barred: Any, hands: Any) -> bool:
    position = 0
    for receiver in range(len(sizes)):
        hand = EMPTY
        for _ in range(sizes[receiver]):
            hand |= bit(cards[position])
            position += 1
        for kind in range(len(classes)):
            if has(barred[receiver], kind) and (hand & classes[kind]) != EMPTY:
                return False
        hands[receiver] = hand
    return True


@late("core", types.boolean, _SETS, _SETS, _NUMBERS, _SETS, _SETS)
def _deal_by_counts(rng: Any, classes: Any, sizes: Any, barred: Any, hands: Any) -> bool:
    group_of = np.empty(len(sizes), np.int64)
    bars = np.zeros(len(sizes), np.uint64)
    room = np.zeros(len(sizes), np.int64)
    last = _form_groups(sizes, barred, group_of, bars, room)
    order = np.empty(len(classes), np.int64)
    walled = _walled_first(classes, bars[: last + 1], room, order)
    free = EMPTY
    for step in range(walled, len(classes)):
        free |= classes[order[step]]
    stride = np.ones(last + 1, np.int64)
    for group in range(last):
        stride[group + 1] = stride[group] * (room[group] + 1)
    ways = _count_ways(classes, order[:walled], count(free), bars[: last + 1], room, stride)

    piles = np.empty((last + 1, MAX_CARDS), np.int64)
    filled = np.zeros(last + 1, np.int64)
    shares = np.zeros(last + 1, np.int64)
    for step in range(walled):
        kind = order[step]
        if not _draw_shares(rng, kind, count(classes[kind]), bars, room, stride, ways[step + 1], shares):
            return False
        _hand_out(rng, classes[kind], shares, piles, filled, room)
    shares[:] = room[: last + 1]
    _hand_out(rng, free, shares, piles, filled, room)

    for group in range(last + 1):
        shuffle(rng, piles[group], filled[group])
    for receiver in range(len(sizes)):
        group = group_of[receiver]
        hand = EMPTY
        for _ in range(sizes[receiver]):
            filled[group] -= 1
            hand |= bit(piles[group, filled[group]])
        hands[receiver] = hand
    return True


@jit
def _form_groups(sizes: Any, barred: Any, group_of: Any, bars: Any, room: Any) -> int:
    """Group the receivers with equal bars, the group with the most room last. Returns the last group."""
    last = -1
    for receiver in range(len(sizes)):
        group = 0
        while group <= last and bars[group] != barred[receiver]:
            group += 1
        last = max(last, group)
        bars[group] = barred[receiver]
        room[group] += sizes[receiver]
        group_of[receiver] = group
    largest = 0
    for group in range(last + 1):
        if room[group] > room[largest]:
            largest = group
    for receiver in range(len(sizes)):
        if group_of[receiver] == largest:
            group_of[receiver] = last
        elif group_of[receiver] == last:
            group_of[receiver] = largest
    most, its_bars = room[largest], bars[largest]
    room[largest], bars[largest] = room[last], bars[last]
    room[last], bars[last] = most, its_bars
    return last


@jit
def _walled_first(classes: Any, bars: Any, room: Any, order: Any) -> int:
    """Fill `order` with the classes, those that a group with room is barred from first. Returns their number."""
    walled, end = 0, len(classes)
    for kind in range(len(classes)):
        wall = False
        for group in range(len(bars)):
            wall = wall or (room[group] > 0 and has(bars[group], kind))
        if wall and classes[kind] != EMPTY:
            order[walled] = kind
            walled += 1
        else:
            end -= 1
            order[end] = kind
    return walled


@jit
def _count_ways(classes: Any, walled: Any, free: int, bars: Any, room: Any, stride: Any) -> Any:
    """`ways[step, code]`: deals of classes `walled[step:]` and of `free` other cards that fill exactly the room.

    `code` is the mixed-radix number of the room left in each group but the last, which takes the other cards.
    `ways[0]` is not needed and left at zero.
    """
    last = len(bars) - 1
    codes = stride[last]
    ways = np.zeros((len(walled) + 1, codes))
    for code in range(codes):
        given = 0
        weight = _FACTORIAL[free]
        for group in range(last):
            here = code // stride[group] % (room[group] + 1)
            given += here
            weight *= _INVERSE[here]
        if given <= free:
            ways[len(walled), code] = weight * _INVERSE[free - given]
    for step in range(len(walled) - 1, 0, -1):
        kind = walled[step]
        size = count(classes[kind])
        # used[code, u]: the same with u cards of this class given so far, divided by the factorials of the shares
        used = np.zeros((codes, size + 1))
        used[:, 0] = ways[step + 1]
        for group in range(last):
            if has(bars[group], kind):
                continue
            for code in range(codes - 1, -1, -1):
                here = code // stride[group] % (room[group] + 1)
                for u in range(size, 0, -1):
                    for share in range(1, min(here, u) + 1):
                        used[code, u] += used[code - share * stride[group], u - share] * _INVERSE[share]
        least = size if has(bars[last], kind) else 0
        for code in range(codes):
            for u in range(least, size + 1):
                ways[step, code] += used[code, u] * _FACTORIAL[size] * _INVERSE[size - u]
    return ways


@jit
def _draw_shares(
    rng: Any, kind: int, size: int, bars: Any, room: Any, stride: Any, ways_after: Any, shares: Any
) -> bool:
    """Draw how many of the `size` cards of class `kind` each group gets, in proportion to the deals that have it."""
    last = len(shares) - 1
    code = 0
    for group in range(last):
        code += room[group] * stride[group]
    trial = np.zeros(last + 1, np.int64)
    total = 0.0
    while True:
        given = 0
        after = code
        weight = 1.0
        for group in range(last):
            given += trial[group]
            after -= trial[group] * stride[group]
            weight *= _INVERSE[trial[group]]
        if given == size or (given < size and not has(bars[last], kind)):
            weight *= _INVERSE[size - given] * ways_after[after]
            total += weight
            if uniform(rng) * total < weight:  # the newest of those so far with its share of their weight
                shares[:] = trial
                shares[last] = size - given
        group = 0  # the next combination
        while group < last and (trial[group] == min(room[group], size) or has(bars[group], kind)):
            trial[group] = 0
            group += 1
        if group == last:
            return total > 0.0
        trial[group] += 1


@jit
def _hand_out(rng: Any, members: Any, shares: Any, piles: Any, filled: Any, room: Any) -> None:
    """Shuffle the cards `members` and lay `shares[group]` of them on the pile of each group."""
    cards = np.empty(MAX_CARDS, np.int64)
    size = 0
    while members != EMPTY:
        cards[size] = lowest(members)
        members = drop_lowest(members)
        size += 1
    shuffle(rng, cards, size)
    for group in range(len(shares)):
        for _ in range(shares[group]):
            size -= 1
            piles[group, filled[group]] = cards[size]
            filled[group] += 1
        room[group] -= shares[group]
