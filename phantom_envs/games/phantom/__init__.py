"""Phantom: a game for two of haunting a house, area by area, with Ghosts and Places."""

from __future__ import annotations

from phantom_envs.core.game import Game, Option
from phantom_envs.games.phantom import belief, observation, rule_bot, rules, text
from phantom_envs.games.phantom.actions import ACTIONS
from phantom_envs.games.phantom.components import HAND_SIZE, MAX_TURNS, NUM_OCCUPANTS, NUM_SEATS, POINTS_SCALE
from phantom_envs.games.phantom.state import STATE

GAME = Game(
    name="phantom",
    version=0,
    title="Phantom",
    summary="Ghosts and Places haunt a house of four zones; who frightens an Occupant most takes it.",
    players=(NUM_SEATS,),
    default_players=2,
    options=(
        Option("reward", "win", "what is rewarded: winning the game, or each Occupant taken", ("win", "score")),
        Option("plays", 1, "cards that may be played in a turn, at most one in each zone", (1, 4), field="plays"),
    ),
    reward_weights={"win": lambda players: (1.0, 0.0), "score": lambda players: (0.0, 1.0 / POINTS_SCALE)},
    dtype=STATE,
    actions=ACTIONS,
    max_decisions=lambda players, options: MAX_TURNS * (int(options["plays"]) * (1 + NUM_OCCUPANTS) + HAND_SIZE),
    layout=observation.layout,
    deal=rules.deal,
    legal=rules.legal,
    apply=rules.apply,
    observe=observation.observe,
    resample=belief.resample,
    rule_action=rule_bot.rule_action,
    state_dict=text.state_dict,
    picture=text.picture,
)
