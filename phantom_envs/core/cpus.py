"""How many processors there are for this process."""

from __future__ import annotations

import os


def usable_cpus() -> int:
    """The processors that this process may run on: those of its affinity (`taskset`), where the system has one."""
    if hasattr(os, "process_cpu_count"):  # from Python 3.13 on
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
