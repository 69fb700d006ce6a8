"""Programs that the tests start and signal, and a look at what is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROC = Path("/proc")

BEGIN, END = 120.0, 3.0
"""Seconds, on a slow machine, until something has begun, and within which all has to be over."""

needs_proc = pytest.mark.skipif(not (PROC / "self" / "stat").exists(), reason="looks for processes in /proc")


def stat(pid: int) -> list[str]:
    """State, parent, group and so on of a process; nothing if it has ended."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def alive(pid: int) -> bool:
    """Whether a process still runs; one that nobody has asked for its status does not."""
    return stat(pid)[:1] not in ([], ["Z"])


def family(pid: int) -> list[int]:
    """All that a process has started, and what that has."""
    parents = {int(path.name): stat(int(path.name)) for path in PROC.iterdir() if path.name.isdigit()}
    found = [pid]
    for each in found:
        found += [child for child, line in parents.items() if line and int(line[1]) == each]
    return found[1:]


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Wait until something holds; whether it came to that."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def stuck(folder: Path, program: subprocess.Popen[str], files: int) -> list[int]:
    """Wait until that many files are in a folder, and give all processes that the program has started."""
    assert within(BEGIN, lambda: len(list(folder.iterdir())) >= files or program.poll() is not None)
    assert program.poll() is None, program.communicate()
    return family(program.pid)


def all_end(program: subprocess.Popen[str], pids: list[int], numbers: Sequence[signal.Signals]) -> bool:
    """Send signals as a terminal does, to the program's group, and see whether everything ends in time."""
    began = time.monotonic()
    for number in numbers:
        os.killpg(program.pid, number)
        time.sleep(0.05)
    ended = within(END, lambda: program.poll() is not None and not any(map(alive, pids)))
    seconds = time.monotonic() - began
    for pid in filter(alive, pids):  # a test that fails leaves none behind either
        os.kill(pid, signal.SIGKILL)
    return ended and seconds < END


@contextmanager
def running(*args: str) -> Iterator[subprocess.Popen[str]]:
    """Python at work on `args`, in a process group of its own as under a shell; it is ended whatever comes."""
    with subprocess.Popen(
        [sys.executable, *args],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as program:
        try:
            yield program
        finally:
            for pid in [*family(program.pid), program.pid]:
                if alive(pid):
                    os.kill(pid, signal.SIGKILL)
