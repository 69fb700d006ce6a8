"""How fast several ways to train learn: one at a time, in a process of its own (`python -m benchmarks.trainers`).

Whole cycles of playing and learning are timed, from the end of the first on; start-up, evaluation and checkpoints are
not. What counts as a step is a decision of a seat that learns, forced moves included:

* `ppo`: of all seats. Forced moves are played without the network and left out of the update.
* `sb3_native`: of the one seat that learns; the moves of the past selves in the other seats do not count.
* `sb3_dummy`, `sb3_subproc`: every step of MaskablePPO, which plays all seats, as PettingZoo's tutorial has it.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv, VecEnvWrapper
from torch import Tensor, nn

from training import ppo, sb3_maskable_ppo
from training.interrupts import Interrupts
from training.monitor import PARTS, Display, Monitor

ENDLESS = 10**12
"""Steps of a run that is ended by the clock."""


@dataclass(frozen=True)
class Settings:
    """What is common to all ways to train."""

    game: str = "phantom_trick_v0"
    """Game to learn."""
    num_players: int = 4
    """Players."""
    reward: str = "score"
    """Reward of the game, one that it offers."""
    seconds: float = 30.0
    """Time at the end of which the last cycle begins."""
    threads: int = 2
    """Threads of torch and of the games."""
    width: int = 256
    """Units of each of the network's two hidden layers, which policy and value share."""
    wrapped_envs: int = 8
    """Environments of the wrapped setups."""
    rollout: int | None = None
    """Steps of each game between updates; None for what each way has by default."""


@dataclass(frozen=True)
class Speed:
    """What was measured: decisions of learning seats, in so many seconds, and where the time went."""

    steps: int
    seconds: float
    cycles: int
    shares: dict[str, float]


def train_ppo(settings: Settings) -> Speed:
    """`training/ppo.py` with its defaults."""
    with tempfile.TemporaryDirectory() as folder:
        config = ppo.Config(
            game=settings.game,
            num_players=settings.num_players,
            options={"reward": settings.reward},
            threads=settings.threads,
            width=settings.width,
            run=Path(folder),
            total_steps=ENDLESS,
        )
        config.rollout = settings.rollout or config.rollout
        trainer = ppo.Trainer(config)
        trainer.start()

        def cycle(monitor: Monitor) -> int:
            before = trainer.steps
            trainer.collect(monitor)
            with monitor.time("update"):
                trainer.learn()
            return trainer.steps - before

        with Monitor(Path(folder), ENDLESS) as monitor:
            cycle(monitor)
        steps, cycles = 0, 0
        with Monitor(Path(folder), ENDLESS) as monitor:
            began = time.perf_counter()
            while time.perf_counter() - began < settings.seconds:
                steps += cycle(monitor)
                cycles += 1
            return Speed(steps, time.perf_counter() - began, cycles, monitor.shares())


class Clock(BaseCallback):
    """Tells how many steps a Stable-Baselines3 model learns from, and where its time goes.

    Args:
        env: The environment of the model.
        seconds: Time at the end of which no further cycle begins.
    """

    def __init__(self, env: TimedVecEnv, seconds: float) -> None:
        super().__init__()
        self._env, self._seconds = env, seconds
        self._starts: list[tuple[float, int, float]] = []
        self._ends: list[float] = []

    def _on_rollout_start(self) -> None:
        self._starts.append((time.perf_counter(), self.num_timesteps, self._env.seconds))

    def _on_rollout_end(self) -> None:
        self._ends.append(time.perf_counter())

    def _on_step(self) -> bool:
        """Whether to go on."""
        return len(self._starts) < 3 or self._starts[-1][0] - self._starts[1][0] < self._seconds

    def speed(self) -> Speed:
        """From the end of the first cycle to the beginning of the one that was not finished."""
        (began, first, env_before), (ended, last, env_after) = self._starts[1], self._starts[-1]
        total = ended - began
        environment = env_after - env_before
        playing = sum(end - start[0] for start, end in zip(self._starts[1:-1], self._ends[1:], strict=True))
        seconds = dict(zip(PARTS, (environment, playing - environment, total - playing), strict=True))
        cycles = len(self._starts) - 2
        return Speed(last - first, total, cycles, {part: spent / total for part, spent in seconds.items()})


class TimedVecEnv(VecEnvWrapper):
    """Counts the seconds that steps and masks of an environment take.

    Attributes:
        seconds: These seconds.
    """

    def __init__(self, venv: VecEnv) -> None:
        super().__init__(venv)
        self.seconds = 0.0

    @contextmanager
    def _timed(self) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - began

    def reset(self) -> Any:
        """As the environment's."""
        return self.venv.reset()

    def step_async(self, actions: NDArray[Any]) -> None:
        """As the environment's."""
        with self._timed():
            self.venv.step_async(actions)

    def step_wait(self) -> Any:
        """As the environment's."""
        with self._timed():
            return self.venv.step_wait()

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **named: Any) -> list[Any]:
        """As the environment's; this is how MaskablePPO asks for masks."""
        with self._timed():
            return self.venv.env_method(method_name, *arguments, indices=indices, **named)


def learn(model: MaskablePPO, seconds: float, *callbacks: BaseCallback) -> Speed:
    """Train a model for that time."""
    venv = model.get_env()
    assert venv is not None
    env = TimedVecEnv(venv)
    model.set_env(env)
    clock = Clock(env, seconds)
    model.learn(ENDLESS, CallbackList([*callbacks, clock]))
    env.close()
    return clock.speed()


def train_sb3_native(settings: Settings) -> Speed:
    """`training/sb3_maskable_ppo.py` with its defaults: MaskablePPO on the batched engine."""
    torch.set_num_threads(settings.threads)
    with tempfile.TemporaryDirectory() as folder:
        config = sb3_maskable_ppo.Config(
            game=settings.game,
            num_players=settings.num_players,
            options={"reward": settings.reward},
            threads=settings.threads,
            width=settings.width,
            run=Path(folder),
            total_steps=ENDLESS,
            evaluate_every=0,
        )
        config.rollout = settings.rollout or config.rollout
        model, opponents = sb3_maskable_ppo.make_model(config)
        callback = sb3_maskable_ppo.Selfplay(config, opponents, Display(ENDLESS), Interrupts())
        return learn(model, settings.seconds, callback)


class SharedBody(BaseFeaturesExtractor):
    """The two hidden layers of `agents.network`, shared by policy and value as there.

    Stable-Baselines3's own `net_arch` gives each of the two a body of its own, about twice the work.
    """

    def __init__(self, observation_space: gymnasium.spaces.Box, width: int) -> None:
        super().__init__(observation_space, width)
        size = int(np.prod(observation_space.shape))
        self.layers = nn.Sequential(nn.Linear(size, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())

    def forward(self, observations: Tensor) -> Tensor:
        """Features (N, width)."""
        features: Tensor = self.layers(observations)
        return features


class OneSeatAtATime(gymnasium.Env[NDArray[np.int8], int]):
    """A PettingZoo game as PettingZoo's tutorial for Stable-Baselines3 shows it to MaskablePPO.

    Each step is a decision of the seat to act, whichever that is; the observation is the next seat's, the reward that
    of the seat that acted.

    Args:
        settings: Game and players.
    """

    def __init__(self, settings: Settings) -> None:
        module = import_module(f"phantom_envs.{settings.game}")
        self._game = module.env(num_players=settings.num_players, reward=settings.reward)
        agent = self._game.possible_agents[0]
        self.observation_space = self._game.observation_space(agent)["observation"]
        self.action_space = self._game.action_space(agent)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Deal."""
        super().reset(seed=seed)
        self._game.reset(seed=seed)
        return self._view("observation"), {}

    def step(self, action: int) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """Play for the seat to act."""
        game = self._game
        actor = game.agent_selection
        game.step(int(action))
        view = self._view("observation")
        return view, float(game.rewards[actor]), game.terminations[actor], game.truncations[actor], {}

    def action_masks(self) -> NDArray[np.int8]:
        """Mask of the seat to act."""
        return self._view("action_mask")

    def _view(self, part: str) -> NDArray[np.int8]:
        view: NDArray[np.int8] = self._game.observe(self._game.agent_selection)[part]
        return view


def masks(env: gymnasium.Env[Any, Any]) -> NDArray[np.int8]:
    """What `ActionMasker` asks for."""
    inner = env.unwrapped
    assert isinstance(inner, OneSeatAtATime)
    return inner.action_masks()


def wrapped_env(settings: Settings) -> gymnasium.Env[Any, Any]:
    """One environment of the wrapped setups."""
    return ActionMasker(OneSeatAtATime(settings), masks)


def train_sb3_wrapped(vec_env: type[DummyVecEnv | SubprocVecEnv], settings: Settings) -> Speed:
    """sb3-contrib as its users run it: a wrapped AEC environment, several of them, MaskablePPO's defaults."""
    torch.set_num_threads(settings.threads)
    env = vec_env([partial(wrapped_env, settings)] * settings.wrapped_envs)
    network = {
        "features_extractor_class": SharedBody,
        "features_extractor_kwargs": {"width": settings.width},
        "net_arch": [],
    }
    given: dict[str, Any] = {} if settings.rollout is None else {"n_steps": settings.rollout}
    return learn(MaskablePPO("MlpPolicy", env, policy_kwargs=network, device="cpu", **given), settings.seconds)


TRAINERS: dict[str, Callable[[Settings], Speed]] = {
    "ppo": train_ppo,
    "sb3_native": train_sb3_native,
    "sb3_dummy": partial(train_sb3_wrapped, DummyVecEnv),
    "sb3_subproc": partial(train_sb3_wrapped, SubprocVecEnv),
}
"""All ways to train."""


def main(trainer: str, out: Path, settings: Settings) -> None:
    """Measure one of `TRAINERS` and write the result as JSON.

    Args:
        trainer: Its name.
        out: The file.
        settings: What is common to all.
    """
    out.write_text(json.dumps(asdict(TRAINERS[trainer](settings))))


if __name__ == "__main__":
    tyro.cli(main)
