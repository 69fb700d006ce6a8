"""What a seat knows in Phantom Trick, as named blocks, in the frame of the seat (0: itself, then clockwise)."""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY, bit, has, shifted, spread, spread_numbers
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.core.layout import Block, Layout, offsets
from phantom_envs.games.phantom_trick.components import (
    DECKS,
    HAND_SIZE,
    MAX_PILE,
    MAX_SCORE,
    NUM_CARDS,
    NUM_ROUNDS,
    NUM_SUITS,
    NUM_TRICKS,
    NUM_VALUES,
    PLAYERS,
)
from phantom_envs.games.phantom_trick.state import PLACE

VALUES = np.uint64((1 << NUM_VALUES) - 1)
EVERY_SUIT = np.uint64(sum(1 << NUM_VALUES * suit for suit in range(NUM_SUITS)))
LOWEST_SCORE = -100  # a row costs 12 a round: scores stay far above


def layout(num_players: int) -> Layout:
    """The blocks of an observation with `num_players` players.

    The `card_…` blocks are the columns of a table with a row per card, in the order of the actions. Four of them say
    what other blocks imply about the card's value: what networks are slow to work out.
    """
    p = num_players

    def cards(name: str, high: int, meaning: str) -> Block:
        return Block(f"card_{name}", (NUM_CARDS,), 0, high, meaning, actions=(0, NUM_CARDS))

    return Layout(
        Block("to_act", (p,), 0, 1, "who is to act"),
        Block("first", (p,), 0, 1, "who played, or is to play, the first card of this trick"),
        Block("leader", (p,), 0, 1, "who leads now"),
        Block("table_up", (p,), 0, 1, "whose card of this trick lies face-up"),
        Block("phase", (3,), 0, 1, "place, play or take"),
        Block("round", (NUM_ROUNDS,), 0, 1, "round 1, 2 or 3"),
        Block("leader_suit", (NUM_SUITS,), 0, 1, "suit to follow, none while the leader has not played"),
        Block("table_suit", (p, NUM_SUITS), 0, 1, "suit each has played to this trick"),
        Block("voids", (p, NUM_SUITS), 0, 1, "suits each has shown to lack this round"),
        Block("table_value", (p, NUM_VALUES), 0, 1, "value each has played to this trick"),
        Block("row_value", (p, NUM_VALUES), 0, 1, "values in each row; the own card from the laying on"),
        cards("hand", 1, "in the own hand"),
        cards("known", 1, "seen by all this round: laid and revealed, or played; or laid by oneself"),
        cards("face_up", 1, "face-up in this trick"),
        cards("vanished", 1, "turned face-down this round"),
        cards("owner", p, "1 + who has it in row or pile, 0 for nobody"),
        cards("played_by", p, "1 + who played it this round, 0 for nobody"),
        cards("played_in", NUM_TRICKS, "trick it was played in this round, 0 for none"),
        cards("twin", 1, "its value lies face-up in this trick: it would vanish"),
        cards("pair", 1, "its value is in the own row: taken, it would make a pair"),
        cards("wanted", p - 1, "other rows that hold its value"),
        cards("unseen", NUM_SUITS, "cards of its value that are neither known nor in the own hand"),
        Block("scores", (p,), LOWEST_SCORE, MAX_SCORE, "scores"),
        Block("last_gain", (p,), -HAND_SIZE, MAX_PILE, "pile minus row of the last finished round"),
        Block("pile_size", (p,), 0, MAX_PILE, "cards in each pile"),
        Block("trick", (1,), 1, NUM_TRICKS, "number of the trick"),
    )


AT = offsets(layout, PLAYERS)


@jit
def observe(s: Record, seat: int, out: Any) -> None:
    """Write the observation of `seat`; see `layout`. Blocks narrower than 64 are overwritten behind their end."""
    players = int(s["num_players"])
    to_act, first, leader, up = EMPTY, EMPTY, EMPTY, EMPTY
    suits, voids, values, rows = EMPTY, EMPTY, EMPTY, EMPTY
    owner_1, owner_2, owner_4 = EMPTY, EMPTY, EMPTY
    player_1, player_2, player_4 = EMPTY, EMPTY, EMPTY
    for offset in range(players):
        other = seat + offset
        if other >= players:
            other -= players
        if other == s["seat"]:
            to_act = bit(offset)
        if other == s["first"]:
            first = bit(offset)
        if other == s["leader"]:
            leader = bit(offset)
        card = int(s["table"][other])
        if card >= 0:
            suit = card // NUM_VALUES
            suits |= bit(NUM_SUITS * offset + suit)
            values |= bit(NUM_VALUES * offset + card - NUM_VALUES * suit)
            if has(s["face_up"], card):
                up |= bit(offset)
        voids |= np.uint64(s["voids"][other]) << np.uint64(NUM_SUITS * offset)
        rows |= np.uint64(s["row_values"][other]) << np.uint64(NUM_VALUES * offset)
        if offset + 1 & 1:
            owner_1 |= s["owned"][other]
            player_1 |= s["played"][other]
        if offset + 1 & 2:
            owner_2 |= s["owned"][other]
            player_2 |= s["played"][other]
        if offset + 1 & 4:
            owner_4 |= s["owned"][other]
            player_4 |= s["played"][other]
    own = int(s["placed"][seat])
    known = s["known"]
    laid = s["phase"] == PLACE and own >= 0
    if laid:
        known |= bit(own)
        rows |= bit(own % NUM_VALUES)
        owner_1 |= bit(own)

    at = AT[players]
    flags = to_act | shifted(first, at["first"]) | shifted(leader, at["leader"]) | shifted(up, at["table_up"])
    if int(s["phase"]) < 3:
        flags |= bit(at["phase"] + int(s["phase"]))
    flags |= bit(at["round"] + int(s["round"]) - 1)
    if s["leader_suit"] >= 0:
        flags |= bit(at["leader_suit"] + int(s["leader_suit"]))
    spread(out, at["to_act"], flags)
    spread(out, at["table_suit"], suits | shifted(voids, at["voids"] - at["table_suit"]))
    spread(out, at["table_value"], values)
    spread(out, at["row_value"], rows)
    spread(out, at["card_hand"], s["hands"][seat])
    spread(out, at["card_known"], known)
    spread(out, at["card_face_up"], s["face_up"])
    spread(out, at["card_vanished"], s["vanished"])
    spread_numbers(out, at["card_owner"], owner_1, owner_2, owner_4, EMPTY)
    spread_numbers(out, at["card_played_by"], player_1, player_2, player_4, EMPTY)
    tricks = s["played_in"]
    spread_numbers(out, at["card_played_in"], tricks[0], tricks[1], tricks[2], tricks[3])
    spread(out, at["card_twin"], in_all_suits(values_of(s["face_up"])))
    spread(out, at["card_pair"], in_all_suits(rows & VALUES))
    ones, twos, fours = count_by_value(rows >> np.uint64(NUM_VALUES))
    spread_numbers(out, at["card_wanted"], ones, twos, fours, EMPTY)
    ones, twos, fours = count_by_value(DECKS[players] & ~(known | s["hands"][seat]))
    spread_numbers(out, at["card_unseen"], ones, twos, fours, EMPTY)
    for offset in range(players):
        other = seat + offset
        if other >= players:
            other -= players
        out[at["scores"] + offset] = max(s["scores"][other], LOWEST_SCORE)
        out[at["last_gain"] + offset] = s["last_gain"][other]
        out[at["pile_size"] + offset] = s["pile_size"][other]
    out[at["trick"]] = s["trick"]


@jit
def values_of(cards: Any) -> Any:
    """The set of values, as numbers 0-11, that some card of the set has."""
    either = cards | cards >> np.uint64(NUM_VALUES)
    either |= cards >> np.uint64(2 * NUM_VALUES)
    either |= cards >> np.uint64(3 * NUM_VALUES)
    return (either | cards >> np.uint64(4 * NUM_VALUES)) & VALUES


@jit
def in_all_suits(values: Any) -> Any:
    """All cards that have one of the values (numbers 0-11); no carry, for the fields do not overlap."""
    return values * EVERY_SUIT


@jit
def count_by_value(cards: Any) -> Any:
    """How many cards of the set have the value of a card, for every card: the cards whose number has digit 1, 2, 4.

    The five fields of twelve bits are added up digit by digit, all values at once.
    """
    ones, twos, fours = EMPTY, EMPTY, EMPTY
    for suit in range(NUM_SUITS):
        field = cards >> np.uint64(NUM_VALUES * suit) & VALUES
        carry = ones & field
        ones ^= field
        fours |= twos & carry
        twos ^= carry
    return in_all_suits(ones), in_all_suits(twos), in_all_suits(fours)
