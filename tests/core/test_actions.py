"""Groups of actions, laid one after the other."""

from __future__ import annotations

from typing import Any

import pytest

from phantom_envs.core.actions import Actions, Group, group

ACTIONS = Actions(
    group("pass", ["pass"], "nothing"),
    Group("card", 3, lambda s, index: f"{s['verb']} {'abc'[index]}", "play a / take a", "a card"),
    group("pile", ["left", "right"], "a pile", shown="left …"),
)


def test_groups_fill_the_space_in_order() -> None:
    assert ACTIONS.size == 6
    assert [(each.key, each.first, each.stop) for each in ACTIONS] == [("pass", 0, 1), ("card", 1, 4), ("pile", 4, 6)]
    assert ACTIONS["pile"].first == 4
    assert [each.shown for each in ACTIONS] == ["pass", "play a / take a", "left …"]


def test_every_action_has_its_name() -> None:
    state: Any = {"verb": "take"}
    names = [ACTIONS.name(state, action) for action in range(ACTIONS.size)]
    assert names == ["pass", "take a", "take b", "take c", "left", "right"]


def test_keys_are_unique() -> None:
    with pytest.raises(ValueError, match="same key"):
        Actions(group("a", ["b"], ""), group("a", ["c"], ""))
