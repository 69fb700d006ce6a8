"""Uniformly random legal play in this library's games, with observation and mask of the acting seat at every step."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Contender, Loop
from phantom_envs.core.batch import kernels
from phantom_envs.core.game import Game
from phantom_envs.envs.vector import make_vec
from phantom_envs.registry import get_game

LIBRARY = "phantom_envs"
COMPILED, SAMPLER, NUMPY, RAW_ENV, ENV = "compiled loop", "vec.sample", "NumPy sampler", "raw_env", "env"

COMPILED_GAMES = 64
"""Games in the compiled loop: enough to hide the latency of one step behind the next, few enough for the L2 cache."""
STEPS = 8192
"""Steps that one call of a loop plays, about."""
PLAYED_ON = 200
"""Steps that a batch has played before it is timed, so that its games are not all at their beginning."""


def compiled_loop(game: Game, players: int) -> Loop:
    """`random_play` of the game's kernels: sampler, step, mask and observation in compiled code."""
    options = game.check_options({})
    states = game.blank(COMPILED_GAMES, players, options)
    states["seed"] = np.arange(COMPILED_GAMES)
    kernels(game).start(states, np.ones(COMPILED_GAMES, np.bool_), 0, COMPILED_GAMES)
    words = np.zeros((COMPILED_GAMES, game.num_words), np.uint64)
    rng = np.arange(COMPILED_GAMES, dtype=np.uint64)[:, None].copy()
    observation = np.zeros((COMPILED_GAMES, game.layout(players).size), np.int8)
    mask = np.zeros((COMPILED_GAMES, game.num_actions), np.int8)
    rewards = np.zeros((COMPILED_GAMES, players))
    point = game.weights(players, options)[1]
    steps = STEPS // COMPILED_GAMES
    random_play = kernels(game).random_play
    random_play(states, words, rng, observation, mask, rewards, point, PLAYED_ON)

    def play() -> int:
        random_play(states, words, rng, observation, mask, rewards, point, steps)
        return steps * COMPILED_GAMES

    return play


def batch_loop(game: Game, players: int, batch: int, threads: int = 1, numpy_sampler: bool = False) -> Loop:
    """`vec.step` from Python, with `vec.sample()` or with `random_legal` for the actions."""
    vec = make_vec(game.id, batch, players, seed=0, threads=threads)
    vec.reset()
    for _ in range(PLAYED_ON):
        vec.step(vec.sample())
    rng = np.random.default_rng(0)
    calls = max(1, min(STEPS // batch, 256))

    def play() -> int:
        for _ in range(calls):
            vec.step(random_legal(vec.batch.action_mask, rng) if numpy_sampler else vec.sample())
        return calls * batch

    return play


def random_legal(mask: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.intp]:
    """A uniformly random legal action for every row of `mask` (N, A), each with at least one; (N,).

    The fastest of several ways in NumPy: a draw among the positions of all ones, which lie row after row.
    """
    ones = np.flatnonzero(mask.view(np.bool_))
    count = mask.sum(1, dtype=np.intp)
    chosen = count.cumsum() - 1 - (rng.random(len(mask)) * count).astype(np.intp)
    actions: NDArray[np.intp] = ones[chosen] % mask.shape[1]
    return actions


def aec_loop(env: Any) -> Loop:
    """`last()` and `step()` of a PettingZoo environment, whoever made it; games that end start anew at once."""
    env.reset(seed=0)
    pick = Picker()

    def play() -> int:
        for _ in range(256):
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                observation = env.last()[0]
            env.step(pick(observation["action_mask"]))
        return 256

    return play


class Picker:
    """Draws a uniformly random legal action of a single game, cheaper than Gymnasium's `Discrete.sample(mask)`."""

    def __init__(self) -> None:
        self._random = random.Random(0).random  # noqa: S311  # a game, not a secret

    def __call__(self, mask: NDArray[np.int8]) -> int:
        """An index of a one in `mask` (A,)."""
        return self.choose(mask.nonzero()[0].tolist())

    def choose(self, legal: list[int]) -> int:
        """A member of `legal`."""
        return legal[int(self._random() * len(legal))]


def contenders(
    game: str, players: int, batches: tuple[int, ...], core: int, pair: tuple[int, int] | None
) -> Iterator[Contender]:
    """Everything that is timed of one game with so many players.

    Args:
        game: Id of the game.
        players: Players.
        batches: Sizes of the batches driven from Python.
        core: Where it runs.
        pair: Two cores for one thread against two with the largest batch; None for neither.
    """
    the_game = get_game(game)
    entry = partial(Contender, LIBRARY, game, players, observation=the_game.layout(players).size)
    alone = (core,)
    yield entry(COMPILED, lambda: compiled_loop(the_game, players), cores=alone, batch=COMPILED_GAMES)
    for batch in batches:
        yield entry(SAMPLER, partial(batch_loop, the_game, players, batch), cores=alone, batch=batch)
        yield entry(NUMPY, partial(batch_loop, the_game, players, batch, numpy_sampler=True), cores=alone, batch=batch)
    if pair is not None:
        most = max(batches)
        for threads in (1, 2):
            loop = partial(batch_loop, the_game, players, most, threads)
            yield entry(SAMPLER, loop, cores=pair, batch=most, threads=threads)
    module = import_module(f"phantom_envs.{game}")
    yield entry(RAW_ENV, lambda: aec_loop(module.raw_env(num_players=players)), cores=alone)
    yield entry(ENV, lambda: aec_loop(module.env(num_players=players)), cores=alone)
