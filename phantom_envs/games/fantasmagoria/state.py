"""The record that is a game of Fantasmagória. Seats are absolute; -1 means none. Seats not in the game hold nothing."""

from __future__ import annotations

import numpy as np

from phantom_envs.core.game import HEADER, state_dtype
from phantom_envs.games.fantasmagoria.components import MAX_PLAYERS, MAX_TRICKS, NUM_CARDS

SACRIFICE, PLAY, HAUNT, OVER = 0, 1, 2, 3
PHASES = ("sacrifice", "play", "haunt", "over")

STATE = state_dtype(
    [
        *HEADER,
        ("phase", np.int8),  # SACRIFICE, PLAY, HAUNT or OVER
        ("round", np.int8),  # 1-3
        ("trick", np.int8),  # 1-14, 1 in phase SACRIFICE
        ("trump", np.int8),  # number that beats the lead suit, 0 in phase SACRIFICE
        ("trump_moved", np.int8),  # 1 if somebody has been possessed in this trick (R13)
        ("leader", np.int8),  # seat that leads this trick, -1 in phase SACRIFICE and when over
        ("lead_suit", np.int8),  # suit to follow, -1 while it is not set
        ("on_table", np.int8),  # cards played in this trick
        ("possessed", np.uint8),  # set of the seats possessed this round
        ("piles_left", np.uint8),  # set of the piles not taken yet; pile i holds what seat i sacrificed
        ("hands", np.uint64, (MAX_PLAYERS,)),  # per seat, cards in hand
        ("piles", np.uint64, (MAX_PLAYERS,)),  # per pile, its three beyond cards, empty once taken
        ("sacrificed", np.uint64, (MAX_PLAYERS,)),  # per seat, the card sacrificed this round, wherever it is now
        ("lying", np.uint64, (MAX_PLAYERS,)),  # per pile, the revealed card on it, empty before and once taken
        ("shown", np.uint64, (MAX_PLAYERS,)),  # per seat, the sacrificed card that all know in its hand
        ("table", np.uint64),  # cards of this trick
        ("table_suits", np.uint64),  # the same: bit 6 × seat + suit, the cup being suit 5
        ("table_numbers", np.uint64),  # the same: bit 11 × seat + number - 1, none for the cup
        ("taken", np.uint64),  # who took which pile: bit num_players × seat + pile
        ("voids", np.uint64),  # suits shown to lack this round: bit 5 × seat + suit
        ("played", np.uint64, (MAX_PLAYERS,)),  # per seat, cards played this round
        ("played_in", np.uint64, (4,)),  # cards whose trick this round has binary digit 1, 2, 4, 8
        ("won", np.uint64, (MAX_PLAYERS,)),  # per seat, cards won this round; when over with those left in hand
        ("imprisoned", np.uint64),  # cards on the cup
        ("tricks", np.int8, (MAX_TRICKS, MAX_PLAYERS)),  # per trick of the round so far, its cards in order of play
        ("trick_winners", np.int8, (MAX_TRICKS,)),  # per finished trick of the round, the seat that won it
        ("deck", np.int8, (NUM_CARDS,)),  # room to shuffle in, all zero between deals
        ("scores", np.int16, (MAX_PLAYERS,)),  # per seat, scares so far
        ("last_scares", np.int16, (MAX_PLAYERS,)),  # per seat, scares of the last finished round
    ]
)
