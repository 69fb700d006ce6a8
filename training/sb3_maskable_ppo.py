"""The same job with sb3-contrib's MaskablePPO: one seat learns, past selves play the others.

    python -m training.sb3_maskable_ppo --game phantom_trick_v0 --num-players 4 --total-steps 1000000

The games run on the batched engine behind a native Stable-Baselines3 `VecEnv`; everything else is stock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from phantom_envs.adapters.sb3 import PhantomVecEnv
from phantom_envs.arena.agent import Decisions
from phantom_envs.registry import get_game
from training.evaluate import Evaluation, evaluate, table


@dataclass
class Config:
    """Everything that can be set."""

    game: str = "phantom_trick_v0"
    """Game to learn."""
    num_players: int | None = None
    """Players; None for the game's default."""
    options: dict[str, int | str] = field(default_factory=dict)
    """Options of the game, as `--options plays 4`; its last `reward`, which comes most often, unless you give one."""
    run: Path = Path("runs/sb3")
    """Folder of tensorboard files and, at the end, `model.zip`."""
    seed: int = 0
    """Seed of the network, the deals and the choices."""
    device: str = "cpu"
    """Where the network runs."""
    threads: int = 2
    """Threads of torch."""
    total_steps: int = 1_000_000
    """Decisions of the learner."""
    num_envs: int = 512
    """Games at a time."""
    rollout: int = 32
    """Steps of each game between updates."""
    epochs: int = 3
    """Passes over a rollout."""
    minibatch: int = 2048
    """Decisions per gradient step."""
    learning_rate: float = 5e-4
    """Of Adam."""
    entropy: float = 0.01
    """Weight of the entropy."""
    width: int = 256
    """Units of each of two hidden layers."""
    pool_every: int = 10
    """Rollouts between two past selves that are kept."""
    pool_size: int = 10
    """Past selves that are kept."""
    evaluate_every: int = 50
    """Rollouts between evaluations against the baselines; 0 for none but the last."""
    evaluate_deals: int = 100
    """Deals of an evaluation while training, each played in every seat."""
    final_deals: int = 1000
    """Deals of the evaluation at the end; 0 for none."""


class PastSelf:
    """Plays the opponents' seats, all of them in one batch: at random until it is given a policy."""

    def __init__(self, seed: int) -> None:
        self.policy: Any = None
        self._rng = np.random.default_rng(seed)

    def __call__(self, observation: NDArray[np.int8], action_mask: NDArray[np.int8]) -> NDArray[np.int64]:
        """Actions (K,) drawn from the policy for observations (K, D)."""
        if self.policy is None:
            return np.asarray((self._rng.random(action_mask.shape) * action_mask).argmax(1), np.int64)
        actions, _ = self.policy.predict(observation, action_masks=action_mask)
        return np.asarray(actions, np.int64)


class Selfplay(BaseCallback):
    """Keeps past selves, gives the opponents one of them before every rollout, and evaluates now and then."""

    def __init__(self, config: Config, opponents: PastSelf, progress: Progress) -> None:
        super().__init__()
        self.config, self.opponents, self.progress = config, opponents, progress
        self.task = progress.add_task("training", total=config.total_steps)
        self.pool: list[Any] = []
        self.rollouts = 0
        self.rng = np.random.default_rng(config.seed)

    def _on_rollout_start(self) -> None:
        if self.rollouts % self.config.pool_every == 0:
            policy = self.model.policy
            past = type(policy)(**policy._get_constructor_parameters())  # noqa: SLF001  # SB3 copies a policy so
            past.load_state_dict(policy.state_dict())
            past.set_training_mode(False)
            self.pool = [*self.pool, past][-self.config.pool_size :]
        self.opponents.policy = self.pool[self.rng.integers(len(self.pool))]
        every = self.config.evaluate_every
        if every and self.rollouts and self.rollouts % every == 0:
            for evaluation in evaluate_model(self.model, self.config, self.config.evaluate_deals):
                self.progress.console.print(f"{self.num_timesteps:>12,} steps: {evaluation}")
                for name, value in evaluation.figures().items():
                    self.logger.record(f"against_{evaluation.opponent}/{name}", value)
        self.rollouts += 1

    def _on_step(self) -> bool:
        self.progress.update(self.task, completed=self.num_timesteps)
        return True


class ModelAgent:
    """A Stable-Baselines3 model in the arena: its most probable legal action."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Actions (K,)."""
        actions, _ = self.model.predict(decisions.observation, action_masks=decisions.mask, deterministic=True)
        return np.asarray(actions, np.int64)


def evaluate_model(model: Any, config: Config, deals: int) -> list[Evaluation]:
    """The model as it is against the baselines, masks applied."""
    players = model.get_env().games.games.num_players
    options = get_game(config.game).dense_options(config.options)
    return evaluate(ModelAgent(model), config.game, players, options, deals)


def make_model(config: Config) -> tuple[MaskablePPO, PastSelf]:
    """The untrained model on its games, and the players of the opponents' seats."""
    game = get_game(config.game)
    num_players = game.check_players(config.num_players)
    options: dict[str, Any] = game.dense_options(config.options)
    opponents = PastSelf(config.seed)
    env = PhantomVecEnv(config.game, config.num_envs, num_players, opponents, "rotate", **options)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=config.learning_rate,
        n_steps=config.rollout,
        batch_size=config.minibatch,
        n_epochs=config.epochs,
        gamma=1.0,
        ent_coef=config.entropy,
        policy_kwargs={"net_arch": [config.width, config.width], "activation_fn": torch.nn.ReLU},
        tensorboard_log=str(config.run / "tensorboard"),
        seed=config.seed,
        device=config.device,
    )
    return model, opponents


def train(config: Config) -> list[Evaluation]:
    """Run the training of `config` to its end and evaluate what it learned."""
    torch.set_num_threads(config.threads)
    model, opponents = make_model(config)
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns) as progress:
        model.learn(config.total_steps, Selfplay(config, opponents, progress))
    model.save(config.run / "model.zip")
    if not config.final_deals:
        return []
    evaluations = evaluate_model(model, config, config.final_deals)
    progress.console.print(table(f"{config.game}: {model.num_timesteps:,} steps", evaluations))
    return evaluations


if __name__ == "__main__":
    train(tyro.cli(Config, description=__doc__))
