"""The network of the trained agents: one body, a policy head and a value head, and its file format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from phantom_envs.core.game import Game

FORBIDDEN = -1e9
"""Logit of an action that is not legal."""


class PolicyValueNet(nn.Module):
    """An MLP over an observation vector.

    Args:
        observation_size: Entries D of an observation.
        num_actions: Actions A.
        width: Units of each hidden layer.
        depth: Hidden layers.
    """

    scale: Tensor

    def __init__(self, observation_size: int, num_actions: int, width: int = 256, depth: int = 2) -> None:
        super().__init__()
        self.shape = {
            "observation_size": observation_size,
            "num_actions": num_actions,
            "width": width,
            "depth": depth,
        }
        hidden = [nn.Linear(observation_size if layer == 0 else width, width) for layer in range(depth)]
        self.body = nn.Sequential(*(module for layer in hidden for module in (layer, nn.ReLU())))
        self.policy = nn.Linear(width, num_actions)
        self.value = nn.Linear(width, 1)
        self.register_buffer("scale", torch.ones(observation_size))
        for layer in hidden:
            nn.init.orthogonal_(layer.weight, 2**0.5)
            nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(self.policy.weight, 0.01)
        nn.init.zeros_(self.policy.bias)
        nn.init.orthogonal_(self.value.weight, 1.0)
        nn.init.zeros_(self.value.bias)

    @classmethod
    def for_game(cls, game: Game, num_players: int, width: int = 256, depth: int = 2) -> PolicyValueNet:
        """A fresh network for a game; observations are scaled into -1 … 1 by their declared bounds."""
        layout = game.layout(num_players)
        net = cls(layout.size, game.num_actions, width, depth)
        low, high = layout.bounds()
        reach = np.maximum(np.abs(low.astype(np.float32)), np.abs(high.astype(np.float32)))
        net.scale.copy_(torch.from_numpy(1.0 / np.maximum(reach, 1.0)))
        return net

    def forward(self, observation: Tensor, action_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (N, A), legal actions only, and values (N,), both float32.

        Args:
            observation: (N, D) int8.
            action_mask: (N, A), non-zero where legal.
        """
        kind = observation.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else self.scale.dtype
        x = self.body(observation.to(dtype) * self.scale.to(dtype))
        logits = self.policy(x).float().masked_fill(action_mask == 0, FORBIDDEN)
        return logits, self.value(x).float().squeeze(-1)


def save_network(path: Path, net: PolicyValueNet, about: dict[str, Any]) -> None:
    """Write a network to a `.safetensors` file, with its shape and `about` (plain JSON data) in the header."""
    tensors = {name: tensor.detach().float().contiguous().cpu() for name, tensor in net.state_dict().items()}
    header = {"network": json.dumps(net.shape), "about": json.dumps(about)}
    safetensors.torch.save_file(tensors, path, header)


def load_network(path: Path, device: str = "cpu") -> tuple[PolicyValueNet, dict[str, Any]]:
    """Read a network and what its header says about it. Only numbers and JSON are read, never code.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: It is not a network file of this project.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no network file {path}")
    try:
        with safetensors.safe_open(path, "pt", device="cpu") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # safe_open is no dict
        net = PolicyValueNet(**json.loads(header["network"]))
        net.load_state_dict(tensors)
        return net.to(device).eval(), json.loads(header["about"])
    except (safetensors.SafetensorError, KeyError, TypeError, RuntimeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not a network file of this project: {error}") from error
