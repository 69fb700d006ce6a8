"""A rule of thumb player for Fantasmagória.

* Sacrifice from the shortest suit (one that is missing lets go of scares sooner), of equal ones the highest number.
* Possessed, take the pile under the lowest number.
* Play the card that costs least. If it wins the trick it costs what the trick scares, with a bit for every player still
  to play; if it does not, it is worth something to be rid of a ghost or a cursed card, and a pity about the Lucky Cat
  and the cup, which are kept for the right trick. How likely it wins is guessed from the cards not seen and the
  suits others lack. Apart from that, high numbers go first, and short suits.

The weights were tuned in play against random players.
"""

from __future__ import annotations

from typing import Any

from phantom_envs.core.bits import EMPTY, bit, count, drop_lowest, first_n, has, lowest
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.games.fantasmagoria.actions import FIRST_PILE
from phantom_envs.games.fantasmagoria.components import (
    BELLE_ANNA,
    BEYOND_DECKS,
    CANDELABRUM,
    CUP,
    FILIPI_GOAT,
    GHOSTS,
    LUCKY_CAT,
    MAX_PLAYERS,
    NUM_SUITS,
    NUMBER_CARDS,
    NUMBER_OF,
    RITUAL_DECKS,
    SUIT_CARDS,
    SUIT_OF,
)
from phantom_envs.games.fantasmagoria.rules import scares
from phantom_envs.games.fantasmagoria.state import HAUNT, SACRIFICE

SACRIFICED_NUMBER = 0.15  # what one more of the number counts against one card fewer in the suit
COMING_SCARES = 0.4  # scares that a player still to play is expected to add to a trick
GOAT_FEAR = 1.8  # what the Filipi Goat is expected to cost beyond the ghosts that lie there already
GHOST_RELIEF, BELLE_ANNA_RELIEF, CANDELABRUM_RELIEF, GOAT_RELIEF = 0.8, 1.0, 0.5, 0.45
LUCKY_CAT_PITY, CUP_PITY = 3.5, 0.7
NUMBER_RELIEF = 0.04  # for each of the number
SUIT_PITY = 0.25  # for each card of the suit in hand
POSSESSED_WINS = 0.8  # chance that a card which possesses and moves the trump beats what lies there


@jit
def rule_action(s: Record, words: Any) -> int:
    """The legal action with the highest value, of equal ones the lowest."""
    left = words[0]
    best = lowest(left)
    if count(left) == 1:
        return best
    phase = int(s["phase"])
    seat = int(s["seat"])
    unseen = unseen_by(s, seat)
    best_value = -1000.0
    while left != EMPTY:
        action = lowest(left)
        left = drop_lowest(left)
        if phase == HAUNT:
            value = -1.0 * NUMBER_OF[lowest(s["lying"][action - FIRST_PILE])]
        elif phase == SACRIFICE:
            value = SACRIFICED_NUMBER * NUMBER_OF[action] - count(s["hands"][seat] & SUIT_CARDS[SUIT_OF[action]])
        else:
            value = play_value(s, seat, action, unseen)
        if value > best_value:
            best_value = value
            best = action
    return best


@jit
def unseen_by(s: Record, seat: int) -> Any:
    """The cards that may be in other hands, as far as `seat` knows; those in the piles are among them."""
    players = int(s["num_players"])
    seen = s["hands"][seat]
    for index in range(MAX_PLAYERS):
        seen |= s["played"][index] | s["lying"][index]
    return (RITUAL_DECKS[players] | BEYOND_DECKS[players]) & ~seen


@jit
def play_value(s: Record, seat: int, card: int, unseen: Any) -> float:
    """What it is worth to play `card` now, in scares."""
    chance = win_chance(s, seat, card, unseen)
    won = s["won"][seat]
    trick = s["imprisoned"]
    cost = 0.0
    if card != CUP and not has(s["table"], CUP):
        trick |= s["table"] | bit(card)
        cost += COMING_SCARES * (int(s["num_players"]) - 1 - int(s["on_table"]))
    cost += scares(won | trick) - scares(won)
    if has(trick, FILIPI_GOAT):
        cost += GOAT_FEAR
    value = (1.0 - chance) * relief(card) - chance * cost
    if card != CUP:
        value += NUMBER_RELIEF * NUMBER_OF[card]
        value -= SUIT_PITY * count(s["hands"][seat] & SUIT_CARDS[SUIT_OF[card]])
    return value


@jit
def relief(card: int) -> float:
    """What it is worth to lose `card` to another player; negative for what one would rather keep."""
    if has(GHOSTS, card):
        return GHOST_RELIEF
    if card == BELLE_ANNA:
        return BELLE_ANNA_RELIEF
    if card == CANDELABRUM:
        return CANDELABRUM_RELIEF
    if card == FILIPI_GOAT:
        return GOAT_RELIEF
    if card == LUCKY_CAT:
        return -LUCKY_CAT_PITY
    return -CUP_PITY if card == CUP else 0.0


@jit
def win_chance(s: Record, seat: int, card: int, unseen: Any) -> float:
    """The chance that `card` wins this trick against players who know nothing of tactics."""
    if card == CUP:
        return 0.0
    trump = int(s["trump"])
    moved = bool(s["trump_moved"])
    lead_suit = int(s["lead_suit"])
    if lead_suit < 0:
        lead_suit = SUIT_OF[card]
    elif SUIT_OF[card] != lead_suit and not int(s["possessed"]) >> seat & 1 and not moved:
        trump = NUMBER_OF[card]
        moved = True
    leading = SUIT_CARDS[lead_suit]
    above = leading & ~first_n(card + 1)
    by_trump = NUMBER_OF[card] == trump
    if (s["table"] & NUMBER_CARDS[trump]) != EMPTY:
        return 0.0
    if not by_trump and (SUIT_OF[card] != lead_suit or (s["table"] & above) != EMPTY):
        return 0.0
    hidden = count(unseen & leading)
    higher = count(unseen & above) / max(hidden, 1)
    chance = 1.0
    other = seat
    for _ in range(int(s["num_players"]) - 1 - int(s["on_table"])):
        other = other + 1 if other + 1 < int(s["num_players"]) else 0
        lacks = lack_chance(s, other, lead_suit, hidden, count(unseen))
        if not by_trump:
            chance *= 1.0 - (1.0 - lacks) * higher
        if not moved and not int(s["possessed"]) >> other & 1:
            chance *= 1.0 - lacks * POSSESSED_WINS
    return chance


@jit
def lack_chance(s: Record, other: int, suit: int, hidden: int, unseen: int) -> float:
    """The chance that `other` holds none of the `hidden` cards of `suit`, being `hidden` of the `unseen` cards."""
    if (s["shown"][other] & SUIT_CARDS[suit]) != EMPTY:
        return 0.0
    if has(s["voids"], NUM_SUITS * other + suit):
        return 1.0
    elsewhere = 1.0 - count(s["hands"][other]) / max(unseen, 1)
    chance = 1.0
    for _ in range(hidden):
        chance *= elsewhere
    return chance
