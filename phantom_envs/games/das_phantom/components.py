"""Board, dice, tiles and cards of Das Phantom. The board is read from `board.txt`; all else here follows from it.

A cell is its index, 16 × row + column. A set of cells is a board: four `uint64` words (see `hexes`). A place of the
Phantom is a cell, or 224 + the number of a room; like a cell, it is also the action that chooses it.
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

PLAYERS = (2, 3, 4, 5, 6)
MAX_PLAYERS = 6
NUM_ROWS, NUM_COLUMNS = 14, 16
NUM_CELLS = NUM_ROWS * NUM_COLUMNS
NUM_ROOMS = 13
NUM_PLACES = NUM_CELLS + NUM_ROOMS

DIRECTIONS = ("E", "NE", "NW", "W", "SW", "SE")
NUM_DIRECTIONS = 6

FACES = ("4", "5", "6", "1-3", "mask")
NUM_FACES = 5
MASK_FACE = 4
BLACK_DIE_SIDES = 6  # R2: the last two of them show the mask
WHITE_NUMBERS = 5  # of the six sides; the last is the phantom
LEAST_STEPS = np.array([4, 5, 6, 1, 1], np.int8)
MOST_STEPS = np.array([4, 5, 6, 3, 2], np.int8)
SWIFT_STEPS = np.array([4, 6], np.int8)

PATH_TILE, WALL_TILE, PATH_PATH, PATH_WALL, WALL_WALL = range(5)
SWIFT_4, SWIFT_6, PASSAGE, SWAP, ENCORE = range(5, 10)
ITEMS = ("path", "wall", "path-path", "path-wall", "wall-wall", "swift-4", "swift-6", "passage", "swap", "encore")
NUM_ITEMS, NUM_TILES, NUM_CARDS = 10, 5, 5
ITEM_COUNTS = np.array([10, 10, 4, 4, 4, 6, 3, 6, 5, 4], np.int8)  # R3, R4
SINGLE, DOUBLE, MAGIC = range(3)
PILES = ("single", "double", "magic")
NUM_PILES = 3
PILE_OF = np.array([SINGLE, SINGLE, DOUBLE, DOUBLE, DOUBLE, MAGIC, MAGIC, MAGIC, MAGIC, MAGIC], np.int8)
MAX_PILE = 24
MAX_TILES = 32
HAND_LIMIT = 6

REQUIRED_ROSES = np.array([0, 0, 6, 4, 3, 2, 2], np.int8)
"""Per player count, the roses needed to enter the finish; one more is the most a player may have."""

REWARD_PER_THING = 0.1  # R20

BOARD_TEXT = files(__package__).joinpath("board.txt").read_text(encoding="utf-8")
"""The board and its legend."""

SIGNS = "".join("".join(line.split()) for line in BOARD_TEXT.split("\n\n")[0].splitlines())
"""Per cell, its sign in `board.txt`."""

WALL_SIGN, ROOM_SIGNS = "#", "abcdefghijklm"
CELL_NAMES = tuple(f"{cell // NUM_COLUMNS},{cell % NUM_COLUMNS}" for cell in range(NUM_CELLS))
ROOM_NAMES = tuple(f"room-{sign}" for sign in ROOM_SIGNS)
PLACE_NAMES = CELL_NAMES + ROOM_NAMES

PLAIN, FINISH_SPACE, VIOLIN_SPACE, ROSE_SPACE, MASK_SPACE, TORCH_SPACE = range(6)
CELL_KIND = np.array([max("FVRMT".find(sign), -1) + 1 for sign in SIGNS], np.int8)
"""Per cell, what an exact landing there may have an effect by; walls, rooms and the start are plain."""


def cells_with(signs: str) -> list[int]:
    """The cells that have one of `signs` in the plan."""
    return [cell for cell, sign in enumerate(SIGNS) if sign in signs]


def neighbour(cell: int, direction: int) -> int:
    """The cell next to `cell` in that direction ("odd-r" layout), -1 beyond the edge."""
    row, column = divmod(cell, NUM_COLUMNS)
    odd = row % 2
    down, right = ((0, 1), (-1, odd), (-1, odd - 1), (0, -1), (1, odd - 1), (1, odd))[direction]
    row, column = row + down, column + right
    return NUM_COLUMNS * row + column if 0 <= row < NUM_ROWS and 0 <= column < NUM_COLUMNS else -1


Words = tuple[np.uint64, np.uint64, np.uint64, np.uint64]


def words_of(members: list[int]) -> Words:
    """The set of `members` (below 256) as four words."""
    value = sum(1 << member for member in set(members))
    word = [np.uint64(value >> 64 * index & 0xFFFFFFFFFFFFFFFF) for index in range(4)]
    return word[0], word[1], word[2], word[3]


START = cells_with("S")[0]
FINISH = cells_with("F")[0]
TORCHES = np.array(cells_with("T"), np.int16)
NUM_TORCHES = len(TORCHES)
TORCH_INDEX = np.array([SIGNS[:cell].count("T") if SIGNS[cell] == "T" else -1 for cell in range(NUM_CELLS)], np.int8)
"""Per torch space, its number; -1 elsewhere."""
PHANTOM_ROOM = NUM_CELLS + ROOM_SIGNS.index("a")

NEIGHBOURS = np.array([[neighbour(cell, d) for d in range(NUM_DIRECTIONS)] for cell in range(NUM_CELLS)], np.int16)
"""Per cell and direction, the next cell, -1 beyond the edge."""

PATH_CELLS = words_of([cell for cell, sign in enumerate(SIGNS) if sign not in WALL_SIGN + ROOM_SIGNS])
OUTSIDE_ROOMS = words_of([cell for cell, sign in enumerate(SIGNS) if sign not in ROOM_SIGNS])
FINISH_CELL = words_of([FINISH])
ROSE_CELLS = words_of(cells_with("R"))
VIOLIN_CELLS = words_of(cells_with("V"))
MASK_CELLS = words_of(cells_with("M"))
COVERABLE = words_of([cell for cell, sign in enumerate(SIGNS) if sign not in ROOM_SIGNS + "RVF"])
"""Cells that may carry a hex."""

EVERYWHERE = words_of(list(range(NUM_CELLS)))
ODD_ROWS = words_of([cell for cell in range(NUM_CELLS) if cell // NUM_COLUMNS % 2])
EVEN_ROWS = words_of([cell for cell in range(NUM_CELLS) if cell // NUM_COLUMNS % 2 == 0])
NOT_FIRST_COLUMN = words_of([cell for cell in range(NUM_CELLS) if cell % NUM_COLUMNS > 0])
NOT_LAST_COLUMN = words_of([cell for cell in range(NUM_CELLS) if cell % NUM_COLUMNS < NUM_COLUMNS - 1])


def _neighbours(cell: int) -> list[int]:
    return [int(other) for other in NEIGHBOURS[cell] if other >= 0]


def _place_of(cell: int) -> int:
    """The place a cell belongs to: itself or its room."""
    return NUM_CELLS + ROOM_SIGNS.index(SIGNS[cell]) if SIGNS[cell] in ROOM_SIGNS else cell


def _phantom_steps(place: int) -> list[int]:
    cells = [place] if place < NUM_CELLS else cells_with(ROOM_SIGNS[place - NUM_CELLS])
    reached = {_place_of(other) for cell in cells for other in _neighbours(cell)} - {place}
    return [other for other in reached if other >= NUM_CELLS or SIGNS[other] not in "FV"]


def _chase_range(cell: int) -> list[int]:
    """Cells at distance 1-4 from `cell`, counted over all spaces but rooms."""
    reached, edge = {cell}, {cell}
    for _ in range(4):
        edge = {other for near in edge for other in _neighbours(near) if SIGNS[other] not in ROOM_SIGNS} - reached
        reached |= edge
    return [other for other in reached if other not in (cell, FINISH)]


def _rows(sets: list[list[int]]) -> NDArray[np.uint64]:
    return np.array([words_of(members) for members in sets], np.uint64)


NEAR = _rows([_neighbours(cell) for cell in range(NUM_CELLS)])
"""Per cell, the board of its neighbours."""

PHANTOM_STEPS = _rows([_phantom_steps(place) for place in range(NUM_PLACES)])
"""Per place, the set of places one step of the Phantom leads to; not onto finish and violin spaces."""

CHASE_RANGE = _rows([_chase_range(cell) for cell in range(NUM_CELLS)])
"""Per cell, the board of the spaces a pawn there can be chased to, whether path or not; never the finish."""

MOST_HELD = HAND_LIMIT + 1
"""Items in hand when a turn begins: the Phantom's reward may lie above the limit."""

MOST_MOVES = MOST_HELD + 1 + NUM_TORCHES + 1
"""Moves in a turn: by items in hand, the die, each torch, and one meeting."""

MOST_TAKES = 2
"""Items that a move brings: a mask die's, and the space's."""

MAX_DISCARDS = MOST_TAKES * MOST_MOVES + 1
"""Items discarded in a turn: all that it brought, and what was above the limit before."""
