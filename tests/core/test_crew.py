"""A crew does every row once, whoever is late, asleep or gone, and leaves nothing behind."""

from __future__ import annotations

import gc
import threading
from multiprocessing import get_all_start_methods, get_context
from threading import Thread
from typing import Any

import numpy as np
import pytest

from phantom_envs.core.crew import BLOCK_ROWS, Crew
from phantom_envs.core.jit import JIT_DISABLED, entry

THREADED = pytest.mark.skipif(JIT_DISABLED, reason="uncompiled there are no threads")


@entry("test_crew")
def count(visits: Any, first: int, last: int) -> None:
    for row in range(first, last):
        visits[row] += 1


@entry("test_crew")
def weigh(matrix: Any, weights: Any, factor: float, out: Any, first: int, last: int) -> None:
    for row in range(first, last):
        for column in range(matrix.shape[1]):
            out[row] += factor * weights[column] * matrix[row, column]


@entry("test_crew")
def stop_at(bad: int, visits: Any, first: int, last: int) -> None:
    for row in range(first, last):
        if row == bad:
            raise ValueError("bad row")
        visits[row] += 1


def helpers() -> int:
    """Threads of crews that are there."""
    gc.collect()
    return sum(thread.name.startswith("phantom_envs-") for thread in threading.enumerate())


def counted(crew: Crew, rows: int, runs: int) -> bool:
    """Whether every row is done once in each of some runs, and no other one."""
    visits = np.zeros(rows + 1, np.int64)
    for _ in range(runs):
        crew.run(count, rows, visits)
    return bool((visits[:-1] == runs).all() and visits[-1] == 0)


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
@pytest.mark.parametrize("rows", [0, 1, 2, 7, BLOCK_ROWS, 2 * BLOCK_ROWS + 1, 5000])
def test_every_row_is_done_once(threads: int, rows: int) -> None:
    crew = Crew(threads)
    assert counted(crew, rows, 3 if JIT_DISABLED else 300)
    crew.dismiss()


@pytest.mark.parametrize("threads", [1, 3])
def test_arguments_of_all_kinds_arrive(threads: int) -> None:
    matrix = np.arange(2000.0).reshape(500, 4)[:, 1:]  # not contiguous
    weights, out = np.array([1.0, -2.0, 3.0]), np.zeros(500)
    Crew(threads).run(weigh, 500, matrix, weights, 0.5, out)
    assert out == pytest.approx(0.5 * matrix @ weights)


@pytest.mark.parametrize("bad", [0, 999])
def test_what_a_kernel_raises_arrives_and_the_next_run_is_as_ever(bad: int) -> None:
    crew = Crew(2)
    visits = np.zeros(1000, np.int64)
    for _ in range(20):
        with pytest.raises(ValueError, match="bad row"):
            crew.run(stop_at, 1000, bad, visits)
        assert counted(crew, 1000, 2)
    assert visits[bad] == 0
    crew.run(stop_at, 1000, -1, visits)


@THREADED
def test_those_who_are_gone_are_not_missed() -> None:
    crew = Crew(4)
    assert counted(crew, 1000, 10)
    (team,) = crew._helpers.values()
    team.dismiss()
    assert helpers() == 0
    assert counted(crew, 1000, 10)


@THREADED
def test_threads_start_when_there_is_work_and_end_with_the_crew() -> None:
    crew = Crew(3)
    assert helpers() == 0
    assert counted(crew, 1000, 10)
    assert helpers() == 2
    crew.dismiss()
    crew.dismiss()
    assert helpers() == 0
    assert counted(crew, 1000, 10)
    assert helpers() == 2
    del crew
    assert helpers() == 0


@THREADED
def test_callers_take_turns() -> None:
    crew, visits = Crew(2), np.zeros(1000, np.int64)

    def call() -> None:
        for _ in range(300):
            crew.run(count, 1000, visits)

    callers = [Thread(target=call) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert (visits == 900).all()
    assert helpers() == 1


@pytest.mark.skipif("fork" not in get_all_start_methods(), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # this is about what it warns of
def test_a_forked_process_has_threads_of_its_own() -> None:
    crew = Crew(2)
    assert counted(crew, 1000, 10)
    context = get_context("fork")
    answers = context.SimpleQueue()

    def ask() -> None:
        answers.put((counted(crew, 1000, 10), helpers()))

    child = context.Process(target=ask)
    child.start()
    child.join(60)
    if child.exitcode is None:
        child.kill()
    assert child.exitcode == 0
    assert answers.get() == (True, 0 if JIT_DISABLED else 1)
    assert counted(crew, 1000, 10)
