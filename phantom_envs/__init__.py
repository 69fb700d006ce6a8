"""Four phantom games of hidden information as fast, exact reinforcement-learning environments."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from phantom_envs.core.errors import (
    GameOver,
    IllegalAction,
    InvalidAction,
    InvalidBatch,
    InvalidOption,
    InvalidPlayers,
    InvalidRow,
    InvalidSeat,
    NotReset,
    PhantomError,
    UnknownAgent,
    UnknownGame,
    UnknownOption,
)
from phantom_envs.envs.registration import register_all

if TYPE_CHECKING:
    from phantom_envs.core.table import Table
    from phantom_envs.envs.vector import PhantomVec, make_vec
    from phantom_envs.registry import game_ids, get_game

__version__ = "0.1.0"

__all__ = [
    "GameOver",
    "IllegalAction",
    "InvalidAction",
    "InvalidBatch",
    "InvalidOption",
    "InvalidPlayers",
    "InvalidRow",
    "InvalidSeat",
    "NotReset",
    "PhantomError",
    "PhantomVec",
    "Table",
    "UnknownAgent",
    "UnknownGame",
    "UnknownOption",
    "game_ids",
    "get_game",
    "make_vec",
]

_LAZY = {
    "PhantomVec": "phantom_envs.envs.vector",
    "Table": "phantom_envs.core.table",
    "game_ids": "phantom_envs.registry",
    "get_game": "phantom_envs.registry",
    "make_vec": "phantom_envs.envs.vector",
}

register_all()


def __getattr__(name: str) -> Any:
    """Load what needs numba when it is first asked for."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
