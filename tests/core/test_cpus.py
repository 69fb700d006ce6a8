"""How many processors a process may use."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from phantom_envs.core.cpus import usable_cpus


def test_there_is_one_at_least() -> None:
    assert 1 <= usable_cpus() <= (os.cpu_count() or 1)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes cannot be bound to processors here")
def test_those_of_the_affinity_count() -> None:
    program = """
import os
from phantom_envs.core.cpus import usable_cpus
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print(usable_cpus())
"""
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout == "1\n"
