"""Das Phantom: what a seat knows, against the state and a history kept apart; the redraw; and the rule bot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from phantom_envs.core.batch import GO_ON, PLAY_FIRST, PLAY_RANDOM, SKIP, kernels
from phantom_envs.core.game import RUNNING
from phantom_envs.core.jit import JIT_DISABLED
from phantom_envs.core.table import Table
from phantom_envs.games.das_phantom import GAME
from phantom_envs.games.das_phantom.components import ITEMS, PILES
from phantom_envs.games.das_phantom.state import PHASES
from tests.chance import assert_uniform
from tests.games.das_phantom_scene import (
    BOARD,
    PLAYERS,
    advice,
    path_cells,
    play,
    random_game,
    scene,
    targets,
    with_sign,
)

GAMES = 4
STEPS = 40 if JIT_DISABLED else 400  # of each
DRAWS = 20 if JIT_DISABLED else 60  # per possibility
SEEN_ROUNDS = 127
TOTALS = dict(zip(ITEMS, (10, 10, 4, 4, 4, 6, 3, 6, 5, 4), strict=True))
PILE = dict.fromkeys(ITEMS[:2], "single") | dict.fromkeys(ITEMS[2:5], "double") | dict.fromkeys(ITEMS[5:], "magic")
"""Per item, the pile it comes from."""


def by_kind(items: list[str]) -> list[int]:
    """Numbers per kind."""
    return [items.count(item) for item in ITEMS]


def by_pile(items: list[str]) -> list[int]:
    """Numbers per pile."""
    return [sum(PILE[item] == pile for item in items) for pile in PILES]


def plane(members: set[str]) -> list[list[int]]:
    """A plane with ones at these cells."""
    cells = [int(cell in members) for cell in BOARD]
    return [cells[16 * row : 16 * row + 16] for row in range(14)]


def one_hot(values: Any, value: Any) -> list[int]:
    """A one where `value` stands among `values`, if it does."""
    return [int(each == value) for each in values]


def positions(players: int, seed: int, max_rounds: int = 100) -> Iterator[tuple[Table, dict[str, Any], Counter[str]]]:
    """Random games, some of them the rule bot's in part, and what was taken this turn by pile."""
    for game in range(GAMES):
        taken: Counter[str] = Counter()
        for table, name in random_game(players, seed + game, STEPS, max_rounds, by_rule=0.2 * game):
            if table.over:
                taken.clear()
            yield table, table.state_dict(), taken
            if name.startswith("take "):
                taken[name.removeprefix("take ")] += 1
            elif name == "end":
                taken.clear()


def expected(state: dict[str, Any], taken: Counter[str], seat: int) -> dict[str, Any]:
    """Every block of the observation of `seat`, from the state and what was taken."""
    n = state["num_players"]
    order = [(seat + offset) % n for offset in range(n)]
    piles = [item for pile in PILES for item in state[f"{pile}_pile"]]
    seen_nowhere = Counter(piles) + Counter(item for other in order[1:] for item in state["hands"][other])
    in_hands = Counter(item for hand in state["hands"] for item in hand)
    gone = Counter(TOTALS) - Counter(piles) - in_hands
    own = state["hands"][seat]
    exact = targets(state)[0] if state["phase"] in ("move", "swift") else set()
    torches = sorted(with_sign("T"), key=list(BOARD).index)
    chase = state["to_chase"]
    return {
        "path": plane(path_cells(state)),
        "laid": plane(set(state["laid"])),
        "rose": plane(set(state["board_roses"])),
        "exact": plane(exact),
        "phantom": plane({state["phantom"]}),
        "origin": plane({state["from"]}),
        "pawn": [plane({state["pawns"][other]}) for other in order],
        "to_act": one_hot(order, state["to_act"]),
        "first": one_hot(order, state["first"]),
        "violin": [int(state["violins"][other]) for other in order],
        "chased": [int(other in state["chased"]) for other in order],
        "phase": one_hot(PHASES[:-1], state["phase"]),
        "face": one_hot(("4", "5", "6", "1-3", "mask"), state["face"]),
        "swift": one_hot(("swift-4", "swift-6"), state["swift"]),
        "turn": [int(state[key]) for key in ("passage", "met", "shifted", "stuck")],
        "torch": [int(torch in state["torches"]) for torch in torches],
        "using": one_hot(ITEMS[:5], state["using"]),
        "room": one_hot([f"room-{sign}" for sign in "abcdefghijklm"], state["phantom"]),
        "dice": [state["dice"].count(face) for face in ("4", "5", "6", "1-3", "mask")],
        "hand": by_kind(own),
        "fresh": by_kind(state["fresh"]) if seat == state["to_act"] else [0] * 10,
        "unseen": [seen_nowhere[item] for item in ITEMS],
        "gone": [gone[item] for item in ITEMS],
        "tiles_out": by_kind(state["tiles_out"])[:5],
        "piles": [len(state[f"{pile}_pile"]) for pile in PILES],
        "taken": [taken[pile] for pile in PILES],
        "rolls": [state["rolls"]],
        "takes": [state["takes"]],
        "steps": [state["steps"]],
        "round": [min(state["round"], SEEN_ROUNDS)],
        "rounds_left": [min(state["max_rounds"] - state["round"], SEEN_ROUNDS)],
        "held": [by_pile(state["hands"][other]) for other in order],
        "roses": [state["roses"][other] for other in order],
        "blocked": [min(state["blocked"][other], 3) for other in order],
        "to_chase": [1 + chase.index(other) if other in chase else 0 for other in order],
    }


@pytest.mark.parametrize("players", PLAYERS)
def test_observation_says_what_the_state_says(players: int) -> None:
    layout = GAME.layout(players)
    low, high = layout.bounds()
    met = set()
    for number, (table, state, taken) in enumerate(positions(players, seed=players, max_rounds=1000)):
        met.add(state["phase"])
        seats = {max(table.seat, 0), number % players}
        for seat in seats:
            observation = table.observe(seat)
            assert ((low <= observation) & (observation <= high)).all()
            wanted = expected(state, taken, seat)
            assert list(wanted) == [block.name for block in layout]
            for name, block in wanted.items():
                assert layout.cut(observation, name).tolist() == block, (name, state["phase"])
    assert JIT_DISABLED or met >= {"die", "move", "swift", "rob", "take", "after", "at", "toward", "phantom", "chase"}


def test_the_end_of_a_game_can_be_observed() -> None:
    table = scene("7,15", "12,1", roses=[6], violins=[0])
    state = play(table, "die 4", "go 10,14")
    layout = GAME.layout(2)
    for name, block in expected(state, Counter(), 1).items():
        assert layout.cut(table.observe(1), name).tolist() == block, name


@pytest.mark.parametrize("players", PLAYERS)
def test_every_item_is_in_one_place(players: int) -> None:
    for table, state, _ in positions(players, seed=10 + players):
        s = table.state
        piles = [item for pile in PILES for item in state[f"{pile}_pile"]]
        found = Counter(piles) + Counter(item for hand in state["hands"] for item in hand)
        magic = found + Counter(state["magic_discard"])
        assert all(magic[item] == TOTALS[item] for item in ITEMS[5:])
        gone = dict(zip(ITEMS, s["gone"].tolist(), strict=True))
        assert all(found[item] + gone[item] == TOTALS[item] for item in ITEMS)
        assert not Counter(state["tiles_out"]) - Counter(gone)
        assert [by_pile(hand) for hand in state["hands"]] == s["held"][:players].tolist()
        assert not Counter(state["fresh"]) - Counter(state["hands"][max(table.seat, 0)])
        laid = sum(("-" in item) + 1 for item in Counter(gone).elements() if item in ITEMS[:5])
        laid -= sum(("-" in item) + 1 for item in state["tiles_out"])
        if state["using"] is None:
            assert laid == len(state["laid"])
        assert len(state["board_roses"]) + sum(state["roses"]) == 14


@pytest.mark.parametrize("players", PLAYERS)
def test_redraw_changes_nothing_that_the_seat_knows(players: int) -> None:
    moved = 0
    for step, (table, state, _) in enumerate(positions(players, seed=20 + players)):
        for seat in {max(table.seat, 0), step % players}:
            twin = table.copy()
            twin.resample(seat, step)
            assert twin.observe(seat).tolist() == table.observe(seat).tolist()
            redrawn = twin.state_dict()
            moved += redrawn["hands"] != state["hands"]
            hidden = {"hands", "single_pile", "double_pile", "magic_pile"}
            assert redrawn["hands"][seat] == state["hands"][seat]
            if seat == table.seat:
                assert twin.legal() == table.legal()
                assert advice(twin) == advice(table), "the rule bot knows no more than its seat"
            else:
                hidden.add("fresh")
            assert all(redrawn[key] == state[key] for key in state if key not in hidden)
            for pile in PILES:
                assert len(redrawn[f"{pile}_pile"]) == len(state[f"{pile}_pile"])
            assert [by_pile(hand) for hand in redrawn["hands"]] == [by_pile(hand) for hand in state["hands"]]
            assert total(redrawn) == total(state)
            assert not Counter(redrawn["fresh"]) - Counter(redrawn["hands"][max(table.seat, 0)])
    assert moved


def total(state: dict[str, Any]) -> Counter[str]:
    """All items in hands and piles."""
    items = [item for pile in PILES for item in state[f"{pile}_pile"]]
    return Counter(items) + Counter(item for hand in state["hands"] for item in hand)


@pytest.mark.parametrize("players", [2, 4])
def test_a_redrawn_record_holds_no_trace_of_the_deal(players: int) -> None:
    """Whatever the hidden items were, the same seed redraws the same record, byte by byte."""
    for step, (table, _, _) in enumerate(positions(players, seed=30)):
        seat = step % players
        one, other = table.copy(), table.copy()
        other.resample(seat, 1000 + step)
        one.resample(seat, step)
        other.resample(seat, step)
        assert one.states.tobytes() == other.states.tobytes()


def reduced(left: dict[str, int], *hands: str) -> Table:
    """A game in which only the cards `left` and those in the hands have not been played."""
    table = scene(*["12,1"] * len(hands), hands=hands)
    s = table.state
    pile = [ITEMS.index(item) for item, number in left.items() for _ in range(number)]
    s["piles"][2][: len(pile)] = pile
    s["pile_size"][:] = 0, 0, len(pile)
    held = Counter(item for hand in hands for item in hand.split())
    s["gone"][:] = [TOTALS[item] - left.get(item, 0) - held[item] for item in ITEMS]
    table.refresh()
    return table


def assert_weighted(seen: Counter[Any], possible: Counter[Any]) -> None:
    """Outcomes are drawn in proportion to their weights: alike among equal weights, and these in proportion."""
    assert set(seen) <= set(possible)
    by_weight: dict[int, list[int]] = {}
    for outcome, weight in possible.items():
        by_weight.setdefault(weight, []).append(seen[outcome])
    for weight, counts in by_weight.items():
        assert_uniform(counts)
        assert sum(counts) / seen.total() == pytest.approx(weight * len(counts) / possible.total(), rel=0.15)


def test_redraws_are_uniform() -> None:
    """Two hands and a pile from one pool: every order of the seven hidden cards is equally likely."""
    table = reduced({"swap": 2, "encore": 1}, "swift-4 swift-6", "swap passage", "encore swift-4")
    pool = ["swap", "swap", "encore", "swap", "passage", "encore", "swift-4"]
    possible = Counter((tuple(sorted(order[:2])), tuple(sorted(order[2:4])), order[4:]) for order in permutations(pool))
    seen = Counter[Any]()
    for seed in range(DRAWS * len(possible)):
        twin = table.copy()
        twin.resample(0, seed)
        state = twin.state_dict()
        assert state["hands"][0] == ["swift-4", "swift-6"]
        seen[tuple(sorted(state["hands"][1])), tuple(sorted(state["hands"][2])), tuple(state["magic_pile"])] += 1
    assert_weighted(seen, possible)


def test_what_another_took_this_turn_is_redrawn_too() -> None:
    """Player 0 holds four cards, took one of them, and player 1 cannot tell which: each alike."""
    table = reduced({"encore": 1}, "swift-4 swift-6 passage", "")
    play(table, "die 4", "stay")
    s = table.state
    s["phase"], s["takes"] = PHASES.index("take"), 1
    table.refresh()
    assert play(table, "take magic")["fresh"] == ["encore"]
    fresh = Counter[str]()
    for seed in range(4 * DRAWS):
        twin = table.copy()
        twin.resample(1, seed)
        fresh.update(twin.state_dict()["fresh"])
        twin.resample(0, seed)
    assert sum(fresh.values()) == 4 * DRAWS
    assert_uniform([fresh[item] for item in ("swift-4", "swift-6", "passage", "encore")])


def ways_to_hold(before: list[str], pile: list[str], events: list[str]) -> Counter[Any]:
    """What player 0 may hold, of it what was taken this turn, and the pile, to one who saw `events`, by trying all.

    `before` and `pile`, next to draw first, are the cards that were there before the turn; to the watcher every order
    of them is alike. To discard is to choose any card in hand, each alike, of which only the kind is seen; then of
    equal cards one that was taken this turn goes (R6).
    """
    found = Counter[Any]()
    for order in permutations(before + pile):
        old, fresh, left = list(order[: len(before)]), list[str](), list(order[len(before) :])
        weight = 1
        for event in events:
            verb, _, card = event.partition(" ")
            if verb == "take":
                fresh.append(left.pop(0))
                continue
            weight *= old.count(card) + (fresh.count(card) if verb == "discard" else 0)
            if not weight:
                break
            (fresh if verb == "discard" and card in fresh else old).remove(card)
        if weight:
            found[tuple(sorted(old + fresh)), tuple(sorted(fresh)), tuple(reversed(left))] += weight
    return found


TAKE_AGAIN = [
    (["take single", "discard passage", "play encore", "take magic"], "encore passage", ["swap", "swift-4"]),
    (["take single", "discard swap", "play encore", "take magic"], "encore swap", ["encore", "swap"]),
    (["take magic", "discard passage", "play encore", "take magic"], "encore swap", ["swap", "swift-4", "passage"]),
    (["take magic", "discard swap", "play encore", "take magic"], "encore swap", ["swap", "swift-4", "swap"]),
]
"""What player 0 does, holding four paths and these cards, and the magic pile, next to draw last."""


@pytest.mark.parametrize(("actions", "cards", "pile"), TAKE_AGAIN)
def test_what_was_taken_after_a_discard_is_no_older(actions: list[str], cards: str, pile: list[str]) -> None:
    """Player 1 saw magic cards discarded and taken in one turn; the opponent may not play what it took (R6)."""
    table = reduced({}, f"path path path path {cards}", "")
    s = table.state
    s["piles"][0][0], s["piles"][2][: len(pile)] = ITEMS.index("path"), [ITEMS.index(item) for item in pile]
    s["pile_size"][:] = 1, 0, len(pile)
    held = Counter(["path"] * 5 + cards.split() + pile)
    s["gone"][:] = [TOTALS[item] - held[item] for item in ITEMS]
    play(table, "die 4", "stay")
    for action in actions:
        if action.startswith("take"):
            s["phase"], s["takes"], s["face"] = PHASES.index("take"), 1, -1
            table.refresh()
        play(table, action)
    seen_of_magic = [action.removesuffix(" magic") for action in actions if action != "take single"]
    possible = ways_to_hold(cards.split(), pile[::-1], seen_of_magic)
    seen = Counter[Any]()
    for seed in range(DRAWS * len(possible)):
        twin = table.copy()
        twin.resample(1, seed)
        redrawn = twin.state_dict()
        hand, fresh = (
            tuple(sorted(item for item in items if item != "path")) for items in (redrawn["hands"][0], redrawn["fresh"])
        )
        seen[hand, fresh, tuple(redrawn["magic_pile"])] += 1
    assert_weighted(seen, possible)


@pytest.mark.parametrize("players", PLAYERS)
def test_the_rule_bot_beats_random_players(players: int) -> None:
    """One bot among random players, seats rotated; with four it wins at least 90 of 100, well within 100 rounds."""
    games = 5 * players if JIT_DISABLED else 40 * players
    states = GAME.blank(games, players, GAME.check_options({}))
    states["seed"] = 1000 * players + np.arange(games)
    kernels(GAME).start(states, np.ones(games, np.bool_), 0, games)
    bots = np.arange(games) % players
    roles = np.full((games, players), PLAY_RANDOM, np.int8)
    orders, actions = np.full(games, GO_ON, np.int64), np.zeros(games, np.int64)
    words, mask = np.zeros((games, GAME.num_words), np.uint64), np.zeros((games, GAME.num_actions), np.int8)
    observation = np.zeros((games, GAME.layout(players).size), np.int8)
    gained, rewards = np.zeros(games), np.zeros((games, players))
    rng = np.arange(games, dtype=np.uint64).reshape(-1, 1)
    while (orders != SKIP).any():
        kernels(GAME).advance(
            *(states, words, orders, actions, roles, bots, rng, 1.0, 0.0),
            *(mask, observation, gained, rewards, 0, games),
        )
        kernels(GAME).advise(states, words, actions, 0, games)
        orders[:] = np.where(states["status"] == RUNNING, PLAY_FIRST, SKIP)
    won = states["winners"].astype(np.int64) >> bots & 1
    assert won.mean() >= 0.9
    assert np.quantile(states["round"], 0.9) < 40
