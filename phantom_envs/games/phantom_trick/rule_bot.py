"""A rule of thumb player for Phantom Trick. It looks at the cards on the table and in its hand, and counts nothing.

Its rules, the first that fits first:

* Lay the value that the hand holds most often: its equals can be won to it later. Of two, the lower one.
* Vanish where an equal card lies face-up: a point, and no card to take. Of several, with the highest card.
* Win, as far as can be seen now, where a face-up card pairs with one in the own row; with the highest card.
* Else lose, with the highest card that loses; if none does, play the lowest.
* Take a pair; else the value that the hand holds most often, of two the lower one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY, bit, count, drop_lowest, has, highest, lowest
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.games.phantom_trick.components import NUM_VALUES, SUIT_CARDS, VALUE_CARDS
from phantom_envs.games.phantom_trick.state import PLAY

VANISH, PAIR, LOSE, WIN = 300, 200, 100, 0
"""What a card does, from best to worst; its value decides among those that do the same."""

PER_EQUAL = 20
"""Worth of an equal card in hand when a card is laid or taken: more than any value."""


@jit
def rule_action(s: Record, words: Any) -> int:
    """The card of `words` (1,) that the rules hold best for the seat to act; of equals the lowest."""
    best = -1
    best_worth = 0
    choices = words[0]
    while choices != EMPTY:
        card = lowest(choices)
        choices = drop_lowest(choices)
        worth = worth_of_playing(s, card) if int(s["phase"]) == PLAY else worth_of_owning(s, card)
        if best < 0 or worth > best_worth:
            best = card
            best_worth = worth
    return best


@jit
def worth_of_owning(s: Record, card: int) -> int:
    """How welcome a card is in the own row, laid or taken."""
    value = card % NUM_VALUES
    if pairs(s, card):
        return PAIR
    return PER_EQUAL * count(s["hands"][int(s["seat"])] & VALUE_CARDS[value]) - value


@jit
def worth_of_playing(s: Record, card: int) -> int:
    """How good it is to play a card, as far as the table shows."""
    value = card % NUM_VALUES
    if s["face_up"] & VALUE_CARDS[value] != EMPTY:
        return VANISH + value
    if not is_highest(s, card):
        return LOSE + value
    on_table = s["face_up"] | bit(card)
    while on_table != EMPTY:
        if pairs(s, lowest(on_table)):
            return PAIR + value
        on_table = drop_lowest(on_table)
    return WIN - value


@jit
def is_highest(s: Record, card: int) -> bool:
    """Whether a card would be the highest face-up card of the leader's suit; the leader's own always is, so far."""
    suit = card // NUM_VALUES
    if int(s["leader"]) == int(s["seat"]):
        return True
    rivals = s["face_up"] & SUIT_CARDS[suit]
    return suit == int(s["leader_suit"]) and (rivals == EMPTY or highest(rivals) < card)


@jit
def pairs(s: Record, card: int) -> bool:
    """Whether the own row holds a card of the same value."""
    return has(np.uint64(s["row_values"][int(s["seat"])]), card % NUM_VALUES)
