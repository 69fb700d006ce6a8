"""The actions of a game: named groups, one after the other, and what each action is called."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Group:
    """Actions with consecutive indexes.

    Attributes:
        key: Unique among the groups of a game.
        count: Number of actions.
        name: `name(s, i)` is what the i-th action of the group is called in a state (its phase says what it does).
        shown: The names as the documentation lists them.
        meaning: One sentence for the documentation.
        first: Index of the first action, set by `Actions`.
    """

    key: str
    count: int
    name: Callable[[Any, int], str]
    shown: str
    meaning: str
    first: int = 0

    @property
    def stop(self) -> int:
        """Index behind the last action."""
        return self.first + self.count


def group(key: str, names: Sequence[str], meaning: str, shown: str | None = None) -> Group:
    """A group of actions whose names do not depend on the state; all are shown unless `shown` says otherwise."""
    return Group(key, len(names), lambda s, index: names[index], shown or ", ".join(names), meaning)


class Actions:
    """The action space of a game: groups that fill the indexes 0 … size - 1 without gaps.

    Compiled code takes the numbers that it needs, as in `PASS = ACTIONS["pass"].first`.
    """

    def __init__(self, *groups: Group) -> None:
        placed: list[Group] = []
        first = 0
        for each in groups:
            placed.append(replace(each, first=first))
            first = placed[-1].stop
        self.groups: tuple[Group, ...] = tuple(placed)
        self.size: int = first
        self._firsts = [each.first for each in placed]
        self._by_key = {each.key: each for each in placed}
        if len(self._by_key) != len(placed):
            raise ValueError("two groups of actions have the same key")

    def __iter__(self) -> Iterator[Group]:
        return iter(self.groups)

    def __getitem__(self, key: str) -> Group:
        return self._by_key[key]

    def name(self, s: Any, action: int) -> str:
        """The canonical name of an action in a state, `0 <= action < size`."""
        found = self.groups[bisect_right(self._firsts, action) - 1]
        return found.name(s, action - found.first)
