"""Numbers that are none are noticed, and rollouts with little or nothing to learn from make none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from agents.network import load_network
from tests.training.runs import small
from training import sb3_maskable_ppo
from training.checkpoints import checkpoint_notes
from training.finite import NotFinite
from training.monitor import Monitor
from training.ppo import Config, Trainer, explained_variance, resumed, train


def finite(net: torch.nn.Module) -> bool:
    return all(bool(parameter.isfinite().all()) for parameter in net.parameters())


def test_one_game_and_short_rollouts(tmp_path: Path) -> None:
    train(Config(run=tmp_path, num_envs=1, rollout=8, total_steps=300, threads=1, final_deals=0, evaluate_every=0))
    net, _ = load_network(tmp_path / "agent.safetensors")
    assert finite(net)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_transitions_that_count(tmp_path: Path, count: int) -> None:
    trainer = Trainer(small(tmp_path))
    trainer.start()
    with Monitor(tmp_path, 1) as monitor:
        trainer.collect(monitor)
    rows = np.flatnonzero(trainer.rollout.complete)
    trainer.rollout.complete.ravel()[rows[count:]] = False
    before = [parameter.clone() for parameter in trainer.net.parameters()]
    trainer.learn()
    assert finite(trainer.net)
    assert all(np.isfinite(list(trainer.losses.values())))
    same = all(torch.equal(old, new) for old, new in zip(before, trainer.net.parameters(), strict=True))
    assert same == (count == 0)


def test_explained_variance() -> None:
    target = torch.tensor([1.0, 2.0, 3.0, 6.0])
    assert explained_variance(target, target) == pytest.approx(1.0)
    assert explained_variance(torch.full((4,), 3.0), target) == pytest.approx(0.0)
    assert explained_variance(target.flip(0), target) == pytest.approx(
        1 - 13 / 3.5
    )  # of -5, -1, 1, 5 and of 1, 2, 3, 6
    assert np.isfinite(explained_variance(target[:1], target[1:2]))


@pytest.mark.parametrize("where", ["reward", "weights", "gradient"])
def test_what_is_not_finite_ends_the_run(tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After two good updates; what has been kept stays, and nothing else is."""
    learn = Trainer.learn

    def harm(self: Trainer) -> None:
        if self.updates == 2 and where == "reward":
            self.rollout.advantage[:] = np.nan
        elif self.updates == 2 and where == "weights":
            self.config.learning_rate = 1e38
        elif self.updates == 2:
            self.config.value_weight = np.inf
        learn(self)

    monkeypatch.setattr(Trainer, "learn", harm)
    with pytest.raises(NotFinite, match=r"not finite after .* steps: .* (nan|inf)"):
        train(small(tmp_path))
    monkeypatch.undo()
    assert not (tmp_path / "agent.safetensors").exists()
    assert len(checkpoint_notes(tmp_path)) == 2
    kept = resumed(Config(run=tmp_path, resume=True), tmp_path)
    assert kept.steps == 2048
    assert finite(kept.net)


def test_a_network_that_overflows_is_noticed_before_it_plays(tmp_path: Path) -> None:
    trainer = Trainer(small(tmp_path))
    with torch.no_grad():
        for parameter in trainer.net.parameters():
            parameter.fill_(1e38)
    trainer.start()
    with Monitor(tmp_path, 1) as monitor, pytest.raises(NotFinite):
        trainer.collect(monitor)


def test_sb3_notices_it_too(tmp_path: Path) -> None:
    config = sb3_maskable_ppo.Config(run=tmp_path, threads=1, total_steps=1024, num_envs=16, rollout=16, width=16)
    config.minibatch, config.final_deals, config.evaluate_every, config.learning_rate = 64, 0, 0, 1e30
    with pytest.raises(NotFinite):
        sb3_maskable_ppo.train(config)
    assert not (tmp_path / "model.zip").exists()
