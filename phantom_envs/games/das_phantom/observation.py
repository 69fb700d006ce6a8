"""What a seat knows in Das Phantom, as named blocks, in the frame of the seat (0: itself, then clockwise)."""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY, bit, shifted, spread
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.core.layout import Block, Layout, offsets
from phantom_envs.games.das_phantom.components import (
    ITEM_COUNTS,
    MAX_PILE,
    MOST_TAKES,
    NUM_CELLS,
    NUM_COLUMNS,
    NUM_FACES,
    NUM_ITEMS,
    NUM_PILES,
    NUM_ROOMS,
    NUM_ROWS,
    NUM_TILES,
    NUM_TORCHES,
    PLAYERS,
    REQUIRED_ROSES,
    WHITE_NUMBERS,
    Words,
)
from phantom_envs.games.das_phantom.hexes import NOWHERE, load, only
from phantom_envs.games.das_phantom.state import MOVE, OVER, SWIFT

MOST_ITEMS = int(ITEM_COUNTS.max())
MOST_ROLLS = NUM_TORCHES + 1  # one for each torch, one for a meeting
MOST_BLOCKED = 3  # more make no difference (R15)
MOST_ROUNDS = 127  # what an entry can hold


def layout(num_players: int) -> Layout:
    """The blocks of an observation with `num_players` players.

    The first blocks are planes over the cells. What the plan itself says of a cell never changes and is not repeated.
    """
    p, kinds = num_players, (NUM_ITEMS,)

    def cells(name: str, meaning: str, *each: int) -> Block:
        return Block(name, (*each, NUM_ROWS, NUM_COLUMNS), 0, 1, meaning, actions=(0, NUM_CELLS))

    return Layout(
        cells("path", "cells that are path now, special ones and laid paths included"),
        cells("laid", "cells covered by a hex"),
        cells("rose", "rose spaces that still have theirs"),
        cells("exact", "where the move to be made ends by exact count; the action mask adds early ends"),
        cells("phantom", "the Phantom's cell, none while it is in a room"),
        cells("origin", "the cell chosen first, in phases toward, swap-with and shift-to"),
        cells("pawn", "each pawn's cell", p),
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


AT = offsets(layout, PLAYERS)


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
    at = AT[players]
    plane(out, at["path"], load(s["paths"]))
    plane(out, at["laid"], load(s["laid"]))
    plane(out, at["rose"], load(s["roses_left"]))
    plane(out, at["exact"], load(s["exact"]) if phase in (MOVE, SWIFT) else NOWHERE)
    cell_plane(out, at["phantom"], int(s["phantom"]))
    cell_plane(out, at["origin"], int(s["origin"]))
    for offset in range(players):
        cell_plane(out, at["pawn"] + NUM_CELLS * offset, int(s["pawns"][frame(seat, offset, players)]))
    write_flags(s, seat, out)
    write_numbers(s, seat, out)
    for offset in range(players):
        other = frame(seat, offset, players)
        for pile in range(NUM_PILES):
            out[at["held"] + NUM_PILES * offset + pile] = s["held"][other, pile]
        out[at["roses"] + offset] = s["roses"][other]
        out[at["blocked"] + offset] = min(int(s["blocked"][other]), MOST_BLOCKED)
        out[at["to_chase"] + offset] = 0
    for position in range(int(s["num_to_chase"])):
        offset = frame(int(s["to_chase"][position]), players - seat, players)
        out[at["to_chase"] + offset] = position + 1


@jit
def frame(seat: int, offset: int, players: int) -> int:
    """The seat `offset` places to the left of `seat`, `0 <= offset <= players`."""
    other = seat + offset
    return other - players if other >= players else other


@jit
def write_flags(s: Record, seat: int, out: Any) -> None:
    """Write the blocks `to_act` … `room`, two words of them."""
    players, phase = int(s["num_players"]), int(s["phase"])
    at = AT[players]
    chased = 0
    for position in range(int(s["num_chased"])):
        chased |= 1 << int(s["chased"][position])
    to_act = 1 << int(s["seat"]) if int(s["seat"]) >= 0 else 0
    start = at["to_act"]
    flags = turned(to_act, seat, players)
    flags |= shifted(turned(1 << int(s["first"]), seat, players), at["first"] - start)
    flags |= shifted(turned(int(s["violins"]), seat, players), at["violin"] - start)
    flags |= shifted(turned(chased, seat, players), at["chased"] - start)
    if phase < OVER:
        flags |= bit(at["phase"] - start + phase)
    flags |= shifted(one_of(int(s["face"])), at["face"] - start)
    flags |= shifted(one_of(int(s["swift"])), at["swift"] - start)
    spread(out, start, flags)
    start = at["turn"]
    flags = np.uint64(int(s["passage"]) | int(s["met"]) << 1 | int(s["shifted"]) << 2 | int(s["stuck"]) << 3)
    flags |= shifted(s["torches"], at["torch"] - start)
    flags |= shifted(one_of(int(s["using"])), at["using"] - start)
    flags |= shifted(one_of(max(int(s["phantom"]) - NUM_CELLS, -1)), at["room"] - start)
    spread(out, start, flags)


@jit
def write_numbers(s: Record, seat: int, out: Any) -> None:
    """Write the blocks `dice` … `rounds_left`."""
    at = AT[int(s["num_players"])]
    acting = 1 if seat == int(s["seat"]) else 0  # the items taken this turn are those of the seat to act
    for face in range(NUM_FACES):
        out[at["dice"] + face] = s["dice"][face]
    for kind in range(NUM_ITEMS):
        own, gone = int(s["hands"][seat, kind]), int(s["gone"][kind])
        out[at["hand"] + kind] = own
        out[at["fresh"] + kind] = acting * int(s["fresh"][kind])
        out[at["unseen"] + kind] = int(ITEM_COUNTS[kind]) - gone - own
        out[at["gone"] + kind] = gone
    for kind in range(NUM_TILES):
        out[at["tiles_out"] + kind] = s["out_count"][kind]
    for pile in range(NUM_PILES):
        out[at["piles"] + pile] = s["pile_size"][pile]
        out[at["taken"] + pile] = s["taken"][pile]
    out[at["rolls"]] = s["rolls"]
    out[at["takes"]] = s["takes"]
    out[at["steps"]] = s["steps"]
    out[at["round"]] = min(int(s["round"]), MOST_ROUNDS)
    out[at["rounds_left"]] = min(int(s["max_rounds"]) - int(s["round"]), MOST_ROUNDS)
