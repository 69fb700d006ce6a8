"""All games by name, loaded when asked for."""

from __future__ import annotations

from importlib import import_module

from phantom_envs.core.errors import UnknownGame
from phantom_envs.core.game import Game

GAMES: dict[str, str] = {
    "phantom_trick_v0": "phantom_envs.games.phantom_trick",
    "phantom_v0": "phantom_envs.games.phantom",
    "fantasmagoria_v0": "phantom_envs.games.fantasmagoria",
    "das_phantom_v0": "phantom_envs.games.das_phantom",
}
"""Per game id, the folder that defines it."""


def game_ids() -> tuple[str, ...]:
    """The ids of all games."""
    return tuple(GAMES)


def get_game(name: str) -> Game:
    """The game of that id, or `UnknownGame`."""
    if name not in GAMES:
        raise UnknownGame(f"no game {name!r}; there are {', '.join(GAMES)}")
    game: Game = import_module(GAMES[name]).GAME
    return game
