"""Dealing hidden cards anew, against the list of all deals that fit."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
import pytest

from phantom_envs.core.hidden import _deal_by_counts, redeal
from phantom_envs.core.jit import JIT_DISABLED, entry
from tests.chance import assert_uniform

PROBLEMS = 6 if JIT_DISABLED else 60
DRAWS = 12 if JIT_DISABLED else 60  # per deal that fits
MOST_DEALS = 40 if JIT_DISABLED else 400

Deal = tuple[int, ...]


def kept_on_disk(function: Any) -> Any:
    """The same function as an entry: compiled once, not in each run of the tests."""
    return entry("test_hidden", allocates=True)(getattr(function, "py_func", function))


WAYS = {"shuffles first": kept_on_disk(redeal), "by counts": kept_on_disk(_deal_by_counts)}


def as_set(members: Any) -> int:
    """A set of numbers as its bits."""
    return sum(1 << member for member in members)


def all_deals(classes: list[int], sizes: list[int], barred: list[int]) -> list[Deal]:
    """Every deal that fits, by trying all."""
    cards = [card for card in range(64) if any(kind >> card & 1 for kind in classes)]

    def deal_on(receiver: int, left: list[int]) -> list[Deal]:
        if receiver == len(sizes):
            return [()]
        banned = sum(kind for index, kind in enumerate(classes) if barred[receiver] >> index & 1)
        deals: list[Deal] = []
        for hand in combinations(left, sizes[receiver]):
            held = as_set(hand)
            if not held & banned:
                rest = [card for card in left if card not in hand]
                deals.extend((held, *others) for others in deal_on(receiver + 1, rest))
        return deals

    return deal_on(0, cards)


def problem(rng: np.random.Generator) -> tuple[list[int], list[int], list[int]]:
    """A few cards in a few classes for a few receivers, some barred, some of size zero."""
    num_cards = int(rng.integers(1, 8))
    num_classes, num_receivers = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    cards = rng.choice(64, num_cards, replace=False)
    kinds = rng.integers(num_classes, size=num_cards)
    classes = [as_set(int(card) for card in cards[kinds == kind]) for kind in range(num_classes)]
    sizes = np.bincount(rng.integers(num_receivers, size=num_cards), minlength=num_receivers)
    bars = rng.random((num_receivers, num_classes)) < rng.choice([0.1, 0.3, 0.6])
    return classes, sizes.tolist(), [as_set(np.flatnonzero(row).tolist()) for row in bars]


def draw(deal: Any, rng: Any, classes: list[int], sizes: list[int], barred: list[int]) -> Deal | None:
    """One deal by `deal`, or None where it finds none."""
    hands = np.zeros(len(sizes), np.uint64)
    arrays = np.array(classes, np.uint64), np.array(sizes, np.int64), np.array(barred, np.uint64)
    return tuple(hands.tolist()) if deal(rng, *arrays, hands) else None


def check(deal: Any, classes: list[int], sizes: list[int], barred: list[int]) -> None:
    """All deals that fit are drawn equally often, and none else."""
    fitting = all_deals(classes, sizes, barred)
    rng = np.array([len(fitting)], np.uint64)
    if not fitting:
        assert draw(deal, rng, classes, sizes, barred) is None
        return
    drawn = Counter(draw(deal, rng, classes, sizes, barred) for _ in range(DRAWS * len(fitting)))
    assert set(drawn) <= set(fitting)
    assert_uniform([drawn[each] for each in fitting])


@pytest.mark.parametrize("deal", WAYS.values(), ids=WAYS)
def test_every_deal_that_fits_is_equally_likely(deal: Any) -> None:
    rng = np.random.default_rng(5)
    tried: Counter[str] = Counter()
    while sum(tried.values()) < PROBLEMS:
        classes, sizes, barred = problem(rng)
        deals = len(all_deals(classes, sizes, barred))
        if deals > MOST_DEALS:
            continue
        binding = [bars for bars, size in zip(barred, sizes, strict=True) if size]
        kind = (
            "none fits"
            if not deals
            else "nobody free"
            if all(binding)
            else "some barred"
            if any(binding)
            else "all free"
        )
        if tried[kind] >= PROBLEMS // 3:
            continue
        tried[kind] += 1
        check(deal, classes, sizes, barred)
    assert len(tried) == 4 or JIT_DISABLED


TIGHT = {
    "several barred from the same": ([0b111, 0b111000], [1, 1, 2, 2], [1, 1, 1, 0]),
    "crossed bars": ([0b11, 0b1100, 0b110000], [2, 2, 2], [1, 2, 4]),
    "one deal only": ([0b11, 0b1100], [2, 2], [1, 2]),
    "the largest is barred": ([0b11, 0b111100], [4, 1, 1], [1, 0, 0]),
    "barred but empty-handed": ([0b11, 0b1100], [0, 2, 2], [3, 0, 0]),
    "an empty class": ([0b11, 0, 0b1100], [2, 2], [2, 1]),
    "the last card and bit": ([1 << 63, 0b11], [1, 2], [2, 0]),
    "two classes, nobody may have one": ([0b1, 0b110], [1, 2], [1, 1]),
    "no cards": ([0, 0], [0, 0], [1, 0]),
}


@pytest.mark.parametrize("deal", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", TIGHT)
def test_tight_problems(deal: Any, name: str) -> None:
    check(deal, *TIGHT[name])


@pytest.mark.parametrize("deal", WAYS.values(), ids=WAYS)
def test_counting_is_exact_for_a_whole_deck(deal: Any) -> None:
    """48 cards, four hands, three suits barred: and mean counts by formula."""
    classes = [((1 << 12) - 1) << (12 * suit) for suit in range(4)]
    sizes, barred = [12, 12, 12, 12], [0b0001, 0b0011, 0b0111, 0]
    # The third hand is all of suit 3; so the second holds suit 2 only, the first suit 1, the last suit 0.
    expected = tuple(classes[suit] for suit in (1, 2, 3, 0))
    rng = np.array([1], np.uint64)
    assert draw(deal, rng, classes, sizes, barred) == expected
    sizes = [11, 11, 11, 15]
    held = np.zeros((4, 4))
    draws = partial(draw, deal, rng, classes, sizes, barred)
    count = 20 if JIT_DISABLED else 400
    for _ in range(count):
        hands = draws()
        assert hands is not None
        held += [[(hand & kind).bit_count() for kind in classes] for hand in hands]
    held /= count
    assert held[0, 0] == held[1, 0] == held[1, 1] == held[2, 0] == held[2, 1] == held[2, 2] == 0.0
    assert held[2, 3] == 11.0
    assert held[3, 0] == 12.0
    # One card of suit 3 is not in the third hand; the second may hold it, with eleven or ten of suit 2.
    threes, ones = means_by_formula()
    assert held[1, 3] == pytest.approx(threes, abs=0.4 if JIT_DISABLED else 0.2)
    assert held[0, 1] == pytest.approx(ones, abs=0.6 if JIT_DISABLED else 0.2)


def means_by_formula() -> tuple[float, float]:
    """Mean cards of suit 3 in the second hand, and of suit 1 in the first, summed over all counts."""
    total = threes = ones = 0
    for three, one in product((0, 1), range(12)):
        second = comb(1, three) * comb(12, 11 - three)
        first = comb(12, one) * comb(12 - (11 - three) + 1 - three, 11 - one)
        total += second * first
        threes += second * first * three
        ones += second * first * one
    return threes / total, ones / total
