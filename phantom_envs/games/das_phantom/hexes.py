"""Sets of cells, and walks on them. A board is four `uint64` words: cell i is bit i % 64 of word i // 64.

A step in one direction moves a whole board at once. Rows are shifted half a cell against each other, so a step up or
down moves the cells of odd and of even rows by different amounts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY, bit, has, lowest
from phantom_envs.core.jit import jit
from phantom_envs.games.das_phantom.components import (
    EVEN_ROWS,
    EVERYWHERE,
    NOT_FIRST_COLUMN,
    NOT_LAST_COLUMN,
    ODD_ROWS,
    Words,
)

NOWHERE = (EMPTY, EMPTY, EMPTY, EMPTY)


@jit
def load(words: Any) -> Any:
    """The board in an array of (at least) four words."""
    return words[0], words[1], words[2], words[3]


@jit
def store(words: Any, board: Words) -> None:
    """Put a board into an array of (at least) four words."""
    words[0] = board[0]
    words[1] = board[1]
    words[2] = board[2]
    words[3] = board[3]


@jit
def only(cell: int) -> Any:
    """The board {cell}; nowhere for a `cell` of 256 and more."""
    member = bit(cell & 63)
    word = cell >> 6
    return (
        member if word == 0 else EMPTY,
        member if word == 1 else EMPTY,
        member if word == 2 else EMPTY,
        member if word == 3 else EMPTY,
    )


@jit
def both(a: Words, b: Words) -> Any:
    """The cells in `a` and `b`."""
    return a[0] & b[0], a[1] & b[1], a[2] & b[2], a[3] & b[3]


@jit
def either(a: Words, b: Words) -> Any:
    """The cells in `a` or `b`."""
    return a[0] | b[0], a[1] | b[1], a[2] | b[2], a[3] | b[3]


@jit
def without(a: Words, b: Words) -> Any:
    """The cells in `a`, not in `b`."""
    return a[0] & ~b[0], a[1] & ~b[1], a[2] & ~b[2], a[3] & ~b[3]


@jit
def is_empty(a: Words) -> bool:
    """Whether no cell is in `a`."""
    return bool((a[0] | a[1] | a[2] | a[3]) == EMPTY)


@jit
def lowest_cell(a: Words) -> int:
    """The lowest cell in `a`, -1 if it is empty."""
    for word in range(4):
        if a[word] != EMPTY:
            return 64 * word + lowest(a[word])
    return -1


@jit
def neighbours(a: Words) -> Any:
    """The cells next to a cell of `a`."""
    return steps_any(a, gates(EVERYWHERE))


@jit
def flood(start: Words, ground: Words) -> Any:
    """`start`, and all that can be reached from there over `ground`."""
    gate = gates(ground)
    seen, level = start, start
    while not is_empty(level):
        level = without(steps_any(level, gate), seen)
        seen = either(seen, level)
    return seen


@jit
def nearest(goals: Words, ground: Words, ends: Words) -> Any:
    """Those of `ends` that have the fewest steps over `ground` to one of `goals`; empty if none gets there."""
    gate = gates(ground)
    seen, level = goals, goals
    found = both(goals, ends)
    while is_empty(found) and not is_empty(level):
        level = without(steps_any(level, gate), seen)
        seen = either(seen, level)
        found = both(level, ends)
    return found


@jit
def inside(words: Any, member: int) -> bool:
    """Whether a cell is in the board, or an action in the set, kept in an array of words."""
    return has(words[member >> 6], member & 63)


@jit
def put(words: Any, cell: int) -> None:
    """Add `cell` to the board kept in an array of words."""
    words[cell >> 6] |= bit(cell & 63)


@jit
def remove(words: Any, cell: int) -> None:
    """Take `cell` out of the board kept in an array of words."""
    words[cell >> 6] &= ~bit(cell & 63)


@jit
def _up_by(a: Words, amount: int) -> Any:
    """All cells to indexes higher by `amount`, 1 … 63."""
    left, right = np.uint64(amount), np.uint64(64 - amount)
    return a[0] << left, a[1] << left | a[0] >> right, a[2] << left | a[1] >> right, a[3] << left | a[2] >> right


@jit
def _down_by(a: Words, amount: int) -> Any:
    """All cells to indexes lower by `amount`, 1 … 63."""
    right, left = np.uint64(amount), np.uint64(64 - amount)
    return a[0] >> right | a[1] << left, a[1] >> right | a[2] << left, a[2] >> right | a[3] << left, a[3] >> right


@jit
def gates(ground: Words) -> Any:
    """`ground` cut up as `step_e` … `step_se` need it: where a step may end, by row and edge."""
    odd, even = both(ground, ODD_ROWS), both(ground, EVEN_ROWS)
    return (
        both(ground, NOT_FIRST_COLUMN),
        both(ground, NOT_LAST_COLUMN),
        odd,
        both(odd, NOT_LAST_COLUMN),
        even,
        both(even, NOT_FIRST_COLUMN),
    )


@jit
def step_e(a: Words, gate: Any) -> Any:
    """The cells of the ground one step east of `a`."""
    return both(_up_by(a, 1), gate[0])


@jit
def step_w(a: Words, gate: Any) -> Any:
    """The cells of the ground one step west of `a`."""
    return both(_down_by(a, 1), gate[1])


@jit
def step_ne(a: Words, gate: Any) -> Any:
    """The cells of the ground one step north-east of `a`."""
    return either(both(_down_by(a, 16), gate[2]), both(_down_by(a, 15), gate[5]))


@jit
def step_nw(a: Words, gate: Any) -> Any:
    """The cells of the ground one step north-west of `a`."""
    return either(both(_down_by(a, 17), gate[3]), both(_down_by(a, 16), gate[4]))


@jit
def step_sw(a: Words, gate: Any) -> Any:
    """The cells of the ground one step south-west of `a`."""
    return either(both(_up_by(a, 15), gate[3]), both(_up_by(a, 16), gate[4]))


@jit
def step_se(a: Words, gate: Any) -> Any:
    """The cells of the ground one step south-east of `a`."""
    return either(both(_up_by(a, 16), gate[2]), both(_up_by(a, 17), gate[5]))


@jit
def steps_any(a: Words, gate: Any) -> Any:
    """The cells of the ground one step away from a cell of `a`."""
    level = either(step_e(a, gate), step_w(a, gate))
    return either(level, either(steps_up(a, gate), steps_down(a, gate)))


@jit
def steps_up(a: Words, gate: Any) -> Any:
    """The cells of the ground one step north-east or north-west of a cell of `a`."""
    return either(step_ne(a, gate), step_nw(a, gate))


@jit
def steps_down(a: Words, gate: Any) -> Any:
    """The cells of the ground one step south-west or south-east of a cell of `a`."""
    return either(step_sw(a, gate), step_se(a, gate))


@jit
def _onward(reached: Words, twice: Words, back: Words) -> Any:
    """Where a step may start that would lead straight back for whoever came by `back`.

    All that was `reached`, but not what was reached by `back` alone: `twice` was reached in two directions or more.
    """
    return either(without(reached, back), twice)


@jit
def walk(start: int, ground: Words, least: int, most: int) -> Any:
    """Where walks from `start` over `ground` end that never step straight back.

    `start` itself need not be ground. For each of the six directions the cells are kept that were entered by it.

    Returns:
        The ends of walks of `least` … `most` steps, and those of walks of 1 … `least` - 1 steps, as boards.
    """
    gate = gates(ground)
    here = only(start)
    e, ne, nw = step_e(here, gate), step_ne(here, gate), step_nw(here, gate)
    w, sw, se = step_w(here, gate), step_sw(here, gate), step_se(here, gate)
    exact, early = NOWHERE, NOWHERE
    for length in range(1, most + 1):
        reached = either(e, ne)
        twice = both(e, ne)
        twice, reached = either(twice, both(reached, nw)), either(reached, nw)
        twice, reached = either(twice, both(reached, w)), either(reached, w)
        twice, reached = either(twice, both(reached, sw)), either(reached, sw)
        twice, reached = either(twice, both(reached, se)), either(reached, se)
        if length < least:
            early = either(early, reached)
        else:
            exact = either(exact, reached)
        if length < most:
            e, w = step_e(_onward(reached, twice, w), gate), step_w(_onward(reached, twice, e), gate)
            ne, sw = step_ne(_onward(reached, twice, sw), gate), step_sw(_onward(reached, twice, ne), gate)
            nw, se = step_nw(_onward(reached, twice, se), gate), step_se(_onward(reached, twice, nw), gate)
    return exact, early
