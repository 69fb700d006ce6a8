"""Ends what a killed process leaves behind: run as a program of its own, with nothing of this package.

It is told on its standard input, a line each, the process groups that must not outlive whoever tells it, and with a
minus sign those that have ended. Once its input ends, for whatever reason, it kills the ones left.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys


def main() -> None:
    """Listen, then kill."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # its input says when to end
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        told = int(line)
        if told > 0:
            groups.add(told)
        else:
            groups.discard(-told)
    for group in groups:
        for kill in (os.kill, os.killpg):  # one that has just begun leads no group yet
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
