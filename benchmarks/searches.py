"""What `benchmarks.search` times: playouts and the bare loop beside them, and the searching agents at work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agents.ismcts import IsmctsAgent
from agents.pimc import PimcAgent
from agents.search.kernels import search_kernels
from agents.search.playout import HORIZONS
from agents.search.searcher import Searcher
from benchmarks.bare import POLICIES, RULE, bare_play, dealt
from benchmarks.ours import LIBRARY, PLAYED_ON, STEPS
from benchmarks.timing import Contender, Loop
from phantom_envs.arena.agent import Decisions
from phantom_envs.arena.specs import make_agent
from phantom_envs.core.game import Game, States, members
from phantom_envs.core.rng import successors

if TYPE_CHECKING:
    from torch import Tensor

BARE, PLAYOUTS = "bare loop", "playouts"

STYLES = {
    "ismcts": {
        "UCB, random": "selection=ucb,rollout=random",
        "UCB, rule": "selection=ucb,rollout=rule",
        "PUCT, rule": "selection=puct,rollout=rule",
    },
    "pimc": {"random": "rollout=random", "rule": "rollout=rule"},
}
"""Of each agent that searches without a network, what it is told, by title."""

GUIDED = {"values and priors": "rollout=none", "priors only": "rollout=rule,blend=1"}
"""Of `ismcts` with a network, what it is told, by what the network gives."""

WORLDS = 32
"""Worlds of a root that are played out by one call."""

GOLDEN = 0.6180339887498949
"""Multiples of the golden ratio, modulo 1, spread evenly however many there are (Weyl)."""


@dataclass(frozen=True)
class Budget:
    """How much each agent searches.

    Attributes:
        roots: Positions searched from.
        iterations: Of `ismcts`, for each decision.
        worlds: Of `pimc`, for each decision.
    """

    roots: int
    iterations: int
    worlds: int


def roots(game: Game, num_players: int, count: int) -> States:
    """`count` true states in which the seat to act has a choice, from games that the rule bot plays in all seats.

    Each is from a game of its own, at another point between its first choice and its last; these points, and those of
    the first half of the roots, are spread evenly.
    """
    games = dealt(game, num_players, count)
    found = game.blank(count, num_players, game.check_options({}))
    play = bare_play(game)
    for row in range(count):
        place = games[row : row + 1]
        words = np.zeros(game.num_words, np.uint64)
        choices: list[States] = []
        ended = 0
        while not ended:
            before = place.copy()
            ended = play(place, np.zeros((1, 1), np.uint64), words, RULE, 1)
            if len(members(words)) > 1:
                choices.append(before)
        found[row] = choices[int((row + 0.5) * GOLDEN % 1 * len(choices))][0]
    return found


def decisions_at(game: Game, num_players: int, states: States, first: int = 0) -> Decisions:
    """The decisions to be made in `states`; `first` is the number of the first one, which fixes its chance."""
    numbers = np.arange(first, first + len(states))
    keys = successors(numbers.astype(np.uint64))
    return Decisions(game, num_players, game.check_options({}), states, keys, numbers)


def bare_loop(game: Game, num_players: int, policy: str) -> Loop:
    """One game after the other, by `policy`. Several side by side are slower: their records are far apart."""
    states = dealt(game, num_players, 1)
    rng = np.zeros((1, 1), np.uint64)
    words = np.zeros(game.num_words, np.uint64)
    play = bare_play(game)
    play(states, rng, words, POLICIES[policy], PLAYED_ON)

    def on() -> int:
        play(states, rng, words, POLICIES[policy], STEPS)
        return STEPS

    return on


def playout_loop(game: Game, num_players: int, policy: str, count: int) -> Loop:
    """Worlds of each root, redrawn and played to the end by `policy`, as `pimc` and `ismcts` do."""
    agent = PimcAgent(rollout=policy, noise=0.0)
    agent.prepare(game, num_players, game.check_options({}))
    lane = agent.lanes[0]
    decisions = decisions_at(game, num_players, roots(game, num_players, count))
    worlds, keys = decisions.determinize(decisions.keys), decisions.keys
    space = (agent.settings, lane.worlds, lane.scratch[0], lane.rng, lane.gained, lane.values)
    play_out = search_kernels(game).play_out

    def on() -> int:
        return sum(play_out(worlds[row : row + 1], keys[row : row + 1], WORLDS, *space) for row in range(count))

    return on


class SearchLoop:
    """An agent that decides at every root, `together` roots in a call, and counts its iterations or worlds.

    Args:
        game: The game.
        num_players: Its players.
        spec: An agent that searches.
        states: The roots.
        together: How many of them are decided in a call.
    """

    def __init__(self, game: Game, num_players: int, spec: str, states: States, together: int) -> None:
        agent = make_agent(spec, game, num_players, game.check_options({}))
        if not isinstance(agent, Searcher):
            raise TypeError(f"{spec} does not search")
        self.agent = agent
        self.calls = [
            decisions_at(game, num_players, states[first : first + together], first)
            for first in range(0, len(states), together)
        ]
        self.work = len(states) * agent.searches * work_of(agent)
        self.sizes: list[int] = []
        if isinstance(agent, IsmctsAgent) and agent.judge is not None:
            import torch  # not needed otherwise

            torch.set_num_threads(1)  # more would crowd the one core that the loop is pinned to
            agent.judge.agent.net.register_forward_hook(self._note)

    def _note(self, _module: Any, inputs: tuple[Tensor, ...], _output: Any) -> None:
        """Note the size of a batch that the network is given."""
        self.sizes.append(len(inputs[0]))

    def __call__(self) -> int:
        """Decide at every root."""
        for decisions in self.calls:
            self.agent.search(decisions)
        return self.work

    @property
    def nodes_per_batch(self) -> float | None:
        """How many nodes the network judges at once, on the mean; None without a network."""
        judge = self.agent.judge if isinstance(self.agent, IsmctsAgent) else None
        return float(np.mean(self.sizes)) / judge.viewers if judge is not None and self.sizes else None


def work_of(agent: Searcher) -> int:
    """Iterations, or worlds, of one search."""
    if isinstance(agent, PimcAgent):
        return agent.worlds
    if not isinstance(agent, IsmctsAgent):
        raise TypeError(f"a {type(agent).__name__} counts neither iterations nor worlds")
    if agent.judge is None:
        return agent.iterations
    from agents.search.judge import ITERATIONS_BETWEEN  # needs torch

    each = agent.leaves if agent.blend < 1 else ITERATIONS_BETWEEN
    return -(-agent.iterations // each) * each


def choices_at(game: Game, num_players: int, states: States) -> NDArray[np.int64]:
    """The number of legal actions in each of `states`, (K,)."""
    counts: NDArray[np.int64] = decisions_at(game, num_players, states).mask.sum(axis=1, dtype=np.int64)
    return counts


def playout_contenders(game: Game, num_players: int, budget: Budget, core: int) -> Iterator[Contender]:
    """For each policy the bare loop, and then playouts by the same policy."""
    entry = partial(Contender, LIBRARY, game.id, num_players, cores=(core,))
    for policy in POLICIES:
        yield entry(f"{BARE}, {policy}", partial(bare_loop, game, num_players, policy))
        yield entry(f"{PLAYOUTS}, {policy}", partial(playout_loop, game, num_players, policy, budget.roots))


def search_contenders(
    game: Game, num_players: int, budget: Budget, network: Path | None, core: int, pair: tuple[int, int] | None
) -> Iterator[Contender]:
    """The searching agents.

    Args:
        game: The game.
        num_players: Its players.
        budget: How much is searched.
        network: A network of this game; None: searches without one only.
        core: Where they run.
        pair: Two cores for one thread against two; None for neither.
    """
    states = roots(game, num_players, budget.roots)
    alone, many = 1, len(states)

    def entry(spec: str, together: int, threads: int = 1, cores: tuple[int, ...] = (core,)) -> Contender:
        make = partial(SearchLoop, game, num_players, spec, states, together)
        return Contender(LIBRARY, game.id, num_players, spec, make, cores, together, threads)

    ismcts, pimc = f"ismcts:iterations={budget.iterations}", f"pimc:worlds={budget.worlds}"
    for horizon in HORIZONS if game.deal_field is not None else ("game",):
        for agent, name in ((ismcts, "ismcts"), (pimc, "pimc")):
            for style in STYLES[name].values():
                yield entry(f"{agent},{style},horizon={horizon}", many)
    if network is not None:
        for style in GUIDED.values():
            for together in (alone, many):
                yield entry(f"{ismcts},network={network},{style}", together)
    if pair is not None:
        for threads in (1, 2):
            yield entry(f"{ismcts},searches={threads},threads={threads}", alone, threads, pair)
        for threads in (1, 2):
            yield entry(f"{ismcts},threads={threads}", many, threads, pair)
