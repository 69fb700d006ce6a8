"""Phantom for PettingZoo: `phantom_v0.env()`."""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv

from phantom_envs.envs import aec

GAME_ID = "phantom_v0"


def env(
    num_players: int = 2, reward: str = "win", plays: int = 1, render_mode: str | None = None, **options: Any
) -> AECEnv[str, Any, Any]:
    """A game of 2 players in PettingZoo's usual wrappers; see `phantom_envs.envs.aec.env`."""
    return aec.env(GAME_ID, num_players, render_mode, {"reward": reward, "plays": plays, **options})


def raw_env(
    num_players: int = 2, reward: str = "win", plays: int = 1, render_mode: str | None = None, **options: Any
) -> aec.PhantomAECEnv:
    """The same without wrappers: what goes wrong raises; see `phantom_envs.envs.aec.PhantomAECEnv`."""
    return aec.raw_env(GAME_ID, num_players, render_mode, {"reward": reward, "plays": plays, **options})
