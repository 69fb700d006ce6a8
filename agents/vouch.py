"""Write the layout of its game's observations into network files of an earlier version, which do not name it.

    python -m agents.vouch run/agent.safetensors …

Whoever runs it vouches that the observations of the game are still those that the network was trained on: the file
itself cannot tell. Tensors stay as they are, bit for bit.
"""

from __future__ import annotations

import sys
from pathlib import Path

from agents.network import read_network, write_network
from agents.network_header import WrongNetwork
from phantom_envs.core.errors import PhantomError
from phantom_envs.registry import get_game


def vouch(path: Path) -> None:
    """Add the layout to a file that names none, in its place.

    Raises:
        WrongNetwork: It cannot be read, names a layout already, or its sizes are not those of its game.
        PhantomError: Its game or player count is unknown.
    """
    tensors, shape, about = read_network(path)
    if "layout" in shape:
        raise WrongNetwork(f"{path} says already which observations it was trained on")
    game = get_game(str(about.get("game")))
    layout = game.layout(game.check_players(about.get("num_players")))
    if (shape.get("observation_size"), shape.get("num_actions")) != (layout.size, game.num_actions):
        raise WrongNetwork(f"{path} has other sizes than {game.id} with {about.get('num_players')} players; train anew")
    write_network(path, tensors, shape | {"layout": layout.digest}, about)


if __name__ == "__main__":
    try:
        for name in sys.argv[1:]:
            vouch(Path(name))
    except PhantomError as error:
        sys.exit(f"error: {error}")
