"""The Stable-Baselines3 `VecEnv`: the same games as the Gymnasium vector environment, in SB3's manner."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from phantom_envs import IllegalAction, InvalidOption
from phantom_envs.adapters.sb3 import PhantomVecEnv
from phantom_envs.envs.single_agent import SingleAgentVectorEnv
from training.sb3_maskable_ppo import Config, train

GAME = "phantom_trick_v0"


def first_legal(masks: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.asarray(masks.argmax(1), np.int64)


def test_same_games_as_the_gymnasium_batch() -> None:
    ours = PhantomVecEnv(GAME, 5, 4, opponents="rule", reward="score")
    theirs = SingleAgentVectorEnv(GAME, 5, 4, "rule", "rotate", autoreset_mode="same_step", reward="score")
    ours.seed(3)
    observation: Any = ours.reset()
    expected, _ = theirs.reset(seed=[3, 4, 5, 6, 7])
    ended, returns = 0, np.zeros(5)
    for _ in range(150):
        assert (observation == expected).all()
        actions = first_legal(theirs.action_masks())
        observation, reward, done, infos = ours.step(actions)
        expected, their_reward, terminated, truncated, their_infos = theirs.step(actions)
        returns += their_reward
        assert reward == pytest.approx(their_reward, abs=1e-6)
        assert (done == (terminated | truncated)).all()
        for row in np.flatnonzero(done):
            assert (infos[row]["terminal_observation"] == their_infos["final_obs"][row]).all()
            assert not infos[row]["TimeLimit.truncated"]
            assert infos[row]["episode"]["r"] == pytest.approx(returns[row])
            returns[row] = 0.0
            ended += 1
    assert ended > 5


def test_masks_as_maskable_ppo_asks_for_them() -> None:
    env = PhantomVecEnv(GAME, 3)
    env.reset()
    assert is_masking_supported(env)
    assert (get_action_masks(env) == env.games.action_masks()).all()
    assert len(env.env_method("action_masks", indices=[0, 2])) == 2


def test_errors() -> None:
    env = PhantomVecEnv(GAME, 2)
    env.reset()
    with pytest.raises(IllegalAction, match="row"):
        env.step(first_legal(~env.games.action_masks()))
    with pytest.raises(InvalidOption, match="batch"):
        env.set_attr("seat", 1)


def test_trains_and_evaluates(tmp_path: Path) -> None:
    config = Config(run=tmp_path, threads=1, total_steps=1024, num_envs=16, rollout=32, minibatch=128, width=16)
    config.epochs, config.pool_every, config.evaluate_every, config.evaluate_deals, config.final_deals = 1, 1, 1, 2, 5
    evaluations = train(config)
    assert [evaluation.opponent for evaluation in evaluations] == ["random", "rule"]
    assert all(evaluation.result.games == 20 for evaluation in evaluations)
    assert (tmp_path / "model.zip").is_file()
