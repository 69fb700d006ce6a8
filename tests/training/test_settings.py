"""Settings that cannot work are refused by name before anything is written."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from phantom_envs.core.errors import PhantomError
from tests.training.runs import small
from training import ppo, sb3_maskable_ppo
from training.run_folder import RunRefused
from training.settings import InvalidSetting, check_device, check_settings, minibatch_of, plain

NAN, INFINITE = math.nan, math.inf
BOTH: list[tuple[str, Any]] = [
    *((name, value) for name in ("num_envs", "rollout", "epochs", "minibatch", "width") for value in (0, -1, 1.5, "8")),
    *(("pool_every", value) for value in (0, -1)),
    *(("pool_size", value) for value in (0, -1)),
    *(("learning_rate", value) for value in (0.0, -1e-3, NAN, INFINITE, None)),
    *(("entropy", value) for value in (-0.1, NAN)),
    *(("total_steps", value) for value in (0, -1, True)),
    *(("seed", value) for value in (-1, 2**70, 0.5, None)),
    *(("threads", value) for value in (0, -2, 10**9)),
    *(("evaluate_every", value) for value in (-1, NAN)),
    *(("evaluate_deals", value) for value in (0, -1)),
    ("final_deals", -1),
    ("num_envs", 10**30),
    *(("device", value) for value in ("none", "cuda:9999", "meta", "", 3)),
    *(("game", value) for value in ("none", 5, None)),
    *(("num_players", value) for value in (9, 0, "4")),
    *(("options", value) for value in ({"none": 1}, {"reward": "none"}, None)),
    ("run", "a string"),
]
PPO: list[tuple[str, Any]] = [
    *(("depth", value) for value in (0, 10**9)),
    *((name, value) for name in ("discount", "trace", "pool_fraction") for value in (-0.1, 1.1, NAN)),
    *((name, value) for name in ("clip", "max_grad_norm") for value in (0.0, -1.0, NAN)),
    *((name, value) for name in ("value_weight", "entropy_end", "checkpoint_every") for value in (-0.1, NAN)),
    *(("win_bonus", value) for value in (NAN, INFINITE)),
    ("more_steps", -1),
]


@pytest.mark.parametrize(("name", "value"), [*BOTH, *PPO])
def test_ppo_refuses(name: str, value: Any, tmp_path: Path) -> None:
    run = {} if name == "run" else {"run": tmp_path / "run"}
    with pytest.raises(PhantomError) as raised:
        ppo.train(ppo.Config(**(run | {name: value})))
    assert name in ("game", "options") or str(value) in str(raised.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "value"), BOTH)
def test_sb3_refuses(name: str, value: Any, tmp_path: Path) -> None:
    run = {} if name == "run" else {"run": tmp_path / "run"}
    with pytest.raises(PhantomError):
        sb3_maskable_ppo.train(sb3_maskable_ppo.Config(**(run | {name: value})))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("num_envs", "rollout", "minibatch"), [(1, 1, 8), (4, 4, 1), (3, 3, 4), (5, 5, 24)])
def test_sb3_refuses_minibatches_of_one(num_envs: int, rollout: int, minibatch: int) -> None:
    config = sb3_maskable_ppo.Config(num_envs=num_envs, rollout=rollout, minibatch=minibatch)
    with pytest.raises(InvalidSetting, match="minibatch"):
        sb3_maskable_ppo.make_model(config)


@pytest.mark.parametrize("script", [ppo, sb3_maskable_ppo])
def test_a_minibatch_beyond_the_rollout(script: Any, tmp_path: Path) -> None:
    config = script.Config(run=tmp_path / "run", num_envs=8, rollout=16, minibatch=129)
    with pytest.raises(InvalidSetting, match="minibatch=129: a rollout has 128 decisions"):
        script.train(config)
    assert not list(tmp_path.iterdir())
    assert [minibatch_of(replace(config, minibatch=size), 4096) for size in (128, 100, None)] == [128, 100, 128]
    assert minibatch_of(replace(config, minibatch=None), 100) == 100


@pytest.mark.parametrize("script", [ppo, sb3_maskable_ppo])
def test_a_run_that_is_a_file(script: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RunRefused, match="is a file"):
        script.train(script.Config(run=tmp_path / "file"))
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("config", [ppo.Config(), sb3_maskable_ppo.Config(), small(Path("run"))])
def test_defaults_are_taken(config: Any) -> None:
    check_settings(config)


def test_limits_are_taken() -> None:
    check_settings(
        ppo.Config(discount=0, trace=1, pool_fraction=1, final_deals=0, evaluate_every=0, seed=0, num_envs=1)
    )


def test_a_message_names_the_remedy() -> None:
    with pytest.raises(InvalidSetting, match=r"^depth=0: give a whole number of at least 1 and at most 100$"):
        check_settings(ppo.Config(depth=0))
    with pytest.raises(InvalidSetting, match=r"^clip=0: give a number above 0$"):
        check_settings(ppo.Config(clip=0))


def test_numpys_numbers_are_taken_and_kept_plain() -> None:
    config = ppo.Config(num_envs=np.int64(8), learning_rate=np.float32(0.5))  # type: ignore[arg-type]  # as a sweep of settings gives them
    check_settings(config)
    data = plain(config, ("run",))
    assert (data["num_envs"], data["learning_rate"]) == (8, 0.5)
    assert type(data["num_envs"]) is int


def test_devices() -> None:
    assert check_device("cpu") == torch.device("cpu")
    if not torch.cuda.is_available():
        with pytest.raises(InvalidSetting, match="device=cpu always can"):
            check_device("cuda")
