"""The rules of Fantasmagória; the rulings R1-R17 stand in docs/rules, later ones in docs/rulings."""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY, bit, count, drop_lowest, has, highest, lowest
from phantom_envs.core.game import TERMINATED, Record
from phantom_envs.core.jit import jit
from phantom_envs.core.rng import shuffle
from phantom_envs.games.fantasmagoria.actions import FIRST_PILE
from phantom_envs.games.fantasmagoria.components import (
    BELLE_ANNA,
    BELLE_ANNA_SCARES,
    BEYOND_DECKS,
    CANDELABRUM,
    CANDELABRUM_SCARES,
    CUP,
    CUP_CARD,
    CURSED,
    DEALT,
    FILIPI_GOAT,
    GHOSTS,
    GOAT_LIMIT,
    LUCKY_CAT,
    LUCKY_CAT_SCARES,
    MAX_PLAYERS,
    NUM_NUMBERS,
    NUM_ROUNDS,
    NUM_SUITS,
    NUMBER_CARDS,
    NUMBER_OF,
    PILE_SIZE,
    RITUAL_DECKS,
    SCARY,
    SUIT_CARDS,
    SUIT_OF,
)
from phantom_envs.games.fantasmagoria.state import HAUNT, OVER, PLAY, SACRIFICE


@jit
def deal(s: Record) -> None:
    """Set up a new game."""
    s["round"] = 1
    deal_round(s)


@jit
def deal_round(s: Record) -> None:
    """Make the piles, deal eleven ritual cards to each, and ask seat 0 to sacrifice."""
    players = int(s["num_players"])
    for seat in range(MAX_PLAYERS):
        s["hands"][seat] = EMPTY
        s["piles"][seat] = EMPTY
        s["sacrificed"][seat] = EMPTY
        s["lying"][seat] = EMPTY
        s["shown"][seat] = EMPTY
        s["played"][seat] = EMPTY
        s["won"][seat] = EMPTY
    deal_out(s, BEYOND_DECKS[players], PILE_SIZE, s["piles"])
    deal_out(s, RITUAL_DECKS[players], DEALT, s["hands"])
    for digit in range(4):
        s["played_in"][digit] = EMPTY
    s["taken"] = EMPTY
    s["voids"] = EMPTY
    s["imprisoned"] = EMPTY
    s["possessed"] = 0
    s["piles_left"] = (1 << players) - 1
    s["trump"] = 0
    s["trick"] = 1
    start_trick(s, 0)
    s["leader"] = -1
    s["phase"] = SACRIFICE


@jit
def deal_out(s: Record, deck: Any, size: int, receivers: Any) -> None:
    """Shuffle the set `deck` and give `size` cards, which is all, to each of `receivers` that takes part."""
    cards = s["deck"]
    total = 0
    while deck != EMPTY:
        cards[total] = lowest(deck)
        deck = drop_lowest(deck)
        total += 1
    shuffle(s["rng"], cards, total)
    for seat in range(int(s["num_players"])):
        dealt = EMPTY
        for position in range(seat * size, (seat + 1) * size):
            dealt |= bit(cards[position])
            cards[position] = 0  # or the order would give the deal away in a redrawn state
        receivers[seat] = dealt


@jit
def legal(s: Record, words: Any) -> None:
    """The cards the seat to act may sacrifice or play, or the piles it may take."""
    phase = int(s["phase"])
    if phase == OVER:
        words[0] = EMPTY
    elif phase == HAUNT:
        words[0] = np.uint64(s["piles_left"]) << np.uint64(FIRST_PILE)
    elif phase == SACRIFICE:
        words[0] = s["hands"][int(s["seat"])] & ~CURSED
    else:
        words[0] = playable(s, s["hands"][int(s["seat"])])


@jit
def playable(s: Record, hand: Any) -> Any:
    """The cards of `hand` that may be played now: follow suit if possible, or set the suit; the cup always may be."""
    lead_suit = int(s["lead_suit"])
    if lead_suit >= 0:
        following = hand & SUIT_CARDS[lead_suit]
        return hand if following == EMPTY else following | (hand & CUP_CARD)
    if all_possessed(s):
        return hand
    return hand & ~GHOSTS  # R6, R7: there always is another card, and it is not the cup


@jit
def all_possessed(s: Record) -> bool:
    """Whether every player has been possessed this round."""
    return int(s["possessed"]) == (1 << int(s["num_players"])) - 1


@jit
def apply(s: Record, action: int) -> None:
    """Sacrifice or play card `action`, or take pile `action - FIRST_PILE`."""
    if int(s["phase"]) == PLAY:
        play(s, action)
    elif int(s["phase"]) == HAUNT:
        haunt(s, action - FIRST_PILE)
    else:
        sacrifice(s, action)


@jit
def sacrifice(s: Record, card: int) -> None:
    """Lay a card aside in secret; the last one reveals all."""
    seat = int(s["seat"])
    s["hands"][seat] &= ~bit(card)
    s["sacrificed"][seat] = bit(card)
    if seat + 1 < int(s["num_players"]):
        s["seat"] = seat + 1
    else:
        reveal(s)


@jit
def reveal(s: Record) -> None:
    """Put the sacrificed cards on the piles (R5); the lowest number, of equal ones the lowest suit, leads (R4)."""
    best = -1
    best_rank = NUM_NUMBERS * NUM_SUITS + NUM_SUITS
    for seat in range(int(s["num_players"])):
        card = lowest(s["sacrificed"][seat])
        s["lying"][seat] = s["sacrificed"][seat]
        rank = NUM_SUITS * NUMBER_OF[card] + SUIT_OF[card]
        if rank < best_rank:
            best_rank = rank
            best = seat
    s["trump"] = NUMBER_OF[lowest(s["sacrificed"][best])]
    start_trick(s, best)


@jit
def start_trick(s: Record, leader: int) -> None:
    """Ask `leader` for the first card of a trick."""
    s["table"] = EMPTY
    s["table_suits"] = EMPTY
    s["table_numbers"] = EMPTY
    s["on_table"] = 0
    s["trump_moved"] = 0
    s["lead_suit"] = -1
    s["leader"] = leader
    s["seat"] = leader
    s["phase"] = PLAY


@jit
def play(s: Record, card: int) -> None:
    """Play a card into the trick; whoever first plays another suit than the lead suit is possessed."""
    seat = int(s["seat"])
    trick = int(s["trick"])
    suit = SUIT_OF[card]
    here = bit(card)
    s["hands"][seat] &= ~here
    s["shown"][seat] &= ~here
    s["played"][seat] |= here
    for digit in range(4):
        if trick >> digit & 1:
            s["played_in"][digit] |= here
    s["table"] |= here
    s["table_suits"] |= bit((NUM_SUITS + 1) * seat + suit)
    s["tricks"][trick - 1, int(s["on_table"])] = card
    s["on_table"] += 1
    if card != CUP:
        s["table_numbers"] |= bit(NUM_NUMBERS * seat + NUMBER_OF[card] - 1)
        if int(s["lead_suit"]) < 0:
            s["lead_suit"] = suit  # R7: by the leader, or behind a cup that was led
        elif suit != int(s["lead_suit"]):
            s["voids"] |= bit(NUM_SUITS * seat + int(s["lead_suit"]))
            if not int(s["possessed"]) >> seat & 1:
                possess(s, seat, NUMBER_OF[card])
                return
    pass_on(s, seat)


@jit
def possess(s: Record, seat: int, number: int) -> None:
    """Move the trump by the first possession of a trick (R13), and ask which pile to take."""
    s["possessed"] |= 1 << seat
    if not s["trump_moved"]:
        s["trump"] = number
        s["trump_moved"] = 1
    s["phase"] = HAUNT


@jit
def haunt(s: Record, pile: int) -> None:
    """Take a pile with the sacrificed card on it into the hand; the trick goes on."""
    seat = int(s["seat"])
    s["hands"][seat] |= s["piles"][pile] | s["lying"][pile]
    s["shown"][seat] = s["lying"][pile]
    s["piles"][pile] = EMPTY
    s["lying"][pile] = EMPTY
    s["piles_left"] ^= 1 << pile
    s["taken"] |= bit(int(s["num_players"]) * seat + pile)
    s["phase"] = PLAY
    pass_on(s, seat)


@jit
def pass_on(s: Record, seat: int) -> None:
    """Pass the turn on from `seat`, or end the trick."""
    players = int(s["num_players"])
    if int(s["on_table"]) == players:
        end_trick(s)
    else:
        s["seat"] = seat + 1 if seat + 1 < players else 0


@jit
def end_trick(s: Record) -> None:
    """Give the trick to its winner, and go on to the next one or to the scoring."""
    winner = trick_winner(s)
    freed = s["imprisoned"]
    s["imprisoned"] = s["table"] & SCARY if has(s["table"], CUP) else EMPTY  # R9
    s["won"][winner] |= (s["table"] & ~s["imprisoned"]) | freed  # R14: the cup too
    s["trick_winners"][int(s["trick"]) - 1] = winner
    for seat in range(int(s["num_players"])):
        if s["hands"][seat] == EMPTY:
            score_round(s)
            return
    s["trick"] += 1
    start_trick(s, winner)


@jit
def trick_winner(s: Record) -> int:
    """Who played the first card with the trump number, or else the highest of the lead suit."""
    best = -1
    if (s["table"] & NUMBER_CARDS[int(s["trump"])]) == EMPTY:
        best = highest(s["table"] & SUIT_CARDS[int(s["lead_suit"])])
    position = 0
    card = int(s["tricks"][int(s["trick"]) - 1, 0])
    while card != best and NUMBER_OF[card] != int(s["trump"]):
        position += 1
        card = int(s["tricks"][int(s["trick"]) - 1, position])
    winner = int(s["leader"]) + position
    return winner if winner < int(s["num_players"]) else winner - int(s["num_players"])


@jit
def scares(pile: Any) -> int:
    """What the won cards `pile` count; the cup counts nothing (R10)."""
    ghosts = count(pile & GHOSTS)
    total = ghosts
    if has(pile, FILIPI_GOAT):  # R11: in whatever way it came into the pile
        if ghosts > GOAT_LIMIT:
            return 0
        total += ghosts
    if has(pile, LUCKY_CAT):
        total += LUCKY_CAT_SCARES
    if has(pile, CANDELABRUM):
        total += CANDELABRUM_SCARES
    if has(pile, BELLE_ANNA):
        total += BELLE_ANNA_SCARES
    return total


@jit
def score_round(s: Record) -> None:
    """Book the round, then end the game or deal the next round (R17)."""
    for seat in range(int(s["num_players"])):
        s["won"][seat] |= s["hands"][seat]
        s["hands"][seat] = EMPTY
        s["shown"][seat] = EMPTY
        total = scares(s["won"][seat])
        s["points"][seat] = total
        s["last_scares"][seat] = total
        s["scores"][seat] += total
    if int(s["round"]) < NUM_ROUNDS:
        s["round"] += 1
        deal_round(s)
    else:
        end_game(s)


@jit
def end_game(s: Record) -> None:
    """The lowest total wins; ties share (R15). Scores may be negative (R12)."""
    players = int(s["num_players"])
    best = int(s["scores"][0])
    for seat in range(1, players):
        best = min(best, int(s["scores"][seat]))
    winners = 0
    for seat in range(players):
        if int(s["scores"][seat]) == best:
            winners |= 1 << seat
    start_trick(s, -1)
    s["winners"] = winners
    s["status"] = TERMINATED
    s["phase"] = OVER
