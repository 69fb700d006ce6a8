"""The rules of Phantom: setup and course of a turn. Rulings R1-R16 stand in docs/rules, later ones in docs/rulings."""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY, bit, count, drop_lowest, lowest
from phantom_envs.core.game import TERMINATED, Record
from phantom_envs.core.jit import jit
from phantom_envs.core.rng import shuffle
from phantom_envs.games.phantom.actions import (
    CHARM,
    DRAW_GHOST,
    DRAW_PLACE,
    FLEE,
    PASS,
    PLACE_PLAYS,
    PLAY_PLACE,
    PLAYED_CARD,
    PLAYED_ZONE,
    RECOVER,
    SEIZE,
    TAKE_PLACE,
    ZONE_PLACE_PLAYS,
)
from phantom_envs.games.phantom.cards import arrive, banish, with_card, without_card
from phantom_envs.games.phantom.components import (
    DEALT_GHOSTS,
    DEALT_PLACES,
    DREAD,
    FAMILY_GHOSTS,
    FIRST_GHOSTS,
    GHOST_COPIES,
    GHOST_KINDS,
    GHOSTS,
    HAND_SIZE,
    MAX_TURNS,
    NEIGHBOURS,
    NUM_OCCUPANTS,
    NUM_SEATS,
    NUM_ZONES,
    PILED_PLACES,
    PLACES,
    PRIEST,
    START_PLACES,
    VICTORY_POINTS,
    WINNING_SCORE,
)
from phantom_envs.games.phantom.effects import begin_effect, carry_out, eliminate, has_choice
from phantom_envs.games.phantom.state import (
    DRAW,
    ON_CHARMER,
    ON_HOWLER,
    ON_KNOCKER,
    ON_QUEEN,
    ON_SQUATTER,
    OVER,
    PLAY,
)


@jit
def deal(s: Record) -> None:
    """Set up a new game."""
    s["turn"] = 1
    s["effect_zone"] = -1
    s["queen_family"] = -1
    for row in range(len(START_PLACES)):
        arrive(s, int(START_PLACES[row, 2]), int(START_PLACES[row, 1]), int(START_PLACES[row, 0]))
    for position in range(len(GHOST_COPIES)):
        s["ghost_pile"][position] = GHOST_COPIES[position]
    for position in range(len(PILED_PLACES)):
        s["place_pile"][position] = PILED_PLACES[position]
    s["num_ghost_pile"] = len(GHOST_COPIES)
    s["num_place_pile"] = len(PILED_PLACES)
    shuffle(s["rng"], s["ghost_pile"], len(GHOST_COPIES))
    shuffle(s["rng"], s["place_pile"], len(PILED_PLACES))
    for seat in range(NUM_SEATS):
        for _ in range(DEALT_GHOSTS[seat]):
            draw_ghost(s, seat)
        for _ in range(DEALT_PLACES[seat]):
            draw_place(s, seat)
    place_occupants(s)
    free_zones(s)
    begin_turn(s, 0)


@jit
def place_occupants(s: Record) -> None:
    """One Occupant into the garden, two into each other zone (R3)."""
    line = s["taken"][0]  # room to shuffle in, without meaning while nothing is taken
    for occupant in range(NUM_OCCUPANTS):
        line[occupant] = occupant
    shuffle(s["rng"], line, NUM_OCCUPANTS)
    for position in range(NUM_OCCUPANTS):
        s["occupants"][(position + 1) >> 1] |= 1 << int(line[position])


@jit
def begin_turn(s: Record, seat: int) -> None:
    """Ask `seat` for a card."""
    s["seat"] = seat
    s["phase"] = PLAY


@jit
def free_zones(s: Record) -> None:
    """Let a card be played in every zone."""
    s["num_zones_played"] = 0
    s["zones_free"] = (1 << NUM_ZONES) - 1


@jit
def legal(s: Record, words: Any) -> None:
    """The legal actions of the seat to act."""
    phase = int(s["phase"])
    for word in range(len(words)):
        words[word] = EMPTY
    if phase == PLAY:
        legal_plays(s, words)
    elif phase == DRAW:
        if can_draw_ghost(s):
            add_bits(words, DRAW_GHOST, bit(0))
        if int(s["num_place_pile"]) > 0:
            add_bits(words, DRAW_PLACE, bit(0))
    elif phase != OVER:
        legal_choices(s, phase, words)


@jit
def legal_plays(s: Record, words: Any) -> None:
    """Any card of the hand in any zone it may enter and that is free, or a pass."""
    hand = s["hands"][int(s["seat"])]
    free = int(s["zones_free"])
    words[0] = by_four(hand & np.uint64(0xFFFF)) * np.uint64(free)
    words[1] = by_four((hand & FIRST_GHOSTS) >> np.uint64(16)) * np.uint64(free)
    places = (hand & PLACES) >> np.uint64(GHOST_KINDS)
    plays = EMPTY
    while places != EMPTY:
        plays |= PLACE_PLAYS[lowest(places)]
        places = drop_lowest(places)
    add_bits(words, PLAY_PLACE, plays & ZONE_PLACE_PLAYS[free])
    add_bits(words, PASS, bit(0))


@jit
def legal_choices(s: Record, phase: int, words: Any) -> None:
    """The choices of an effect."""
    zone = int(s["effect_zone"])
    rival = 1 - int(s["seat"])
    if phase == ON_SQUATTER:
        add_bits(words, TAKE_PLACE, (s["apparitions"][rival, zone] & PLACES) >> np.uint64(GHOST_KINDS))
    elif phase == ON_CHARMER:
        elsewhere = 0
        for other in range(NUM_ZONES):
            if other != zone:
                elsewhere |= int(s["occupants"][other])
        add_bits(words, CHARM, np.uint64(elsewhere))
    elif phase == ON_HOWLER:
        add_bits(words, FLEE, np.uint64(NEIGHBOURS[zone]))
    elif phase == ON_KNOCKER:
        add_seizures(words, s["apparitions"][rival, zone] & FIRST_GHOSTS, zone)
    elif phase == ON_QUEEN:
        family = FAMILY_GHOSTS[int(s["queen_family"])] & FIRST_GHOSTS
        for other in range(NUM_ZONES):
            add_seizures(words, s["apparitions"][rival, other] & family, other)
    else:
        add_bits(words, RECOVER, s["discarded"] & FIRST_GHOSTS)


@jit
def by_four(members: Any) -> Any:
    """The set {4 i: i in members} for a set of numbers below 16."""
    members = (members | members << np.uint64(24)) & np.uint64(0x000000FF000000FF)
    members = (members | members << np.uint64(12)) & np.uint64(0x000F000F000F000F)
    members = (members | members << np.uint64(6)) & np.uint64(0x0303030303030303)
    return (members | members << np.uint64(3)) & np.uint64(0x1111111111111111)


@jit
def add_bits(words: Any, start: int, members: Any) -> None:
    """Add {start + i: i in members} to the set of actions."""
    word = start >> 6
    shift = start & 63
    words[word] |= members << np.uint64(shift)
    if shift > 0 and word + 1 < len(words):
        words[word + 1] |= members >> np.uint64(64 - shift)


@jit
def add_seizures(words: Any, ghosts: Any, zone: int) -> None:
    """Add the actions that seize one of `ghosts` in `zone`."""
    add_bits(words, SEIZE, by_four(ghosts & np.uint64(0xFFFF)) << np.uint64(zone))
    add_bits(words, SEIZE + 64, by_four(ghosts >> np.uint64(16)) << np.uint64(zone))


@jit
def can_draw_ghost(s: Record) -> bool:
    """Whether the Ghost pile, replaced by the discard pile if need be, has anything to give (R11)."""
    return int(s["num_ghost_pile"]) + int(s["num_discards"]) > 0


@jit
def apply(s: Record, action: int) -> None:
    """Play a card, pass, choose what an effect asks for, or draw."""
    phase = int(s["phase"])
    if phase == DRAW:
        draw(s, action)
        return
    if action != PASS:
        asks = play(s, int(PLAYED_CARD[action]), int(PLAYED_ZONE[action])) if phase == PLAY else carry_out(s, action)
        if asks:
            return
        end_card(s)
        if int(s["num_zones_played"]) < int(s["plays"]):
            return
    end_playing(s)


@jit
def play(s: Record, card: int, zone: int) -> bool:
    """Play a card of the hand in a zone; of two equal ones the known goes first (R16). True if its effect asks."""
    seat = int(s["seat"])
    s["hands"][seat] = without_card(s["hands"][seat], card)
    if s["known"][seat] & bit(card) != EMPTY:
        s["known"][seat] = without_card(s["known"][seat], card)
    arrive(s, seat, zone, card)
    s["zones_played"][int(s["num_zones_played"])] = zone
    s["num_zones_played"] += 1
    s["zones_free"] ^= 1 << zone
    if card < GHOST_KINDS and has_choice(s, card, zone):
        begin_effect(s, card, zone)
        return True
    return False


@jit
def end_card(s: Record) -> None:
    """After a card and its effect the adults strike (R7)."""
    s["phase"] = PLAY
    s["effect_zone"] = -1
    s["queen_family"] = -1
    eliminate(s)


@jit
def end_playing(s: Record) -> None:
    """Fright, then the end of the game (R13) or the drawing."""
    fright(s)
    free_zones(s)
    own, rival = int(s["scores"][0]), int(s["scores"][1])
    if own >= WINNING_SCORE or rival >= WINNING_SCORE or int(s["turn"]) == MAX_TURNS:
        s["winners"] = 1 if own > rival else 2 if rival > own else 3
        s["status"] = TERMINATED
        s["phase"] = OVER
        s["seat"] = -1
    else:
        go_on_drawing(s)


@jit
def fright(s: Record) -> None:
    """In every zone with a single Occupant, whoever frightens it most takes it (R8)."""
    seat = int(s["seat"])
    rival = 1 - seat
    for zone in range(NUM_ZONES):
        occupants = int(s["occupants"][zone])
        if occupants == 0 or occupants & (occupants - 1) != 0:
            continue
        dread = int(DREAD[lowest(occupants)])
        own, opposing = int(s["fear"][seat, zone]), int(s["fear"][rival, zone])
        mine = own >= dread and own >= opposing
        if mine or opposing >= dread:
            take(s, seat if mine else rival, zone, lowest(occupants))


@jit
def take(s: Record, seat: int, zone: int, occupant: int) -> None:
    """Take the only Occupant of a zone, and the Priest with the last of the house (R10); discard the Ghosts (R9)."""
    s["occupants"][zone] = 0
    add_taken(s, seat, occupant)
    if int(s["num_taken"][0]) + int(s["num_taken"][1]) == NUM_OCCUPANTS:
        add_taken(s, seat, PRIEST)
    banish(s, seat, zone, GHOSTS)


@jit
def add_taken(s: Record, seat: int, occupant: int) -> None:
    """Book an Occupant, or the Priest."""
    s["taken"][seat, int(s["num_taken"][seat])] = occupant
    s["num_taken"][seat] += 1
    s["taken_set"][seat] |= 1 << occupant
    s["scores"][seat] += VICTORY_POINTS[occupant]
    s["points"][seat] += VICTORY_POINTS[occupant]


@jit
def go_on_drawing(s: Record) -> None:
    """Ask for a card to draw while the hand is not full and there is one; then it is the other's turn."""
    seat = int(s["seat"])
    if count(s["hands"][seat]) < HAND_SIZE and (can_draw_ghost(s) or int(s["num_place_pile"]) > 0):
        s["phase"] = DRAW
    else:
        s["turn"] += 1
        begin_turn(s, 1 - seat)


@jit
def draw(s: Record, action: int) -> None:
    """Draw the top card of a pile; an empty Ghost pile is replaced first."""
    if action == DRAW_PLACE:
        draw_place(s, int(s["seat"]))
    else:
        if int(s["num_ghost_pile"]) == 0:
            replace_ghost_pile(s)
        draw_ghost(s, int(s["seat"]))
    go_on_drawing(s)


@jit
def draw_ghost(s: Record, seat: int) -> None:
    """Move the top of the Ghost pile into a hand."""
    s["num_ghost_pile"] -= 1
    s["hands"][seat] = with_card(s["hands"][seat], int(s["ghost_pile"][int(s["num_ghost_pile"])]))


@jit
def draw_place(s: Record, seat: int) -> None:
    """Move the top of the Place pile into a hand."""
    s["num_place_pile"] -= 1
    s["hands"][seat] = with_card(s["hands"][seat], int(s["place_pile"][int(s["num_place_pile"])]))


@jit
def replace_ghost_pile(s: Record) -> None:
    """Shuffle the discard pile into the empty Ghost pile; the Ghosts in both hands become known (R11)."""
    size = int(s["num_discards"])
    for position in range(size):
        s["ghost_pile"][position] = s["discards"][position]
    s["num_ghost_pile"] = size
    s["num_discards"] = 0
    s["discarded"] = EMPTY
    shuffle(s["rng"], s["ghost_pile"], size)
    for seat in range(NUM_SEATS):
        s["known"][seat] = s["hands"][seat] & GHOSTS
