"""Late positions of random games with all worlds that the seat to act must hold for possible, found by seeded search.

The worlds are enumerated here from the rules of who knows what, by trying every way to spread the unseen cards; the
engine's redrawing has no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, islice, permutations, product

import numpy as np

from phantom_envs.core.table import Table
from phantom_envs.games.fantasmagoria import GAME as FANTASMAGORIA
from phantom_envs.games.phantom.components import CARD_NAMES, GHOST_KINDS, OCCUPANTS, PLACE_ZONES
from tests.agents.exact import Position, State
from tests.games.phantom_scene import scene
from tests.games.test_phantom_trick_knowledge import positions as trick_positions
from tests.reference.phantom import LAST_TURN, POINTS_TO_WIN
from tests.reference.phantom_trick import SUITS

MANY = 400
"""Positions with more worlds than this are passed over."""


def spreads(cards: list[str], sizes: list[int], barred: list[set[str]]) -> Iterator[list[list[str]]]:
    """Every way to give away `sizes` of the cards, none of a barred suit; what is left comes last."""
    if not sizes:
        yield [cards]
        return
    fitting = [card for card in cards if card.split("-")[0] not in barred[0]]
    for hand in combinations(fitting, sizes[0]):
        left = [card for card in cards if card not in hand]
        for others in spreads(left, sizes[1:], barred[1:]):
            yield [list(hand), *others]


def few(worlds: Iterator[State], most: int = MANY) -> list[State]:
    """The worlds if they are `most` at most, else none."""
    found = list(islice(worlds, most + 1))
    return found if len(found) <= most else []


# Phantom Trick


def trick_worlds(state: State, lacks: list[set[str]]) -> Iterator[State]:
    """Unseen cards are in other hands, which hold nothing of the suits they lack, or unused."""
    seat, hands = state["to_act"], state["hands"]
    others = [other for other in range(state["num_players"]) if other != seat]
    unseen = sorted({card for other in others for card in hands[other]} | set(state["unused"]), key=in_deck)
    for dealt in spreads(unseen, [len(hands[other]) for other in others], [lacks[other] for other in others]):
        given = dict(zip(others, dealt, strict=False))
        dealt_hands = [sorted(given.get(other, hands[other]), key=in_deck) for other in range(len(hands))]
        yield state | {"hands": dealt_hands, "unused": sorted(dealt[-1], key=in_deck)}


def in_deck(card: str) -> int:
    """The place of a card of Phantom Trick in the deck."""
    suit, value = card.split("-")
    return 12 * SUITS.index(suit) + int(value)


def phantom_trick(players: int, seeds: range, goal: str = "score", horizon: str = "deal") -> Iterator[Position]:
    """Decisions in the last two tricks of a round, with `horizon` "game" of the last round only."""
    for seed in seeds:
        for table, state, history in trick_positions(players, seed):
            late = state["trick"] >= 10 and state["phase"] in ("play", "take")
            if not late or len(table.legal()) == 1 or (horizon == "game" and state["round"] < 3):
                continue
            if worlds := few(trick_worlds(state, history.lacks)):
                yield Position(table.copy(), worlds, goal, horizon)


def open_phantom_trick(seeds: range) -> Iterator[Position]:
    """Likewise, by five players, who use all cards; once every suit is shown that a hand lacks, a single deal fits."""
    for seed in seeds:
        for table, state, _ in trick_positions(5, seed):
            if state["trick"] < 10 or state["phase"] == "over" or len(table.legal()) == 1:
                continue
            lacks = [set(SUITS) - {card.split("-")[0] for card in hand} for hand in state["hands"]]
            worlds = few(trick_worlds(state, lacks), 1)
            if worlds:
                told = table.copy()
                for other in range(5):
                    told.state["voids"][other] = sum(1 << SUITS.index(suit) for suit in lacks[other])
                told.refresh()
                yield Position(told, worlds, "score", "deal")


# Fantasmagória


@dataclass
class Ritual:
    """What everybody has seen this round, noted from states and moves."""

    lacks: list[set[str]]
    taken: list[set[str]] = field(default_factory=list)  # per seat, the sacrificed card that came with its pile

    def note(self, before: State, name: str) -> None:
        """A move that is about to be made."""
        verb, what = name.split()
        seat = before["to_act"]
        if verb == "sacrifice":
            self.lacks[seat], self.taken[seat] = set(), set()
        elif verb == "haunt":
            self.taken[seat].add(before["sacrificed"][int(what[-1])])
        else:
            if before["lead_suit"] is not None and what.split("-")[0] not in ("cup", before["lead_suit"]):
                self.lacks[seat].add(before["lead_suit"])
            self.taken[seat].discard(what)


def beyond(card: str) -> bool:
    """Whether a card is of the beyond deck."""
    return card.startswith(("ghost", "cup"))


def in_ritual(card: str) -> tuple[int, int]:
    """The place of a card of Fantasmagória in the deck."""
    suit, _, number = card.partition("-")
    return ["cat", "candle", "goat", "doll", "ghost", "cup"].index(suit), int(number or 0)


def ritual_worlds(state: State, ritual: Ritual) -> Iterator[State]:
    """Unseen ritual cards are in other hands; unseen beyond cards there, as many as came with piles, or in piles."""
    seat, n = state["to_act"], state["num_players"]
    others = [other for other in range(n) if other != seat]
    piles = [pile for pile in range(n) if state["piles"][pile] is not None]
    known = {other: sorted(ritual.taken[other]) for other in others}
    unseen = {other: [card for card in state["hands"][other] if card not in known[other]] for other in others}
    plain = {other: [card for card in unseen[other] if not beyond(card)] for other in others}
    ghostly = {other: [card for card in unseen[other] if beyond(card)] for other in others}
    bars = [ritual.lacks[other] for other in others]
    all_plain = sorted((card for other in others for card in plain[other]), key=in_ritual)
    in_hands = spreads(all_plain, [len(plain[other]) for other in others], bars)
    in_piles = [card for pile in piles for card in state["piles"][pile]]
    all_ghostly = sorted([*(card for other in others for card in ghostly[other]), *in_piles], key=in_ritual)
    sizes = [len(ghostly[other]) for other in others] + [3] * len(piles)
    beyonds = list(islice(spreads(all_ghostly, sizes, bars + [set() for _ in piles]), MANY + 1))
    for rituals, spirits in product(in_hands, beyonds):
        hands, laid = list(state["hands"]), list(state["piles"])
        for place, other in enumerate(others):
            hands[other] = sorted([*known[other], *rituals[place], *spirits[place]], key=in_ritual)
        for place, pile in enumerate(piles):
            laid[pile] = sorted(spirits[len(others) + place], key=in_ritual)
        yield state | {"hands": hands, "piles": laid}


def fantasmagoria(
    players: int, seeds: range, goal: str = "score", horizon: str = "deal", most: int = MANY
) -> Iterator[Position]:
    """Decisions when the shortest hand is down to one card or two, with `horizon` "game" of the last round only."""
    for seed in seeds:
        table = Table(FANTASMAGORIA, players)
        table.deal(seed)
        rng = np.random.default_rng(seed)
        ritual = Ritual([set() for _ in range(players)], [set() for _ in range(players)])
        while not table.over:
            state = table.state_dict()
            late = state["phase"] in ("play", "haunt") and min(map(len, state["hands"])) <= 2
            wanted = late and len(table.legal()) > 1 and (horizon == "deal" or state["round"] == 3)
            if wanted and (worlds := few(ritual_worlds(state, ritual), most)):
                yield Position(table.copy(), worlds, goal, horizon)
            action = int(rng.choice(table.legal()))
            ritual.note(state, table.action_name(action))
            table.play(action)


# Phantom


def phantom_worlds(state: State) -> Iterator[State]:
    """The opponent's hand and the piles in every order, but for the cards that are known."""
    rival = 1 - state["to_act"]
    known = list(state["known_hand"][rival])
    hidden = list(state["hands"][rival])
    for card in known:
        hidden.remove(card)
    ghosts = [card for card in hidden if CARD_NAMES.index(card) < GHOST_KINDS]
    places = [card for card in hidden if CARD_NAMES.index(card) >= GHOST_KINDS]
    for spirits in permutations(ghosts + state["ghost_pile"]):
        for houses in permutations(places + state["place_pile"]):
            held = [*known, *spirits[: len(ghosts)], *houses[: len(places)]]
            hands = list(state["hands"])
            hands[rival] = sorted(held, key=CARD_NAMES.index)
            yield state | {
                "hands": hands,
                "ghost_pile": list(spirits[len(ghosts) :]),
                "place_pile": list(houses[len(places) :]),
            }


def phantom(turn: int, plays: int, seeds: range, goal: str = "score") -> Iterator[Position]:
    """Small houses, drawn at random, with two turns to go or one: the 100th turn is the last (R13).

    On the 99th turn the seat to act has five cards, so that it draws one at most, and the rival two that are hidden.
    """
    for seed in seeds:
        rng = np.random.default_rng(seed)
        ghosts = rng.permutation([name for name in CARD_NAMES[:GHOST_KINDS] if not name.endswith("invoker")]).tolist()
        places = rng.permutation(CARD_NAMES[GHOST_KINDS:]).tolist()
        occupants = rng.permutation(OCCUPANTS).tolist()
        spots: list[list[list[str]]] = [[[], [], []] for _ in range(4)]
        for zone in range(4):
            spots[zone][0] = sorted(
                [occupants.pop() for _ in range(rng.integers(0, 3)) if occupants], key=OCCUPANTS.index
            )
        for _ in range(8):
            place = places.pop()
            zone = int(rng.choice(PLACE_ZONES[CARD_NAMES.index(place) - GHOST_KINDS]))
            spots[zone][1 + int(rng.integers(2))].append(place)
        for _ in range(4):
            spots[int(rng.integers(4))][1 + int(rng.integers(2))].append(ghosts.pop())
        seat = int(rng.integers(2))
        own = [(ghosts if rng.random() < 0.5 else places).pop() for _ in range(5 if turn == LAST_TURN - 1 else 2)]
        theirs = [ghosts.pop(), places.pop()]
        held = (own, theirs) if seat == 0 else (theirs, own)
        taken = (" ".join(occupants[::2]), " ".join(occupants[1::2]))  # whoever is not in the house
        zones = ["|".join(" ".join(part) for part in spot) for spot in spots]
        table = scene(
            garden=zones[0],
            basement=zones[1],
            ground=zones[2],
            first=zones[3],
            hands=(" ".join(held[0]), " ".join(held[1])),
            taken=taken,
            piles=("", " ".join(ghosts[-2:]), places[-1]),
            seat=seat,
            turn=turn,
            plays=plays,
        )
        state = table.state_dict()
        if max(state["scores"]) < POINTS_TO_WIN and len(table.legal()) > 1 and (worlds := few(phantom_worlds(state))):
            yield Position(table, worlds, goal, "game")
