"""Kuhn poker, the smallest game of cards held back, as a game of the house.

H. W. Kuhn, "A simplified two-person poker" (1950). Both ante 1; jack, queen, king, one to each. Seat 0 passes or bets
1; who faces a bet folds (pass) or calls (bet); after a first pass seat 1 may bet. Points are chips won, so that they
are the returns of OpenSpiel's `kuhn_poker`, whose actions these are.
"""

from __future__ import annotations

from phantom_envs.core.actions import Actions, group
from phantom_envs.core.game import Game, Option
from phantom_envs.core.layout import Block, Layout
from tests.agents.kuhn import rules
from tests.agents.kuhn.rules import CARDS, STATE

GAME = Game(
    name="kuhn",
    version=0,
    title="Kuhn Poker",
    summary="Three cards, two players, one bet.",
    players=(2,),
    default_players=2,
    options=(Option("reward", "score", "what is rewarded: chips, or winning", ("win", "score")),),
    reward_weights={"win": lambda players: (1.0, 0.0), "score": lambda players: (0.0, 1.0)},
    dtype=STATE,
    actions=Actions(group("pass", ["pass"], "pass, or fold"), group("bet", ["bet"], "bet 1, or call")),
    max_decisions=lambda players, options: 3,
    layout=lambda players: Layout(
        Block("card", (3,), 0, 1, "own card"),
        Block("bets", (3, 2), 0, 1, "per decision so far, pass or bet"),
    ),
    deal=rules.deal,
    legal=rules.legal,
    apply=rules.apply,
    observe=rules.observe,
    resample=rules.resample,
    rule_action=rules.rule_action,
    state_dict=lambda s: {
        "cards": [CARDS[card] for card in s["cards"]],
        "bets": [("pass", "bet")[bet] for bet in s["bets"][: s["decisions"]]],
        "to_act": int(s["seat"]),
    },
    picture=lambda s, seat, color: " ".join(
        CARDS[card] if seat in (None, owner) else "?" for owner, card in enumerate(s["cards"])
    ),
)
