"""Ctrl-C and SIGTERM in a training run: they come between updates, where what is kept is consistent."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self

ONE = 1.0
"""Seconds within which further signals belong to the first one: some programs pass it on twice."""


class Interrupts:
    """SIGINT and SIGTERM raise `KeyboardInterrupt`: at once, or at the end of a block of `deferred`.

    A further one, more than `ONE` seconds later, does not wait for the end of that block. Only a program's main thread
    hears of signals; those that are ignored or handled otherwise stay so.

    Attributes:
        asked: Whether one waits for the end of a block of `deferred`.
        number: The signal that came, SIGINT if none did.
        hasty: Whether it was heeded within a block of `deferred`.
    """

    def __init__(self) -> None:
        self.number: int = signal.SIGINT
        self.hasty = False
        self.asked = self._deferring = False
        self._until = 0.0
        self._before: dict[int, object] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if handler in (signal.SIG_DFL, signal.default_int_handler):
                    self._before[number] = signal.signal(number, self._heed)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # one that getsignal gave

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Let a signal wait until the block has ended."""
        self._deferring = True
        try:
            yield
        finally:
            self._deferring = False
        if self.asked:
            self.asked = False
            raise KeyboardInterrupt

    def _heed(self, number: int, frame: FrameType | None) -> None:
        if time.monotonic() < self._until:
            return
        self._until = time.monotonic() + ONE
        self.number = number
        if self._deferring and not self.asked:
            self.asked = True
            return
        self.hasty = self._deferring
        raise KeyboardInterrupt
