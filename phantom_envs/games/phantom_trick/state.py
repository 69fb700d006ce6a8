"""The record that is a game of Phantom Trick. Seats are absolute; -1 means none."""

from __future__ import annotations

import numpy as np

from phantom_envs.core.game import HEADER, state_dtype
from phantom_envs.games.phantom_trick.components import HAND_SIZE, MAX_PILE, MAX_PLAYERS

PLACE, PLAY, TAKE, OVER = 0, 1, 2, 3
PHASES = ("place", "play", "take", "over")

STATE = state_dtype(
    [
        *HEADER,
        ("phase", np.int8),  # PLACE, PLAY, TAKE or OVER
        ("round", np.int8),  # 1-3
        ("trick", np.int8),  # 1-11, 1 in phase PLACE
        ("first", np.int8),  # seat that plays the first card of this trick, -1 in phase PLACE and when over
        ("leader", np.int8),  # seat that leads now, -1 in phase PLACE and when over
        ("leader_suit", np.int8),  # suit to follow, -1 while the leader has not played
        ("on_table", np.int8),  # cards played in this trick
        ("table", np.int8, (MAX_PLAYERS,)),  # per seat, card played in this trick, -1 if none
        ("face_up", np.uint64),  # cards of this trick that lie face-up
        ("hands", np.uint64, (MAX_PLAYERS,)),  # per seat, cards in hand
        ("unused", np.uint64),  # cards not dealt this round
        ("placed", np.int8, (MAX_PLAYERS,)),  # per seat, card laid in phase PLACE of this round, -1 before
        ("voids", np.uint8, (MAX_PLAYERS,)),  # per seat, set of suits shown to lack this round
        ("row_values", np.uint16, (MAX_PLAYERS,)),  # per seat, set of values in the row
        ("row_size", np.int8, (MAX_PLAYERS,)),  # per seat, cards in the row
        ("row", np.int8, (MAX_PLAYERS, HAND_SIZE)),  # per seat, cards in the row in the order they came
        ("pile_size", np.int8, (MAX_PLAYERS,)),  # per seat, cards in the pile
        ("pile", np.int8, (MAX_PLAYERS, MAX_PILE)),  # per seat, cards in the pile in the order they came
        ("known", np.uint64),  # cards that all have seen this round: laid and revealed, or played
        ("vanished", np.uint64),  # cards turned face-down this round
        ("owned", np.uint64, (MAX_PLAYERS,)),  # per seat, cards in row or pile
        ("played", np.uint64, (MAX_PLAYERS,)),  # per seat, cards played this round
        (
            "played_in",
            np.uint64,
            (4,),
        ),  # the trick a card was played in: cards whose number has binary digit 1, 2, 4, 8
        ("deck", np.int8, (64,)),  # room to shuffle in, all zero between deals
        ("scores", np.int16, (MAX_PLAYERS,)),  # per seat
        ("last_gain", np.int16, (MAX_PLAYERS,)),  # per seat, pile minus row of the last finished round
    ]
)
