"""The training benchmark runs every way to train and reports what it should; how fast they are is not tested."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stable_baselines3.common.env_checker import check_env

from benchmarks import training_speed
from benchmarks.trainers import TRAINERS, OneSeatAtATime, Settings, Speed
from training.monitor import PARTS

TINY = Settings(num_players=3, reward="win", seconds=0.01, threads=1, width=16, wrapped_envs=2, rollout=32)


@pytest.mark.parametrize("trainer", TRAINERS)
def test_every_way_to_train(trainer: str) -> None:
    wrapped = trainer in training_speed.WRAPPED
    speed = TRAINERS[trainer](TINY if wrapped else replace(TINY, rollout=8))
    assert speed.steps > 0
    assert speed.seconds > 0
    assert speed.cycles >= 1
    assert set(speed.shares) == set(PARTS)
    assert sum(speed.shares.values()) == pytest.approx(1.0)
    if wrapped:
        assert speed.steps == speed.cycles * TINY.wrapped_envs * 32


def test_wrapped_environment_is_one_for_stable_baselines() -> None:
    env = OneSeatAtATime(TINY)
    check_env(env)
    observation, _ = env.reset(seed=1)
    rng = np.random.default_rng(0)
    rewards, ended = 0, False
    while not ended:
        action = int(rng.choice(np.flatnonzero(env.action_masks())))
        observation, reward, terminated, truncated, _ = env.step(action)
        assert observation in env.observation_space
        ended = terminated or truncated
        rewards += reward != 0
    assert rewards <= 1  # of the last step only


def test_one_run_in_a_process_of_its_own() -> None:
    speed = training_speed.train("sb3_dummy", TINY)
    assert speed["steps_per_second"] == speed["steps"] / speed["seconds"] > 0


def test_a_failing_run_tells_why() -> None:
    with pytest.raises(RuntimeError, match="KeyError"):
        training_speed.train("nonsense", TINY)


def test_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    steps = iter([4000, 500, 100, 50, 6000, 700, 100, 80, 5000, 600, 100, 70])

    def train(trainer: str, settings: Settings) -> dict[str, Any]:
        speed = Speed(next(steps), 2.0, 1, dict(zip(PARTS, (0.25, 0.25, 0.5), strict=True)))
        return vars(speed) | {"steps_per_second": speed.steps / speed.seconds}

    monkeypatch.setattr(training_speed, "train", train)
    file = tmp_path / "training_speed.json"
    training_speed.main(training_speed.Config(json=file))
    report = json.loads(file.read_text())
    assert {"cpu", "torch", "sb3-contrib", "revision"} <= set(report["machine"])
    assert [result["steps_per_second"] for result in report["results"]] == [2500, 300, 50, 35]
    assert report["ratios"] == {"ppo": 50, "sb3_native": 6, "sb3_dummy": 1, "sb3_subproc": 0.7}
    assert "50.0" in capsys.readouterr().out
