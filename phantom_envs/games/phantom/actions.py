"""The 287 actions of Phantom: where each group begins, and what an index means."""

from __future__ import annotations

import numpy as np

from phantom_envs.games.phantom.components import (
    GHOST_KINDS,
    NUM_OCCUPANTS,
    NUM_PLACES,
    NUM_ZONES,
    PLACE_ZONES,
)

PLAY_PLACE = GHOST_KINDS * NUM_ZONES  # `play spectre-squatter at garden` is 0, the zone fastest
_PLACE_PLAYS = tuple((place, zone) for place in range(NUM_PLACES) for zone in PLACE_ZONES[place])
PASS = PLAY_PLACE + len(_PLACE_PLAYS)
TAKE_PLACE = PASS + 1
CHARM = TAKE_PLACE + NUM_PLACES
FLEE = CHARM + NUM_OCCUPANTS
SEIZE = FLEE + NUM_ZONES  # `discard … in …` of the knocker, `take … from …` of the queen
RECOVER = SEIZE + GHOST_KINDS * NUM_ZONES
DRAW_GHOST = RECOVER + GHOST_KINDS
DRAW_PLACE = DRAW_GHOST + 1
NUM_ACTIONS = DRAW_PLACE + 1

PLAYS: tuple[tuple[int, int], ...] = (
    *((ghost, zone) for ghost in range(GHOST_KINDS) for zone in range(NUM_ZONES)),
    *((GHOST_KINDS + place, zone) for place, zone in _PLACE_PLAYS),
)
"""Per action before `PASS`, card and zone."""

PLAYED_CARD = np.array([card for card, _ in PLAYS], np.int64)
PLAYED_ZONE = np.array([zone for _, zone in PLAYS], np.int64)

PLACE_PLAYS = np.array(
    [sum(1 << index for index, play in enumerate(_PLACE_PLAYS) if play[0] == place) for place in range(NUM_PLACES)],
    np.uint64,
)
"""Per Place, the set of the actions that play it, counted from `PLAY_PLACE`."""

ZONE_PLACE_PLAYS = np.array(
    [sum(1 << index for index, play in enumerate(_PLACE_PLAYS) if zones >> play[1] & 1) for zones in range(16)],
    np.uint64,
)
"""Per set of zones, the actions that play a Place in one of them, counted from `PLAY_PLACE`."""
