"""The rules of Phantom Trick; the rulings R1-R11 stand in docs/rules, later ones in docs/rulings."""

from __future__ import annotations

from typing import Any

from phantom_envs.core.bits import EMPTY, bit, drop_lowest, has, highest, lowest
from phantom_envs.core.game import TERMINATED, Record
from phantom_envs.core.jit import jit
from phantom_envs.core.rng import below, shuffle
from phantom_envs.games.phantom_trick.components import (
    DECKS,
    HAND_SIZE,
    MAX_PLAYERS,
    MAX_SCORE,
    NUM_ROUNDS,
    NUM_TRICKS,
    NUM_VALUES,
    START_SCORE,
    SUIT_CARDS,
    VALUE_CARDS,
)
from phantom_envs.games.phantom_trick.state import OVER, PLACE, PLAY, TAKE


@jit
def deal(s: Record) -> None:
    """Set up a new game."""
    s["round"] = 1
    for seat in range(int(s["num_players"])):
        s["scores"][seat] = START_SCORE
    deal_round(s)


@jit
def deal_round(s: Record) -> None:
    """Shuffle, deal twelve to each, and ask seat 0 to place."""
    players = int(s["num_players"])
    cards = s["deck"]
    size = 0
    deck = DECKS[players]
    while deck != EMPTY:
        cards[size] = lowest(deck)
        deck = drop_lowest(deck)
        size += 1
    shuffle(s["rng"], cards, size)
    for seat in range(MAX_PLAYERS):
        hand = EMPTY
        if seat < players:
            for position in range(seat * HAND_SIZE, (seat + 1) * HAND_SIZE):
                hand |= bit(cards[position])
        s["hands"][seat] = hand
        s["placed"][seat] = -1
        s["table"][seat] = -1
        s["voids"][seat] = 0
        s["row_values"][seat] = 0
        s["row_size"][seat] = 0
        s["pile_size"][seat] = 0
        s["owned"][seat] = EMPTY
        s["played"][seat] = EMPTY
    unused = EMPTY
    for position in range(players * HAND_SIZE, size):
        unused |= bit(cards[position])
    s["unused"] = unused
    for position in range(size):
        cards[position] = 0  # or the order would give the deal away in a redrawn state
    for digit in range(4):
        s["played_in"][digit] = EMPTY
    s["known"] = EMPTY
    s["vanished"] = EMPTY
    s["face_up"] = EMPTY
    s["on_table"] = 0
    s["trick"] = 1
    s["first"] = -1
    s["leader"] = -1
    s["leader_suit"] = -1
    s["phase"] = PLACE
    s["seat"] = 0


@jit
def legal(s: Record, words: Any) -> None:
    """The cards the seat to act may place, play or take."""
    phase = int(s["phase"])
    if phase == OVER:
        words[0] = EMPTY
    elif phase == TAKE:
        words[0] = s["face_up"]
    else:
        hand = s["hands"][int(s["seat"])]
        words[0] = hand
        if phase == PLAY and int(s["leader"]) != int(s["seat"]) and int(s["leader_suit"]) >= 0:
            following = hand & SUIT_CARDS[int(s["leader_suit"])]
            if following != EMPTY:
                words[0] = following


@jit
def apply(s: Record, action: int) -> None:
    """Place, play or take card `action`."""
    if int(s["phase"]) == PLAY:
        play(s, action)
    elif int(s["phase"]) == TAKE:
        take(s, action)
    else:
        place(s, action)


@jit
def place(s: Record, card: int) -> None:
    """Lay a card of the hand to the right of the summary card; the last one reveals all."""
    seat = int(s["seat"])
    s["hands"][seat] &= ~bit(card)
    s["placed"][seat] = card
    if seat + 1 < int(s["num_players"]):
        s["seat"] = seat + 1
        return
    for owner in range(int(s["num_players"])):
        s["known"] |= bit(int(s["placed"][owner]))
        add_to_row(s, owner, int(s["placed"][owner]))
    start_trick(s, first_leader(s))


@jit
def first_leader(s: Record) -> int:
    """Who laid the lowest value that nobody else laid; R1: a random player if all values are shared."""
    players = int(s["num_players"])
    best_value = NUM_VALUES
    best = -1
    for seat in range(players):
        value = int(s["placed"][seat]) % NUM_VALUES
        alone = True
        for other in range(players):
            if other != seat and int(s["placed"][other]) % NUM_VALUES == value:
                alone = False
        if alone and value < best_value:
            best_value = value
            best = seat
    if best < 0:
        best = below(s["rng"], players)
    return best


@jit
def start_trick(s: Record, leader: int) -> None:
    """Ask `leader` for the first card of a trick."""
    for seat in range(MAX_PLAYERS):
        s["table"][seat] = -1
    s["face_up"] = EMPTY
    s["on_table"] = 0
    s["first"] = leader
    s["leader"] = leader
    s["leader_suit"] = -1
    s["phase"] = PLAY
    s["seat"] = leader


@jit
def play(s: Record, card: int) -> None:
    """Play a card into the trick, let equal cards vanish, and pass the turn or end the trick."""
    seat = int(s["seat"])
    players = int(s["num_players"])
    suit = card // NUM_VALUES
    if seat == int(s["leader"]):
        s["leader_suit"] = suit  # R3: a new leader plays freely
    elif suit != int(s["leader_suit"]):
        s["voids"][seat] |= 1 << int(s["leader_suit"])
    s["hands"][seat] &= ~bit(card)
    s["table"][seat] = card
    s["played"][seat] |= bit(card)
    for digit in range(4):
        if int(s["trick"]) >> digit & 1:
            s["played_in"][digit] |= bit(card)
    s["known"] |= bit(card)
    s["on_table"] += 1
    # R2: only a face-up card of the same value makes a card vanish; at most one of a value is face-up
    twin = s["face_up"] & VALUE_CARDS[card % NUM_VALUES]
    if twin != EMPTY:
        s["face_up"] &= ~twin
        s["vanished"] |= twin | bit(card)
    else:
        s["face_up"] |= bit(card)
    if int(s["on_table"]) == players and s["face_up"] == EMPTY:
        collect_vanished(s)  # R5: nobody wins, the player of the first card leads again
        end_trick(s, int(s["first"]))
        return
    pass_leadership(s)
    if int(s["on_table"]) < players:
        s["seat"] = (seat + 1) % players
        return
    collect_vanished(s)
    best = highest(s["face_up"] & SUIT_CARDS[int(s["leader_suit"])])
    winner = int(s["leader"])
    while int(s["table"][winner]) != best:
        winner = winner + 1 if winner + 1 < players else 0
    s["seat"] = winner
    s["phase"] = TAKE


@jit
def pass_leadership(s: Record) -> None:
    """R3: from a leader whose card is face-down to the next player whose card is not."""
    leader = int(s["leader"])
    card = int(s["table"][leader])
    if card < 0 or has(s["face_up"], card):
        return
    while card >= 0 and not has(s["face_up"], card):
        leader = (leader + 1) % int(s["num_players"])
        card = int(s["table"][leader])
    s["leader"] = leader
    s["leader_suit"] = card // NUM_VALUES if card >= 0 else -1


@jit
def collect_vanished(s: Record) -> None:
    """R6: whose own card was turned face-down adds it to the pile."""
    for seat in range(int(s["num_players"])):
        card = int(s["table"][seat])
        if not has(s["face_up"], card):
            add_to_pile(s, seat, card)


@jit
def take(s: Record, card: int) -> None:
    """The winner takes a card into the row, or with its equal from the row into the pile."""
    seat = int(s["seat"])
    value = card % NUM_VALUES
    if int(s["row_values"][seat]) >> value & 1:
        add_to_pile(s, seat, remove_from_row(s, seat, value))
        add_to_pile(s, seat, card)
    else:
        add_to_row(s, seat, card)
    end_trick(s, seat)


@jit
def end_trick(s: Record, leader: int) -> None:
    """Go on to the next trick, or to the scoring after the eleventh."""
    if int(s["trick"]) == NUM_TRICKS:
        score_round(s)
    else:
        s["trick"] += 1
        start_trick(s, leader)


@jit
def score_round(s: Record) -> None:
    """Book the round (R7, R8), then end the game or deal the next round (R11)."""
    lowest_score = MAX_SCORE
    for seat in range(int(s["num_players"])):
        gain = int(s["pile_size"][seat]) - int(s["row_size"][seat])
        score = min(int(s["scores"][seat]) + gain, MAX_SCORE)
        s["points"][seat] = score - int(s["scores"][seat])
        s["scores"][seat] = score
        s["last_gain"][seat] = gain
        lowest_score = min(lowest_score, score)
    if lowest_score > 0 and s["round"] < NUM_ROUNDS:
        s["round"] += 1
        deal_round(s)
    else:
        end_game(s)


@jit
def end_game(s: Record) -> None:
    """The highest score wins, of those tied the highest gain of the last round (R9)."""
    best_score = -1000
    best_gain = -1000
    winners = 0
    for seat in range(int(s["num_players"])):
        score = int(s["scores"][seat])
        gain = s["last_gain"][seat]
        if score > best_score or (score == best_score and gain > best_gain):
            best_score = score
            best_gain = gain
            winners = 0
        if score == best_score and gain == best_gain:
            winners |= 1 << seat
        s["table"][seat] = -1
    s["winners"] = winners
    s["status"] = TERMINATED
    s["phase"] = OVER
    s["seat"] = -1
    s["first"] = -1
    s["leader"] = -1
    s["leader_suit"] = -1
    s["face_up"] = EMPTY
    s["on_table"] = 0


@jit
def add_to_row(s: Record, seat: int, card: int) -> None:
    """Put a card at the end of a row that does not hold its value."""
    s["row"][seat, int(s["row_size"][seat])] = card
    s["row_size"][seat] += 1
    s["row_values"][seat] |= 1 << (card % NUM_VALUES)
    s["owned"][seat] |= bit(card)


@jit
def remove_from_row(s: Record, seat: int, value: int) -> int:
    """Take the card of that value out of a row that holds it."""
    size = int(s["row_size"][seat])
    position = 0
    while int(s["row"][seat, position]) % NUM_VALUES != value:
        position += 1
    card = int(s["row"][seat, position])
    for later in range(position + 1, size):
        s["row"][seat, later - 1] = s["row"][seat, later]
    s["row_size"][seat] = size - 1
    s["row_values"][seat] ^= 1 << value
    return card


@jit
def add_to_pile(s: Record, seat: int, card: int) -> None:
    """Put a card on a pile."""
    s["pile"][seat, int(s["pile_size"][seat])] = card
    s["pile_size"][seat] += 1
    s["owned"][seat] |= bit(card)
