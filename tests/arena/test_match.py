"""Matches: who sits where, what is counted, and that it comes out alike however it is played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from phantom_envs.arena import match
from phantom_envs.arena.agent import Agent, AgentError, Decisions
from phantom_envs.arena.builtin import RandomAgent, RuleAgent
from phantom_envs.arena.match import Results, deal_seeds, play_match, seat_agents
from phantom_envs.arena.record import record_game
from phantom_envs.arena.specs import InvalidSpec
from phantom_envs.arena.summary import margins, per_deal, summarize
from phantom_envs.core.errors import InvalidBatch, InvalidOption, InvalidPlayers, UnknownGame
from phantom_envs.registry import game_ids, get_game
from tests.arena.bots import Answers, Configured, First, Vandal

TRICK = "phantom_trick_v0"


def test_as_many_agents_as_seats_sit_in_every_rotation() -> None:
    assert seat_agents(3, 3).tolist() == [[0, 1, 2], [2, 0, 1], [1, 2, 0]]


def test_the_last_of_fewer_agents_fills_the_seats() -> None:
    assert seat_agents(2, 4).tolist() == [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    assert seat_agents(1, 2).tolist() == [[0, 0], [0, 0]]


def test_of_more_agents_every_choice_sits_down() -> None:
    assert seat_agents(3, 2).tolist() == [[0, 1], [1, 0], [0, 2], [2, 0], [1, 2], [2, 1]]
    many = seat_agents(6, 4)
    assert len(many) == 15 * 4
    assert (np.bincount(many.reshape(-1)) == 15 * 4 * 4 / 6).all()
    for seat in range(4):  # every agent is in every seat equally often
        assert (np.bincount(many[:, seat]) == 10).all()


def test_equal_deterministic_agents_get_exactly_the_same() -> None:
    setting, results = play_match(TRICK, [First(), First()], 4, deals=12, seed=5)
    assert setting.labels == ("First", "First #2")
    assert (results.share == results.share[:, :1]).all()  # the same game in each rotation
    assert (results.points == results.points[:, :1]).all()
    one, three = summarize(setting, results)
    assert one.win_share.mean == pytest.approx(0.25, abs=1e-12)
    assert three.win_share.mean == pytest.approx(0.25, abs=1e-12)
    assert one.margin is not None
    assert one.margin.mean == pytest.approx(0.0, abs=1e-12)
    assert (one.games, three.games) == (48, 48)
    assert three.decisions == 3 * one.decisions


def same(a: Results, b: Results) -> bool:
    """Whether two results agree in all but the time taken."""
    return bool(
        (a.share == b.share).all()
        and (a.points == b.points).all()
        and (a.truncated == b.truncated).all()
        and (a.decisions == b.decisions).all()
    )


def test_a_match_comes_out_alike_however_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    agents = ["random", "rule", "tests.arena.bots:Drawing"]
    _, whole = play_match(TRICK, agents, 3, deals=7, seed=3)
    _, again = play_match(TRICK, agents, 3, deals=7, seed=3)
    _, other = play_match(TRICK, agents, 3, deals=7, seed=4)
    _, fewer = play_match(TRICK, agents, 3, deals=2, seed=3)
    monkeypatch.setattr(match, "CHUNKS", 1)
    _, at_once = play_match(TRICK, agents, 3, deals=7, seed=3)
    monkeypatch.setattr(match, "MOST_GAMES", 10)
    _, by_threes = play_match(TRICK, agents, 3, deals=7, seed=3)
    assert same(whole, again)
    assert same(whole, at_once)
    assert same(whole, by_threes)
    assert not same(whole, other)
    assert (whole.points[:2] == fewer.points).all()


def test_a_match_comes_out_alike_on_several_processes() -> None:
    agents: list[Any] = ["random", RuleAgent(), "tests.arena.bots:First"]
    told: list[tuple[int, int]] = []
    _, here = play_match(TRICK, agents, 3, deals=5, seed=3)
    _, spread = play_match(TRICK, agents, 3, deals=5, seed=3, workers=2, progress=lambda *seen: told.append(seen))
    assert same(here, spread)
    assert told[-1] == (15, 15)
    assert [over for over, _ in told] == sorted(over for over, _ in told)


def test_a_fault_in_a_process_is_told_as_here() -> None:
    with pytest.raises(AgentError, match="'Answers' answered int64"):
        play_match(TRICK, [Answers([0, 0, 0, 0, 0, 0, 0]), "random"], 3, deals=4, workers=2)


@dataclass
class Tabled(First):
    """An agent that is a dataclass with an array, so `==` of two has no truth value."""

    weights: NDArray[np.float64]


@dataclass(frozen=True)
class Plain(First):
    """An agent that is a dataclass, so two of the same settings are equal."""

    level: int = 1


@pytest.mark.parametrize("make", [lambda: Tabled(np.zeros(3)), Plain])
def test_different_objects_are_different_agents_and_equal_specs_one(make: Callable[[], Agent]) -> None:
    one, other = make(), make()
    name = type(one).__name__
    setting, results = play_match(TRICK, [one, other, "random", one, "random"], 5, deals=1)
    assert setting.agents[0] is one
    assert setting.agents[1] is other
    assert setting.agents[2:] == ("random",)
    assert setting.labels == (name, f"{name} #2", "random")
    assert setting.seating[0].tolist() == [0, 1, 2, 0, 2]
    assert len(results.decisions) == 3
    again = play_match(TRICK, ["random"], 3, deals=1)
    assert (setting != again[0], results != again[1]) == (True, True)  # comparing is no error


def test_progress_counts_games() -> None:
    told: list[tuple[int, int]] = []
    play_match(TRICK, ["random"], 3, deals=4, progress=lambda *seen: told.append(seen))
    assert told[-1] == (12, 12)


def test_agents_are_prepared_and_closed() -> None:
    agent = Configured(1)
    play_match(TRICK, [agent, "random"], 4, {"reward": "score"}, deals=1)
    assert agent.prepared == [(TRICK, 4, {"reward": "score"})]
    assert agent.closed == 1


def test_the_games_are_those_that_a_record_tells_of() -> None:
    setting, results = play_match(TRICK, ["random", "rule"], 4, deals=3, seed=11)
    seats: list[Agent] = [RandomAgent(), RuleAgent(), RuleAgent(), RuleAgent()]
    for deal, seed in enumerate(deal_seeds(11, range(3)).tolist()):
        lines = list(record_game(get_game(TRICK), 4, {}, seed, seats))
        end = lines[-1]["state"]
        gained = [score - 10 for score in end["scores"]]  # everybody begins with ten
        assert results.points[deal, 0].tolist() == gained
        shares = [1 / len(end["winners"]) if seat in end["winners"] else 0.0 for seat in range(4)]
        assert results.share[deal, 0].tolist() == shares
    assert setting.seating[0].tolist() == [0, 1, 1, 1]


def test_matches_of_neighbouring_seeds_share_no_deals() -> None:
    seeds = [set(deal_seeds(seed, range(1000)).tolist()) for seed in range(4)]
    assert len(set.union(*seeds)) == 4000
    assert deal_seeds(2, range(1000))[400:].tolist() == deal_seeds(2, range(400, 1000)).tolist()


def test_keys_and_tables_are_told_apart() -> None:
    class Watching(First):
        def __init__(self) -> None:
            self.keys: list[int] = []
            self.tables: dict[int, list[int]] = {}

        def act(self, decisions: Decisions) -> Any:
            self.keys += decisions.keys.tolist()
            for table, size in zip(decisions.tables.tolist(), decisions.mask.sum(axis=1), strict=True):
                self.tables.setdefault(table, []).append(int(size))
            return super().act(decisions)

    agent = Watching()
    play_match(TRICK, [agent], 3, deals=5)
    assert len(set(agent.keys)) == len(agent.keys)
    assert sorted(agent.tables) == list(range(15))
    for sizes in agent.tables.values():
        assert sizes[:3] == [12, 12, 12]  # each begins with its game: all lay a card of twelve


def test_margin_and_share_by_hand() -> None:
    setting, _ = play_match(TRICK, [First(), First()], 3, deals=1)
    assert setting.seating.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    points = np.array([[[6, 1, 2], [0, 3, 3], [4, -2, 1]], [[0, 0, 0], [5, 5, 5], [2, 4, 0]]])
    share = np.array([[[1, 0, 0], [0, 0.5, 0.5], [1, 0, 0]], [[1 / 3] * 3, [0, 0, 0], [0, 1, 0]]])
    results = Results(share, points, np.zeros((2, 3), np.bool_), np.array([30, 60]), np.array([0.06, 0.03]))
    margin = margins(setting, results)
    assert margin is not None
    assert margin[0].tolist() == [[4.5, -3.0, -1.5], [-3.0, 1.5, 1.5], [4.5, -4.5, 0.0]]
    assert per_deal(setting, margin)[:, 0].tolist() == [(4.5 + 1.5 + 0.0) / 3, (0 + 0 - 3.0) / 3]
    assert per_deal(setting, share)[:, 0].tolist() == pytest.approx([(1 + 0.5 + 0) / 3, (1 / 3 + 0 + 0) / 3])
    assert per_deal(setting, share)[:, 1].tolist() == pytest.approx(
        [(0 + 0 + 0 + 0.5 + 1 + 0) / 6, (2 / 3 + 0 + 1) / 6]
    )


def test_few_points_are_turned_to_good() -> None:
    setting, results = play_match("fantasmagoria_v0", ["random", "rule"], 3, deals=3)
    margin = margins(setting, results)
    assert margin is not None
    best_of_two = results.points[0, 0]
    assert margin[0, 0].argmax() == best_of_two.argmin()


@pytest.mark.parametrize("game_id", game_ids())
def test_every_game_can_be_played(game_id: str) -> None:
    setting, results = play_match(game_id, ["rule", "random"], deals=2)
    players = get_game(game_id).default_players
    assert results.share.shape == results.points.shape == (2, players, players)
    won = ~results.truncated
    assert results.share.sum(axis=2)[won] == pytest.approx(np.ones(won.sum()))
    assert (results.share[results.truncated] == 0).all()
    for agent in summarize(setting, results):
        assert agent.win_share.low <= agent.win_share.mean <= agent.win_share.high
        assert (agent.margin is None) == ("score" not in get_game(game_id).reward_weights)
        assert agent.decisions > 0
        assert agent.ms_per_decision > 0


@pytest.mark.parametrize(
    ("game_id", "players", "others"),
    [("fantasmagoria_v0", 3, {"reward": "score"}), ("phantom_v0", 2, {"plays": 4})],
)
def test_an_agent_that_writes_into_what_it_is_given_changes_no_match(
    game_id: str, players: int, others: dict[str, Any]
) -> None:
    setting, spoiled = play_match(game_id, [Vandal(RandomAgent(), others), "rule"], players, deals=20, seed=2)
    _, whole = play_match(game_id, ["random", "rule"], players, deals=20, seed=2)
    assert same(spoiled, whole)
    assert setting.options == get_game(game_id).check_options({})


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"game": "chess"}, UnknownGame),
        ({"agents": []}, InvalidSpec),
        ({"agents": ["nobody"]}, InvalidSpec),
        ({"num_players": 9}, InvalidPlayers),
        ({"options": {"reward": "fame"}}, InvalidOption),
        ({"deals": 0}, InvalidBatch),
        ({"workers": 0}, InvalidBatch),
    ],
)
def test_bad_settings(arguments: dict[str, Any], error: type[Exception]) -> None:
    settings: dict[str, Any] = {"game": TRICK, "agents": ["random"], "deals": 1}
    with pytest.raises(error):
        play_match(**(settings | arguments))
