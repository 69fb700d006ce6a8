"""A rule of thumb player for Phantom.

The rules in words:

* A zone is worth its Occupant when that one stands alone and would be taken in the coming fright: plus for oneself,
  minus for the opponent. It is worth a part of that when one card more would bring it about. Whatever stands there,
  a lead in fear is worth a little, since Places stay. Ghosts that an adult eliminates count for nothing.
* Of all cards in all zones the bot plays the one that adds most to the worth of the house, the best use of its effect
  included, and passes when none adds anything.
* The effects are chosen likewise: squatter, knocker and queen seize, a charmer calls and a howler drives away what
  adds most. An invoker recovers the Ghost of most fear.
* It draws Places until it holds enough of them, then Ghosts.
"""

from __future__ import annotations

from typing import Any

from phantom_envs.core.bits import EMPTY, count, drop_lowest, has, lowest
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.games.phantom.actions import (
    CHARM,
    DRAW_GHOST,
    DRAW_PLACE,
    FLEE,
    PASS,
    PLAYED_CARD,
    PLAYED_ZONE,
    RECOVER,
    ghost_seized,
    place_taken,
    zone_seized,
)
from phantom_envs.games.phantom.cards import card_of, with_card, without_card
from phantom_envs.games.phantom.components import (
    ADULTS,
    CHARMER,
    DREAD,
    ELIMINATED,
    FAMILY_GHOSTS,
    FAMILY_OF,
    FEAR,
    FEAR_DIGITS,
    FIRST_GHOSTS,
    GHOST_KINDS,
    GHOSTS,
    HOWLER,
    INVOKER,
    KIND_OF,
    KNOCKER,
    NEIGHBOURS,
    NUM_ZONES,
    PLACES,
    QUEEN,
    SHELTERS,
    SQUATTER,
    VICTORY_POINTS,
)
from phantom_envs.games.phantom.effects import fleeing
from phantom_envs.games.phantom.state import DRAW, ON_CHARMER, ON_HOWLER, ON_INVOKER, ON_KNOCKER, ON_SQUATTER, PLAY

TAKEN = 24  # worth of a victory point that the coming fright brings
NEAR = 4  # worth of a victory point that one more card would bring
LEAD = 4  # worth of a lead by one fear
MAX_LEAD = 8  # a greater lead is worth no more
REACH = 3  # fear that one more card brings
RECOVERY = 2  # worth of recovering a Ghost
PLACES_HELD = 2  # with as many Places in hand, Ghosts are drawn


@jit
def rule_action(s: Record, words: Any) -> int:
    """The choice of the rules above for the seat to act."""
    phase = int(s["phase"])
    if phase == PLAY:
        return choose_play(s, words)
    if phase == DRAW:
        return choose_pile(s, words)
    if phase == ON_HOWLER:
        return FLEE + refuge(s, house_of(s), fleeing(s), int(s["effect_zone"]))
    return choose_effect(s, words, phase)


@jit
def choose_play(s: Record, words: Any) -> int:
    """The play that adds most, or to pass."""
    best, best_gain = PASS, 0
    for word in range(len(words)):
        left = words[word]
        while left != EMPTY:
            action = 64 * word + lowest(left)
            left = drop_lowest(left)
            if action != PASS:
                gain = gain_of_play(s, int(PLAYED_CARD[action]), int(PLAYED_ZONE[action]))
                if gain > best_gain:
                    best, best_gain = action, gain
    return best


@jit
def choose_effect(s: Record, words: Any, phase: int) -> int:
    """The choice that adds most, the first of equal ones."""
    zone = int(s["effect_zone"])
    own = s["apparitions"][int(s["seat"]), zone]
    best, best_gain = -1, 0
    for word in range(len(words)):
        left = words[word]
        while left != EMPTY:
            action = 64 * word + lowest(left)
            left = drop_lowest(left)
            if phase == ON_CHARMER:
                gain = gain_of_charm(s, own, zone, action - CHARM)
            elif phase == ON_INVOKER:
                gain = int(FEAR[action - RECOVER])
            else:
                card, source = place_taken(action), zone
                if phase != ON_SQUATTER:
                    card, source = ghost_seized(action), zone_seized(action)
                gain = gain_of_seizure(s, own, zone, card, source, phase != ON_KNOCKER)
            if best < 0 or gain > best_gain:
                best, best_gain = action, gain
    return best


@jit
def choose_pile(s: Record, words: Any) -> int:
    """Places until enough are held, then Ghosts; the other pile if that one is empty."""
    places = count(s["hands"][int(s["seat"])] & PLACES)
    can_ghost, can_place = has(words[DRAW_GHOST >> 6], DRAW_GHOST & 63), has(words[DRAW_PLACE >> 6], DRAW_PLACE & 63)
    if can_place and (places < PLACES_HELD or not can_ghost):
        return DRAW_PLACE
    return DRAW_GHOST


@jit
def fear_of(cards: Any) -> int:
    """Sum of the fear of a set of cards."""
    return count(cards & FEAR_DIGITS[0]) + 2 * count(cards & FEAR_DIGITS[1]) + 4 * count(cards & FEAR_DIGITS[2])


@jit
def worth(occupants: int, own: Any, opposing: Any) -> int:
    """Worth of a zone with these Occupants and apparitions to the seat to act, at the end of its playing."""
    victims = ELIMINATED[occupants & ADULTS]
    if own & SHELTERS == EMPTY:
        own &= ~victims
    if opposing & SHELTERS == EMPTY:
        opposing &= ~victims
    fear, rival = fear_of(own), fear_of(opposing)
    total = LEAD * min(max(fear - rival, -MAX_LEAD), MAX_LEAD)
    if occupants != 0 and occupants & (occupants - 1) == 0:
        occupant = lowest(occupants)
        dread, points = int(DREAD[occupant]), int(VICTORY_POINTS[occupant])
        if fear >= dread and fear >= rival:
            total += TAKEN * points
        elif rival >= dread:
            total -= TAKEN * points
        elif fear + REACH >= dread and fear + REACH >= rival:
            total += NEAR * points
        if max(fear, rival) < dread and rival + REACH >= dread and rival + REACH >= fear:
            total -= 2 * NEAR * points
    return total


@jit
def worth_of(s: Record, zone: int, occupants: int) -> int:
    """Worth of a zone as it is but with these Occupants."""
    seat = int(s["seat"])
    return worth(occupants, s["apparitions"][seat, zone], s["apparitions"][1 - seat, zone])


@jit
def house_of(s: Record) -> int:
    """All Occupants in one number, a byte per zone from the garden."""
    house = 0
    for zone in range(NUM_ZONES):
        house |= int(s["occupants"][zone]) << (8 * zone)
    return house


@jit
def gain_of_play(s: Record, card: int, zone: int) -> int:
    """What a card played in a zone adds, with the best use of its effect."""
    seat = int(s["seat"])
    occupants = int(s["occupants"][zone])
    before, opposing = s["apparitions"][seat, zone], s["apparitions"][1 - seat, zone]
    own = with_card(before, card)
    presence = worth(occupants, own, opposing) - worth(occupants, before, opposing)
    if card >= GHOST_KINDS:
        return presence
    kind = int(KIND_OF[card])
    if kind == CHARMER:
        return presence + best_charm(s, own, zone)
    if kind == HOWLER:
        return presence + gain_of_howl(s, own, zone)
    if kind == INVOKER:
        return presence + (RECOVERY if s["discarded"] != EMPTY else 0)
    return presence + best_seizure(s, own, zone, card)


@jit
def gain_of_seizure(s: Record, own: Any, zone: int, card: int, source: int, kept: bool) -> int:
    """What it adds to seize `card` from the opponent in `source`, for the own apparition `own` of `zone` if kept."""
    seat = int(s["seat"])
    lost, opposing = s["apparitions"][1 - seat, source], s["apparitions"][1 - seat, zone]
    left = without_card(lost, card)
    taken = with_card(own, card) if kept else own
    here, there = int(s["occupants"][zone]), int(s["occupants"][source])
    gain = worth(here, taken, left if source == zone else opposing) - worth(here, own, opposing)
    if source != zone:
        beside = s["apparitions"][seat, source]
        gain += worth(there, beside, left) - worth(there, beside, lost)
    return gain


@jit
def best_seizure(s: Record, own: Any, zone: int, ghost: int) -> int:
    """The most that a squatter, knocker or queen in `zone` adds by what it seizes, 0 if there is nothing to seize."""
    kind = int(KIND_OF[ghost])
    wanted = GHOSTS
    if kind == SQUATTER:
        wanted = PLACES
    elif kind == QUEEN:
        wanted = FAMILY_GHOSTS[int(FAMILY_OF[ghost])] & FIRST_GHOSTS
    best = 0
    found = False
    for source in range(NUM_ZONES):
        if source != zone and kind != QUEEN:
            continue
        cards = s["apparitions"][1 - int(s["seat"]), source] & wanted
        while cards != EMPTY:
            gain = gain_of_seizure(s, own, zone, card_of(lowest(cards)), source, kind != KNOCKER)
            cards = drop_lowest(cards)
            if not found or gain > best:
                best = gain
            found = True
    return best


@jit
def gain_of_charm(s: Record, own: Any, zone: int, occupant: int) -> int:
    """What it adds to call an Occupant of another zone to the own apparition `own` of `zone`."""
    opposing = s["apparitions"][1 - int(s["seat"]), zone]
    here = int(s["occupants"][zone])
    gain = worth(here | 1 << occupant, own, opposing) - worth(here, own, opposing)
    for source in range(NUM_ZONES):
        there = int(s["occupants"][source])
        if there >> occupant & 1:
            gain += worth_of(s, source, there ^ 1 << occupant) - worth_of(s, source, there)
    return gain


@jit
def best_charm(s: Record, own: Any, zone: int) -> int:
    """The most that calling an Occupant adds, 0 if there is none elsewhere."""
    best = 0
    found = False
    for source in range(NUM_ZONES):
        left = int(s["occupants"][source])
        if source == zone:
            continue
        while left != 0:
            gain = gain_of_charm(s, own, zone, lowest(left))
            left &= left - 1
            if not found or gain > best:
                best = gain
            found = True
    return best


@jit
def refuge(s: Record, house: int, occupant: int, zone: int) -> int:
    """The neighbour of `zone` to which it is best that an Occupant flees, with the others as in `house`."""
    best, best_gain = -1, 0
    for neighbour in range(NUM_ZONES):
        if int(NEIGHBOURS[zone]) >> neighbour & 1:
            there = house >> (8 * neighbour) & 127
            gain = worth_of(s, neighbour, there | 1 << occupant) - worth_of(s, neighbour, there)
            if best < 0 or gain > best_gain:
                best, best_gain = neighbour, gain
    return best


@jit
def gain_of_howl(s: Record, own: Any, zone: int) -> int:
    """What it adds when the Occupants of a zone flee one by one, each to where it is best then."""
    house = house_of(s)
    opposing = s["apparitions"][1 - int(s["seat"]), zone]
    left = house >> (8 * zone) & 127
    gain = worth(0, own, opposing) - worth(left, own, opposing)
    while left != 0:
        occupant = lowest(left)
        left &= left - 1
        neighbour = refuge(s, house, occupant, zone)
        there = house >> (8 * neighbour) & 127
        gain += worth_of(s, neighbour, there | 1 << occupant) - worth_of(s, neighbour, there)
        house |= 1 << (8 * neighbour + occupant)
    return gain
