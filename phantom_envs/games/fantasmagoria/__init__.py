"""Fantasmagória: a trick-taking game for 3-4 players with a moving trump number, ghosts, and few points wanted."""

from __future__ import annotations

from phantom_envs.core.game import Game, Option
from phantom_envs.games.fantasmagoria import belief, observation, rule_bot, rules, text
from phantom_envs.games.fantasmagoria.actions import ACTIONS
from phantom_envs.games.fantasmagoria.components import MAX_TRICKS, NUM_ROUNDS, PLAYERS, POINTS_SCALE
from phantom_envs.games.fantasmagoria.state import STATE

GAME = Game(
    name="fantasmagoria",
    version=0,
    title="Fantasmagória",
    summary="A trick-taking game with a moving trump number, in which ghosts are best left to others.",
    players=PLAYERS,
    default_players=4,
    options=(
        Option("reward", "win", "what is rewarded: winning the game, or few scares in each round", ("win", "score")),
    ),
    reward_weights={"win": lambda players: (1.0, 0.0), "score": lambda players: (0.0, -1.0 / POINTS_SCALE)},
    dtype=STATE,
    actions=ACTIONS,
    max_decisions=lambda players, options: NUM_ROUNDS * (MAX_TRICKS + 2) * players,  # R16
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
