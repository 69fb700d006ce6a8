"""The network of the trained agents: one body, a policy head and a value head, and its file format.

A file is in the safetensors format: numbers and JSON, no code. Under `network` its header holds the arguments of
`PolicyValueNet`, among them the digest of the observations that it was trained on (`Layout.digest`), and under `about`
what it was trained for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from agents.network_header import WrongNetwork, check_shape, json_object
from agents.search.budget import shown
from phantom_envs.core.errors import InvalidOption
from phantom_envs.core.files import write_whole
from phantom_envs.core.game import Game

FORBIDDEN = -1e9
"""Logit of an action that is not legal."""


class PolicyValueNet(nn.Module):
    """An MLP over an observation vector, with a short cut from what is about an action to that action.

    Some rows of an observation speak about actions, entry by entry (`Block.actions`): is this card in hand, does
    it pair. The body weighs these rows by the situation, and the logit of an action gets its entries times the
    weights; without it the body would have to pass on each entry by itself.

    Args:
        observation_size: Entries D of an observation.
        num_actions: Actions A.
        layout: Digest of the observations' layout, which says what the entries mean.
        rows: (start, count, length, first action) of rows one after the other that speak about the same actions.
        width: Units of each hidden layer.
        depth: Hidden layers.
    """

    scale: Tensor

    def __init__(
        self,
        observation_size: int,
        num_actions: int,
        layout: str,
        rows: Sequence[Sequence[int]] = (),
        width: int = 256,
        depth: int = 2,
    ) -> None:
        super().__init__()
        self.shape: dict[str, Any] = {
            "observation_size": observation_size,
            "num_actions": num_actions,
            "layout": layout,
            "rows": [list(row) for row in rows],
            "width": width,
            "depth": depth,
        }
        hidden = [nn.Linear(observation_size if layer == 0 else width, width) for layer in range(depth)]
        self.body = nn.Sequential(*(module for layer in hidden for module in (layer, nn.ReLU())))
        self.policy = nn.Linear(width, num_actions)
        count = sum(count for _, count, _, _ in rows)
        self.weights = nn.Linear(width, count) if count else None
        self.value = nn.Linear(width, 1)
        self.register_buffer("scale", torch.ones(observation_size))
        for layer in hidden:
            nn.init.orthogonal_(layer.weight, 2**0.5)
            nn.init.zeros_(layer.bias)
        for head, gain in ((self.policy, 0.01), (self.weights, 0.01), (self.value, 1.0)):
            if head is not None:
                nn.init.orthogonal_(head.weight, gain)
                nn.init.zeros_(head.bias)

    @classmethod
    def for_game(cls, game: Game, num_players: int, width: int = 256, depth: int = 2) -> PolicyValueNet:
        """A fresh network for a game; observations are scaled into -1 … 1 by their declared bounds."""
        layout = game.layout(num_players)
        rows: list[list[int]] = []
        for block in layout:
            if block.actions is None:
                continue
            first, length = block.actions
            if rows and block.start == rows[-1][0] + rows[-1][1] * length and rows[-1][2:] == [length, first]:
                rows[-1][1] += block.size // length
            else:
                rows.append([block.start, block.size // length, length, first])
        net = cls(layout.size, game.num_actions, layout.digest, rows, width, depth)
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
        scaled = observation.to(dtype) * self.scale.to(dtype)
        x = self.body(scaled)
        logits = self.policy(x)
        weights = x if self.weights is None else self.weights(x)
        used = 0
        for start, count, length, first in self.shape["rows"]:
            about = scaled[:, start : start + count * length].reshape(-1, count, length)
            share = torch.einsum("nr,nrl->nl", weights[:, used : used + count], about)
            logits = logits + nn.functional.pad(share, (first, logits.shape[1] - first - length))
            used += count
        logits = logits.float().masked_fill(action_mask == 0, FORBIDDEN)
        return logits, self.value(x).float().squeeze(-1)


def save_network(path: Path, net: PolicyValueNet, about: dict[str, Any]) -> None:
    """Write a network to a `.safetensors` file, whole, with its shape and `about` (plain JSON data) in the header."""
    tensors = {name: tensor.detach().float().contiguous().cpu() for name, tensor in net.state_dict().items()}
    write_network(path, tensors, net.shape, about)


def write_network(path: Path, tensors: dict[str, Tensor], shape: dict[str, Any], about: dict[str, Any]) -> None:
    """Write the parts of a network file."""
    write_whole(path, safetensors.torch.save(tensors, {"network": json.dumps(shape), "about": json.dumps(about)}))


def load_network(path: Path, device: str = "cpu") -> tuple[PolicyValueNet, dict[str, Any]]:
    """Read a network and what its header says about it. Only numbers and JSON are read, never code.

    Raises:
        InvalidOption: There is no such device.
        WrongNetwork: There is no such file, or it is not a whole network file of this project.
    """
    check_device(device)
    tensors, shape, about = read_network(path)
    if "layout" not in shape:
        raise WrongNetwork(
            f"{path} does not say which observations it was trained on: an earlier version wrote it. If the "
            f"observations of its game are still the same, `python -m agents.vouch {path}` adds it; else train anew"
        )
    try:
        check_shape(shape, {name: (str(tensor.dtype), list(tensor.shape)) for name, tensor in tensors.items()})
    except WrongNetwork as error:
        raise not_ours(path, error) from error
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise WrongNetwork(f"{path}: the tensor {name} holds numbers that are not finite; its training has failed")
    net = PolicyValueNet(**shape)
    net.load_state_dict(tensors)
    return net.to(device).eval(), about


def read_network(path: Path) -> tuple[dict[str, Tensor], dict[str, Any], dict[str, Any]]:
    """The parts of a network file, not yet held against each other: tensors by name, shape, and what it is about.

    Raises:
        WrongNetwork: There is no such file, or it cannot be read.
    """
    try:
        if not path.is_file():  # a pipe or a device would not end
            raise FileNotFoundError
        with safetensors.safe_open(path, "pt", device="cpu") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # safe_open is no dict
        return tensors, json_object("network", header), json_object("about", header)
    except WrongNetwork as error:
        raise not_ours(path, error) from error
    except FileNotFoundError as error:
        hint = ": it is a folder" if path.is_dir() else ""
        raise WrongNetwork(f"no network file {path}{hint}") from error
    except OSError as error:
        raise WrongNetwork(f"the network file {path} cannot be read: {error.strerror or error}") from error
    except (safetensors.SafetensorError, ValueError) as error:
        raise not_ours(path, error) from error


def not_ours(path: Path, why: Exception) -> WrongNetwork:
    """The error for a file with other content than it should have."""
    return WrongNetwork(f"{path} is not a network file of this project: {why}")


def check_device(device: str) -> None:
    """`InvalidOption` if torch cannot compute there."""
    if not isinstance(device, str):
        raise InvalidOption(f"device={shown(device)}: give a name, as 'cpu' or 'cuda'")
    try:
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError, ImportError, ValueError) as error:  # it depends on the kind of device
        reason = shorten(str(error) or type(error).__name__, 120, placeholder=" …")
        raise InvalidOption(
            f"device={shown(device)}: torch cannot compute there ({reason}); 'cpu' works anywhere"
        ) from error
