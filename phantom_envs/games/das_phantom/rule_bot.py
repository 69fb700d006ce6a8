"""A rule of thumb player for Das Phantom.

The goals are what is still missing: the violin spaces without a violin, and without enough roses the rose spaces that
have theirs and players who could be robbed; with all of it, the finish.

* It takes the die that lands on a goal by exact count; else one that lands on a torch; else the longest, where the
  mask counts as a little longer for its item.
* It moves onto a goal by exact count, else onto a torch that gives a roll; else where the way over path spaces to the
  next goal is shortest. Before a move that would miss, it plays a swift card or a passage that makes one hit.
* If no way leads to a goal, it plays a passage, or makes a path of the wall around its region that is nearest to a
  goal, by a single tile or a swap.
* After the move it plays swift cards that hit and every encore. It robs, takes magic cards only, and over the hand
  limit discards tiles, then swaps, then the rest.
* Blocked in, it shifts a hex away from beside its pawn, if it may.
* The Phantom walks towards the others and not onto its own pawn; the chased go as far up the board as they can.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY, lowest
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.games.das_phantom.actions import (
    DIE_ACTION,
    DISCARD_ACTION,
    END,
    PLAY_ACTION,
    ROB_ACTION,
    SHIFT,
    STAY,
    TAKE_ACTION,
    USE_ACTION,
)
from phantom_envs.games.das_phantom.components import (
    ENCORE,
    FINISH_CELL,
    LEAST_STEPS,
    MAGIC,
    MASK_FACE,
    MOST_STEPS,
    NEAR,
    NUM_FACES,
    NUM_TILES,
    NUM_TORCHES,
    OUTSIDE_ROOMS,
    PASSAGE,
    PATH_TILE,
    SWAP,
    SWIFT_STEPS,
    TORCHES,
    VIOLIN_CELLS,
)
from phantom_envs.games.das_phantom.hexes import (
    NOWHERE,
    both,
    either,
    flood,
    inside,
    is_empty,
    load,
    lowest_cell,
    nearest,
    neighbours,
    only,
    without,
)
from phantom_envs.games.das_phantom.movement import closed, may_finish, reach, required_roses
from phantom_envs.games.das_phantom.state import (
    AFTER,
    AT,
    DIE,
    MOVE,
    PHANTOM,
    ROB,
    SHIFT_FROM,
    SHIFT_TO,
    SWAP_FROM,
    SWIFT,
)

HIT, TORCH, ITEM = 1000, 100, 3
"""What a die is worth that lands on a goal, on a torch, or brings an item; its steps are added."""


WAY_OPENERS = (
    SHIFT,
    PLAY_ACTION + PASSAGE - NUM_TILES,
    USE_ACTION + PATH_TILE,
    PLAY_ACTION + SWAP - NUM_TILES,
)


@jit
def rule_action(s: Record, words: Any) -> int:
    """The bot's choice for the seat to act."""
    phase = int(s["phase"])
    if phase == DIE:
        return choose_die(s)
    if phase in (MOVE, SWIFT):
        return choose_move(s, words)
    if phase == AFTER:
        card = useful_card(s, words, goals(s))
        if card >= 0:
            return card
        return END if inside(words, END) else choose_discard(words)
    if phase == ROB:
        return first_from(words, ROB_ACTION)
    if inside(words, TAKE_ACTION + MAGIC):
        return TAKE_ACTION + MAGIC
    return choose_cell(s, words)


@jit
def first_from(words: Any, least: int) -> int:
    """The lowest legal action from `least` on, -1 if there is none."""
    members = words[least >> 6] >> np.uint64(least & 63)
    if members != EMPTY:
        return least + lowest(members)
    for word in range((least >> 6) + 1, len(words)):
        if words[word] != EMPTY:
            return 64 * word + lowest(words[word])
    return -1


@jit
def goals(s: Record) -> Any:
    """Where the seat to act wants to land."""
    seat = int(s["seat"])
    if may_finish(s, seat):
        return FINISH_CELL
    board = NOWHERE
    if not int(s["violins"]) >> seat & 1:
        board = VIOLIN_CELLS
    if int(s["roses"][seat]) < required_roses(s):
        board = either(board, load(s["roses_left"]))
        if not int(s["met"]):
            for other in range(int(s["num_players"])):
                if other != seat and int(s["roses"][other]) > 0:
                    board = either(board, only(int(s["pawns"][other])))
    return board


@jit
def torches(s: Record) -> Any:
    """The torch spaces that still give a roll this turn."""
    board = NOWHERE
    for torch in range(NUM_TORCHES):
        if not int(s["torches"]) >> torch & 1:
            board = either(board, only(int(TORCHES[torch])))
    return without(board, load(s["laid"]))


@jit
def choose_die(s: Record) -> int:
    """The die that is worth most."""
    seat = int(s["seat"])
    wanted, lights = goals(s), torches(s)
    best, best_worth = -1, -1
    for face in range(NUM_FACES):
        if int(s["dice"][face]) == 0:
            continue
        steps = int(MOST_STEPS[face])
        exact, _ = reach(s, seat, int(LEAST_STEPS[face]), steps, False)
        worth = steps + (ITEM if face == MASK_FACE else 0)
        if not is_empty(both(exact, wanted)):
            worth += HIT
        elif not is_empty(both(exact, lights)):
            worth += TORCH
        if worth > best_worth:
            best, best_worth = face, worth
    return DIE_ACTION + best


@jit
def useful_card(s: Record, words: Any, wanted: Any) -> int:
    """The card to play now, as an action; -1 for none."""
    seat = int(s["seat"])
    for card in range(2):
        if inside(words, PLAY_ACTION + card):
            steps = int(SWIFT_STEPS[card])
            exact, _ = reach(s, seat, steps, steps, int(s["passage"]) != 0)
            if not is_empty(both(exact, wanted)):
                return PLAY_ACTION + card
    if int(s["phase"]) == MOVE and inside(words, PLAY_ACTION + PASSAGE - NUM_TILES):
        face = int(s["face"])
        exact, _ = reach(s, seat, int(LEAST_STEPS[face]), int(MOST_STEPS[face]), True)
        if not is_empty(both(exact, wanted)):
            return PLAY_ACTION + PASSAGE - NUM_TILES
    if inside(words, PLAY_ACTION + ENCORE - NUM_TILES):
        return PLAY_ACTION + ENCORE - NUM_TILES
    return -1


@jit
def choose_move(s: Record, words: Any) -> int:
    """Where to go, or what to do before."""
    seat = int(s["seat"])
    wanted = goals(s)
    exact, early = load(s["exact"]), load(s["early"])
    hits = both(exact, wanted)
    if not is_empty(hits):
        return lowest_cell(hits)
    if int(s["phase"]) == MOVE:
        card = useful_card(s, words, wanted)
        if card >= 0:
            return card
    lights = both(exact, torches(s))
    if not is_empty(lights):
        return lowest_cell(lights)
    ends = without(either(exact, early), wanted)
    ground = without(load(s["paths"]), closed(s, seat))
    best = nearest(wanted, ground, ends)
    if is_empty(best):
        opener = way_opener(words)
        if opener >= 0:
            return opener
        best = nearest(wanted, OUTSIDE_ROOMS, ends)
    return lowest_cell(best) if not is_empty(best) else STAY


@jit
def way_opener(words: Any) -> int:
    """What may open a way through walls, as an action; -1 for nothing."""
    for action in WAY_OPENERS:
        if inside(words, action):
            return action
    return -1


@jit
def choose_discard(words: Any) -> int:
    """What to discard of a hand too large."""
    least = first_from(words, DISCARD_ACTION)
    if least >= DISCARD_ACTION + NUM_TILES and inside(words, DISCARD_ACTION + SWAP):
        return DISCARD_ACTION + SWAP
    return least


@jit
def choose_cell(s: Record, words: Any) -> int:
    """A cell for a tile, a shift, the Phantom or whom it chases; else the first legal action."""
    seat, phase = int(s["seat"]), int(s["phase"])
    pawn = only(int(s["pawns"][seat]))
    legal = both(load(words), OUTSIDE_ROOMS)
    best = NOWHERE
    if phase in (AT, SWAP_FROM):
        ground = without(load(s["paths"]), closed(s, seat))
        rim = without(neighbours(flood(pawn, ground)), ground)
        best = nearest(goals(s), OUTSIDE_ROOMS, both(rim, legal))
    elif phase == SHIFT_FROM:
        best = both(legal, load(NEAR[int(s["pawns"][seat])]))
    elif phase == SHIFT_TO:
        best = without(legal, load(NEAR[int(s["pawns"][seat])]))
    elif phase == PHANTOM:
        others = NOWHERE
        for other in range(int(s["num_players"])):
            if other != seat:
                others = either(others, only(int(s["pawns"][other])))
        best = nearest(others, OUTSIDE_ROOMS, without(legal, pawn))
    return lowest_cell(best) if not is_empty(best) else first_from(words, 0)
