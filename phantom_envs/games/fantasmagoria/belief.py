"""What a player of Fantasmagória cannot know, redrawn: other hands, piles, and sacrifices not yet revealed.

How many beyond cards each hand holds is known to all, so ritual cards and beyond cards are dealt apart. Who took a
pile has its beyond cards in hand or has played them.
"""

from __future__ import annotations

import numpy as np

from phantom_envs.core.bits import EMPTY, bit, count, nth
from phantom_envs.core.game import Record
from phantom_envs.core.hidden import redeal
from phantom_envs.core.jit import jit
from phantom_envs.core.rng import below
from phantom_envs.games.fantasmagoria.components import (
    BEYOND,
    CUP_CARD,
    CURSED,
    GHOST,
    GHOSTS,
    MAX_PLAYERS,
    NUM_SUITS,
    SUIT_CARDS,
)
from phantom_envs.games.fantasmagoria.state import SACRIFICE


@jit
def resample(s: Record, seat: int) -> None:
    """Redraw what `seat` cannot know, every consistent state equally likely.

    When the game is over the hands have been counted, and only piles that nobody took are hidden.
    """
    redeal_beyond(s, seat)
    redeal_ritual(s, seat)


@jit
def redeal_beyond(s: Record, seat: int) -> None:
    """Redraw the beyond cards of the other hands and of the piles."""
    players = int(s["num_players"])
    hidden = EMPTY
    sizes = np.zeros(2 * MAX_PLAYERS, np.int64)
    barred = np.zeros(2 * MAX_PLAYERS, np.uint64)
    cards = np.zeros(2 * MAX_PLAYERS, np.uint64)
    for other in range(players):
        hidden |= s["piles"][other]
        sizes[MAX_PLAYERS + other] = count(s["piles"][other])
        if other != seat:
            held = s["hands"][other] & BEYOND
            hidden |= held
            sizes[other] = count(held)
            barred[other] = s["voids"] >> np.uint64(NUM_SUITS * other + GHOST) & np.uint64(1)
    classes = np.zeros(2, np.uint64)
    classes[0] = hidden & GHOSTS
    classes[1] = hidden & CUP_CARD
    redeal(s["rng"], classes, sizes, barred, cards)
    for other in range(players):
        s["piles"][other] = cards[MAX_PLAYERS + other]
        if other != seat:
            s["hands"][other] = (s["hands"][other] & ~BEYOND) | cards[other]


@jit
def redeal_ritual(s: Record, seat: int) -> None:
    """Redraw the ritual cards of the other hands, but for those known there, and sacrifices that are secret.

    States, not hands, are equally likely: a sacrifice is any hidden card that is not cursed, drawn first, and then
    every deal of the rest is equally likely.
    """
    players = int(s["num_players"])
    hidden = EMPTY
    sizes = np.zeros(MAX_PLAYERS, np.int64)
    barred = np.zeros(MAX_PLAYERS, np.uint64)
    cards = np.zeros(MAX_PLAYERS, np.uint64)
    secret = int(s["phase"]) == SACRIFICE
    for other in range(players):
        if other != seat:
            held = s["hands"][other] & ~BEYOND & ~s["shown"][other]
            hidden |= held
            sizes[other] = count(held)
            barred[other] = s["voids"] >> np.uint64(NUM_SUITS * other) & np.uint64((1 << GHOST) - 1)
            if secret:
                hidden |= s["sacrificed"][other]
    if secret:
        for other in range(players):
            if other != seat and s["sacrificed"][other] != EMPTY:
                candidates = hidden & ~CURSED
                drawn = bit(nth(candidates, below(s["rng"], count(candidates))))
                s["sacrificed"][other] = drawn
                hidden &= ~drawn
    classes = np.zeros(GHOST, np.uint64)
    for suit in range(GHOST):
        classes[suit] = hidden & SUIT_CARDS[suit]
    redeal(s["rng"], classes, sizes, barred, cards)
    for other in range(players):
        if other != seat:
            s["hands"][other] = (s["hands"][other] & (BEYOND | s["shown"][other])) | cards[other]
