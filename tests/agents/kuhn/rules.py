"""The record and the compiled functions of Kuhn poker."""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.bits import EMPTY, bit
from phantom_envs.core.game import HEADER, TERMINATED, Record, state_dtype
from phantom_envs.core.jit import jit
from phantom_envs.core.rng import below

PASS, BET = 0, 1
CARDS = ("jack", "queen", "king")

STATE = state_dtype(
    [
        *HEADER,
        ("cards", np.int8, (2,)),  # per seat, 0 jack, 1 queen, 2 king
        ("decisions", np.int8),  # made so far
        ("bets", np.int8, (3,)),  # per decision so far, PASS or BET; 0 behind the last
    ]
)


@jit
def deal(s: Record) -> None:
    """One card to each."""
    s["cards"][0] = below(s["rng"], 3)
    s["cards"][1] = (int(s["cards"][0]) + 1 + below(s["rng"], 2)) % 3
    s["decisions"] = 0
    s["bets"][:] = 0


@jit
def legal(s: Record, words: Any) -> None:
    """Both actions, as long as the game goes on."""
    words[0] = EMPTY if int(s["seat"]) < 0 else bit(PASS) | bit(BET)


@jit
def apply(s: Record, action: int) -> None:
    """Pass or bet; a fold, a call or two passes end the game."""
    actor = int(s["seat"])
    made = int(s["decisions"])
    faced = made > 0 and int(s["bets"][made - 1]) == BET
    s["bets"][made] = action
    s["decisions"] = made + 1
    if not faced and (action == BET or made == 0):
        s["seat"] = 1 - actor
        return
    if faced and action == PASS:
        winner, stake = 1 - actor, 1
    else:
        winner, stake = int(s["cards"][1] > s["cards"][0]), 2 if faced else 1
    s["points"][winner] = stake
    s["points"][1 - winner] = -stake
    s["winners"] = 1 << winner
    s["status"] = TERMINATED
    s["seat"] = -1


@jit
def observe(s: Record, seat: int, out: Any) -> None:
    """The own card, and who did what."""
    out[:] = 0
    out[int(s["cards"][seat])] = 1
    for decision in range(int(s["decisions"])):
        out[3 + 2 * decision + int(s["bets"][decision])] = 1


@jit
def resample(s: Record, seat: int) -> None:
    """The other's card: both that are left are equally likely."""
    s["cards"][1 - seat] = (int(s["cards"][seat]) + 1 + below(s["rng"], 2)) % 3


@jit
def rule_action(s: Record, words: Any) -> int:
    """Bet and call with the king."""
    return BET if int(s["cards"][int(s["seat"])]) == 2 else PASS
