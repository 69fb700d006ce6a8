"""The batched environment: buffers, partial resets, saving, sampling, and what bad input gets."""

from __future__ import annotations

import copy
import hashlib
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_all_start_methods, get_context
from typing import Any

import numpy as np
import pytest

import phantom_envs
from phantom_envs import (
    GameOver,
    IllegalAction,
    InvalidAction,
    InvalidBatch,
    InvalidOption,
    InvalidPlayers,
    InvalidRow,
    NotReset,
    PhantomVec,
    UnknownGame,
    UnknownOption,
)

GAME = "phantom_trick_v0"


def vec_of(num_envs: int = 6, **settings: Any) -> PhantomVec:
    vec = phantom_envs.make_vec(GAME, num_envs, seed=3, **settings)
    vec.reset()
    return vec


def play(vec: PhantomVec, steps: int) -> list[bytes]:
    """Random steps; what each left behind."""
    traces = []
    for _ in range(steps):
        batch = vec.step(vec.sample())
        traces.append(b"".join(array.tobytes() for array in batch))
    return traces


def test_shapes_and_dtypes_are_as_told() -> None:
    vec = vec_of(5, num_players=3)
    size = vec.layout.size
    found = {name: (array.shape, array.dtype) for name, array in vec.batch._asdict().items()}
    assert found == {
        "observation": ((5, size), np.int8),
        "action_mask": ((5, 60), np.int8),
        "seat": ((5,), np.int64),
        "reward": ((5, 3), np.float64),
        "terminated": ((5,), np.bool_),
        "truncated": ((5,), np.bool_),
    }


def test_buffers_of_the_caller_are_filled() -> None:
    ours, theirs = vec_of(), vec_of()
    buffers = {name: np.zeros_like(array) for name, array in ours.batch._asdict().items()}
    ours.bind(**buffers)
    for _ in range(80):
        actions = theirs.sample().copy()
        ours.step(actions)
        expected = theirs.step(actions)
        for name, array in buffers.items():
            assert (array == getattr(expected, name)).all(), name


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("observations", np.zeros(1)),
        ("seat", np.zeros(6, np.int32)),
        ("seat", np.zeros(5, np.int64)),
        ("seat", np.zeros(12, np.int64)[::2]),
    ],
)
def test_buffers_that_do_not_fit_are_refused(name: str, array: Any) -> None:
    with pytest.raises(InvalidBatch, match="buffer"):
        vec_of().bind(**{name: array})


def test_partial_reset_deals_in_the_marked_rows_only() -> None:
    vec = vec_of(4)
    play(vec, 10)
    before = vec.states.copy()
    mask = np.array([False, True, False, True])
    vec.reset(seed=[11, 12, 13, 14], mask=mask)
    fresh = phantom_envs.make_vec(GAME, 4)
    fresh.reset(seed=[11, 12, 13, 14])
    assert (vec.states[~mask] == before[~mask]).all()
    assert [vec.state_dict(row) for row in (1, 3)] == [fresh.state_dict(row) for row in (1, 3)]
    assert (vec.batch.observation[mask] == fresh.batch.observation[mask]).all()


def test_reset_without_a_seed_goes_on_from_the_last_one() -> None:
    one, other = vec_of(), vec_of()
    one.reset()
    assert (one.states["seed"] != other.states["seed"]).all()
    other.reset()
    assert [one.state_dict(row) for row in range(6)] == [other.state_dict(row) for row in range(6)]


@pytest.mark.parametrize("way", ["save", "deepcopy", "pickle"])
def test_goes_on_exactly_alike(way: str) -> None:
    vec = vec_of(threads=2)
    play(vec, 50)
    if way == "save":
        saved = vec.save()
        expected = play(vec, 300)
        vec.restore(saved)
        assert play(vec, 300) == expected
        return
    twin = copy.deepcopy(vec) if way == "deepcopy" else pickle.loads(pickle.dumps(vec))  # noqa: S301  # our own bytes
    assert play(twin, 300) == play(vec, 300)


@pytest.mark.skipif("fork" not in get_all_start_methods(), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # this is about what it warns of
def test_goes_on_in_a_forked_process() -> None:
    vec, twin = vec_of(600, threads=2), vec_of(600)
    play(vec, 3)
    play(twin, 3)
    context = get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=lambda: answers.put(digest(play(vec, 5))))
    child.start()
    child.join(60)
    if child.exitcode is None:
        child.kill()
    assert child.exitcode == 0
    assert answers.get() == digest(play(twin, 5)) == digest(play(vec, 5))


def digest(traces: list[bytes]) -> str:
    return hashlib.sha256(b"".join(traces)).hexdigest()


@pytest.mark.parametrize("threads", [1, 2])
def test_goes_on_after_close(threads: int) -> None:
    vec, twin = vec_of(threads=threads), vec_of()
    play(vec, 3)
    play(twin, 3)
    vec.close()
    vec.close()
    assert play(vec, 5) == play(twin, 5)


def test_batches_step_at_once_as_if_alone() -> None:
    batches = [vec_of(300, threads=2) for _ in range(3)]
    with ThreadPoolExecutor(len(batches)) as pool:
        traces = list(pool.map(lambda vec: digest(play(vec, 40)), batches))
    assert set(traces) == {digest(play(vec_of(300), 40))}


class Interruption(BaseException):
    """As `KeyboardInterrupt`, which pytest would take for its own."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that sends signals")
def test_goes_on_after_interruptions() -> None:
    def interrupt(number: int, frame: Any) -> None:
        raise Interruption

    vec = vec_of(300, threads=2)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for interruption in range(30):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.005 + 0.0001 * interruption)
                while True:
                    vec.step(vec.sample())
            except Interruption:
                continue
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    saved = vec.save()
    twin = vec_of(300)
    twin.restore(saved)
    assert play(vec, 5) == play(twin, 5)


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise KeyboardInterrupt", "del vec"])
def test_threads_do_not_keep_a_process_alive(end: str) -> None:
    script = f"""
import sys
from phantom_envs import make_vec
vec = make_vec("{GAME}", 300, threads=2)
vec.reset()
for _ in range(5):
    vec.step(vec.sample())
{end}
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode != 0) == end.startswith(("sys.exit", "raise")), done.stderr
    assert ("Traceback" in done.stderr) == end.startswith("raise")


def test_restore_refuses_another_kind_of_batch() -> None:
    with pytest.raises(InvalidBatch, match="another kind"):
        vec_of(4).restore(vec_of(5).save())


def test_restore_refuses_what_is_damaged_and_changes_nothing() -> None:
    vec = vec_of(4)
    play(vec, 20)
    whole = vec.save()
    play(vec, 5)
    before = vec.save()
    for name, array in whole.items():
        for damaged in (array[:2], array[:, None], array.astype("S4") if name != "states" else array.view(np.uint8)):
            with pytest.raises(InvalidBatch, match="another kind"):
                vec.restore(whole | {name: damaged})
        with pytest.raises(InvalidBatch, match="another kind"):
            vec.restore({kept: array for kept, array in whole.items() if kept != name})
    for field, value in (("num_players", 3), ("seat", 100), ("seat", -2), ("actor", -1), ("actor", 4), ("status", 9)):
        states = whole["states"].copy()
        states[field][2] = value
        with pytest.raises(InvalidBatch, match="another kind"):
            vec.restore(whole | {"states": states})
    assert all(array.tobytes() == before[name].tobytes() for name, array in vec.save().items())
    with pytest.raises(NotReset, match="no games have been dealt"):
        phantom_envs.make_vec(GAME, 4).save()


def test_restore_refuses_other_options() -> None:
    one, other = (phantom_envs.make_vec("phantom_v0", 2, seed=1, plays=plays) for plays in (1, 4))
    one.reset()
    other.reset()
    with pytest.raises(InvalidBatch, match="'plays': 1"):
        one.restore(other.save())


def test_a_saved_mask_that_lies_makes_nothing_legal() -> None:
    vec = vec_of(4)
    saved = vec.save()
    legal = saved["action_mask"].copy()
    for array in saved.values():
        if array.dtype.names is None:
            array[:] = 1
    batch = vec.restore(saved)
    assert (batch.action_mask == legal).all()
    with pytest.raises(IllegalAction):
        vec.step(legal.argmin(axis=1))


@pytest.mark.parametrize("row", [-1, 6, 10**9, True, 1.0, "1", None, slice(2)])
def test_rows_that_there_are_not_are_refused(row: Any) -> None:
    with pytest.raises(InvalidRow, match="give a row from 0 to 5"):
        vec_of().state_dict(row)
    assert issubclass(InvalidRow, InvalidBatch)
    assert issubclass(InvalidRow, IndexError)


@pytest.mark.parametrize(
    "actions", [[True] * 6, [0, 1, 2, 3, 4, True], np.ones(6, np.bool_), [[0], [1, 2], 3, 4, 5, 6]]
)
def test_actions_that_are_no_integers_are_refused(actions: Any) -> None:
    vec = vec_of()
    before = vec.save()
    with pytest.raises(InvalidAction, match=r"integers of shape \(6,\)"):
        vec.step(actions)
    assert all((array == before[name]).all() for name, array in vec.save().items())


def test_samples_are_legal_uniform_and_independent_of_the_batch() -> None:
    vec, alone = vec_of(600), phantom_envs.make_vec(GAME, 1)
    for row in (0, 599):
        alone.reset(seed=3 + row)
        assert alone.sample()[0] == vec_of(600).sample()[row]
    for _ in range(40):
        actions = vec.sample()
        assert vec.batch.action_mask[np.arange(600), actions].all()
    # the first choice is among twelve cards of the hand: each place in the hand equally often
    vec.reset()
    places = np.array([vec.batch.action_mask[row, : vec.sample()[row]].sum() for row in range(600)])
    assert np.bincount(places, minlength=12).min() > 20  # 50 expected


def test_weights_mix_winning_and_points() -> None:
    mixed, wins, points = (
        phantom_envs.make_vec(GAME, 8, seed=5, **settings)
        for settings in ({"weights": (0.5, 0.2)}, {"reward": "win"}, {"reward": "score"})
    )
    for vec in (mixed, wins, points):
        vec.reset()
    total = 0.0
    for _ in range(300):
        actions = mixed.sample().copy()
        rewards = [vec.step(actions).reward for vec in (mixed, wins, points)]
        assert rewards[0] == pytest.approx(0.5 * rewards[1] + 2.0 * rewards[2])  # a point counts 0.1 in "score"
        total += np.abs(rewards[1]).sum()
    assert total > 0


def test_next_step_ignores_the_action_of_an_ended_row() -> None:
    vec = vec_of(3, autoreset="next_step")
    while not vec.batch.terminated.any():
        vec.step(vec.sample())
    ended = np.flatnonzero(vec.batch.terminated)
    assert (vec.batch.seat[ended] == -1).all()
    assert (vec.batch.action_mask[ended] == 0).all()
    actions = vec.sample().copy()
    assert (actions[ended] == -1).all()
    batch = vec.step(actions)
    assert not batch.terminated[ended].any()
    assert (batch.reward[ended] == 0).all()
    assert (batch.seat[ended] == 0).all()


def test_same_step_keeps_the_last_view() -> None:
    vec, reference = vec_of(3), vec_of(3, autoreset="disabled")
    while not vec.batch.terminated.any():
        actions = vec.sample().copy()
        vec.step(actions)
        reference.step(actions)
    for row in np.flatnonzero(vec.batch.terminated):
        assert (vec.final_observation[row] == reference.batch.observation[row]).all()
        assert vec.batch.seat[row] == 0


def test_an_illegal_action_changes_nothing_and_names_the_rows() -> None:
    vec = vec_of()
    actions = vec.sample().copy()
    before = vec.save()
    actions[2] = int(np.flatnonzero(vec.batch.action_mask[2] == 0)[0])
    actions[4] = 60
    with pytest.raises(IllegalAction, match=r"rows 2, 4.*row 2 player_0.*legal are"):
        vec.step(actions)
    assert all((array == before[name]).all() for name, array in vec.save().items())


@pytest.mark.parametrize("actions", [[0, 1], 0, [0.0] * 6, [True] * 6, [[0]] * 6, None, ["red-7"] * 6])
def test_actions_of_the_wrong_kind_are_refused(actions: Any) -> None:
    with pytest.raises(InvalidAction, match=r"integers of shape \(6,\)"):
        vec_of().step(actions)


def test_steps_before_the_first_reset_and_after_the_end() -> None:
    vec = phantom_envs.make_vec(GAME, 2, autoreset="disabled")
    for use in (lambda: vec.step([0, 0]), vec.sample, vec.rule_actions):
        with pytest.raises(NotReset, match="reset"):
            use()
    with pytest.raises(NotReset, match="once"):
        vec.reset(mask=[True, False])
    vec.reset(seed=0)
    while not vec.batch.terminated.all():
        vec.step(vec.sample())
    with pytest.raises(GameOver, match="rows 0, 1"):
        vec.step([0, 0])
    before = vec.states.copy()
    vec.step([-1, -1])
    assert (vec.states == before).all()


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"num_envs": 0}, InvalidBatch),
        ({"num_envs": -3}, InvalidBatch),
        ({"num_envs": 2.0}, InvalidBatch),
        ({"num_envs": True}, InvalidBatch),
        ({"threads": 0}, InvalidBatch),
        ({"num_envs": 2, "seed": [1, 2, 3]}, InvalidBatch),
        ({"num_players": 2}, InvalidPlayers),
        ({"num_players": "4"}, InvalidPlayers),
        ({"autoreset": "later"}, InvalidOption),
        ({"reward": "money"}, InvalidOption),
        ({"colour": "red"}, UnknownOption),
        ({"weights": (1.0,)}, InvalidOption),
        ({"weights": 1.0}, InvalidOption),
        ({"weights": ("a", 1.0)}, InvalidOption),
        ({"weights": (1.0, float("nan"))}, InvalidOption),
        ({"seed": -1}, ValueError),
        ({"seed": 1.5}, TypeError),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        phantom_envs.make_vec(GAME, **settings)


def test_unknown_game() -> None:
    with pytest.raises(UnknownGame, match="phantom_trick_v0"):
        phantom_envs.make_vec("phantom_trick_v9", 1)
