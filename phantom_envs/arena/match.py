"""Matches: the same deals for every agent in every seat, all games of a chunk of deals played at once.

Who sits where:

* as many agents as seats: they sit in the order given, and move on one seat for each of the P rotations;
* fewer: the last one fills the seats left, so `neural rule` at four seats is one against three;
* more: every choice of P of them sits down, in the order given, each in its P rotations.

An agent may be given twice, a spec or an object; two objects are two agents, equal or not. Each deal is played once for
each choice and rotation, so within a deal everybody meets the same cards in every seat. What an agent does at random
depends on the match's seed, the deal, the seating and the number of the decision only, so a match comes out alike
however it is cut into chunks and spread over processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phantom_envs.arena.agent import Agent, Decisions, ask, close_all, prepare, staying
from phantom_envs.arena.specs import InvalidSpec, make_agent
from phantom_envs.arena.workers import Job, WorkerDied, run
from phantom_envs.core.batch import NO_RESET, kernels
from phantom_envs.core.errors import InvalidBatch
from phantom_envs.core.game import RUNNING, TRUNCATED, Game
from phantom_envs.core.rng import as_seed, successors
from phantom_envs.registry import get_game

CHUNKS = 16
"""A match is cut into about this many chunks, whatever the number of processes: batches, and so the rounding of a
network's numbers, stay the same."""

MOST_GAMES = 2048
"""Games of a chunk, at most (but one deal)."""

Progress = Callable[[int, int], None]
"""Told the games that are over and the games of the match."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What a match is played with; enough for another process to play a part of it.

    Attributes:
        game: Id of the game.
        num_players: Seats P.
        options: The game's options, all of them.
        agents: The E different agents, as specs or as objects.
        labels: What they are called.
        seating: (G, P) which agent sits where in the G games of a deal.
        seed: Seed of the match.
        deals: Number of deals D.
    """

    game: str
    num_players: int
    options: Mapping[str, Any]
    agents: tuple[str | Agent, ...]
    labels: tuple[str, ...]
    seating: NDArray[np.int64]
    seed: int
    deals: int

    @property
    def games(self) -> int:
        """Number of games."""
        return self.deals * len(self.seating)


@dataclass(eq=False)
class Results:
    """What came of D deals of G games each.

    Attributes:
        share: (D, G, P) share of the victory of each seat: 1/w for each of w winners. Nobody wins a game that is cut
            off by its length limit.
        points: (D, G, P) points of each seat, summed over the game.
        truncated: (D, G) whether the game was cut off.
        decisions: (E,) decisions of each agent.
        seconds: (E,) time each agent took for them.
    """

    share: NDArray[np.float64]
    points: NDArray[np.int64]
    truncated: NDArray[np.bool_]
    decisions: NDArray[np.int64]
    seconds: NDArray[np.float64]

    @property
    def deals(self) -> int:
        """Number of deals D; of a match that was broken off those that are finished."""
        return len(self.share)


class MatchInterrupted(KeyboardInterrupt):
    """A match was broken off by hand.

    Attributes:
        setting: The match.
        results: What came of the deals that are finished, all games of each; None if there are none.
    """

    def __init__(self, setting: Setting, results: Results | None) -> None:
        super().__init__()
        self.setting = setting
        self.results = results


class MatchBroken(WorkerDied):
    """A process died in the middle of a match.

    Attributes:
        setting: The match.
        results: What came of the deals that are finished, all games of each; None if there are none.
    """

    def __init__(self, message: str, setting: Setting, results: Results | None) -> None:
        super().__init__(message)
        self.setting = setting
        self.results = results


def seat_agents(count: int, num_players: int) -> NDArray[np.int64]:
    """Which of `count` agents sits where in the games of a deal, (G, P); see the head of this file."""
    if not count:
        raise InvalidSpec("no agents given")
    places = [*range(count), *[count - 1] * (num_players - count)]
    return np.array(
        [
            [lineup[(seat - rotation) % num_players] for seat in range(num_players)]
            for lineup in combinations(places, num_players)
            for rotation in range(num_players)
        ],
        np.int64,
    )


def deal_seeds(seed: int, deals: range) -> NDArray[np.uint64]:
    """The seeds of the games of some deals of the match of `seed`. Matches of different seeds share no deals."""
    base = successors(np.array([seed], np.uint64))
    return successors(base + np.array(deals, np.uint64))


def first_keys(seeds: NDArray[np.uint64], games: int) -> NDArray[np.uint64]:
    """What the randomness of agents begins with, (D, G), in the G games of each deal.

    Each of a game's decisions has a key, the `successor` of the one before.
    """
    return successors(seeds[:, None] + successors(np.arange(games, dtype=np.uint64)))


def play_match(
    game: str,
    agents: Sequence[str | Agent],
    num_players: int | None = None,
    options: Mapping[str, Any] | None = None,
    deals: int = 1000,
    seed: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
    own_process: bool = False,
) -> tuple[Setting, Results]:
    """Play a match.

    Args:
        game: Id of a game.
        agents: Specs (see `arena.specs`) or agent objects; see the head of this file for who sits where.
        num_players: Seats, None for the game's default.
        options: The game's options.
        deals: Number of deals, at least 1.
        seed: Fixes deals and agents' randomness.
        workers: Processes. With more than one they are started afresh, so a script that calls this needs the usual
            `if __name__ == "__main__":`, and agent objects must pickle.
        progress: Called now and then.
        own_process: Start a process for one worker, too: then an interrupt ends whatever an agent is at, while in
            this process it waits until compiled code returns, and an agent that crashes does not end this process.

    Raises:
        PhantomError: A setting, spec or agent is at fault.
        MatchBroken: A process died; it has the results so far.
        MatchInterrupted: This process was interrupted; it has the results so far.
    """
    if deals < 1 or workers < 1:
        raise InvalidBatch(f"deals={deals}, workers={workers}: at least one of each is needed")
    setting = _setting(get_game(game), agents, num_players, options or {}, deals, as_seed(seed))
    size = max(1, min(-(-deals // CHUNKS), MOST_GAMES // len(setting.seating)))
    chunks = [range(first, min(first + size, deals)) for first in range(0, deals, size)]
    finished: dict[int, Results] = {}
    over = 0

    def tell(games: int) -> None:
        nonlocal over
        over += games
        if progress is not None:
            progress(over, setting.games)

    try:
        if own_process or (workers > 1 and len(chunks) > 1):
            run(_Play(setting, alone=workers == 1), chunks, workers, finished.__setitem__, tell)
        else:
            _play_here(setting, chunks, finished.__setitem__, tell)
    except KeyboardInterrupt as error:
        raise MatchInterrupted(setting, _joined(finished)) from error
    except WorkerDied as error:
        raise MatchBroken(str(error), setting, _joined(finished)) from error
    results = _joined(finished)
    assert results is not None
    return setting, results


def _joined(finished: Mapping[int, Results]) -> Results | None:
    """The chunks that are finished, in their order, as one."""
    if not finished:
        return None
    parts = [finished[chunk] for chunk in sorted(finished)]
    return Results(
        share=np.concatenate([part.share for part in parts]),
        points=np.concatenate([part.points for part in parts]),
        truncated=np.concatenate([part.truncated for part in parts]),
        decisions=np.sum([part.decisions for part in parts], axis=0),
        seconds=np.sum([part.seconds for part in parts], axis=0),
    )


def _setting(
    game: Game,
    agents: Sequence[str | Agent],
    num_players: int | None,
    options: Mapping[str, Any],
    deals: int,
    seed: int,
) -> Setting:
    players = game.check_players(num_players)
    different = {_identity(agent): agent for agent in agents}
    labels: list[str] = []
    for agent in different.values():
        name = agent if isinstance(agent, str) else type(agent).__name__
        labels.append(name if name not in labels else f"{name} #{len(labels) + 1}")
    numbers = {identity: number for number, identity in enumerate(different)}
    which = np.array([numbers[_identity(agent)] for agent in agents], np.int64)
    return Setting(
        game=game.id,
        num_players=players,
        options=game.check_options(options),
        agents=tuple(different.values()),
        labels=tuple(labels),
        seating=which[seat_agents(len(agents), players)],
        seed=seed,
        deals=deals,
    )


def _identity(agent: str | Agent) -> str | int:
    """Equal specs are one agent; objects are only one if they are the same, whatever their `==` says."""
    return agent if isinstance(agent, str) else id(agent)


def _make_agents(setting: Setting) -> list[Agent]:
    game = get_game(setting.game)
    made: list[Agent] = []
    for agent, label in zip(setting.agents, setting.labels, strict=True):
        with staying(label):
            if isinstance(agent, str):
                made.append(make_agent(agent, game, setting.num_players, setting.options))
            else:
                prepare(agent, game, setting.num_players, setting.options)
                made.append(agent)
    return made


def _play_here(
    setting: Setting, chunks: Sequence[range], done: Callable[[int, Results], None], tell: Callable[[int], None]
) -> None:
    agents = _make_agents(setting)
    try:
        for index, chunk in enumerate(chunks):
            done(index, play_deals(setting, agents, chunk, tell))
    finally:
        close_all(agents, setting.labels)


class _Play(Job[range, Results]):
    """Plays chunks of a match in another process."""

    def __init__(self, setting: Setting, alone: bool) -> None:
        self._setting = setting
        self._alone = alone
        self._agents: list[Agent] = []

    def begin(self) -> None:
        if not self._alone:
            os.environ.setdefault("OMP_NUM_THREADS", "1")  # they share the cores: one thread each for a network
        self._agents = _make_agents(self._setting)
        play_deals(self._setting, self._agents, range(0))  # compiles

    def do(self, task: range, tell: Callable[[int], None]) -> Results:
        return play_deals(self._setting, self._agents, task, tell)

    def end(self) -> None:
        close_all(self._agents, self._setting.labels)

    def name(self, task: range) -> str:
        setting = self._setting
        return f"deals {task.start + 1} to {task.stop} of {setting.game} between {', '.join(setting.labels)}"


def play_deals(
    setting: Setting, agents: Sequence[Agent], deals: range, tell: Callable[[int], None] | None = None
) -> Results:
    """Play some deals of a match in this process, all their games side by side.

    Args:
        setting: The match.
        agents: Its agents, made.
        deals: Which deals.
        tell: Called with the number of games that have ended since the last call.
    """
    game, players = get_game(setting.game), setting.num_players
    compiled, weights = kernels(game), game.weights(players, setting.options)
    games = len(setting.seating)
    seeds = deal_seeds(setting.seed, deals)
    size = len(deals) * games
    seating = np.tile(setting.seating, (len(deals), 1))
    keys = first_keys(seeds, games).reshape(-1)
    tables = np.arange(deals.start * games, deals.start * games + size, dtype=np.int64)

    states = game.blank(size, players, setting.options)
    states["seed"] = np.repeat(seeds, games)
    compiled.start(states, np.ones(size, np.bool_), 0, size)
    out = _Buffers(game, size, players)
    points = np.zeros((size, players), np.int64)
    decisions = np.zeros(len(agents), np.int64)
    seconds = np.zeros(len(agents))
    actions = np.zeros(size, np.int64)

    running = np.flatnonzero(states["status"] == RUNNING)
    while len(running):
        mover = seating[running, states["seat"][running]]
        for index in np.unique(mover):
            rows = running[mover == index]
            asked = Decisions(game, players, setting.options, states[rows], keys[rows], tables[rows])
            began = perf_counter()
            with staying(setting.labels[index]):
                actions[rows] = ask(agents[index], setting.labels[index], asked)
            seconds[index] += perf_counter() - began
            decisions[index] += len(rows)
        compiled.step(states, out.words, actions, NO_RESET, *weights, *out.filled(), 0, size)
        points[running] += states["points"][running, :players]
        keys[running] = successors(keys[running])
        still = running[states["status"][running] == RUNNING]
        if tell is not None and len(still) < len(running):
            tell(len(running) - len(still))
        running = still

    wins = (states["winners"][:, None] >> np.arange(players, dtype=np.uint8) & 1).astype(np.float64)
    wins[states["status"] == TRUNCATED] = 0.0
    shape = (len(deals), games)
    return Results(
        share=(wins / np.maximum(wins.sum(axis=1, keepdims=True), 1.0)).reshape(*shape, players),
        points=points.reshape(*shape, players),
        truncated=(states["status"] == TRUNCATED).reshape(shape),
        decisions=decisions,
        seconds=seconds,
    )


class _Buffers:
    """What the step kernel fills. A match reads the records only, and `Decisions` what it needs of them."""

    def __init__(self, game: Game, size: int, players: int) -> None:
        observation = game.layout(players).size
        self.words: NDArray[np.uint64] = np.zeros((size, game.num_words), np.uint64)
        self._mask = np.zeros((size, game.num_actions), np.int8)
        self._observation = np.zeros((size, observation), np.int8)
        self._seat = np.zeros(size, np.int64)
        self._rewards = np.zeros((size, players))
        self._ended = np.zeros(size, np.bool_)
        self._final = np.zeros((size, observation), np.int8)

    def filled(self) -> Iterator[NDArray[Any]]:
        """The arrays behind the weights in the order that `step` takes them."""
        yield from (self._mask, self._observation, self._seat, self._rewards, self._ended, self._ended, self._final)
