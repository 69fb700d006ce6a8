"""The record that is a game of Phantom. Seats are absolute; -1 means none; a set of cards is as in `components`."""

from __future__ import annotations

import numpy as np

from phantom_envs.core.game import HEADER, state_dtype
from phantom_envs.games.phantom.components import (
    MAX_APPARITION,
    NUM_GHOSTS,
    NUM_OCCUPANTS,
    NUM_SEATS,
    NUM_ZONES,
    PILED_PLACES,
)

PLAY, ON_SQUATTER, ON_CHARMER, ON_HOWLER, ON_KNOCKER, ON_QUEEN, ON_INVOKER, DRAW, OVER = range(9)
PHASES = ("play", "squatter", "charmer", "howler", "knocker", "queen", "invoker", "draw", "over")
"""The phase in which the effect of a Ghost of kind k is chosen is k + 1."""

STATE = state_dtype(
    [
        *HEADER,
        ("plays", np.int8),  # option: cards that may be played in a turn, 1 or 4
        ("phase", np.int8),  # PLAY … OVER
        ("turn", np.int8),  # 1-100, of both players together
        ("effect_zone", np.int8),  # zone of the Ghost whose effect is being chosen, -1 if none
        ("queen_family", np.int8),  # family of the queen whose effect is being chosen, -1 if none
        ("num_zones_played", np.int8),  # zones used this turn
        ("zones_played", np.int8, (NUM_ZONES,)),  # those zones, in the order used
        ("zones_free", np.uint8),  # set of the zones not used this turn
        ("occupants", np.uint8, (NUM_ZONES,)),  # per zone, set of the Occupants there
        ("taken_set", np.uint8, (NUM_SEATS,)),  # per seat, set of the Occupants taken, 7 for the Priest
        ("num_taken", np.int8, (NUM_SEATS,)),  # per seat, their number
        ("taken", np.int8, (NUM_SEATS, NUM_OCCUPANTS + 1)),  # per seat, Occupants in the order taken
        ("scores", np.int8, (NUM_SEATS,)),  # per seat, victory points
        ("hands", np.uint64, (NUM_SEATS,)),  # per seat, cards in hand
        ("known", np.uint64, (NUM_SEATS,)),  # per seat, cards in that hand which the opponent knows: only Ghosts
        ("apparitions", np.uint64, (NUM_SEATS, NUM_ZONES)),  # per seat and zone, the cards there
        ("fear", np.int8, (NUM_SEATS, NUM_ZONES)),  # per seat and zone, sum of the fear of the cards there
        ("num_arrivals", np.int8, (NUM_SEATS, NUM_ZONES)),  # per seat and zone, number of the cards there
        ("arrivals", np.int8, (NUM_SEATS, NUM_ZONES, MAX_APPARITION)),  # the same cards in the order they came
        ("discarded", np.uint64),  # Ghosts in the discard pile
        ("num_discards", np.int8),  # their number
        ("discards", np.int8, (NUM_GHOSTS,)),  # the same Ghosts in the order discarded
        ("num_ghost_pile", np.int8),  # Ghosts in the pile
        ("ghost_pile", np.int8, (NUM_GHOSTS,)),  # the Ghost pile, the next to draw last
        ("num_place_pile", np.int8),  # Places in the pile
        ("place_pile", np.int8, (len(PILED_PLACES),)),  # the Place pile, the next to draw last
    ]
)
