"""The 60 actions of Fantasmagória: a card each, and a pile each."""

from __future__ import annotations

from phantom_envs.core.actions import Actions, Group, group
from phantom_envs.games.fantasmagoria.components import CARD_NAMES, MAX_PLAYERS, NUM_CARDS
from phantom_envs.games.fantasmagoria.state import SACRIFICE

ACTIONS = Actions(
    Group(
        "card",
        NUM_CARDS,
        lambda s, card: f"{'sacrifice' if s['phase'] == SACRIFICE else 'play'} {CARD_NAMES[card]}",
        "sacrifice cat-7 / play cat-7",
        "a card, index 11 × suit + number - 1, the cup 55; the phase says what",
    ),
    group(
        "pile",
        [f"haunt pile-{pile}" for pile in range(MAX_PLAYERS)],
        "the possessed player takes that pile",
        shown="haunt pile-0 …",
    ),
)

FIRST_PILE = ACTIONS["pile"].first
