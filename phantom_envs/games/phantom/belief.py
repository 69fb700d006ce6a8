"""What a player of Phantom cannot know, redrawn: the rest of the opponent's hand and the two piles."""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY, drop_lowest, lowest
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.core.rng import shuffle
from phantom_envs.games.phantom.cards import card_of, with_card
from phantom_envs.games.phantom.components import GHOSTS, HAND_SIZE, NUM_GHOSTS, PLACES


@jit
def resample(s: Record, seat: int) -> None:
    """Redraw what `seat` cannot know, every consistent deal equally likely.

    The hidden Ghosts are those of the pile and those of the opponent's hand that are not known; they are shuffled and
    dealt out anew in the same numbers. Likewise the Places. A Ghost that exists twice is two cards here.
    """
    rival = 1 - seat
    known = s["known"][rival]
    hidden = s["hands"][rival] ^ known
    s["hands"][rival] = known
    redeal_pile(s, rival, hidden & GHOSTS, s["ghost_pile"], int(s["num_ghost_pile"]))
    redeal_pile(s, rival, hidden & PLACES, s["place_pile"], int(s["num_place_pile"]))


@jit
def redeal_pile(s: Record, rival: int, hidden: Any, pile: Any, size: int) -> None:
    """Shuffle the hidden cards of the hand with the `size` cards of the pile and deal them to both anew.

    They are shuffled out of the order of their indexes, so that nothing of where they lay goes into the result.
    """
    pool = EMPTY
    for position in range(size):
        pool = with_card(pool, int(pile[position]))
    while hidden != EMPTY:
        pool = with_card(pool, card_of(lowest(hidden)))
        hidden = drop_lowest(hidden)
    cards = np.zeros(NUM_GHOSTS + HAND_SIZE, np.int64)
    total = 0
    while pool != EMPTY:
        cards[total] = card_of(lowest(pool))
        pool = drop_lowest(pool)
        total += 1
    shuffle(s["rng"], cards, total)
    for position in range(size):
        pile[position] = cards[position]
    for position in range(size, total):
        s["hands"][rival] = with_card(s["hands"][rival], int(cards[position]))
