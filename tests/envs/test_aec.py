from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pettingzoo.utils import wrappers

from phantom_envs import phantom_trick_v0
from phantom_envs.core.errors import (
    GameOver,
    IllegalAction,
    InvalidAction,
    InvalidOption,
    InvalidPlayers,
    NotReset,
    PhantomError,
    UnknownAgent,
    UnknownGame,
    UnknownOption,
)
from phantom_envs.envs import aec
from tests.play import choose, same


def play(env: Any, rng: np.random.Generator, steps: int) -> list[Any]:
    """Up to `steps` random steps, dead ones included, with all that could be seen on the way."""
    seen: list[Any] = []
    for _ in range(steps):
        if not env.agents:
            break
        seen.append((env.agent_selection, env.last(), dict(env.rewards)))
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else choose(observation["action_mask"], rng))
    return seen


def to_the_end(env: Any, seed: int = 0) -> None:
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    while not any(env.terminations.values()):
        env.step(choose(env.infos[env.agent_selection]["action_mask"], rng))


class TestObservation:
    def test_mask_is_in_observation_and_info(self) -> None:
        env = phantom_trick_v0.env()
        env.reset(seed=0)
        observation, _, _, _, info = env.last()
        assert (observation["action_mask"] == info["action_mask"]).all()
        assert observation["action_mask"].dtype == observation["observation"].dtype == np.int8

    def test_who_is_not_to_act_has_an_empty_mask(self) -> None:
        env = phantom_trick_v0.raw_env()
        env.reset(seed=0)
        for agent in env.agents:
            acts = agent == env.agent_selection
            assert env.observe(agent)["action_mask"].any() == acts
            assert env.infos[agent]["action_mask"].any() == acts

    def test_what_was_handed_out_does_not_change(self) -> None:
        env = phantom_trick_v0.env()
        env.reset(seed=0)
        kept = [(env.last(), copy.deepcopy(env.last()))]
        rng = np.random.default_rng(0)
        for _ in range(100):
            env.step(choose(env.last()[0]["action_mask"], rng))
            kept.append((env.last(), copy.deepcopy(env.last())))
        assert all(same(now, then) for now, then in kept)

    def test_observe_is_pure(self) -> None:
        env, other = phantom_trick_v0.raw_env(), phantom_trick_v0.raw_env()
        for each in (env, other):
            each.reset(seed=5)
        rng = np.random.default_rng(0)
        for _ in range(60):
            for agent in env.agents:
                first, second = env.observe(agent), env.observe(agent)
                assert same(first, second)
                first["observation"][:] = 7
                first["action_mask"][:] = 1
            assert same(env.state_dict(), other.state_dict())
            action = choose(other.last()[0]["action_mask"], rng)
            env.step(action)
            other.step(action)

    def test_state_is_what_all_know(self) -> None:
        env = phantom_trick_v0.env(num_players=3)
        env.reset(seed=0)
        parts = [env.observe(agent)["observation"] for agent in env.possible_agents]
        assert (env.state() == np.concatenate(parts)).all()
        assert env.state_space.contains(env.state())


class TestReset:
    def test_takes_whatever_has_an_index(self) -> None:
        class Seven:
            def __index__(self) -> int:
                return 7

        env = phantom_trick_v0.raw_env()
        states = []
        for seed in (7, np.uint8(7), np.int64(7), Seven()):
            env.reset(seed=seed)
            states.append(env.state_dict())
        assert all(same(state, states[0]) for state in states)

    def test_seed_0_is_a_seed(self) -> None:
        one, other = phantom_trick_v0.raw_env(), phantom_trick_v0.raw_env()
        one.reset(seed=0)
        other.reset(seed=0)
        assert same(one.state_dict(), other.state_dict())

    @pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), (1.0, TypeError), ("1", TypeError)])
    def test_what_is_no_seed(self, seed: Any, error: type[Exception]) -> None:
        env = phantom_trick_v0.raw_env()
        env.reset(seed=3)
        before = pickle.dumps(env)
        with pytest.raises(error, match=r"seed|integer"):
            env.reset(seed=seed)
        assert pickle.dumps(env) == before

    def test_without_seed_the_first_games_differ(self) -> None:
        states = []
        for _ in range(2):
            env = phantom_trick_v0.raw_env()
            env.reset()
            states.append(env.state_dict())
        assert not same(*states)

    def test_without_seed_the_games_go_on_alike(self) -> None:
        envs = phantom_trick_v0.raw_env(), phantom_trick_v0.raw_env()
        envs[0].reset(seed=4)
        to_the_end(envs[1], seed=4)
        for env in envs:
            env.reset()
        assert same(envs[0].state_dict(), envs[1].state_dict())

    def test_keeps_players_and_options(self) -> None:
        env = phantom_trick_v0.env(num_players=5, reward="score")
        for _ in range(2):
            env.reset()
            assert len(env.agents) == 5
            assert env.unwrapped.table.options == {"reward": "score"}

    def test_refuses_options_of_the_game(self) -> None:
        env = phantom_trick_v0.env()
        env.reset(seed=0, options={"something": 1})
        before = env.unwrapped.state_dict()
        with pytest.raises(UnknownOption, match="reward=… when you make the environment"):
            env.reset(seed=1, options={"reward": "score"})
        assert same(env.unwrapped.state_dict(), before)


class TestRewards:
    @pytest.mark.parametrize("reward", ["win", "score"])
    def test_last_gives_what_came_since_the_last_step(self, reward: str) -> None:
        env = phantom_trick_v0.env(num_players=3, reward=reward)
        env.reset(seed=2)
        rng = np.random.default_rng(2)
        owed = dict.fromkeys(env.agents, 0.0)
        while env.agents:
            agent = env.agent_selection
            observation, gained, terminated, _, _ = env.last()
            assert gained == owed[agent]
            owed[agent] = 0.0
            env.step(None if terminated else choose(observation["action_mask"], rng))
            assert sum(env.rewards.values()) == pytest.approx(0)
            for each, value in env.rewards.items():
                owed[each] += value
        assert not any(owed.values())

    def test_agents_leave_after_the_end(self) -> None:
        env = phantom_trick_v0.raw_env()
        to_the_end(env)
        assert set(env.terminations.values()) == {True}
        assert set(env.truncations.values()) == {False}
        assert sum(env.rewards.values()) == pytest.approx(0)
        for left in (3, 2, 1, 0):
            env.step(None)
            assert len(env.agents) == left
            assert env.rewards.keys() == env.infos.keys() == env.terminations.keys() == set(env.agents)


def not_reset() -> Any:
    return phantom_trick_v0.raw_env()


def fresh() -> Any:
    env = phantom_trick_v0.raw_env()
    env.reset(seed=0)
    return env


def ended() -> Any:
    env = phantom_trick_v0.raw_env()
    to_the_end(env)
    return env


def left() -> Any:
    env = ended()
    for _ in range(4):
        env.step(None)
    return env


class TestErrors:
    @pytest.mark.parametrize(
        ("make", "action", "error", "builtin", "says"),
        [
            (not_reset, 0, NotReset, RuntimeError, r"call reset\(\) first"),
            (
                fresh,
                0,
                IllegalAction,
                ValueError,
                r"player_0 may not choose action 0 \(place red-0\); legal are \d+ \(",
            ),
            (fresh, 60, IllegalAction, ValueError, r"60 \(not in 0 … 59\); legal are"),
            (fresh, -1, IllegalAction, ValueError, r"-1 \(not in 0 … 59\); legal are"),
            (fresh, 10**30, IllegalAction, ValueError, "legal are"),
            (fresh, 1.0, InvalidAction, TypeError, "an integer from 0 to 59, got 1.0 of type float"),
            (fresh, "3", InvalidAction, TypeError, "got '3' of type str"),
            (fresh, True, InvalidAction, TypeError, "got True of type bool"),
            (fresh, False, InvalidAction, TypeError, "got False of type bool"),
            (fresh, np.True_, InvalidAction, TypeError, "got np.True_ of type bool"),
            (fresh, None, InvalidAction, TypeError, "got None of type NoneType"),
            (fresh, np.array([3, 4]), InvalidAction, TypeError, "of type ndarray"),
            (ended, 3, GameOver, RuntimeError, r"over for player_0: its only step is step\(None\)"),
            (left, 3, GameOver, RuntimeError, r"is over; call reset\(\)"),
            (left, None, GameOver, RuntimeError, r"is over; call reset\(\)"),
        ],
    )
    def test_step(
        self, make: Callable[[], Any], action: Any, error: type[PhantomError], builtin: type[Exception], says: str
    ) -> None:
        env = make()
        before = pickle.dumps(env)
        with pytest.raises(error, match=says) as caught:
            env.step(action)
        assert isinstance(caught.value, builtin)
        assert pickle.dumps(env) == before

    @pytest.mark.parametrize("ask", ["last", "state", "render"])
    def test_asked_before_reset(self, ask: str) -> None:
        with pytest.raises(NotReset, match=r"call reset\(\) first"):
            getattr(phantom_trick_v0.raw_env(render_mode="ansi"), ask)()

    def test_observed_before_reset(self) -> None:
        with pytest.raises(NotReset, match=r"call reset\(\) first"):
            phantom_trick_v0.raw_env().observe("player_0")

    @pytest.mark.parametrize("agent", ["player_4", "player_-1", 0, None, ["player_0"]])
    @pytest.mark.parametrize("make", [phantom_trick_v0.env, phantom_trick_v0.raw_env])
    def test_unknown_agents(self, make: Callable[[], Any], agent: Any) -> None:
        env = make()
        env.reset(seed=0)
        for ask in (env.observe, env.observation_space, env.action_space):
            with pytest.raises(UnknownAgent, match=r"^no agent .*; there are player_0, player_1, player_2, player_3$"):
                ask(agent)
        assert issubclass(UnknownAgent, KeyError)

    def test_unknown_actions_have_no_name(self) -> None:
        env = fresh()
        assert env.action_name(0) == "place red-0"
        with pytest.raises(IllegalAction, match="no action 60; they are 0 … 59"):
            env.action_name(60)
        with pytest.raises(InvalidAction, match="got True"):
            env.action_name(True)

    def test_last_after_all_have_left(self) -> None:
        with pytest.raises(GameOver, match=r"call reset\(\)"):
            left().last()

    @pytest.mark.parametrize(
        ("settings_", "error", "says"),
        [
            ({"num_players": 2}, InvalidPlayers, "played by 3, 4, 5; got num_players=2"),
            ({"num_players": True}, InvalidPlayers, "num_players=True"),
            ({"num_players": "4"}, InvalidPlayers, "num_players='4'"),
            ({"reward": "money"}, InvalidOption, "reward='money': choose one of 'win', 'score'"),
            ({"rewards": "win"}, UnknownOption, "no option 'rewards'; it has reward"),
            (
                {"render_mode": "rgb_array"},
                InvalidOption,
                "render_mode='rgb_array': choose one of None, 'ansi', 'human'",
            ),
        ],
    )
    def test_settings(self, settings_: dict[str, Any], error: type[PhantomError], says: str) -> None:
        for make in (phantom_trick_v0.env, phantom_trick_v0.raw_env):
            with pytest.raises(error, match=says):
                make(**settings_)

    def test_unknown_game(self) -> None:
        with pytest.raises(UnknownGame, match=r"no game 'chess_v0'; there are phantom_trick_v0"):
            aec.env("chess_v0", None, None, {})


class TestWrapped:
    def test_illegal_action_ends_the_game(self) -> None:
        env = phantom_trick_v0.env()
        env.reset(seed=0)
        before = env.unwrapped.state_dict()
        env.step(0)
        assert env.rewards == {"player_0": -1, "player_1": 0, "player_2": 0, "player_3": 0}
        assert all(env.terminations.values())
        assert same(env.unwrapped.state_dict(), before)
        assert not env.observe(env.agent_selection)["action_mask"].any()
        for _ in range(4):
            env.step(None)
        assert env.agents == []

    @pytest.mark.parametrize("action", [60, -1, 1.0, None])
    def test_out_of_bounds(self, action: Any) -> None:
        env = phantom_trick_v0.env()
        env.reset(seed=0)
        with pytest.raises(AssertionError, match="not in action space"):
            env.step(action)

    @pytest.mark.parametrize("seen", [True, False])
    @pytest.mark.parametrize("action", [True, False])
    def test_true_is_no_action(self, action: bool, seen: bool) -> None:
        env = phantom_trick_v0.env(num_players=5)  # with all cards
        for seed in range(40):  # until the action would be legal if it counted as 0 or 1
            env.reset(seed=seed)
            if env.unwrapped.table.mask[int(action)]:
                break
        if seen:
            env.last()
        before = env.unwrapped.state_dict()
        with pytest.raises(InvalidAction, match=f"got {action} of type bool"):
            env.step(action)
        assert same(env.unwrapped.state_dict(), before)
        env.step(int(action))
        assert not same(env.unwrapped.state_dict(), before)

    def test_before_reset(self) -> None:
        env = phantom_trick_v0.env()
        with pytest.raises(AssertionError, match="reset"):
            env.step(0)
        for name in ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos"):
            with pytest.raises(AttributeError, match=f"{name} cannot be accessed before reset"):
                getattr(env, name)
        with pytest.raises(AttributeError, match="before reset"):
            env.last()

    def test_loop_must_step(self) -> None:
        env = phantom_trick_v0.env()
        env.reset(seed=0)
        with pytest.raises(AssertionError, match="need to call step"):
            for _ in env.agent_iter():
                pass

    @settings(deadline=None, derandomize=True, max_examples=30)
    @given(seed=st.integers(0, 2**64), slips=st.sets(st.integers(0, 160), max_size=2), asks=st.booleans())
    def test_short_way_does_what_the_stock_wrappers_do(self, seed: int, slips: set[int], asks: bool) -> None:
        ours = phantom_trick_v0.env(num_players=3)
        stock: Any = wrappers.TerminateIllegalWrapper(phantom_trick_v0.raw_env(num_players=3), illegal_reward=-1)
        stock = wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(stock))
        rng = np.random.default_rng(seed)
        for env in (ours, stock):
            env.reset(seed=seed)
        for step in range(170):
            for name in ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "num_agents"):
                assert same(getattr(ours, name), getattr(stock, name)), name
            if not ours.agents:
                break
            assert same(ours.last(), stock.last())
            if asks:
                assert same(ours.observe(ours.agent_selection), stock.observe(stock.agent_selection))
            mask = ours.infos[ours.agent_selection]["action_mask"]
            dead = ours.terminations[ours.agent_selection]
            action = None if dead else choose(1 - mask if step in slips else mask, rng)
            ours.step(action)
            stock.step(action)
        assert str(ours) == str(stock) == "phantom_trick_v0"


@pytest.mark.parametrize("make", [phantom_trick_v0.env, phantom_trick_v0.raw_env])
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])  # noqa: S301  # own
def test_copies_go_on_alike(make: Callable[..., Any], duplicate: Callable[[Any], Any]) -> None:
    env = make(reward="score")
    env.reset(seed=8)
    rng = np.random.default_rng(8)
    play(env, rng, 50)
    twin, state = duplicate(env), copy.deepcopy(rng)
    # 100 steps: past the end of this game and into the next one, which has no seed of its own
    seen = play(env, rng, 200)
    env.reset()
    seen += play(env, rng, 20)
    again = play(twin, state, 200)
    twin.reset()
    again += play(twin, state, 20)
    assert len(seen) > 100
    assert same(seen, again)


class TestRender:
    def test_ansi(self) -> None:
        env = phantom_trick_v0.env(render_mode="ansi")
        env.reset(seed=0)
        picture = env.render()
        assert "player_0 (you)" in picture
        assert "\x1b" not in picture
        assert picture.count("hand") == 1

    def test_ended_game_is_open(self) -> None:
        env = phantom_trick_v0.env(render_mode="ansi")
        to_the_end(env)
        assert "won by" in env.render()
        assert "(you)" not in env.render()

    def test_human_prints_every_step(self, capsys: pytest.CaptureFixture[str]) -> None:
        env = phantom_trick_v0.env(render_mode="human")
        env.reset(seed=0)
        assert "player_0 (you)" in capsys.readouterr().out
        env.step(choose(env.last()[0]["action_mask"], np.random.default_rng(0)))
        assert "player_1 (you)" in capsys.readouterr().out
        assert env.render() is None

    def test_without_mode_warns(self) -> None:
        env = phantom_trick_v0.env()
        env.reset(seed=0)
        with pytest.warns(UserWarning, match="render_mode='ansi'"):
            assert env.render() is None


def test_names_and_spaces() -> None:
    env = phantom_trick_v0.env(num_players=3)
    env.reset(seed=0)
    assert str(env) == "phantom_trick_v0"
    assert env.metadata["is_parallelizable"] is False
    assert env.possible_agents == ["player_0", "player_1", "player_2"]
    assert env.unwrapped.action_name(7) == "place red-7"
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
        assert env.action_space(agent).n == 60
        assert env.observation_space(agent).contains(env.observe(agent))
