"""The 60 actions of Phantom Trick: a card each."""

from __future__ import annotations

from phantom_envs.core.actions import Actions, Group
from phantom_envs.games.phantom_trick.components import CARD_NAMES, NUM_CARDS
from phantom_envs.games.phantom_trick.state import PHASES

ACTIONS = Actions(
    Group(
        "card",
        NUM_CARDS,
        lambda s, card: f"{PHASES[s['phase']]} {CARD_NAMES[card]}",
        "place red-7 / play red-7 / take red-7",
        "a card, index 12 × suit + value; the phase says what",
    )
)
