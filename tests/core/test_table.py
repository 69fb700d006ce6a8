"""A single game in play: what it is asked by number is checked before compiled code gets it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from phantom_envs.core.errors import IllegalAction, InvalidAction, InvalidSeat, NotReset
from phantom_envs.core.table import Table
from phantom_envs.registry import game_ids, get_game

every_game = pytest.mark.parametrize("game_id", game_ids())
every_setting = pytest.mark.parametrize(
    ("game_id", "players"), [(game_id, players) for game_id in game_ids() for players in get_game(game_id).players]
)

NO_INTEGERS: list[Any] = [True, False, np.True_, 1.0, 0.5, "1", None, [1], np.array([1, 2]), 1j]


@every_setting
def test_seats_that_nobody_has_are_refused(game_id: str, players: int) -> None:
    table = Table(get_game(game_id), players)
    table.deal(3)
    before = table.states.tobytes()
    for seat in [-1, -players, players, 50, 10**9, 2**63, 10**30, *NO_INTEGERS]:
        with pytest.raises(InvalidSeat, match=f"give a seat from 0 to {players - 1}"):
            table.observe(seat)
        with pytest.raises(InvalidSeat, match=f"give a seat from 0 to {players - 1}"):
            table.resample(seat, seed=1)
        if seat is not None:  # who sees everything
            with pytest.raises(InvalidSeat, match=f"give a seat from 0 to {players - 1}"):
                table.game.picture(table.state, seat, False)
    assert table.states.tobytes() == before
    for first in (np.int8(0), np.uint64(0)):
        assert (table.observe(first) == table.observe(0)).all()
        assert table.game.picture(table.state, first, False) == table.game.picture(table.state, 0, False)


@every_game
def test_actions_that_there_are_not_have_no_name(game_id: str) -> None:
    table = Table(get_game(game_id))
    table.deal(3)
    last = table.game.num_actions - 1
    for action in (-1, last + 1, 10**9, 10**30):
        with pytest.raises(IllegalAction, match=f"no action {action}; they are 0 … {last}"):
            table.action_name(action)
    for action in NO_INTEGERS:
        with pytest.raises(InvalidAction, match=f"an action is an integer from 0 to {last}, got"):
            table.action_name(action)
    legal = table.legal()[0]
    assert table.action_name(np.int64(legal)) == table.legal_names()[0]


@every_game
def test_actions_that_are_no_integers_are_refused(game_id: str) -> None:
    table = Table(get_game(game_id))
    table.deal(3)
    rng = np.random.default_rng(0)
    while 1 not in table.legal():  # so that True would be legal if it counted as 1
        table.play(rng.choice(table.legal()))
        if table.over:
            table.deal()
    before = table.states.tobytes()
    for action in NO_INTEGERS:
        assert not table.attempt(action)
        with pytest.raises(InvalidAction, match="an action is an integer"):
            table.play(action)
    assert table.states.tobytes() == before
    assert table.attempt(1)


@every_game
def test_nothing_that_is_shown_makes_an_action_legal(game_id: str) -> None:
    table = Table(get_game(game_id))
    table.deal(3)
    legal = table.legal()
    wrong = next(action for action in range(table.game.num_actions) if action not in legal)
    table.words[:] = ~np.uint64(0)
    table.mask[:] = 1
    assert table.legal() == legal
    with pytest.raises(IllegalAction, match=f"may not choose action {wrong} "):
        table.play(wrong)
    table.play(legal[0])
    assert table.mask.sum() == len(table.legal())


@pytest.mark.parametrize("ask", [lambda t: t.observe(0), lambda t: t.resample(0, 1), lambda t: t.action_name(0)])
def test_nothing_is_known_of_a_game_that_was_not_dealt(ask: Callable[[Table], Any]) -> None:
    table = Table(get_game("phantom_v0"))
    with pytest.raises(NotReset, match="no game has been dealt"):
        ask(table)
    table.deal(1)
    ask(table)
    other = Table(get_game("phantom_v0"))
    other.states[0] = table.states[0]
    other.refresh()
    ask(other)
