"""What agents are shown, and what becomes of their answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from phantom_envs.arena.agent import AgentError, Decision, Decisions, ask
from phantom_envs.arena.builtin import RandomAgent, RuleAgent
from phantom_envs.core.errors import GameOver, InvalidAction, InvalidBatch, InvalidRow
from phantom_envs.core.game import States
from phantom_envs.core.table import Table
from phantom_envs.registry import get_game
from tests.arena.bots import Answers, Drawing, First, ravage

GAME = get_game("phantom_trick_v0")


def tables(count: int, steps: int = 20) -> list[Table]:
    """Games of Phantom Trick, each some random steps in."""
    played = []
    for seed in range(count):
        table = Table(GAME, 4)
        table.deal(seed)
        rng = np.random.default_rng(seed)
        for _ in range(steps + seed):
            table.play(rng.choice(table.legal()))
        played.append(table)
    return played


def decisions_of(played: list[Table], keys: Any = None) -> Decisions:
    states = np.concatenate([table.states for table in played])
    numbers = np.arange(len(played))
    given = numbers.astype(np.uint64) * np.uint64(977) if keys is None else np.array(keys, np.uint64)
    return Decisions(GAME, 4, played[0].options, states, given, numbers)


def test_decisions_show_what_the_seats_to_act_know() -> None:
    played = tables(6)
    decisions = decisions_of(played)
    assert len(decisions) == 6
    for row, (table, one) in enumerate(zip(played, decisions, strict=True)):
        assert decisions.seat[row] == one.seat == table.seat
        assert (decisions.observation[row] == table.observe(table.seat)).all()
        assert (one.observation == table.observe(table.seat)).all()
        assert (decisions.mask[row] == table.mask).all()
        assert (one.mask == table.mask).all()
        assert decisions.names(row) == one.names() == table.legal_names()
        assert decisions.legal(row) == one.legal() == table.legal()
        assert (one.key, one.table) == (977 * row, row)


def hands(worlds: States, seat: int) -> set[tuple[int, ...]]:
    """The different hands of the others."""
    return {tuple(np.delete(world["hands"], seat).tolist()) for world in worlds}


def test_worlds_keep_what_the_seat_knows_and_redraw_the_rest() -> None:
    played = tables(6)
    decisions = decisions_of(played)
    before = [table.states.tobytes() for table in played]
    seeds = np.arange(60, dtype=np.uint64).reshape(6, 10)
    worlds = decisions.determinize(seeds)
    assert worlds.shape == (6, 10)
    for row, table in enumerate(played):
        seat = table.seat
        assert len(hands(worlds[row], seat)) > 5
        for world in worlds[row]:
            assert world["rng"] != table.state["rng"]
            assert world["seed"] != table.state["seed"]
            twin = table.copy()
            twin.states[0] = world
            twin.refresh()
            assert (twin.observe(seat) == table.observe(seat)).all()
            assert twin.legal() == table.legal()
    assert [table.states.tobytes() for table in played] == before


def test_a_world_depends_on_its_seed_alone() -> None:
    decisions = decisions_of(tables(6))
    seeds = np.arange(60, dtype=np.uint64).reshape(6, 10)
    many = decisions.determinize(seeds)
    assert (decisions.determinize(seeds[:, 3]) == many[:, 3]).all()
    assert decisions.world(2, 23).states[0] == many[2, 3]


@pytest.mark.parametrize("row", [-1, 6, 10**9, True, 1.0, None, slice(2)])
def test_rows_that_there_are_not_are_refused(row: Any) -> None:
    decisions = decisions_of(tables(6))
    for ask_for in (decisions.__getitem__, decisions.legal, decisions.names):
        with pytest.raises(InvalidRow, match="give a row from 0 to 5"):
            ask_for(row)
    with pytest.raises(InvalidRow, match="give a row from 0 to 5"):
        decisions.world(row, 3)


@pytest.mark.parametrize(
    "seeds",
    [
        [1, 2, 3],
        np.zeros((3, 4), np.int64),
        7,
        np.zeros(6),
        [-1] * 6,
        [2**64] * 6,
        np.full(6, -1),
        [True] * 6,
        ["1"] * 6,
    ],
)
def test_wrong_seeds_of_worlds_are_refused(seeds: Any) -> None:
    with pytest.raises(InvalidBatch, match=r"seeds must be integers of 0 … 2\*\*64 - 1 in shape \(6,\) or"):
        decisions_of(tables(6)).determinize(seeds)


def test_seeds_of_worlds_may_be_any_integers() -> None:
    decisions = decisions_of(tables(3))
    worlds = decisions.determinize(np.array([2**63, 1, 2], np.uint64))
    assert (decisions.determinize([2**63, 1, 2]) == worlds).all()  # type: ignore[arg-type]  # a list will do
    assert (decisions.determinize(np.array([5, 1, 2], np.int8))[1:] == worlds[1:]).all()


def test_no_worlds_may_be_asked_for() -> None:
    assert decisions_of(tables(6)).determinize(np.zeros((6, 0), np.uint64)).shape == (6, 0)


def test_a_decision_imagines_games_that_can_be_played_on() -> None:
    table = tables(1)[0]
    one = decisions_of([table])[0]
    rng = np.random.default_rng(5)
    imagined = [one.determinize(rng) for _ in range(8)]
    assert len(hands(np.concatenate([world.states for world in imagined]), one.seat)) > 4
    for world in imagined:
        assert world.legal_names() == one.names()
        while not world.over:
            world.play(world.legal()[0])
        assert world.terminated


@pytest.mark.parametrize("agent", [RandomAgent(), RuleAgent(), Drawing(), First()])
def test_agents_answer_alike_however_decisions_are_batched(agent: Any) -> None:
    played = tables(12)
    together = ask(agent, "a", decisions_of(played))
    keys = [977 * row for row in range(12)]
    alone = [int(ask(agent, "a", decisions_of([table], [key]))[0]) for table, key in zip(played, keys, strict=True)]
    assert together.tolist() == alone


def test_random_agent_takes_every_legal_action_equally_often() -> None:
    table = tables(1, steps=4)[0]  # the leader of the first trick, eleven cards in hand
    draws = 11_000
    decisions = decisions_of([table] * draws, np.random.default_rng(0).integers(2**64, size=draws, dtype=np.uint64))
    counts = np.bincount(RandomAgent().act(decisions), minlength=60)[table.legal()]
    assert len(counts) == 11
    assert counts.sum() == draws
    assert abs(counts - 1000).max() < 5 * np.sqrt(1000 * 10 / 11)


def test_rule_agent_chooses_alike_whatever_is_hidden() -> None:
    played = tables(12)
    decisions = decisions_of(played)
    chosen = RuleAgent().act(decisions)
    for seed in range(5):
        worlds = decisions.determinize(np.full(12, seed, np.uint64))
        redrawn = Decisions(GAME, 4, decisions.options, worlds, decisions.keys, decisions.tables)
        assert (RuleAgent().act(redrawn) == chosen).all()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros(3, np.int64), r"'bad' answered int64 \(3,\); one integer for each of 2 decisions"),
        (np.zeros(2), "'bad' answered float64"),
        (np.array([True, False]), "'bad' answered bool"),
        (None, "'bad' answered object"),
        ([0, True], "'bad' answered bool among integers; one integer for each of 2 decisions"),
        ([[0], [0, 1]], "'bad' answered rows of different lengths; one integer"),
        ([-1, -1], "'bad' chose action -1 as player_"),
        ([10**6, 0], "'bad' chose action 1000000 as player_"),
    ],
)
def test_wrong_answers_are_refused(answer: Any, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        ask(Answers(answer), "bad", decisions_of(tables(2)))


def test_an_illegal_action_is_named_with_the_legal_ones() -> None:
    decisions = decisions_of(tables(1, steps=3))
    illegal = int(np.flatnonzero(decisions.mask[0] == 0)[0])
    with pytest.raises(AgentError, match=rf"chose action {illegal} as player_3 of phantom_trick_v0; legal are \d+ \("):
        ask(Answers([illegal]), "bad", decisions)


def test_an_answer_that_is_one_decision_at_a_time_is_an_integer() -> None:
    class Half(Drawing):
        def __init__(self, answer: Any) -> None:
            self.answer = answer

        def act_one(self, decision: Decision) -> Any:
            return self.answer

    legal = tables(1)[0].legal()[0]
    assert ask(Half(np.int8(legal)), "good", decisions_of(tables(1))).tolist() == [legal]
    for answer in (True, 1.5, "3", None, [3]):
        with pytest.raises(InvalidAction, match=r"act_one of Half answered .*; one integer for each of 1 decisions"):
            ask(Half(answer), "bad", decisions_of(tables(1)))


@pytest.mark.parametrize("value", [0, ~np.uint64(0)])
def test_legality_is_held_against_sets_that_no_agent_can_write_to(value: Any) -> None:
    class Forger(Answers):
        def act(self, decisions: Decisions) -> Any:
            sets = decisions.words
            sets.setflags(write=True)
            sets[:] = value
            if sets.base is not None:
                sets.base[:] = value
            decisions.mask[:] = 1
            return self.answer

    decisions = decisions_of(tables(2))
    illegal = [int(np.flatnonzero(row == 0)[0]) for row in decisions.mask]
    for answer in (illegal, [10**6, 10**6]):
        with pytest.raises(AgentError, match=rf"'forger' chose action {answer[0]} as player_3"):
            ask(Forger(answer), "forger", decisions)


def test_what_an_agent_writes_changes_nothing_but_what_it_sees() -> None:
    spoiled, whole = decisions_of(tables(3)), decisions_of(tables(3))
    ravage(spoiled, {"reward": "fame"})
    for row in range(3):
        assert spoiled.legal(row) == whole.legal(row)
        assert spoiled.names(row) == whole.names(row)
        assert spoiled.world(row, 7).states.tobytes() == whole.world(row, 7).states.tobytes()
    seeds = np.arange(3, dtype=np.uint64)
    assert spoiled.determinize(seeds).tobytes() == whole.determinize(seeds).tobytes()
    assert RuleAgent().act(spoiled).tolist() != []
    assert whole.options == tables(1)[0].options


def test_decisions_are_made_in_running_games() -> None:
    played = tables(2)
    while not played[1].over:
        played[1].play(played[1].legal()[0])
    with pytest.raises(GameOver, match="some of these are over"):
        decisions_of(played)
