"""What a seat knows in Phantom, as named blocks, in the frame of the seat (0: itself, 1: the opponent).

Left out, since nothing depends on it: the order of the cards in an apparition and in the discard pile, of the
Occupants taken, and of the zones played in this turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY, bit, count, spread
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.core.layout import Block, Layout
from phantom_envs.games.phantom.components import (
    CARD_BITS,
    GHOSTS,
    HAND_SIZE,
    MAX_FEAR,
    MAX_SCORE,
    MAX_TURNS,
    NUM_FAMILIES,
    NUM_GHOSTS,
    NUM_OCCUPANTS,
    NUM_SEATS,
    NUM_ZONES,
    PILED_PLACES,
)
from phantom_envs.games.phantom.effects import fleeing
from phantom_envs.games.phantom.state import ON_HOWLER, OVER

_AT_PHASE = NUM_SEATS + 1
_AT_EFFECT = _AT_PHASE + OVER
_AT_FLEEING = _AT_EFFECT + NUM_ZONES
_AT_FAMILY = _AT_FLEEING + NUM_OCCUPANTS
_AT_FREE = _AT_FAMILY + NUM_FAMILIES
_AT_OCCUPANTS = _AT_FREE + NUM_ZONES
_AT_TAKEN = _AT_OCCUPANTS + NUM_ZONES * NUM_OCCUPANTS
_AT_CARDS = _AT_TAKEN + NUM_SEATS * (NUM_OCCUPANTS + 1)
_AT_NUMBERS = _AT_CARDS + (4 + NUM_SEATS * NUM_ZONES) * CARD_BITS


def layout(num_players: int) -> Layout:
    """The blocks of an observation.

    A set of cards has 24 entries for the kinds of Ghost, 26 for the Places, and 8 for second copies (charmer and howler
    of each family), each in the order of the tables of the rules.
    """
    cards = (CARD_BITS,)
    return Layout(
        Block("to_act", (num_players,), 0, 1, "whose turn it is"),
        Block("four_plays", (1,), 0, 1, "whether four cards may be played in a turn, not one"),
        Block("phase", (OVER,), 0, 1, "play, the choice of an effect (squatter … invoker), or draw"),
        Block("effect_zone", (NUM_ZONES,), 0, 1, "zone of the Ghost whose effect is being chosen"),
        Block("fleeing", (NUM_OCCUPANTS,), 0, 1, "Occupant who chooses where to flee"),
        Block("queen_family", (NUM_FAMILIES,), 0, 1, "family of the queen whose effect is being chosen"),
        Block("zones_free", (NUM_ZONES,), 0, 1, "zones where no card was played this turn"),
        Block("occupants", (NUM_ZONES, NUM_OCCUPANTS), 0, 1, "Occupants of each zone"),
        Block("taken", (num_players, NUM_OCCUPANTS + 1), 0, 1, "Occupants each has taken, the Priest last"),
        Block("hand", cards, 0, 1, "own hand"),
        Block("hand_exposed", cards, 0, 1, "cards of the own hand that the opponent knows"),
        Block("opponent_known", cards, 0, 1, "known cards of the opponent's hand"),
        Block("discard", cards, 0, 1, "discard pile"),
        Block("apparitions", (num_players, NUM_ZONES, CARD_BITS), 0, 1, "cards of each in each zone"),
        Block("fear", (num_players, NUM_ZONES), 0, MAX_FEAR, "fear of each apparition"),
        Block("scores", (num_players,), 0, MAX_SCORE, "victory points"),
        Block("ghosts_in_hand", (num_players,), 0, HAND_SIZE, "Ghosts in each hand"),
        Block("places_in_hand", (num_players,), 0, HAND_SIZE, "Places in each hand"),
        Block("ghost_pile", (1,), 0, NUM_GHOSTS, "Ghosts in the pile"),
        Block("place_pile", (1,), 0, len(PILED_PLACES), "Places in the pile"),
        Block("turn", (1,), 1, MAX_TURNS, "number of the turn"),
    )


@jit
def observe(s: Record, seat: int, out: Any) -> None:
    """Write the observation of `seat`; see `layout`. Blocks narrower than 64 are overwritten behind their end."""
    rival = 1 - seat
    flags = EMPTY
    if int(s["seat"]) >= 0:
        flags = bit(0 if int(s["seat"]) == seat else 1)
    if int(s["plays"]) > 1:
        flags |= bit(NUM_SEATS)
    phase = int(s["phase"])
    if phase != OVER:
        flags |= bit(_AT_PHASE + phase)
    if int(s["effect_zone"]) >= 0:
        flags |= bit(_AT_EFFECT + int(s["effect_zone"]))
    if phase == ON_HOWLER:
        flags |= bit(_AT_FLEEING + fleeing(s))
    if int(s["queen_family"]) >= 0:
        flags |= bit(_AT_FAMILY + int(s["queen_family"]))
    flags |= np.uint64(s["zones_free"]) << np.uint64(_AT_FREE)
    for zone in range(NUM_ZONES):
        flags |= np.uint64(s["occupants"][zone]) << np.uint64(_AT_OCCUPANTS + NUM_OCCUPANTS * zone)
    spread(out, 0, flags)
    taken = np.uint64(s["taken_set"][seat]) | np.uint64(s["taken_set"][rival]) << np.uint64(NUM_OCCUPANTS + 1)
    spread(out, _AT_TAKEN, taken)
    spread(out, _AT_CARDS, s["hands"][seat])
    spread(out, _AT_CARDS + CARD_BITS, s["known"][seat])
    spread(out, _AT_CARDS + 2 * CARD_BITS, s["known"][rival])
    spread(out, _AT_CARDS + 3 * CARD_BITS, s["discarded"])
    at = _AT_CARDS + 4 * CARD_BITS
    for zone in range(NUM_ZONES):
        spread(out, at + zone * CARD_BITS, s["apparitions"][seat, zone])
    at += NUM_ZONES * CARD_BITS
    for zone in range(NUM_ZONES):
        spread(out, at + zone * CARD_BITS, s["apparitions"][rival, zone])
    at = _AT_NUMBERS
    for zone in range(NUM_ZONES):
        out[at + zone] = s["fear"][seat, zone]
        out[at + NUM_ZONES + zone] = s["fear"][rival, zone]
    at += 2 * NUM_ZONES
    out[at] = s["scores"][seat]
    out[at + 1] = s["scores"][rival]
    ghosts, rival_ghosts = count(s["hands"][seat] & GHOSTS), count(s["hands"][rival] & GHOSTS)
    out[at + 2] = ghosts
    out[at + 3] = rival_ghosts
    out[at + 4] = count(s["hands"][seat]) - ghosts
    out[at + 5] = count(s["hands"][rival]) - rival_ghosts
    out[at + 6] = s["num_ghost_pile"]
    out[at + 7] = s["num_place_pile"]
    out[at + 8] = s["turn"]
