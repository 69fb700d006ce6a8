"""What a player of Phantom Trick cannot know, redrawn: other hands, unused cards, cards laid and not yet revealed."""

from __future__ import annotations

import numpy as np

from phantom_envs.core.bits import bit, count, nth
from phantom_envs.core.game import Record
from phantom_envs.core.hidden import redeal
from phantom_envs.core.jit import jit
from phantom_envs.core.rng import below
from phantom_envs.games.phantom_trick.components import DECKS, MAX_PLAYERS, NUM_SUITS, SUIT_CARDS
from phantom_envs.games.phantom_trick.state import OVER, PLACE


@jit
def resample(s: Record, seat: int) -> None:
    """Redraw what `seat` cannot know, every consistent deal equally likely.

    Before the reveal a card laid by another counts as any card of that player's hand. When the game is over only the
    unused cards are hidden, and they are the cards not seen: nothing is left to draw.
    """
    if s["phase"] == OVER:
        return
    players = int(s["num_players"])
    laying = s["phase"] == PLACE
    seen = s["known"] | s["hands"][seat]
    if laying and s["placed"][seat] >= 0:
        seen |= bit(int(s["placed"][seat]))
    hidden = DECKS[players] & ~seen
    classes = np.zeros(NUM_SUITS, np.uint64)
    for suit in range(NUM_SUITS):
        classes[suit] = hidden & SUIT_CARDS[suit]
    sizes = np.zeros(MAX_PLAYERS + 1, np.int64)
    barred = np.zeros(MAX_PLAYERS + 1, np.uint64)
    hands = np.zeros(MAX_PLAYERS + 1, np.uint64)
    for other in range(players):
        if other != seat:
            sizes[other] = count(s["hands"][other])
            if laying and s["placed"][other] >= 0:
                sizes[other] += 1
            barred[other] = s["voids"][other]
    sizes[MAX_PLAYERS] = count(s["unused"])
    redeal(s["rng"], classes, sizes, barred, hands)
    for other in range(players):
        if other == seat:
            continue
        hand = hands[other]
        if laying and s["placed"][other] >= 0:
            card = nth(hand, below(s["rng"], sizes[other]))
            s["placed"][other] = card
            hand &= ~bit(card)
        s["hands"][other] = hand
    s["unused"] = hands[MAX_PLAYERS]
