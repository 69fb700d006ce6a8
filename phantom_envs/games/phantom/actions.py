"""The 287 actions of Phantom: what an index is called, and what it stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.actions import Actions, Group, group
from phantom_envs.core.jit import jit
from phantom_envs.games.phantom.components import (
    CARD_NAMES,
    GHOST_KINDS,
    NUM_PLACES,
    NUM_ZONES,
    OCCUPANTS,
    PLACE_ZONES,
    ZONES,
)
from phantom_envs.games.phantom.state import ON_QUEEN

_GHOST_PLAYS = tuple((ghost, zone) for ghost in range(GHOST_KINDS) for zone in range(NUM_ZONES))
_PLACE_PLAYS = tuple((place, zone) for place in range(NUM_PLACES) for zone in PLACE_ZONES[place])
PLAYS: tuple[tuple[int, int], ...] = (*_GHOST_PLAYS, *((GHOST_KINDS + place, zone) for place, zone in _PLACE_PLAYS))
"""Per action before `PASS`, card and zone."""


def _plays(first: int, stop: int) -> list[str]:
    return [f"play {CARD_NAMES[card]} at {ZONES[zone]}" for card, zone in PLAYS[first:stop]]


def _seizure(s: Any, index: int) -> str:
    ghost, zone = _GHOST_PLAYS[index]
    if s["phase"] == ON_QUEEN:
        return f"take {CARD_NAMES[ghost]} from {ZONES[zone]}"
    return f"discard {CARD_NAMES[ghost]} in {ZONES[zone]}"


ACTIONS = Actions(
    group(
        "play ghost",
        _plays(0, len(_GHOST_PLAYS)),
        "a Ghost (index 6 × family + kind) in a zone, the zone fastest",
        shown="play spectre-squatter at garden",
    ),
    group(
        "play place",
        _plays(len(_GHOST_PLAYS), len(PLAYS)),
        "a Place in a zone it belongs to",
        shown="play fountain at garden",
    ),
    group("pass", ["pass"], "end the playing"),
    group(
        "take place",
        [f"take {place}" for place in CARD_NAMES[GHOST_KINDS:]],
        "squatter: a Place of the opposing apparition",
        shown="take fountain",
    ),
    group(
        "charm",
        [f"charm {occupant}" for occupant in OCCUPANTS],
        "charmer: an Occupant from another zone",
        shown="charm father",
    ),
    group("flee", [f"flee to {zone}" for zone in ZONES], "howler: where the Occupant flees", shown="flee to garden"),
    Group(
        "seize",
        len(_GHOST_PLAYS),
        _seizure,
        "discard spectre-squatter in garden / take spectre-squatter from garden",
        "knocker / queen: a Ghost of the opponent, the zone fastest",
    ),
    group(
        "recover",
        [f"recover {ghost}" for ghost in CARD_NAMES[:GHOST_KINDS]],
        "invoker: a Ghost of the discard pile",
        shown="recover spectre-squatter",
    ),
    group("draw", ["draw ghost", "draw place"], "the pile to draw from", shown="draw ghost / draw place"),
)

PLAY_PLACE = ACTIONS["play place"].first
PASS = ACTIONS["pass"].first
TAKE_PLACE = ACTIONS["take place"].first
CHARM = ACTIONS["charm"].first
FLEE = ACTIONS["flee"].first
SEIZE = ACTIONS["seize"].first
RECOVER = ACTIONS["recover"].first
DRAW_GHOST, DRAW_PLACE = range(ACTIONS["draw"].first, ACTIONS["draw"].stop)

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


@jit
def place_taken(action: int) -> int:
    """The card, a Place, that the squatter's choice `action` takes."""
    return action - TAKE_PLACE + GHOST_KINDS


@jit
def ghost_seized(action: int) -> int:
    """The Ghost that the knocker's or the queen's choice `action` is about."""
    return (action - SEIZE) // NUM_ZONES


@jit
def zone_seized(action: int) -> int:
    """The zone that it is in."""
    return (action - SEIZE) % NUM_ZONES
