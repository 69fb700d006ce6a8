"""The Gymnasium ids of all games. Nothing here loads a game or the compiler."""

from __future__ import annotations

import gymnasium

from phantom_envs.registry import game_ids

MODULE = "phantom_envs.envs.single_agent"


def gymnasium_id(game_id: str) -> str:
    """Gymnasium's id of a game: `phantom_envs/PhantomTrick-v0` for `phantom_trick_v0`."""
    name, _, version = game_id.rpartition("_v")
    return f"phantom_envs/{name.title().replace('_', '')}-v{version}"


def register_all() -> None:
    """Register every game with Gymnasium, single and batched; once more does no harm."""
    for game_id in game_ids():
        if gymnasium_id(game_id) not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id(game_id),
                entry_point=f"{MODULE}:SingleAgentEnv",
                vector_entry_point=f"{MODULE}:SingleAgentVectorEnv",
                kwargs={"game": game_id},
            )
