"""The bare compiled loop: legal play without observation, mask or rewards, which playouts are measured against.

At random it makes the moves of `random_play` of `core.batch` from the same generators.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from phantom_envs.core.batch import Kernel, kernels, random_member
from phantom_envs.core.game import RUNNING, Game, States
from phantom_envs.core.jit import entry
from phantom_envs.core.moves import moves
from phantom_envs.core.rng import successor

RANDOM, RULE = 0, 1
"""Who plays all seats: the engine at random, or the game's rule bot."""

POLICIES = {"random": RANDOM, "rule": RULE}


def dealt(game: Game, num_players: int, count: int) -> States:
    """`count` games at their beginning, all options at their defaults, dealt from the seeds 0 … count-1."""
    states = game.blank(count, num_players, game.check_options({}))
    states["seed"] = np.arange(count)
    kernels(game).start(states, np.ones(count, np.bool_), 0, count)
    return states


@cache
def bare_play(game: Game) -> Kernel:
    """The bare loop of `game`, built once a process: `(states (N,), rng (N, 1), words (W,), policy, steps)`.

    Every game makes `steps` decisions by `policy`; those that end start anew at once. Returns how many ended. `words`
    is left with the legal actions of the last decision.
    """
    compiled = entry(f"{game.id}-bare")
    legal, rule_action = game.legal, game.rule_action
    begin, play = moves(game).begin, moves(game).play

    @compiled
    def bare(states: Any, rng: Any, words: Any, policy: int, steps: int) -> int:
        ended = 0
        for _ in range(steps):
            for row in range(len(states)):
                s = states[row]
                legal(s, words)
                play(s, rule_action(s, words) if policy == RULE else random_member(words, rng[row]))
                if s["status"] != RUNNING:
                    s["seed"] = successor(s["seed"])
                    begin(s)
                    ended += 1
        return ended

    return bare
