"""What batches and searches do with one record: begin a game, make a move, imagine what a seat cannot know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from phantom_envs.core.game import Game
from phantom_envs.core.jit import jit
from phantom_envs.core.records import clearing
from phantom_envs.core.rng import mix, successor


@dataclass(frozen=True)
class Moves:
    """Compiled functions of a game, for its compiled callers.

    Attributes:
        begin: `(s)` deals a new game from `s["seed"]`; whatever was in the record before leaves no trace.
        play: `(s, action)` plays a legal action; `s["points"]` are then those of this step.
        imagine: `(s, seat, seed)` redraws what `seat` cannot know, with `seed` as the only randomness.
    """

    begin: Callable[[Any], None]
    play: Callable[[Any, int], None]
    imagine: Callable[[Any, int, Any], None]


@cache
def moves(game: Game) -> Moves:
    """The moves of `game`, built once a process."""
    deal, apply, resample = game.deal, game.apply, game.resample
    clear = clearing(game.dtype, game.kept_fields)

    @jit
    def begin(s: Any) -> None:
        clear(s)
        s["rng"][0] = mix(s["seed"])
        deal(s)

    @jit
    def play(s: Any, action: int) -> None:
        s["actor"] = s["seat"]
        for seat in range(len(s["points"])):
            s["points"][seat] = 0
        apply(s, action)

    @jit
    def imagine(s: Any, seat: int, seed: Any) -> None:
        s["rng"][0] = successor(seed)  # not mix(seed), which is what a game of that seed is dealt from
        s["seed"] = successor(s["rng"][0])
        resample(s, seat)

    return Moves(begin, play, imagine)
