"""Slow, obvious reference implementation of the rules of Fantasmagoria.

Written from the rules file only; "R1", "R2", ... are the rulings of that file.
It checks an engine: it adopts the engine's initial state and then plays the same actions by the rules.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

State = dict[str, Any]

RITUAL_SUITS = ["cat", "candle", "goat", "doll"]  # also the order that breaks ties, lowest first
SUITS = [*RITUAL_SUITS, "ghost"]
CUP = "cup"
LUCKY_CAT, CANDELABRUM, FILIPI_GOAT, BELLE_ANNA = "cat-7", "candle-7", "goat-7", "doll-7"
CURSED = [LUCKY_CAT, CANDELABRUM, FILIPI_GOAT, BELLE_ANNA]  # R3
HAND_SIZE = 11
PILE_SIZE = 3
ROUNDS = 3
SCORE_SCALE = 10


def check(condition: bool, text: str) -> None:
    """Raise AssertionError with the text unless the condition holds (also under python -O)."""
    if not condition:
        raise AssertionError(text)


def suit_of(card: str) -> str | None:
    """Give the suit of a card: "cat" of "cat-7"; the cup has none."""
    return None if card == CUP else card.split("-")[0]


def number_of(card: str) -> int | None:
    """Give the number of a card: 7 of "cat-7"; the cup has none."""
    return None if card == CUP else int(card.split("-")[1])


def index_of(card: str) -> int:
    """Give the index of a card: 11 x suit + number - 1; the cup comes last."""
    if card == CUP:
        return 55
    suit, number = card.split("-")
    return 11 * SUITS.index(suit) + int(number) - 1


def ritual_deck(num_players: int) -> list[str]:
    """List the ritual cards used with so many players, in order of index."""
    # R1: 1 to 11 in each suit. With three players the candle suit is out.
    suits = [suit for suit in RITUAL_SUITS if num_players == 4 or suit != "candle"]
    return [f"{suit}-{number}" for suit in suits for number in range(1, 12)]


def beyond_deck(num_players: int) -> list[str]:
    """List the beyond cards used with so many players, in order of index."""
    highest = 11 if num_players == 4 else 8  # R2: with three players ghosts 9, 10, 11 are out
    return [f"ghost-{number}" for number in range(1, highest + 1)] + [CUP]


def check_groups(what: str, groups: Any, num_groups: int, size: int, cards_used: list[str]) -> None:
    """Check that the groups are num_groups sorted lists of `size` cards which together are the cards used."""
    check(isinstance(groups, list) and len(groups) == num_groups, f"deal: not {num_groups} {what}: {groups!r}")
    for group in groups:
        check(isinstance(group, list) and len(group) == size, f"deal: {what} must have {size} cards: {group!r}")
        for card in group:
            check(card in cards_used, f"deal: {card!r} cannot be among the {what}")
        check(group == sorted(group, key=index_of), f"deal: {what} are not sorted by index: {group}")
    all_cards = [card for group in groups for card in group]
    check(sorted(all_cards, key=index_of) == cards_used, f"deal: {what} together are not exactly their deck")


def scares_of(pile: list[str]) -> int:
    """Count the scares of a pile of won cards at the end of a round."""
    ghosts = len([card for card in pile if suit_of(card) == "ghost"])
    worth_of_ghost = 1
    if FILIPI_GOAT in pile:  # R11: however it came there
        if ghosts >= 7:
            return 0  # all other cursed cards, the Lucky Cat included
        worth_of_ghost = 2
    scares = worth_of_ghost * ghosts
    if CANDELABRUM in pile:
        scares += 2
    if LUCKY_CAT in pile:
        scares -= 3
    if BELLE_ANNA in pile:
        scares += 4
    return scares  # R10: the cup scores nothing; nor does any other card


@dataclass
class Laid:
    """A card on the table."""

    seat: int
    card: str


class Reference:
    """One game of Fantasmagoria."""

    terminated: bool
    truncated: bool

    def __init__(self, state: State, options: State) -> None:
        """Adopt the initial state after checking that it is a valid start of a game."""
        self.reward_kind: str = options.get("reward", "win")
        check(self.reward_kind in ("win", "score"), f"unknown reward {self.reward_kind!r}")
        num_players = state.get("num_players")
        check(type(num_players) is int and 3 <= num_players <= 4, f"start: bad num_players {num_players!r}")
        self.n: int = state["num_players"]
        self.terminated = False
        self.truncated = False  # R16: there is no length limit
        self.round = 1
        self.scores = [0] * self.n
        self.last_scares = [0] * self.n
        self.winners: list[int] = []
        self.points: list[int] | None = None  # the scares the current step books, if it does
        self._start_round(copy.deepcopy(state.get("hands")), copy.deepcopy(state.get("piles")))
        mine = self.state_dict()
        check(set(state) == set(mine), f"start: wrong keys {sorted(set(state) ^ set(mine))}")
        for key, value in mine.items():
            check(state[key] == value, f"start: {key} is {state[key]!r}, not {value!r}")

    # ---------------------------------------------------------------- chance

    def chance_deal(self, after: State) -> tuple[Any, Any]:
        """Learn the hands and the piles of beyond cards of a newly dealt round."""
        return copy.deepcopy(after.get("hands")), copy.deepcopy(after.get("piles"))

    # ------------------------------------------------------------- interface

    def legal(self) -> list[str]:
        """Name the legal actions of the player to act, in order of index; none when the game is over."""
        if self.to_act is None:
            return []
        if self.phase == "haunt":
            return [f"haunt pile-{i}" for i in range(self.n) if self.piles[i] is not None]
        if self.phase == "sacrifice":
            cards = [card for card in self.hands[self.to_act] if card not in CURSED]  # R4: never empty
        else:
            cards = self._playable(self.to_act)
        return [f"{self.phase} {card}" for card in sorted(cards, key=index_of)]

    def step(self, action: str, after: State) -> list[float]:
        """Play the action; look into `after` for chance only; return the reward of each seat."""
        check(not self.terminated, f"{action!r} after the end of the game")
        check(action in self.legal(), f"{action!r} is not legal; legal are {self.legal()}")
        assert self.to_act is not None
        seat = self.to_act
        what = action.split(" ")[1]
        self.points = None
        if self.phase == "sacrifice":
            self._sacrifice(seat, what)
        elif self.phase == "play":
            self._play(seat, what, after)
        else:
            self._haunt(seat, int(what.removeprefix("pile-")), after)
        return self._rewards()

    def state_dict(self) -> State:
        """Give the complete state, hidden information included."""
        return {
            "game": "fantasmagoria",
            "num_players": self.n,
            "round": self.round,
            "trick": self.trick,
            "phase": self.phase,
            "to_act": self.to_act,
            "hands": [sorted(hand, key=index_of) for hand in self.hands],
            "piles": [None if pile is None else sorted(pile, key=index_of) for pile in self.piles],
            "sacrificed": list(self.sacrificed),
            "trump": self.trump,
            "trump_moved": self.trump_moved,
            "possessed": list(self.possessed),
            "leader": self.leader,
            "lead_suit": self.lead_suit,
            "table": [{"seat": laid.seat, "card": laid.card} for laid in self.table],
            "won": [list(cards) for cards in self.won],
            "imprisoned": list(self.imprisoned),
            "cup_trick": CUP in [laid.card for laid in self.table],
            "scores": list(self.scores),
            "last_scares": list(self.last_scares),
            "winners": list(self.winners),
        }

    # ------------------------------------------------------- start, sacrifice

    def _start_round(self, hands: Any, piles: Any) -> None:
        """Set up a round with freshly dealt cards."""
        check_groups("hands", hands, self.n, HAND_SIZE, ritual_deck(self.n))
        check_groups("piles", piles, self.n, PILE_SIZE, beyond_deck(self.n))  # R2
        self.hands: list[list[str]] = hands
        self.piles: list[list[str] | None] = piles
        self.trick = 1
        self.phase = "sacrifice"
        self.to_act: int | None = 0  # secret choices are asked for in seating order
        self.sacrificed: list[str | None] = [None] * self.n
        self.trump: int | None = None
        self.trump_moved = False
        self.possessed = [False] * self.n
        self.leader: int | None = None
        self.lead_suit: str | None = None
        self.table: list[Laid] = []
        self.won: list[list[str]] = [[] for _ in range(self.n)]
        self.imprisoned: list[str] = []

    def _sacrifice(self, seat: int, card: str) -> None:
        """Choose the card to sacrifice; the last one reveals all."""
        self.hands[seat].remove(card)
        self.sacrificed[seat] = card  # R5: it lies on pile number `seat`
        if seat + 1 < self.n:
            self.to_act = seat + 1
            return
        cards = [sacrificed for sacrificed in self.sacrificed if sacrificed is not None]
        # The lowest number; ties: cat < candle < goat < doll. The indexes are in the order of the suits.
        lowest = min(cards, key=lambda card: (number_of(card), index_of(card)))
        self.trump = number_of(lowest)
        self._start_trick(cards.index(lowest))

    # ------------------------------------------------------------------ play

    def _start_trick(self, leader: int) -> None:
        """Let the leader begin a trick; the trump number stays."""
        self.phase = "play"
        self.leader = leader
        self.lead_suit = None
        self.trump_moved = False
        self.table = []
        self.to_act = leader

    def _playable(self, seat: int) -> list[str]:
        """List the cards the seat may play."""
        hand = self.hands[seat]
        if self.lead_suit is None:
            # The leader, or the player after a led cup (R7: under the same limit on ghosts).
            if all(self.possessed):
                return hand
            no_ghosts = [card for card in hand if suit_of(card) != "ghost"]
            check(any(card != CUP for card in no_ghosts), "reference bug: R6 does not hold")
            return no_ghosts
        following = [card for card in hand if suit_of(card) == self.lead_suit]
        if not following:
            return hand
        # The cup may be played also by a player who could follow suit.
        return following + [card for card in hand if card == CUP]

    def _play(self, seat: int, card: str, after: State) -> None:
        """Play a card to the trick."""
        self.hands[seat].remove(card)
        self.table.append(Laid(seat, card))
        if card == CUP:
            # R7: led, it leaves the lead suit open. R8: never a possession; the holder is possessed already.
            check(self.possessed[seat], "reference bug: R8 does not hold")
        elif self.lead_suit is None:
            self.lead_suit = suit_of(card)  # R7: nobody is possessed by setting it
        elif suit_of(card) != self.lead_suit and not self.possessed[seat]:
            self._possess(seat, card)
            return  # the trick goes on after the haunt
        self._after_card(seat, after)

    def _possess(self, seat: int, card: str) -> None:
        """Have the seat possessed for the first time in the round, by the card it played."""
        self.possessed[seat] = True
        if not self.trump_moved:
            # Only the first possession in a trick sets the trump; R13: also if it was that number already.
            self.trump = number_of(card)
            self.trump_moved = True
        self.phase = "haunt"
        self.to_act = seat

    def _haunt(self, seat: int, pile_number: int, after: State) -> None:
        """Take a pile and the sacrificed card on it into the hand (also if the hand was empty)."""
        pile = self.piles[pile_number]
        sacrificed = self.sacrificed[pile_number]
        assert pile is not None
        assert sacrificed is not None
        self.hands[seat] += [*pile, sacrificed]  # R5: the sacrificed card lies on the pile of its number
        self.piles[pile_number] = None
        self.sacrificed[pile_number] = None
        self.phase = "play"
        self._after_card(seat, after)

    def _after_card(self, seat: int, after: State) -> None:
        """Go on after a card (and the haunt it may have caused): the next player, or the end of the trick."""
        if len(self.table) < self.n:
            self.to_act = (seat + 1) % self.n
        else:
            self._end_trick(after)

    def _winner_of_trick(self) -> int:
        """Find the winner by the trump number as it stands now that all have played."""
        for laid in self.table:
            if number_of(laid.card) == self.trump:  # any suit, ghosts too; the first played
                return laid.seat
        of_lead_suit = [laid for laid in self.table if suit_of(laid.card) == self.lead_suit]
        return max(of_lead_suit, key=lambda laid: index_of(laid.card)).seat  # the highest of that suit

    def _end_trick(self, after: State) -> None:
        """Give the cards to the winner; then begin the next trick or end the round."""
        winner = self._winner_of_trick()
        cards = [laid.card for laid in self.table]
        freed = self.imprisoned  # by a cup played in the trick before
        self.imprisoned = []
        if CUP in cards:
            # R9: ghosts and cursed cards, the Lucky Cat too, are imprisoned.
            self.imprisoned = [card for card in cards if suit_of(card) == "ghost" or card in CURSED]
        # R14: the cup itself is among what the winner gets.
        self.won[winner] += [card for card in cards if card not in self.imprisoned]
        self.won[winner] += freed
        if any(not hand for hand in self.hands):
            self._end_round(after)
        else:
            self.trick += 1
            self._start_trick(winner)  # of a cup trick, too

    # --------------------------------------------------------------- scoring

    def _end_round(self, after: State) -> None:
        """Score the round; then end the game or deal the next round (R17)."""
        for seat in range(self.n):
            # Cards left in hand go onto their owner's own pile; R17: at the end, in order of index.
            self.won[seat] += sorted(self.hands[seat], key=index_of)
            self.hands[seat] = []
        # Nobody scores what is still imprisoned.
        self.last_scares = [scares_of(cards) for cards in self.won]
        self.scores = [old + new for old, new in zip(self.scores, self.last_scares, strict=True)]  # R12
        self.points = list(self.last_scares)
        if self.round == ROUNDS:
            self._end_game()
        else:
            self.round += 1  # R17: this step deals the next round
            self._start_round(*self.chance_deal(after))

    def _end_game(self) -> None:
        """Find the winners: the lowest total; ties share (R15)."""
        self.winners = [seat for seat in range(self.n) if self.scores[seat] == min(self.scores)]
        self.phase = "over"
        self.terminated = True
        # R17: round and trick stay; these are cleared; all else stays as it ended.
        self.to_act = None
        self.leader = None
        self.lead_suit = None
        self.table = []  # so cup_trick is false
        self.trump_moved = False

    def _rewards(self) -> list[float]:
        """Give the reward per seat of the step just played."""
        if self.reward_kind == "score":
            if self.points is None:
                return [0.0] * self.n
            mean = sum(self.points) / self.n
            return [(mean - own) / SCORE_SCALE for own in self.points]  # few is good
        if not self.terminated:
            return [0.0] * self.n
        number_of_winners = len(self.winners)
        winner_gets = (self.n / number_of_winners - 1) / (self.n - 1)
        other_gets = -1 / (self.n - 1)
        return [winner_gets if seat in self.winners else other_gets for seat in range(self.n)]
