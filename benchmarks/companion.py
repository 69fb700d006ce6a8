"""A second process that plays beside this one: how much two cores can do together, which no two threads can exceed."""

from __future__ import annotations

from functools import cache, partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import TypeAlias

from benchmarks.ours import LIBRARY, batch_loop
from benchmarks.timing import Contender, Loop
from phantom_envs.core.game import Game
from phantom_envs.registry import get_game

TWO_PROCESSES = "vec.sample in two processes"

CALLS = 16
"""Calls of a loop between two words with the other process, which should not count."""

Order: TypeAlias = tuple[str, int, int]
"""Game, players and batch of a loop."""


def contender(game: str, players: int, batch: int, pair: tuple[int, int]) -> Contender:
    """Two processes on two cores."""
    the_game = get_game(game)
    make = partial(side_by_side, the_game, players, batch)
    size = the_game.layout(players).size
    return Contender(LIBRARY, game, players, TWO_PROCESSES, make, cores=pair, batch=batch, observation=size)


def side_by_side(game: Game, players: int, batch: int) -> Loop:
    """`batch_loop` with one thread in this process and, at the same time, in another; the steps of both count."""
    order = game.id, players, batch
    other, own = companion(), batch_loop(game, players, batch)
    other.send((order, 0))
    other.recv()

    def play() -> int:
        other.send((order, CALLS))
        steps = sum(own() for _ in range(CALLS))
        return steps + int(other.recv())

    return play


@cache
def companion() -> Connection:
    """The other process, one for all loops, which ends with this one. It runs on the cores of its first caller."""
    context = get_context("spawn")
    here, there = context.Pipe()
    context.Process(target=accompany, args=(there,), daemon=True).start()
    there.close()
    return here


def accompany(connection: Connection) -> None:
    """Play as often as is asked, and answer the number of steps."""
    loops: dict[Order, Loop] = {}
    while True:
        try:
            order, calls = connection.recv()
        except EOFError:
            return
        if order not in loops:
            loops[order] = batch_loop(get_game(order[0]), *order[1:])
        connection.send(sum(loops[order]() for _ in range(calls)))
