"""Das Phantom: a race through an underground labyrinth of hexes for 2-6 players, with a wandering phantom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phantom_envs.core.game import Game, Option
from phantom_envs.games.das_phantom import belief, observation, picture, rule_bot, rules, text
from phantom_envs.games.das_phantom.actions import ACTIONS
from phantom_envs.games.das_phantom.components import (
    MAX_DISCARDS,
    MOST_HELD,
    MOST_MOVES,
    MOST_TAKES,
    PLAYERS,
    REWARD_PER_THING,
)
from phantom_envs.games.das_phantom.state import STATE

MOST_DECISIONS_IN_TURN = 3 * MOST_HELD + (1 + MOST_TAKES) * MOST_MOVES + 3 + MAX_DISCARDS + 3
"""Items played, of three decisions each; moves with what they bring; a shift; discards; die, rob and end."""

MOST_DECISIONS_OF_PHANTOM = 11
"""A room, five steps, and each of the other pawns chased once."""


def max_decisions(num_players: int, options: Mapping[str, Any]) -> int:
    """A bound on the decisions of a game."""
    return int(options["max_rounds"]) * (num_players * MOST_DECISIONS_IN_TURN + MOST_DECISIONS_OF_PHANTOM)


GAME = Game(
    name="das_phantom",
    version=0,
    title="Das Phantom",
    summary="A race through an underground labyrinth with dice, hidden tiles and cards, and a wandering phantom.",
    players=PLAYERS,
    default_players=4,
    options=(
        Option(
            "reward",
            "win",
            "what is rewarded: winning the game, or also each rose or violin gained or lost",
            ("win", "progress"),
        ),
        Option(
            "max_rounds", 100, "rounds after which the game is cut off, unwon", least=1, most=1000, field="max_rounds"
        ),
    ),
    reward_weights={
        "win": lambda players: (1.0, 0.0),
        # a point counts as much as it exceeds the mean of all players, 1 - 1/P for a single one (R20)
        "progress": lambda players: (1.0, REWARD_PER_THING * players / (players - 1)),
    },
    dtype=STATE,
    actions=ACTIONS,
    max_decisions=max_decisions,
    layout=observation.layout,
    deal=rules.deal,
    legal=rules.legal,
    apply=rules.apply,
    observe=observation.observe,
    resample=belief.resample,
    rule_action=rule_bot.rule_action,
    state_dict=text.state_dict,
    picture=picture.picture,
    extras={"board": text.board_page},
)
