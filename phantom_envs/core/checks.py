"""What callers give by number, checked before compiled code gets it: that knows no bounds and would use any memory."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phantom_envs.core.errors import IllegalAction, InvalidAction, InvalidBatch, InvalidRow, InvalidSeat


def as_index(given: Any) -> int | None:
    """`given` as an integer, or None. True and False are none, though Python counts with them."""
    try:
        return None if isinstance(given, bool) else operator.index(given)
    except TypeError:
        return None


def as_seat(given: Any, num_players: int) -> int:
    """`given` as a seat of 0 … `num_players` - 1, else `InvalidSeat`."""
    seat = as_index(given)
    if seat is None or not 0 <= seat < num_players:
        raise InvalidSeat(f"seat={given!r}: give a seat from 0 to {num_players - 1}")
    return seat


def as_row(given: Any, count: int) -> int:
    """`given` as a row of 0 … `count` - 1, else `InvalidRow`."""
    row = as_index(given)
    if row is None or not 0 <= row < count:
        raise InvalidRow(f"row={given!r}: give a row from 0 to {count - 1}")
    return row


def as_action(given: Any, num_actions: int) -> int:
    """`given` as an integer, not yet held against `num_actions`; else `InvalidAction`."""
    action = as_index(given)
    if action is None:
        kind = type(given).__name__
        raise InvalidAction(f"an action is an integer from 0 to {num_actions - 1}, got {given!r} of type {kind}")
    return action


def as_known_action(given: Any, num_actions: int) -> int:
    """`given` as an action of 0 … `num_actions` - 1, else `InvalidAction` or `IllegalAction`."""
    action = as_action(given, num_actions)
    if not 0 <= action < num_actions:
        raise IllegalAction(f"there is no action {action}; they are 0 … {num_actions - 1}")
    return action


def as_actions(
    given: Any,
    count: int,
    complaint: str = "actions must be integers of shape ({count},), got {what}",
    who: Any = None,
) -> NDArray[np.int64]:
    """`given` as `count` integers, `given` itself if it will do; else `InvalidAction` with the complaint, filled in."""
    what = ""
    try:
        actions = np.asarray(given)
        if actions.shape != (count,) or actions.dtype.kind not in "iu":
            what = f"{actions.dtype} {actions.shape}"
        elif actions is not given and isinstance(given, list | tuple) and any(map(_is_bool, given)):
            what = "bool among integers"  # which NumPy takes for 0 and 1
    except ValueError:
        what = "rows of different lengths"
    if what:
        raise InvalidAction(complaint.format(count=count, what=what, who=who))
    return np.ascontiguousarray(actions, np.int64)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def as_seeds_of(given: Any, count: int) -> NDArray[np.uint64]:
    """`given` as seeds (`count`, …), a copy; else `InvalidBatch`."""
    seeds = given if isinstance(given, np.ndarray) else np.array(given, object)  # NumPy turns some integers into floats
    if seeds.dtype == object:
        whole = all(as_index(each) is not None and 0 <= each < 2**64 for each in seeds.flat)
    else:
        whole = seeds.dtype.kind in "iu" and bool((seeds >= 0).all())
    if seeds.shape[:1] != (count,) or not whole:
        raise InvalidBatch(
            f"seeds must be integers of 0 … 2**64 - 1 in shape ({count},) or ({count}, M), "
            f"got {seeds.dtype} {seeds.shape}"
        )
    return seeds.astype(np.uint64)
