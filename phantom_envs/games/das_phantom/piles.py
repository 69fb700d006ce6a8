"""Hands and piles: drawing, and what leaves a hand."""

from __future__ import annotations

from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.core.rng import shuffle
from phantom_envs.games.das_phantom.components import (
    DOUBLE,
    ITEM_COUNTS,
    MAGIC,
    NUM_ITEMS,
    NUM_PILES,
    NUM_TILES,
    PILE_OF,
    SINGLE,
)


@jit
def fill_piles(s: Record) -> None:
    """All items into their piles, shuffled."""
    for kind in range(NUM_ITEMS):
        for _ in range(int(ITEM_COUNTS[kind])):
            put_on_pile(s, kind)
    for pile in range(NUM_PILES):
        shuffle(s["rng"], s["piles"][pile], int(s["pile_size"][pile]))


@jit
def put_on_pile(s: Record, kind: int) -> None:
    """An item on top of its pile."""
    pile = int(PILE_OF[kind])
    s["piles"][pile, int(s["pile_size"][pile])] = kind
    s["pile_size"][pile] += 1


@jit
def has_left(s: Record, pile: int) -> bool:
    """Whether an item can be taken from `pile`; R23: the magic discard pile counts as a pile to come."""
    return int(s["pile_size"][pile]) > 0 or (pile == MAGIC and int(s["discard_size"]) > 0)


@jit
def any_left(s: Record) -> bool:
    """Whether an item can be taken at all."""
    return has_left(s, SINGLE) or has_left(s, DOUBLE) or has_left(s, MAGIC)


@jit
def draw(s: Record, seat: int, pile: int) -> int:
    """The top item of `pile`, which has something left, into a hand; returns its kind."""
    if int(s["pile_size"][pile]) == 0:
        reshuffle(s)
    size = int(s["pile_size"][pile]) - 1
    kind = int(s["piles"][pile, size])
    s["piles"][pile, size] = 0
    s["pile_size"][pile] = size
    s["hands"][seat, kind] += 1
    s["held"][seat, pile] += 1
    return kind


@jit
def reshuffle(s: Record) -> None:
    """The magic discard pile becomes the new magic pile."""
    size = int(s["discard_size"])
    for position in range(size):
        put_on_pile(s, int(s["discard"][position]))
        s["discard"][position] = 0
    s["discard_size"] = 0
    for kind in range(NUM_TILES, NUM_ITEMS):
        s["gone"][kind] = 0
    shuffle(s["rng"], s["piles"][MAGIC], size)


@jit
def give_up(s: Record, seat: int, kind: int) -> None:
    """An item out of a hand: a tile to be laid or discarded, a card onto the discard pile."""
    s["hands"][seat, kind] -= 1
    s["held"][seat, int(PILE_OF[kind])] -= 1
    s["gone"][kind] += 1
    if kind >= NUM_TILES:
        s["discard"][int(s["discard_size"])] = kind
        s["discard_size"] += 1


@jit
def discard(s: Record, seat: int, kind: int) -> None:
    """Discard an item; of equal ones those taken this turn first (R6)."""
    if int(s["fresh"][kind]) > 0:
        s["fresh"][kind] -= 1
    number = int(s["num_dropped"])
    s["dropped"][number] = kind
    s["taken_before"][number] = s["taken"][int(PILE_OF[kind])]
    s["num_dropped"] = number + 1
    give_up(s, seat, kind)
    if kind < NUM_TILES:
        s["out"][int(s["out_size"])] = kind
        s["out_size"] += 1
        s["out_count"][kind] += 1


@jit
def hand_size(s: Record, seat: int) -> int:
    """Tiles and cards in a hand."""
    held = s["held"]
    return int(held[seat, 0]) + int(held[seat, 1]) + int(held[seat, 2])


@jit
def playable(s: Record, seat: int) -> int:
    """The set of kinds of which `seat` holds one that it did not take this turn."""
    kinds = 0
    for kind in range(NUM_ITEMS):
        if int(s["hands"][seat, kind]) > int(s["fresh"][kind]):
            kinds |= 1 << kind
    return kinds
