"""What a seat knows in Phantom, as named blocks, in the frame of the seat (0: itself, 1: the opponent).

Left out, since nothing depends on it: the order of the cards in an apparition and in the discard pile, of the
Occupants taken, and of the zones played in this turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY, bit, count, shifted, spread
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.core.layout import Block, Layout, offsets
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


AT = offsets(layout, (NUM_SEATS,))


@jit
def observe(s: Record, seat: int, out: Any) -> None:
    """Write the observation of `seat`; see `layout`. Blocks narrower than 64 are overwritten behind their end."""
    rival = 1 - seat
    at = AT[NUM_SEATS]
    flags = EMPTY
    if int(s["seat"]) >= 0:
        flags = bit(0 if int(s["seat"]) == seat else 1)
    if int(s["plays"]) > 1:
        flags |= bit(at["four_plays"])
    phase = int(s["phase"])
    if phase != OVER:
        flags |= bit(at["phase"] + phase)
    if int(s["effect_zone"]) >= 0:
        flags |= bit(at["effect_zone"] + int(s["effect_zone"]))
    if phase == ON_HOWLER:
        flags |= bit(at["fleeing"] + fleeing(s))
    if int(s["queen_family"]) >= 0:
        flags |= bit(at["queen_family"] + int(s["queen_family"]))
    flags |= shifted(s["zones_free"], at["zones_free"])
    for zone in range(NUM_ZONES):
        flags |= shifted(s["occupants"][zone], at["occupants"] + NUM_OCCUPANTS * zone)
    spread(out, at["to_act"], flags)
    spread(out, at["taken"], np.uint64(s["taken_set"][seat]) | shifted(s["taken_set"][rival], NUM_OCCUPANTS + 1))
    spread(out, at["hand"], s["hands"][seat])
    spread(out, at["hand_exposed"], s["known"][seat])
    spread(out, at["opponent_known"], s["known"][rival])
    spread(out, at["discard"], s["discarded"])
    for zone in range(NUM_ZONES):
        spread(out, at["apparitions"] + zone * CARD_BITS, s["apparitions"][seat, zone])
    for zone in range(NUM_ZONES):
        spread(out, at["apparitions"] + (NUM_ZONES + zone) * CARD_BITS, s["apparitions"][rival, zone])
    for zone in range(NUM_ZONES):
        out[at["fear"] + zone] = s["fear"][seat, zone]
        out[at["fear"] + NUM_ZONES + zone] = s["fear"][rival, zone]
    for offset in range(NUM_SEATS):
        owner = seat if offset == 0 else rival
        ghosts = count(s["hands"][owner] & GHOSTS)
        out[at["scores"] + offset] = s["scores"][owner]
        out[at["ghosts_in_hand"] + offset] = ghosts
        out[at["places_in_hand"] + offset] = count(s["hands"][owner]) - ghosts
    out[at["ghost_pile"]] = s["num_ghost_pile"]
    out[at["place_pile"]] = s["num_place_pile"]
    out[at["turn"]] = s["turn"]
