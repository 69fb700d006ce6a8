"""Information-set MCTS as an agent: budgets, kept trees, trees out of room, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents.ismcts
from agents.ismcts import IsmctsAgent
from agents.search.budget import portions
from agents.search.forest import Forest, Owners
from agents.search.found import Found
from agents.search.searcher import NotPrepared
from phantom_envs.arena.agent import ask
from phantom_envs.core.errors import InvalidOption
from phantom_envs.core.table import Table
from phantom_envs.registry import game_ids, get_game
from tests.agents.support import by_name, decisions_of, ready, same_found, walk
from tests.agents.test_pimc import BAD, GOALS, PASS, WELL, last_turn

every_game = pytest.mark.parametrize("game_id", game_ids())


def tables_of(game_id: str, most: int = 4) -> list[Table]:
    return walk(game_id, get_game(game_id).default_players, {}, seed=5, every=11, most=most)


@pytest.mark.parametrize(("goal", "worth"), GOALS)
@pytest.mark.parametrize("selection", ["ucb", "puct"])
def test_what_counts(goal: str, worth: float, selection: str) -> None:
    table = last_turn()
    decisions = decisions_of([table])
    agent = ready(IsmctsAgent(iterations=40, goal=goal, selection=selection, exploration=2.0), table)
    found = agent.search(decisions)
    assert by_name(decisions, 0, found.values) == pytest.approx({PASS: 0.0, WELL: worth})
    assert by_name(decisions, 0, found.visits)[WELL] > 20


@every_game
def test_every_iteration_but_the_first_tries_an_action(game_id: str) -> None:
    """The first one makes the root."""
    tables = tables_of(game_id)
    decisions = decisions_of(tables)
    for searches in (1, 2):
        found = ready(IsmctsAgent(iterations=20, searches=searches), tables[0]).search(decisions)
        assert (found.visits.sum(axis=1) == 19 * searches).all()
        assert (found.visits[decisions.mask == 0] == 0).all()
        assert (np.isnan(found.values) == (found.visits == 0)).all()


@every_game
def test_with_no_time_to_try_anything_the_answer_is_legal(game_id: str) -> None:
    tables = tables_of(game_id)
    decisions = decisions_of(tables)
    for agent in (IsmctsAgent(iterations=1), IsmctsAgent(milliseconds=1e-6)):
        ready(agent, tables[0])
        assert (agent.search(decisions).visits.sum(axis=1) >= 1).all()
        ask(agent, "hasty", decisions)


def test_by_the_clock_more_time_is_more_iterations() -> None:
    tables = tables_of("phantom_trick_v0", 2)
    decisions = decisions_of(tables)
    tried = []
    for milliseconds in (1e-6, 500.0):
        agent = ready(IsmctsAgent(milliseconds=milliseconds, threads=2), tables[0])
        tried.append(agent.search(decisions).visits.sum(axis=1))
    assert (tried[1] > tried[0]).all()


def test_portions_follow_each_other_until_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that ticks 1 ms an iteration; in 100 ms these are 100, but for the last portion."""
    clock = [0.0]
    monkeypatch.setattr("agents.search.budget.perf_counter", lambda: clock[0])
    done = []
    for portion in portions(0.1):
        done.append(portion)
        clock[0] += 0.001 * len(portion)
    assert [part.start for part in done] == [0, *(part.stop for part in done[:-1])]
    assert 100 <= done[-1].stop <= 108
    assert 5 < len(done) < 40


# Kept trees


def test_a_kept_tree_goes_on_where_it_was() -> None:
    table = tables_of("fantasmagoria_v0")[1]
    agent = ready(IsmctsAgent(iterations=30, reuse=True), table)
    decisions = decisions_of([table], [3], [8])
    assert [int(agent.search(decisions).visits.sum()) for _ in range(3)] == [29, 59, 89]
    others = decisions_of([table], [3], [9])
    assert agent.search(others).visits.sum() == 29  # another game
    assert same_found(ready(agent, table).search(others), ready(IsmctsAgent(iterations=30), table).search(others))


def test_a_kept_tree_knows_what_follows() -> None:
    """After the action and whatever comes of it in the tree, its next decision there has visits already."""
    table = last_turn()
    table.state["turn"] = 97
    table.state["hands"][0] = np.uint64(0)
    table.refresh()
    agent = ready(IsmctsAgent(iterations=200, reuse=True), table)
    table.state["hands"][0] = last_turn().state["hands"][0]
    table.refresh()
    agent.search(decisions_of([table], [1], [0]))
    table.play(table.action_of(PASS))
    while table.seat != 0 or len(table.legal()) == 1:
        table.play(table.legal()[0])
    assert agent.search(decisions_of([table], [2], [0])).visits.sum() > 200


def test_a_full_kept_tree_begins_anew() -> None:
    """There is room for eight decisions; each new node takes an iteration, so it lasts for seven at least."""
    table = tables_of("phantom_trick_v0")[0]
    agent = ready(IsmctsAgent(iterations=25, reuse=True), table)
    sums = [int(agent.search(decisions_of([table], [key], [0])).visits.sum()) for key in range(30)]
    assert sums[:7] == [24 + 25 * times for times in range(7)]
    assert min(sums[7:]) == 24


def test_the_tree_longest_unused_gives_way() -> None:
    owners = Owners(2)
    a, b, c = (1, 0), (1, 1), (2, 0)
    first, new = owners.find(*a)
    assert new
    second, new = owners.find(*b)
    assert new
    assert {first, second} == {0, 1}
    assert owners.find(*a) == (first, False)
    assert owners.find(*c) == (second, True)  # b's
    assert owners.find(*a) == (first, False)
    assert owners.find(*b) == (second, True)  # c's


@pytest.mark.parametrize("threads", [1, 2])
def test_more_games_than_kept_trees(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = walk("phantom_trick_v0", 3, {}, seed=1, every=4, most=7)
    decisions = decisions_of(tables)
    plain = ready(IsmctsAgent(iterations=20), tables[0]).search(decisions)
    monkeypatch.setattr(agents.ismcts, "KEPT_TREES", 3)
    agent = ready(IsmctsAgent(iterations=20, reuse=True, threads=threads), tables[0])
    assert same_found(agent.search(decisions), plain)
    assert same_found(
        agent.search(decisions), plain
    )  # nothing was kept of the first ones, as the last took their trees


# Out of room


@every_game
@pytest.mark.parametrize(("nodes", "edges"), [(1, 1), (1, 50), (3, 2), (50, 3)])
def test_a_tree_out_of_room_still_answers(game_id: str, nodes: int, edges: int) -> None:
    tables = tables_of(game_id)
    decisions = decisions_of(tables)
    for selection in ("ucb", "puct"):
        agent = ready(IsmctsAgent(iterations=40, selection=selection), tables[0])
        agent.forest = Forest(1, nodes, edges)
        found = agent.search(decisions)
        assert (found.visits.sum(axis=1) == 39).all()
        assert ((found.visits > 0).sum(axis=1) <= edges).all()
        assert (decisions.mask[np.arange(len(tables)), agent.choose(found)] == 1).all()
        assert agent.forest.heads["num_nodes"][0] <= nodes


# Choosing


def test_the_choice_among_equals() -> None:
    visits = np.array([[0, 3, 5, 5], [2, 2, 0, 2], [0, 0, 1, 0]])
    totals = np.array([[0.0, 9.0, -5.0, 0.0], [-2.0, -2.0, 0.0, -4.0], [0.0, 0.0, np.nan, 0.0]])
    found = Found.of(visits, totals)
    assert found.values[0].tolist()[1:] == [3.0, -1.0, 0.0]
    assert found.most_visited().tolist() == [3, 0, 2]  # of equals the better, then the lowest
    assert found.best().tolist() == [1, 0, 2]
    assert np.isnan(found.values[[0, 1], [0, 2]]).all()


# What is refused


def test_it_must_know_its_game() -> None:
    with pytest.raises(NotPrepared, match=r"call prepare\(game, num_players, options\)"):
        IsmctsAgent().search(decisions_of([last_turn()]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *BAD,
        ({"iterations": 0}, r"iterations=0: give an integer of at least 1"),
        ({"iterations": 10.0}, r"iterations=10.0: give an integer of at least 1"),
        ({"selection": "uct"}, r"selection='uct': choose one of 'ucb', 'puct'"),
        ({"exploration": 0}, r"exploration=0: give a positive number"),
        ({"exploration": "2"}, r"exploration='2': give a positive number"),
        ({"trust": -0.1}, r"trust=-0.1: give a number from 0 to 1"),
        ({"trust": 0.5, "selection": "ucb"}, r"selection='ucb' uses no priors; with a network or trust=… take 'puct'"),
        ({"reuse": 1}, r"reuse=1: give True or False"),
        ({"rollout": "none"}, r"rollout='none' needs a network=… that judges leaves, or choose 'rule' or 'random'"),
        ({"leaves": 0}, r"leaves=0: give an integer of at least 1"),
        ({"threshold": 0}, r"threshold=0: give an integer of at least 1"),
        ({"doubt": 2}, r"doubt=2: give a number from 0 to 1"),
        ({"blend": 7}, r"blend=7: give a number from 0 to 1"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        IsmctsAgent(**options)
