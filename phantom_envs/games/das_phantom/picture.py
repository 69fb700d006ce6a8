"""The terminal picture of Das Phantom."""

from __future__ import annotations

from phantom_envs.core.game import Record, members_of
from phantom_envs.core.terminal import paint
from phantom_envs.games.das_phantom.components import (
    CELL_NAMES,
    FACES,
    NUM_CELLS,
    NUM_COLUMNS,
    NUM_ROWS,
    PILES,
    PLACE_NAMES,
    ROOM_SIGNS,
    SIGNS,
    WALL_SIGN,
)
from phantom_envs.games.das_phantom.state import OVER, PHASES
from phantom_envs.games.das_phantom.text import cells_of, items_of

STYLES = {WALL_SIGN: "dim", ".": "dim", "R": "red", "V": "magenta", "M": "cyan", "T": "yellow"} | dict.fromkeys(
    "SF", "bold"
)
LEGEND = (
    "0-5 pawns (+ several)  @ Phantom  # wall  . path  = laid path  % laid wall\n"
    "S start  F finish  V violin  R rose  M mask  T torch  a-m rooms"
)


def board_lines(s: Record, color: bool) -> list[str]:
    """The board with pawns, Phantom and laid hexes; odd rows stand half a cell to the right."""
    signs = [sign if sign != "R" else "." for sign in SIGNS]
    for cell in cells_of(s["roses_left"]):
        signs[cell] = "R"
    paths = set(cells_of(s["paths"]))
    for cell in cells_of(s["laid"]):
        signs[cell] = "=" if cell in paths else "%"
    shown = [
        paint(sign, STYLES.get(sign, "blue" if sign in ROOM_SIGNS else "white"), color) if color else sign
        for sign in signs
    ]
    for seat in range(int(s["num_players"])):
        cell = int(s["pawns"][seat])
        alone = int((s["pawns"][: s["num_players"]] == cell).sum()) == 1
        shown[cell] = paint(str(seat) if alone else "+", "green", color)
    if s["phantom"] < NUM_CELLS:
        shown[s["phantom"]] = paint("@", "white", color)
    rows = [shown[row * NUM_COLUMNS : (row + 1) * NUM_COLUMNS] for row in range(NUM_ROWS)]
    return [" " * (row % 2) + " ".join(cells) for row, cells in enumerate(rows)]


def picture(s: Record, seat: int | None, color: bool) -> str:
    """The table as `seat` sees it; None shows every hand."""
    title = f"Das Phantom, round {s['round']} of {s['max_rounds']}, {PHASES[s['phase']]}"
    lines = [paint(title, "bold", color), *board_lines(s, color), LEGEND]
    if s["phase"] == OVER:
        winners = ", ".join(f"player_{winner}" for winner in members_of(s["winners"]))
        lines.append(f"won by {winners}" if winners else "cut off after the last round")
    lines.append(f"Phantom at {PLACE_NAMES[s['phantom']]}" + (f", {s['steps']} steps to go" if s["steps"] else ""))
    dice = [FACES[face] for face, count in enumerate(s["dice"].tolist()) for _ in range(count)]
    lines.append(f"dice left: {' '.join(dice) or '-'}" + (f"; die: {FACES[s['face']]}" if s["face"] >= 0 else ""))
    left = ", ".join(f"{name} {size}" for name, size in zip(PILES, s["pile_size"], strict=True))
    lines.append(f"piles: {left}; cards played {s['discard_size']}, tiles discarded {s['out_size']}")
    for other in range(int(s["num_players"])):
        mark = ">" if other == s["seat"] else " "
        own = " (you)" if other == seat else ""
        violin = "violin" if int(s["violins"]) >> other & 1 else "no violin"
        where = CELL_NAMES[s["pawns"][other]]
        lines.append(f"{mark} player_{other}{own}: at {where}, {s['roses'][other]} roses, {violin}")
        held = ", ".join(f"{count} {name}" for name, count in zip(PILES, s["held"][other], strict=True) if count)
        open_hand = seat is None or other == seat
        hand = " ".join(items_of(s["hands"][other])) if open_hand else held
        lines.append(f"    hand {hand or '-'}")
    return "\n".join(lines)
