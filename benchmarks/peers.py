"""The same kind of work in the libraries that a user would otherwise take: uniformly random legal play.

Every loop produces the acting player's observation as an array and the legal actions as a mask at every step, starts
games that end anew at once, and counts decisions only, no chance events. Each function imports its library when it is
called, and fails with `ImportError` where that is not installed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from importlib import import_module

import numpy as np

from benchmarks.ours import Picker, aec_loop
from benchmarks.timing import Contender, Loop

DISTRIBUTIONS = ("rlcard", "open_spiel", "pgx", "jax", "jaxlib")
"""Whose versions are reported, beside PettingZoo's."""

PGX_BATCH = 4096
"""Games at a time; it gains nothing from more on one core."""


def pettingzoo_loop(module: str, wrapped: bool) -> Loop:
    """A game of PettingZoo's classic ones, driven exactly as ours: `last()`, the same sampler, `step()`.

    Args:
        module: Name of its module in `pettingzoo.classic`.
        wrapped: Whether to take `env()`, as the documentation advises, or the bare `raw_env()`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # 1.27 announces another way to make it; 1.25 has only this
        game = import_module(f"pettingzoo.classic.{module}")
        return aec_loop(game.env() if wrapped else game.raw_env())


def rlcard_loop(game: str) -> Loop:
    """A game of RLCard: `env.step(action)` gives the next player's observation vector and a dict of legal actions.

    The mask is written from that dict.
    """
    import rlcard

    env = rlcard.make(game, config={"seed": 0})
    state, _ = env.reset()
    mask = np.zeros(env.num_actions, np.int8)
    pick = Picker()

    def play() -> int:
        nonlocal state
        for _ in range(64):
            legal = list(state["legal_actions"])
            mask[:] = 0
            mask[legal] = 1
            state, _ = env.step(pick.choose(legal))
            if env.is_over():
                state, _ = env.reset()
        return 64

    return play


def open_spiel_loop(game: str) -> Loop:
    """A game of OpenSpiel from Python, its observation tensor written into a NumPy buffer, the cheapest way it offers.

    The deal is made of chance events, drawn uniformly as they are in these games; they take time and do not count.
    """
    import pyspiel
    from open_spiel.python.observation import make_observation

    rules = pyspiel.load_game(game)
    observation = make_observation(rules)
    mask = np.zeros(rules.num_distinct_actions(), np.int8)
    pick = Picker()
    state = rules.new_initial_state()

    def play() -> int:
        nonlocal state
        for _ in range(64):
            if state.is_terminal():
                state = rules.new_initial_state()
            while state.is_chance_node():
                state.apply_action(pick.choose(state.legal_actions()))
            observation.set_from(state, state.current_player())
            legal = state.legal_actions()
            mask[:] = 0
            mask[legal] = 1
            state.apply_action(pick.choose(legal))
        return 64

    return play


def pgx_loop(game: str, batch: int, steps: int) -> Loop:
    """A batch of games of PGX on the CPU: sampler, step, automatic reset, observation and mask in one jitted function.

    Args:
        game: Its id.
        batch: Games at a time.
        steps: Steps per call from Python: 1 hands every observation and mask to Python, more is a `lax.scan` whose
            carried state holds them.
    """
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(game)
    step = jax.vmap(auto_reset(env.step, env.init))

    def turn(carry: tuple[object, object], _: object) -> tuple[tuple[object, object], None]:
        state, key = carry
        key, for_choice, for_step = jax.random.split(key, 3)
        logits = jax.numpy.where(state.legal_action_mask, 0.0, -jax.numpy.inf)  # type: ignore[attr-defined]  # a pgx.State
        actions = jax.random.categorical(for_choice, logits, axis=-1)
        return (step(state, actions, jax.random.split(for_step, batch)), key), None

    def turns(carry: tuple[object, object]) -> tuple[object, object]:
        if steps == 1:
            return turn(carry, None)[0]
        after: tuple[object, object] = jax.lax.scan(turn, carry, None, steps)[0]
        return after

    advance = jax.jit(turns)
    keys = jax.random.split(jax.random.PRNGKey(0), batch)
    carry = (jax.jit(jax.vmap(env.init))(keys), jax.random.PRNGKey(1))

    def play() -> int:
        nonlocal carry
        carry = jax.block_until_ready(advance(carry))
        return batch * steps

    return play


def contenders(core: int) -> Iterator[Contender]:
    """All peers, on one core."""
    entry = partial(Contender, cores=(core,))
    for module, players, numbers in (("connect_four_v3", 2, 84), ("texas_holdem_v4", 2, 72)):
        for way in ("raw_env", "env"):
            loop = partial(pettingzoo_loop, module, way == "env")
            yield entry("PettingZoo", module, players, way, loop, observation=numbers)
    yield entry("RLCard", "bridge", 4, "env.step", lambda: rlcard_loop("bridge"), observation=573)
    yield entry("OpenSpiel", "spades", 4, "pyspiel", lambda: open_spiel_loop("spades"), observation=578)
    for game, numbers in (("connect_four", 84), ("leduc_holdem", 34)):
        for way, steps in (("jit, a step a call", 1), ("jit, lax.scan", 64)):
            loop = partial(pgx_loop, game, PGX_BATCH, steps)
            yield entry("PGX", game, 2, way, loop, batch=PGX_BATCH, observation=numbers)
