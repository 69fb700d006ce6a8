"""The batch engine: loops over many games, built from one game's compiled functions.

A kernel works on the rows `first … last-1` of its arrays and releases the GIL, so several threads can share a batch.
All arrays belong to the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from phantom_envs.core.bits import count, has, nth, spread_exact
from phantom_envs.core.game import RUNNING, TERMINATED, TRUNCATED, Game
from phantom_envs.core.jit import entry, jit
from phantom_envs.core.rng import below, mix, successor

Kernel = Callable[..., Any]

NO_RESET, RESET_NEXT_STEP, RESET_SAME_STEP = 0, 1, 2
"""What a step does with a game that is over: nothing, start anew in the next step, or in the same."""

PLAY_RANDOM, PLAY_RULE, ASK = 0, 1, 2
"""Who plays a seat in `advance`: the engine at random, the engine's rule bot, or the caller."""


@dataclass(frozen=True)
class Kernels:
    """The compiled entry points of a game. N rows, P players, A actions, W words, D observation entries.

    Attributes:
        start: `(states, which, first, last)` deals a new game from `states["seed"]` in the rows marked in bool `which`.
        options: `(states, row, words (W,), mask (A,))` fills the legal actions of a row.
        turn: `(states, row, action, words (W,), mask (A,), rewards (P,), win, point)` plays one action and fills what
            comes of it. Returns `status * 16 + seat + 1`, or -1 for an illegal action, the state untouched.
        look: `(states, row, seat, out (D,))` observes.
        redraw: `(states, row, seat, seed)` resamples what `seat` cannot know, with `seed` as the only randomness.
        advise: `(states, words (N, W), actions (N,), first, last)` asks the rule bot in every row that runs.
        view: `(states, words, mask, observation, seat, first, last)` fills what `step` fills, without a step.
        step: see `_build`.
        advance: see `_build`.
        random_play: see `_build`.
    """

    start: Kernel
    options: Kernel
    turn: Kernel
    look: Kernel
    redraw: Kernel
    advise: Kernel
    view: Kernel
    step: Kernel
    advance: Kernel
    random_play: Kernel


@jit
def write_mask(words: Any, mask: Any) -> None:
    """The set `words` (W,) as 0 and 1 in int8 `mask` (A,)."""
    size = len(mask)
    for word in range(len(words)):
        spread_exact(mask, 64 * word, words[word], min(64, size - 64 * word))


@jit
def write_rewards(s: Any, win: float, point: float, rewards: Any) -> None:
    """The rewards of the step just made, by the weights `win` and `point`; they sum to zero."""
    players = s["num_players"]
    total = 0
    for seat in range(players):
        total += s["points"][seat]
    mean = total / players
    for seat in range(players):
        rewards[seat] = point * (s["points"][seat] - mean)
    winners = count(np.uint64(s["winners"]))
    if s["status"] == TERMINATED and winners > 0:
        for seat in range(players):
            if has(np.uint64(s["winners"]), seat):
                rewards[seat] += win * ((players / winners - 1.0) / (players - 1.0))
            else:
                rewards[seat] -= win * (1.0 / (players - 1.0))


@jit
def random_member(words: Any, rng: Any) -> int:
    """A uniformly random member of the set `words` (W,), which must not be empty; `rng` is uint64 (1,)."""
    size = 0
    for word in range(len(words)):
        size += count(words[word])
    index = below(rng, size)
    for word in range(len(words)):
        here = count(words[word])
        if index < here:
            return 64 * word + nth(words[word], index)
        index -= here
    return -1


@entry("core")
def sample(words: Any, rng: Any, actions: Any, first: int, last: int) -> None:
    """A uniformly random legal action for every row into `actions` (N,), -1 where there is none.

    `words` (N, W) uint64, `rng` (N, 1) uint64.
    """
    for row in range(first, last):
        legal = False
        for word in range(words.shape[1]):
            legal = legal or words[row, word] != np.uint64(0)
        actions[row] = random_member(words[row], rng[row]) if legal else -1


@entry("core")
def illegal(words: Any, actions: Any, first: int, last: int) -> int:
    """The first row whose action is not in its set, or -1. Rows with an empty set pass."""
    size = 64 * words.shape[1]
    for row in range(first, last):
        action = actions[row]
        if 0 <= action < size and has(words[row, action >> 6], action & 63):
            continue
        for word in range(words.shape[1]):
            if words[row, word] != np.uint64(0):
                return row
    return -1


@cache
def kernels(game: Game) -> Kernels:
    """The kernels of `game`, built once a process."""
    return _build(game)


def _build(game: Game) -> Kernels:
    compiled = entry(game.id)
    deal, legal, apply, observe = game.deal, game.legal, game.apply, game.observe
    resample, rule_action = game.resample, game.rule_action
    num_words = game.num_words

    @jit
    def begin(s: Any) -> None:
        s["rng"][0] = mix(s["seed"])
        s["seat"] = 0
        s["actor"] = 0
        s["status"] = RUNNING
        s["winners"] = 0
        for seat in range(len(s["points"])):
            s["points"][seat] = 0
        deal(s)

    @jit
    def play(s: Any, action: int) -> None:
        s["actor"] = s["seat"]
        for seat in range(len(s["points"])):
            s["points"][seat] = 0
        apply(s, action)

    @jit
    def refresh(s: Any, words: Any, mask: Any) -> None:
        legal(s, words)
        write_mask(words, mask)

    @jit
    def show(s: Any, observation: Any) -> None:
        observe(s, int(s["seat"] if s["status"] == RUNNING else s["actor"]), observation)

    @compiled
    def start(states: Any, which: Any, first: int, last: int) -> None:
        for row in range(first, last):
            if which[row]:
                begin(states[row])

    @compiled
    def options(states: Any, row: int, words: Any, mask: Any) -> None:
        refresh(states[row], words, mask)

    @compiled
    def turn(states: Any, row: int, action: int, words: Any, mask: Any, rewards: Any, win: float, point: float) -> int:
        s = states[row]
        if not (0 <= action < len(mask) and has(words[action >> 6], action & 63)):
            return -1
        play(s, action)
        write_rewards(s, win, point, rewards)
        refresh(s, words, mask)
        return s["status"] * 16 + s["seat"] + 1  # type: ignore[no-any-return]  # an int8 pair

    @compiled
    def look(states: Any, row: int, seat: int, out: Any) -> None:
        observe(states[row], seat, out)

    @compiled
    def redraw(states: Any, row: int, seat: int, seed: Any) -> None:
        s = states[row]
        s["rng"][0] = mix(seed)
        s["seed"] = mix(s["rng"][0])
        resample(s, seat)

    @compiled
    def advise(states: Any, words: Any, actions: Any, first: int, last: int) -> None:
        for row in range(first, last):
            if states[row]["status"] == RUNNING:
                actions[row] = rule_action(states[row], words[row])

    @compiled
    def view(states: Any, words: Any, mask: Any, observation: Any, seat: Any, first: int, last: int) -> None:
        for row in range(first, last):
            s = states[row]
            refresh(s, words[row], mask[row])
            seat[row] = s["seat"]
            show(s, observation[row])

    @compiled
    def step(
        states: Any,
        words: Any,
        actions: Any,
        autoreset: int,
        win: float,
        point: float,
        mask: Any,
        observation: Any,
        seat: Any,
        rewards: Any,
        terminated: Any,
        truncated: Any,
        final: Any,
        first: int,
        last: int,
    ) -> None:
        """Play `actions` (N,), which are known to be legal, and fill what comes of it.

        In a row that is over nothing happens (NO_RESET) or the next game starts (RESET_NEXT_STEP), the reward 0. With
        RESET_SAME_STEP a game that ends leaves the last observation of its last actor in `final` (N, D) and makes
        room for the next at once. An ended game is observed by its last actor; its `seat` is -1 and its mask empty.
        """
        for row in range(first, last):
            s = states[row]
            if s["status"] == RUNNING:
                play(s, actions[row])
                write_rewards(s, win, point, rewards[row])
                terminated[row] = s["status"] == TERMINATED
                truncated[row] = s["status"] == TRUNCATED
                if s["status"] != RUNNING and autoreset == RESET_SAME_STEP:
                    show(s, final[row])
                    s["seed"] = successor(s["seed"])
                    begin(s)
            else:
                for player in range(s["num_players"]):
                    rewards[row, player] = 0.0
                if autoreset == RESET_NEXT_STEP:
                    s["seed"] = successor(s["seed"])
                    begin(s)
                terminated[row] = s["status"] == TERMINATED
                truncated[row] = s["status"] == TRUNCATED
            refresh(s, words[row], mask[row])
            seat[row] = s["seat"]
            show(s, observation[row])

    @compiled
    def advance(
        states: Any,
        words: Any,
        roles: Any,
        learner: Any,
        rng: Any,
        win: float,
        point: float,
        rewards: Any,
        step_rewards: Any,
        first: int,
        last: int,
    ) -> None:
        """Play every row on until its learner or another seat that is to be asked is to act, or the game is over.

        `roles` (N, P) says who plays a seat; the learner's own seat is always asked. What the learner gains on the
        way is added to `rewards` (N,); `step_rewards` (N, P) is scratch space; `rng` (N, 1) feeds the random players.
        """
        for row in range(first, last):
            s = states[row]
            while s["status"] == RUNNING and s["seat"] != learner[row] and roles[row, s["seat"]] != ASK:
                if roles[row, s["seat"]] == PLAY_RULE:
                    action = rule_action(s, words[row])
                else:
                    action = random_member(words[row], rng[row])
                play(s, action)
                write_rewards(s, win, point, step_rewards[row])
                rewards[row] += step_rewards[row, learner[row]]
                legal(s, words[row])

    @compiled
    def random_play(states: Any, rng: Any, observation: Any, mask: Any, rewards: Any, point: float, steps: int) -> int:
        """`steps` uniformly random steps in each row, mask and the acting seat's observation written at every one.

        Games that end start anew at once. Returns the number of games that ended. For benchmarks.
        """
        ended = 0
        words = np.zeros((len(states), num_words), np.uint64)
        for row in range(len(states)):
            refresh(states[row], words[row], mask[row])
        for _ in range(steps):
            for row in range(len(states)):
                s = states[row]
                play(s, random_member(words[row], rng[row]))
                write_rewards(s, 1.0, point, rewards[row])
                if s["status"] != RUNNING:
                    s["seed"] = successor(s["seed"])
                    begin(s)
                    ended += 1
                refresh(s, words[row], mask[row])
                observe(s, s["seat"], observation[row])
        return ended

    return Kernels(start, options, turn, look, redraw, advise, view, step, advance, random_play)
