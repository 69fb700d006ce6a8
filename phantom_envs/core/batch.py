"""The batch engine: loops over many games, built from one game's compiled functions.

A kernel works on the rows `first … last-1` of its arrays and releases the GIL, so several threads can share a batch.
All arrays belong to the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from functools import cache
from typing import Any

import numpy as np

from phantom_envs.core.bits import count, has, nth, spread_exact
from phantom_envs.core.game import MAX_PLAYERS, RUNNING, TERMINATED, TRUNCATED, Game
from phantom_envs.core.jit import entry, jit
from phantom_envs.core.moves import moves
from phantom_envs.core.rng import below, successor, uniform

Kernel = Callable[..., Any]

NO_RESET, RESET_NEXT_STEP, RESET_SAME_STEP = 0, 1, 2
"""What a step does with a game that is over: nothing, start anew in the next step, or in the same."""

PLAY_RANDOM, PLAY_RULE, ASK = 0, 1, 2
"""Who plays a seat in `advance`: the engine at random, the engine's rule bot, or the caller."""

SKIP, GO_ON, PLAY_FIRST = 0, 1, 2
"""What `advance` does with a row: nothing, play on, or play the given action and then play on."""

KEEP, DEAL, DEAL_NEXT = 0, 1, 2
"""What `set_up` does: look at the game as it is, deal it from its seed, or deal from the successor of its seed."""

SEAT_BITS, STATUS_SHIFT, REWARDED = 15, 4, 64
"""How `turn` packs its answer: seat + 1, status, and whether any reward is not zero."""


@dataclass(frozen=True)
class Places:
    """Where a `Table` keeps what in its one block of bytes; the record comes first, the observation fills the end.

    One plain array of bytes is the cheapest argument that a compiled function called from Python can have.
    """

    weights: int
    rewards: int
    words: int
    mask: int
    observation: int


def places(game: Game) -> Places:
    """The offsets for `game`: weights float64 (2,), rewards float64 (MAX_PLAYERS,), words uint64, mask int8."""
    weights = -(-game.dtype.itemsize // 8) * 8
    rewards = weights + 16
    words = rewards + 8 * MAX_PLAYERS
    mask = words + 8 * game.num_words
    return Places(weights, rewards, words, mask, mask + game.num_actions)


@dataclass(frozen=True)
class Kernels:
    """The compiled entry points of a game. N rows, P players, A actions, W words, D observation entries.

    Attributes:
        start: `(states, which, first, last)` deals a new game from `states["seed"]` in the rows marked in bool `which`.
        set_up: `(memory, how)` brings the memory of a `Table` in order; see `KEEP`, `DEAL`, `DEAL_NEXT`.
        turn: `(memory, action)` plays one action there and fills rewards, legal actions and the observation of the seat
            to act. Returns `seat + 1 + 16 * status`, plus 64 if there are rewards, or -1 for an illegal action, the
            state untouched.
        look: `(states, row, seat, out (D,))` observes.
        redraw: `(states, row, seat, seed)` resamples what `seat` cannot know, with `seed` as the only randomness.
        redraw_all: `(states, seats (N,) int64, seeds (N,) uint64, first, last)` does so in every row.
        advise: `(states, words (N, W), actions (N,), first, last)` asks the rule bot in every row that runs.
        view: `(states, words, mask, observation, seat, first, last)` fills what `step` fills, without a step.
        step: see `_build`.
        advance: see `_build`.
        random_play: see `_build`.
    """

    start: Kernel
    set_up: Kernel
    turn: Kernel
    look: Kernel
    redraw: Kernel
    redraw_all: Kernel
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
def sample_weighted(weights: Any, rng: Any, actions: Any, first: int, last: int) -> None:
    """An action for every row with probability proportional to its weight, into `actions` (N,).

    `weights` (N, A) float32, not negative, in no row all zero; `rng` (N, 1) uint64.
    """
    for row in range(first, last):
        total = 0.0
        for action in range(weights.shape[1]):
            total += weights[row, action]
        target = uniform(rng[row]) * total
        for action in range(weights.shape[1]):
            if weights[row, action] > 0.0:
                actions[row] = action  # stays with the last one, should rounding have left a trace of the target
                target -= weights[row, action]
                if target < 0.0:
                    break


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
    legal, observe, rule_action = game.legal, game.observe, game.rule_action
    begin, play, imagine = moves(game).begin, moves(game).play, moves(game).imagine
    num_actions = game.num_actions
    record, record_size = game.dtype, game.dtype.itemsize
    at_weights, at_rewards, at_words, at_mask, at_observation = astuple(places(game))
    int8, uint64, float64 = np.dtype(np.int8), np.dtype(np.uint64), np.dtype(np.float64)

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
    def set_up(memory: Any, how: int) -> None:
        s = memory[:record_size].view(record)[0]
        if how == DEAL_NEXT:
            s["seed"] = successor(s["seed"])
        if how != KEEP:
            begin(s)
        refresh(s, memory[at_words:at_mask].view(uint64), memory[at_mask:at_observation].view(int8))
        if s["seat"] >= 0:
            observe(s, s["seat"], memory[at_observation:].view(int8))

    @compiled
    def turn(memory: Any, action: int) -> int:
        s = memory[:record_size].view(record)[0]
        words = memory[at_words:at_mask].view(uint64)
        if not (0 <= action < num_actions and has(words[action >> 6], action & 63)):
            return -1
        weights = memory[at_weights:at_rewards].view(float64)
        rewards = memory[at_rewards:at_words].view(float64)
        play(s, action)
        write_rewards(s, weights[0], weights[1], rewards)
        refresh(s, words, memory[at_mask:at_observation].view(int8))
        if s["seat"] >= 0:
            observe(s, s["seat"], memory[at_observation:].view(int8))
        code = int(s["seat"]) + 1 + (int(s["status"]) << STATUS_SHIFT)
        for seat in range(s["num_players"]):
            if rewards[seat] != 0.0:
                return code | REWARDED
        return code

    @compiled
    def look(states: Any, row: int, seat: int, out: Any) -> None:
        observe(states[row], seat, out)

    @compiled
    def redraw(states: Any, row: int, seat: int, seed: Any) -> None:
        imagine(states[row], seat, seed)

    @compiled
    def redraw_all(states: Any, seats: Any, seeds: Any, first: int, last: int) -> None:
        for row in range(first, last):
            imagine(states[row], seats[row], seeds[row])

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
        orders: Any,
        actions: Any,
        roles: Any,
        learner: Any,
        rng: Any,
        win: float,
        point: float,
        mask: Any,
        observation: Any,
        rewards: Any,
        step_rewards: Any,
        first: int,
        last: int,
    ) -> None:
        """Play every row on until its learner or another seat that is to be asked is to act, or the game is over.

        `orders` (N,) says what is done with a row (SKIP, GO_ON, PLAY_FIRST); `actions` (N,) are known to be legal.
        `roles` (N, P) says who plays a seat; the learner's own seat is always asked. What the learner gains on the
        way is added to `rewards` (N,); `step_rewards` (N, P) is scratch space; `rng` (N, 1) feeds the random players.
        Mask and observation are those of the seat to act; an ended game is observed by the learner.
        """
        for row in range(first, last):
            if orders[row] == SKIP:
                continue
            s = states[row]
            action = actions[row]
            playing = orders[row] == PLAY_FIRST
            while True:
                if playing:
                    play(s, action)
                    write_rewards(s, win, point, step_rewards[row])
                    rewards[row] += step_rewards[row, learner[row]]
                legal(s, words[row])
                if s["status"] != RUNNING or s["seat"] == learner[row] or roles[row, s["seat"]] == ASK:
                    break
                if roles[row, s["seat"]] == PLAY_RULE:
                    action = rule_action(s, words[row])
                else:
                    action = random_member(words[row], rng[row])
                playing = True
            write_mask(words[row], mask[row])
            viewer = int(s["seat"]) if s["status"] == RUNNING else int(learner[row])
            observe(s, viewer, observation[row])

    @compiled
    def random_play(
        states: Any, words: Any, rng: Any, observation: Any, mask: Any, rewards: Any, point: float, steps: int
    ) -> int:
        """`steps` uniformly random steps in each row, mask and the acting seat's observation written at every one.

        Games that end start anew at once. Returns the number of games that ended. For benchmarks.
        """
        ended = 0
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

    return Kernels(start, set_up, turn, look, redraw, redraw_all, advise, view, step, advance, random_play)
