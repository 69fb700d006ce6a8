"""The same job with sb3-contrib's MaskablePPO: one seat learns, past selves play the others.

    python -m training.sb3_maskable_ppo --game phantom_trick_v0 --num-players 4 --total-steps 1000000

The games run on the batched engine behind a native Stable-Baselines3 `VecEnv`; everything else is stock.
"""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from phantom_envs.adapters.sb3 import PhantomVecEnv
from phantom_envs.arena.agent import Decisions
from phantom_envs.core.files import write_whole
from phantom_envs.registry import get_game
from training.command import command
from training.evaluate import Evaluation, evaluate, table
from training.finite import NotFinite, not_finite, require_finite_weights
from training.interrupts import Interrupts
from training.monitor import Display, print_table
from training.run_folder import begin_run, check_free, in_use
from training.settings import (
    Count,
    InvalidSetting,
    Positive,
    Seed,
    Steps,
    Threads,
    Weight,
    Whole,
    Width,
    check_device,
    check_game,
    check_settings,
    minibatch_of,
    plain,
)

MINIBATCH = 2048
"""Decisions per gradient step, unless others are asked for."""


@dataclass
class Config:
    """Everything that can be set."""

    game: str = "phantom_trick_v0"
    """Game to learn."""
    num_players: int | None = None
    """Players; None for the game's default."""
    options: dict[str, int | str] = field(default_factory=dict)
    """Options of the game, as `--options plays 4`; its last `reward`, which comes most often, unless you give one."""
    run: Path | None = None
    """Folder of tensorboard files and, at the end, `model.zip`; None for a new one in `runs/`."""
    seed: Seed = 0
    """Seed of the network, the deals and the choices."""
    device: str = "cpu"
    """Where the network runs."""
    threads: Threads = 2
    """Threads of torch."""
    total_steps: Steps = 1_000_000
    """Decisions of the learner."""
    num_envs: Count = 512
    """Games at a time."""
    rollout: Count = 32
    """Steps of each game between updates."""
    epochs: Count = 3
    """Passes over a rollout."""
    minibatch: Count | None = None
    """Decisions per gradient step; None for 2048, or the whole rollout where that is less."""
    learning_rate: Positive = 5e-4
    """Of Adam."""
    entropy: Weight = 0.01
    """Weight of the entropy."""
    width: Width = 256
    """Units of each of two hidden layers."""
    pool_every: Count = 10
    """Rollouts between two past selves that are kept."""
    pool_size: Count = 10
    """Past selves that are kept."""
    evaluate_every: Whole = 50
    """Rollouts between evaluations against the baselines; 0 for none but the last."""
    evaluate_deals: Count = 100
    """Deals of an evaluation while training, each played in every seat."""
    final_deals: Whole = 1000
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
    """Keeps past selves, gives the opponents one of them before every rollout, and evaluates now and then.

    Args:
        config: Settings of the training.
        opponents: Who plays the other seats.
        display: Where progress is shown.
        interrupts: Whether to stop.
    """

    def __init__(self, config: Config, opponents: PastSelf, display: Display, interrupts: Interrupts) -> None:
        super().__init__()
        self.config, self.opponents, self.display, self.interrupts = config, opponents, display, interrupts
        self.pool: list[Any] = []
        self.rollouts = 0
        self.rng = np.random.default_rng(config.seed)

    def _on_rollout_start(self) -> None:
        policy = self.model.policy
        require_finite_weights(self.num_timesteps, policy)
        if self.rollouts % self.config.pool_every == 0:
            past = type(policy)(**policy._get_constructor_parameters())  # noqa: SLF001  # SB3 copies a policy so
            past.load_state_dict(policy.state_dict())
            past.set_training_mode(False)
            self.pool = [*self.pool, past][-self.config.pool_size :]
        self.opponents.policy = self.pool[self.rng.integers(len(self.pool))]
        every = self.config.evaluate_every
        if every and self.rollouts and self.rollouts % every == 0:
            for evaluation in evaluate_model(self.model, self.config, self.config.evaluate_deals):
                self.display.say(f"{self.num_timesteps:>12,} steps: {evaluation}")
                for name, value in evaluation.figures().items():
                    self.logger.record(f"against_{evaluation.opponent}/{name}", value)
        self.rollouts += 1

    def _on_step(self) -> bool:
        """Whether to go on."""
        self.display.update(self.num_timesteps)
        return not self.interrupts.asked


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
    """The untrained model on its games, and the players of the opponents' seats.

    Raises:
        PhantomError: A setting has a value that it does not take.
    """
    check_settings(config)
    decisions = config.num_envs * config.rollout
    minibatch = minibatch_of(config, MINIBATCH)
    if decisions == 1 or minibatch == 1 or decisions % minibatch == 1:
        raise InvalidSetting(
            f"minibatch={minibatch}: of the {decisions:,} decisions of a rollout (num_envs × rollout) one would "
            "be left by itself, from which MaskablePPO cannot learn; give another number"
        )
    if config.device != "auto":
        check_device(config.device)
    torch.set_num_threads(config.threads)
    game, num_players, options = check_game(config)
    opponents = PastSelf(config.seed)
    env = PhantomVecEnv(game.id, config.num_envs, num_players, opponents, "rotate", **options)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=config.learning_rate,
        n_steps=config.rollout,
        batch_size=minibatch,
        n_epochs=config.epochs,
        gamma=1.0,
        ent_coef=config.entropy,
        policy_kwargs={"net_arch": [config.width, config.width], "activation_fn": torch.nn.ReLU},
        seed=config.seed,
        device=config.device,
    )
    return model, opponents


def train(config: Config) -> list[Evaluation]:
    """Run the training of `config` to its end and evaluate what it learned.

    SIGINT (Ctrl-C) and SIGTERM end it after the step under way; the model is kept as it is then.

    Raises:
        PhantomError: A setting or the folder is at fault (nothing has been written), or a weight is no longer finite.
        OSError: A file cannot be written.
        SystemExit: A signal came; the status is 128 and its number.
    """
    check_settings(config)
    if config.run is not None:
        check_free(config.run)
    model, opponents = make_model(config)
    folder = begin_run(config.run, f"sb3-{config.game}", {"config": plain(config, ("run",))})
    model.tensorboard_log = str(folder / "tensorboard")
    path = folder / "model.zip"
    with in_use(folder), Interrupts() as interrupts, Display(config.total_steps) as display:
        try:
            with interrupts.deferred():
                learn(model, config, Selfplay(config, opponents, display, interrupts))
            save(model, path)
            display.say(f"the model is in {path}")
            evaluations = evaluate_model(model, config, config.final_deals) if config.final_deals else []
        except KeyboardInterrupt:
            if not interrupts.hasty:  # else it came amid an update
                save(model, path)
            kept = f"the model so far is in {path}" if path.exists() else "no model has been kept"
            display.say(f"stopped at {model.num_timesteps:,} of {config.total_steps:,} steps; {kept}")
            raise SystemExit(128 + interrupts.number) from None
    if evaluations:
        print_table(table(f"{config.game}: {model.num_timesteps:,} steps", evaluations))
    return evaluations


def learn(model: MaskablePPO, config: Config, callback: Selfplay) -> None:
    """Train a model, with `NotFinite` where its weights become useless."""
    try:
        model.learn(config.total_steps, callback)
    except ValueError as error:
        if "found invalid values" not in str(error):  # what torch says of probabilities that are no numbers
            raise
        raise NotFinite(not_finite(model.num_timesteps, "probabilities")) from error
    require_finite_weights(model.num_timesteps, model.policy)


def save(model: MaskablePPO, path: Path) -> None:
    """Write a model to a file, whole or not at all."""
    content = io.BytesIO()
    model.save(content)
    write_whole(path, content.getvalue())


if __name__ == "__main__":
    sys.exit(command("training.sb3_maskable_ppo", Config, train, __doc__))
