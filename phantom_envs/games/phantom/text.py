"""Phantom in words: the complete state, and the table as a seat sees it."""

from __future__ import annotations

from typing import Any

from phantom_envs.core.game import Record, members_of
from phantom_envs.core.terminal import paint
from phantom_envs.games.phantom.components import (
    CARD_BITS,
    CARD_NAMES,
    CARD_OF,
    DREAD,
    FAMILIES,
    GHOST_KINDS,
    NUM_KINDS,
    NUM_SEATS,
    NUM_ZONES,
    OCCUPANTS,
    ROLES,
    TAKEN_NAMES,
    ZONES,
)
from phantom_envs.games.phantom.state import ON_HOWLER, OVER, PHASES


def cards_of(cards: Any) -> list[int]:
    """The cards of a set with repeats, ascending."""
    return sorted(int(CARD_OF[index]) for index in range(CARD_BITS) if int(cards) >> index & 1)


def names(cards: Any) -> list[str]:
    """The names of cards given one by one."""
    return [CARD_NAMES[card] for card in cards]


def apparition(s: Record, seat: int, zone: int) -> list[str]:
    """The cards of an apparition in the order they came."""
    return names(s["arrivals"][seat, zone, : s["num_arrivals"][seat, zone]])


def fleeing(s: Record) -> str | None:
    """The Occupant who is choosing where to flee."""
    if s["phase"] != ON_HOWLER:
        return None
    return OCCUPANTS[members_of(s["occupants"][s["effect_zone"]])[0]]


def taken(s: Record, seat: int) -> list[str]:
    """What a seat has taken, in order."""
    return [TAKEN_NAMES[occupant] for occupant in s["taken"][seat, : s["num_taken"][seat]]]


def state_dict(s: Record) -> dict[str, Any]:
    """The complete state with the keys of the rules file. It holds hidden information."""
    seats, zones = range(NUM_SEATS), range(NUM_ZONES)
    return {
        "game": "phantom",
        "num_players": NUM_SEATS,
        "plays": int(s["plays"]),
        "phase": PHASES[s["phase"]],
        "to_act": int(s["seat"]) if s["seat"] >= 0 else None,
        "turn": int(s["turn"]),
        "zones_played": [ZONES[zone] for zone in s["zones_played"][: s["num_zones_played"]]],
        "effect_zone": ZONES[s["effect_zone"]] if s["effect_zone"] >= 0 else None,
        "fleeing": fleeing(s),
        "queen_family": FAMILIES[s["queen_family"]] if s["queen_family"] >= 0 else None,
        "hands": [names(cards_of(s["hands"][seat])) for seat in seats],
        "known_hand": [names(cards_of(s["known"][seat])) for seat in seats],
        "apparitions": {ZONES[zone]: [apparition(s, seat, zone) for seat in seats] for zone in zones},
        "occupants": {ZONES[zone]: [OCCUPANTS[who] for who in members_of(s["occupants"][zone])] for zone in zones},
        "taken": [taken(s, seat) for seat in seats],
        "scores": [int(s["scores"][seat]) for seat in seats],
        "ghost_pile": names(s["ghost_pile"][: s["num_ghost_pile"]]),
        "place_pile": names(s["place_pile"][: s["num_place_pile"]]),
        "discard": names(s["discards"][: s["num_discards"]]),
        "winners": members_of(s["winners"]),
    }


FAMILY_COLORS = ("cyan", "yellow", "magenta", "red")


def show_card(card: int, color: bool) -> str:
    """A card in the colour of its family; Places are plain."""
    return paint(CARD_NAMES[card], FAMILY_COLORS[card // NUM_KINDS], color) if card < GHOST_KINDS else CARD_NAMES[card]


def show_cards(cards: Any, color: bool) -> str:
    """Cards one after the other, `-` for none."""
    return " ".join(show_card(int(card), color) for card in cards) or "-"


def show_hand(s: Record, owner: int, seat: int | None, color: bool) -> str:
    """A hand as `seat` sees it: its own whole, of the other's the known cards and the number of the rest."""
    held, known = cards_of(s["hands"][owner]), cards_of(s["known"][owner])
    if seat is None or owner == seat:
        return show_cards(held, color)
    ghosts = sum(card < GHOST_KINDS for card in held)
    hidden = f"[{ghosts - len(known)} ghosts, {len(held) - ghosts} places]"
    return f"{show_cards(known, color)} {hidden}" if known else hidden


def headline(s: Record) -> str:
    """Turn and phase, and what an effect is about; or how the game ended."""
    title = f"Phantom, turn {s['turn']}, "
    if s["phase"] == OVER:
        return title + "won by " + " and ".join(f"player_{seat}" for seat in members_of(s["winners"]))
    title += PHASES[s["phase"]]
    if s["effect_zone"] >= 0:
        title += f" in {ZONES[s['effect_zone']]}"
    return f"{title}: {fleeing(s)} flees" if s["phase"] == ON_HOWLER else title


def picture(s: Record, seat: int | None, color: bool) -> str:
    """The table as `seat` sees it; None shows every hand."""
    lines = [paint(headline(s), "bold", color)]
    for zone in range(NUM_ZONES):
        who = ", ".join(f"{OCCUPANTS[k]} {DREAD[k]}" for k in members_of(s["occupants"][zone])) or "empty"
        used = " (played)" if zone in s["zones_played"][: s["num_zones_played"]] else ""
        lines.append(paint(f"{ZONES[zone]}: {who}{used}", "bold", color))
        for owner in range(NUM_SEATS):
            cards = s["arrivals"][owner, zone, : s["num_arrivals"][owner, zone]]
            lines.append(f"    player_{owner} {s['fear'][owner, zone]:>2}  {show_cards(cards, color)}")
    for owner in range(NUM_SEATS):
        mark = ">" if owner == s["seat"] else " "
        own = " (you)" if owner == seat else ""
        score = f"score {s['scores'][owner]} ({', '.join(taken(s, owner)) or '-'})"
        lines.append(f"{mark} player_{owner}{own}, {ROLES[owner]}: {score}")
        lines.append(f"    hand  {show_hand(s, owner, seat, color)}")
    lines.append(f"ghost pile {s['num_ghost_pile']}, place pile {s['num_place_pile']}")
    lines.append(f"discard  {show_cards(s['discards'][: s['num_discards']], color)}")
    return "\n".join(lines)
