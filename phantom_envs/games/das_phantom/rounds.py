"""The course of a round: the turns, then the Phantom's move."""

from __future__ import annotations

from typing import Any

from phantom_envs.core.game import TRUNCATED, Record
from phantom_envs.core.jit import jit
from phantom_envs.core.rng import below
from phantom_envs.games.das_phantom.components import CHASE_RANGE, MAGIC, MAX_PLAYERS, NUM_FACES, WHITE_NUMBERS
from phantom_envs.games.das_phantom.hexes import both, is_empty, load, only, without
from phantom_envs.games.das_phantom.movement import clear_turn, roll_black
from phantom_envs.games.das_phantom.piles import draw, has_left
from phantom_envs.games.das_phantom.state import CHASE, DIE, HAUNT, MOVE, OVER, PHANTOM


@jit
def start_round(s: Record) -> None:
    """The first player rolls all black dice and is the first to choose."""
    for face in range(NUM_FACES):
        s["dice"][face] = 0
    for _ in range(int(s["num_players"])):
        s["dice"][roll_black(s)] += 1
    s["seat"] = s["first"]
    s["phase"] = DIE


@jit
def choose_die(s: Record, face: int) -> None:
    """The die of the turn."""
    s["dice"][face] -= 1
    s["face"] = face
    s["phase"] = MOVE


@jit
def end_turn(s: Record) -> None:
    """Count a blocked turn (R15); the next player's turn, or after the last the Phantom's move."""
    seat = int(s["seat"])
    s["blocked"][seat] = int(s["blocked"][seat]) + 1 if int(s["stuck"]) else 0
    clear_turn(s)
    following = (seat + 1) % int(s["num_players"])
    s["seat"] = following
    if following != int(s["first"]):
        s["phase"] = DIE
        return
    number = 1 + below(s["rng"], WHITE_NUMBERS + 1)
    if number > WHITE_NUMBERS:
        s["phase"] = HAUNT
    else:
        s["steps"] = number
        s["phase"] = PHANTOM


@jit
def haunt(s: Record, place: int) -> None:
    """Put the Phantom into a room, and roll until a number shows."""
    s["phantom"] = place
    s["steps"] = 1 + below(s["rng"], WHITE_NUMBERS)
    s["phase"] = PHANTOM


@jit
def step(s: Record, place: int) -> None:
    """One step of the Phantom (R17), and who is to be chased for it."""
    s["phantom"] = place
    s["steps"] -= 1
    mover = int(s["seat"])
    players = int(s["num_players"])
    for distance in range(1, players):
        seat = (mover + distance) % players
        if int(s["pawns"][seat]) == place:
            mark(s, seat)
    if int(s["pawns"][mover]) == place:  # the mover's own pawn: the player to the left is chased instead
        left = (mover + 1) % players
        about_to_be = False
        for position in range(int(s["num_to_chase"])):
            about_to_be = about_to_be or int(s["to_chase"][position]) == left
        if not about_to_be:
            mark(s, left)
    go_on(s)


@jit
def mark(s: Record, seat: int) -> None:
    """Note a pawn to be chased, unless it already was or (R18) has nowhere to go."""
    for position in range(int(s["num_chased"])):
        if int(s["chased"][position]) == seat:
            return
    if is_empty(refuges(s, seat)):
        return
    s["to_chase"][int(s["num_to_chase"])] = seat
    s["num_to_chase"] += 1


@jit
def refuges(s: Record, seat: int) -> Any:
    """Where the pawn of `seat` can be chased to."""
    in_range = load(CHASE_RANGE[int(s["pawns"][seat])])
    return without(both(in_range, load(s["paths"])), only(int(s["phantom"])))


@jit
def chase(s: Record, cell: int) -> None:
    """Chase the first of those to be chased."""
    seat = int(s["to_chase"][0])
    for position in range(1, MAX_PLAYERS):
        s["to_chase"][position - 1] = s["to_chase"][position]
    s["to_chase"][MAX_PLAYERS - 1] = 0
    s["num_to_chase"] -= 1
    s["chased"][int(s["num_chased"])] = seat
    s["num_chased"] += 1
    s["pawns"][seat] = cell
    s["blocked"][seat] = 0
    go_on(s)


@jit
def go_on(s: Record) -> None:
    """The next chase, the next step, or the end of the Phantom's move."""
    if int(s["num_to_chase"]) > 0:
        s["phase"] = CHASE
    elif int(s["steps"]) > 0:
        s["phase"] = PHANTOM
    else:
        end_round(s)


@jit
def end_round(s: Record) -> None:
    """A card for who has chased; then the next round, unless the game is cut off (R19)."""
    mover = int(s["seat"])
    if int(s["num_chased"]) > 0 and has_left(s, MAGIC):
        draw(s, mover, MAGIC)
    s["num_chased"] = 0
    for position in range(MAX_PLAYERS):
        s["chased"][position] = 0
    if int(s["round"]) == int(s["max_rounds"]):
        s["status"] = TRUNCATED
        s["phase"] = OVER
        s["seat"] = -1
    else:
        s["round"] += 1
        s["first"] = (mover + 1) % int(s["num_players"])
        start_round(s)
