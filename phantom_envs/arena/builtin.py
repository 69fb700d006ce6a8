"""The two agents that every game has: uniformly random, and its rule of thumb."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phantom_envs.arena.agent import Agent, Decisions
from phantom_envs.core.batch import kernels, sample
from phantom_envs.core.game import Game


class RandomAgent:
    """Chooses uniformly among the legal actions."""

    def prepare(self, game: Game, num_players: int, options: Mapping[str, Any]) -> None:
        """Compile, so that the first decision takes no longer than others."""
        _ask_nothing(self, game, num_players, options)

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """A random legal action for every decision, (K,), drawn from its key."""
        actions = np.zeros(len(decisions), np.int64)
        sample(decisions.words, decisions.keys.reshape(-1, 1).copy(), actions, 0, len(actions))
        return actions


class RuleAgent:
    """The game's rule bot. It is asked in a redrawn world, so it cannot see more than it may."""

    def prepare(self, game: Game, num_players: int, options: Mapping[str, Any]) -> None:
        """Compile, so that the first decision takes no longer than others."""
        _ask_nothing(self, game, num_players, options)

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """The rule bot's choice for every decision, (K,)."""
        actions = np.zeros(len(decisions), np.int64)
        worlds = decisions.determinize(decisions.keys)
        kernels(decisions.game).advise(worlds, decisions.words, actions, 0, len(actions))
        return actions


def _ask_nothing(agent: Agent, game: Game, num_players: int, options: Mapping[str, Any]) -> None:
    nobody = game.blank(0, num_players, options)
    agent.act(Decisions(game, num_players, options, nobody, np.zeros(0, np.uint64), np.zeros(0, np.int64)))
