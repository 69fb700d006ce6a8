from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from stable_baselines3.common.env_checker import check_env as check_env_of_sb3

from phantom_envs.core.batch import kernels
from phantom_envs.core.errors import (
    GameOver,
    IllegalAction,
    InvalidAction,
    InvalidBatch,
    InvalidOption,
    InvalidPlayers,
    NotReset,
    PhantomError,
    UnknownGame,
    UnknownOption,
)
from phantom_envs.core.table import Table
from phantom_envs.envs.registration import gymnasium_id, register_all
from phantom_envs.envs.single_agent import SingleAgentEnv, SingleAgentVectorEnv
from phantom_envs.registry import game_ids, get_game
from tests.play import choose, same

NAME = "phantom_trick_v0"
register_all()


def lowest(observation: NDArray[np.int8], mask: NDArray[np.int8]) -> Any:
    """A policy: the lowest legal action."""
    assert observation.ndim == mask.ndim == 2
    return mask.argmax(axis=1)


def highest(_observation: NDArray[np.int8], mask: NDArray[np.int8]) -> Any:
    """A policy: the highest legal action."""
    return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)


def middle(_observation: NDArray[np.int8], mask: NDArray[np.int8]) -> list[int]:
    """A policy: the middle legal action."""
    return [int(np.flatnonzero(row)[row.sum() // 2]) for row in mask]


def vandal(observation: NDArray[np.int8], mask: NDArray[np.int8]) -> Any:
    """A policy: the lowest legal action; and writes into all that it is shown, write protection or not."""
    actions = mask.argmax(axis=1)
    for array in (observation, mask):
        array.setflags(write=True)
        array[:] = 1
        if array.base is not None:
            array.base[:] = 1
    return actions


def forger(_observation: NDArray[np.int8], mask: NDArray[np.int8]) -> Any:
    """A policy that makes everything legal in the mask that it is shown, and chooses what is not."""
    actions = mask.argmin(axis=1)
    mask[:] = 1
    return actions


def stubborn(observation: NDArray[np.int8], _mask: NDArray[np.int8]) -> Any:
    """A policy that always chooses action 0, which four players do not have."""
    return np.zeros(len(observation), np.int64)


def fractional(observation: NDArray[np.int8], _mask: NDArray[np.int8]) -> Any:
    """A policy that answers no integers."""
    return np.zeros(len(observation))


def too_many(observation: NDArray[np.int8], _mask: NDArray[np.int8]) -> Any:
    """A policy that answers one action more than it was asked for."""
    return np.zeros(len(observation) + 1, np.int64)


def failing(_observation: NDArray[np.int8], _mask: NDArray[np.int8]) -> Any:
    """A policy that fails."""
    raise KeyError("lost")


def rule(table: Table) -> int:
    """What the rule bot plays."""
    actions = np.zeros(1, np.int64)
    kernels(table.game).advise(table.states, table.words.reshape(1, -1), actions, 0, 1)
    return int(actions[0])


def by(policy: Callable[..., Any]) -> Callable[[Table], int]:
    """What a policy plays at a table."""
    return lambda table: int(policy(table.observe(table.seat)[None], table.mask[None])[0])


def play(env: Any, rng: np.random.Generator, steps: int) -> list[Any]:
    """Random steps of a single or batched environment, with all that they return."""
    seen = []
    for _ in range(steps):
        masks = env.action_masks()
        if masks.ndim == 1:
            result = env.step(choose(masks, rng))
            if result[2] or result[3]:
                result = (result, env.reset())
        else:
            result = env.step(np.array([choose(mask, rng) if mask.any() else 0 for mask in masks]))
        seen.append(copy.deepcopy(result))
    return seen


class TestOneSeat:
    @pytest.mark.parametrize("reward", ["win", "score"])
    @pytest.mark.parametrize("seat", [0, 2])
    @pytest.mark.parametrize(
        ("opponents", "players"),
        [
            ("rule", (rule, rule, rule)),
            (lowest, (by(lowest),) * 3),
            ((lowest, "rule", highest), (by(lowest), rule, by(highest))),
            ((middle, middle, "rule"), (by(middle), by(middle), rule)),
        ],
    )
    def test_is_the_game_played_by_hand(
        self, opponents: Any, players: tuple[Callable[[Table], int], ...], seat: int, reward: str
    ) -> None:
        env = SingleAgentEnv(NAME, 4, opponents, seat=seat, reward=reward)
        table = Table(get_game(NAME), 4, {"reward": reward})
        rng = np.random.default_rng(1)

        def others() -> float:
            gained = 0.0
            while not table.over and table.seat != seat:
                table.play(players[(table.seat - seat - 1) % 4](table))
                gained += table.rewards[seat]
            return gained

        for game in range(2):
            observation, info = env.reset(seed=6 if game == 0 else None)
            table.deal(6 if game == 0 else None)
            others()
            terminated = False
            while not terminated:
                assert same(observation, table.observe(seat))
                assert same(info, {"action_mask": table.mask})
                assert same(env.action_masks(), table.mask.astype(bool))
                action = choose(info["action_mask"], rng)
                table.play(action)
                gained = table.rewards[seat]
                gained += others()
                observation, got, terminated, truncated, info = env.step(np.int64(action))
                assert got == pytest.approx(gained, abs=1e-12)
                assert (terminated, truncated) == (table.terminated, table.truncated)
            assert same(observation, table.observe(seat))
            assert not info["action_mask"].any()
            assert same(env.state_dict(), table.state_dict())

    def test_random_opponents_are_random_and_reproducible(self) -> None:
        games = []
        for seed in (1, 1, 2):
            env = SingleAgentEnv(NAME)
            env.reset(seed=seed)
            games.append(play(env, np.random.default_rng(0), 30))
        assert same(games[0], games[1])
        assert not same(games[0], games[2])

    def test_seat_rotates(self) -> None:
        env = SingleAgentEnv(NAME, 3, "rule", seat="rotate")
        for seed in (5, 9):
            seats = []
            env.reset(seed=seed)
            for _ in range(4):
                seats.append(env.seat)
                env.reset()
            assert seats == [0, 1, 2, 0]

    def test_rows_rotate_from_different_seats(self) -> None:
        env = SingleAgentVectorEnv(NAME, 5, 3, "rule", seat="rotate")
        env.reset(seed=5)
        assert env.games.learner.tolist() == [0, 1, 2, 0, 1]
        env.reset(options={"reset_mask": np.array([False, True, True, False, False])})
        assert env.games.learner.tolist() == [0, 2, 0, 0, 1]
        env.reset(seed=5)
        assert env.games.learner.tolist() == [0, 1, 2, 0, 1]

    def test_actions_of_the_caller_stay_as_they_are(self) -> None:
        env = SingleAgentVectorEnv(NAME, 4, opponents=lowest, illegal_action="random")
        env.reset(seed=0)
        actions = np.full(4, 59)
        for _ in range(20):
            env.step(actions)
            assert (actions == 59).all()

    def test_random_replacement_of_illegal_actions(self) -> None:
        env = SingleAgentEnv(NAME, illegal_action="random")
        _, info = env.reset(seed=0)
        action = int(np.flatnonzero(info["action_mask"] == 0)[0])
        twin = copy.deepcopy(env)
        assert same(env.step(action), twin.step(action))

    def test_handed_out_data_does_not_change(self) -> None:
        env = SingleAgentEnv(NAME)
        first = env.reset(seed=0)
        kept = copy.deepcopy(first)
        play(env, np.random.default_rng(0), 5)
        assert same(first, kept)


class TestGymnasium:
    @pytest.mark.parametrize("game_id", game_ids())
    def test_check_env(self, game_id: str, capsys: pytest.CaptureFixture[str]) -> None:
        env = gymnasium.make(gymnasium_id(game_id), opponents="rule", illegal_action="random")
        check_env(env.unwrapped)
        check_env_of_sb3(env.unwrapped)
        assert capsys.readouterr().out  # the checker tries every render mode

    def test_make(self) -> None:
        env = gymnasium.make("phantom_envs/PhantomTrick-v0", num_players=5, opponents="rule", reward="score")
        _, info = env.reset(seed=1)
        assert same(env.get_wrapper_attr("action_masks")(), info["action_mask"].astype(bool))
        env.step(choose(info["action_mask"], np.random.default_rng(0)))
        inner = env.unwrapped
        assert isinstance(inner, SingleAgentEnv)
        assert inner.games.num_players == 5
        assert inner.games.options == {"reward": "score"}

    @pytest.mark.parametrize("mode", ["sync", "vector_entry_point"])
    def test_make_vec(self, mode: str) -> None:
        env = gymnasium.make_vec("phantom_envs/PhantomTrick-v0", 8, vectorization_mode=mode, num_players=3)
        observation, infos = env.reset(seed=1)
        assert observation.shape == (8, env.single_observation_space.shape[0])  # type: ignore[index]  # a Box has one
        actions = np.array([choose(mask, np.random.default_rng(0)) for mask in infos["action_mask"]])
        assert env.observation_space.contains(env.step(actions)[0])

    def test_ids(self) -> None:
        assert [gymnasium_id(name) for name in ("phantom_v0", "das_phantom_v12")] == [
            "phantom_envs/Phantom-v0",
            "phantom_envs/DasPhantom-v12",
        ]

    def test_registration_loads_no_compiler(self) -> None:
        code = (
            "import sys; from phantom_envs.envs.registration import register_all; register_all(); "
            "assert not {'numba', 'pettingzoo', 'phantom_envs.games'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)

    def test_render(self, capsys: pytest.CaptureFixture[str]) -> None:
        env = SingleAgentEnv(NAME, opponents="rule", seat=1, render_mode="ansi")
        env.reset(seed=0)
        assert "player_1 (you)" in str(env.render())
        batch = SingleAgentVectorEnv(NAME, 2, seat="rotate", render_mode="ansi")
        batch.reset(seed=0)
        assert ["player_0 (you)" in batch.render()[0], "player_1 (you)" in batch.render()[1]] == [True, True]
        SingleAgentEnv(NAME, render_mode="human").reset(seed=0)
        assert "player_0 (you)" in capsys.readouterr().out


class TestBatch:
    @pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
    @pytest.mark.parametrize("opponents", ["random", ("rule", highest)])
    def test_does_what_gymnasium_makes_of_single_environments(self, mode: AutoresetMode, opponents: Any) -> None:
        batch = SingleAgentVectorEnv(NAME, 3, 3, opponents, seat=1, autoreset_mode=mode, reward="score")
        single = SyncVectorEnv(
            [lambda: SingleAgentEnv(NAME, 3, opponents, seat=1, reward="score")] * 3, autoreset_mode=mode
        )
        assert batch.metadata["autoreset_mode"] == mode
        assert batch.observation_space == single.observation_space
        assert batch.action_space == single.action_space
        assert same(batch.reset(seed=3), single.reset(seed=3))
        rng = np.random.default_rng(5)
        endings = 0
        for _ in range(110):
            actions = np.array([choose(mask, rng) if mask.any() else 0 for mask in batch.action_masks()])
            one, other = batch.step(actions), single.step(actions)
            assert same(one, other)
            endings += int((one[2] | one[3]).sum())
        assert endings >= 3

    def test_disabled_autoreset_waits_for_reset_mask(self) -> None:
        env = SingleAgentVectorEnv(NAME, 4, 3, "rule", autoreset_mode="disabled")
        env.reset(seed=0)
        rng = np.random.default_rng(0)
        ended = np.zeros(4, np.bool_)
        while not ended.any():
            actions = np.array([choose(mask, rng) for mask in env.action_masks()])
            observation, _, terminated, truncated, infos = env.step(actions)
            ended = terminated | truncated
        assert (infos["action_mask"].any(axis=1) == ~ended).all()
        before = pickle.dumps(env)
        with pytest.raises(GameOver, match=r"rows .* are over; reset\(options=\{'reset_mask'"):
            env.step(np.zeros(4, np.int64))
        assert pickle.dumps(env) == before
        options = {"reset_mask": ended}
        after, infos = env.reset(options=options)
        assert options == {"reset_mask": ended}
        assert (after[~ended] == observation[~ended]).all()
        assert infos["action_mask"].any(axis=1).all()

    def test_seeds(self) -> None:
        env = SingleAgentVectorEnv(NAME, 3)
        row_by_row = [SingleAgentEnv(NAME).reset(seed=seed)[0] for seed in (7, 8, 9)]
        assert same(env.reset(seed=7)[0], np.stack(row_by_row))
        assert same(env.reset(seed=[7, 8, 9])[0], np.stack(row_by_row))
        assert same(env.reset(seed=np.array([7, 8, 9]))[0], np.stack(row_by_row))
        mixed, _ = env.reset(seed=[None, 8, None])
        assert (mixed[1] == row_by_row[1]).all()
        assert (mixed[0] != row_by_row[0]).any()

    @settings(deadline=None, derandomize=True, max_examples=20)
    @given(
        seeds=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=6),
        seat=st.integers(0, 2),
        opponents=st.sampled_from(["random", "rule", ("random", lowest), (middle, "rule")]),
        steps=st.integers(1, 60),
    )
    def test_a_row_does_not_depend_on_its_batch(self, seeds: list[int], seat: int, opponents: Any, steps: int) -> None:
        batch = SingleAgentVectorEnv(NAME, len(seeds), 3, opponents, seat=seat)
        batch.reset(seed=seeds)
        rows = [SingleAgentEnv(NAME, 3, opponents, seat=seat) for _ in seeds]
        for env, seed in zip(rows, seeds, strict=True):
            env.reset(seed=seed)
        rngs = [np.random.default_rng(seed) for seed in seeds]
        over = [False] * len(seeds)
        for _ in range(steps):
            masks = batch.action_masks()
            actions = [choose(mask, rng) if mask.any() else 0 for mask, rng in zip(masks, rngs, strict=True)]
            observation, reward, terminated, _, _ = batch.step(np.array(actions))
            for row, env in enumerate(rows):
                expected = (env.reset()[0], 0.0, False) if over[row] else env.step(actions[row])[:3]
                over[row] = expected[2]
                assert same((observation[row], float(reward[row]), bool(terminated[row])), expected)


def ready(**given: Any) -> SingleAgentEnv:
    env = SingleAgentEnv(NAME, **given)
    env.reset(seed=0)
    return env


def ended() -> SingleAgentEnv:
    env = ready()
    rng = np.random.default_rng(0)
    while not env.step(choose(env.action_masks(), rng))[2]:
        pass
    return env


class TestErrors:
    @pytest.mark.parametrize(
        ("make", "action", "error", "says"),
        [
            (lambda: SingleAgentEnv(NAME), 0, NotReset, r"call reset\(\) first"),
            (ready, 0, IllegalAction, r"player_0, the learner, may not choose action 0; legal are \d+ \(place"),
            (ready, 77, IllegalAction, "may not choose action 77; legal are"),
            (ready, -1, IllegalAction, "may not choose action -1; legal are"),
            (ready, 0.5, InvalidAction, "an integer from 0 to 59, got 0.5 of type float"),
            (ready, None, InvalidAction, "got None"),
            (ready, True, InvalidAction, "got True of type bool"),
            (ready, False, InvalidAction, "got False of type bool"),
            (ended, 0, GameOver, r"is over; call reset\(\)"),
        ],
    )
    def test_step(self, make: Callable[[], SingleAgentEnv], action: Any, error: type[PhantomError], says: str) -> None:
        env = make()
        before = pickle.dumps(env)
        with pytest.raises(error, match=says):
            env.step(action)
        assert pickle.dumps(env) == before

    @pytest.mark.parametrize(
        ("policy", "error", "says"),
        [
            (forger, IllegalAction, "player_2, opponent <function forger .* may not choose action 0; legal are"),
            (stubborn, IllegalAction, "player_2, opponent <function stubborn .* may not choose action 0; legal are"),
            (fractional, InvalidAction, r"opponent <function fractional .* must answer integers of shape \(1,\)"),
            (too_many, InvalidAction, r"got int64 \(2,\)"),
            (failing, KeyError, "lost"),
        ],
    )
    def test_failing_policy_changes_nothing(self, policy: Any, error: type[Exception], says: str) -> None:
        env = ready(opponents=("rule", policy, "random"))
        before = pickle.dumps(env)
        with pytest.raises(error, match=says):
            env.step(env.action_masks().argmax())
        assert pickle.dumps(env) == before

    @pytest.mark.parametrize("seats", [(0, 1, 2), (0,)])
    def test_policy_that_writes_into_what_it_is_shown_harms_nobody(self, seats: tuple[int, ...]) -> None:
        envs = []
        for policy in (vandal, lowest):
            opponents = [policy if seat in seats else "rule" for seat in range(3)]
            envs.append(SingleAgentVectorEnv(NAME, 5, opponents=opponents))
        seen = [env.reset(seed=4) for env in envs]
        for _ in range(60):
            assert same(seen[0][0], seen[1][0])
            assert same(seen[0][1]["action_mask"], seen[1][1]["action_mask"])
            stepped = [env.step(env.games.mask.argmax(axis=1)) for env in envs]
            assert same(stepped[0][1], stepped[1][1])
            seen = [(each[0], each[4]) for each in stepped]

    @pytest.mark.parametrize(
        ("actions", "error", "says"),
        [
            (np.zeros(2, np.int64), InvalidAction, r"integers of shape \(3,\), got int64 \(2,\)"),
            (np.zeros(3), InvalidAction, "got float64"),
            (5, InvalidAction, r"\(\)"),
            (np.array([True, False, True]), InvalidAction, "got bool"),
            ([True, 3, 4], InvalidAction, r"integers of shape \(3,\), got bool among integers"),
            ([[1], [2, 3], 4], InvalidAction, r"integers of shape \(3,\)"),
            (np.array([0, 0, 0]), IllegalAction, "may not choose action 0 in row 0; legal are"),
        ],
    )
    def test_batched_step(self, actions: Any, error: type[PhantomError], says: str) -> None:
        env = SingleAgentVectorEnv(NAME, 3)
        with pytest.raises(NotReset):
            env.step(actions)
        env.reset(seed=0)
        before = pickle.dumps(env)
        with pytest.raises(error, match=says):
            env.step(actions)
        assert pickle.dumps(env) == before

    @pytest.mark.parametrize(
        ("given_", "error", "says"),
        [
            ({"game": "chess_v0"}, UnknownGame, "chess_v0"),
            ({"num_players": 7}, InvalidPlayers, "got num_players=7"),
            ({"opponents": "clever"}, InvalidOption, "opponent 'clever': choose 'random', 'rule' or a callable"),
            ({"opponents": ("rule", "rule")}, InvalidOption, "2 opponents for 3 seats"),
            ({"seat": 4}, InvalidOption, "seat=4: give a seat from 0 to 3, or 'rotate'"),
            ({"seat": "first"}, InvalidOption, "seat='first'"),
            ({"illegal_action": "lose"}, InvalidOption, "illegal_action='lose'"),
            ({"render_mode": "rgb_array"}, InvalidOption, "render_mode='rgb_array'"),
            ({"colour": 1}, UnknownOption, "no option 'colour'"),
            ({"num_envs": 0}, InvalidBatch, "num_envs=0: give an integer of at least 1"),
            ({"num_envs": -3}, InvalidBatch, "num_envs=-3"),
            ({"autoreset_mode": "never"}, InvalidOption, "never"),
        ],
    )
    def test_settings(self, given_: dict[str, Any], error: type[PhantomError], says: str) -> None:
        with pytest.raises(error, match=says):
            SingleAgentVectorEnv(**{"game": NAME} | given_)
        if not {"num_envs", "autoreset_mode"} & given_.keys():
            with pytest.raises(error, match=says):
                SingleAgentEnv(**{"game": NAME} | given_)

    @pytest.mark.parametrize("mask", [np.zeros(3, np.bool_), np.ones(2, np.bool_), np.ones(3)])
    def test_reset_mask(self, mask: NDArray[Any]) -> None:
        env = SingleAgentVectorEnv(NAME, 3)
        env.reset(seed=0)
        with pytest.raises(InvalidBatch, match="reset_mask must be bool"):
            env.reset(options={"reset_mask": mask})

    def test_partial_reset_comes_second(self) -> None:
        with pytest.raises(NotReset, match="reset all games once"):
            SingleAgentVectorEnv(NAME, 2).reset(options={"reset_mask": np.array([True, False])})

    def test_number_of_seeds(self) -> None:
        with pytest.raises(InvalidBatch, match="2 seeds for 3 games"):
            SingleAgentVectorEnv(NAME, 3).reset(seed=[1, 2])
        with pytest.raises(InvalidBatch, match="2 seeds for 3 games"):
            SingleAgentVectorEnv(NAME, 3).reset(seed=[None, 2])

    def test_options_of_the_game_in_reset(self) -> None:
        for env in (SingleAgentEnv(NAME), SingleAgentVectorEnv(NAME, 3)):
            with pytest.raises(UnknownOption, match="when you make the environment"):
                env.reset(options={"reward": "score"})


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])  # noqa: S301  # own
@pytest.mark.parametrize(
    "make",
    [
        lambda: SingleAgentEnv(NAME, 3, ("random", lowest), seat="rotate"),
        lambda: SingleAgentVectorEnv(NAME, 3, 3, ("random", lowest), seat="rotate", autoreset_mode="next_step"),
        lambda: SingleAgentVectorEnv(NAME, 3, 3, ("random", lowest), seat="rotate", autoreset_mode="same_step"),
    ],
)
def test_copies_go_on_alike(make: Callable[[], Any], duplicate: Callable[[Any], Any]) -> None:
    env = make()
    env.reset(seed=4)
    rng = np.random.default_rng(4)
    play(env, rng, 10)
    twin, state = duplicate(env), copy.deepcopy(rng)
    assert same(play(env, rng, 120), play(twin, state, 120))


def test_maskable_ppo_trains() -> None:
    from sb3_contrib import MaskablePPO

    env = gymnasium.make("phantom_envs/PhantomTrick-v0", num_players=3, opponents="rule", reward="score")
    model = MaskablePPO("MlpPolicy", env, n_steps=128, batch_size=64, n_epochs=2, seed=0, device="cpu")
    model.learn(512)
    observation, info = env.reset(seed=0)
    action, _ = model.predict(observation, action_masks=info["action_mask"].astype(bool), deterministic=True)
    assert info["action_mask"][action]
