"""Das Phantom in words: the complete state. The terminal picture is in `picture`."""

from __future__ import annotations

from typing import Any

from phantom_envs.core.game import Record, members_of
from phantom_envs.games.das_phantom.components import (
    BOARD_TEXT,
    CELL_NAMES,
    FACES,
    ITEMS,
    NUM_CELLS,
    PLACE_NAMES,
    TORCHES,
)
from phantom_envs.games.das_phantom.state import AT, PHASES, TOWARD


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
