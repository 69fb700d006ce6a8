"""Slow, obvious reference implementation of the rules of Phantom Trick.

Written from the rules file only; "R1", "R2", ... are the rulings of that file.
It checks an engine: it adopts the engine's initial state and then plays the same actions by the rules.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

State = dict[str, Any]

SUITS = ["red", "blue", "yellow", "green", "white"]
HAND_SIZE = 12
TRICKS_PER_ROUND = 11
ROUNDS = 3
START_SCORE = 10
TOP_SCORE = 16  # R8
SCORE_SCALE = 10


def check(condition: bool, text: str) -> None:
    """Raise AssertionError with the text unless the condition holds (also under python -O)."""
    if not condition:
        raise AssertionError(text)


def suit_of(card: str) -> str:
    """Give the suit of a card: "red" of "red-7"."""
    return card.split("-")[0]


def value_of(card: str) -> int:
    """Give the value of a card: 7 of "red-7"."""
    return int(card.split("-")[1])


def index_of(card: str) -> int:
    """Give the index of a card, which is also the index of its action: 12 x suit + value."""
    return 12 * SUITS.index(suit_of(card)) + value_of(card)


def deck(num_players: int) -> list[str]:
    """List the cards used with so many players, in order of index."""
    if num_players == 3:
        suits, values = SUITS[:4], range(1, 11)
    elif num_players == 4:
        suits, values = SUITS, range(1, 11)
    else:
        suits, values = SUITS, range(12)
    return [f"{suit}-{value}" for suit in suits for value in values]


def check_deal(num_players: int, hands: Any, unused: Any) -> None:
    """Check that these can be the hands and the unused cards of a freshly dealt round."""
    check(isinstance(hands, list) and len(hands) == num_players, f"deal: not one hand per seat: {hands!r}")
    check(isinstance(unused, list), f"deal: the unused cards are not a list: {unused!r}")
    cards_used = deck(num_players)
    for cards in [*hands, unused]:
        check(isinstance(cards, list), f"deal: not a list of cards: {cards!r}")
        for card in cards:
            check(card in cards_used, f"deal: {card!r} is not a card used with {num_players} players")
        check(cards == sorted(cards, key=index_of), f"deal: cards are not sorted by index: {cards}")
    for hand in hands:
        check(len(hand) == HAND_SIZE, f"deal: a hand has {len(hand)} cards, not {HAND_SIZE}: {hand}")
    all_cards = [card for cards in [*hands, unused] for card in cards]
    check(sorted(all_cards, key=index_of) == cards_used, "deal: hands and unused cards are not exactly the deck")


@dataclass
class Laid:
    """A card on the table."""

    seat: int
    card: str
    face_up: bool


class Reference:
    """One game of Phantom Trick."""

    terminated: bool
    truncated: bool

    def __init__(self, state: State, options: State) -> None:
        """Adopt the initial state after checking that it is a valid start of a game."""
        self.reward_kind: str = options.get("reward", "win")
        check(self.reward_kind in ("win", "score"), f"unknown reward {self.reward_kind!r}")
        num_players = state.get("num_players")
        check(type(num_players) is int and 3 <= num_players <= 5, f"start: bad num_players {num_players!r}")
        self.n: int = state["num_players"]
        self.terminated = False
        self.truncated = False  # R10: there is no length limit
        self.round = 1
        self.scores = [START_SCORE] * self.n  # R7
        self.last_gain = [0] * self.n
        self.winners: list[int] = []
        self.points: list[int] | None = None  # what the current step books, if it does
        self._start_round(copy.deepcopy(state.get("hands")), copy.deepcopy(state.get("unused")))
        mine = self.state_dict()
        check(set(state) == set(mine), f"start: wrong keys {sorted(set(state) ^ set(mine))}")
        for key, value in mine.items():
            check(state[key] == value, f"start: {key} is {state[key]!r}, not {value!r}")

    # ---------------------------------------------------------------- chance

    def chance_deal(self, after: State) -> tuple[Any, Any]:
        """Learn the hands and the unused cards of a newly dealt round."""
        return copy.deepcopy(after.get("hands")), copy.deepcopy(after.get("unused"))

    def chance_leader(self, after: State) -> Any:
        """Learn the leader drawn at random (R1)."""
        return after.get("leader")

    # ------------------------------------------------------------- interface

    def legal(self) -> list[str]:
        """Name the legal actions of the player to act, in order of index; none when the game is over."""
        if self.to_act is None:
            return []
        if self.phase == "place":
            cards = self.hands[self.to_act]  # any card of the hand
        elif self.phase == "play":
            cards = self._playable(self.to_act)
        else:
            cards = [laid.card for laid in self.table if laid.face_up]  # the winner's own included
        return [f"{self.phase} {card}" for card in sorted(cards, key=index_of)]

    def step(self, action: str, after: State) -> list[float]:
        """Play the action; look into `after` for chance only; return the reward of each seat."""
        check(not self.terminated, f"{action!r} after the end of the game")
        check(action in self.legal(), f"{action!r} is not legal; legal are {self.legal()}")
        assert self.to_act is not None
        seat = self.to_act
        card = action.split(" ")[1]
        self.points = None
        if self.phase == "place":
            self._place(seat, card, after)
        elif self.phase == "play":
            self._play(seat, card, after)
        else:
            self._take(seat, card, after)
        return self._rewards()

    def state_dict(self) -> State:
        """Give the complete state, hidden information included."""
        return {
            "game": "phantom_trick",
            "num_players": self.n,
            "round": self.round,
            "trick": self.trick,
            "phase": self.phase,
            "to_act": self.to_act,
            "hands": [sorted(hand, key=index_of) for hand in self.hands],
            "unused": sorted(self.unused, key=index_of),
            "placed": list(self.placed),
            "first": self.first,
            "leader": self.leader,
            "leader_suit": self.leader_suit,
            "table": [{"seat": laid.seat, "card": laid.card, "face_up": laid.face_up} for laid in self.table],
            "rows": [list(row) for row in self.rows],
            "piles": [list(pile) for pile in self.piles],
            "scores": list(self.scores),
            "last_gain": list(self.last_gain),
            "winners": list(self.winners),
        }

    # ----------------------------------------------------------- start, place

    def _start_round(self, hands: Any, unused: Any) -> None:
        """Set up a round with freshly dealt cards."""
        check_deal(self.n, hands, unused)
        self.hands: list[list[str]] = hands
        self.unused: list[str] = unused
        self.trick = 1
        self.phase = "place"
        self.to_act: int | None = 0  # secret choices are asked for in seating order
        self.placed: list[str | None] = [None] * self.n
        self.first: int | None = None
        self.leader: int | None = None
        self.leader_suit: str | None = None
        self.table: list[Laid] = []
        self.rows: list[list[str]] = [[] for _ in range(self.n)]
        self.piles: list[list[str]] = [[] for _ in range(self.n)]

    def _place(self, seat: int, card: str, after: State) -> None:
        """Lay a card secretly; the last one reveals all."""
        self.hands[seat].remove(card)
        self.placed[seat] = card
        if seat + 1 < self.n:
            self.to_act = seat + 1
            return
        cards = [placed for placed in self.placed if placed is not None]
        self.rows = [[placed] for placed in cards]  # revealed: the rows begin
        self.phase = "play"
        self._start_trick(self._first_leader(cards, after))

    def _first_leader(self, cards: list[str], after: State) -> int:
        """Find who laid the lowest value that nobody else laid."""
        values = [value_of(card) for card in cards]
        unshared = [value for value in values if values.count(value) == 1]
        if unshared:
            return values.index(min(unshared))
        # R1: every value is shared, so the leader is drawn among all players.
        leader = self.chance_leader(after)
        check(type(leader) is int and 0 <= leader < self.n, f"random leader: {leader!r} is no seat")
        return int(leader)

    # ------------------------------------------------------------------ play

    def _start_trick(self, leader: int) -> None:
        """Let the leader begin a trick."""
        self.phase = "play"
        self.first = leader
        self.leader = leader
        self.leader_suit = None
        self.table = []
        self.to_act = leader

    def _playable(self, seat: int) -> list[str]:
        """List the cards the seat may play."""
        hand = self.hands[seat]
        if seat == self.leader:
            return hand  # the leader plays any card; R3: also one whom leadership has reached
        following = [card for card in hand if suit_of(card) == self.leader_suit]
        return following or hand

    def _play(self, seat: int, card: str, after: State) -> None:
        """Play a card to the trick."""
        self.hands[seat].remove(card)
        laid = Laid(seat, card, face_up=True)
        # R2: only face-up cards have a value; so at most one of the table can match.
        for other in self.table:
            if other.face_up and value_of(other.card) == value_of(card):
                other.face_up = False
                laid.face_up = False
                break
        self.table.append(laid)
        self._settle_leadership()
        if len(self.table) < self.n:
            self.to_act = (seat + 1) % self.n
        else:
            self._end_trick(after)

    def _settle_leadership(self) -> None:
        """Find leader and suit: from the leader on, clockwise, the first whose card is not face-down (R3)."""
        assert self.leader is not None
        for distance in range(self.n):
            seat = (self.leader + distance) % self.n
            card_of_seat = [laid for laid in self.table if laid.seat == seat]
            if not card_of_seat:
                # R3: who has not played yet counts, and will play any card. R4: then all others are face-down.
                check(not any(laid.face_up for laid in self.table), "reference bug: R4 does not hold")
                self.leader = seat
                self.leader_suit = None
                return
            if card_of_seat[0].face_up:
                self.leader = seat
                self.leader_suit = suit_of(card_of_seat[0].card)  # R3: binds those still to play
                return
        # R5: everybody's card has vanished; the trick is over.

    def _end_trick(self, after: State) -> None:
        """Settle the trick after its last card."""
        for laid in self.table:
            if not laid.face_up:
                self.piles[laid.seat].append(laid.card)  # R6
        candidates = [laid for laid in self.table if laid.face_up and suit_of(laid.card) == self.leader_suit]
        if candidates:
            self.phase = "take"
            self.to_act = max(candidates, key=lambda laid: value_of(laid.card)).seat
            return
        # R5: nobody wins, nobody takes, who played the first card leads the next trick.
        check(not any(laid.face_up for laid in self.table), "reference bug: no winner, though not all vanished")
        assert self.first is not None
        self._next_trick(self.first, after)

    def _take(self, seat: int, card: str, after: State) -> None:
        """Let the winner take a face-up card of the trick."""
        row = self.rows[seat]
        same_value = [other for other in row if value_of(other) == value_of(card)]
        check(len(same_value) <= 1, "reference bug: two cards of a value in a row")
        if same_value:
            row.remove(same_value[0])
            self.piles[seat] += [same_value[0], card]  # first the card from the row, then the one taken
        else:
            row.append(card)
        self._next_trick(seat, after)  # the winner leads the next trick

    def _next_trick(self, leader: int, after: State) -> None:
        """Go on to the next trick, or end the round after the eleventh."""
        if self.trick < TRICKS_PER_ROUND:
            self.trick += 1
            self._start_trick(leader)
        else:
            self._end_round(after)

    # --------------------------------------------------------------- scoring

    def _end_round(self, after: State) -> None:
        """Score the round; then end the game or deal the next round (R11)."""
        old_scores = list(self.scores)
        for seat in range(self.n):
            gain = len(self.piles[seat]) - len(self.rows[seat])  # R7, R9
            self.last_gain[seat] = gain  # R9: before R8's cap
            self.scores[seat] = min(TOP_SCORE, self.scores[seat] + gain)  # R8
        self.points = [new - old for new, old in zip(self.scores, old_scores, strict=True)]  # after R8
        if min(self.scores) <= 0 or self.round == ROUNDS:
            self._end_game()
        else:
            self.round += 1  # R11: this step deals the next round
            self._start_round(*self.chance_deal(after))

    def _end_game(self) -> None:
        """Find the winners: highest score, then the most gained in the last round (R9), then shared."""
        best_score = max(self.scores)
        tied = [seat for seat in range(self.n) if self.scores[seat] == best_score]
        best_gain = max(self.last_gain[seat] for seat in tied)
        self.winners = [seat for seat in tied if self.last_gain[seat] == best_gain]
        self.phase = "over"
        self.terminated = True
        # R11: round and trick stay; these are cleared; all else stays as it ended.
        self.to_act = None
        self.first = None
        self.leader = None
        self.leader_suit = None
        self.table = []
        self.hands = [[] for _ in range(self.n)]

    def _rewards(self) -> list[float]:
        """Give the reward per seat of the step just played."""
        if self.reward_kind == "score":
            if self.points is None:
                return [0.0] * self.n
            mean = sum(self.points) / self.n
            return [(own - mean) / SCORE_SCALE for own in self.points]
        if not self.terminated:
            return [0.0] * self.n
        number_of_winners = len(self.winners)
        winner_gets = (self.n / number_of_winners - 1) / (self.n - 1)
        other_gets = -1 / (self.n - 1)
        return [winner_gets if seat in self.winners else other_gets for seat in range(self.n)]
