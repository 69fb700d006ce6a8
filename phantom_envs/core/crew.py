"""A crew: threads that together run a kernel over the rows of a batch.

To hand a part of a step to a thread of Python's takes as long as a small batch is stepped. So helpers wait in compiled
code, and what all threads share is one `board`, an int64 array. The caller writes down what is to be done; whoever is
awake, the caller included, takes block after block of rows until none is left. A helper that finds nothing to do for a
while goes to sleep, and is called when there is work again. One that sleeps, or is late, costs time but no result: the
others do its part.
"""

from __future__ import annotations

import os
import platform
import weakref
from collections.abc import Callable
from functools import cache
from queue import SimpleQueue
from threading import RLock, Thread, current_thread
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils as untyped_cgutils
from numpy.typing import NDArray

from phantom_envs.core.jit import JIT_DISABLED, entry, jit

intrinsic: Any = extending.intrinsic  # numba's own types miss that callers leave the typing context out
cgutils: Any = untyped_cgutils

Board = NDArray[np.int64]

LINE = 16
"""Words between what different threads write: two cache lines, since processors fetch them in pairs."""

KERNEL, ARGUMENTS, ROWS, BLOCKS, LANES, FAILURE, REASON = range(7)
"""Words: addresses of the kernel and its arguments, rows, blocks of a lane, lanes (threads), status and address of the
error of a kernel that has raised."""

DONE = LINE
"""Word: blocks done."""

LEFT, ASLEEP = 2 * LINE, 2 * LINE + LINE // 2
"""Words of the first lane, with those of the next `LINE` further on: its blocks left to take, whether its thread
sleeps."""

BLOCK_ROWS = 64
"""Rows of a block, about: some microseconds, so that nobody waits long for the last one."""

PATIENCE = 4000
"""Looks at the board after which a helper goes to sleep: some 100 µs. A caller that steps again and again is back
sooner, and one that computes something else between steps hardly misses the core for so short a time."""

SOON = 2e-4
"""Seconds of sleep that were too short: the helper had better waited."""

WORD = ir.IntType(64)
STATUS = ir.IntType(32)
ADDRESS = ir.IntType(8).as_pointer()

PART = ir.FunctionType(STATUS, [ADDRESS, WORD, WORD, WORD.as_pointer()])
"""`(arguments, first, last, reason)` runs a kernel over some rows. It returns 0, or the status of an error, whose
address it leaves in `reason`."""


def _at(context: Any, builder: Any, kind: Any, board: Any, index: Any) -> Any:
    """Pointer to a word of the board."""
    index = WORD(index) if isinstance(index, int) else index
    return builder.gep(cgutils.create_struct_proxy(kind)(context, builder, board).data, [index])


@intrinsic
def _load(typingctx: Any, board: Any, index: Any) -> Any:
    """The word, read before all that follows is."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_at(context, builder, board, *args), "seq_cst", 8)

    return types.int64(board, types.int64), codegen


@intrinsic
def _store(typingctx: Any, board: Any, index: Any, value: Any) -> Any:
    """Write the word, after all that was written before."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store_atomic(args[2], _at(context, builder, board, *args[:2]), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(board, types.int64, types.int64), codegen


@intrinsic
def _add(typingctx: Any, board: Any, index: Any, value: Any) -> Any:
    """Add to the word, of several threads one after the other. Returns what it was before."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _at(context, builder, board, *args[:2]), args[2], "seq_cst")

    return types.int64(board, types.int64, types.int64), codegen


@intrinsic
def _pause(typingctx: Any) -> Any:
    """Tell the core that this thread only waits, so that a thread that shares it goes first."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if platform.machine() in ("x86_64", "AMD64"):
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def _write_down(typingctx: Any, board: Any, kernel: Any, arguments: Any) -> Any:
    """Put addresses on the board: of a function that runs `kernel(*arguments, first, last)`, and of its arguments.

    These lie on the stack of the function in which this is written. It may not return before all is done.
    """
    call = kernel.get_call_type(typingctx, (*arguments.types, types.int64, types.int64), {})

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        compiled = kernel.dispatcher.get_compile_result(call)
        context.add_linking_libs([compiled.library])
        kept = cgutils.alloca_once_value(builder, args[2])
        part = _define_part(context, builder.module, compiled.fndesc, call, args[2].type)
        for index, pointer in ((KERNEL, part), (ARGUMENTS, kept)):
            builder.store(builder.ptrtoint(pointer, WORD), _at(context, builder, board, args[0], index))
        return context.get_dummy_value()

    return types.void(board, kernel, arguments), codegen


def _define_part(context: Any, module: Any, description: Any, call: Any, kept: Any) -> Any:
    """A function of type `PART` in `module` that calls a compiled kernel with arguments `kept` as a tuple."""
    part = ir.Function(module, PART, module.get_unique_name("part"))
    part.linkage = "internal"
    builder = ir.IRBuilder(part.append_basic_block())
    arguments, first, last, reason = part.args
    given = cgutils.unpack_tuple(builder, builder.load(builder.bitcast(arguments, kept.as_pointer())))
    status, _ = context.call_internal_no_propagate(builder, description, call, [*given, first, last])
    builder.store(builder.ptrtoint(status.excinfoptr, WORD), reason)
    builder.ret(builder.select(status.is_error, status.code, STATUS(0)))
    return part


@intrinsic
def _perform(typingctx: Any, board: Any, first: Any, last: Any) -> Any:
    """Do what is on the board for some rows. An error is put there, too."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def at(index: int) -> Any:
            return _at(context, builder, board, args[0], index)

        part = builder.inttoptr(builder.load(at(KERNEL)), PART.as_pointer())
        reason = cgutils.alloca_once(builder, WORD)
        status = builder.call(part, [builder.inttoptr(builder.load(at(ARGUMENTS)), ADDRESS), *args[1:], reason])
        with builder.if_then(builder.icmp_signed("!=", status, STATUS(0)), likely=False):
            builder.store(builder.load(reason), at(REASON))
            builder.store(builder.sext(status, WORD), at(FAILURE))
        return context.get_dummy_value()

    return types.void(board, types.int64, types.int64), codegen


@intrinsic
def _raise_failure(typingctx: Any, board: Any) -> Any:
    """Raise the error that is on the board, if there is one."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def read(index: int) -> Any:
            return builder.load(_at(context, builder, board, args[0], index))

        status = builder.trunc(read(FAILURE), STATUS)
        with builder.if_then(builder.icmp_signed("!=", status, STATUS(0)), likely=False):
            reason = builder.inttoptr(read(REASON), builder.function.args[1].type.pointee)
            context.call_conv.return_status_propagate(builder, SimpleNamespace(code=status, excinfoptr=reason))
        return context.get_dummy_value()

    return types.void(board), codegen


@jit
def _take_part(board: Any, lane: int) -> int:
    """Do blocks until none is left: those of the own lane, then those of the others. Returns their number.

    A block is taken by counting down what is left. There is work only if something was left; then what is on the board
    stays there until this block is counted as done. Before that nothing on it can be trusted.
    """
    lanes = board[LANES]
    done = 0
    for offset in range(lanes):
        whose = (lane + offset) % lanes
        while _load(board, LEFT + LINE * whose) > 0:
            left = _add(board, LEFT + LINE * whose, -1)
            if left <= 0:
                break
            begin = board[ROWS] * whose // lanes
            size = board[ROWS] * (whose + 1) // lanes - begin
            block = board[BLOCKS] - left
            _perform(board, begin + size * block // board[BLOCKS], begin + size * (block + 1) // board[BLOCKS])
            done += 1
    if done > 0:
        _add(board, DONE, done)
    return done


@jit
def _work_through(board: Any, rows: int) -> None:
    """Do what is written down for all rows, together with all who help."""
    lanes = board[LANES]
    blocks = max(1, rows // (lanes * BLOCK_ROWS))
    board[ROWS] = rows
    board[BLOCKS] = blocks
    board[FAILURE] = 0
    _store(board, DONE, 0)
    for lane in range(lanes - 1, -1, -1):
        _store(board, LEFT + LINE * lane, blocks)
    _take_part(board, 0)
    while _load(board, DONE) < lanes * blocks:
        _pause()


@entry("core")
def _help(board: Any, lane: int, patience: int) -> int:
    """Take part in all work until there was none for `patience` looks at the board. Returns the number of blocks."""
    done = _take_part(board, lane)
    looks = 0
    while looks < patience:
        if _load(board, LEFT + LINE * lane) > 0:
            done += _take_part(board, lane)
            looks = 0
        else:
            _pause()
            looks += 1
    _store(board, ASLEEP + LINE * lane, 1)
    return done


@cache
def _shared(kernel: Any) -> Callable[..., None]:
    """`(board, rows, *arguments)` runs `kernel(*arguments, first, last)` over all rows."""

    @entry("core-threads")
    def share(board: Any, rows: int, *arguments: Any) -> None:
        _write_down(board, kernel, arguments)
        _work_through(board, rows)
        _raise_failure(board)

    return share


class _Helpers:
    """The threads of a crew besides the caller's, and what is shared with them. They end with this object."""

    def __init__(self, number: int) -> None:
        self.turn = RLock()
        self.board: Board = np.zeros(LINE * (3 + number), np.int64)
        self.board[LANES] = 1 + number
        self._called: list[tuple[int, SimpleQueue[bool]]] = []
        threads: list[tuple[Thread, SimpleQueue[bool]]] = []
        self.dismiss = weakref.finalize(self, _dismiss, threads)
        for lane in range(1, 1 + number):
            calls: SimpleQueue[bool] = SimpleQueue()
            thread = Thread(target=_serve, args=(self.board, lane, calls), name=f"phantom_envs-{lane}", daemon=True)
            thread.start()
            threads.append((thread, calls))
            self._called.append((ASLEEP + LINE * lane, calls))
            self.board[ASLEEP + LINE * lane] = 1

    def wake(self) -> None:
        """Call those who sleep."""
        for asleep, calls in self._called:
            if self.board[asleep]:
                self.board[asleep] = 0
                calls.put(True)


def _serve(board: Board, lane: int, calls: SimpleQueue[bool]) -> None:
    """What a helper does: help when it is called, until it is told False.

    It waits awake only if that promises to pay: it was of use when called last, and slept for a short time.
    """
    useful, since = False, 0.0
    while calls.get():
        useful = _help(board, lane, PATIENCE if useful and perf_counter() - since < SOON else 0) > 0
        since = perf_counter()


def _dismiss(threads: list[tuple[Thread, SimpleQueue[bool]]]) -> None:
    for _, calls in threads:
        calls.put(False)
    for thread, _ in threads:
        if thread is not current_thread():  # it may be the one that collects garbage
            thread.join()


class Crew:
    """Threads to run kernels with.

    They start when there is something to do, in a process forked from this one anew. They end with the crew, and keep
    neither it nor the process alive.

    Args:
        threads: How many, at least 1, the caller's own included.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._helpers: dict[int, _Helpers] = {}  # by process: threads do not survive a fork

    def run(self, kernel: Callable[..., None], rows: int, *arguments: Any) -> None:
        """Run `kernel(*arguments, first, last)`, an `entry`, for parts of `range(rows)` that make up the whole.

        It returns, or raises what a kernel has raised, when all is done. Threads that call this at once take turns.
        """
        if self.threads == 1 or JIT_DISABLED:
            kernel(*arguments, 0, rows)
            return
        process = os.getpid()
        helpers = self._helpers.get(process) or self._helpers.setdefault(process, _Helpers(self.threads - 1))
        with helpers.turn:
            helpers.wake()
            _shared(kernel)(helpers.board, rows, *arguments)

    def dismiss(self) -> None:
        """End the threads. The next `run` starts others."""
        helpers = self._helpers.pop(os.getpid(), None)
        if helpers is not None:
            helpers.dismiss()
