"""Games of Phantom Trick set up by hand, in the words of the rules file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from phantom_envs.core.table import Table
from phantom_envs.games.phantom_trick import GAME
from phantom_envs.games.phantom_trick.components import CARD_NAMES, DECKS, NUM_VALUES, SUITS
from phantom_envs.games.phantom_trick.state import PLACE, PLAY

PLAYERS = (3, 4, 5)


def index(card: str) -> int:
    """The index of a card."""
    return CARD_NAMES.index(card)


def cards(names: str) -> np.uint64:
    """The set of the cards named, separated by blanks."""
    return np.uint64(sum(1 << index(name) for name in names.split()))


def names(members: Any) -> list[str]:
    """The cards of a set, in order of their index."""
    return [name for position, name in enumerate(CARD_NAMES) if int(members) >> position & 1]


def before_laying(*hands: str, seed: int = 0) -> Table:
    """Phase "place" with these hands; of the other cards each may be unused."""
    table = Table(GAME, len(hands), {"reward": "score"})
    table.deal(seed)
    s = table.state
    s["unused"] = DECKS[len(hands)]
    for seat, hand in enumerate(hands):
        s["hands"][seat] = cards(hand)
        s["unused"] &= ~cards(hand)
    assert s["phase"] == PLACE
    table.refresh()
    return table


def trick(*hands: str, rows: str = "", piles: str = "", first: int = 0, number: int = 1, seed: int = 0) -> Table:
    """A trick that seat `first` leads; `rows` and `piles` per seat, separated by commas."""
    table = before_laying(*hands, seed=seed)
    s = table.state
    for seat, row in enumerate(rows.split(",") if rows else []):
        for card in map(index, row.split()):
            s["row"][seat, s["row_size"][seat]] = card
            s["row_size"][seat] += 1
            s["row_values"][seat] |= 1 << (card % NUM_VALUES)
            s["owned"][seat] |= np.uint64(1 << card)
            s["known"] |= np.uint64(1 << card)
    for seat, pile in enumerate(piles.split(",") if piles else []):
        for card in map(index, pile.split()):
            s["pile"][seat, s["pile_size"][seat]] = card
            s["pile_size"][seat] += 1
            s["known"] |= np.uint64(1 << card)
    s["unused"] &= ~s["known"]
    s["phase"], s["trick"] = PLAY, number
    s["first"] = s["leader"] = s["seat"] = first
    table.refresh()
    return table


def play(table: Table, names_of_cards: str) -> dict[str, Any]:
    """Lay, play or take the cards named one after the other; the state then."""
    for card in names_of_cards.split():
        table.play(index(card))
    return table.state_dict()


def voids(table: Table) -> list[set[str]]:
    """Per seat, the suits shown to lack."""
    shown = table.state["voids"][: table.num_players].tolist()
    return [{suit for number, suit in enumerate(SUITS) if each >> number & 1} for each in shown]


def random_game(players: int, seed: int) -> Iterator[tuple[Table, int]]:
    """A table before each step of a game played at random, with the action to come (-1 when over)."""
    rng = np.random.default_rng(seed)
    table = Table(GAME, players)
    table.deal(seed)
    while not table.over:
        action = int(rng.choice(table.legal()))
        yield table, action
        table.play(action)
    yield table, -1
