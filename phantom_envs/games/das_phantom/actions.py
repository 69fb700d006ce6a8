"""The 280 actions of Das Phantom: cells, rooms, and what is named by itself."""

from __future__ import annotations

from typing import Any

from phantom_envs.core.actions import Actions, Group, group
from phantom_envs.games.das_phantom.components import (
    CELL_NAMES,
    DIRECTIONS,
    FACES,
    ITEMS,
    MAX_PLAYERS,
    NUM_CELLS,
    NUM_ROOMS,
    NUM_TILES,
    PILES,
    ROOM_NAMES,
)
from phantom_envs.games.das_phantom.state import HAUNT, PHASES

CELL_VERBS = {
    "move": "go",
    "swift": "go",
    "at": "at",
    "swap-from": "swap from",
    "swap-with": "swap with",
    "shift-from": "shift from",
    "shift-to": "shift to",
    "phantom": "phantom to",
    "chase": "chase to",
}
"""Per phase in which a cell can be chosen, what is done with it."""


def _cell(s: Any, cell: int) -> str:
    return f"{CELL_VERBS.get(PHASES[s['phase']], 'cell')} {CELL_NAMES[cell]}"


def _room(s: Any, room: int) -> str:
    return f"{'haunt' if s['phase'] == HAUNT else 'phantom to'} {ROOM_NAMES[room]}"


def _rob(s: Any, place: int) -> str:
    return f"rob player_{(int(s['seat']) + 1 + place) % int(s['num_players'])}"


ACTIONS = Actions(
    Group(
        "cell",
        NUM_CELLS,
        _cell,
        " / ".join(f"{verb} r,c" for verb in dict.fromkeys(CELL_VERBS.values())),
        "a cell, index 16 × row + column; the phase says what",
    ),
    Group("room", NUM_ROOMS, _room, "haunt room-a / phantom to room-a …", "a room; the phase says what"),
    group("die", [f"die {face}" for face in FACES], "choose a die"),
    group(
        "plain",
        ["stay", "end", "leave", "shift"],
        "make no move, end the turn, take or rob nothing, move a laid hex",
    ),
    group("take", [f"take {pile}" for pile in PILES], "take an item from a pile"),
    Group("rob", MAX_PLAYERS - 1, _rob, "rob player_k", "take a rose from the first … fifth player to the left"),
    group("use", [f"use {item}" for item in ITEMS[:NUM_TILES]], "lay a tile"),
    group("play", [f"play {item}" for item in ITEMS[NUM_TILES:]], "play a magic card"),
    group(
        "discard",
        [f"discard {item}" for item in ITEMS],
        "discard an item over the hand limit",
        shown=f"discard {ITEMS[0]} … discard {ITEMS[-1]}",
    ),
    group("toward", [f"toward {direction}" for direction in DIRECTIONS], "where the second half of a double lies"),
)

ROOM_ACTION = ACTIONS["room"].first
DIE_ACTION = ACTIONS["die"].first
STAY, END, LEAVE, SHIFT = range(ACTIONS["plain"].first, ACTIONS["plain"].stop)
TAKE_ACTION = ACTIONS["take"].first
ROB_ACTION = ACTIONS["rob"].first
USE_ACTION = ACTIONS["use"].first
PLAY_ACTION = ACTIONS["play"].first
DISCARD_ACTION = ACTIONS["discard"].first
TOWARD_ACTION = ACTIONS["toward"].first
