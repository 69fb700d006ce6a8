"""Fantasmagória: rulings worked out by hand, what a seat knows, the redraw, and the rule bot."""

from __future__ import annotations

from ast import literal_eval
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from phantom_envs.core.batch import GO_ON, PLAY_RANDOM, PLAY_RULE, kernels
from phantom_envs.core.table import Table
from phantom_envs.games.fantasmagoria import GAME
from phantom_envs.games.fantasmagoria.components import BEYOND, CARD_NAMES, SUITS
from phantom_envs.games.fantasmagoria.rules import scares
from phantom_envs.games.fantasmagoria.state import PLAY, SACRIFICE
from tests.chance import assert_uniform

PLAYERS = (3, 4)


def cards(names: str) -> np.uint64:
    """The set of the cards named, separated by blanks."""
    return np.uint64(sum(1 << CARD_NAMES.index(name) for name in names.split()))


def suit_of(card: str) -> str | None:
    return None if card == "cup" else card.split("-")[0]


def position(
    *hands: str, trump: int = 1, possessed: tuple[int, ...] = (), voids: str = "", trick: int = 1, **options: str
) -> Table:
    """A game before a trick that seat 0 leads.

    Pile i holds three ghosts, 3i+1 … 3i+3, under doll-(8+i); the possessed have taken the piles of their own number.
    `voids` lists `seat:suit`.
    """
    table = Table(GAME, len(hands), options)
    table.deal(0)
    s = table.state
    s["phase"], s["trump"], s["trick"], s["leader"], s["seat"] = PLAY, trump, trick, 0, 0
    for seat, hand in enumerate(hands):
        s["hands"][seat] = cards(hand)
        s["sacrificed"][seat] = s["lying"][seat] = cards(f"doll-{8 + seat}")
        s["piles"][seat] = cards(" ".join(f"ghost-{3 * seat + k}" for k in (1, 2, 3)))
        if seat in possessed:
            s["possessed"] |= 1 << seat
            s["piles_left"] ^= 1 << seat
            s["piles"][seat] = s["lying"][seat] = 0
    for void in voids.split():
        seat_of_void, suit = void.split(":")
        s["voids"] |= np.uint64(1 << (5 * int(seat_of_void) + SUITS.index(suit)))
    table.refresh()
    return table


def play(table: Table, *names: str) -> None:
    """Play the named cards, take the named piles."""
    for name in names:
        table.play(table.action_of(f"{'haunt' if name.startswith('pile') else 'play'} {name}"))


def playable(table: Table) -> set[str]:
    return {name.removeprefix("play ") for name in table.legal_names()}


def random_games(players: int, seeds: range) -> Iterator[tuple[Table, str | None]]:
    """Every state of some random games, with the action that led to it."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        table = Table(GAME, players)
        table.deal(seed)
        yield table, None
        while not table.over:
            action = int(rng.choice(table.legal()))
            name = table.action_name(action)
            table.play(action)
            yield table, name


def places_of_cards(state: dict[str, Any]) -> list[str]:
    """All cards of a state dict, wherever they are."""
    lists = [*state["hands"], *state["won"], state["imprisoned"], *(pile or [] for pile in state["piles"])]
    table = [entry["card"] for entry in state["table"]]
    return [card for each in lists for card in each] + [card for card in state["sacrificed"] if card] + table


# The rulings


def test_lowest_sacrifice_leads_and_sets_the_trump_and_ties_go_by_suit() -> None:
    table = Table(GAME, 3)
    table.deal(0)
    for seat, hand in enumerate(("cat-1 doll-9", "cat-3 goat-2", "cat-7 doll-2 goat-7")):
        table.state["hands"][seat] = cards(hand)
    table.refresh()
    for name in ("doll-9", "goat-2", "doll-2"):
        if name == "doll-2":
            assert table.legal_names() == ["sacrifice doll-2"]  # the others are cursed
        table.play(table.action_of(f"sacrifice {name}"))
    state = table.state_dict()
    assert (state["trump"], state["leader"], state["to_act"]) == (2, 1, 1)
    assert state["sacrificed"] == ["doll-9", "goat-2", "doll-2"]


def test_suit_is_followed_and_the_cup_may_always_be_played() -> None:
    table = position("cat-3 cat-4", "cat-7 ghost-9 doll-1 cup", "goat-1 ghost-8", possessed=(1, 2))
    play(table, "cat-3")
    assert playable(table) == {"cat-7", "cup"}
    play(table, "cup")
    assert table.state_dict()["lead_suit"] == "cat"
    assert playable(table) == {"goat-1", "ghost-8"}
    assert not table.state["voids"]


@pytest.mark.parametrize("behind_cup", [False, True])
def test_ghosts_set_the_suit_once_all_are_possessed(behind_cup: bool) -> None:
    for possessed, allowed in (((0, 1), {"cat-1"}), ((0, 1, 2), {"cat-1", "ghost-9"})):
        hands = ["cat-1 ghost-9", "doll-1 doll-2", "cat-2 doll-3"]
        if behind_cup:
            hands = ["cup goat-4", hands[0], hands[1]]
        table = position(*hands, possessed=possessed)
        if behind_cup:
            play(table, "cup")
        assert playable(table) == allowed


def test_setting_the_suit_behind_the_cup_neither_possesses_nor_shows_a_void() -> None:
    table = position("cup cat-1", "goat-2 goat-3", "doll-1 doll-2", possessed=(0,))
    play(table, "cup", "goat-2")
    state = table.state_dict()
    assert (state["lead_suit"], state["possessed"], state["phase"]) == ("goat", [True, False, False], "play")
    assert not table.state["voids"]
    play(table, "doll-1")
    assert table.state_dict()["phase"] == "haunt"


@pytest.mark.parametrize("trump", [1, 6])
def test_only_the_first_possession_of_a_trick_moves_the_trump(trump: int) -> None:
    table = position("cat-3 cat-4", "doll-6 doll-2", "goat-5 goat-4", trump=trump)
    play(table, "cat-3", "doll-6")
    assert table.legal_names() == ["haunt pile-0", "haunt pile-1", "haunt pile-2"]
    play(table, "pile-2")
    state = table.state_dict()
    assert (state["trump"], state["trump_moved"], state["to_act"]) == (6, True, 2)
    assert state["hands"][1] == ["doll-2", "doll-10", "ghost-7", "ghost-8", "ghost-9"]
    assert (state["piles"][2], state["sacrificed"][2]) == (None, None)
    play(table, "goat-5")
    assert table.legal_names() == ["haunt pile-0", "haunt pile-1"]
    play(table, "pile-0")
    state = table.state_dict()
    assert (state["trump"], state["trump_moved"], state["leader"]) == (6, False, 1)  # doll-6 won


def test_possession_by_the_last_card_still_takes_a_pile() -> None:
    table = position("cat-3", "doll-6", "cat-5", trick=10)
    play(table, "cat-3", "doll-6", "pile-0", "cat-5")
    state = table.state_dict()
    assert (state["round"], state["phase"]) == (2, "sacrifice")
    assert state["last_scares"] == state["scores"] == [0, 3, 0]  # three ghosts left in hand


@pytest.mark.parametrize(
    ("trump", "possessed", "plays", "winner"),
    [
        (4, (0, 1, 2), "cat-3 doll-4 goat-4", 1),  # the first that bears the trump
        (4, (0, 1, 2), "cat-3 cat-9 cat-11", 2),  # else the highest of the lead suit
        (5, (0, 1, 2), "cat-3 ghost-5 cat-11", 1),  # ghosts bear numbers too
        (7, (0, 1, 2), "cat-3 doll-11 cat-2", 0),  # another suit never wins without the trump
        (4, (0, 2), "cat-4 doll-9 pile-1 cat-11", 1),  # the trump counts as it stands at the end
        (4, (0, 2), "cat-9 doll-9 pile-1 cat-11", 0),  # and then the first of it
        (1, (0, 1, 2), "cup cat-2 cat-3", 2),  # the cup wins nothing
    ],
)
def test_who_wins_the_trick(trump: int, possessed: tuple[int, ...], plays: str, winner: int) -> None:
    played = [name for name in plays.split() if not name.startswith("pile")]
    table = position(*(f"{card} goat-{8 + seat}" for seat, card in enumerate(played)), trump=trump, possessed=possessed)
    play(table, *plays.split())
    assert table.state_dict()["leader"] == winner
    assert table.state_dict()["won"][winner] == played


def test_the_cup_imprisons_scares_for_the_winner_of_the_next_trick() -> None:
    table = position("cat-7 doll-2 cat-1", "ghost-3 doll-5 goat-2", "cup doll-4 goat-3", possessed=(0, 1, 2))
    play(table, "cat-7", "ghost-3", "cup")
    state = table.state_dict()
    assert state["imprisoned"] == ["cat-7", "ghost-3"]  # R9
    assert (state["won"], state["leader"]) == ([["cup"], [], []], 0)  # R14
    play(table, "doll-2", "doll-5", "doll-4")
    state = table.state_dict()
    assert state["won"] == [["cup"], ["doll-2", "doll-5", "doll-4", "cat-7", "ghost-3"], []]
    assert state["imprisoned"] == []


def test_nobody_scores_what_is_imprisoned_in_the_last_trick() -> None:
    table = position("doll-7", "ghost-3", "cup", possessed=(0, 1, 2), trick=14)
    table.state["round"] = 3
    table.state["scores"][:3] = (2, 1, 1)
    play(table, "doll-7", "ghost-3", "cup")
    state = table.state_dict()
    assert (state["phase"], state["last_scares"], state["imprisoned"]) == ("over", [0, 0, 0], ["doll-7", "ghost-3"])
    assert (state["winners"], state["leader"], state["table"]) == ([1, 2], None, [])  # R15
    assert table.rewards.tolist() == pytest.approx([-0.5, 0.25, 0.25])


@pytest.mark.parametrize(
    ("won", "total"),
    [
        ("", 0),
        ("cup cat-1 goat-11", 0),  # R10
        ("ghost-1 ghost-11 candle-7", 4),
        ("cat-7", -3),
        ("doll-7 cat-7 ghost-4", 2),
        ("goat-7", 0),
        ("goat-7 ghost-1 ghost-2 ghost-3 ghost-4 ghost-5 ghost-6 doll-7", 16),
        ("goat-7 ghost-1 ghost-2 ghost-3 ghost-4 ghost-5 ghost-6 ghost-7 doll-7 cat-7", 0),
        ("ghost-1 ghost-2 ghost-3 ghost-4 ghost-5 ghost-6 ghost-7 cat-7", 4),
    ],
)
def test_scares(won: str, total: int) -> None:
    assert scares(cards(won)) == total


def test_few_scares_are_rewarded() -> None:
    table = position("cat-3 ghost-1", "cat-2", "cat-9", trick=10, reward="score")
    play(table, "cat-3", "cat-2", "cat-9")
    assert table.state_dict()["scores"] == [1, 0, 0]  # R11: left in hand
    assert table.rewards.tolist() == pytest.approx([-1 / 15, 1 / 30, 1 / 30])


@pytest.mark.parametrize("players", PLAYERS)
def test_rounds_have_ten_or_fourteen_tricks_and_no_card_is_lost(players: int) -> None:
    everything = sorted(places_of_cards(_dealt(players)))
    assert len(everything) == len(set(everything)) == 14 * players
    before: dict[str, Any] = _dealt(players)
    for table, _ in random_games(players, range(10)):
        state = table.state_dict()
        assert sorted(places_of_cards(state)) == everything
        assert state["trick"] <= 10 or all(state["possessed"])
        if state["phase"] == "over" or state["round"] > before["round"]:
            assert before["trick"] in (10, 14)
        before = state


def _dealt(players: int) -> dict[str, Any]:
    table = Table(GAME, players)
    table.deal(0)
    return table.state_dict()


# What a seat knows


class Witness:
    """Remembers what everybody saw in this round."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.played_by: dict[str, int] = {}
        self.played_in: dict[str, int] = {}
        self.voids: set[tuple[int, str]] = set()
        self.taken: dict[int, int] = {}
        self.held_by: dict[str, int] = {}
        self.sacrificed_by: dict[str, int] = {}

    def see(self, before: dict[str, Any], name: str, after: dict[str, Any]) -> None:
        seat = before["to_act"]
        verb, thing = name.split()
        if verb == "play":
            self.played_by[thing], self.played_in[thing] = seat, before["trick"]
            self.held_by.pop(thing, None)
            if before["lead_suit"] is not None and suit_of(thing) not in (None, before["lead_suit"]):
                self.voids.add((seat, before["lead_suit"]))
        elif verb == "haunt":
            pile = int(thing.removeprefix("pile-"))
            self.taken[pile] = seat
            self.held_by[before["sacrificed"][pile]] = seat
        if before["phase"] == "sacrifice" and after["phase"] == "play":
            self.sacrificed_by = {card: owner for owner, card in enumerate(after["sacrificed"])}
        if after["round"] > before["round"]:
            self.forget()


def expected_blocks(seat: int, state: dict[str, Any], seen: Witness) -> dict[str, NDArray[Any]]:
    """Every block of the observation of `seat`, from the state dict and what was seen."""
    p = state["num_players"]
    turn = [(seat + k) % p for k in range(p)]
    place = {other: k for k, other in enumerate(turn)}
    laid = state["sacrificed"][seat] if state["phase"] == "sacrifice" else None
    lying = {card: pile + 1 for pile, card in enumerate(state["sacrificed"]) if card and state["phase"] != "sacrifice"}
    table = {entry["seat"]: entry["card"] for entry in state["table"]}
    number = {other: int(card.split("-")[1]) for other, card in table.items() if card != "cup"}

    def per_card(values: dict[str, int]) -> list[int]:
        return [values.get(card, 0) for card in CARD_NAMES]

    def holders(owners: dict[str, int]) -> list[int]:
        return per_card({card: 1 + place[owner] for card, owner in owners.items()})

    blocks: dict[str, Any] = {
        "own_number": [k == seat for k in range(p)],
        "to_act": [k == state["to_act"] for k in turn],
        "leader": [k == state["leader"] for k in turn],
        "possessed": [state["possessed"][k] for k in turn],
        "voids": [[(k, suit) in seen.voids for suit in SUITS] for k in turn],
        "phase": [state["phase"] == phase for phase in ("sacrifice", "play", "haunt")],
        "round": [state["round"] == k for k in (1, 2, 3)],
        "lead_suit": [state["lead_suit"] == suit for suit in SUITS],
        "trump": [state["trump"] == k for k in range(1, 12)],
        "trump_moved": [state["trump_moved"]],
        "cup_trick": [state["cup_trick"]],
        "taken": [[seen.taken.get(pile) == k for pile in range(p)] for k in turn],
        "table_suit": [[k in table and suit_of(table[k]) == suit for suit in (*SUITS, None)] for k in turn],
        "table_number": [[number.get(k) == value for value in range(1, 12)] for k in turn],
        "card_hand": per_card(dict.fromkeys(state["hands"][seat], 1)),
        "card_imprisoned": per_card(dict.fromkeys(state["imprisoned"], 1)),
        "card_sacrificed_by": per_card({laid: 1}) if laid else holders(seen.sacrificed_by),
        "card_on_pile": per_card(lying),
        "card_held_by": holders(seen.held_by if state["phase"] != "over" else {}),
        "card_won_by": holders({card: k for k in turn for card in state["won"][k]}),
        "card_played_by": holders(seen.played_by),
        "card_played_in": per_card(seen.played_in),
        "scores": [state["scores"][k] for k in turn],
        "last_scares": [state["last_scares"][k] for k in turn],
        "hand_size": [len(state["hands"][k]) for k in turn],
        "hand_beyond": [sum(int(BEYOND) >> CARD_NAMES.index(c) & 1 for c in state["hands"][k]) for k in turn],
        "trick": [state["trick"]],
    }
    return {name: np.array(values, np.int8) for name, values in blocks.items()}


@pytest.mark.parametrize("players", PLAYERS)
def test_observation_holds_what_was_to_be_seen(players: int) -> None:
    layout = GAME.layout(players)
    low, high = layout.bounds()
    seen = Witness()
    before: dict[str, Any] = {}
    for table, name in random_games(players, range(5)):
        state = table.state_dict()
        if name is None:
            seen.forget()
        else:
            seen.see(before, name, state)
        for seat in range(players):
            observation = table.observe(seat)
            assert (low <= observation).all()
            assert (observation <= high).all()
            for block, values in expected_blocks(seat, state, seen).items():
                assert np.array_equal(layout.cut(observation, block), values), block
        before = state


# The redraw


@pytest.mark.parametrize("players", PLAYERS)
def test_redraw_keeps_what_a_seat_knows(players: int) -> None:
    public = ("to_act", "won", "imprisoned", "table", "trump", "possessed", "scores", "lead_suit")
    for number, (table, _) in enumerate(random_games(players, range(4))):
        state = table.state_dict()
        for seat in range(players):
            twin = table.copy()
            twin.resample(seat, number)
            assert np.array_equal(twin.observe(seat), table.observe(seat))
            if seat == table.seat:
                assert twin.legal() == table.legal()
            redrawn = twin.state_dict()
            assert {key: redrawn[key] for key in public} == {key: state[key] for key in public}
            assert sorted(places_of_cards(redrawn)) == sorted(places_of_cards(state))
            for other in range(players):
                assert len(redrawn["hands"][other]) == len(state["hands"][other])
                known = twin.state["shown"][other]
                lacked = {suit for k, suit in enumerate(SUITS) if int(twin.state["voids"]) >> (5 * other + k) & 1}
                held = {suit_of(card) for card in redrawn["hands"][other] if not known & cards(card)}
                assert not lacked & held
            if state["phase"] == "sacrifice":
                assert not {"cat-7", "candle-7", "goat-7", "doll-7"} & set(redrawn["sacrificed"])


def redraws(table: Table, seat: int, count: int) -> Counter[str]:
    """How often each hidden state is drawn."""
    drawn: Counter[str] = Counter()
    twin = table.copy()
    for seed in range(count):
        twin.states[:] = table.states
        twin.resample(seat, seed)
        state = twin.state_dict()
        drawn[str((state["hands"], state["piles"], state["sacrificed"]))] += 1
    return drawn


def test_hands_and_secret_sacrifices_are_equally_likely_together() -> None:
    table = Table(GAME, 3)
    table.deal(0)
    s = table.state
    hidden = ("cat-1", "cat-7", "goat-7", "doll-1", "doll-2")
    s["hands"][:3] = cards("cat-7"), cards("doll-2 goat-7"), cards("cat-2 cat-3")
    s["sacrificed"][:2] = cards("doll-1"), cards("cat-1")
    s["piles"][:] = 0
    s["seat"], s["phase"] = 2, SACRIFICE
    table.refresh()
    sacrifices = list(permutations(("cat-1", "doll-1", "doll-2"), 2))
    states = len(sacrifices) * (len(hidden) - 2)  # and which of the other cards seat 0 holds; seat 1 has the rest
    drawn = redraws(table, 2, 200 * states)
    assert len(drawn) == states == 18
    assert_uniform(drawn.values())


def test_ritual_and_beyond_cards_are_redrawn_within_what_is_known() -> None:
    # Seat 1 is known to hold doll-9, and has two beyond cards and one more that is no goat; seat 2 has the rest.
    table = position(
        "cat-2 cat-3", "doll-9 cat-1 ghost-4 cup", "doll-1 doll-2 goat-1", possessed=(1,), voids="1:goat 2:ghost"
    )
    s = table.state
    s["shown"][1] = cards("doll-9")
    s["piles"][2] = 0
    hidden_beyond = ("ghost-1", "ghost-2", "ghost-3", "ghost-4", "cup")
    drawn = redraws(table, 0, 6000)
    assert len(drawn) == 3 * len(list(combinations(hidden_beyond, 2)))
    assert all("doll-9" in hands[1] and "goat-1" not in hands[1] for hands, _, _ in map(literal_eval, drawn))
    assert_uniform(drawn.values())


def test_a_hand_without_ghosts_has_the_cup() -> None:
    table = position("cat-2 cat-3", "cat-1 cup", "doll-1 doll-2", possessed=(1,), voids="1:ghost")
    for seed in range(50):
        table.resample(0, seed)
        assert "cup" in table.state_dict()["hands"][1]


# The rule bot


@pytest.mark.parametrize(("players", "times_the_even_share"), [(3, 2.0), (4, 2.5)])
def test_rule_bot_beats_random_players(players: int, times_the_even_share: float) -> None:
    games = 4000
    states = GAME.blank(games, players, {"reward": "win"})
    states["seed"] = np.arange(games)
    kernels(GAME).start(states, np.ones(games, np.bool_), 0, games)
    bots = np.arange(games) % players
    roles = np.full((games, players), PLAY_RANDOM, np.int8)
    roles[np.arange(games), bots] = PLAY_RULE
    _play_out(states, roles)
    winners = states["winners"].astype(np.int64)
    share = (winners >> bots & 1) / np.array([int(each).bit_count() for each in winners])
    sure = 3 * share.std() / np.sqrt(games)
    assert share.mean() - sure > times_the_even_share / players


def _play_out(states: NDArray[np.void], roles: NDArray[np.int8]) -> None:
    games, players = roles.shape
    mask = np.zeros((games, GAME.num_actions), np.int8)
    observation = np.zeros((games, GAME.layout(players).size), np.int8)
    kernels(GAME).advance(
        states,
        np.zeros((games, GAME.num_words), np.uint64),
        np.full(games, GO_ON, np.int64),
        np.zeros(games, np.int64),
        roles,
        np.full(games, -2, np.int64),
        np.arange(games, dtype=np.uint64).reshape(-1, 1),
        1.0,
        0.0,
        mask,
        observation,
        np.zeros(games),
        np.zeros((games, players)),
        0,
        games,
    )
    assert (states["phase"] == 3).all()
