"""The cards of Fantasmagória. A card is its index, 11 × suit + number - 1, which is also its action; the cup is 55."""

from __future__ import annotations

import numpy as np

SUITS = ("cat", "candle", "goat", "doll", "ghost")
CAT, CANDLE, GOAT, DOLL, GHOST = range(5)
NUM_SUITS = 5  # the last are the ghosts
NUM_NUMBERS = 11
NUM_CARDS = 56
CUP = 55

PLAYERS = (3, 4)
MAX_PLAYERS = 4
DEALT = 11  # ritual cards each is dealt
PILE_SIZE = 3  # beyond cards in a pile
MAX_HAND = 13  # whose first card possesses holds nine more and takes four
MAX_TRICKS = 14
NUM_ROUNDS = 3
POINTS_SCALE = 10

CARD_NAMES = (*(f"{suit}-{number}" for suit in SUITS for number in range(1, NUM_NUMBERS + 1)), "cup")

SUIT_OF = np.array([card // NUM_NUMBERS for card in range(NUM_CARDS)], np.int64)
"""Suit of a card; 5 for the cup, which has none."""

NUMBER_OF = np.array([card % NUM_NUMBERS + 1 for card in range(CUP)] + [0], np.int64)
"""Number of a card; 0 for the cup, which has none."""


def _cards(*cards: int) -> np.uint64:
    return np.uint64(sum(1 << card for card in cards))


def _suit(suit: int, highest: int = NUM_NUMBERS) -> list[int]:
    return [NUM_NUMBERS * suit + number - 1 for number in range(1, highest + 1)]


SUIT_CARDS = np.array([_cards(*_suit(suit)) for suit in range(NUM_SUITS)], np.uint64)
"""Per suit, the set of its cards."""

NUMBER_CARDS = np.array([0] + [_cards(*range(n - 1, CUP, NUM_NUMBERS)) for n in range(1, NUM_NUMBERS + 1)], np.uint64)
"""Per number, the set of the cards that bear it; none bears 0."""

GHOSTS = SUIT_CARDS[GHOST]
CUP_CARD = _cards(CUP)
BEYOND = GHOSTS | CUP_CARD

LUCKY_CAT, CANDELABRUM, FILIPI_GOAT, BELLE_ANNA = (NUM_NUMBERS * suit + 6 for suit in range(4))  # R3
CURSED = _cards(LUCKY_CAT, CANDELABRUM, FILIPI_GOAT, BELLE_ANNA)
SCARY = CURSED | GHOSTS
"""What the cup imprisons; the Lucky Cat too (R9)."""

LUCKY_CAT_SCARES, CANDELABRUM_SCARES, BELLE_ANNA_SCARES = -3, 2, 4
GOAT_LIMIT = 6  # with more ghosts the Filipi Goat scares them all away

RITUAL_DECKS = np.array(
    [0, 0, 0, _cards(*_suit(CAT), *_suit(GOAT), *_suit(DOLL)), _cards(*range(NUM_NUMBERS * 4))], np.uint64
)
"""Per player count, the ritual cards in use."""

BEYOND_DECKS = np.array([0, 0, 0, _cards(*_suit(GHOST, 8), CUP), BEYOND], np.uint64)
"""Per player count, the beyond cards in use (R2)."""
