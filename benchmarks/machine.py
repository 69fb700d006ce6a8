"""Where and with what a figure was measured."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import phantom_envs

LIBRARIES = ("numpy", "numba", "gymnasium", "pettingzoo")
"""Distributions that every figure depends on."""

ROOT = Path(__file__).resolve().parent.parent


def describe(*more: str) -> dict[str, str | int]:
    """Machine, versions and revision, for the head of a report.

    Args:
        more: Further distributions whose versions matter; those not installed are left out.
    """
    about: dict[str, str | int] = {
        "cpu": cpu_model(),
        "cores": len(cores()),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "phantom_envs": phantom_envs.__version__,
        "revision": revision(),
    }
    for name in (*LIBRARIES, *more):
        try:
            about[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return about


def cpu_model() -> str:
    """The processor's name, as the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def revision() -> str:
    """The commit of the checkout, with `+changes` if files that git knows differ from it, or `unknown`."""
    git = shutil.which("git")
    if git is None:
        return "unknown"

    def ask(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([git, "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)  # noqa: S603  # fixed arguments

    commit = ask("rev-parse", "HEAD")
    if commit.returncode:
        return "unknown"
    changed = ask("status", "--porcelain", "--untracked-files=no").stdout.strip()
    return commit.stdout.strip() + ("+changes" if changed else "")


def cores() -> tuple[int, ...]:
    """The cores that this process may use, ascending."""
    if sys.platform == "linux":
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


@contextmanager
def pinned(to: tuple[int, ...]) -> Iterator[None]:
    """Let this thread, and threads it starts meanwhile, run on these cores only; without effect outside Linux."""
    if sys.platform != "linux":
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, to)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
