"""The house, the Ghosts, the Places and the Occupants of Phantom.

A card is its index: 0-23 the kinds of Ghost (family × 6 + kind), 24-49 the Places. A set of cards is one `uint64` with
a bit per card and, since some kinds of Ghost exist twice, the bits 50-57 for second copies. A second copy stands in a
set only beside the first, so equal multisets of cards are equal words.
"""

from __future__ import annotations

import numpy as np

ZONES = ("garden", "basement", "ground", "first")
NUM_ZONES = 4
NUM_SEATS = 2
ROLES = ("Chief", "Englishman")

FAMILIES = ("spectre", "soul", "spirit", "poltergeist")
KINDS = ("squatter", "charmer", "howler", "knocker", "queen", "invoker")
SQUATTER, CHARMER, HOWLER, KNOCKER, QUEEN, INVOKER = range(6)
NUM_FAMILIES = 4
NUM_KINDS = 6
NUM_GHOSTS = 32
GHOST_KINDS = 24

_COPIES = (1, 2, 2, 1, 1, 1)
_GHOST_FEAR = (1, 2, 1, 1, 2, 2)

_PLACES: tuple[tuple[str, str, int, bool], ...] = (
    ("fountain", "garden", 1, False),
    ("well", "garden", 3, False),
    ("cemetery", "garden", 4, False),
    ("greenhouse", "garden", 3, False),
    ("hollow-tree", "garden", 2, True),
    ("garage", "basement", 3, False),
    ("storeroom", "basement", 1, False),
    ("cellar", "basement", 3, False),
    ("boiler-room", "basement", 3, False),
    ("crypt", "basement", 4, False),
    ("laundry", "basement", 2, True),
    ("library", "ground", 2, False),
    ("kitchen", "ground", 3, False),
    ("dining-room", "ground", 4, False),
    ("parlour", "ground", 3, False),
    ("fireplace", "ground", 2, True),
    ("attic", "first", 4, False),
    ("bedroom", "first", 3, False),
    ("nursery", "first", 3, False),
    ("bathroom", "first", 3, False),
    ("wardrobe", "first", 2, True),
    ("toolshed", "garden basement", 2, False),
    ("coal-chute", "garden basement", 1, True),
    ("veranda", "garden ground", 2, False),
    ("dumbwaiter", "basement ground", 2, False),
    ("stairs", "ground first", 2, False),
)
NUM_PLACES = 26
NUM_CARDS = 50

CARD_NAMES = tuple(f"{family}-{kind}" for family in FAMILIES for kind in KINDS) + tuple(place[0] for place in _PLACES)

FEAR = np.array(_GHOST_FEAR * NUM_FAMILIES + tuple(place[2] for place in _PLACES), np.int64)
"""Per card, its fear (R1)."""

KIND_OF = np.arange(GHOST_KINDS) % NUM_KINDS
FAMILY_OF = np.arange(GHOST_KINDS) // NUM_KINDS

GHOST_COPIES = np.array([card for card in range(GHOST_KINDS) for _ in range(_COPIES[card % NUM_KINDS])], np.int64)
"""The kinds of all 32 Ghosts."""

_TWINS = tuple(card for card in range(GHOST_KINDS) if _COPIES[card % NUM_KINDS] == 2)
CARD_BITS = NUM_CARDS + len(_TWINS)
"""Width of a set of cards: 58, one bit per card there is."""

CARD_OF = np.array((*range(NUM_CARDS), *_TWINS), np.int64)
"""Per bit of a set of cards, the card it stands for."""

SECOND = np.array([1 << NUM_CARDS + _TWINS.index(c) if c in _TWINS else 0 for c in range(NUM_CARDS)], np.uint64)
"""Per card, the set that holds its second copy; empty if there is none."""


def _set_of(cards: list[int]) -> np.uint64:
    """The set of all copies of `cards`."""
    return np.uint64(sum(1 << bit for bit in range(CARD_BITS) if CARD_OF[bit] in cards))


GHOSTS = _set_of(list(range(GHOST_KINDS)))
PLACES = _set_of(list(range(GHOST_KINDS, NUM_CARDS)))
SHELTERS = _set_of([GHOST_KINDS + place for place in range(NUM_PLACES) if _PLACES[place][3]])
FIRST_GHOSTS = np.uint64((1 << GHOST_KINDS) - 1)
"""Per kind of Ghost its first copy: the Ghosts of a set without repeats."""

FEAR_DIGITS = np.array(
    [_set_of([c for c in range(NUM_CARDS) if FEAR[c] >> digit & 1]) for digit in range(3)], np.uint64
)
"""Per binary digit 1, 2, 4, the set of the cards whose fear has it."""

FAMILY_GHOSTS = np.array([_set_of([c for c in range(GHOST_KINDS) if c // NUM_KINDS == f]) for f in range(4)], np.uint64)
"""Per family, the set of its Ghosts."""

OCCUPANTS = ("father", "mother", "uncle", "aunt", "boy", "girl", "baby")
NUM_OCCUPANTS = 7
PRIEST = 7
TAKEN_NAMES = (*OCCUPANTS, "priest")
DREAD = np.array([9, 8, 8, 7, 6, 5, 10], np.int64)
VICTORY_POINTS = np.array([3, 3, 3, 3, 2, 2, 4, 1], np.int64)
"""Per Occupant and, last, for the Priest."""

ADULTS = 15
"""The set of Occupants who eliminate a family; adult i eliminates family i."""

ELIMINATED = np.array(
    [sum(int(FAMILY_GHOSTS[f]) for f in range(NUM_FAMILIES) if adults >> f & 1) for adults in range(16)], np.uint64
)
"""Per set of adults, the Ghosts they eliminate (R7)."""

NEIGHBOURS = np.array([0b0010, 0b0101, 0b1010, 0b0100], np.int64)
"""Per zone, the set of its neighbours in the line."""

HAND_SIZE = 5
WINNING_SCORE = 11
MAX_SCORE = 21
MAX_TURNS = 100  # R13
POINTS_SCALE = 10

DEALT_GHOSTS = np.array([2, 3], np.int64)  # R2, per seat
DEALT_PLACES = np.array([1, 2], np.int64)

_START = (("garage", "basement", 0), ("storeroom", "basement", 1), ("fountain", "garden", 1), ("library", "ground", 1))
START_PLACES = np.array([(CARD_NAMES.index(name), ZONES.index(zone), seat) for name, zone, seat in _START], np.int64)
"""Rows (card, zone, seat): the Places on the table from the beginning."""

PILED_PLACES = np.array([c for c in range(GHOST_KINDS, NUM_CARDS) if c not in START_PLACES[:, 0]], np.int64)
"""The Places that are shuffled into the pile."""

PLACE_ZONES = tuple(tuple(ZONES.index(zone) for zone in place[1].split()) for place in _PLACES)
"""Per Place, the zones it belongs to."""

MAX_APPARITION = NUM_GHOSTS + max(sum(zone in zones for zones in PLACE_ZONES) for zone in range(NUM_ZONES))
"""Bound on the cards of one apparition: all Ghosts, and all Places of the zone."""

MAX_FEAR = int(FEAR[GHOST_COPIES].sum()) + max(
    sum(place[2] for place in _PLACES if zone in place[1].split()) for zone in ZONES
)
"""Bound on the fear of one apparition."""
