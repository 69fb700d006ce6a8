"""Phantom Trick: a trick-taking game for 3-5 players in which equal cards make each other vanish."""

from __future__ import annotations

from phantom_envs.core.game import Game, Option
from phantom_envs.games.phantom_trick import belief, observation, rule_bot, rules, text
from phantom_envs.games.phantom_trick.actions import ACTIONS
from phantom_envs.games.phantom_trick.components import (
    HAND_SIZE,
    NUM_ROUNDS,
    NUM_TRICKS,
    PLAYERS,
    POINTS_SCALE,
)
from phantom_envs.games.phantom_trick.state import STATE

GAME = Game(
    name="phantom_trick",
    version=0,
    title="Phantom Trick",
    summary="A trick-taking game in which equal cards make each other vanish.",
    players=PLAYERS,
    default_players=4,
    options=(
        Option("reward", "win", "what is rewarded: winning the game, or the points of each round", ("win", "score")),
    ),
    reward_weights={"win": lambda players: (1.0, 0.0), "score": lambda players: (0.0, 1.0 / POINTS_SCALE)},
    dtype=STATE,
    actions=ACTIONS,
    max_decisions=lambda players, options: NUM_ROUNDS * (HAND_SIZE * players + NUM_TRICKS),
    layout=observation.layout,
    deal=rules.deal,
    legal=rules.legal,
    apply=rules.apply,
    observe=observation.observe,
    resample=belief.resample,
    rule_action=rule_bot.rule_action,
    state_dict=text.state_dict,
    picture=text.picture,
    deal_field="round",
    secret=text.secret,
)
