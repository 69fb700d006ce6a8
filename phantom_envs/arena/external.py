"""Agents in any language: a program that reads decisions and writes actions, a line of JSON each.

A decision comes on the program's standard input:

    {"game": "phantom_trick_v0", "num_players": 4, "options": {"reward": "win"}, "table": 17, "seat": 2,
     "observation": [0, 1, …], "mask": [0, 0, 1, …], "legal": ["play red-7", …], "key": 123}

`observation` is laid out as `phantom-envs describe` says; `legal` names the actions whose `mask` is 1, in that order;
`table` stays the same through a game; `key` is a random number of 53 bits to seed with. The program answers with one
line on standard output, flushed: `{"action": "play red-7"}`. It ends when its input does.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import shlex
import subprocess
import threading
import weakref
from collections.abc import Sequence
from typing import IO, Any

from phantom_envs.arena.agent import AgentError, Decision, SingleAgent
from phantom_envs.arena.specs import InvalidSpec

GRACE = 2.0
"""Seconds a program has to end by itself once its input is closed."""


class CommandAgent(SingleAgent):
    """Asks a program, which is started with the first decision.

    Args:
        command: Program and arguments, one by one or as a line. A line is split as a shell would, but not run by one;
            on Windows a backslash in it is a backslash.
        timeout: Seconds it may take for a decision.
    """

    def __init__(self, command: str | Sequence[str], timeout: float = 60.0) -> None:
        self._command = split_command(command, os.name == "nt") if isinstance(command, str) else list(command)
        if not self._command:
            raise InvalidSpec("cmd: names no program; write cmd:./my_bot")
        self._timeout = timeout
        self._program: _Program | None = None

    def act_one(self, decision: Decision) -> int:
        """The program's choice.

        Raises:
            AgentError: It cannot be started, ends, takes too long, or answers anything but a legal action.
        """
        if self._program is None:
            self._program = _Program(self._command)
        names = decision.names()
        self._program.tell(_as_json(decision, names))
        line = self._program.hear(self._timeout)
        try:
            answer = json.loads(line)
            action = answer["action"]
        except (ValueError, TypeError, KeyError) as error:
            raise self._program.fault(f'answered {line.strip()!r}; {{"action": name}} is wanted') from error
        if action not in names:
            raise self._program.fault(f"chose {action!r}; legal are {', '.join(names)}")
        return decision.legal()[names.index(action)]

    def close(self) -> None:
        """End the program."""
        if self._program is not None:
            self._program.stop()
            self._program = None


def split_command(line: str, windows: bool) -> list[str]:
    """Program and arguments of a command line."""
    try:
        words = shlex.split(line, posix=not windows)
    except ValueError as error:
        raise InvalidSpec(f"cmd:{line}: {error}") from error
    return [re.sub(r"""^(["'])(.*)\1$""", r"\2", word) for word in words] if windows else words


def _as_json(decision: Decision, names: list[str]) -> str:
    return json.dumps(
        {
            "game": decision.game.id,
            "num_players": decision.num_players,
            "options": dict(decision.options),
            "table": decision.table,
            "seat": decision.seat,
            "observation": decision.observation.tolist(),
            "mask": decision.mask.tolist(),
            "legal": names,
            "key": decision.key >> 11,  # JSON numbers are exact to 53 bits
        }
    )


class _Program:
    """A running program; a thread reads what it writes, so that waiting for it can time out on every platform."""

    def __init__(self, command: list[str]) -> None:
        self._name = shlex.join(command)
        try:
            self._process = subprocess.Popen(  # noqa: S603  # running the program named by the user is what it is for
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", errors="replace"
            )
        except OSError as error:
            raise AgentError(f"cmd:{self._name} cannot be started: {error}") from error
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True)
        self._reader.start()
        self.stop = weakref.finalize(self, _end, self._process, self._reader)

    def fault(self, what: str) -> AgentError:
        """An error that says what the program did wrong."""
        return AgentError(f"cmd:{self._name} {what}")

    def tell(self, line: str) -> None:
        """Send a line."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._ended() from error

    def hear(self, timeout: float) -> str:
        """The next line."""
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty as error:
            raise self.fault(f"did not answer within {timeout:g} seconds") from error
        if not line:
            raise self._ended()
        return line

    def _ended(self) -> AgentError:
        try:
            status = f"with status {self._process.wait(GRACE)}"
        except subprocess.TimeoutExpired:
            status = "its output"
        return self.fault(f"ended {status} before it answered")


def _read(stream: IO[str], lines: queue.Queue[str]) -> None:
    for line in stream:
        lines.put(line)
    lines.put("")


def _end(process: subprocess.Popen[Any], reader: threading.Thread) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError):  # it ended first, and left unread what it was sent
        process.stdin.close()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    reader.join(GRACE)
    if not reader.is_alive():  # else a process that the program started still holds its output
        process.stdout.close()
