"""The digest of an observation's layout: what changes the reading of an observation changes it, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from phantom_envs.core.layout import Block, Layout
from phantom_envs.registry import game_ids, get_game

HAND = Block("hand", (2, 3), 0, 1, "Cards in hand.", actions=(0, 3))
SCORE = Block("score", (6,), -5, 5, "Points.")
DIGEST = Layout(HAND, SCORE).digest


def test_equal_layouts_have_equal_digests() -> None:
    assert Layout(HAND, SCORE).digest == DIGEST
    assert Layout(replace(HAND, meaning="What the seat holds."), SCORE).digest == DIGEST


@pytest.mark.parametrize(
    "layout",
    [
        Layout(SCORE, HAND),
        Layout(HAND),
        Layout(replace(HAND, name="cards"), SCORE),
        Layout(replace(HAND, shape=(3, 2)), SCORE),
        Layout(replace(HAND, low=-1), SCORE),
        Layout(replace(HAND, high=2), SCORE),
        Layout(replace(HAND, actions=(1, 3)), SCORE),
        Layout(replace(HAND, actions=None), SCORE),
    ],
)
def test_what_changes_the_reading_changes_the_digest(layout: Layout) -> None:
    assert layout.digest != DIGEST


def test_no_two_games_or_player_counts_share_a_digest() -> None:
    layouts = [get_game(game_id).layout(players) for game_id in game_ids() for players in get_game(game_id).players]
    assert len({layout.digest for layout in layouts}) == len(layouts)
