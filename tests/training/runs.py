"""Training runs of a few seconds."""

from __future__ import annotations

from pathlib import Path

from training.ppo import Config


def small(run: Path | None, **changes: object) -> Config:
    """A run of a few seconds."""
    config = Config(run=run, threads=1, total_steps=4096, num_envs=32, rollout=32, minibatch=256, width=32)
    config.evaluate_every, config.final_deals, config.checkpoint_every = 0.0, 0, 0.0
    for name, value in changes.items():
        setattr(config, name, value)
    return config
