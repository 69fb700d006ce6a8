"""Games of Das Phantom set up by hand in the words of the rules file, and its moves once more, by trying all walks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from phantom_envs.core.batch import kernels
from phantom_envs.core.table import Table
from phantom_envs.games.das_phantom import GAME
from phantom_envs.games.das_phantom.components import CELL_NAMES, FACES, ITEMS, PILE_OF, PLACE_NAMES
from phantom_envs.games.das_phantom.state import PHASES
from phantom_envs.games.das_phantom.text import board_page

PLAYERS = (2, 3, 4, 5, 6)
REQUIRED = {2: 6, 3: 4, 4: 3, 5: 2, 6: 2}
STEPS = {"4": (4,), "5": (5,), "6": (6,), "1-3": (1, 2, 3), "mask": (1, 2), "swift-4": (4,), "swift-6": (6,)}

BOARD = {
    f"{row},{column}": sign
    for row, line in enumerate(board_page().split("\n\n")[0].split("\n"))
    for column, sign in enumerate(line.split())
}
"""Per cell, its sign."""

ROOMS = set("abcdefghijklm")
SPECIAL = "SFVRMT"


def with_sign(signs: str) -> set[str]:
    """The cells with one of these signs."""
    return {cell for cell, sign in BOARD.items() if sign in signs}


@cache
def by_direction(cell: str) -> dict[str, str]:
    """The neighbours of a cell by direction, as the rules file lists them."""
    r, c = map(int, cell.split(","))
    sides = {"E": (r, c + 1), "W": (r, c - 1)}
    if r % 2:
        sides |= {"NE": (r - 1, c + 1), "NW": (r - 1, c), "SW": (r + 1, c), "SE": (r + 1, c + 1)}
    else:
        sides |= {"NE": (r - 1, c), "NW": (r - 1, c - 1), "SW": (r + 1, c - 1), "SE": (r + 1, c)}
    return {side: f"{row},{column}" for side, (row, column) in sides.items() if f"{row},{column}" in BOARD}


@cache
def around(cell: str) -> frozenset[str]:
    """The neighbours of a cell."""
    return frozenset(by_direction(cell).values())


def path_cells(state: Mapping[str, Any]) -> set[str]:
    """The cells that are path now."""
    laid = state["laid"]
    return {cell for cell in BOARD if laid.get(cell, "path" if BOARD[cell] in "." + SPECIAL else "wall") == "path"}


def walks(start: str, length: int, ground: set[str]) -> set[str]:
    """The ends of all walks of that length over `ground`, step by step, never straight back."""
    ends = {(start, "")}
    for _ in range(length):
        ends = {(after, here) for here, before in ends for after in around(here) & ground if after != before}
    return {end for end, _ in ends}


def targets(state: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """Where the move to be made may end by exact count, and where else; by trying all walks."""
    seat, n = state["to_act"], state["num_players"]
    shut = {state["phantom"]}
    if not state["violins"][seat] or state["roses"][seat] < REQUIRED[n]:
        shut |= with_sign("F")
    landing = path_cells(state) - shut
    ground = set(BOARD) - with_sign("".join(ROOMS)) - shut if state["passage"] else landing
    steps = STEPS[state["swift"] or state["face"]]
    start = state["pawns"][seat]
    exact = {end for length in steps for end in walks(start, length, ground)} & landing
    early = {end for length in range(1, steps[0]) for end in walks(start, length, ground)} & landing
    return exact, early - exact - {start} - with_sign("F")


def scene(
    *pawns: str,
    die: str = "4",
    roses: Sequence[int] = (),
    violins: Sequence[int] = (),
    hands: Sequence[str] = (),
    laid: Mapping[str, str] | None = None,
    phantom: str = "room-a",
    blocked: Sequence[int] = (),
    reward: str = "win",
    max_rounds: int = 100,
) -> Table:
    """Seat 0 is first and has to choose; all dice show `die`. `laid` says what lies where, hands are blank-separated.

    The piles hold what is not in the hands, in the order of the items, the last of which is drawn next.
    """
    table = Table(GAME, len(pawns), {"reward": reward, "max_rounds": max_rounds})
    table.deal(0)
    s = table.state
    s["dice"][:] = 0
    s["dice"][FACES.index(die)] = len(pawns)
    s["pawns"][: len(pawns)] = [CELL_NAMES.index(pawn) for pawn in pawns]
    s["phantom"] = PLACE_NAMES.index(phantom)
    s["roses"][: len(roses)] = roses
    s["blocked"][: len(blocked)] = blocked
    s["violins"] = sum(1 << seat for seat in violins)
    for cell, what in (laid or {}).items():
        index = CELL_NAMES.index(cell)
        member = np.uint64(1 << index % 64)
        s["laid"][index // 64] |= member
        s["paths"][index // 64] |= member
        if what == "wall":
            s["paths"][index // 64] ^= member
    for seat, hand in enumerate(hands):
        for item in hand.split():
            give(table, seat, item)
    table.refresh()
    return table


def give(table: Table, seat: int, item: str) -> None:
    """An item out of its pile into a hand; what is left in the pile is put in order."""
    s, kind = table.state, ITEMS.index(item)
    pile = int(PILE_OF[kind])
    left = sorted(s["piles"][pile][: s["pile_size"][pile]].tolist())
    left.remove(kind)
    s["piles"][pile][: len(left)] = left
    s["pile_size"][pile] = len(left)
    s["hands"][seat, kind] += 1
    s["held"][seat, pile] += 1


def play(table: Table, *names: str) -> dict[str, Any]:
    """Play the actions named; the state then."""
    for name in names:
        table.play(table.action_of(name))
    return table.state_dict()


def cells(table: Table, verb: str = "go") -> set[str]:
    """The cells that the legal actions of that verb name."""
    return {name.removeprefix(verb + " ") for name in table.legal_names() if name.startswith(verb + " ")}


def offered(table: Table) -> list[str]:
    """The legal actions but `go`."""
    return [name for name in table.legal_names() if not name.startswith("go ")]


def advice(table: Table) -> int:
    """What the rule bot plays."""
    actions = np.zeros(1, np.int64)
    kernels(GAME).advise(table.states, table.words.reshape(1, -1), actions, 0, 1)
    return int(actions[0])


def random_game(
    players: int, seed: int, limit: int, max_rounds: int = 100, by_rule: float = 0.0
) -> Iterator[tuple[Table, str]]:
    """A table before each step of a game played at random, with the action to come ("" at the end).

    A share `by_rule` of the actions is the rule bot's, which for instance chases.
    """
    rng = np.random.default_rng(seed)
    table = Table(GAME, players, {"max_rounds": max_rounds})
    table.deal(seed)
    while not table.over and limit > 0:
        limit -= 1
        action = advice(table) if rng.random() < by_rule else int(rng.choice(table.legal()))
        yield table, table.action_name(action)
        table.play(action)
    yield table, ""


def phantom_scene(*pawns: str, phantom: str, steps: int, **more: Any) -> Table:
    """The Phantom's move of seat 0, the white die showing `steps`."""
    table = scene(*pawns, phantom=phantom, **more)
    table.state["dice"][:] = 0
    table.state["phase"], table.state["steps"] = PHASES.index("phantom"), steps
    table.refresh()
    return table


def refuge_cells(state: Mapping[str, Any], pawn: str) -> set[str]:
    """Where a pawn can be chased to: path at distance 1-4, counted over all spaces but rooms."""
    near, edge = {pawn}, {pawn}
    for _ in range(4):
        edge = {after for cell in edge for after in around(cell) if BOARD[after] not in ROOMS} - near
        near |= edge
    return (near & path_cells(state)) - {pawn, state["phantom"]} - with_sign("F")
