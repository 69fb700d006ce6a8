"""Self-play training: it learns, it can be stopped and resumed, and it refuses what it cannot do."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest
import torch
import tyro

from agents.network import PolicyValueNet, load_network, save_network
from phantom_envs.registry import get_game
from tests.training.runs import small
from training import seeds
from training.monitor import Monitor
from training.ppo import Config, Trainer, resumed, train
from training.run_folder import RunRefused
from training.settings import InvalidSetting


def test_it_learns_to_beat_random_players(tmp_path: Path) -> None:
    """A minute of training is enough to beat three random players clearly; seed 1, 400 deals in every seat."""
    config = Config(run=tmp_path, seed=1, threads=1, total_steps=1_000_000, num_envs=256, rollout=64, minibatch=2048)
    config.width, config.evaluate_every, config.final_deals, config.checkpoint_every = 128, 0.0, 400, 1e9
    against = {evaluation.opponent: evaluation.result for evaluation in train(config)}
    wins, margin = against["random"].win_share, against["random"].margin
    assert margin is not None
    assert margin.low > 1.5
    assert wins.low > 0.35  # a fair share is 0.25
    assert against["rule"].margin is not None


def test_pool_games_train_one_seat_only(tmp_path: Path) -> None:
    trainer = Trainer(small(tmp_path, pool_fraction=0.5))
    trainer.keep_past_self()
    trainer.start()
    with Monitor(tmp_path, 1) as monitor:
        trainer.collect(monitor)
    r = trainer.rollout
    learner = np.arange(16) % trainer.vec.num_players
    free = r.mask.sum(2) > 1
    assert (r.counts[:, :16] == (free[:, :16] & (r.seat[:, :16] == learner))).all()
    assert (r.counts[:, 16:] == free[:, 16:]).all()
    assert not r.complete[~r.counts[:-1]].any()
    assert trainer.steps == 32 * 16 + (r.seat[:-1, :16] == learner).sum()
    chosen = np.take_along_axis(r.mask[:-1], r.action[:, :, None], 2)
    assert (chosen == 1).all()


def test_log_probabilities_and_values_are_those_of_the_network(tmp_path: Path) -> None:
    trainer = Trainer(small(tmp_path, bfloat16=False))
    trainer.start()
    with Monitor(tmp_path, 1) as monitor:
        trainer.collect(monitor)
    r = trainer.rollout
    with torch.no_grad():
        logits, values = trainer.net(torch.from_numpy(r.observation[3]), torch.from_numpy(r.mask[3]))
    expected = torch.log_softmax(logits, 1).gather(1, torch.from_numpy(r.action[3])[:, None])[:, 0]
    counted = r.counts[3]
    assert 0 < counted.sum() <= 32
    assert np.allclose(r.log_prob[3][counted], expected.numpy()[counted], atol=1e-5)
    assert np.allclose(r.value[3][counted], values.numpy()[counted], atol=1e-5)


def test_resumes_where_it_stopped(tmp_path: Path) -> None:
    train(small(tmp_path, total_steps=2048, pool_every=1, pool_fraction=0.01))
    first = resumed(small(tmp_path), tmp_path)
    assert (first.steps, first.updates, len(first.pool)) == (2048, 2, 2)
    moments = first.optimizer.state_dict()["state"]
    assert all(float(state["step"]) > 0 for state in moments.values())
    before = copy.deepcopy(first.net.state_dict())
    train(Config(run=tmp_path, resume=True, threads=1, more_steps=2048))  # the other settings are as they were
    second = resumed(small(tmp_path), tmp_path)
    assert (second.steps, second.config.total_steps, second.config.width) == (4096, 4096, 32)
    assert any(not torch.equal(before[name], tensor) for name, tensor in second.net.state_dict().items())


def test_same_seed_same_network(tmp_path: Path) -> None:
    for run in ("a", "b"):
        train(small(tmp_path / run, seed=5))
    (one, _), (two, _) = (load_network(tmp_path / run / "agent.safetensors") for run in ("a", "b"))
    assert all(torch.equal(x, y) for x, y in zip(one.parameters(), two.parameters(), strict=True))


def test_command_line() -> None:
    given = ["--game", "phantom_v0", "--options", "plays", "4", "reward", "win", "--no-bfloat16"]
    config = tyro.cli(Config, args=given)
    assert config.options == {"plays": 4, "reward": "win"}
    assert get_game("phantom_v0").dense_options(config.options) == {"plays": 4, "reward": "win"}
    assert get_game("phantom_v0").dense_options({}) == {"plays": 1, "reward": "score"}
    several = tyro.cli(seeds.Config, args=["--seeds", "3", "4", "--ppo.game", "das_phantom_v0"])
    assert (several.seeds, several.ppo.game) == ((3, 4), "das_phantom_v0")


def test_several_seeds(tmp_path: Path) -> None:
    config = seeds.Config((1, 2), tmp_path / "seeds.json", small(tmp_path / "runs", total_steps=1024, final_deals=3))
    rows = seeds.main(config)
    assert [(row["seed"], row["opponent"]) for row in rows] == [(1, "random"), (1, "rule"), (2, "random"), (2, "rule")]
    assert all(row["steps"] == 1024 and row["deals"] == 3 for row in rows)
    assert json.loads((tmp_path / "seeds.json").read_text())["rows"] == rows


def test_does_not_overwrite_a_run(tmp_path: Path) -> None:
    train(small(tmp_path, total_steps=1024))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(RunRefused, match="--resume"):
        train(small(tmp_path))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_resume_needs_a_folder() -> None:
    with pytest.raises(InvalidSetting, match="--run"):
        train(Config(resume=True))


def test_network_files_hold_numbers_only(tmp_path: Path) -> None:
    game = get_game("phantom_trick_v0")
    net = PolicyValueNet.for_game(game, 4, width=16)
    save_network(tmp_path / "net.safetensors", net, {"game": game.id})
    twin, about = load_network(tmp_path / "net.safetensors")
    assert about == {"game": game.id}
    assert all(torch.equal(x, y) for x, y in zip(net.state_dict().values(), twin.state_dict().values(), strict=True))
    torch.save(net, tmp_path / "pickled.safetensors")
    with pytest.raises(ValueError, match="not a network file"):
        load_network(tmp_path / "pickled.safetensors")
