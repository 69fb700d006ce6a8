"""Phantom: what a seat knows, the redraw of what it does not, and the rule bot."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from phantom_envs.core.batch import GO_ON, PLAY_FIRST, PLAY_RANDOM, SKIP, kernels
from phantom_envs.core.game import RUNNING
from phantom_envs.core.table import Table
from phantom_envs.games.phantom import GAME
from phantom_envs.games.phantom.components import CARD_NAMES, FAMILIES, FEAR, OCCUPANTS, TAKEN_NAMES, ZONES
from phantom_envs.games.phantom.state import PHASES
from tests.chance import assert_uniform
from tests.games.phantom_scene import PLAYS, all_cards, random_game, scene

LAYOUT = GAME.layout(2)
TWINS = [card for card in CARD_NAMES if card.endswith(("charmer", "howler"))]


def marked(names: Any, order: tuple[str, ...]) -> list[int]:
    return [int(name in names) for name in order]


def cards(names: list[str]) -> list[int]:
    held = Counter(names)
    return [min(held[card], 1) for card in CARD_NAMES] + [int(held[card] == 2) for card in TWINS]


def ghosts(hand: list[str]) -> int:
    return sum(CARD_NAMES.index(card) < 24 for card in hand)


def expected(state: dict[str, Any], seat: int) -> dict[str, list[Any]]:
    """The observation of `seat`, block by block, from the complete state."""
    frame = (seat, 1 - seat)
    hands, known, sides = state["hands"], state["known_hand"], state["apparitions"]
    return {
        "to_act": [int(state["to_act"] == each) for each in frame],
        "four_plays": [int(state["plays"] == 4)],
        "phase": marked([state["phase"]], PHASES[:-1]),
        "effect_zone": marked([state["effect_zone"]], ZONES),
        "fleeing": marked([state["fleeing"]], OCCUPANTS),
        "queen_family": marked([state["queen_family"]], FAMILIES),
        "zones_free": [1 - used for used in marked(state["zones_played"], ZONES)],
        "occupants": [marked(state["occupants"][zone], OCCUPANTS) for zone in ZONES],
        "taken": [marked(state["taken"][each], TAKEN_NAMES) for each in frame],
        "hand": cards(hands[seat]),
        "hand_exposed": cards(known[seat]),
        "opponent_known": cards(known[1 - seat]),
        "discard": cards(state["discard"]),
        "apparitions": [[cards(sides[zone][each]) for zone in ZONES] for each in frame],
        "fear": [[sum(int(FEAR[CARD_NAMES.index(card)]) for card in sides[z][each]) for z in ZONES] for each in frame],
        "scores": [state["scores"][each] for each in frame],
        "ghosts_in_hand": [ghosts(hands[each]) for each in frame],
        "places_in_hand": [len(hands[each]) - ghosts(hands[each]) for each in frame],
        "ghost_pile": [len(state["ghost_pile"])],
        "place_pile": [len(state["place_pile"])],
        "turn": [state["turn"]],
    }


@pytest.mark.parametrize("plays", PLAYS)
def test_observation_tells_the_state(plays: int) -> None:
    low, high = LAYOUT.bounds()
    for seed in range(3):
        for table, _ in random_game(plays, seed):
            for seat in range(2):
                seen = table.observe(seat)
                assert (low <= seen).all()
                assert (seen <= high).all()
                blocks = expected(table.state_dict(), seat)
                assert {block.name: LAYOUT.cut(seen, block.name).tolist() for block in LAYOUT} == blocks


# The redraw


@pytest.mark.parametrize("plays", PLAYS)
def test_redraw_keeps_what_the_seat_knows(plays: int) -> None:
    phases = set()
    for seed in range(2):
        for steps, (table, _) in enumerate(random_game(plays, seed)):
            phases.add(int(table.state["phase"]))
            before = table.state_dict()
            for seat in range(2):
                twin = table.copy()
                twin.resample(seat, steps)
                after = twin.state_dict()
                assert (twin.observe(seat) == table.observe(seat)).all()
                if table.seat == seat:
                    assert twin.legal() == table.legal()
                hidden = {"hands", "ghost_pile", "place_pile"}
                assert {key: after[key] for key in after if key not in hidden} == {
                    key: before[key] for key in before if key not in hidden
                }
                assert after["hands"][seat] == before["hands"][seat]
                assert Counter(after["known_hand"][1 - seat]) <= Counter(after["hands"][1 - seat])
                assert all_cards(after) == all_cards(before)
    assert phases == set(range(len(PHASES)))


@pytest.mark.parametrize("seat", [0, 1])
def test_every_consistent_deal_is_equally_likely(seat: int) -> None:
    unknown, ghost_pile = ["soul-howler", "soul-queen"], ["soul-howler", "soul-knocker"]
    places, place_pile = ["attic"], ["well", "crypt"]
    known = "spirit-howler"
    mine, theirs = "spirit-howler cellar", " ".join((known, *unknown, *places))
    table = scene(
        hands=(mine, theirs) if seat == 0 else (theirs, mine),
        known=("", known) if seat == 0 else (known, ""),
        piles=("", " ".join(ghost_pile), " ".join(place_pile)),
    )
    possible = Counter(
        (tuple(sorted((known, *ghosts[:2]))), ghosts[2:], places[:1], places[1:])
        for ghosts in permutations(unknown + ghost_pile)
        for places in permutations(["attic", "well", "crypt"])
    )
    rng = np.random.default_rng(0)
    drawn: Counter[Any] = Counter()
    for seed in range(4000):
        table.resample(seat, seed)
        state = table.state_dict()
        hand = state["hands"][1 - seat]
        ghosts_held = tuple(sorted(card for card in hand if CARD_NAMES.index(card) < 24))
        places_held = tuple(card for card in hand if CARD_NAMES.index(card) >= 24)
        deal = ghosts_held, tuple(state["ghost_pile"]), places_held, tuple(state["place_pile"])
        # equal cards make several physical deals look alike: which of them it was is drawn here
        drawn[deal, int(rng.integers(possible[deal]))] += 1
    assert {deal for deal, _ in drawn} == set(possible)
    assert_uniform([drawn[deal, copy] for deal in possible for copy in range(possible[deal])])


def test_chance_to_come_is_redrawn() -> None:
    table = scene(piles=("soul-howler soul-queen soul-knocker spirit-howler spirit-queen", "", ""))
    orders = set()
    for seed in range(50):
        twin = table.copy()
        twin.resample(0, seed)
        for action in ("pass", "draw ghost"):
            twin.play(twin.action_of(action))
        orders.add(tuple(twin.state_dict()["ghost_pile"]))
    assert len(orders) > 20


# The rule bot


def play_against_random(games: int, plays: int) -> NDArray[np.bool_]:
    """Whether the rule bot won, in games that it plays against random, every other one as seat 1."""
    states = GAME.blank(games, 2, {"plays": plays})
    states["seed"] = np.arange(games)
    kernels(GAME).start(states, np.ones(games, np.bool_), 0, games)
    bots, actions = np.arange(games) % 2, np.zeros(games, np.int64)
    words, random = np.zeros((games, GAME.num_words), np.uint64), np.arange(games, dtype=np.uint64).reshape(-1, 1)
    room = np.zeros((games, GAME.num_actions), np.int8), np.zeros((games, LAYOUT.size), np.int8)
    rewards = np.zeros(games), np.zeros((games, 2))
    roles = np.full((games, 2), PLAY_RANDOM, np.int8)
    orders = np.full(games, GO_ON, np.int64)
    while (states["status"] == RUNNING).any():
        kernels(GAME).advance(states, words, orders, actions, roles, bots, random, 1.0, 0.0, *room, *rewards, 0, games)
        kernels(GAME).advise(states, words, actions, 0, games)
        orders[:] = np.where(states["status"] == RUNNING, PLAY_FIRST, SKIP)
    won: NDArray[np.bool_] = states["winners"] == 1 << bots
    return won


@pytest.mark.parametrize("plays", PLAYS)
def test_rule_bot_beats_random(plays: int) -> None:
    won = play_against_random(2000, plays)
    for seat in range(2):
        share = won[seat::2]
        assert share.mean() - 3 * share.std() / np.sqrt(len(share)) > 0.95


def test_rule_bot_takes_what_it_can() -> None:
    table = scene(garden="girl|cemetery|", first="boy|attic|", hands=("well hollow-tree bedroom", ""))
    table_advice = np.zeros(1, np.int64)
    kernels(GAME).advise(table.states, table.words.reshape(1, -1), table_advice, 0, 1)
    assert table.action_name(int(table_advice[0])).startswith("play")
    table.play(int(table_advice[0]))
    assert table.state_dict()["scores"][0] == 2


@pytest.mark.parametrize("plays", PLAYS)
def test_rule_bot_needs_no_hidden_card(plays: int) -> None:
    advice = np.zeros(1, np.int64)
    for table, _ in random_game(plays, 5):
        if not table.over:
            choices = set()
            for seed in range(2):
                kernels(GAME).advise(table.states, table.words.reshape(1, -1), advice, 0, 1)
                choices.add(int(advice[0]))
                assert advice[0] in table.legal()
                twin = table.copy()
                twin.resample(table.seat, seed)
                kernels(GAME).advise(twin.states, twin.words.reshape(1, -1), advice, 0, 1)
                choices.add(int(advice[0]))
            assert len(choices) == 1


def test_picture_hides_what_the_seat_does_not_know() -> None:
    table = Table(GAME)
    table.deal(4)
    mine, theirs = table.state_dict()["hands"]
    text = GAME.picture(table.state, 0, False)
    assert all(card in text for card in mine)
    assert not any(card in text for card in set(theirs) - set(mine))
    assert all(card in GAME.picture(table.state, None, False) for card in theirs)
