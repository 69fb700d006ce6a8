"""Advantages where seats take turns, against a slow reference and cases worked by hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from phantom_envs.core.gae import turn_advantages


@dataclass
class Case:
    """T steps of one game, as lists; values, seats and counts have an entry more, for what comes after the last."""

    values: list[float]
    rewards: list[list[float]]
    seats: list[int]
    counts: list[bool]
    ended: list[bool]
    discount: float = 1.0
    trace: float = 1.0


def compute(case: Case) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """`turn_advantages` for a single game."""
    steps = len(case.ended)
    advantages, complete = np.zeros((steps, 1), np.float32), np.zeros((steps, 1), np.bool_)
    turn_advantages(
        np.array(case.values, np.float32)[:, None],
        np.array(case.rewards, np.float64)[:, None],
        np.array(case.seats, np.int64)[:, None],
        np.array(case.counts, np.bool_)[:, None],
        np.array(case.ended, np.bool_)[:, None],
        case.discount,
        case.trace,
        advantages,
        complete,
    )
    return advantages[:, 0], complete[:, 0]


def reference(case: Case) -> tuple[list[float], list[bool]]:
    """Each seat's decisions, game after game, as the textbook has it: forward and in full."""
    steps = len(case.ended)
    advantages, complete = [0.0] * steps, [False] * steps
    for seat in range(len(case.rewards[0])):
        own = [step for step in range(steps + 1) if case.seats[step] == seat and case.counts[step]]
        deltas: dict[int, tuple[float, bool]] = {}  # per decision its TD error, and whether the game ends with it
        for step in own:
            gained, later = 0.0, step
            while later < steps:
                gained += case.rewards[later][seat]
                if case.ended[later]:
                    deltas[step] = gained - case.values[step], True
                    break
                later += 1
                if later in own:
                    deltas[step] = gained + case.discount * case.values[later] - case.values[step], False
                    break
        for index, step in enumerate(own):
            weight = 1.0
            for later in own[index:]:
                if later not in deltas:
                    break  # the outcome is not in sight
                delta, over = deltas[later]
                advantages[step] += weight * delta
                complete[step] = True
                weight *= case.discount * case.trace
                if over:
                    break
    return advantages, complete


def test_a_game_of_two_by_hand() -> None:
    # seats 0 1 0 1; the game ends with the last step, 1 for seat 0 and -1 for seat 1
    seats, counts = [0, 1, 0, 1, 0], [True] * 5
    rewards = [[0.0, 0.0]] * 3 + [[1.0, -1.0]]
    case = Case([0.5, 0.0, 0.25, -0.5, 9.0], rewards, seats, counts, [False] * 3 + [True], 0.5, 0.5)
    advantages, complete = compute(case)
    # seat 0: second decision 1 - 0.25; first 0 + 0.5 * 0.25 - 0.5, then 0.25 of the second
    # seat 1: second decision -1 + 0.5; first 0.5 * -0.5 - 0, then 0.25 of the second
    assert advantages.tolist() == pytest.approx([-0.375 + 0.25 * 0.75, -0.25 - 0.25 * 0.5, 0.75, -0.5])
    assert complete.all()


def test_the_rollout_cuts_a_game() -> None:
    # after the last step seat 1 is to act, its value is 2; seat 0 and 2 have no outcome for their last decisions
    case = Case([1.0, 1.0, 1.0, 3.0, 2.0], [[1.0, 2.0, 3.0]] * 4, [0, 1, 2, 0, 1], [True] * 5, [False] * 4)
    advantages, complete = compute(case)
    assert complete.tolist() == [True, True, False, False]
    # seat 0 gains 1 + 1 + 1 and is then worth 3; seat 1 gains 2 + 2 + 2 and is then worth 2
    assert advantages.tolist() == pytest.approx([3 + 3 - 1, 6 + 2 - 1, 0, 0])


def test_steps_that_do_not_count_are_passed_over() -> None:
    # seat 0 decides, is forced, and decides again; all that it gains in between belongs to its first decision
    counts = [True, False, True, True]
    case = Case([1.0, 50.0, 4.0, 0.0], [[1.0], [2.0], [3.0]], [0, 0, 0, 0], counts, [False, False, True])
    advantages, complete = compute(case)
    assert advantages.tolist() == pytest.approx([1 + 2 + 4 - 1 + (3 - 4), 0, 3 - 4])
    assert complete.tolist() == [True, False, True]


def test_rewards_of_the_next_game_stay_there() -> None:
    case = Case([0.0] * 3, [[1.0, -1.0], [5.0, -5.0]], [0, 1, 0], [True] * 3, [True, True])
    advantages, complete = compute(case)
    assert advantages.tolist() == [1.0, -5.0]
    assert complete.all()


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(2, 5), st.integers(1, 30), st.integers(0, 2**32))
def test_against_the_reference(players: int, steps: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = Case(
        rng.normal(size=steps + 1).astype(np.float32).tolist(),
        rng.normal(size=(steps, players)).tolist(),
        rng.integers(players, size=steps + 1).tolist(),
        (rng.random(steps + 1) < 0.8).tolist(),
        (rng.random(steps) < 0.15).tolist(),
        float(rng.choice([1.0, 0.9])),
        float(rng.choice([0.0, 0.95, 1.0])),
    )
    advantages, complete = compute(case)
    expected, known = reference(case)
    assert complete.tolist() == known
    assert advantages.tolist() == pytest.approx(expected, abs=1e-4)
