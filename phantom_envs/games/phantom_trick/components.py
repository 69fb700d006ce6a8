"""The cards of Phantom Trick. A card is its index, 12 × suit + value, which is also its action."""

from __future__ import annotations

import numpy as np

SUITS = ("red", "blue", "yellow", "green", "white")
NUM_SUITS = 5
NUM_VALUES = 12
NUM_CARDS = 60
HAND_SIZE = 12
NUM_TRICKS = 11
NUM_ROUNDS = 3
PLAYERS = (3, 4, 5)
MAX_PLAYERS = 5
MAX_PILE = 23  # a vanished card or a pair per trick: at most 2 × 11, and one to spare

START_SCORE = 10
MAX_SCORE = 16  # R8
POINTS_SCALE = 10

CARD_NAMES = tuple(f"{suit}-{value}" for suit in SUITS for value in range(NUM_VALUES))


def _deck(num_suits: int, low: int, high: int) -> np.uint64:
    return np.uint64(sum(1 << (NUM_VALUES * suit + v) for suit in range(num_suits) for v in range(low, high + 1)))


SUIT_CARDS = np.array([((1 << NUM_VALUES) - 1) << (NUM_VALUES * suit) for suit in range(NUM_SUITS)], np.uint64)
"""Per suit, the set of its cards."""

VALUE_CARDS = np.array([sum(1 << (NUM_VALUES * s + v) for s in range(NUM_SUITS)) for v in range(NUM_VALUES)], np.uint64)
"""Per value, the set of its cards."""

DECKS = np.array([0, 0, 0, _deck(4, 1, 10), _deck(5, 1, 10), _deck(5, 0, 11)], np.uint64)
"""Per player count, the set of cards in use."""
