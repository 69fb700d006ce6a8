"""Plays a trained network, as `neural:run/agent.safetensors` in the arena."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.network import PolicyValueNet, load_network
from phantom_envs.arena.agent import Decisions
from phantom_envs.core.batch import sample_weighted
from phantom_envs.core.errors import InvalidOption, PhantomError
from phantom_envs.core.game import Game


class WrongNetwork(PhantomError, ValueError):
    """A network file that cannot play here."""


class NeuralAgent:
    """A policy network.

    Args:
        path: A `.safetensors` file written by a training script. Loading it executes no code.
        device: Where it runs: cpu, cuda, …
        choose: `best` takes the most probable action, `sample` draws by the probabilities.
    """

    def __init__(self, path: str | Path, device: str = "cpu", choose: str = "best") -> None:
        if choose not in ("best", "sample"):
            raise InvalidOption(f"choose={choose!r}: take 'best' or 'sample'")
        self.path = Path(path)
        self.choose = choose
        self.device = device
        try:
            self.net, self.about = load_network(self.path, device)
        except (OSError, ValueError) as error:
            raise WrongNetwork(str(error)) from error

    @classmethod
    def of(cls, net: PolicyValueNet) -> NeuralAgent:
        """An agent that plays a network in memory, its best action."""
        agent = cls.__new__(cls)
        agent.path, agent.choose, agent.about = Path(), "best", {}
        agent.net, agent.device = net, str(next(net.parameters()).device)
        return agent

    def prepare(self, game: Game, num_players: int, options: Mapping[str, Any]) -> None:
        """Refuse a game that the network was not made for."""
        size = game.layout(num_players).size
        fits = self.net.shape["observation_size"] == size and self.net.shape["num_actions"] == game.num_actions
        if not fits or self.about.get("game", game.id) != game.id:
            made_for = f"{self.about.get('game')} with {self.about.get('num_players')} players"
            raise WrongNetwork(f"{self.path} was trained on {made_for}, not {game.id} with {num_players}")

    @torch.no_grad()
    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """The network's choice for every decision, (K,)."""
        observation = torch.from_numpy(decisions.observation).to(self.device)
        logits, _ = self.net(observation, torch.from_numpy(decisions.mask).to(self.device))
        actions: NDArray[np.int64] = logits.argmax(1).cpu().numpy()
        if self.choose == "best":
            return actions
        probabilities = torch.softmax(logits, 1).cpu().numpy()
        sample_weighted(probabilities, decisions.keys.reshape(-1, 1).copy(), actions, 0, len(actions))
        return actions
