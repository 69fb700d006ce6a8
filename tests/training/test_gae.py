"""Advantages where seats take turns, against a slow reference and cases worked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from phantom_envs.core.gae import turn_advantages


def compute(
    values: Any, rewards: Any, seats: Any, ended: Any, last_value: float, last_seat: int, discount: float, trace: float
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """`turn_advantages` for a single game given as lists."""
    shape = (len(values), 1)
    advantages, complete = np.zeros(shape, np.float32), np.zeros(shape, np.bool_)
    turn_advantages(
        np.array(values, np.float32).reshape(shape),
        np.array(rewards, np.float64).reshape(len(values), 1, -1),
        np.array(seats, np.int64).reshape(shape),
        np.array(ended, np.bool_).reshape(shape),
        np.array([last_value], np.float32),
        np.array([last_seat], np.int64),
        discount,
        trace,
        advantages,
        complete,
    )
    return advantages[:, 0], complete[:, 0]


def reference(
    values: Any, rewards: Any, seats: Any, ended: Any, last_value: float, last_seat: int, discount: float, trace: float
) -> tuple[list[float], list[bool]]:
    """Each seat's decisions, game after game, as the textbook has it: forward and in full."""
    steps, players = len(values), len(rewards[0])
    advantages, complete = [0.0] * steps, [False] * steps
    for seat in range(players):
        # the seat's decisions with the reward up to the next one, and whether the game ended on the way
        links: list[tuple[int, float, bool, int | None]] = []
        own = [step for step in range(steps) if seats[step] == seat]
        for step in own:
            gained, next_step, over = 0.0, None, False
            for later in range(step, steps):
                if later > step and seats[later] == seat:
                    next_step = later
                    break
                gained += rewards[later][seat]
                if ended[later]:
                    over = True
                    break
            links.append((step, gained, over, next_step))
        for index in range(len(links)):
            total, weight = 0.0, 1.0
            for step, gained, over, next_step in links[index:]:
                if over:
                    delta = gained - values[step]
                elif next_step is not None:
                    delta = gained + discount * values[next_step] - values[step]
                elif last_seat == seat:
                    delta = gained + discount * last_value - values[step]
                else:
                    break  # the outcome is not in sight
                total += weight * delta
                complete[links[index][0]] = True
                weight *= discount * trace
                if over:
                    break
            advantages[links[index][0]] = total
    return advantages, complete


def test_a_game_of_two_by_hand() -> None:
    # seats 0 1 0 1; the game ends with the last step, 1 for seat 0 and -1 for seat 1
    advantages, complete = compute(
        [0.5, 0.0, 0.25, -0.5], [[0, 0], [0, 0], [0, 0], [1, -1]], [0, 1, 0, 1], [0, 0, 0, 1], 9.0, 0, 0.5, 0.5
    )
    # seat 0: second decision 1 - 0.25; first 0 + 0.5 * 0.25 - 0.5, then 0.25 of the second
    # seat 1: second decision -1 + 0.5; first 0.5 * -0.5 - 0, then 0.25 of the second
    assert advantages.tolist() == pytest.approx([-0.375 + 0.25 * 0.75, -0.25 - 0.25 * 0.5, 0.75, -0.5])
    assert complete.all()


def test_the_rollout_cuts_a_game() -> None:
    # after the last step seat 1 is to act, its value is 2; seat 0 and 2 have no outcome for their last decisions
    advantages, complete = compute([1.0, 1.0, 1.0, 3.0], [[1, 2, 3]] * 4, [0, 1, 2, 0], [0, 0, 0, 0], 2.0, 1, 1.0, 1.0)
    assert complete.tolist() == [True, True, False, False]
    # seat 0 gains 1 + 1 + 1 and is then worth 3; seat 1 gains 2 + 2 + 2 and is then worth 2
    assert advantages.tolist() == pytest.approx([3 + 3 - 1, 6 + 2 - 1, 0, 0])


def test_rewards_of_the_next_game_stay_there() -> None:
    advantages, complete = compute([0.0, 0.0], [[1, -1], [5, -5]], [0, 1], [1, 1], 0.0, 0, 1.0, 1.0)
    assert advantages.tolist() == [1.0, -5.0]
    assert complete.all()


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
def test_against_the_reference(data: st.DataObject) -> None:
    players = data.draw(st.integers(2, 5))
    steps = data.draw(st.integers(1, 30))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    case = (
        rng.normal(size=steps).astype(np.float32).tolist(),
        rng.normal(size=(steps, players)).tolist(),
        rng.integers(players, size=steps).tolist(),
        (rng.random(steps) < 0.15).tolist(),
        float(rng.normal()),
        int(rng.integers(players)),
        float(rng.choice([1.0, 0.9])),
        float(rng.choice([0.0, 0.95, 1.0])),
    )
    advantages, complete = compute(*case)
    expected, known = reference(*case)
    assert complete.tolist() == known
    assert advantages.tolist() == pytest.approx(expected, abs=1e-4)
