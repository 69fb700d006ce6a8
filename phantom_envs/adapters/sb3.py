"""Stable-Baselines3: a native `VecEnv` on the batched engine, with the masks that MaskablePPO asks for."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from phantom_envs.core.errors import InvalidOption
from phantom_envs.envs.learner_games import Opponent
from phantom_envs.envs.single_agent import SingleAgentVectorEnv


class PhantomVecEnv(VecEnv):
    """N games of one learner each as Stable-Baselines3 has them, without a Python loop over environments.

    Observations are int8 (N, D). A game that ends makes room for the next in the same step; its last observation is in
    `infos[i]["terminal_observation"]` and its return and length in `infos[i]["episode"]`, so no `VecMonitor` is needed.

    Args:
        game: Id of the game.
        num_envs: Number of games N.
        num_players: Number of players; None for the game's default.
        opponents: As in `SingleAgentEnv`: `"random"`, `"rule"`, a policy, or one of these for each other seat.
        seat: The learner's seat, or `"rotate"`.
        options: The game's options.
    """

    def __init__(
        self,
        game: str,
        num_envs: int = 64,
        num_players: int | None = None,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: int | str = "rotate",
        **options: Any,
    ) -> None:
        self.games = SingleAgentVectorEnv(
            game, num_envs, num_players, opponents, seat, autoreset_mode=AutoresetMode.SAME_STEP, **options
        )
        super().__init__(num_envs, self.games.single_observation_space, self.games.single_action_space)
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, np.int64)
        self._began = time.monotonic()
        self._actions: NDArray[np.int64] = np.zeros(num_envs, np.int64)

    def reset(self) -> NDArray[np.int8]:
        """Deal new games; with the seeds of a call of `seed` before, else going on from the last ones."""
        seeds = None if None in self._seeds else [int(each) for each in self._seeds if each is not None]
        observation, _ = self.games.reset(seed=seeds)
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0.0
        self._lengths[:] = 0
        return observation

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the actions (N,) of all learners."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play them. Illegal ones raise `IllegalAction`."""
        observation, reward, terminated, truncated, found = self.games.step(self._actions)
        self._returns += reward
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        done = terminated | truncated
        for row in np.flatnonzero(done).tolist():
            infos[row] = {
                "terminal_observation": found["final_obs"][row],
                "TimeLimit.truncated": bool(truncated[row] and not terminated[row]),
                "episode": {
                    "r": float(self._returns[row]),
                    "l": int(self._lengths[row]),
                    "t": round(time.monotonic() - self._began, 6),
                },
            }
        self._returns[done] = 0.0
        self._lengths[done] = 0
        return observation, reward.astype(np.float32), done, infos

    def close(self) -> None:
        """Nothing is held open."""

    def _rows(self, indices: int | Iterable[int] | None) -> list[int]:
        return list(self._get_indices(indices))

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """An attribute of the games, the same for each of `indices`."""
        value = getattr(self.games, attr_name)
        return [value for _ in self._rows(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Refused: the games of a batch have their settings in common."""
        raise InvalidOption(f"{attr_name} cannot be set for some games of a batch; make the batch with it")

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """`action_masks()`, bool (A,), of each of `indices`; other methods that give something for every game."""
        results = getattr(self.games, method_name)(*method_args, **method_kwargs)
        return [results[row] for row in self._rows(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: int | Iterable[int] | None = None
    ) -> list[bool]:
        """No game is wrapped."""
        return [False for _ in self._rows(indices)]
