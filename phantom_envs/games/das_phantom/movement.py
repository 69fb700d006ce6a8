"""A player's moves: where they may end, and what a landing brings."""

from __future__ import annotations

from typing import Any

from phantom_envs.core.game import TERMINATED, Record
from phantom_envs.core.jit import jit
from phantom_envs.core.rng import below
from phantom_envs.games.das_phantom.components import (
    BLACK_DIE_SIDES,
    CELL_KIND,
    FINISH,
    FINISH_CELL,
    LEAST_STEPS,
    MASK_FACE,
    MASK_SPACE,
    MOST_STEPS,
    NEAR,
    NUM_ITEMS,
    NUM_PILES,
    OUTSIDE_ROOMS,
    REQUIRED_ROSES,
    ROSE_SPACE,
    SWIFT_STEPS,
    TORCH_INDEX,
    TORCH_SPACE,
    VIOLIN_SPACE,
)
from phantom_envs.games.das_phantom.hexes import (
    both,
    either,
    inside,
    is_empty,
    load,
    only,
    remove,
    store,
    walk,
    without,
)
from phantom_envs.games.das_phantom.piles import any_left, draw
from phantom_envs.games.das_phantom.state import AFTER, MOVE, OVER, ROB, TAKE


@jit
def required_roses(s: Record) -> int:
    """Roses that open the finish."""
    return int(REQUIRED_ROSES[int(s["num_players"])])


@jit
def may_finish(s: Record, seat: int) -> bool:
    """Whether the finish is open to `seat`."""
    return bool(int(s["violins"]) >> seat & 1) and int(s["roses"][seat]) >= required_roses(s)


@jit
def below_rose_limit(s: Record, seat: int) -> bool:
    """Whether `seat` may get another rose."""
    return int(s["roses"][seat]) <= required_roses(s)


@jit
def closed(s: Record, seat: int) -> Any:
    """The Phantom's space and, while it is closed to `seat`, the finish."""
    board = only(int(s["phantom"]))
    if not may_finish(s, seat):
        board = either(board, FINISH_CELL)
    return board


@jit
def is_blocked(s: Record, seat: int) -> bool:
    """Whether the pawn of `seat` could step on none of its neighbouring spaces (R14: passages do not count)."""
    return is_empty(both(load(NEAR[int(s["pawns"][seat])]), without(load(s["paths"]), closed(s, seat))))


@jit
def reach(s: Record, seat: int, least: int, most: int, through_walls: bool) -> Any:
    """Where a move of `least` … `most` steps may end: by exact count, and stopping early (R22), as boards."""
    start = int(s["pawns"][seat])
    barred = closed(s, seat)
    landing = without(load(s["paths"]), barred)
    if through_walls:
        exact, early = walk(start, without(OUTSIDE_ROOMS, barred), least, most)
        exact, early = both(exact, landing), both(early, landing)
    else:
        exact, early = walk(start, landing, least, most)
    return exact, without(early, either(exact, either(FINISH_CELL, only(start))))


@jit
def find_reach(s: Record) -> None:
    """Find where the move to be made may end. Called once whenever a move is asked for, for all that changed."""
    if int(s["swift"]) >= 0:
        least = most = int(SWIFT_STEPS[int(s["swift"])])
    else:
        least, most = int(LEAST_STEPS[int(s["face"])]), int(MOST_STEPS[int(s["face"])])
    exact, early = reach(s, int(s["seat"]), least, most, int(s["passage"]) != 0)
    store(s["exact"], exact)
    store(s["early"], early)


@jit
def back_to_choice(s: Record) -> None:
    """After a tile, a swap or a shift: back to where it was chosen."""
    s["using"] = -1
    s["origin"] = -1
    s["phase"] = MOVE if int(s["face"]) >= 0 else AFTER


@jit
def roll_black(s: Record) -> int:
    """The face of a rolled black die."""
    return min(below(s["rng"], BLACK_DIE_SIDES), MASK_FACE)


@jit
def end_move(s: Record) -> None:
    """The move that was asked for is made; R10: a mask die gives an item."""
    if int(s["phase"]) == MOVE:
        s["takes"] = 1 if int(s["face"]) == MASK_FACE else 0
        s["face"] = -1
    s["swift"] = -1


@jit
def stay(s: Record) -> None:
    """Make no move: no landing, but a mask die still gives its item (R29)."""
    if int(s["phase"]) == MOVE:
        s["stuck"] = 1 if is_blocked(s, int(s["seat"])) else 0
    end_move(s)
    proceed(s)


@jit
def go(s: Record, cell: int) -> None:
    """Move the pawn; an exact landing has its effects."""
    seat = int(s["seat"])
    exactly = inside(s["exact"], cell)
    end_move(s)
    s["pawns"][seat] = cell
    s["passage"] = 0
    s["stuck"] = 0
    if not exactly:
        proceed(s)
    elif cell == FINISH:
        win(s, seat)
    elif int(s["met"]) == 0 and somebody_at(s, seat, cell):
        s["met"] = 1
        s["rolls"] += 1
        if robbable(s, seat) != 0 and below_rose_limit(s, seat):
            s["phase"] = ROB
        else:
            visit(s, True)
    else:
        visit(s, False)


@jit
def somebody_at(s: Record, seat: int, cell: int) -> bool:
    """Whether the pawn of another than `seat` stands on `cell`."""
    found = False
    for other in range(int(s["num_players"])):
        found = found or (other != seat and int(s["pawns"][other]) == cell)
    return found


@jit
def robbable(s: Record, seat: int) -> int:
    """The set of players with a rose on the space of `seat`, by their distance to the left, less one."""
    players = int(s["num_players"])
    found = 0
    for distance in range(1, players):
        other = (seat + distance) % players
        if int(s["pawns"][other]) == int(s["pawns"][seat]) and int(s["roses"][other]) > 0:
            found |= 1 << (distance - 1)
    return found


@jit
def rob(s: Record, distance: int) -> None:
    """Take a rose from the player that many seats to the left; then the space has its effects."""
    seat = int(s["seat"])
    gain_rose(s, seat, 1)
    gain_rose(s, (seat + distance) % int(s["num_players"]), -1)
    visit(s, True)


@jit
def gain_rose(s: Record, seat: int, amount: int) -> None:
    """A rose more or less for `seat`, which is worth a point (R20)."""
    s["roses"][seat] += amount
    s["points"][seat] += amount


@jit
def visit(s: Record, granted: bool) -> None:
    """The effects of the space itself; `granted`: this landing has already given a roll (R11)."""
    seat = int(s["seat"])
    cell = int(s["pawns"][seat])
    kind = int(CELL_KIND[cell])
    if kind == ROSE_SPACE:
        if inside(s["roses_left"], cell) and below_rose_limit(s, seat):
            remove(s["roses_left"], cell)
            gain_rose(s, seat, 1)
        else:
            s["takes"] += 1
    elif kind == VIOLIN_SPACE:
        if not int(s["violins"]) >> seat & 1:
            s["violins"] |= 1 << seat
            s["points"][seat] += 1
    elif kind == MASK_SPACE:
        if not inside(s["laid"], cell):
            s["takes"] += 1
    elif kind == TORCH_SPACE:
        torch = 1 << int(TORCH_INDEX[cell])
        if not inside(s["laid"], cell) and not int(s["torches"]) & torch:  # R9
            s["torches"] |= torch
            if not granted:
                s["rolls"] += 1
    proceed(s)


@jit
def take(s: Record, pile: int) -> None:
    """Take an item; it cannot be played this turn."""
    s["fresh"][draw(s, int(s["seat"]), pile)] += 1
    s["taken"][pile] += 1
    take_no_more(s)


@jit
def take_no_more(s: Record) -> None:
    """One item less is due."""
    s["takes"] -= 1
    proceed(s)


@jit
def proceed(s: Record) -> None:
    """After a move: items, then a move still to come, then a roll, else what the player likes."""
    if int(s["takes"]) > 0 and any_left(s):
        s["phase"] = TAKE
        return
    s["takes"] = 0
    if int(s["face"]) < 0 and int(s["rolls"]) > 0:
        s["rolls"] -= 1
        s["face"] = roll_black(s)
    back_to_choice(s)


@jit
def clear_turn(s: Record) -> None:
    """All that belongs to a turn."""
    s["face"] = -1
    s["swift"] = -1
    s["passage"] = 0
    s["rolls"] = 0
    s["takes"] = 0
    s["met"] = 0
    s["torches"] = 0
    s["shifted"] = 0
    s["stuck"] = 0
    s["using"] = -1
    s["origin"] = -1
    for kind in range(NUM_ITEMS):
        s["fresh"][kind] = 0
    for pile in range(NUM_PILES):
        s["taken"][pile] = 0
    for number in range(int(s["num_dropped"])):
        s["dropped"][number] = 0
        s["taken_before"][number] = 0
    s["num_dropped"] = 0


@jit
def win(s: Record, seat: int) -> None:
    """The pawn of `seat` is on the finish by exact count."""
    clear_turn(s)
    s["winners"] = 1 << seat
    s["status"] = TERMINATED
    s["phase"] = OVER
    s["seat"] = -1
