"""The rules of Das Phantom; the rulings R1-R31 stand in docs/rules, later ones in docs/rulings.

`movement`, `items`, `piles` and `rounds` hold the rules part by part; here they are tied together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.games.das_phantom import items, movement, piles, rounds
from phantom_envs.games.das_phantom.actions import (
    DIE_ACTION,
    DISCARD_ACTION,
    END,
    LEAVE,
    PLAY_ACTION,
    ROB_ACTION,
    ROOM_ACTION,
    SHIFT,
    STAY,
    TAKE_ACTION,
    TOWARD_ACTION,
    USE_ACTION,
)
from phantom_envs.games.das_phantom.components import (
    ENCORE,
    HAND_LIMIT,
    MASK_FACE,
    MAX_PLAYERS,
    NUM_FACES,
    NUM_ITEMS,
    NUM_PILES,
    NUM_ROOMS,
    NUM_TILES,
    PASSAGE,
    PATH_CELLS,
    PATH_WALL,
    PHANTOM_ROOM,
    PHANTOM_STEPS,
    ROSE_CELLS,
    START,
    SWAP,
)
from phantom_envs.games.das_phantom.hexes import either, is_empty, load, store
from phantom_envs.games.das_phantom.state import (
    AFTER,
    AT,
    CHASE,
    DIE,
    HAUNT,
    MOVE,
    PHANTOM,
    ROB,
    SHIFT_FROM,
    SHIFT_TO,
    SWAP_FROM,
    SWAP_WITH,
    SWIFT,
    TAKE,
    TOWARD,
)

SINGLE_TILES = 0b11
DOUBLE_TILES = 0b11100
BLOCKED_TURNS = 2  # so many before open the shift to any die


@jit
def deal(s: Record) -> None:
    """Set up a new game."""
    store(s["paths"], PATH_CELLS)
    store(s["roses_left"], ROSE_CELLS)
    for seat in range(MAX_PLAYERS):
        s["pawns"][seat] = START
    s["phantom"] = PHANTOM_ROOM
    s["round"] = 1
    movement.clear_turn(s)
    piles.fill_piles(s)
    rounds.start_round(s)


@jit
def add(words: Any, first: int, members: int) -> None:
    """Add the actions `first` + i for i in the set `members` (below 64)."""
    word, shift = first >> 6, first & 63
    bits = np.uint64(members)
    words[word] |= bits << np.uint64(shift)
    if shift > 0 and word + 1 < len(words):
        words[word + 1] |= bits >> np.uint64(64 - shift)


@jit
def legal(s: Record, words: Any) -> None:
    """The set of actions the seat to act may choose from, by phase."""
    phase = int(s["phase"])
    for word in range(len(words)):
        words[word] = EMPTY
    if phase in (MOVE, SWIFT):
        store(words, either(load(s["exact"]), load(s["early"])))
        add(words, STAY, 1)
        if phase == MOVE:
            offer_items(s, words)
            if may_shift(s):
                add(words, SHIFT, 1)
    elif phase == AFTER:
        offer_items(s, words)
        if piles.hand_size(s, int(s["seat"])) > HAND_LIMIT:
            add(words, DISCARD_ACTION, holding(s, int(s["seat"])))
        else:
            add(words, END, 1)
    elif phase == DIE:
        for face in range(NUM_FACES):
            if int(s["dice"][face]) > 0:
                add(words, DIE_ACTION + face, 1)
    elif phase == TAKE:
        for pile in range(NUM_PILES):
            if piles.has_left(s, pile):
                add(words, TAKE_ACTION + pile, 1)
        add(words, LEAVE, 1)
    elif phase == PHANTOM:
        store(words, load(PHANTOM_STEPS[int(s["phantom"])]))
    elif phase == CHASE:
        store(words, rounds.refuges(s, int(s["to_chase"][0])))
    elif phase == HAUNT:
        add(words, ROOM_ACTION, (1 << NUM_ROOMS) - 1)
    elif phase == ROB:
        add(words, ROB_ACTION, movement.robbable(s, int(s["seat"])))
        add(words, LEAVE, 1)
    elif phase == AT:
        store(words, items.places(items.layable(s), int(s["using"])))
    elif phase == TOWARD:
        add(words, TOWARD_ACTION, items.directions(s))
    elif phase == SWAP_FROM:
        store(words, items.swappable(s))
    elif phase == SWAP_WITH:
        store(words, items.swap_partners(s))
    elif phase == SHIFT_FROM:
        store(words, items.loose(s))
    elif phase == SHIFT_TO:
        store(words, items.layable(s))


@jit
def holding(s: Record, seat: int) -> int:
    """The set of kinds in a hand."""
    kinds = 0
    for kind in range(NUM_ITEMS):
        if int(s["hands"][seat, kind]) > 0:
            kinds |= 1 << kind
    return kinds


@jit
def offer_items(s: Record, words: Any) -> None:
    """Add the tiles that have a place, and the cards that have a use."""
    kinds = piles.playable(s, int(s["seat"]))
    if kinds & (SINGLE_TILES | DOUBLE_TILES):
        free = items.layable(s)
        if is_empty(free):
            kinds &= ~SINGLE_TILES
        if kinds & DOUBLE_TILES and is_empty(items.places(free, PATH_WALL)):
            kinds &= ~DOUBLE_TILES
    if int(s["passage"]):  # R27
        kinds &= ~(1 << PASSAGE)
    if kinds >> SWAP & 1 and is_empty(items.swappable(s)):
        kinds &= ~(1 << SWAP)
    if int(s["phase"]) != AFTER:  # R28
        kinds &= ~(1 << ENCORE)
    add(words, USE_ACTION, kinds)


@jit
def may_shift(s: Record) -> bool:
    """Whether a blocked player may move a laid hex."""
    seat = int(s["seat"])
    if int(s["shifted"]) or (int(s["face"]) != MASK_FACE and int(s["blocked"][seat]) < BLOCKED_TURNS):
        return False
    return movement.is_blocked(s, seat) and not is_empty(items.loose(s)) and not is_empty(items.layable(s))


@jit
def apply(s: Record, action: int) -> None:
    """Play a legal action; a cell or a room does what the phase says."""
    if action < ROOM_ACTION:
        choose_cell(s, action)
    elif action < DIE_ACTION:
        if int(s["phase"]) == HAUNT:
            rounds.haunt(s, action)
        else:
            rounds.step(s, action)
    elif action < STAY:
        rounds.choose_die(s, action - DIE_ACTION)
    elif action == STAY:
        movement.stay(s)
    elif action == END:
        rounds.end_turn(s)
    elif action == LEAVE:
        if int(s["phase"]) == ROB:
            movement.visit(s, True)
        else:
            movement.take_no_more(s)
    elif action == SHIFT:
        items.shift(s)
    elif action < ROB_ACTION:
        movement.take(s, action - TAKE_ACTION)
    elif action < USE_ACTION:
        movement.rob(s, action - ROB_ACTION + 1)
    elif action < PLAY_ACTION:
        items.use(s, action - USE_ACTION)
    elif action < DISCARD_ACTION:
        items.play(s, NUM_TILES + action - PLAY_ACTION)
    elif action < TOWARD_ACTION:
        piles.discard(s, int(s["seat"]), action - DISCARD_ACTION)
    else:
        items.lay_toward(s, action - TOWARD_ACTION)
    if int(s["phase"]) in (MOVE, SWIFT):
        movement.find_reach(s)


@jit
def choose_cell(s: Record, cell: int) -> None:
    """What choosing a cell means, by phase."""
    phase = int(s["phase"])
    if phase in (MOVE, SWIFT):
        movement.go(s, cell)
    elif phase == PHANTOM:
        rounds.step(s, cell)
    elif phase == CHASE:
        rounds.chase(s, cell)
    elif phase == AT:
        items.lay_at(s, cell)
    elif phase == SWAP_FROM:
        items.swap_from(s, cell)
    elif phase == SWAP_WITH:
        items.swap_with(s, cell)
    elif phase == SHIFT_FROM:
        items.shift_from(s, cell)
    else:
        items.shift_to(s, cell)
