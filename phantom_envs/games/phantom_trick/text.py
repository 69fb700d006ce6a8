"""Phantom Trick in words: the complete state, and the table as a seat sees it."""

from __future__ import annotations

from typing import Any

from phantom_envs.core.game import Record, members_of, seat_or_none
from phantom_envs.core.terminal import paint
from phantom_envs.games.phantom_trick.components import CARD_NAMES, NUM_SUITS, NUM_VALUES, SUITS
from phantom_envs.games.phantom_trick.state import OVER, PHASES, PLACE


def secret(s: Record) -> bool:
    """Cards are laid in secret; with the last one all are revealed."""
    return bool(s["phase"] == PLACE and (s["placed"][: s["num_players"]] < 0).sum() > 1)


def names(cards: Any) -> list[str]:
    """The cards of a set, sorted by index."""
    return [CARD_NAMES[card] for card in members_of(cards)]


def card_or_none(card: Any) -> str | None:
    """Name of a card, None for -1."""
    return CARD_NAMES[card] if card >= 0 else None


def in_order_of_play(s: Record) -> list[int]:
    """Seats that have a card on the table, in order of play."""
    players = int(s["num_players"])
    order = [(int(s["first"]) + k) % players for k in range(players)]
    return [seat for seat in order if s["table"][seat] >= 0]


def state_dict(s: Record) -> dict[str, Any]:
    """The complete state with the keys of the rules file. It holds hidden information."""
    players = range(int(s["num_players"]))
    return {
        "game": "phantom_trick",
        "num_players": len(players),
        "round": int(s["round"]),
        "trick": int(s["trick"]),
        "phase": PHASES[s["phase"]],
        "to_act": seat_or_none(s["seat"]),
        "hands": [names(s["hands"][seat]) for seat in players],
        "unused": names(s["unused"]),
        "placed": [card_or_none(s["placed"][seat]) for seat in players],
        "first": seat_or_none(s["first"]),
        "leader": seat_or_none(s["leader"]),
        "leader_suit": SUITS[s["leader_suit"]] if s["leader_suit"] >= 0 else None,
        "table": [
            {
                "seat": seat,
                "card": CARD_NAMES[s["table"][seat]],
                "face_up": bool(int(s["face_up"]) >> int(s["table"][seat]) & 1),
            }
            for seat in in_order_of_play(s)
        ],
        "rows": [[CARD_NAMES[card] for card in s["row"][seat][: s["row_size"][seat]]] for seat in players],
        "piles": [[CARD_NAMES[card] for card in s["pile"][seat][: s["pile_size"][seat]]] for seat in players],
        "scores": [int(s["scores"][seat]) for seat in players],
        "last_gain": [int(s["last_gain"][seat]) for seat in players],
        "winners": [seat for seat in players if int(s["winners"]) >> seat & 1],
    }


COLORS = {"red": "red", "blue": "blue", "yellow": "yellow", "green": "green", "white": "white"}


def picture(s: Record, seat: int | None, color: bool) -> str:
    """The table as `seat` sees it; None shows every hand."""

    def show(card: int, text: str | None = None) -> str:
        suit = SUITS[card // NUM_VALUES]
        return paint(text or CARD_NAMES[card], COLORS[suit], color)

    def cards(held: Any) -> str:
        return " ".join(show(card) for card in held) or "-"

    players = range(int(s["num_players"]))
    title = f"Phantom Trick, round {s['round']}, trick {s['trick']}, {PHASES[s['phase']]}"
    lines = [paint(title, "bold", color)]
    if s["phase"] == OVER:
        winners = ", ".join(f"player_{k}" for k in players if int(s["winners"]) >> k & 1)
        lines.append(f"won by {winners}")
    elif s["phase"] != PLACE:
        suit = SUITS[s["leader_suit"]] if s["leader_suit"] >= 0 else "any"
        lines.append(f"leader player_{s['leader']}, suit {suit}")
    for other in players:
        mark = ">" if other == s["seat"] else " "
        own = " (you)" if other == seat else ""
        lines.append(f"{mark} player_{other}{own}: score {s['scores'][other]}, pile {s['pile_size'][other]}")
        if s["phase"] == PLACE:
            laid = s["placed"][other] >= 0
            open_to_all = seat is None or other == seat
            text = (show(int(s["placed"][other])) if open_to_all else "face-down") if laid else "-"
            lines.append(f"    laid  {text}")
        else:
            lines.append(f"    row   {cards(s['row'][other][: s['row_size'][other]])}")
            card = int(s["table"][other])
            up = card >= 0 and int(s["face_up"]) >> card & 1
            lines.append(
                f"    plays {'-' if card < 0 else show(card) if up else show(card, '[' + CARD_NAMES[card] + ']')}"
            )
        voids = [SUITS[suit] for suit in range(NUM_SUITS) if int(s["voids"][other]) >> suit & 1]
        if voids:
            lines.append(f"    lacks {', '.join(voids)}")
        if seat is None or other == seat:
            lines.append(f"    hand  {cards(members_of(s['hands'][other]))}")
    if (s["table"] >= 0).any():
        lines.append("  [card]: vanished, face-down")
    return "\n".join(lines)
