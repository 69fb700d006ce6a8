"""Das Phantom in words: action names and the complete state. The terminal picture is in `picture`."""

from __future__ import annotations

from typing import Any

from phantom_envs.core.game import Record, members_of
from phantom_envs.games.das_phantom.components import (
    BOARD_TEXT,
    CELL_NAMES,
    DIE_ACTION,
    DIRECTIONS,
    DISCARD_ACTION,
    END,
    FACES,
    ITEMS,
    LEAVE,
    NUM_CELLS,
    NUM_ITEMS,
    NUM_TILES,
    PILES,
    PLACE_NAMES,
    PLAY_ACTION,
    ROB_ACTION,
    ROOM_ACTION,
    SHIFT,
    STAY,
    TAKE_ACTION,
    TORCHES,
    TOWARD_ACTION,
    USE_ACTION,
)
from phantom_envs.games.das_phantom.state import AT, HAUNT, PHASES, TOWARD

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

ACTION_TABLE = (
    (
        NUM_CELLS,
        " / ".join(f"{verb} r,c" for verb in dict.fromkeys(CELL_VERBS.values())),
        "a cell, index 16 × row + column; the phase says what",
    ),
    (DIE_ACTION - ROOM_ACTION, "haunt room-a / phantom to room-a …", "a room; the phase says what"),
    (len(FACES), ", ".join(f"die {face}" for face in FACES), "choose a die"),
    (4, "stay, end, leave, shift", "make no move, end the turn, take or rob nothing, move a laid hex"),
    (len(PILES), ", ".join(f"take {pile}" for pile in PILES), "take an item from a pile"),
    (USE_ACTION - ROB_ACTION, "rob player_k", "take a rose from the first … fifth player to the left"),
    (NUM_TILES, ", ".join(f"use {item}" for item in ITEMS[:NUM_TILES]), "lay a tile"),
    (NUM_ITEMS - NUM_TILES, ", ".join(f"play {item}" for item in ITEMS[NUM_TILES:]), "play a magic card"),
    (NUM_ITEMS, f"discard {ITEMS[0]} … discard {ITEMS[-1]}", "discard an item over the hand limit"),
    (len(DIRECTIONS), ", ".join(f"toward {d}" for d in DIRECTIONS), "where the second half of a double lies"),
)


def action_name(s: Record, action: int) -> str:
    """Name of an action in the phase of `s`."""
    phase = PHASES[s["phase"]]
    if action < ROOM_ACTION:
        return f"{CELL_VERBS.get(phase, 'cell')} {CELL_NAMES[action]}"
    if action < DIE_ACTION:
        return f"{'haunt' if s['phase'] == HAUNT else 'phantom to'} {PLACE_NAMES[action]}"
    if ROB_ACTION <= action < USE_ACTION:
        return f"rob player_{(int(s['seat']) + action - ROB_ACTION + 1) % int(s['num_players'])}"
    return FIXED_NAMES[action]


def _fixed_names() -> dict[int, str]:
    rows = (
        (DIE_ACTION, "die ", FACES),
        (STAY, "", ("stay",)),
        (END, "", ("end",)),
        (LEAVE, "", ("leave",)),
        (SHIFT, "", ("shift",)),
        (TAKE_ACTION, "take ", PILES),
        (USE_ACTION, "use ", ITEMS[:NUM_TILES]),
        (PLAY_ACTION, "play ", ITEMS[NUM_TILES:]),
        (DISCARD_ACTION, "discard ", ITEMS),
        (TOWARD_ACTION, "toward ", DIRECTIONS),
    )
    return {first + index: verb + name for first, verb, names in rows for index, name in enumerate(names)}


FIXED_NAMES = _fixed_names()
"""The actions whose name does not depend on the state."""


def board_page() -> str:
    """The board and its legend."""
    return BOARD_TEXT


def cells_of(board: Any) -> list[int]:
    """The cells of a board, ascending."""
    return [cell for cell in range(NUM_CELLS) if int(board[cell >> 6]) >> (cell & 63) & 1]


def items_of(counts: Any) -> list[str]:
    """Items by their number per kind, with repeats, in the order of the actions."""
    return [ITEMS[kind] for kind, count in enumerate(counts.tolist()) for _ in range(count)]


def laid_hexes(s: Record) -> dict[str, str]:
    """Per covered cell, what lies there."""
    paths = set(cells_of(s["paths"]))
    return {CELL_NAMES[cell]: "path" if cell in paths else "wall" for cell in cells_of(s["laid"])}


def state_dict(s: Record) -> dict[str, Any]:
    """The complete state with the keys of the rules file. It holds hidden information."""
    players = range(int(s["num_players"]))
    single, double, magic = (
        [ITEMS[kind] for kind in pile[:size].tolist()] for pile, size in zip(s["piles"], s["pile_size"], strict=True)
    )
    return {
        "game": "das_phantom",
        "num_players": len(players),
        "max_rounds": int(s["max_rounds"]),
        "phase": PHASES[s["phase"]],
        "to_act": int(s["seat"]) if s["seat"] >= 0 else None,
        "round": int(s["round"]),
        "first": int(s["first"]),
        "dice": [FACES[face] for face, count in enumerate(s["dice"].tolist()) for _ in range(count)],
        "pawns": [CELL_NAMES[s["pawns"][seat]] for seat in players],
        "roses": [int(s["roses"][seat]) for seat in players],
        "violins": [bool(int(s["violins"]) >> seat & 1) for seat in players],
        "board_roses": [CELL_NAMES[cell] for cell in cells_of(s["roses_left"])],
        "phantom": PLACE_NAMES[s["phantom"]],
        "laid": laid_hexes(s),
        "hands": [items_of(s["hands"][seat]) for seat in players],
        "single_pile": single,
        "double_pile": double,
        "magic_pile": magic,
        "magic_discard": [ITEMS[kind] for kind in s["discard"][: s["discard_size"]].tolist()],
        "tiles_out": [ITEMS[kind] for kind in s["out"][: s["out_size"]].tolist()],
        "blocked": [int(s["blocked"][seat]) for seat in players],
        "winners": members_of(s["winners"]),
        "face": FACES[s["face"]] if s["face"] >= 0 else None,
        "swift": ("swift-4", "swift-6")[s["swift"]] if s["swift"] >= 0 else None,
        "passage": bool(s["passage"]),
        "rolls": int(s["rolls"]),
        "takes": int(s["takes"]),
        "met": bool(s["met"]),
        "torches": [CELL_NAMES[TORCHES[torch]] for torch in members_of(s["torches"])],
        "fresh": items_of(s["fresh"]),
        "shifted": bool(s["shifted"]),
        "stuck": bool(s["stuck"]),
        "using": ITEMS[s["using"]] if s["phase"] in (AT, TOWARD) else None,
        "from": CELL_NAMES[s["origin"]] if s["origin"] >= 0 else None,
        "steps": int(s["steps"]),
        "to_chase": s["to_chase"][: s["num_to_chase"]].tolist(),
        "chased": s["chased"][: s["num_chased"]].tolist(),
    }
