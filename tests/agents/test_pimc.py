"""Perfect-information Monte Carlo: what counts, what it reports, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents.pimc import PimcAgent
from agents.search.kernels import search_kernels
from agents.search.playout import goal_weights
from agents.search.searcher import NotPrepared
from phantom_envs.core.errors import InvalidOption
from phantom_envs.core.jit import JIT_DISABLED
from phantom_envs.core.table import Table
from phantom_envs.registry import get_game
from tests.agents.support import by_name, decisions_of, ready, walk
from tests.games.phantom_scene import scene

PASS, WELL = "pass", "play well at garden"


def last_turn() -> Table:
    """The 100th turn, no points on either side. With the well, fear 7 takes the girl: 2 points, and the game."""
    return scene(
        garden="girl|cemetery|",
        basement="father mother||",
        ground="uncle aunt||",
        first="boy baby||",
        hands=("well", ""),
        turn=100,
    )


# With a pass both have no points and share the victory: nobody gains. With the well seat 0 wins (1), with a point more
# than the mean of 2 and 0, which counts a tenth; `both` is that and half of the win.
GOALS = [("win", 1.0), ("score", 0.1), ("both", 0.6)]


@pytest.mark.parametrize(("goal", "worth"), GOALS)
@pytest.mark.parametrize("rollout", ["rule", "random"])
def test_what_counts(goal: str, worth: float, rollout: str) -> None:
    table = last_turn()
    decisions = decisions_of([table])
    agent = ready(PimcAgent(worlds=3, goal=goal, rollout=rollout), table)
    assert by_name(decisions, 0, agent.search(decisions).values) == pytest.approx({PASS: 0.0, WELL: worth})
    assert table.legal_names()[table.legal().index(int(agent.act(decisions)[0]))] == WELL


@pytest.mark.parametrize(
    ("game_id", "players", "goal", "weights"),
    [
        ("phantom_trick_v0", 4, "win", (1.0, 0.0)),
        ("phantom_trick_v0", 4, "score", (0.0, 0.1)),
        ("phantom_trick_v0", 4, "both", (0.5, 0.1)),
        ("fantasmagoria_v0", 3, "score", (0.0, -0.1)),  # few are good
        ("fantasmagoria_v0", 3, "both", (0.5, -0.1)),
        ("phantom_v0", 2, "both", (0.5, 0.1)),
    ],
)
def test_weights_of_winning_and_of_a_point(game_id: str, players: int, goal: str, weights: tuple[float, float]) -> None:
    assert goal_weights(get_game(game_id), players, goal) == pytest.approx(weights)


def test_every_legal_action_is_tried_equally_often() -> None:
    tables = walk("fantasmagoria_v0", 4, {}, seed=3, every=6, most=5)
    decisions = decisions_of(tables)
    found = ready(PimcAgent(worlds=4, playouts=3, searches=2), tables[0]).search(decisions)
    assert (found.visits == 4 * 3 * 2 * decisions.mask).all()
    assert (np.isnan(found.values) == (decisions.mask == 0)).all()
    assert (found.values[decisions.mask > 0] != 0).any()


def test_no_decisions_are_no_trouble() -> None:
    table = last_turn()
    agent = ready(PimcAgent(worlds=2), table)
    decisions = decisions_of([table])
    none = type(decisions)(table.game, 2, table.options, table.states[:0], decisions.keys[:0], decisions.tables[:0])
    assert agent.act(none).shape == (0,)


def test_all_compiles_before_the_first_decision() -> None:
    if JIT_DISABLED:
        pytest.skip("nothing is compiled")
    table = last_turn()
    ready(PimcAgent(milliseconds=1.0), table)
    survey: Any = search_kernels(table.game).survey
    known = len(survey.signatures)
    assert known > 0
    ready(PimcAgent(milliseconds=1.0), table).search(decisions_of([table]))
    ready(PimcAgent(worlds=2), table).search(decisions_of([table]))
    assert len(survey.signatures) == known


def test_more_time_is_more_worlds_and_some_world_is_always_seen() -> None:
    tables = walk("phantom_trick_v0", 3, {}, seed=3, every=20, most=2)
    decisions = decisions_of(tables)
    tried = []
    for milliseconds in (0.001, 500.0):
        visits = ready(PimcAgent(milliseconds=milliseconds), tables[0]).search(decisions).visits
        assert ((visits > 0) == (decisions.mask > 0)).all()
        tried.append(visits.max(axis=1))
    assert (tried[1] > tried[0]).all()


def test_it_must_know_its_game() -> None:
    with pytest.raises(NotPrepared, match=r"call prepare\(game, num_players, options\)"):
        PimcAgent().act(decisions_of([last_turn()]))


def test_games_of_one_deal_have_no_horizon_but_their_end() -> None:
    with pytest.raises(InvalidOption, match=r"horizon='deal': phantom_v0 is a single deal; leave it at 'game'"):
        ready(PimcAgent(horizon="deal"), last_turn())


BAD: list[tuple[dict[str, Any], str]] = [
    ({"rollout": "rulebot"}, r"rollout='rulebot': choose one of 'random', 'rule', 'none'"),
    ({"horizon": "round"}, r"horizon='round': choose one of 'game', 'deal'"),
    ({"goal": "points"}, r"goal='points': choose one of 'win', 'score', 'both'"),
    ({"noise": 1.5}, r"noise=1.5: give a number from 0 to 1"),
    ({"noise": True}, r"noise=True: give a number from 0 to 1"),
    ({"noise": "0.1"}, r"noise='0.1': give a number from 0 to 1"),
    ({"milliseconds": 0}, r"milliseconds=0: give a positive number"),
    ({"milliseconds": float("inf")}, r"milliseconds=inf: give a positive number"),
    ({"milliseconds": float("nan")}, r"milliseconds=nan: give a positive number"),
    ({"searches": 0}, r"searches=0: give an integer of at least 1"),
    ({"threads": 1.0}, r"threads=1.0: give an integer of at least 1"),
]
"""Options of both searches that are refused, and how."""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *BAD,
        ({"worlds": 0}, r"worlds=0: give an integer of at least 1"),
        ({"worlds": True}, r"worlds=True: give an integer of at least 1"),
        ({"playouts": "many"}, r"playouts='many': give an integer of at least 1"),
        ({"rollout": "none"}, r"rollout='none': without playouts there is nothing to compare; choose 'rule'"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        PimcAgent(**options)
