"""Every game, with every player count and every combination of options, through every face. There are no exemptions."""

from __future__ import annotations

import copy
import inspect
import json
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phantom_envs.core.batch import kernels
from phantom_envs.core.table import Table
from phantom_envs.envs.single_agent import SingleAgentEnv, SingleAgentVectorEnv
from phantom_envs.envs.vector import make_vec
from phantom_envs.registry import game_ids, get_game
from tests.digest import digests
from tests.play import advance, choose, same
from tests.settings import settings_of

with warnings.catch_warnings():
    # where pygame is installed, PettingZoo's own tests load one of its games in a way that it warns of
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, render_test, seed_test

MAX_STEPS = 600  # of one walk; longer games are left there

Setting: TypeAlias = tuple[str, int, dict[str, Any]]

SETTINGS: list[Setting] = [
    (game_id, players, options)
    for game_id in game_ids()
    for players, options in product(get_game(game_id).players, settings_of(get_game(game_id)))
]

every_setting = pytest.mark.parametrize(
    "setting",
    [pytest.param(each, id=f"{each[0]}-{each[1]}-{'-'.join(map(str, each[2].values()))}") for each in SETTINGS],
)
every_player_count = pytest.mark.parametrize(
    ("game_id", "players"), [(game_id, players) for game_id in game_ids() for players in get_game(game_id).players]
)
every_game = pytest.mark.parametrize("game_id", game_ids())


def table_of(setting: Setting, seed: int) -> Table:
    """A game just dealt."""
    game_id, players, options = setting
    table = Table(get_game(game_id), players, options)
    table.deal(seed)
    return table


def env_of(setting: Setting, kind: str = "env", **more: Any) -> Any:
    """The PettingZoo environment."""
    game_id, players, options = setting
    return getattr(import_module(f"phantom_envs.{game_id}"), kind)(num_players=players, **options, **more)


def advice_at(table: Table) -> int:
    """The rule bot's choice."""
    actions = np.full(1, -1, np.int64)
    kernels(table.game).advise(table.states, table.words.reshape(1, -1), actions, 0, 1)
    return int(actions[0])


class TestPettingZoo:
    # api_test knows dict observations and empty masks of dead agents only by the names of PettingZoo's own games
    @pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
    @pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning")
    @pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros:UserWarning")
    @every_setting
    def test_api(self, setting: Setting) -> None:
        for kind in ("env", "raw_env"):
            api_test(env_of(setting, kind), num_cycles=10_000)

    @every_setting
    def test_seed(self, setting: Setting) -> None:
        seed_test(lambda: env_of(setting), num_cycles=300)

    @every_game
    def test_render(self, game_id: str) -> None:
        for players in get_game(game_id).players:
            render_test(lambda render_mode, players=players: env_of((game_id, players, {}), render_mode=render_mode))

    @every_game
    def test_modules_say_what_the_game_says(self, game_id: str) -> None:
        """One agent acts at a time: there is no `parallel_env`, which is what PettingZoo's max_cycles_test tests."""
        game, module = get_game(game_id), import_module(f"phantom_envs.{game_id}")
        assert not hasattr(module, "parallel_env")
        assert module.env().metadata["is_parallelizable"] is False
        expected = {"num_players": game.default_players} | {option.name: option.default for option in game.options}
        for make in (module.env, module.raw_env):
            parameters = inspect.signature(make).parameters.values()
            defaults = {each.name: each.default for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD}
            assert defaults == expected | {"render_mode": None}
            assert make().unwrapped.table.options == game.check_options({})


class TestSecrets:
    @every_player_count
    def test_a_choice_is_secret_if_no_other_seat_can_tell_it_from_others(self, game_id: str, players: int) -> None:
        """But for choices with which a deal or the game ends: what was seen of it is past then."""
        table = table_of((game_id, players, {}), 5)
        rng = np.random.default_rng(5)
        told = 0
        while not table.over and told < 300:
            legal = table.legal()
            after = [played(table, action) for action in (legal if len(legal) <= 3 else [legal[0], legal[-1]])]
            if len(legal) > 1 and all(not each.over and deal_of(each) == deal_of(table) for each in after):
                told += 1
                others = [seat for seat in range(players) if seat != table.seat]
                seen = [[each.observe(seat).tolist() for seat in others] for each in after]
                assert all(each == seen[0] for each in seen) is table.game.secret(table.state)
            advance(table, rng, 1)
        assert told > 10

    @every_player_count
    def test_pictures_are_alike_where_a_seat_sees_alike(self, game_id: str, players: int) -> None:
        table = table_of((game_id, players, {}), 6)
        rng = np.random.default_rng(6)
        for step in range(200):
            if table.over:
                break
            for seat in range(players):
                world = table.copy()
                world.resample(seat, step)
                assert table.game.picture(world.state, seat, True) == table.game.picture(table.state, seat, True)
            advance(table, rng, 1)


def played(table: Table, action: int) -> Table:
    """A copy of the game in which that was played."""
    other = table.copy()
    other.play(action)
    return other


def deal_of(table: Table) -> int:
    """The number of the deal, in games of several."""
    field = table.game.deal_field
    return int(table.state[field]) if field else 0


class TestRules:
    @every_setting
    def test_a_walk(self, setting: Setting) -> None:
        """Masks, bounds, rewards and the end, step by step."""
        game_id, players, options = setting
        game = get_game(game_id)
        low, high = game.layout(players).bounds()
        bound = game.max_decisions(players, game.check_options(options))
        for seed in range(3):
            env = env_of(setting, "raw_env")
            env.reset(seed=seed)
            rng = np.random.default_rng(seed)
            decisions = 0
            while not (ended := any(env.terminations.values()) or any(env.truncations.values())) and (
                decisions < MAX_STEPS
            ):
                for agent in env.agents:
                    seen = env.observe(agent)
                    assert (seen["observation"] >= low).all()
                    assert (seen["observation"] <= high).all()
                    assert seen["action_mask"].any() == (agent == env.agent_selection)
                env.step(choose(env.infos[env.agent_selection]["action_mask"], rng))
                assert sum(env.rewards.values()) == pytest.approx(0, abs=1e-9)
                decisions += 1
            assert bound is None or decisions <= bound
            if ended:
                assert len(set(env.terminations.values())) == len(set(env.truncations.values())) == 1
                assert not any(env.observe(agent)["action_mask"].any() for agent in env.agents)
                for agent in env.agents:
                    assert env.observation_space(agent).contains(env.observe(agent))

    @every_setting
    def test_same_seed_same_game(self, setting: Setting) -> None:
        ends = []
        for seed in (3, 3, 4):
            table = table_of(setting, seed)
            start = table.state_dict()
            advance(table, np.random.default_rng(0), 50)
            ends.append((start, table.state_dict(), table.observe(0)))
        assert same(ends[0], ends[1])
        assert not same(ends[0][0], ends[2][0])

    @every_setting
    def test_equal_games_have_equal_bytes(self, setting: Setting) -> None:
        """Whatever was played in the same memory before."""
        fresh, used = table_of(setting, 5), table_of(setting, 4)
        rng = np.random.default_rng(4)
        advance(used, rng, int(rng.integers(MAX_STEPS)))
        used.deal(5)
        assert used.states.tobytes() == fresh.states.tobytes()
        for table in (fresh, used):
            advance(table, np.random.default_rng(5), 40)
        assert used.states.tobytes() == fresh.states.tobytes()

    @every_setting
    def test_no_leak(self, setting: Setting) -> None:
        """What a seat cannot know may be redrawn without a change in anything it sees, or in the rule bot's advice."""
        players = setting[1]
        changed = 0
        for seed in range(2):
            table = table_of(setting, seed)
            rng = np.random.default_rng(seed)
            for step in range(MAX_STEPS // 4):
                if table.over:
                    break
                for seat in range(players):
                    twin = table.copy()
                    twin.resample(seat, 1000 * step + seat)
                    assert twin.seat == table.seat
                    assert (twin.observe(seat) == table.observe(seat)).all()
                    if seat == table.seat:
                        assert (twin.mask == table.mask).all()
                        assert advice_at(twin) == advice_at(table)
                    changed += not same(twin.state_dict(), table.state_dict())
                    if step % 20 == 0:
                        advance(twin, rng, 40)
                assert table.mask[advice_at(table)]
                table.play(advice_at(table) if rng.random() < 0.5 else choose(table.mask, rng))
        assert changed > 0


@pytest.fixture(scope="module")
def uncompiled() -> dict[str, int]:
    """The digests of a process without compilation."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.digest"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    checksums: dict[str, int] = json.loads(result.stdout)
    return checksums


def test_compiled_and_uncompiled_rules_agree(uncompiled: dict[str, int]) -> None:
    assert digests() == uncompiled


Trace: TypeAlias = list[tuple[int, Any, Any, int, list[float], bool, bool]]


def trace_of(setting: Setting, seed: int, games: int) -> Trace:
    """The steps of successive games in the PettingZoo environment: what was seen, done and gained."""
    env = env_of(setting, "raw_env")
    rng = np.random.default_rng(seed % 1000)
    trace: Trace = []
    for game in range(games):
        env.reset(seed=seed if game == 0 else None)
        ended = False
        while not ended and len(trace) < MAX_STEPS:
            agent = env.agent_selection
            seen = env.observe(agent)
            action = choose(seen["action_mask"], rng)
            env.step(action)
            terminated, truncated = env.terminations[agent], env.truncations[agent]
            ended = terminated or truncated
            rewards = [env.rewards[each] for each in env.possible_agents]
            seat = env.possible_agents.index(agent)
            trace.append((seat, seen["observation"], seen["action_mask"], action, rewards, terminated, truncated))
    return trace


@pytest.mark.parametrize("mode", ["disabled", "next_step", "same_step"])
@every_setting
@settings(deadline=None, derandomize=True, max_examples=3)
@given(seeds=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5), threads=st.integers(1, 3))
def test_batched_games_are_the_single_ones(setting: Setting, mode: str, seeds: list[int], threads: int) -> None:
    game_id, players, options = setting
    batch = make_vec(game_id, len(seeds), players, seeds, threads, mode, **options)
    traces = [trace_of(setting, seed, games=2) for seed in seeds]
    at = [0] * len(seeds)  # steps of its trace that a row has made
    view = batch.reset()
    while any(place < len(trace) for place, trace in zip(at, traces, strict=True)):
        actions = batch.sample().copy()
        made = []
        for row, (place, trace) in enumerate(zip(at, traces, strict=True)):
            if place < len(trace) and view.seat[row] >= 0:
                seat, observation, mask, action = trace[place][:4]
                assert view.seat[row] == seat
                assert (view.observation[row] == observation).all()
                assert (view.action_mask[row] == mask).all()
                actions[row] = action
                made.append(row)
        view = batch.step(actions)
        for row in made:
            rewards, terminated, truncated = traces[row][at[row]][4:]
            assert view.reward[row].tolist() == rewards
            assert (view.terminated[row], view.truncated[row]) == (terminated, truncated)
            at[row] += 1
        if mode == "disabled" and (view.seat < 0).any():
            view = batch.reset(mask=view.seat < 0)
    batch.close()


def played_aec(setting: Setting) -> Any:
    env = env_of(setting)
    env.reset(seed=2)
    return env


def step_aec(env: Any, rng: np.random.Generator) -> Any:
    if not env.agents:
        env.reset()
    seen = env.last()
    env.step(None if seen[2] or seen[3] else choose(seen[0]["action_mask"], rng))
    return seen, dict(env.rewards)


def played_batch(setting: Setting) -> Any:
    batch = make_vec(setting[0], 3, setting[1], seed=2, **setting[2])
    batch.reset()
    return batch


def step_batch(batch: Any, _rng: np.random.Generator) -> Any:
    return copy.deepcopy(tuple(batch.step(batch.sample())))


def played_single(setting: Setting) -> Any:
    env = SingleAgentEnv(setting[0], setting[1], "rule", seat="rotate", **setting[2])
    env.reset(seed=2)
    return env


def step_single(env: Any, rng: np.random.Generator) -> Any:
    if not env.action_masks().any():
        env.reset()
    return env.step(choose(env.action_masks(), rng))


def played_single_batch(setting: Setting) -> Any:
    env = SingleAgentVectorEnv(setting[0], 3, setting[1], "random", seat="rotate", **setting[2])
    env.reset(seed=2)
    return env


def step_single_batch(env: Any, rng: np.random.Generator) -> Any:
    return env.step(np.array([choose(mask, rng) if mask.any() else 0 for mask in env.action_masks()]))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])  # noqa: S301  # own
@pytest.mark.parametrize(
    ("start", "step"),
    [
        (played_aec, step_aec),
        (played_batch, step_batch),
        (played_single, step_single),
        (played_single_batch, step_single_batch),
    ],
)
@every_setting
def test_copies_go_on_alike(
    setting: Setting, start: Callable[[Setting], Any], step: Callable[..., Any], duplicate: Callable[[Any], Any]
) -> None:
    env = start(setting)
    rng = np.random.default_rng(1)
    for _ in range(25):
        step(env, rng)
    twin, state = duplicate(env), copy.deepcopy(rng)
    for _ in range(60):
        assert same(step(env, rng), step(twin, state))
