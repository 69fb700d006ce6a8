"""Cards on the move in Phantom: into sets and out of them, into an apparition, out of it and to the discard pile."""

from __future__ import annotations

from typing import Any

from phantom_envs.core.bits import EMPTY, bit, has
from phantom_envs.core.game import Record
from phantom_envs.core.jit import jit
from phantom_envs.games.phantom.components import CARD_OF, FEAR, SECOND


@jit
def with_card(cards: Any, card: int) -> Any:
    """The set with one more copy of `card`."""
    return cards | (SECOND[card] if has(cards, card) else bit(card))


@jit
def without_card(cards: Any, card: int) -> Any:
    """The set with one copy of `card` fewer; it must hold one."""
    second = SECOND[card]
    return cards ^ (second if cards & second != EMPTY else bit(card))


@jit
def card_of(index: int) -> int:
    """The card that bit `index` of a set stands for."""
    return int(CARD_OF[index])


@jit
def arrive(s: Record, seat: int, zone: int, card: int) -> None:
    """Put a card at the end of an apparition."""
    size = int(s["num_arrivals"][seat, zone])
    s["arrivals"][seat, zone, size] = card
    s["num_arrivals"][seat, zone] = size + 1
    s["apparitions"][seat, zone] = with_card(s["apparitions"][seat, zone], card)
    s["fear"][seat, zone] += FEAR[card]


@jit
def leave(s: Record, seat: int, zone: int, card: int) -> None:
    """Take a card out of an apparition that holds it; of equal ones the first that came (R14)."""
    size = int(s["num_arrivals"][seat, zone])
    position = 0
    while int(s["arrivals"][seat, zone, position]) != card:
        position += 1
    for later in range(position + 1, size):
        s["arrivals"][seat, zone, later - 1] = s["arrivals"][seat, zone, later]
    s["num_arrivals"][seat, zone] = size - 1
    s["apparitions"][seat, zone] = without_card(s["apparitions"][seat, zone], card)
    s["fear"][seat, zone] -= FEAR[card]


@jit
def discard(s: Record, ghost: int) -> None:
    """Put a Ghost on the discard pile."""
    s["discards"][int(s["num_discards"])] = ghost
    s["num_discards"] += 1
    s["discarded"] = with_card(s["discarded"], ghost)


@jit
def recover(s: Record, ghost: int) -> None:
    """Take a Ghost out of the discard pile, which holds it; of equal ones the first that came (R14)."""
    size = int(s["num_discards"])
    position = 0
    while int(s["discards"][position]) != ghost:
        position += 1
    for later in range(position + 1, size):
        s["discards"][later - 1] = s["discards"][later]
    s["num_discards"] = size - 1
    s["discarded"] = without_card(s["discarded"], ghost)


@jit
def banish(s: Record, seat: int, zone: int, victims: Any) -> None:
    """Discard the Ghosts of an apparition that are in `victims` (all copies of a kind or none), as they came."""
    kept = 0
    fear = 0
    for position in range(int(s["num_arrivals"][seat, zone])):
        card = int(s["arrivals"][seat, zone, position])
        if has(victims, card):
            discard(s, card)
        else:
            s["arrivals"][seat, zone, kept] = card
            kept += 1
            fear += FEAR[card]
    s["num_arrivals"][seat, zone] = kept
    s["apparitions"][seat, zone] &= ~victims
    s["fear"][seat, zone] = fear
