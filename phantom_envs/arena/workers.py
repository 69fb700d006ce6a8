"""Work spread over processes that end when they are told to, whatever they are at.

Compiled code and foreign libraries hold on for minutes without a look at Python's signals. So all work is done in other
processes while this one only waits: an interrupt reaches it at once, and it kills them. Each leads a process group,
which takes the programs that agents start along, and which a Ctrl-C of the terminal does not reach: this process alone
decides what happens then. Should it be killed itself, a small guard (`guard.py`) kills the groups.

Processes are started afresh rather than forked: a fork of a process that has run torch's threads may hang.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import current_process, get_context, parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import Any, Generic, TypeVar

from phantom_envs.core.errors import PhantomError

if sys.platform != "win32":
    from multiprocessing import resource_tracker

Task = TypeVar("Task")
Result = TypeVar("Result")

CLOSING = 10.0
"""Seconds that the processes have to end by themselves when all is done."""

ONE = 2.0
"""Seconds within which further signals belong to the first one."""

_LOOK = 1.0
"""Seconds between looks at processes that are silent: one that died may have left its pipe open to another."""

_UNGUARDED = 97
"""Exit status of a process that was asked for processes while it was still beginning."""

_GUARD = Path(__file__).with_name("guard.py")

_SAFE_PATH = "PYTHONSAFEPATH"


class WorkerDied(PhantomError, RuntimeError):
    """A process ended in the middle of its work."""


class NotSendable(PhantomError, TypeError):
    """What is to be done elsewhere cannot be sent there."""


class Job(ABC, Generic[Task, Result]):
    """What the processes do. It is pickled and sent to each of them."""

    def begin(self) -> None:
        """Once in each process, first in one alone, so that the others find in the cache what it compiles."""

    @abstractmethod
    def do(self, task: Task, tell: Callable[[int], None]) -> Result:
        """Do one task, and `tell` how much more of it is done, in whatever unit."""

    def end(self) -> None:
        """Once in each process that has done its last task."""

    @abstractmethod
    def name(self, task: Task) -> str:
        """What a task is called where its process dies of it."""


def run(
    job: Job[Task, Result],
    tasks: Sequence[Task],
    workers: int,
    done: Callable[[int, Result], None],
    tell: Callable[[int], None],
) -> None:
    """Do tasks in processes. However this is left, none of them is left behind.

    Args:
        job: What to do.
        tasks: What with, at least one. They are begun in this order.
        workers: Processes, at most one a task.
        done: Told the index and the result of each task as it is done.
        tell: Told what the tasks tell, and 0 when a process has begun.

    Raises:
        NotSendable: The job does not pickle.
        WorkerDied: A process ended in the middle of its work, or could not begin.
        Exception: Whatever the job raises; its traceback is among the notes.
    """
    if getattr(current_process(), "_inheriting", False):  # the main script is being imported, see _cause
        sys.exit(_UNGUARDED)
    try:
        order = pickle.dumps(job)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise NotSendable(
            f"other processes cannot be sent what to do: {error}; agents must pickle, or be given as specs, "
            "or play with workers=1"
        ) from error
    with contextlib.ExitStack() as stack:  # goes on with the next callback where an interrupt breaks one off
        guard = _Guard() if sys.platform != "win32" else None
        if guard is not None:
            stack.callback(guard.close)
        crew: list[_Worker[Task]] = [_Worker(guard) for _ in range(min(workers, len(tasks)))]
        for worker in crew:
            stack.callback(worker.kill)
        for worker in crew:
            worker.start()
        _do_all(job, order, crew, tasks, done, tell)
        until = monotonic() + CLOSING
        for worker in crew:
            worker.process.join(max(0.0, until - monotonic()))


def _do_all(
    job: Job[Task, Result],
    order: bytes,
    crew: Sequence[_Worker[Task]],
    tasks: Sequence[Task],
    done: Callable[[int, Result], None],
    tell: Callable[[int], None],
) -> None:
    todo = iter(enumerate(tasks))
    at_work = set(crew)
    crew[0].send(order)
    waiting = list(crew[1:])
    while at_work:
        wait([each for worker in at_work for each in (worker.pipe, worker.process.sentinel)], _LOOK)
        for worker in [worker for worker in crew if worker in at_work]:
            message = worker.hear()
            if message is None:
                continue
            kind, content = message
            if kind == "died":
                raise WorkerDied(_cause(worker.process.exitcode, worker.task and job.name(worker.task[1])))
            if kind == "failed":
                raise content
            if kind == "told":
                tell(content)
                continue
            if worker.task is None:
                tell(0)
                for other in waiting:
                    other.send(order)
                waiting = []
            else:
                done(worker.task[0], content)
            worker.task = next(todo, None)
            worker.send(pickle.dumps(worker.task and worker.task[1]))
            if worker.task is None:
                at_work.remove(worker)


class _Worker(Generic[Task]):
    """A process, seen from outside.

    Attributes:
        process: The process.
        pipe: To it and from it.
        task: What it is at, with its index; None before the first and after the last.
    """

    def __init__(self, guard: _Guard | None) -> None:
        context = get_context("spawn")
        self.pipe, self._theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(self._theirs, os.environ.get(_SAFE_PATH)))
        self.task: tuple[int, Task] | None = None
        self._guard = guard

    def start(self) -> None:
        """Start it."""
        with _undisturbed():
            self.process.start()
            if self._guard is not None:
                assert self.process.pid is not None
                self._guard.tell(self.process.pid)
        self._theirs.close()

    def send(self, message: bytes) -> None:
        """Send something pickled; that it died shows when it is heard."""
        with contextlib.suppress(OSError):
            self.pipe.send_bytes(message)

    def hear(self) -> tuple[str, Any] | None:
        """What it says, if anything, or ("died", None)."""
        try:
            if self.pipe.poll():
                message: tuple[str, Any] = self.pipe.recv()
                return message
        except (EOFError, OSError):
            self.process.join(_LOOK)
            return "died", None
        return None if self.process.exitcode is None else ("died", None)

    def kill(self) -> None:
        """End it and all that it has started; nothing happens if that has been done."""
        pid = self.process.pid
        if pid is None:
            return
        self.process.kill()
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):  # no group yet; none but the dead
                os.killpg(pid, signal.SIGKILL)
        self.process.join(_LOOK)
        self.pipe.close()
        if self._guard is not None:
            self._guard.tell(-pid)


class _Guard:
    """The guard, seen from outside."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # this Python, a file of this package
            [sys.executable, "-I", "-S", str(_GUARD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            process_group=0,
        )

    def tell(self, group: int) -> None:
        """A group to watch over, or with a minus sign one that has ended."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # somebody killed it
            self._process.stdin.write(b"%d\n" % group)
            self._process.stdin.flush()

    def close(self) -> None:
        """Let it kill what is left, and end."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """For the start of a process: no Ctrl-C before it leads its group, and no modules from the working directory.

    Python would put that first until the process is told where to import from, so a file `random.py` there would do.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        if sys.platform == "win32":
            yield
            return
        resource_tracker.ensure_running()  # else `start` does it, and that lets signals through again
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    finally:
        _set_safe_path(before)


def _set_safe_path(value: str | None) -> None:
    if value is None:
        os.environ.pop(_SAFE_PATH, None)
    else:
        os.environ[_SAFE_PATH] = value


def _cause(status: int | None, task: str | None) -> str:
    """What is said of a process that ended with `status`, or with -N by the signal N."""
    if status == _UNGUARDED:
        return (
            "the main script asks for processes while it is imported, and each of them imports it; put what it does "
            'under `if __name__ == "__main__":`, or play with workers=1'
        )
    if status is None:
        how = "closed its pipe"
    elif status < 0:
        how = f"was killed by {_signal_name(-status)}"
    else:
        how = f"ended with status {status}"
    hint = "an agent may have ended it (os._exit); what it wrote on standard error may say more"
    if status == 1 and task is None:
        hint = (
            "it imports the main script, which must be a file that it can import; what it wrote on standard error says "
            "more; or play with workers=1"
        )
    elif status == -getattr(signal, "SIGKILL", 0):
        hint = "the system does so when memory runs out: fewer workers need less"
    elif status is not None and status < 0:
        hint = "look at the agents' compiled code and libraries"
    return f"a worker process {how} {f'at {task}' if task else 'before its first task'}; {hint}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _serve(pipe: Connection, safe_path: str | None) -> None:
    """The life of a process: a job, and then tasks."""
    _settle()
    _set_safe_path(safe_path)  # as the programs that agents start are to find it
    try:
        messages = _received(pipe)
        job: Job[Any, Any] | None = next(messages, None)
        if job is None:
            return
        job.begin()
        pipe.send(("done", None))
        for task in messages:
            pipe.send(("done", job.do(task, lambda more: pipe.send(("told", more)))))
    except BaseException as error:  # noqa: BLE001  # raised again by who started this process
        with contextlib.suppress(OSError):  # who has ended, perhaps
            pipe.send(("failed", _sendable(error)))
        return
    job.end()


def _received(pipe: Connection) -> Iterator[Any]:
    """What is sent here until there is no more, or nobody who sends."""
    while True:
        try:
            message = pipe.recv()
        except (EOFError, ConnectionResetError):
            return
        if message is None:
            return
        yield message


def _settle() -> None:
    """Lead a group of its own and leave signals to the system, which heeds them in compiled code, too."""
    if sys.platform != "win32":
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # forgets one that came meanwhile
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    else:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Where there are no process groups."""
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _sendable(error: BaseException) -> BaseException:
    """The error with its traceback as a note, or where it does not pickle another that says the same."""
    note = f"In a worker process:\n{traceback.format_exc()}"
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  # its own
    except Exception:  # noqa: BLE001  # whatever the class's own methods raise
        error = WorkerDied(f"{type(error).__name__}: {error}")
    error.add_note(note)
    return error


class _Stop:
    """Takes signals, and makes one interrupt of those that come within `ONE` seconds.

    Attributes:
        number: The first that came.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._until = 0.0

    def __call__(self, number: int, frame: object) -> None:
        if monotonic() < self._until:
            return
        self._until = monotonic() + ONE
        self.number = self.number or number
        raise KeyboardInterrupt


@contextlib.contextmanager
def one_interrupt() -> Iterator[None]:
    """In a program's main thread SIGINT, SIGTERM and SIGHUP are one KeyboardInterrupt, however many come at once.

    Signals that are ignored, as by `nohup`, or handled otherwise stay so. After an
    interrupt they are ignored, since the program is about to end.

    Raises:
        KeyboardInterrupt: It was SIGINT.
        SystemExit: It was another; the exit status is 128 and its number.
    """
    if threading.current_thread() is not threading.main_thread():  # signals are none of its business
        yield
        return
    stop = _Stop()
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    usual = (signal.SIG_DFL, signal.default_int_handler)
    before = {each: signal.getsignal(each) for each in (getattr(signal, name) for name in names)}
    taken = {each: handler for each, handler in before.items() if handler in usual}
    try:
        for each in taken:
            signal.signal(each, stop)
        yield
    except KeyboardInterrupt as error:
        if stop.number in (None, signal.SIGINT):
            raise
        raise SystemExit(128 + stop.number) from error
    finally:
        for each, handler in taken.items():
            signal.signal(each, handler if stop.number is None else signal.SIG_IGN)
