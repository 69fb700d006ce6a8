"""What a seat knows in Das Phantom, as named blocks, in the frame of the seat (0: itself, then clockwise)."""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY, bit, spread
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.core.layout import Block, Layout
from phantom_envs.games.das_phantom.components import (
    ITEM_COUNTS,
    MAX_PILE,
    NUM_CELLS,
    NUM_COLUMNS,
    NUM_FACES,
    NUM_ITEMS,
    NUM_PILES,
    NUM_ROOMS,
    NUM_ROWS,
    NUM_TILES,
    NUM_TORCHES,
    REQUIRED_ROSES,
    WHITE_NUMBERS,
    Words,
)
from phantom_envs.games.das_phantom.hexes import NOWHERE, load, only
from phantom_envs.games.das_phantom.state import MOVE, OVER, SWIFT

MOST_ITEMS = int(ITEM_COUNTS.max())
MOST_ROLLS = NUM_TORCHES + 1  # one for each torch, one for a meeting
MOST_TAKES = 2  # a mask die's, and the space's
MOST_BLOCKED = 3  # more make no difference (R15)
MOST_ROUNDS = 127  # what an entry can hold


def layout(num_players: int) -> Layout:
    """The blocks of an observation with `num_players` players.

    The first blocks are planes over the cells. What the plan itself says of a cell never changes and is not repeated.
    """
    p, plane, kinds = num_players, (NUM_ROWS, NUM_COLUMNS), (NUM_ITEMS,)
    return Layout(
        Block(
            "path", plane, 0, 1, "cells that are path now, special ones and laid paths included", actions=(0, NUM_CELLS)
        ),
        Block("laid", plane, 0, 1, "cells covered by a hex", actions=(0, NUM_CELLS)),
        Block("rose", plane, 0, 1, "rose spaces that still have theirs", actions=(0, NUM_CELLS)),
        Block(
            "exact",
            plane,
            0,
            1,
            "where the move to be made ends by exact count; the action mask adds early ends",
            actions=(0, NUM_CELLS),
        ),
        Block("phantom", plane, 0, 1, "the Phantom's cell, none while it is in a room", actions=(0, NUM_CELLS)),
        Block(
            "origin",
            plane,
            0,
            1,
            "the cell chosen first, in phases toward, swap-with and shift-to",
            actions=(0, NUM_CELLS),
        ),
        Block("pawn", (p, *plane), 0, 1, "each pawn's cell", actions=(0, NUM_CELLS)),
        Block("to_act", (p,), 0, 1, "who is to act"),
        Block("first", (p,), 0, 1, "the first player of the round"),
        Block("violin", (p,), 0, 1, "who has a violin"),
        Block("chased", (p,), 0, 1, "who was chased in this move of the Phantom"),
        Block("phase", (OVER,), 0, 1, "the phase, in the order of the rules; none when the game is over"),
        Block("face", (NUM_FACES,), 0, 1, "face of the die whose move is to come"),
        Block("swift", (2,), 0, 1, "whether a swift-4 or swift-6 is being moved"),
        Block("turn", (4,), 0, 1, "passage in force; meeting had its effect; hex shifted; stayed while blocked"),
        Block("torch", (NUM_TORCHES,), 0, 1, "torch spaces that served this turn, by index of their cell"),
        Block("using", (NUM_TILES,), 0, 1, "kind of the tile being laid"),
        Block("room", (NUM_ROOMS,), 0, 1, "the Phantom's room, none while it is on a cell"),
        Block("dice", (NUM_FACES,), 0, p, "per face, dice not yet chosen this round"),
        Block("hand", kinds, 0, MOST_ITEMS, "per kind, items in the own hand"),
        Block("fresh", kinds, 0, MOST_ITEMS, "per kind, those of them taken this turn"),
        Block("unseen", kinds, 0, MOST_ITEMS, "per kind, items in other hands and piles together"),
        Block("gone", kinds, 0, MOST_ITEMS, "per kind, tiles laid or discarded, cards on the discard pile"),
        Block("tiles_out", (NUM_TILES,), 0, MOST_ITEMS, "per kind, tiles discarded"),
        Block("piles", (NUM_PILES,), 0, MAX_PILE, "items left in the piles: single, double, magic"),
        Block("taken", (NUM_PILES,), 0, MAX_PILE, "items that the player in turn took this turn, by pile"),
        Block("rolls", (1,), 0, MOST_ROLLS, "black dice still to be rolled for further moves"),
        Block("takes", (1,), 0, MOST_TAKES, "items still to be asked for"),
        Block("steps", (1,), 0, WHITE_NUMBERS, "steps the Phantom has still to make"),
        Block("round", (1,), 1, MOST_ROUNDS, "number of the round, at most 127"),
        Block("rounds_left", (1,), 0, MOST_ROUNDS, "rounds to come before the game is cut off, at most 127"),
        Block("held", (p, NUM_PILES), 0, MAX_PILE, "single tiles, double tiles and magic cards in each hand"),
        Block("roses", (p,), 0, int(REQUIRED_ROSES[p]) + 1, "roses of each"),
        Block("blocked", (p,), 0, MOST_BLOCKED, "blocked turns in a row, at most 3"),
        Block("to_chase", (p,), 0, p, "1 for the pawn to be chased now, 2 for the next …, 0 for the others"),
    )


@jit
def plane(out: Any, at: int, board: Words) -> None:
    """Write a board as 224 bytes, and zeros behind it."""
    spread(out, at, board[0])
    spread(out, at + 64, board[1])
    spread(out, at + 128, board[2])
    spread(out, at + 192, board[3])


@jit
def cell_plane(out: Any, at: int, cell: int) -> None:
    """Write the board {cell}; empty if `cell` is none."""
    plane(out, at, only(cell) if 0 <= cell < NUM_CELLS else NOWHERE)


@jit
def turned(members: int, seat: int, players: int) -> Any:
    """A set of seats in the frame of `seat`, as a word."""
    return np.uint64((members >> seat | members << (players - seat)) & ((1 << players) - 1))


@jit
def one_of(index: int) -> Any:
    """The set {index}; empty if it is -1."""
    return bit(index) if index >= 0 else EMPTY


@jit
def observe(s: Record, seat: int, out: Any) -> None:
    """Write the observation of `seat`; see `layout`. Blocks narrower than 64 are overwritten behind their end."""
    seat, players, phase = int(seat), int(s["num_players"]), int(s["phase"])
    plane(out, 0, load(s["paths"]))
    plane(out, NUM_CELLS, load(s["laid"]))
    plane(out, 2 * NUM_CELLS, load(s["roses_left"]))
    plane(out, 3 * NUM_CELLS, load(s["exact"]) if phase in (MOVE, SWIFT) else NOWHERE)
    cell_plane(out, 4 * NUM_CELLS, int(s["phantom"]))
    cell_plane(out, 5 * NUM_CELLS, int(s["origin"]))
    at = 6 * NUM_CELLS
    for offset in range(players):
        cell_plane(out, at, int(s["pawns"][frame(seat, offset, players)]))
        at += NUM_CELLS
    at = write_flags(s, seat, out, at)
    at = write_numbers(s, seat, out, at)
    for offset in range(players):
        other = frame(seat, offset, players)
        for pile in range(NUM_PILES):
            out[at + NUM_PILES * offset + pile] = s["held"][other, pile]
        out[at + 3 * players + offset] = s["roses"][other]
        out[at + 4 * players + offset] = min(int(s["blocked"][other]), MOST_BLOCKED)
        out[at + 5 * players + offset] = 0
    for position in range(int(s["num_to_chase"])):
        offset = frame(int(s["to_chase"][position]), players - seat, players)
        out[at + 5 * players + offset] = position + 1


@jit
def frame(seat: int, offset: int, players: int) -> int:
    """The seat `offset` places to the left of `seat`, `0 <= offset <= players`."""
    other = seat + offset
    return other - players if other >= players else other


@jit
def write_flags(s: Record, seat: int, out: Any, at: int) -> int:
    """Write the blocks `to_act` … `room`; returns the offset behind them."""
    players, phase = int(s["num_players"]), int(s["phase"])
    chased = 0
    for position in range(int(s["num_chased"])):
        chased |= 1 << int(s["chased"][position])
    to_act = 1 << int(s["seat"]) if int(s["seat"]) >= 0 else 0
    flags = turned(to_act, seat, players)
    flags |= turned(1 << int(s["first"]), seat, players) << np.uint64(players)
    flags |= turned(int(s["violins"]), seat, players) << np.uint64(2 * players)
    flags |= turned(chased, seat, players) << np.uint64(3 * players)
    if phase < OVER:
        flags |= bit(4 * players + phase)
    start = 4 * players + OVER
    flags |= one_of(int(s["face"])) << np.uint64(start)
    flags |= one_of(int(s["swift"])) << np.uint64(start + NUM_FACES)
    spread(out, at, flags)
    at += start + NUM_FACES + 2
    more = (
        int(s["passage"]) | int(s["met"]) << 1 | int(s["shifted"]) << 2 | int(s["stuck"]) << 3 | int(s["torches"]) << 4
    )
    flags = np.uint64(more)
    start = 4 + NUM_TORCHES
    flags |= one_of(int(s["using"])) << np.uint64(start)
    flags |= one_of(max(int(s["phantom"]) - NUM_CELLS, -1)) << np.uint64(start + NUM_TILES)
    spread(out, at, flags)
    return at + start + NUM_TILES + NUM_ROOMS


@jit
def write_numbers(s: Record, seat: int, out: Any, at: int) -> int:
    """Write the blocks `dice` … `rounds_left`; returns the offset behind them."""
    acting = 1 if seat == int(s["seat"]) else 0  # the items taken this turn are those of the seat to act
    for face in range(NUM_FACES):
        out[at + face] = s["dice"][face]
    at += NUM_FACES
    for kind in range(NUM_ITEMS):
        own, gone = int(s["hands"][seat, kind]), int(s["gone"][kind])
        out[at + kind] = own
        out[at + NUM_ITEMS + kind] = acting * int(s["fresh"][kind])
        out[at + 2 * NUM_ITEMS + kind] = int(ITEM_COUNTS[kind]) - gone - own
        out[at + 3 * NUM_ITEMS + kind] = gone
    at += 4 * NUM_ITEMS
    for kind in range(NUM_TILES):
        out[at + kind] = s["out_count"][kind]
    at += NUM_TILES
    for pile in range(NUM_PILES):
        out[at + pile] = s["pile_size"][pile]
        out[at + NUM_PILES + pile] = s["taken"][pile]
    at += 2 * NUM_PILES
    out[at] = s["rolls"]
    out[at + 1] = s["takes"]
    out[at + 2] = s["steps"]
    out[at + 3] = min(int(s["round"]), MOST_ROUNDS)
    out[at + 4] = min(int(s["max_rounds"]) - int(s["round"]), MOST_ROUNDS)
    return at + 5
