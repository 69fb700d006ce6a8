"""What the PettingZoo and the Gymnasium faces treat alike: render modes, counts, and the options of `reset`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from phantom_envs.core.errors import InvalidBatch, InvalidOption, UnknownOption
from phantom_envs.core.game import Game, Record
from phantom_envs.core.terminal import say, takes_color

RENDER_MODES = ("ansi", "human")


def check_render_mode(mode: str | None) -> str | None:
    """`mode` if it is one, else `InvalidOption`."""
    if mode is not None and mode not in RENDER_MODES:
        raise InvalidOption(f"render_mode={mode!r}: choose one of None, {', '.join(map(repr, RENDER_MODES))}")
    return mode


def check_count(name: str, value: Any) -> int:
    """`value` if it is an integer of at least 1, else `InvalidBatch`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidBatch(f"{name}={value!r}: give an integer of at least 1")
    return int(value)


def check_reset_options(game: Game, options: Mapping[str, Any] | None) -> None:
    """Refuse the game's own options in `reset(options=…)`; others are ignored there, as both APIs want it."""
    for option in game.options:
        if options and option.name in options:
            raise UnknownOption(
                f"reset() does not take the option {option.name!r}; give {option.name}=… when you make the environment"
            )


def render(game: Game, state: Record, seat: int | None, mode: str | None) -> str | None:
    """The table as `seat` sees it (None: everything): returned as text, printed, or a warning without a mode.

    Printed in colour where standard output takes it, and not at all where that is closed.
    """
    if mode is None:
        gymnasium.logger.warn("render() shows nothing without a mode; make the environment with render_mode='ansi'")
        return None
    if mode == "ansi":
        return game.picture(state, seat, False)
    say(game.picture(state, seat, takes_color(sys.stdout)))
    return None
