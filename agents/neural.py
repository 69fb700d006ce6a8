"""Plays a trained network, as `neural:run/agent.safetensors` in the arena."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.network import PolicyValueNet, load_network
from agents.network_header import WrongNetwork
from agents.search.budget import check_choice, shown
from phantom_envs.arena.agent import Decisions
from phantom_envs.core.batch import sample_weighted
from phantom_envs.core.errors import InvalidOption
from phantom_envs.core.game import Game

__all__ = ["NeuralAgent", "WrongNetwork"]


class NeuralAgent:
    """A policy network.

    Args:
        path: A `.safetensors` file written by a training script. Loading it executes no code.
        device: Where it runs: cpu, cuda, …
        choose: `best` takes the most probable action, `sample` draws by the probabilities.

    Raises:
        InvalidOption: A value that an argument does not take, or a device that is not there.
        WrongNetwork: There is no such file, or it is not a whole network file of this project.
    """

    def __init__(self, path: str | Path, device: str = "cpu", choose: str = "best") -> None:
        if not isinstance(path, str | Path):
            raise InvalidOption(f"network file {shown(path)}: give the path of a .safetensors file")
        self.path = Path(path)
        self.choose = check_choice("choose", choose, ("best", "sample"))
        self.device = device
        self.net, self.about = load_network(self.path, device)
        if not isinstance(self.about.get("game"), str) or type(self.about.get("num_players")) is not int:
            raise WrongNetwork(f"{self.path} does not say which 'game' it was trained for, and for what 'num_players'")

    @classmethod
    def of(cls, net: PolicyValueNet) -> NeuralAgent:
        """An agent that plays a network in memory, its best action."""
        agent = cls.__new__(cls)
        agent.path, agent.choose, agent.about = Path(), "best", {}
        agent.net, agent.device = net, str(next(net.parameters()).device)
        return agent

    def prepare(self, game: Game, num_players: int, options: Mapping[str, Any]) -> None:
        """Refuse a game that the network was not made for, with `WrongNetwork`."""
        asked = {"game": game.id, "num_players": num_players}
        made_for = {name: self.about.get(name, asked[name]) for name in asked}  # a network in memory: see `of`
        if made_for != asked:
            raise WrongNetwork(
                f"{self.path} was trained on {made_for['game']} with {made_for['num_players']} players, not {game.id} "
                f"with {num_players}"
            )
        shape = self.net.shape
        if (shape["layout"], shape["num_actions"]) != (game.layout(num_players).digest, game.num_actions):
            raise WrongNetwork(
                f"{self.path} was trained on other observations or actions than {game.id} with {num_players} players "
                "has now; train anew, or play it with the version of the game's code that it was trained with"
            )

    @torch.no_grad()
    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """The network's choice for every decision, (K,); `WrongNetwork` if its numbers overflow."""
        observation = torch.from_numpy(decisions.observation).to(self.device)
        logits, _ = self.net(observation, torch.from_numpy(decisions.mask).to(self.device))
        if not logits.isfinite().all():
            raise WrongNetwork(f"{self.path} answers with numbers that are not finite; its training has failed")
        actions: NDArray[np.int64] = logits.argmax(1).cpu().numpy()
        if self.choose == "best":
            return actions
        probabilities = torch.softmax(logits, 1).cpu().numpy()
        sample_weighted(probabilities, decisions.keys.reshape(-1, 1).copy(), actions, 0, len(actions))
        return actions
