"""What a seat knows in Fantasmagória, as named blocks, in the frame of the seat (0: itself, then clockwise).

Piles keep their numbers, since the actions name them; `own_number` ties the two together: pile i is under the card
that seat i sacrificed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY, bit, count, first_n, has, shifted, spread, spread_numbers
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.core.layout import Block, Layout, offsets
from phantom_envs.games.fantasmagoria.components import (
    BEYOND,
    CUP,
    MAX_HAND,
    MAX_TRICKS,
    NUM_CARDS,
    NUM_NUMBERS,
    NUM_ROUNDS,
    NUM_SUITS,
    PILE_SIZE,
    PLAYERS,
)
from phantom_envs.games.fantasmagoria.state import OVER, SACRIFICE

LEAST_SCARES, MOST_SCARES = -3, 18  # of a round: the Lucky Cat alone; six ghosts, all cursed cards but that one
"""Bounds of a round's scares."""


def layout(num_players: int) -> Layout:
    """The blocks of an observation with `num_players` players.

    The `card_…` blocks are the columns of a table with a row per card, in the order of the actions.
    """
    p = num_players

    def cards(name: str, high: int, meaning: str) -> Block:
        return Block(f"card_{name}", (NUM_CARDS,), 0, high, meaning, actions=(0, NUM_CARDS))

    return Layout(
        Block("own_number", (p,), 0, 1, "number of the own seat, which is also that of the own pile"),
        Block("to_act", (p,), 0, 1, "who is to act"),
        Block("leader", (p,), 0, 1, "who leads this trick"),
        Block("possessed", (p,), 0, 1, "who has been possessed this round"),
        Block("voids", (p, NUM_SUITS), 0, 1, "suits each has shown to lack this round"),
        Block("phase", (3,), 0, 1, "sacrifice, play or haunt"),
        Block("round", (NUM_ROUNDS,), 0, 1, "round 1, 2 or 3"),
        Block("lead_suit", (NUM_SUITS,), 0, 1, "suit to follow, none while it is not set"),
        Block("trump", (NUM_NUMBERS,), 0, 1, "trump number, none before the sacrificed cards are revealed"),
        Block("trump_moved", (1,), 0, 1, "whether somebody has been possessed in this trick"),
        Block("cup_trick", (1,), 0, 1, "whether the cup is on the table"),
        Block("taken", (p, p), 0, 1, "which pile each has taken, the piles by their numbers"),
        Block("table_suit", (p, NUM_SUITS + 1), 0, 1, "suit each has played to this trick; the last is the cup"),
        Block("table_number", (p, NUM_NUMBERS), 0, 1, "number each has played to this trick"),
        cards("hand", 1, "in the own hand"),
        cards("imprisoned", 1, "on the cup"),
        cards("sacrificed_by", p, "1 + who sacrificed it this round, 0 for nobody (known)"),
        cards("on_pile", p, "1 + number of the pile it lies face-up on, 0 for none"),
        cards("held_by", p, "1 + who is known to hold it since taking it with a pile, 0 for nobody"),
        cards("won_by", p, "1 + who won it this round, 0 for nobody"),
        cards("played_by", p, "1 + who played it this round, 0 for nobody"),
        cards("played_in", MAX_TRICKS, "trick it was played in this round, 0 for none"),
        Block("scores", (p,), NUM_ROUNDS * LEAST_SCARES, NUM_ROUNDS * MOST_SCARES, "scares so far"),
        Block("last_scares", (p,), LEAST_SCARES, MOST_SCARES, "scares of the last finished round"),
        Block("hand_size", (p,), 0, MAX_HAND, "cards in each hand"),
        Block("hand_beyond", (p,), 0, PILE_SIZE, "beyond cards in each hand"),
        Block("trick", (1,), 1, MAX_TRICKS, "number of the trick"),
    )


AT = offsets(layout, PLAYERS)


@jit
def turned(members: Any, seat: int, players: int, width: int) -> Any:
    """A set with `width` bits a seat, turned so that the bits of `seat` come first."""
    behind = members >> np.uint64(width * seat)
    return (behind | members << np.uint64(width * (players - seat))) & first_n(width * players)


@jit
def spread_holders(out: Any, start: int, sets: Any, first: int, second: int, third: int, fourth: int) -> None:
    """Write per card which of the four of `sets`, by index, it is in: 1 to 4, or 0 for none."""
    spread_numbers(out, start, sets[first] | sets[third], sets[second] | sets[third], sets[fourth], EMPTY)


@jit
def observe(s: Record, seat: int, out: Any) -> None:
    """Write the observation of `seat`; see `layout`. Blocks narrower than 64 are overwritten behind their end."""
    players = int(s["num_players"])
    second = seat + 1 if seat + 1 < players else seat + 1 - players
    third = seat + 2 if seat + 2 < players else seat + 2 - players
    # With three players the fourth is the seat that is not in the game: all of its sets are empty.
    fourth = 3 if players == 3 or seat == 0 else seat - 1

    at = AT[players]
    flags = bit(seat)
    if int(s["seat"]) >= 0:
        flags |= shifted(turned(bit(int(s["seat"])), seat, players, 1), at["to_act"])
    if int(s["leader"]) >= 0:
        flags |= shifted(turned(bit(int(s["leader"])), seat, players, 1), at["leader"])
    flags |= shifted(turned(np.uint64(s["possessed"]), seat, players, 1), at["possessed"])
    flags |= shifted(turned(s["voids"], seat, players, NUM_SUITS), at["voids"])
    if int(s["phase"]) != OVER:
        flags |= bit(at["phase"] + int(s["phase"]))
    flags |= bit(at["round"] + int(s["round"]) - 1)
    if int(s["lead_suit"]) >= 0:
        flags |= bit(at["lead_suit"] + int(s["lead_suit"]))
    if int(s["trump"]) > 0:
        flags |= bit(at["trump"] + int(s["trump"]) - 1)
    if s["trump_moved"]:
        flags |= bit(at["trump_moved"])
    if has(s["table"], CUP):
        flags |= bit(at["cup_trick"])
    spread(out, at["own_number"], flags)
    taken = turned(s["taken"], seat, players, players)
    suits = turned(s["table_suits"], seat, players, NUM_SUITS + 1)
    spread(out, at["taken"], taken | shifted(suits, at["table_suit"] - at["taken"]))
    spread(out, at["table_number"], turned(s["table_numbers"], seat, players, NUM_NUMBERS))

    spread(out, at["card_hand"], s["hands"][seat])
    spread(out, at["card_imprisoned"], s["imprisoned"])
    if int(s["phase"]) == SACRIFICE:
        spread(out, at["card_sacrificed_by"], s["sacrificed"][seat])
    else:
        spread_holders(out, at["card_sacrificed_by"], s["sacrificed"], seat, second, third, fourth)
    spread_holders(out, at["card_on_pile"], s["lying"], 0, 1, 2, 3)
    spread_holders(out, at["card_held_by"], s["shown"], seat, second, third, fourth)
    spread_holders(out, at["card_won_by"], s["won"], seat, second, third, fourth)
    spread_holders(out, at["card_played_by"], s["played"], seat, second, third, fourth)
    tricks = s["played_in"]
    spread_numbers(out, at["card_played_in"], tricks[0], tricks[1], tricks[2], tricks[3])

    other = seat
    for offset in range(players):
        out[at["scores"] + offset] = s["scores"][other]
        out[at["last_scares"] + offset] = s["last_scares"][other]
        out[at["hand_size"] + offset] = count(s["hands"][other])
        out[at["hand_beyond"] + offset] = count(s["hands"][other] & BEYOND)
        other = other + 1 if other + 1 < players else 0
    out[at["trick"]] = s["trick"]
