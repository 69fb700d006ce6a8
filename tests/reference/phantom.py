"""Reference implementation of Phantom: slow, obvious, written from the rules alone.

The rules are shared/rules/phantom.md; rulings are cited as R1, R2, ...  The only chance after the setup is the order
of the discard pile when it is shuffled into a new Ghost pile (R11); see `Reference.shuffled_discard`.
"""

from collections import Counter
from copy import deepcopy
from typing import Any

State = dict[str, Any]

# --------------------------------------------------------------------------------------------------------------------
# Components (R1)
# --------------------------------------------------------------------------------------------------------------------

ZONES = ["garden", "basement", "ground", "first"]  # the line, from one end to the other
FAMILIES = ["spectre", "soul", "spirit", "poltergeist"]

# kind -> (copies per family, fear)
KINDS: dict[str, tuple[int, int]] = {
    "squatter": (1, 1),
    "charmer": (2, 2),
    "howler": (2, 1),
    "knocker": (1, 1),
    "queen": (1, 2),
    "invoker": (1, 2),
}

# place -> (zones, fear, shelters), down the left half of the table, then down the right half
PLACES: dict[str, tuple[list[str], int, bool]] = {
    "fountain": (["garden"], 1, False),
    "well": (["garden"], 3, False),
    "cemetery": (["garden"], 4, False),
    "greenhouse": (["garden"], 3, False),
    "hollow-tree": (["garden"], 2, True),
    "garage": (["basement"], 3, False),
    "storeroom": (["basement"], 1, False),
    "cellar": (["basement"], 3, False),
    "boiler-room": (["basement"], 3, False),
    "crypt": (["basement"], 4, False),
    "laundry": (["basement"], 2, True),
    "library": (["ground"], 2, False),
    "kitchen": (["ground"], 3, False),
    "dining-room": (["ground"], 4, False),
    "parlour": (["ground"], 3, False),
    "fireplace": (["ground"], 2, True),
    "attic": (["first"], 4, False),
    "bedroom": (["first"], 3, False),
    "nursery": (["first"], 3, False),
    "bathroom": (["first"], 3, False),
    "wardrobe": (["first"], 2, True),
    "toolshed": (["garden", "basement"], 2, False),
    "coal-chute": (["garden", "basement"], 1, True),
    "veranda": (["garden", "ground"], 2, False),
    "dumbwaiter": (["basement", "ground"], 2, False),
    "stairs": (["ground", "first"], 2, False),
}

# occupant -> (dread, victory points, family eliminated); in table order
OCCUPANTS: dict[str, tuple[int, int, str | None]] = {
    "father": (9, 3, "spectre"),
    "mother": (8, 3, "soul"),
    "uncle": (8, 3, "spirit"),
    "aunt": (7, 3, "poltergeist"),
    "boy": (6, 2, None),
    "girl": (5, 2, None),
    "baby": (10, 4, None),
}
PRIEST_POINTS = 1

GHOSTS = [f"{family}-{kind}" for family in FAMILIES for kind in KINDS]  # family major, kind minor
CARDS = GHOSTS + list(PLACES)  # the order in which a hand is sorted

# Setup: the Places that start in play.
STARTING_PLACES: dict[str, list[list[str]]] = {
    "garden": [[], ["fountain"]],
    "basement": [["garage"], ["storeroom"]],
    "ground": [[], ["library"]],
    "first": [[], []],
}

HAND_SIZE = 5
POINTS_TO_WIN = 11
LAST_TURN = 100  # R13
SCORE_SCALE = 10

STATE_KEYS = [
    "game",
    "num_players",
    "plays",
    "phase",
    "to_act",
    "turn",
    "zones_played",
    "effect_zone",
    "fleeing",
    "queen_family",
    "hands",
    "known_hand",
    "apparitions",
    "occupants",
    "taken",
    "scores",
    "ghost_pile",
    "place_pile",
    "discard",
    "winners",
]


def action_table() -> list[list[str]]:
    """The 287 actions in order; each row lists the names of one index (two for those of knocker and queen)."""
    rows: list[list[str]] = []
    rows += [[f"play {ghost} at {zone}"] for ghost in GHOSTS for zone in ZONES]
    rows += [[f"play {place} at {zone}"] for place in PLACES for zone in PLACES[place][0]]
    rows += [["pass"]]
    rows += [[f"take {place}"] for place in PLACES]
    rows += [[f"charm {occupant}"] for occupant in OCCUPANTS]
    rows += [[f"flee to {zone}"] for zone in ZONES]
    rows += [[f"discard {ghost} in {zone}", f"take {ghost} from {zone}"] for ghost in GHOSTS for zone in ZONES]
    rows += [[f"recover {ghost}"] for ghost in GHOSTS]
    rows += [["draw ghost"], ["draw place"]]
    return rows


ACTION_INDEX: dict[str, int] = {name: index for index, row in enumerate(action_table()) for name in row}


# --------------------------------------------------------------------------------------------------------------------
# Small helpers
# --------------------------------------------------------------------------------------------------------------------


def is_ghost(card: str) -> bool:
    return card in GHOSTS


def is_place(card: str) -> bool:
    return card in PLACES


def family_of(ghost: str) -> str:
    return ghost.split("-")[0]


def kind_of(ghost: str) -> str:
    return ghost.split("-")[1]


def fear_of(card: str) -> int:
    if is_place(card):
        return PLACES[card][1]
    return KINDS[kind_of(card)][1]


def zones_of(card: str) -> list[str]:
    """Where the card may be played: a Ghost in any zone, a Place in a zone it belongs to."""
    if is_place(card):
        return PLACES[card][0]
    return ZONES


def neighbours(zone: str) -> list[str]:
    """The zones next to this one in the line; the end zones have one neighbour (R5)."""
    position = ZONES.index(zone)
    return [other for other in ZONES if abs(ZONES.index(other) - position) == 1]


def sorted_cards(cards: list[str]) -> list[str]:
    return sorted(cards, key=CARDS.index)


def sorted_occupants(occupants: list[str]) -> list[str]:
    return sorted(occupants, key=list(OCCUPANTS).index)


def all_ghosts() -> list[str]:
    """The 32 Ghosts, equal ones repeated."""
    return [ghost for ghost in GHOSTS for _ in range(KINDS[kind_of(ghost)][0])]


def check(condition: bool, text: str) -> None:
    """An assertion that also holds under python -O."""
    if not condition:
        raise AssertionError(text)


# --------------------------------------------------------------------------------------------------------------------
# Is this a valid start of a game?
# --------------------------------------------------------------------------------------------------------------------


def check_initial_state(state: State) -> None:
    check(sorted(state) == sorted(STATE_KEYS), f"keys of the state: {sorted(state)}, expected {sorted(STATE_KEYS)}")

    check(state["plays"] in (1, 4), f"plays is {state['plays']!r}, must be 1 or 4")
    fixed: State = {
        "game": "phantom",
        "num_players": 2,
        "phase": "play",
        "to_act": 0,  # player 0, the Chief, begins
        "turn": 1,
        "zones_played": [],
        "effect_zone": None,
        "fleeing": None,
        "queen_family": None,
        "known_hand": [[], []],
        "apparitions": STARTING_PLACES,
        "taken": [[], []],
        "scores": [0, 0],
        "discard": [],
        "winners": [],
    }
    for key, value in fixed.items():
        check(state[key] == value, f"at the start {key} is {state[key]!r}, must be {value!r}")

    # R2: player 0 is dealt two Ghosts and one Place, player 1 three Ghosts and two Places.
    hands: list[list[str]] = state["hands"]
    check(len(hands) == 2, f"{len(hands)} hands, must be 2")
    for seat, (ghosts, places) in enumerate([(2, 1), (3, 2)]):
        hand = hands[seat]
        check(all(card in CARDS for card in hand), f"unknown card in the hand of seat {seat}: {hand}")
        check(len([card for card in hand if is_ghost(card)]) == ghosts, f"R2: Ghosts dealt to seat {seat}: {hand}")
        check(len([card for card in hand if is_place(card)]) == places, f"R2: Places dealt to seat {seat}: {hand}")
        check(hand == sorted_cards(hand), f"hand of seat {seat} is not sorted: {hand}")

    # Everything not dealt and not starting in play is in the two piles.
    dealt = hands[0] + hands[1]
    ghosts_seen = state["ghost_pile"] + [card for card in dealt if is_ghost(card)]
    check(Counter(ghosts_seen) == Counter(all_ghosts()), "the Ghosts in pile and hands are not the 32 Ghosts")
    starting = [card for zone in ZONES for side in STARTING_PLACES[zone] for card in side]
    places_seen = state["place_pile"] + [card for card in dealt if is_place(card)]
    others = [place for place in PLACES if place not in starting]
    check(Counter(places_seen) == Counter(others), "the Places in pile and hands are not the 22 that do not start")

    # R3: one Occupant in the garden, two in each other zone.
    occupants: dict[str, list[str]] = state["occupants"]
    check(sorted(occupants) == sorted(ZONES), f"zones of the occupants: {sorted(occupants)}")
    for zone in ZONES:
        number = 1 if zone == "garden" else 2
        check(len(occupants[zone]) == number, f"R3: occupants in {zone}: {occupants[zone]}, must be {number}")
    everybody = [name for zone in ZONES for name in occupants[zone]]
    check(sorted(everybody) == sorted(OCCUPANTS), f"R3: the occupants of the house are {everybody}")
    for zone in ZONES:
        check(occupants[zone] == sorted_occupants(occupants[zone]), f"occupants not in table order: {occupants[zone]}")


# --------------------------------------------------------------------------------------------------------------------
# The game
# --------------------------------------------------------------------------------------------------------------------


class Reference:
    """Plays Phantom by the rules, one action at a time."""

    def __init__(self, state: State, options: dict[str, Any]) -> None:
        check_initial_state(state)
        start = deepcopy(state)
        self.reward: str = options.get("reward", "win")
        check(self.reward in ("win", "score"), f"reward is {self.reward!r}, must be 'win' or 'score'")
        self.plays: int = start["plays"]
        check(options.get("plays", self.plays) == self.plays, f"option plays differs from the state's {self.plays}")

        self.phase: str = start["phase"]
        self.to_act: int | None = start["to_act"]
        self.turn: int = start["turn"]
        self.zones_played: list[str] = start["zones_played"]
        self.effect_zone: str | None = start["effect_zone"]
        self.fleeing: str | None = start["fleeing"]
        self.queen_family: str | None = start["queen_family"]
        self.hands: list[list[str]] = start["hands"]
        self.known_hand: list[list[str]] = start["known_hand"]
        self.apparitions: dict[str, list[list[str]]] = start["apparitions"]
        self.occupants: dict[str, list[str]] = start["occupants"]
        self.taken: list[list[str]] = start["taken"]
        self.scores: list[int] = start["scores"]
        self.ghost_pile: list[str] = start["ghost_pile"]
        self.place_pile: list[str] = start["place_pile"]
        self.discard: list[str] = start["discard"]
        self.winners: list[int] = start["winners"]

        self.terminated: bool = False
        self.truncated: bool = False  # R15: both ends are terminations, so this stays False

    def state_dict(self) -> State:
        """The complete state, hidden information included."""
        state: State = {
            "game": "phantom",
            "num_players": 2,
            "plays": self.plays,
            "phase": self.phase,
            "to_act": self.to_act,
            "turn": self.turn,
            "zones_played": self.zones_played,
            "effect_zone": self.effect_zone,
            "fleeing": self.fleeing,
            "queen_family": self.queen_family,
            "hands": self.hands,
            "known_hand": self.known_hand,
            "apparitions": self.apparitions,
            "occupants": self.occupants,
            "taken": self.taken,
            "scores": self.scores,
            "ghost_pile": self.ghost_pile,
            "place_pile": self.place_pile,
            "discard": self.discard,
            "winners": self.winners,
        }
        return deepcopy(state)

    # ---------------------------------------------------------------------------------------------- who and where

    def seat(self) -> int:
        """The seat whose turn it is."""
        assert self.to_act is not None, "the game is over: it is nobody's turn"
        return self.to_act

    def opponent(self) -> int:
        return 1 - self.seat()

    def zone_of_effect(self) -> str:
        assert self.effect_zone is not None, "no effect is being chosen"
        return self.effect_zone

    # -------------------------------------------------------------------------------------------------- legal actions

    def legal(self) -> list[str]:
        """Names of the legal actions in the order of the action table; equal cards give one action."""
        if self.phase == "over":
            names = []
        elif self.phase == "play":
            names = self.legal_plays()
        elif self.phase == "draw":
            names = self.legal_draws()
        else:
            names = self.legal_choices(self.phase)
        return sorted(set(names), key=lambda name: ACTION_INDEX[name])

    def legal_plays(self) -> list[str]:
        names = ["pass"]  # always allowed
        for card in self.hands[self.seat()]:
            free = [zone for zone in zones_of(card) if zone not in self.zones_played]  # plays=4: one card a zone
            names += [f"play {card} at {zone}" for zone in free]
        return names

    def legal_draws(self) -> list[str]:
        names = []
        # R11: a pile that has nothing to give cannot be chosen; the Ghost pile can be made anew of the discard pile.
        if self.ghost_pile or self.discard:
            names.append("draw ghost")
        if self.place_pile:
            names.append("draw place")
        return names

    def legal_choices(self, kind: str) -> list[str]:
        """What the player may choose for the effect of a Ghost of this kind played in effect_zone."""
        here = self.zone_of_effect()
        theirs = self.opponent()
        if kind == "squatter":
            return [f"take {card}" for card in self.apparitions[here][theirs] if is_place(card)]
        if kind == "charmer":
            return [f"charm {name}" for zone in ZONES if zone != here for name in self.occupants[zone]]
        if kind == "howler":
            return [f"flee to {zone}" for zone in neighbours(here)] if self.occupants[here] else []
        if kind == "knocker":
            return [f"discard {card} in {here}" for card in self.apparitions[here][theirs] if is_ghost(card)]
        if kind == "queen":
            return [
                f"take {card} from {zone}"
                for zone in ZONES
                for card in self.apparitions[zone][theirs]
                if is_ghost(card) and family_of(card) == self.queen_family
            ]
        assert kind == "invoker", kind
        # R6: the invoker itself lies in the apparition, hence is not in the discard pile.
        return [f"recover {card}" for card in self.discard]

    # ------------------------------------------------------------------------------------------------------- a step

    def step(self, action: str, after: State) -> list[float]:
        """Play the action; `after` is read only for the outcome of chance. Returns the reward of each seat."""
        legal = self.legal()
        check(action in legal, f"{action!r} is not legal in phase {self.phase!r}; legal are {legal}")
        scores_before = list(self.scores)

        words = action.split()
        if action == "pass":
            self.end_playing()
        elif words[0] == "play":
            self.play_card(words[1], words[3])
        elif words[0] == "draw":
            self.draw_card(words[1], after)
        else:
            self.carry_out_choice(words)

        return self.rewards(scores_before)

    def rewards(self, scores_before: list[int]) -> list[float]:
        if self.reward == "score":  # booked in the step in which Occupants are taken (R15), scale 10
            gains = [now - before for now, before in zip(self.scores, scores_before, strict=True)]
            mean = sum(gains) / 2
            return [(gain - mean) / SCORE_SCALE for gain in gains]
        if not self.terminated:
            return [0.0, 0.0]
        # n players, w winners: a winner gets (n/w - 1)/(n - 1), everybody else -1/(n - 1); if both tie, both get 0.
        n, w = 2, len(self.winners)
        return [(n / w - 1) / (n - 1) if seat in self.winners else -1 / (n - 1) for seat in range(n)]

    # --------------------------------------------------------------------------------------------- 1. play, 2. effect

    def play_card(self, card: str, zone: str) -> None:
        seat = self.seat()
        self.hands[seat].remove(card)
        if card in self.known_hand[seat]:
            self.known_hand[seat].remove(card)  # R16: of two equal cards in hand the known one is played first
        self.apparitions[zone][seat].append(card)
        self.zones_played.append(zone)

        if is_place(card):
            self.end_card()
            return
        self.begin_effect(card, zone)

    def begin_effect(self, ghost: str, zone: str) -> None:
        self.phase = kind_of(ghost)
        self.effect_zone = zone
        if self.phase == "queen":
            self.queen_family = family_of(ghost)
        if self.phase == "howler" and self.occupants[zone]:
            self.fleeing = self.occupants[zone][0]  # R5: in table order, which is how they are kept
        if not self.legal_choices(self.phase):
            self.end_card()  # R4: with nothing to choose from, nothing is asked

    def carry_out_choice(self, words: list[str]) -> None:
        here = self.zone_of_effect()
        mine = self.apparitions[here][self.seat()]
        theirs = self.apparitions[here][self.opponent()]
        # list.remove takes the first of equal cards, which is the one that came first (R14).
        if self.phase == "squatter":  # take PLACE
            theirs.remove(words[1])
            mine.append(words[1])  # R4: it keeps its zone
        elif self.phase == "charmer":  # charm OCCUPANT
            self.move_occupant(words[1], here)
        elif self.phase == "howler":  # flee to ZONE
            assert self.fleeing is not None
            self.move_occupant(self.fleeing, words[2])
            if self.occupants[here]:  # R5: one by one
                self.fleeing = self.occupants[here][0]
                return
        elif self.phase == "knocker":  # discard GHOST in ZONE
            theirs.remove(words[1])
            self.discard.append(words[1])
        elif self.phase == "queen":  # take GHOST from ZONE
            self.apparitions[words[3]][self.opponent()].remove(words[1])  # R14
            mine.append(words[1])  # R4: it comes to her zone, and triggers no effect
        elif self.phase == "invoker":  # recover GHOST
            self.discard.remove(words[1])  # R14
            self.add_to_hand(words[1])
            # It came there openly, so the opponent knows it.
            self.known_hand[self.seat()] = sorted_cards(self.known_hand[self.seat()] + [words[1]])
        self.end_card()

    def move_occupant(self, name: str, to_zone: str) -> None:
        for zone in ZONES:
            if name in self.occupants[zone]:
                self.occupants[zone].remove(name)
        self.occupants[to_zone] = sorted_occupants(self.occupants[to_zone] + [name])

    def add_to_hand(self, card: str) -> None:
        seat = self.seat()
        self.hands[seat] = sorted_cards(self.hands[seat] + [card])

    def end_card(self) -> None:
        """The card is played and its effect carried out."""
        self.effect_zone = None
        self.fleeing = None
        self.queen_family = None
        self.phase = "play"
        self.adults()  # R7: after each card and its effect
        if len(self.zones_played) == self.plays:  # the only card, or the fourth, ends the playing by itself
            self.end_playing()

    # ------------------------------------------------------------------------------------------------------ 3. adults

    def adults(self) -> None:
        """R7: zone by zone from the garden, player 0's first, in the order they came."""
        for zone in ZONES:
            eliminated = [OCCUPANTS[name][2] for name in self.occupants[zone]]
            for seat in range(2):
                side = self.apparitions[zone][seat]
                if any(is_place(card) and PLACES[card][2] for card in side):
                    continue  # R7: a sheltering Place saves this apparition
                gone = [card for card in side if is_ghost(card) and family_of(card) in eliminated]
                self.discard += gone
                self.apparitions[zone][seat] = [card for card in side if card not in gone]

    # ------------------------------------------------------------------------------------------------------ 4. fright

    def end_playing(self) -> None:
        self.fright()
        self.zones_played = []

        # A player with 11 or more victory points wins at once after fright.
        reached = [seat for seat in range(2) if self.scores[seat] >= POINTS_TO_WIN]
        if reached:
            self.end_game(reached)
        elif self.turn == LAST_TURN:
            # R13: after the fright of the 100th turn more victory points win, equal ones share.
            self.end_game([seat for seat in range(2) if self.scores[seat] == max(self.scores)])
        else:
            self.phase = "draw"
            self.end_drawing_if_done()

    def fright(self) -> None:
        for zone in ZONES:
            if len(self.occupants[zone]) != 1:
                continue
            occupant = self.occupants[zone][0]
            taker = self.taker(zone, OCCUPANTS[occupant][0])
            if taker is not None:
                self.take_occupant(taker, zone, occupant)

    def taker(self, zone: str, dread: int) -> int | None:
        fear = [sum(fear_of(card) for card in self.apparitions[zone][seat]) for seat in range(2)]
        reaching = [seat for seat in range(2) if fear[seat] >= dread]  # a player of either seat
        if not reaching:
            return None
        if len(reaching) == 1:
            return reaching[0]
        # R8: if both reach it, the higher fear takes it; on a tie, the player whose turn it is.
        if fear[0] == fear[1]:
            return self.seat()
        return 0 if fear[0] > fear[1] else 1

    def take_occupant(self, taker: int, zone: str, occupant: str) -> None:
        left = sum(len(self.occupants[other]) for other in ZONES)
        self.occupants[zone].remove(occupant)
        self.taken[taker].append(occupant)
        self.scores[taker] += OCCUPANTS[occupant][1]
        if left == 1:  # R10: the last Occupant brings the Priest, be it in the same fright as the one before
            self.taken[taker].append("priest")
            self.scores[taker] += PRIEST_POINTS
        # R9: the taker's Ghosts in that zone go to the discard pile in the order they came; Places stay.
        side = self.apparitions[zone][taker]
        self.discard += [card for card in side if is_ghost(card)]
        self.apparitions[zone][taker] = [card for card in side if is_place(card)]

    def end_game(self, winners: list[int]) -> None:
        self.phase = "over"  # R12: nobody draws once the game is over
        self.to_act = None
        self.winners = winners
        self.terminated = True  # R15

    # -------------------------------------------------------------------------------------------------------- 5. draw

    def draw_card(self, pile: str, after: State) -> None:
        if pile == "place":
            card = self.place_pile.pop()
        else:
            if not self.ghost_pile:
                self.replace_ghost_pile(after)
            card = self.ghost_pile.pop()
        self.add_to_hand(card)
        self.end_drawing_if_done()

    def replace_ghost_pile(self, after: State) -> None:
        """R11: an empty Ghost pile is replaced by the shuffled discard pile, when a Ghost is to be drawn."""
        pile = self.shuffled_discard(after)
        check(Counter(pile) == Counter(self.discard), f"R11: {pile} is no shuffle of the discard pile {self.discard}")
        self.ghost_pile = list(pile)
        self.discard = []
        # R11: at this moment, before the Ghost is drawn, the Ghosts in both hands become known.
        # AMBIGUOUS: if the discard pile was a single Ghost, the Ghost now drawn can be worked out as well; it is not
        # counted as known, as R11 speaks of the moment at which the pile was empty. For the same reason nothing
        # becomes known when the pile runs out but is not replaced (yet).
        for seat in range(2):
            self.known_hand[seat] = [card for card in self.hands[seat] if is_ghost(card)]

    def shuffled_discard(self, after: State) -> list[str]:
        """Chance: the order of the freshly shuffled Ghost pile, next to draw last, before the first is drawn.

        By default it is read from the state the engine claims: its Ghost pile, and on top of it the one Ghost of the
        discard pile that is missing there, as it has been drawn.
        """
        rest: list[str] = list(after["ghost_pile"])
        drawn = Counter(self.discard)
        drawn.subtract(rest)
        impossible = [card for card, number in drawn.items() if number < 0]
        check(not impossible, f"R11: the new Ghost pile holds {impossible} that the discard pile had not to give")
        missing = list(drawn.elements())
        check(len(missing) == 1, f"R11: of the discard pile not one Ghost, but {missing} went missing in the shuffle")
        return rest + missing

    def end_drawing_if_done(self) -> None:
        # The player draws up to five cards in hand. R11: if neither pile has anything to give, drawing ends.
        if len(self.hands[self.seat()]) >= HAND_SIZE or not self.legal_draws():
            self.phase = "play"
            self.to_act = self.opponent()
            self.turn += 1
