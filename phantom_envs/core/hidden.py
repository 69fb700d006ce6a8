"""Redraw hidden cards uniformly among all deals that fit hand sizes and suits shown to lack.

Every deal of distinct cards to receivers that respects `sizes` and `barred` is equally likely. A plain shuffle is
tried first and kept when it fits. When several do not fit, how many cards of each class every receiver gets is drawn
with probability proportional to the number of deals that have these counts (dynamic programming over the classes),
and then the cards. A shuffle that fits and a drawn deal have the same, uniform, distribution, so the mixture has too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY, bit, count, drop_lowest, has, lowest
from phantom_envs.core.jit import jit
from phantom_envs.core.rng import shuffle, uniform

MAX_CARDS = 64
SHUFFLES = 8  # plain attempts before counting; each costs as much as a deal, counting up to a millisecond


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
    return _deal_by_counts(rng, cards, classes, sizes, barred, hands)


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


@jit
def _deal_by_counts(rng: Any, cards: Any, classes: Any, sizes: Any, barred: Any, hands: Any) -> bool:
    num_classes, num_receivers = len(classes), len(sizes)
    # Receivers without any bar form one pool, dealt out at the end. The last group takes what the others leave:
    # the pool if there is one, else the largest receiver.
    group_of = np.empty(num_receivers, np.int64)
    rest = -1
    for receiver in range(num_receivers):
        if barred[receiver] == EMPTY:
            rest = receiver
    if rest < 0:
        for receiver in range(num_receivers):
            if rest < 0 or sizes[receiver] > sizes[rest]:
                rest = receiver
    groups = 0
    for receiver in range(num_receivers):
        if receiver == rest or (barred[receiver] == EMPTY and barred[rest] == EMPTY):
            group_of[receiver] = -1
        else:
            group_of[receiver] = groups
            groups += 1
    room = np.zeros(groups, np.int64)
    bars = np.zeros(groups, np.uint64)
    for receiver in range(num_receivers):
        if group_of[receiver] >= 0:
            room[group_of[receiver]] = sizes[receiver]
            bars[group_of[receiver]] = barred[receiver]
    stride = np.ones(groups + 1, np.int64)
    for group in range(groups):
        stride[group + 1] = stride[group] * (room[group] + 1)
    ways = _count_ways(classes, room, bars, stride, barred[rest])

    counts = np.zeros((num_classes, groups), np.int64)
    for kind in range(num_classes):
        if not _draw_counts(rng, kind, count(classes[kind]), room, bars, stride, barred[rest], ways, counts[kind]):
            return False
        for group in range(groups):
            room[group] -= counts[kind, group]

    for receiver in range(num_receivers):
        hands[receiver] = EMPTY
    pooled = 0
    pool = np.empty(MAX_CARDS, np.int64)
    for kind in range(num_classes):
        size = 0
        left = classes[kind]
        while left != EMPTY:
            cards[size] = lowest(left)
            left = drop_lowest(left)
            size += 1
        shuffle(rng, cards, size)
        position = 0
        for receiver in range(num_receivers):
            if group_of[receiver] >= 0:
                for _ in range(counts[kind, group_of[receiver]]):
                    hands[receiver] |= bit(cards[position])
                    position += 1
        for index in range(position, size):
            pool[pooled] = cards[index]
            pooled += 1
    shuffle(rng, pool, pooled)
    position = 0
    for receiver in range(num_receivers):
        if group_of[receiver] < 0:
            for _ in range(sizes[receiver]):
                hands[receiver] |= bit(pool[position])
                position += 1
    return True


@jit
def _factorial(n: int) -> float:
    product = 1.0
    for factor in range(2, n + 1):
        product *= factor
    return product


@jit
def _count_ways(classes: Any, room: Any, bars: Any, stride: Any, rest_bars: Any) -> Any:
    """`ways[kind, code]`: deals of the classes from `kind` on that fill exactly the room encoded by `code`.

    `code` is the mixed-radix number of the room left in each group; the rest takes the other cards.
    """
    num_classes, groups = len(classes), len(room)
    codes = stride[groups]
    ways = np.zeros((num_classes + 1, codes))
    ways[num_classes, 0] = 1.0
    for kind in range(num_classes - 1, -1, -1):
        size = count(classes[kind])
        # used[code, u]: the same with u cards of this class given so far, divided by the factorials of the shares
        used = np.zeros((codes, size + 1))
        used[:, 0] = ways[kind + 1]
        for group in range(groups):
            if has(bars[group], kind):
                continue
            for code in range(codes - 1, -1, -1):
                here = code // stride[group] % (room[group] + 1)
                for u in range(size, -1, -1):
                    for share in range(1, min(here, u) + 1):
                        used[code, u] += used[code - share * stride[group], u - share] / _factorial(share)
        least = size if has(rest_bars, kind) else 0
        for code in range(codes):
            for u in range(least, size + 1):
                ways[kind, code] += used[code, u] * _factorial(size) / _factorial(size - u)
    return ways


@jit
def _draw_counts(
    rng: Any, kind: int, size: int, room: Any, bars: Any, stride: Any, rest_bars: Any, ways: Any, shares: Any
) -> bool:
    """Draw how many cards of class `kind` each group gets into `shares`, in proportion to the deals that have it."""
    groups = len(room)
    code = 0
    for group in range(groups):
        code += room[group] * stride[group]
        shares[group] = 0
    if ways[kind, code] <= 0.0:
        return False
    target = uniform(rng) * ways[kind, code]
    found = False
    kept = np.zeros(groups, np.int64)
    while True:
        given = 0
        after = code
        weight = _factorial(size)
        for group in range(groups):
            given += shares[group]
            after -= shares[group] * stride[group]
            weight /= _factorial(shares[group])
        if given <= size and (given == size or not has(rest_bars, kind)):
            weight = weight / _factorial(size - given) * ways[kind + 1, after]
            if weight > 0.0:
                found = True
                kept[:] = shares
                target -= weight
                if target < 0.0:
                    break
        group = 0  # the next combination of shares
        while group < groups and (shares[group] == min(room[group], size) or has(bars[group], kind)):
            shares[group] = 0
            group += 1
        if group == groups:
            break
        shares[group] += 1
    shares[:] = kept  # the last that fits, should rounding have left a trace of the target
    return found
