"""Phantom: the rulings, worked out by hand, and what holds in every game."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from phantom_envs.core.table import Table
from phantom_envs.games.phantom import GAME
from phantom_envs.games.phantom.actions import ACTIONS
from phantom_envs.games.phantom.components import (
    CARD_NAMES,
    DREAD,
    FEAR,
    FEAR_DIGITS,
    MAX_FEAR,
    MAX_SCORE,
    MAX_TURNS,
    OCCUPANTS,
    VICTORY_POINTS,
    ZONES,
)
from phantom_envs.games.phantom.state import PHASES
from tests.games.phantom_scene import PLAYS, act, all_cards, play, random_game, scene, word

# The setup


def test_setup() -> None:
    for seed in range(20):
        table = Table(GAME)
        table.deal(seed)
        state = table.state_dict()
        ghosts = [sum(CARD_NAMES.index(card) < 24 for card in hand) for hand in state["hands"]]
        assert ghosts == [2, 3]  # R2
        assert [len(hand) for hand in state["hands"]] == [3, 5]  # R2
        assert state["apparitions"] == {
            "garden": [[], ["fountain"]],
            "basement": [["garage"], ["storeroom"]],
            "ground": [[], ["library"]],
            "first": [[], []],
        }
        assert [len(state["occupants"][zone]) for zone in ZONES] == [1, 2, 2, 2]  # R3
        assert (len(state["ghost_pile"]), len(state["place_pile"])) == (27, 19)
        assert state["to_act"] == 0


def test_every_occupant_and_card_turns_up_everywhere() -> None:
    gardens, tops = Counter[str](), Counter[str]()
    for seed in range(700):
        table = Table(GAME)
        table.deal(seed)
        state = table.state_dict()
        gardens.update(state["occupants"]["garden"])
        tops.update((state["ghost_pile"][-1], state["place_pile"][-1]))
    assert set(gardens) == set(OCCUPANTS)
    assert len(tops) == 24 + 22


def test_actions_are_numbered_as_in_the_rules() -> None:
    s = scene().state
    counts = [96, 31, 1, 26, 7, 4, 96, 24, 2]
    assert ACTIONS.size == sum(counts) == 287
    starts = [GAME.action_name(s, sum(counts[:group])) for group in range(9)]
    assert starts == [
        "play spectre-squatter at garden",
        "play fountain at garden",
        "pass",
        "take fountain",
        "charm father",
        "flee to garden",
        "discard spectre-squatter in garden",
        "recover spectre-squatter",
        "draw ghost",
    ]
    assert GAME.action_name(s, 1) == "play spectre-squatter at basement"
    assert GAME.action_name(s, 127 - 1) == "play stairs at first"


# Effects


def test_squatter_takes_a_place_of_the_zone_which_keeps_its_zone() -> None:
    table = scene(garden="|veranda|well fountain", ground="||library", hands=("spirit-squatter", ""))
    act(table, "play spirit-squatter at garden")
    assert table.legal_names() == ["take fountain", "take well"]
    state = act(table, "take well")
    assert state["apparitions"]["garden"] == [["veranda", "spirit-squatter", "well"], ["fountain"]]


@pytest.mark.parametrize("kind", ["squatter", "charmer", "howler", "knocker", "queen", "invoker"])
def test_with_nothing_to_choose_from_nothing_is_asked(kind: str) -> None:
    table = scene(garden="aunt||", ground="||soul-queen", hands=(f"spectre-{kind}", ""))  # R4
    zone = "first" if kind != "charmer" else "garden"
    state = play(table, f"spectre-{kind}", zone)
    assert state["apparitions"][zone][0] == [f"spectre-{kind}"]
    assert state["to_act"] == 1


def test_charmer_calls_an_occupant_of_another_zone() -> None:
    table = scene(garden="father", basement="boy girl", first="baby", hands=("soul-charmer", ""))
    act(table, "play soul-charmer at basement")
    assert table.legal_names() == ["charm father", "charm baby"]
    assert table.state_dict()["effect_zone"] == "basement"
    state = act(table, "charm baby")
    assert state["occupants"] == {"garden": ["father"], "basement": ["boy", "girl", "baby"], "ground": [], "first": []}


def test_howler_drives_them_out_one_by_one_into_neighbouring_zones() -> None:
    table = scene(basement="uncle girl baby", ground="mother", hands=("soul-howler", ""))  # R5
    state = act(table, "play soul-howler at basement")
    assert state["fleeing"] == "uncle"
    assert table.legal_names() == ["flee to garden", "flee to ground"]
    assert act(table, "flee to ground")["fleeing"] == "girl"
    state = act(table, "flee to garden", "flee to garden")
    assert state["occupants"] == {
        "garden": ["girl", "baby"],
        "basement": [],
        "ground": ["mother", "uncle"],
        "first": [],
    }
    assert state["fleeing"] is None


def test_end_zones_have_one_neighbour() -> None:
    table = scene(garden="girl boy", first="baby father", hands=("soul-howler soul-howler", ""), plays=4)
    act(table, "play soul-howler at garden")
    assert table.legal_names() == ["flee to basement"]
    act(table, "flee to basement", "flee to basement", "play soul-howler at first")
    assert table.legal_names() == ["flee to ground"]


def test_knocker_discards_the_first_of_equal_ghosts() -> None:
    ghosts = "soul-howler well soul-charmer soul-howler"
    table = scene(garden=f"||{ghosts}", first="||soul-queen", hands=("spectre-knocker", ""))  # R14
    act(table, "play spectre-knocker at garden")
    assert table.legal_names() == ["discard soul-charmer in garden", "discard soul-howler in garden"]
    state = act(table, "discard soul-howler in garden")
    assert state["apparitions"]["garden"][1] == ["well", "soul-charmer", "soul-howler"]
    assert state["discard"] == ["soul-howler"]


def test_queen_calls_her_family_from_anywhere_into_her_zone() -> None:
    table = scene(
        garden="||soul-howler spectre-howler", ground="||soul-knocker soul-howler library", hands=("soul-queen", "")
    )
    state = act(table, "play soul-queen at first")
    assert state["queen_family"] == "soul"
    assert table.legal_names() == [
        "take soul-howler from garden",
        "take soul-howler from ground",
        "take soul-knocker from ground",
    ]
    state = act(table, "take soul-howler from ground")
    assert state["apparitions"]["first"] == [["soul-queen", "soul-howler"], []]
    assert state["apparitions"]["ground"] == [[], ["soul-knocker", "library"]]
    assert state["queen_family"] is None


def test_invoker_recovers_a_ghost_openly() -> None:
    table = scene(
        hands=("spirit-invoker", ""),
        piles=("soul-howler soul-queen soul-howler", "", "well cellar crypt"),
        first="girl",
    )
    act(table, "play spirit-invoker at first")
    assert table.legal_names() == ["recover soul-howler", "recover soul-queen"]  # R6
    state = act(table, "recover soul-howler")
    assert state["discard"] == ["soul-queen", "soul-howler"]  # R14
    assert state["known_hand"] == [["soul-howler"], []]


def test_of_two_equal_cards_the_known_one_is_played_first() -> None:
    hand = "soul-howler soul-howler"
    table = scene(hands=(hand, ""), known=("soul-howler", ""), piles=("", "", "well cellar crypt attic"))  # R16
    state = play(table, "soul-howler", "garden")
    assert state["hands"][0] == ["soul-howler"]
    assert state["known_hand"][0] == []


# Adults


def test_adults_eliminate_their_family_on_both_sides_but_not_beside_a_shelter() -> None:
    table = scene(
        garden="father mother|soul-howler spirit-queen spectre-charmer|hollow-tree spectre-howler",
        ground="uncle|spirit-howler soul-queen|spirit-howler spirit-knocker",
        hands=("attic", ""),
    )
    state = play(table, "attic", "first")  # R7
    assert state["apparitions"]["garden"] == [["spirit-queen"], ["hollow-tree", "spectre-howler"]]
    assert state["apparitions"]["ground"] == [["soul-queen"], []]
    assert state["discard"] == ["soul-howler", "spectre-charmer", "spirit-howler", "spirit-howler", "spirit-knocker"]


def test_adults_strike_after_the_effect() -> None:
    table = scene(garden="aunt||well", hands=("poltergeist-squatter", ""))
    act(table, "play poltergeist-squatter at garden")
    assert table.state_dict()["apparitions"]["garden"][0] == ["poltergeist-squatter"]
    state = act(table, "take well")
    assert state["apparitions"]["garden"] == [["well"], []]
    assert state["discard"] == ["poltergeist-squatter"]


def test_a_stolen_shelter_protects_no_more() -> None:
    table = scene(garden="aunt girl||hollow-tree poltergeist-queen", hands=("soul-squatter", ""))
    state = play(table, "soul-squatter", "garden", "take hollow-tree")
    assert state["apparitions"]["garden"] == [["soul-squatter", "hollow-tree"], []]


# Fright

FULL_HAND = "laundry kitchen crypt cellar well"


@pytest.mark.parametrize(
    ("occupants", "mine", "theirs", "taker"),
    [
        ("girl", "cemetery", "well", None),  # 4 and 3, the girl dreads 5
        ("girl", "well hollow-tree", "cemetery", "me"),  # 5 and 4
        ("girl", "well", "cemetery fountain", "other"),  # 3 and 5: the other takes it in one's own turn
        ("girl", "well hollow-tree", "cemetery hollow-tree", "other"),  # 5 and 6: the higher (R8)
        ("girl", "well hollow-tree", "cemetery fountain", "me"),  # 5 and 5: whose turn it is (R8)
        ("boy girl", "well cemetery", "", None),  # two Occupants
        ("", "well cemetery", "", None),
    ],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_who_takes_an_occupant(occupants: str, mine: str, theirs: str, taker: str | None, seat: int) -> None:
    sides = (mine, theirs) if seat == 0 else (theirs, mine)
    hands = (FULL_HAND, FULL_HAND)
    table = scene(garden="|".join((occupants, *sides)), first="baby father||", seat=seat, hands=hands)
    state = act(table, "pass")
    taken: list[list[str]] = [[], []]
    if taker is not None:
        taken[seat if taker == "me" else 1 - seat] = ["girl"]
    assert state["taken"] == taken
    assert state["scores"] == [2 * len(each) for each in taken]
    assert state["to_act"] == 1 - seat


def test_the_takers_ghosts_leave_and_the_places_stay() -> None:
    table = scene(garden="girl|soul-queen well soul-howler|veranda spirit-howler", first="baby father||")
    state = act(table, "pass")  # R9
    assert state["apparitions"]["garden"] == [["well"], ["veranda", "spirit-howler"]]
    assert state["discard"] == ["soul-queen", "soul-howler"]


def test_the_priest_joins_the_last_occupant_within_a_fright() -> None:
    taken = ("father girl", "mother uncle baby")
    table = scene(garden="aunt|cemetery well|", first="boy|attic bedroom|", taken=taken, reward="score")
    state = act(table, "pass")  # R10
    assert state["taken"] == [["father", "girl", "aunt", "boy", "priest"], ["mother", "uncle", "baby"]]
    assert state["scores"] == [11, 10]
    assert (state["phase"], state["winners"], state["to_act"]) == ("over", [0], None)
    assert table.terminated
    assert table.rewards.tolist() == pytest.approx([0.3, -0.3])


def test_no_priest_while_two_are_left() -> None:
    table = scene(garden="girl|cemetery well|", first="boy||", taken=("father", "mother uncle"), ground="aunt baby||")
    assert act(table, "pass")["taken"][0] == ["father", "girl"]


# The end


def test_eleven_points_win_at_once_and_nobody_draws() -> None:
    taken = ("father mother uncle", "")
    table = scene(garden="girl|cemetery well|", first="boy aunt baby||", taken=taken, piles=("", "soul-queen", "attic"))
    state = act(table, "pass")
    assert (state["phase"], state["scores"], state["winners"]) == ("over", [11, 0], [0])  # R12
    assert table.legal() == []
    assert table.rewards.tolist() == [1.0, -1.0]


def test_the_other_may_win_in_ones_own_turn() -> None:
    table = scene(garden="girl|cemetery well|", first="boy aunt baby||", taken=("father mother uncle", ""), seat=1)
    assert act(table, "pass")["winners"] == [0]


@pytest.mark.parametrize(
    ("taken", "winners", "reward"), [(("father", "aunt"), [0, 1], 0.0), (("father", "boy"), [0], 1.0)]
)
def test_the_hundredth_turn_is_the_last(taken: tuple[str, str], winners: list[int], reward: float) -> None:
    table = scene(taken=taken, turn=99, seat=0, piles=("", "", "attic"), hands=(FULL_HAND, ""))
    assert act(table, "pass")["turn"] == 100
    state = act(table, "pass")  # R13
    assert (state["phase"], state["turn"], state["winners"]) == ("over", 100, winners)
    assert table.terminated
    assert not table.truncated  # R15
    assert table.rewards.tolist() == [reward, -reward]


# Drawing


def test_drawing_up_to_five() -> None:
    table = scene(hands=("attic crypt well", ""), piles=("", "soul-queen spirit-queen", "cellar"))
    assert act(table, "pass")["phase"] == "draw"
    assert table.legal_names() == ["draw ghost", "draw place"]
    state = act(table, "draw ghost", "draw place")
    assert state["hands"][0] == ["spirit-queen", "well", "cellar", "crypt", "attic"]
    assert state["ghost_pile"] == ["soul-queen"]
    assert (state["turn"], state["to_act"], state["phase"]) == (2, 1, "play")


def test_drawing_ends_when_there_is_nothing_to_draw() -> None:
    table = scene(piles=("", "", "cellar"))
    act(table, "pass")
    assert table.legal_names() == ["draw place"]  # R11
    state = act(table, "draw place")
    assert (state["hands"][0], state["to_act"]) == (["cellar"], 1)
    assert act(table, "pass")["to_act"] == 0


def test_the_discard_pile_replaces_the_ghost_pile_and_shows_the_hands() -> None:
    hands = ("soul-queen well", "spirit-howler spirit-howler attic")
    table = scene(hands=hands, piles=("soul-howler soul-howler soul-knocker", "", ""), first="girl||")
    act(table, "pass")
    assert table.legal_names() == ["draw ghost"]
    state = act(table, "draw ghost")  # R11
    assert state["known_hand"] == [["soul-queen"], ["spirit-howler", "spirit-howler"]]
    assert state["discard"] == []
    assert len(state["ghost_pile"]) == 2
    assert Counter(state["ghost_pile"] + state["hands"][0]) == Counter(
        ["soul-howler", "soul-howler", "soul-knocker", "soul-queen", "well"]
    )


# Four cards a turn


def test_four_cards_one_in_each_zone() -> None:
    hand = "well veranda toolshed kitchen attic"
    table = scene(hands=(hand, ""), garden="girl||", piles=("", "", "crypt"), plays=4)
    act(table, "play well at garden")
    assert table.legal_names() == [
        "play kitchen at ground",
        "play attic at first",
        "play toolshed at basement",
        "play veranda at ground",
        "pass",
    ]
    state = act(table, "play attic at first", "play kitchen at ground")
    assert state["zones_played"] == ["garden", "first", "ground"]
    state = act(table, "play toolshed at basement")  # the fourth ends the playing
    assert (state["phase"], state["zones_played"]) == ("draw", [])


def test_a_pass_ends_the_playing_before_the_fourth_card() -> None:
    table = scene(hands=("well veranda toolshed kitchen attic", FULL_HAND), garden="girl|veranda|", plays=4)
    state = act(table, "play well at garden")
    assert state["taken"] == [[], []]  # the fright waits for the end of the playing
    assert act(table, "pass")["taken"] == [["girl"], []]


def test_adults_strike_after_each_of_four_cards() -> None:
    hands = ("spirit-charmer attic", "")
    table = scene(hands=hands, garden="uncle girl||", first="|spirit-howler|", plays=4)
    state = play(table, "spirit-charmer", "first", "charm uncle")
    assert (state["phase"], state["discard"]) == ("play", ["spirit-howler", "spirit-charmer"])


# What holds in every game


@pytest.mark.parametrize("plays", PLAYS)
def test_cards_and_occupants_are_conserved(plays: int) -> None:
    for seed in range(6):
        whole: list[str] = []
        longest = GAME.max_decisions(2, {"plays": plays})
        total = np.zeros(2)
        for steps, (table, action) in enumerate(random_game(plays, seed)):
            state, s = table.state_dict(), table.state
            whole = whole or all_cards(state)
            assert all_cards(state) == whole
            assert len(whole) == 32 + 26
            house = [who for zone in ZONES for who in state["occupants"][zone]]
            taken = [who for each in state["taken"] for who in each if who != "priest"]
            assert sorted(house + taken) == sorted(OCCUPANTS)
            for seat in range(2):
                for zone, name in enumerate(ZONES):
                    side = state["apparitions"][name][seat]
                    assert s["apparitions"][seat, zone] == word(" ".join(side))
                    assert s["fear"][seat, zone] == sum(FEAR[CARD_NAMES.index(card)] for card in side)
                assert Counter(state["known_hand"][seat]) <= Counter(state["hands"][seat])
            assert longest is not None
            assert steps <= longest
            total += table.rewards
            if action < 0:
                margin = (state["scores"][0] - state["scores"][1]) / 2 / 10
                assert total.tolist() == pytest.approx([margin, -margin])


def test_every_phase_is_reached() -> None:
    seen = {table.state_dict()["phase"] for seed in range(3) for table, _ in random_game(1, seed)}
    assert seen == set(PHASES)


def test_tables_of_the_rules() -> None:
    assert int(VICTORY_POINTS.sum()) == MAX_SCORE == 21
    assert len(DREAD) == len(OCCUPANTS)
    assert MAX_TURNS == 100
    assert MAX_FEAR == 48 + 21
    digits = [[int(word) >> card & 1 for word in FEAR_DIGITS] for card in range(50)]
    assert [a + 2 * b + 4 * c for a, b, c in digits] == FEAR.tolist()
