"""Tiles and magic cards: where they may lie, and what they do."""

from __future__ import annotations

from typing import Any

from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.games.das_phantom.components import (
    COVERABLE,
    ENCORE,
    NEIGHBOURS,
    NUM_DIRECTIONS,
    PASSAGE,
    PATH_CELLS,
    PATH_PATH,
    PATH_TILE,
    PATH_WALL,
    SWAP,
    SWIFT_4,
    WALL_TILE,
    WALL_WALL,
)
from phantom_envs.games.das_phantom.hexes import (
    both,
    either,
    gates,
    inside,
    is_empty,
    load,
    only,
    put,
    remove,
    step_w,
    steps_any,
    steps_up,
    without,
)
from phantom_envs.games.das_phantom.movement import back_to_choice, roll_black
from phantom_envs.games.das_phantom.piles import give_up
from phantom_envs.games.das_phantom.state import (
    AT,
    MOVE,
    SHIFT_FROM,
    SHIFT_TO,
    SWAP_FROM,
    SWAP_WITH,
    SWIFT,
    TOWARD,
)

SYMMETRIC_DIRECTIONS = 0b110001  # E, SW, SE


@jit
def standing(s: Record) -> Any:
    """The board of the spaces with a pawn or the Phantom."""
    board = only(int(s["phantom"]))
    for seat in range(int(s["num_players"])):
        board = either(board, only(int(s["pawns"][seat])))
    return board


@jit
def layable(s: Record) -> Any:
    """The spaces a hex may be laid on now (R12)."""
    return without(without(COVERABLE, load(s["laid"])), standing(s))


@jit
def places(free: Any, kind: int) -> Any:
    """The spaces of `free`, the layable ones, that can take the first half of a tile."""
    if kind <= WALL_TILE:
        return free
    gate = gates(free)
    if kind == PATH_WALL:
        return steps_any(free, gate)
    return either(step_w(free, gate), steps_up(free, gate))


@jit
def directions(s: Record) -> int:
    """The set of directions the second half of the double being laid may lie in."""
    free = layable(s)
    found = 0
    for direction in range(NUM_DIRECTIONS):
        cell = int(NEIGHBOURS[int(s["origin"]), direction])
        if cell >= 0 and not is_empty(both(free, only(cell))):
            found |= 1 << direction
    return found if int(s["using"]) == PATH_WALL else found & SYMMETRIC_DIRECTIONS


@jit
def loose(s: Record) -> Any:
    """The laid hexes that are free of pawns and Phantom."""
    return without(load(s["laid"]), standing(s))


@jit
def swappable(s: Record) -> Any:
    """The loose hexes that have a loose one of the other state."""
    hexes = loose(s)
    path, wall = both(hexes, load(s["paths"])), without(hexes, load(s["paths"]))
    if is_empty(path) or is_empty(wall):
        return both(path, wall)
    return hexes


@jit
def swap_partners(s: Record) -> Any:
    """The hexes that the one chosen can be swapped with."""
    if inside(s["paths"], int(s["origin"])):
        return without(loose(s), load(s["paths"]))
    return both(loose(s), load(s["paths"]))


@jit
def lay(s: Record, cell: int, path: bool) -> None:
    """A hex onto a space."""
    put(s["laid"], cell)
    set_path(s, cell, path)


@jit
def set_path(s: Record, cell: int, path: bool) -> None:
    """Make a space path or wall."""
    if path:
        put(s["paths"], cell)
    else:
        remove(s["paths"], cell)


@jit
def lift(s: Record, cell: int) -> None:
    """A hex off a space; what it covered counts again (R25)."""
    remove(s["laid"], cell)
    set_path(s, cell, not is_empty(both(PATH_CELLS, only(cell))))


@jit
def use(s: Record, kind: int) -> None:
    """A tile out of the hand, to be laid."""
    give_up(s, int(s["seat"]), kind)
    s["using"] = kind
    s["phase"] = AT


@jit
def lay_at(s: Record, cell: int) -> None:
    """The place of a single tile, or of the first half of a double."""
    kind = int(s["using"])
    if kind <= WALL_TILE:
        lay(s, cell, kind == PATH_TILE)
        back_to_choice(s)
    else:
        s["origin"] = cell
        s["phase"] = TOWARD


@jit
def lay_toward(s: Record, direction: int) -> None:
    """The direction of the second half; both halves lie."""
    kind, cell = int(s["using"]), int(s["origin"])
    lay(s, cell, kind != WALL_WALL)
    lay(s, int(NEIGHBOURS[cell, direction]), kind == PATH_PATH)
    back_to_choice(s)


@jit
def play(s: Record, kind: int) -> None:
    """A magic card onto the discard pile, and its effect."""
    give_up(s, int(s["seat"]), kind)
    if kind == PASSAGE:
        s["passage"] = 1
        back_to_choice(s)
    elif kind == SWAP:
        s["phase"] = SWAP_FROM
    elif kind == ENCORE:
        s["face"] = roll_black(s)
        s["phase"] = MOVE
    else:
        s["swift"] = kind - SWIFT_4
        s["phase"] = SWIFT


@jit
def swap_from(s: Record, cell: int) -> None:
    """The first of two hexes to be exchanged."""
    s["origin"] = cell
    s["phase"] = SWAP_WITH


@jit
def swap_with(s: Record, cell: int) -> None:
    """The second of two hexes; they exchange their state."""
    origin = int(s["origin"])
    path = inside(s["paths"], cell)
    set_path(s, cell, not path)
    set_path(s, origin, path)
    back_to_choice(s)


@jit
def shift(s: Record) -> None:
    """A blocked player is to move a laid hex."""
    s["phase"] = SHIFT_FROM


@jit
def shift_from(s: Record, cell: int) -> None:
    """The hex to move; it lies where it is until its new place is chosen."""
    s["origin"] = cell
    s["phase"] = SHIFT_TO


@jit
def shift_to(s: Record, cell: int) -> None:
    """The new place of the hex."""
    origin = int(s["origin"])
    path = inside(s["paths"], origin)
    s["shifted"] = 1
    lift(s, origin)
    lay(s, cell, path)
    back_to_choice(s)
