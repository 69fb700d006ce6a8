"""Fantasmagória in words: the complete state, and the table as a seat sees it."""

from __future__ import annotations

from typing import Any

from phantom_envs.core.game import Record, members_of, seat_or_none
from phantom_envs.core.terminal import paint
from phantom_envs.games.fantasmagoria.components import (
    CARD_NAMES,
    CUP,
    NUM_NUMBERS,
    NUM_SUITS,
    SCARY,
    SUITS,
)
from phantom_envs.games.fantasmagoria.state import HAUNT, OVER, PHASES, PLAY, SACRIFICE


def secret(s: Record) -> bool:
    """Cards are sacrificed in secret; with the last one all are revealed."""
    return bool(s["phase"] == SACRIFICE and (s["sacrificed"][: s["num_players"]] == 0).sum() > 1)


def names(cards: Any) -> list[str]:
    """The cards of a set, sorted by index."""
    return [CARD_NAMES[card] for card in members_of(cards)]


def on_table(s: Record) -> list[tuple[int, int]]:
    """Seat and card of what lies on the table, in order of play."""
    cards = s["tricks"][int(s["trick"]) - 1][: int(s["on_table"])]
    return [((int(s["leader"]) + k) % int(s["num_players"]), int(card)) for k, card in enumerate(cards)]


def finished_tricks(s: Record) -> list[list[int]]:
    """The cards of the finished tricks of this round, each in order of play."""
    done = int(s["trick"]) - (s["phase"] != OVER)
    return [[int(card) for card in trick[: int(s["num_players"])]] for trick in s["tricks"][:done]]


def won_cards(s: Record) -> list[list[int]]:
    """Per seat, the cards won this round in the order they came: a trick, then what it freed; left in hand last."""
    won: list[list[int]] = [[] for _ in range(int(s["num_players"]))]
    captured: list[int] = []
    for trick, winner in zip(finished_tricks(s), s["trick_winners"], strict=False):
        freed = captured
        captured = [card for card in trick if CUP in trick and int(SCARY) >> card & 1]
        won[winner] += [card for card in trick if card not in captured] + freed
    for seat, cards in enumerate(won):
        cards += [card for card in members_of(s["won"][seat]) if card not in cards]
    return won


def imprisoned_cards(s: Record) -> list[int]:
    """The cards on the cup, in order of play."""
    return [card for trick in finished_tricks(s) for card in trick if int(s["imprisoned"]) >> card & 1]


def sacrificed_cards(s: Record) -> list[str | None]:
    """Per seat, the card sacrificed; None before and once its pile is taken."""
    return [
        names(s["sacrificed"][seat])[0] if s["sacrificed"][seat] and int(s["piles_left"]) >> seat & 1 else None
        for seat in range(int(s["num_players"]))
    ]


def state_dict(s: Record) -> dict[str, Any]:
    """The complete state with the keys of the rules file. It holds hidden information."""
    players = range(int(s["num_players"]))
    return {
        "game": "fantasmagoria",
        "num_players": len(players),
        "round": int(s["round"]),
        "trick": int(s["trick"]),
        "phase": PHASES[s["phase"]],
        "to_act": seat_or_none(s["seat"]),
        "hands": [names(s["hands"][seat]) for seat in players],
        "piles": [names(s["piles"][pile]) if int(s["piles_left"]) >> pile & 1 else None for pile in players],
        "sacrificed": sacrificed_cards(s),
        "trump": int(s["trump"]) or None,
        "trump_moved": bool(s["trump_moved"]),
        "possessed": [bool(int(s["possessed"]) >> seat & 1) for seat in players],
        "leader": seat_or_none(s["leader"]),
        "lead_suit": SUITS[s["lead_suit"]] if s["lead_suit"] >= 0 else None,
        "table": [{"seat": seat, "card": CARD_NAMES[card]} for seat, card in on_table(s)],
        "won": [[CARD_NAMES[card] for card in cards] for cards in won_cards(s)],
        "imprisoned": [CARD_NAMES[card] for card in imprisoned_cards(s)],
        "cup_trick": bool(int(s["table"]) >> CUP & 1),
        "scores": [int(s["scores"][seat]) for seat in players],
        "last_scares": [int(s["last_scares"][seat]) for seat in players],
        "winners": [seat for seat in players if int(s["winners"]) >> seat & 1],
    }


COLORS = ("yellow", "red", "green", "magenta", "cyan", "white")
"""Per suit, how it is painted; the cup last."""


def picture(s: Record, seat: int | None, color: bool) -> str:
    """The table as `seat` sees it; None shows every hand, pile and sacrifice."""

    def show(cards: list[int]) -> str:
        return " ".join(paint(CARD_NAMES[card], COLORS[card // NUM_NUMBERS], color) for card in cards) or "-"

    players = range(int(s["num_players"]))
    title = f"Fantasmagória, round {s['round']}, trick {s['trick']}, {PHASES[s['phase']]}"
    lines = [paint(title, "bold", color)]
    if s["phase"] == OVER:
        lines.append("won by " + ", ".join(f"player_{k}" for k in players if int(s["winners"]) >> k & 1))
    elif s["phase"] in (PLAY, HAUNT):
        suit = SUITS[s["lead_suit"]] if s["lead_suit"] >= 0 else "any"
        lines.append(f"leader player_{s['leader']}, suit {suit}, trump {s['trump']}")
    if s["imprisoned"]:
        lines.append(f"on the cup {show(imprisoned_cards(s))}")
    played = dict(on_table(s))
    won = won_cards(s)
    for other in players:
        mark = ">" if other == s["seat"] else " "
        own = " (you)" if other == seat else ""
        possessed = ", possessed" if int(s["possessed"]) >> other & 1 else ""
        lines.append(f"{mark} player_{other}{own}: scares {s['scores'][other]}{possessed}")
        open_to_seat = seat is None or other == seat
        if s["phase"] == SACRIFICE:
            laid = members_of(s["sacrificed"][other])
            lines.append(f"    sacrifices {show(laid) if open_to_seat or not laid else 'face-down'}")
        else:
            lines.append(f"    plays  {show([played[other]] if other in played else [])}")
            scary = [card for card in won[other] if int(SCARY) >> card & 1]
            lines.append(f"    won    {show(scary)} and {len(won[other]) - len(scary)} more")
        lacks = [SUITS[suit] for suit in range(NUM_SUITS) if int(s["voids"]) >> (NUM_SUITS * other + suit) & 1]
        if lacks:
            lines.append(f"    lacks  {', '.join(lacks)}")
        if s["shown"][other] and not open_to_seat:
            lines.append(f"    holds  {show(members_of(s['shown'][other]))}")
        if open_to_seat:
            lines.append(f"    hand   {show(members_of(s['hands'][other]))}")
    for pile in players:
        if int(s["piles_left"]) >> pile & 1:
            beyond = show(members_of(s["piles"][pile])) if seat is None else "three beyond cards"
            lines.append(f"  pile-{pile}: {beyond}, under {show(members_of(s['lying'][pile]))}")
    return "\n".join(lines)
