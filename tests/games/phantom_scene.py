"""Games of Phantom set up by hand, in the words of the rules file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from phantom_envs.core.table import Table
from phantom_envs.games.phantom import GAME
from phantom_envs.games.phantom.components import (
    CARD_BITS,
    CARD_NAMES,
    CARD_OF,
    FEAR,
    OCCUPANTS,
    TAKEN_NAMES,
    VICTORY_POINTS,
    ZONES,
)
from phantom_envs.games.phantom.state import PLAY

PLAYS = (1, 4)
PILES = (("discards", "num_discards"), ("ghost_pile", "num_ghost_pile"), ("place_pile", "num_place_pile"))


def indexes(names: str) -> list[int]:
    """The indexes of the cards named, separated by blanks."""
    return [CARD_NAMES.index(name) for name in names.split()]


def word(names: str) -> np.uint64:
    """The set of the cards named, with repeats."""
    bits = 0
    for card in indexes(names):
        copies = [bit for bit in range(CARD_BITS) if CARD_OF[bit] == card]
        bits |= 1 << next(bit for bit in copies if not bits >> bit & 1)
    return np.uint64(bits)


def scene(
    *,
    garden: str = "||",
    basement: str = "||",
    ground: str = "||",
    first: str = "||",
    hands: tuple[str, str] = ("", ""),
    known: tuple[str, str] = ("", ""),
    taken: tuple[str, str] = ("", ""),
    piles: tuple[str, str, str] = ("", "", ""),
    seat: int = 0,
    turn: int = 1,
    **options: Any,
) -> Table:
    """A game in which `seat` is to play.

    A zone is `its Occupants | the cards of seat 0 | the cards of seat 1`; `piles` are the discard pile, the Ghosts and
    the Places, the next to draw last. There is nothing else in the house.
    """
    table = Table(GAME, 2, options)
    table.deal(0)
    s = table.state
    s["phase"], s["seat"], s["turn"] = PLAY, seat, turn
    for zone, text in enumerate((garden, basement, ground, first)):
        occupants, *sides = text.split("|")
        s["occupants"][zone] = sum(1 << OCCUPANTS.index(name) for name in occupants.split())
        for owner, side in enumerate(sides):
            cards = indexes(side)
            s["num_arrivals"][owner, zone] = len(cards)
            s["arrivals"][owner, zone, : len(cards)] = cards
            s["apparitions"][owner, zone] = word(side)
            s["fear"][owner, zone] = sum(int(FEAR[card]) for card in cards)
    for owner in range(2):
        s["hands"][owner], s["known"][owner] = word(hands[owner]), word(known[owner])
        got = [TAKEN_NAMES.index(name) for name in taken[owner].split()]
        s["taken"][owner, : len(got)] = got
        s["num_taken"][owner], s["taken_set"][owner] = len(got), sum(1 << who for who in got)
        s["scores"][owner] = sum(int(VICTORY_POINTS[who]) for who in got)
    for pile, (field, number) in zip(piles, PILES, strict=True):
        cards = indexes(pile)
        s[field][: len(cards)], s[number] = cards, len(cards)
    s["discarded"] = word(piles[0])
    table.refresh()
    return table


def act(table: Table, *names: str) -> dict[str, Any]:
    """The actions of these names one after the other; the state then."""
    for name in names:
        table.play(table.action_of(name))
    return table.state_dict()


def play(table: Table, card: str, zone: str, *choices: str) -> dict[str, Any]:
    """Play a card in a zone and choose as told; the state then."""
    return act(table, f"play {card} at {zone}", *choices)


def all_cards(state: dict[str, Any]) -> list[str]:
    """Every card, wherever it is."""
    sides = [side for zone in ZONES for side in state["apparitions"][zone]]
    piles = [state["ghost_pile"], state["place_pile"], state["discard"]]
    return sorted(card for cards in (*state["hands"], *sides, *piles) for card in cards)


def random_game(plays: int, seed: int) -> Iterator[tuple[Table, int]]:
    """A table before each step of a game played at random, with the action to come (-1 when over)."""
    rng = np.random.default_rng(seed)
    table = Table(GAME, 2, {"plays": plays, "reward": "score"})
    table.deal(seed)
    while not table.over:
        action = int(rng.choice(table.legal()))
        yield table, action
        table.play(action)
    yield table, -1
