"""What the Ghosts of Phantom do when played: the six effects, and the adults who eliminate them."""

from __future__ import annotations

from phantom_envs.core.bits import EMPTY, lowest
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.games.phantom.actions import CHARM, FLEE, RECOVER, ghost_seized, place_taken, zone_seized
from phantom_envs.games.phantom.cards import arrive, banish, discard, leave, recover, with_card
from phantom_envs.games.phantom.components import (
    ADULTS,
    CHARMER,
    ELIMINATED,
    FAMILY_GHOSTS,
    FAMILY_OF,
    GHOSTS,
    HOWLER,
    KIND_OF,
    KNOCKER,
    NUM_SEATS,
    NUM_ZONES,
    PLACES,
    QUEEN,
    SHELTERS,
    SQUATTER,
)
from phantom_envs.games.phantom.state import ON_CHARMER, ON_HOWLER, ON_KNOCKER, ON_QUEEN, ON_SQUATTER


@jit
def has_choice(s: Record, ghost: int, zone: int) -> bool:
    """Whether the effect of `ghost`, just played in `zone`, has anything to choose from (R4)."""
    kind = int(KIND_OF[ghost])
    rival = 1 - int(s["seat"])
    if kind == SQUATTER:
        return bool(s["apparitions"][rival, zone] & PLACES != EMPTY)
    if kind == CHARMER:
        elsewhere = 0
        for other in range(NUM_ZONES):
            if other != zone:
                elsewhere |= int(s["occupants"][other])
        return elsewhere != 0
    if kind == HOWLER:
        return int(s["occupants"][zone]) != 0
    if kind == KNOCKER:
        return bool(s["apparitions"][rival, zone] & GHOSTS != EMPTY)
    if kind == QUEEN:
        family = FAMILY_GHOSTS[FAMILY_OF[ghost]]
        ghosts = EMPTY
        for other in range(NUM_ZONES):
            ghosts |= s["apparitions"][rival, other]
        return bool(ghosts & family != EMPTY)
    return bool(s["discarded"] != EMPTY)


@jit
def begin_effect(s: Record, ghost: int, zone: int) -> None:
    """Ask for the effect of `ghost`, just played in `zone`."""
    kind = int(KIND_OF[ghost])
    s["phase"] = kind + 1
    s["effect_zone"] = zone
    if kind == QUEEN:
        s["queen_family"] = FAMILY_OF[ghost]


@jit
def fleeing(s: Record) -> int:
    """The Occupant who chooses where to flee from a howler: they leave in order (R5)."""
    return lowest(int(s["occupants"][int(s["effect_zone"])]))


@jit
def carry_out(s: Record, action: int) -> bool:
    """Carry the effect out as chosen. True if it asks for more."""
    phase = int(s["phase"])
    zone = int(s["effect_zone"])
    seat = int(s["seat"])
    rival = 1 - seat
    if phase == ON_SQUATTER:
        place = place_taken(action)
        leave(s, rival, zone, place)
        arrive(s, seat, zone, place)
    elif phase == ON_CHARMER:
        occupant = 1 << (action - CHARM)
        for other in range(NUM_ZONES):
            if int(s["occupants"][other]) & occupant:
                s["occupants"][other] ^= occupant
        s["occupants"][zone] |= occupant
    elif phase == ON_HOWLER:
        occupant = 1 << fleeing(s)
        s["occupants"][zone] ^= occupant
        s["occupants"][action - FLEE] |= occupant
        return int(s["occupants"][zone]) != 0
    elif phase == ON_KNOCKER:
        ghost = ghost_seized(action)
        leave(s, rival, zone, ghost)
        discard(s, ghost)
    elif phase == ON_QUEEN:
        ghost = ghost_seized(action)
        leave(s, rival, zone_seized(action), ghost)
        arrive(s, seat, zone, ghost)
    else:
        ghost = action - RECOVER
        recover(s, ghost)
        s["hands"][seat] = with_card(s["hands"][seat], ghost)
        s["known"][seat] = with_card(s["known"][seat], ghost)
    return False


@jit
def eliminate(s: Record) -> None:
    """Every adult eliminates the Ghosts of a family from the apparitions of the zone that have no shelter (R7)."""
    for zone in range(NUM_ZONES):
        adults = int(s["occupants"][zone]) & ADULTS
        if adults == 0:
            continue
        victims = ELIMINATED[adults]
        for seat in range(NUM_SEATS):
            apparition = s["apparitions"][seat, zone]
            if apparition & victims != EMPTY and apparition & SHELTERS == EMPTY:
                banish(s, seat, zone, victims)
