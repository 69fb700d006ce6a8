"""From a state to its worth for each seat: play on to the end, count what was gained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from phantom_envs.core.batch import random_member, write_rewards
from phantom_envs.core.game import RUNNING, Game
from phantom_envs.core.jit import jit
from phantom_envs.core.moves import moves
from phantom_envs.core.rng import uniform

TO_GAME_END, TO_DEAL_END = 0, 1
"""How far a playout goes."""

HORIZONS = {"game": TO_GAME_END, "deal": TO_DEAL_END}

ROLLOUT_NOISE = {"random": 1.0, "rule": 0.0}
"""Share of the moves of a playout that are random; the rest are the rule bot's."""

GOALS = ("win", "score", "both")

WIN_BONUS = 0.5
"""Weight of winning that the goal `both` adds to the game's points, as training does."""


@dataclass(frozen=True)
class Playouts:
    """Compiled functions of a game, for the search kernels.

    Attributes:
        deal_of: `(s)` is the number of the deal that is played.
        gain: `(s, gained)` adds the points of the step just made to int64 `gained` (MAX_PLAYERS,).
        settle: `(s, gained, win, point, values)` writes what each seat made of it, float64 (MAX_PLAYERS,), with the
            weights of winning and of a point; they sum to zero. It overwrites `s["points"]`.
        finish: `(s, words, rng, noise, deal, gained)` plays on until the game is over or, with `deal` >= 0, that deal
            is, at random (share `noise` of the moves) or by the rule bot. Returns the number of decisions.
    """

    deal_of: Callable[[Any], int]
    gain: Callable[[Any, Any], None]
    settle: Callable[[Any, Any, float, float, Any], None]
    finish: Callable[[Any, Any, Any, float, int, Any], int]


def goal_weights(game: Game, num_players: int, goal: str) -> tuple[float, float]:
    """Weight of winning and weight of a point that a search strives for.

    `win` and `score` are the game's rewards (`score` being the last of them, which comes most often); `both` adds half
    a win to the latter.
    """
    dense = list(game.reward_weights)[-1]
    win, point = game.reward_weights["win" if goal == "win" else dense](num_players)
    return (win + WIN_BONUS if goal == "both" else win), point


@cache
def playouts(game: Game) -> Playouts:
    """The playouts of `game`, built once a process."""
    legal, rule_action, play = game.legal, game.rule_action, moves(game).play
    deal_field = game.deal_field

    if deal_field is None:

        @jit
        def deal_of(s: Any) -> int:
            return 0

    else:

        @jit
        def deal_of(s: Any) -> int:
            return int(s[deal_field])

    @jit
    def gain(s: Any, gained: Any) -> None:
        for seat in range(s["num_players"]):
            gained[seat] += s["points"][seat]

    @jit
    def settle(s: Any, gained: Any, win: float, point: float, values: Any) -> None:
        for seat in range(s["num_players"]):
            s["points"][seat] = gained[seat]
            values[seat] = 0.0
        write_rewards(s, win, point, values)

    @jit
    def finish(s: Any, words: Any, rng: Any, noise: float, deal: int, gained: Any) -> int:
        decisions = 0
        while s["status"] == RUNNING and (deal < 0 or deal_of(s) == deal):
            legal(s, words)
            if noise > 0.0 and (noise >= 1.0 or uniform(rng) < noise):
                action = random_member(words, rng)
            else:
                action = rule_action(s, words)
            play(s, action)
            gain(s, gained)
            decisions += 1
        return decisions

    return Playouts(deal_of, gain, settle, finish)
