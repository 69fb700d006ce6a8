"""The record that is a game of Das Phantom. Seats are absolute; -1 means none; boards are four words (see `hexes`)."""

from __future__ import annotations

import numpy as np

from phantom_envs.core.game import HEADER
from phantom_envs.games.das_phantom.components import (
    MAX_DISCARDS,
    MAX_PILE,
    MAX_PLAYERS,
    MAX_TILES,
    NUM_FACES,
    NUM_ITEMS,
    NUM_PILES,
    NUM_TILES,
)

PHASES = (
    "die",
    "move",
    "swift",
    "rob",
    "take",
    "after",
    "at",
    "toward",
    "swap-from",
    "swap-with",
    "shift-from",
    "shift-to",
    "haunt",
    "phantom",
    "chase",
    "over",
)
(
    DIE,
    MOVE,
    SWIFT,
    ROB,
    TAKE,
    AFTER,
    AT,
    TOWARD,
    SWAP_FROM,
    SWAP_WITH,
    SHIFT_FROM,
    SHIFT_TO,
    HAUNT,
    PHANTOM,
    CHASE,
    OVER,
) = range(16)

STATE = np.dtype(
    [
        *HEADER,
        ("paths", np.uint64, (4,)),  # board of the cells that are path now, special ones and laid paths included
        ("laid", np.uint64, (4,)),  # board of the cells covered by a hex
        ("roses_left", np.uint64, (4,)),  # board of the rose spaces that still have theirs
        ("exact", np.uint64, (4,)),  # phases MOVE and SWIFT: board of the ends of the move by exact count
        ("early", np.uint64, (4,)),  # phases MOVE and SWIFT: board of the further ends, stopping early
        ("max_rounds", np.int16),  # option: rounds until the game is cut off
        ("round", np.int16),  # 1 for the first
        ("phase", np.int8),  # DIE … OVER
        ("first", np.int8),  # first player of the round
        ("dice", np.int8, (NUM_FACES,)),  # per face, dice not yet chosen this round
        ("pawns", np.int16, (MAX_PLAYERS,)),  # per seat, cell of the pawn
        ("phantom", np.int16),  # place of the Phantom: cell, or 224 + room
        ("roses", np.int8, (MAX_PLAYERS,)),  # per seat, number of roses
        ("violins", np.uint8),  # set of the seats with a violin
        ("blocked", np.int16, (MAX_PLAYERS,)),  # per seat, count of blocked turns (R15)
        ("hands", np.int8, (MAX_PLAYERS, NUM_ITEMS)),  # per seat and kind, number in hand
        ("held", np.int8, (MAX_PLAYERS, NUM_PILES)),  # per seat and pile, number in hand
        ("pile_size", np.int8, (NUM_PILES,)),  # per pile, items left
        ("piles", np.int8, (NUM_PILES, MAX_PILE)),  # per pile, kinds of items, the next to draw last
        ("gone", np.int8, (NUM_ITEMS,)),  # per kind, number in neither hand nor pile
        ("discard_size", np.int8),  # cards in the magic discard pile
        ("discard", np.int8, (MAX_PILE,)),  # magic discard pile, in the order they came
        ("out_size", np.int8),  # discarded tiles
        ("out", np.int8, (MAX_TILES,)),  # discarded tiles, in the order they came
        ("out_count", np.int8, (NUM_TILES,)),  # per kind, discarded tiles
        # of the turn: -1, 0 or empty between turns, in the Phantom's phases and when over
        ("face", np.int8),  # face of the die whose move is to come, else -1
        ("swift", np.int8),  # phase SWIFT: 0 for swift-4, 1 for swift-6, else -1
        ("passage", np.int8),  # 1 if a passage is in force
        ("rolls", np.int8),  # black dice still to be rolled for further moves
        ("takes", np.int8),  # items still to be asked for; phase ROB: 1 if the die showed the mask
        ("met", np.int8),  # 1 if a meeting has had its effect
        ("torches", np.uint8),  # set of the torch spaces that served, by their order on the board
        ("fresh", np.int8, (NUM_ITEMS,)),  # per kind, items taken this turn and still in hand
        ("taken", np.int8, (NUM_PILES,)),  # per pile, items taken this turn
        ("num_dropped", np.int8),  # items discarded this turn
        ("dropped", np.int8, (MAX_DISCARDS,)),  # their kinds, in order; 0 behind the last
        (
            "taken_before",
            np.int8,
            (MAX_DISCARDS,),
        ),  # per item of `dropped`, items taken from its pile before it; 0 behind
        ("shifted", np.int8),  # 1 if a laid hex was shifted
        ("stuck", np.int8),  # 1 if the last die's move was `stay` while blocked, with no `go` after it
        ("using", np.int8),  # phases AT and TOWARD: kind of the tile being laid, else -1
        ("origin", np.int16),  # phases TOWARD, SWAP_WITH, SHIFT_TO: the cell chosen first, else -1
        # of the Phantom's move, else 0 or empty
        ("steps", np.int8),  # steps still to make
        ("num_to_chase", np.int8),  # pawns still to be chased on this space
        ("to_chase", np.int8, (MAX_PLAYERS,)),  # their seats, in order; 0 behind the last
        ("num_chased", np.int8),  # pawns chased in this move
        ("chased", np.int8, (MAX_PLAYERS,)),  # their seats, in order; 0 behind the last
    ],
    align=True,
)
