"""The two agents that every game has: uniformly random, and its rule of thumb."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phantom_envs.arena.agent import Decisions
from phantom_envs.core.batch import kernels, sample


class RandomAgent:
    """Chooses uniformly among the legal actions."""

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """A random legal action for every decision, (K,), drawn from its key."""
        actions = np.zeros(len(decisions), np.int64)
        sample(decisions.words, decisions.keys.reshape(-1, 1).copy(), actions, 0, len(actions))
        return actions


class RuleAgent:
    """The game's rule bot. It is asked in a redrawn world, so it cannot see more than it may."""

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """The rule bot's choice for every decision, (K,)."""
        actions = np.zeros(len(decisions), np.int64)
        worlds = decisions.determinize(decisions.keys)
        kernels(decisions.game).advise(worlds, decisions.words, actions, 0, len(actions))
        return actions
