"""A rule of thumb player for Phantom Trick. It knows what its seat knows, draws no lots, and looks one card ahead.

Every choice is the card of the highest worth in points, of equals the lowest. Its rules in words:

* A card *stands* with the chance that nobody beats it: every player to come who is not known to lack its suit may
  play any unseen card of the suit, so each lets it stand with the share of these cards that is lower.
* A value in the row is not a loss but a plan: an equal card won later makes a pair. Its *prospect* is the gain of
  a pair for each equal card in the own hand, as far as that would stand, and a little for each equal card unseen
  while tricks remain. A prospect is never sure, so it is limited. In the last trick there is none.
* Lay the card with the best prospect that is missed least; of two alike the lower one, which may lead.
* A card that would stand is worth keeping, more so if its value is in the own row: then it makes a pair by itself.
* Vanish at once where an equal card lies face-up: a point, and no card to take. A card whose equals are still out
  may vanish yet.
* Win for a pair, or for a value with a prospect. Else winning costs a point, and the card to play is one that
  loses the trick and is least worth keeping.
* Do not throw values that others have in their rows under their tricks: they would make pairs of them.
* Take a pair; else the value with the best prospect.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY, bit, count, drop_lowest, has, highest, lowest
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.games.phantom_trick.components import DECKS, NUM_TRICKS, NUM_VALUES, SUIT_CARDS, VALUE_CARDS
from phantom_envs.games.phantom_trick.state import PLACE, TAKE

PAIR = 3.0  # two cards in the pile, and one fewer in the row
NEW_VALUE = -1.0  # a card in the row
VANISH = 1.0  # a card in the pile

# Tuned by play against itself and against random players; the strength hardly changes when one is doubled or halved.
MOST_PROSPECT = 2.0  # less than a pair at hand
UNSEEN_EQUAL = 0.1  # prospect per unseen equal card, in the first trick
KEEP_PAIRING = 1.0  # keeping a sure card whose value is in the own row
KEEP_STRONG = 0.3  # keeping any other sure card
MAY_VANISH = 0.5  # how readily a player who may hold an equal card plays it
FEEDING = 0.05  # per row that holds the value thrown
LAY_LOW = 0.03  # per step of value


@jit
def rule_action(s: Record, words: Any) -> int:
    """The card of `words` (1,) that the rules of thumb hold best for the seat to act."""
    seat = int(s["seat"])
    phase = int(s["phase"])
    hand = s["hands"][seat]
    unseen = unseen_by(s, seat)
    best = -1
    best_worth = 0.0
    choices = words[0]
    while choices != EMPTY:
        card = lowest(choices)
        choices = drop_lowest(choices)
        if phase == PLACE:
            worth = worth_of_placing(s, seat, card, hand ^ bit(card), unseen)
        elif phase == TAKE:
            worth = worth_of_taking(s, seat, card, hand, unseen)
        else:
            worth = worth_of_playing(s, seat, card, hand ^ bit(card), unseen)
        if best < 0 or worth > best_worth:
            best = card
            best_worth = worth
    return best


@jit
def unseen_by(s: Record, seat: int) -> Any:
    """The cards that `seat` has not seen this round: in other hands, laid face-down by others, or unused."""
    seen = s["known"] | s["hands"][seat]
    if int(s["placed"][seat]) >= 0:
        seen |= bit(int(s["placed"][seat]))
    return DECKS[int(s["num_players"])] & ~seen


@jit
def worth_of_placing(s: Record, seat: int, card: int, hand: Any, unseen: Any) -> float:
    """Worth of laying `card` and keeping `hand`."""
    value = card % NUM_VALUES
    return prospect(s, seat, value, hand, unseen) - keeping(s, seat, card, unseen) - LAY_LOW * value


@jit
def worth_of_taking(s: Record, seat: int, card: int, hand: Any, unseen: Any) -> float:
    """Worth of taking `card` into the own row, or as a pair into the pile."""
    value = card % NUM_VALUES
    if in_row(s, seat, value):
        return PAIR
    return NEW_VALUE + prospect(s, seat, value, hand, unseen)


@jit
def worth_of_playing(s: Record, seat: int, card: int, hand: Any, unseen: Any) -> float:
    """Worth of playing `card` and keeping `hand`."""
    value = card % NUM_VALUES
    worth = -keeping(s, seat, card, unseen)
    if s["face_up"] & VALUE_CARDS[value] != EMPTY:
        return worth + VANISH
    to_come = int(s["num_players"]) - int(s["on_table"]) - 1
    vanishes = MAY_VANISH * share(to_come * count(unseen & VALUE_CARDS[value]), count(unseen))
    wins = 0.0
    if leads_trick_with(s, seat, card):
        wins = standing(s, seat, card, unseen, to_come) * (1.0 - vanishes)
    worth += vanishes * VANISH
    if wins > 0.0:
        worth += wins * worth_of_winning(s, seat, s["face_up"] | bit(card), hand, unseen, to_come)
    for other in range(int(s["num_players"])):
        if other != seat and in_row(s, other, value):
            worth -= FEEDING * (1.0 - wins)
    return worth


@jit
def worth_of_winning(s: Record, seat: int, face_up: Any, hand: Any, unseen: Any, to_come: int) -> float:
    """Worth of the best card to take if the trick is won with the cards `face_up` and `to_come` more."""
    best = NEW_VALUE
    while face_up != EMPTY:
        best = max(best, worth_of_taking(s, seat, lowest(face_up), hand, unseen))
        face_up = drop_lowest(face_up)
    pairing = 0
    for value in range(NUM_VALUES):
        if in_row(s, seat, value):
            pairing += count(unseen & VALUE_CARDS[value])
    chance = share(to_come * pairing, count(unseen))
    return chance * PAIR + (1.0 - chance) * best


@jit
def prospect(s: Record, seat: int, value: int, hand: Any, unseen: Any) -> float:
    """What having `value` in the row promises for the tricks after this one."""
    tricks = NUM_TRICKS if int(s["phase"]) == PLACE else NUM_TRICKS - int(s["trick"])
    if tricks == 0:
        return 0.0
    promise = UNSEEN_EQUAL * count(unseen & VALUE_CARDS[value]) * tricks / NUM_TRICKS
    equals = hand & VALUE_CARDS[value]
    while equals != EMPTY:
        promise += PAIR * standing(s, seat, lowest(equals), unseen, int(s["num_players"]) - 1)
        equals = drop_lowest(equals)
    return min(promise, MOST_PROSPECT)


@jit
def keeping(s: Record, seat: int, card: int, unseen: Any) -> float:
    """Worth of having `card` in hand after this trick."""
    if int(s["trick"]) == NUM_TRICKS:
        return 0.0
    factor = KEEP_PAIRING if in_row(s, seat, card % NUM_VALUES) else KEEP_STRONG
    return factor * standing(s, seat, card, unseen, int(s["num_players"]) - 1)


@jit
def leads_trick_with(s: Record, seat: int, card: int) -> bool:
    """Whether `card`, played by `seat`, would be the highest face-up card of the leader's suit so far."""
    if int(s["leader"]) == seat:
        return True
    if card // NUM_VALUES != int(s["leader_suit"]):
        return False
    rivals = s["face_up"] & SUIT_CARDS[card // NUM_VALUES]
    return rivals == EMPTY or highest(rivals) < card


@jit
def standing(s: Record, seat: int, card: int, unseen: Any, to_come: int) -> float:
    """Chance that none of the `to_come` players after `seat` beats `card` in its suit."""
    suit = card // NUM_VALUES
    rivals = unseen & SUIT_CARDS[suit]
    above = count(rivals >> np.uint64(card))
    beaten = above / (count(rivals) + 0.5)  # a half, for players who hold none of the suit
    chance = 1.0
    for step in range(1, to_come + 1):
        other = (seat + step) % int(s["num_players"])
        if not has(np.uint64(s["voids"][other]), suit):
            chance *= 1.0 - beaten
    return chance


@jit
def in_row(s: Record, seat: int, value: int) -> bool:
    """Whether the row of `seat` holds `value`."""
    return has(np.uint64(s["row_values"][seat]), value)


@jit
def share(part: int, whole: int) -> float:
    """`part` of `whole`, at most 1; 0 of nothing."""
    return min(1.0, part / whole) if whole > 0 else 0.0
