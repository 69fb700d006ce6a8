"""The settings under which the sweeps test a game."""

from __future__ import annotations

from itertools import product
from typing import Any

from phantom_envs.core.game import Game, Option


def values_of(option: Option) -> tuple[str | int, ...]:
    """All choices of an option, or for a number its default and a small value."""
    if option.choices is not None:
        return option.choices
    return (option.default, max(option.least, 3))


def settings_of(game: Game) -> list[dict[str, Any]]:
    """Every combination of option values worth a test."""
    names = [option.name for option in game.options]
    return [dict(zip(names, values, strict=True)) for values in product(*map(values_of, game.options))]
