"""Generalized advantage estimation where several seats take turns in one stream of steps.

Schulman et al., "High-dimensional continuous control using generalized advantage estimation" (2016), applied to each
seat by itself: a transition leads from a decision of a seat to the same seat's next decision, and its reward is all
that the seat is given from the one to the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.jit import entry


@entry("core", allocates=True)
def turn_advantages(
    values: Any,
    rewards: Any,
    seats: Any,
    counts: Any,
    ended: Any,
    discount: float,
    trace: float,
    advantages: Any,
    complete: Any,
) -> None:
    """Fill `advantages` and `complete` for T steps of N games with P seats.

    Steps that do not count (forced moves, moves of others) are passed over: a transition leads to the seat's next
    decision that counts. A decision whose outcome lies beyond the rollout (its seat neither decides again nor sees
    the game end) gets advantage 0 and `complete` False: it is not to be trained on, and its value ends the estimates
    before it. Row T of `values`, `seats` and `counts` is the decision that comes after the last step.

    Args:
        values: (T + 1, N) float32, estimate at each decision for the seat that decides.
        rewards: (T, N, P) float64, rewards of each step.
        seats: (T + 1, N) int64, who decides.
        counts: (T + 1, N) bool, which decisions count.
        ended: (T, N) bool, whether the step ended the game.
        discount: Discount per decision of a seat (gamma).
        trace: Decay of the trace (lambda).
        advantages: (T, N) float32, filled.
        complete: (T, N) bool, filled.
    """
    steps, games = ended.shape
    players = rewards.shape[2]
    gained = np.zeros(players)  # since the seat's decision that is being looked for
    next_value = np.zeros(players)
    next_advantage = np.zeros(players)
    known = np.zeros(players, np.bool_)  # whether the seat's next decision, or the end of the game, is in sight
    for game in range(games):
        for seat in range(players):
            gained[seat] = 0.0
            next_advantage[seat] = 0.0
            next_value[seat] = values[steps, game]
            known[seat] = counts[steps, game] and seat == seats[steps, game]
        for step in range(steps - 1, -1, -1):
            if ended[step, game]:
                for seat in range(players):
                    gained[seat] = 0.0
                    next_value[seat] = 0.0
                    next_advantage[seat] = 0.0
                    known[seat] = True
            for seat in range(players):
                gained[seat] += rewards[step, game, seat]
            seat = seats[step, game]
            value = values[step, game]
            if not counts[step, game]:
                advantages[step, game] = 0.0
                complete[step, game] = False
                continue
            complete[step, game] = known[seat]
            if known[seat]:
                delta = gained[seat] + discount * next_value[seat] - value
                next_advantage[seat] = delta + discount * trace * next_advantage[seat]
            advantages[step, game] = next_advantage[seat]
            gained[seat] = 0.0
            next_value[seat] = value
            known[seat] = True
