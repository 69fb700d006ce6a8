"""Fantasmagória for PettingZoo: `fantasmagoria_v0.env()`."""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv

from phantom_envs.envs import aec

GAME_ID = "fantasmagoria_v0"


def env(
    num_players: int = 4, reward: str = "win", render_mode: str | None = None, **options: Any
) -> AECEnv[str, Any, Any]:
    """A game of 3 or 4 players in PettingZoo's usual wrappers; see `phantom_envs.envs.aec.env`."""
    return aec.env(GAME_ID, num_players, render_mode, {"reward": reward, **options})


def raw_env(
    num_players: int = 4, reward: str = "win", render_mode: str | None = None, **options: Any
) -> aec.PhantomAECEnv:
    """The same without wrappers: what goes wrong raises; see `phantom_envs.envs.aec.PhantomAECEnv`."""
    return aec.raw_env(GAME_ID, num_players, render_mode, {"reward": reward, **options})
