"""Das Phantom: rulings worked out by hand on the plan of the rules file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from phantom_envs.core.batch import kernels
from phantom_envs.core.table import Table
from phantom_envs.games.das_phantom import GAME
from tests.games.das_phantom_scene import (
    BOARD,
    PLAYERS,
    REQUIRED,
    ROOMS,
    around,
    by_direction,
    cells,
    offered,
    phantom_scene,
    play,
    random_game,
    refuge_cells,
    scene,
    targets,
    with_sign,
)

WALLED_IN = {"11,0": "wall", "12,2": "wall"}
"""Both ways out of the start."""


def table_after(table: Table, *names: str) -> Table:
    """The table after the actions named."""
    play(table, *names)
    return table


def cells_after(*pawns: str, die: str, **more: Any) -> set[str]:
    """Where seat 0 may go with that die."""
    return cells(table_after(scene(*pawns, die=die, **more), f"die {die}"))


class TestBoard:
    def test_counts(self) -> None:
        assert len(BOARD) == 224
        assert {sign: len(with_sign(sign)) for sign in "SFVRMT"} == {"S": 1, "F": 1, "V": 2, "R": 14, "M": 10, "T": 7}
        assert set(BOARD.values()) >= ROOMS

    def test_rooms_do_not_touch(self) -> None:
        for cell in with_sign("".join(ROOMS)):
            assert {BOARD[other] for other in around(cell)} & ROOMS <= {BOARD[cell]}


class TestMoves:
    def test_any_of_one_to_three_from_the_start(self) -> None:
        """One step: 11,0 or 12,2; two: 10,1, 11,2, 12,3; three: 9,0, 10,2, 13,3, or 11,2 by 12,3 and back."""
        table = scene("12,1", "12,1", die="1-3")
        play(table, "die 1-3")
        assert cells(table) == {"11,0", "12,2", "10,1", "11,2", "12,3", "9,0", "10,2", "13,3"}

    def test_a_circle_leads_back_to_where_the_move_began_by_exact_count_only(self) -> None:
        """12,2, 12,3 and 11,2 touch each other; no circle of two, four or five steps leads back (R22)."""
        circle = {die: scene("12,2", "12,1", die=die) for die in ("1-3", "mask", "4", "5")}
        for die, table in circle.items():
            play(table, f"die {die}")
            assert ("12,2" in cells(table)) == (die == "1-3"), die

    def test_other_pawns_do_not_block_and_the_phantom_does(self) -> None:
        assert "11,2" in cells_after("12,1", "12,2", die="mask")
        assert "11,2" not in cells_after("12,1", "12,1", die="mask", phantom="12,2")

    def test_r30_a_pawn_walks_off_from_under_the_phantom_but_not_back(self) -> None:
        assert cells_after("12,2", "12,1", die="1-3", phantom="12,2") == {
            *("12,1", "12,3", "11,2"),
            *("11,0", "13,3", "10,2"),
            *("10,1", "13,4"),
        }

    @pytest.mark.parametrize(("die", "open_"), [("4", True), ("5", False)])
    def test_the_finish_wants_violin_roses_and_the_exact_count(self, die: str, open_: bool) -> None:
        """7,15 - 8,15 - 9,14 - finish is three steps, by 10,15 four; five do not end there."""
        assert ("10,14" in cells_after("7,15", "12,1", die=die, roses=[6], violins=[0])) == open_
        assert "10,14" not in cells_after("7,15", "12,1", die=die, roses=[5], violins=[0])
        assert "10,14" not in cells_after("7,15", "12,1", die=die, roses=[7])

    def test_the_first_on_the_finish_wins(self) -> None:
        table = scene("7,15", "12,1", "12,1", roses=[4], violins=[0])
        state = play(table, "die 4", "go 10,14")
        assert (state["winners"], state["phase"], state["to_act"]) == ([0], "over", None)
        assert table.terminated
        assert table.rewards.tolist() == [1.0, -0.5, -0.5]

    @pytest.mark.parametrize("players", PLAYERS)
    def test_against_all_walks(self, players: int) -> None:
        moves = 0
        for table, _ in random_game(players, seed=players, limit=600):
            state = table.state_dict()
            if state["phase"] in ("move", "swift"):
                exact, early = targets(state)
                assert cells(table) == exact | early
                moves += 1
        assert moves > 80

    def test_passage_leads_through_walls_and_ends_on_path(self) -> None:
        """From 12,1 by the walls 11,1, 13,1 …; never through a room."""
        table = scene("12,1", "12,1", die="mask", hands=["passage passage"])
        assert cells(table_after(table, "die mask")) == {"11,0", "12,2", "10,1", "11,2", "12,3"}
        state = play(table, "play passage")
        assert cells(table) == {"11,0", "12,2", "10,1", "11,2", "12,3", "10,2"}
        assert targets(state)[0] == cells(table)
        assert "play passage" not in offered(table)  # R27
        assert not play(table, "go 10,2", "take single", "take single")["passage"]
        table = scene("12,1", "12,1", die="4", hands=["passage"])
        assert play(table, "die 4", "play passage", "stay")["passage"]  # R27
        assert not play(table, "end")["passage"]  # R13


class TestLanding:
    def test_a_rose_is_taken_and_rewarded(self) -> None:
        """R20: 0.1 for the player, the opposite shared by the others."""
        table = scene("13,5", "12,1", "12,1", die="1-3", reward="progress")
        state = play(table, "die 1-3", "go 13,6")
        assert state["roses"] == [1, 0, 0]
        assert "13,6" not in state["board_roses"]
        assert len(state["board_roses"]) == 13
        assert state["phase"] == "after"
        assert table.rewards.tolist() == pytest.approx([0.1, -0.05, -0.05], abs=1e-15)

    @pytest.mark.parametrize("players", PLAYERS)
    def test_at_the_limit_a_rose_space_gives_an_item(self, players: int) -> None:
        table = scene("13,5", *["12,1"] * (players - 1), die="1-3", roses=[REQUIRED[players] + 1])
        state = play(table, "die 1-3", "go 13,6")
        assert (state["phase"], state["takes"]) == ("take", 1)
        assert offered(table) == ["leave", "take single", "take double", "take magic"]
        assert "13,6" in state["board_roses"]
        assert play(table, "leave")["phase"] == "after"

    def test_stopping_early_has_no_effect(self) -> None:
        state = play(scene("13,5", "12,1"), "die 4", "go 13,6")
        assert (state["roses"], state["phase"], state["pawns"]) == ([0, 0], "after", ["13,6", "12,1"])

    def test_a_violin(self) -> None:
        table = scene("8,6", "8,6", "12,1", die="1-3", violins=[1], reward="progress")
        assert play(table, "die 1-3", "go 7,5")["violins"] == [True, True, False]
        assert table.rewards.tolist() == pytest.approx([0.1, -0.05, -0.05], abs=1e-15)
        state = play(table, "end", "die 1-3", "go 7,5")  # has one; player_0 has no rose
        assert (state["violins"], state["met"], state["phase"]) == ([True, True, False], True, "move")
        assert table.rewards.tolist() == [0, 0, 0]

    def test_r10_a_mask_die_gives_an_item_beside_that_of_the_space(self) -> None:
        table = scene("11,2", "12,1", die="mask")
        state = play(table, "die mask", "go 10,2")
        assert (state["phase"], state["takes"]) == ("take", 2)
        state = play(table, "take double", "take magic")
        assert state["phase"] == "after"
        assert state["hands"][0] == state["fresh"] == ["wall-wall", "encore"]  # the last of the piles in order
        assert offered(table) == ["end"]  # not to be played this turn

    def test_a_mask_die_gives_its_item_to_who_stays(self) -> None:
        assert play(scene("12,1", "12,1", die="mask"), "die mask", "stay")["takes"] == 1

    def test_r25_a_covered_mask_is_plain_until_it_is_laid_bare(self) -> None:
        table = scene("11,2", "12,1", die="1-3", laid={"10,2": "path"})
        assert play(table, "die 1-3", "go 10,2")["phase"] == "after"

    def test_r9_a_torch_serves_once_a_turn(self) -> None:
        table = scene("12,3", "12,1", die="1-3")
        state = play(table.copy(), "die 1-3", "go 13,3")
        assert (state["phase"], state["rolls"], state["torches"]) == ("move", 0, ["13,3"])
        assert state["face"] is not None
        table.state["torches"] = 1 << 6  # the last of the seven by index
        state = play(table, "die 1-3", "go 13,3")
        assert (state["phase"], state["torches"]) == ("after", ["13,3"])


class TestMeeting:
    def test_robbing(self) -> None:
        table = scene("12,3", "13,4", "13,4", "13,4", die="1-3", roses=[0, 2, 0, 1], reward="progress")
        state = play(table, "die 1-3", "go 13,4")
        assert (state["phase"], state["rolls"], state["takes"], state["met"]) == ("rob", 1, 0, True)
        assert offered(table) == ["leave", "rob player_1", "rob player_3"]
        state = play(table, "rob player_3")
        assert state["roses"] == [1, 2, 0, 0]
        assert (state["phase"], state["rolls"]) == ("move", 0)
        third = 0.1 / 3  # what others gain by the loss of one: both changes add up
        assert table.rewards.tolist() == pytest.approx([0.1 + third, 0, 0, -0.1 - third], abs=1e-15)

    def test_players_are_named_by_seat_and_indexed_by_distance(self) -> None:
        table = scene("12,1", "12,3", "13,4", "13,4", die="1-3", roses=[0, 0, 1, 1])
        play(table, "die 1-3", "stay", "end", "die 1-3", "go 13,4")
        assert offered(table) == ["leave", "rob player_2", "rob player_3"]
        assert table.legal()[1:] == [249, 250]

    def test_r7_only_one_meeting_has_effect(self) -> None:
        table = scene("12,3", "13,4", die="1-3", roses=[0, 1])
        table.state["met"] = 1
        state = play(table, "die 1-3", "go 13,4")
        assert (state["phase"], state["rolls"], state["roses"]) == ("after", 0, [0, 1])

    def test_who_has_all_roses_allowed_is_not_asked(self) -> None:
        table = scene("12,3", "13,4", "12,1", die="1-3", roses=[5, 1])
        state = play(table, "die 1-3", "go 13,4")
        assert (state["phase"], state["met"], state["roses"]) == ("move", True, [5, 1, 0])

    def test_r11_a_torch_met_together_with_a_pawn_is_used_up(self) -> None:
        state = play(scene("12,3", "13,3", die="1-3"), "die 1-3", "go 13,3")
        assert (state["phase"], state["rolls"], state["torches"]) == ("move", 0, ["13,3"])

    def test_the_rob_comes_before_the_rose(self) -> None:
        """Two players, six required, seven the limit: the robbed rose is the last one allowed."""
        table = scene("13,5", "13,6", die="1-3", roses=[6, 1])
        state = play(table, "die 1-3", "go 13,6", "rob player_1")
        assert (state["roses"], state["phase"], state["takes"], state["rolls"]) == ([7, 0], "take", 1, 1)


class TestTiles:
    def test_where_a_tile_may_lie(self) -> None:
        table = scene("12,2", "5,3", hands=["path wall"], laid={"4,6": "wall", "0,3": "path"}, phantom="5,12")
        play(table, "die 4", "use path")
        barred = with_sign("RVF" + "".join(ROOMS)) | {"12,2", "5,3", "4,6", "0,3", "5,12"}
        assert cells(table, "at") == set(BOARD) - barred
        state = play(table, "at 12,3")  # R24: path on path
        assert (state["laid"], state["hands"][0], state["phase"]) == (
            {"4,6": "wall", "0,3": "path", "12,3": "path"},
            ["wall"],
            "move",
        )

    def test_a_wall_closes_the_way_at_once(self) -> None:
        table = scene("12,1", "12,1", die="mask", hands=["wall"])
        play(table, "die mask", "use wall", "at 12,2")
        assert cells(table) == {"11,0", "10,1"}

    @pytest.mark.parametrize(
        ("tile", "sides"),
        [("path-path", "E SW SE"), ("path-wall", "E NE NW W SW SE"), ("wall-wall", "E SW SE")],
    )
    def test_the_second_half_lies_beside_the_first(self, tile: str, sides: str) -> None:
        """10,12 is a torch; all six neighbours but the path 11,12 with a pawn may be covered."""
        table = scene("12,1", "11,12", hands=[tile])
        play(table, "die 4", f"use {tile}", "at 10,12")
        free = {side for side, cell in by_direction("10,12").items() if BOARD[cell] not in ROOMS and cell != "11,12"}
        assert offered(table) == [f"toward {side}" for side in sides.split() if side in free]
        state = play(table, "toward E")
        first, second = tile.split("-")
        assert state["laid"] == {"10,12": first, "10,13": second}

    def test_a_cell_without_a_neighbour_for_the_second_half_is_not_offered(self) -> None:
        """All around 0,1 is covered: 0,0, 0,2 and 1,0; 1,1 belongs to a room."""
        covered = dict.fromkeys(("0,0", "0,2", "1,0"), "path")
        table = scene("12,1", "12,1", hands=["path-wall wall-wall path"], laid=covered)
        play(table, "die 4")
        for tile, there in (("path-wall", False), ("wall-wall", False), ("path", True)):
            twin = table.copy()
            play(twin, f"use {tile}")
            assert ("0,1" in cells(twin, "at")) == there

    def test_swap(self) -> None:
        laid = {"12,2": "wall", "0,0": "wall", "4,6": "path", "5,3": "path"}
        table = scene("12,1", "5,3", "12,1", hands=["swap"], laid=laid, phantom="0,0")
        play(table, "die 4", "play swap")
        assert cells(table, "swap from") == {"12,2", "4,6"}  # the others are not free
        play(table, "swap from 12,2")
        assert cells(table, "swap with") == {"4,6"}
        state = play(table, "swap with 4,6")
        assert state["laid"] == laid | {"12,2": "path", "4,6": "wall"}
        assert (state["magic_discard"], state["hands"][0]) == (["swap"], [])

    def test_no_swap_of_equal_hexes(self) -> None:
        table = scene("12,1", "5,3", hands=["swap"], laid={"0,0": "wall", "4,6": "wall", "5,3": "path"})
        assert "play swap" not in offered(table_after(table, "die 4"))


class TestCards:
    def test_r26_a_swift_move_is_made_at_once_and_the_die_comes_next(self) -> None:
        table = scene("13,5", "12,1", die="mask", hands=["swift-4"])
        state = play(table, "die mask", "play swift-4")
        assert (state["phase"], state["swift"], state["face"]) == ("swift", "swift-4", "mask")
        assert offered(table) == ["stay"]
        state = play(table, "stay")
        assert (state["phase"], state["swift"], state["takes"]) == ("move", None, 0)

    def test_r28_encore_after_the_move_only(self) -> None:
        table = scene("12,1", "12,1", hands=["encore"])
        assert "play encore" not in offered(table_after(table, "die 4"))
        play(table, "stay")
        assert offered(table) == ["end", "play encore"]
        state = play(table, "play encore")
        assert state["phase"] == "move"
        assert state["face"] is not None
        assert state["magic_discard"] == ["encore"]

    def test_r23_the_discard_pile_becomes_the_pile(self) -> None:
        table = scene("11,2", "12,1", die="mask", hands=["swift-4"])
        s = table.state
        s["pile_size"][:] = 0
        play(table, "die mask")
        assert offered(table) == ["stay", "play swift-4"]
        state = play(table, "play swift-4", "stay", "go 10,2")
        assert offered(table) == ["leave", "take magic"]
        state = play(table, "take magic")
        assert (state["hands"][0], state["magic_discard"]) == (["swift-4"], [])
        assert (state["phase"], state["takes"]) == ("after", 0)  # nothing left for the second item


class TestHandLimit:
    def test_over_the_limit_one_must_play_or_discard(self) -> None:
        table = scene("11,2", "12,1", die="mask", hands=["wall wall wall swift-6 encore encore"])
        play(table, "die mask", "go 10,2", "take single", "leave")
        assert offered(table) == [
            *("use wall", "play swift-6", "play encore"),
            *("discard wall", "discard swift-6", "discard encore"),
        ]
        state = play(table, "discard wall")
        assert (state["hands"][0].count("wall"), state["fresh"], state["tiles_out"]) == (3, [], ["wall"])  # R6
        assert "end" in offered(table)
        assert not any(name.startswith("discard") for name in offered(table))  # R21

    def test_the_phantoms_card_counts_at_the_end_of_the_next_turn(self) -> None:
        table = phantom_scene("12,1", "12,2", phantom="11,1", steps=1, hands=["wall wall wall wall wall wall"])
        state = play(table, "phantom to 12,2", "chase to 12,3")
        assert len(state["hands"][0]) == 7
        assert state["to_act"] == 1


class TestBlocked:
    def test_only_items_and_staying_are_left_and_turns_are_counted(self) -> None:
        table = scene("12,1", "5,3", laid=WALLED_IN, hands=["passage"], die="5")
        play(table, "die 5")
        assert offered(table) == table.legal_names() == ["stay", "play passage"]
        assert play(table, "stay")["stuck"]
        assert play(table, "end")["blocked"] == [1, 0]

    @pytest.mark.parametrize(("die", "turns", "open_"), [("5", 1, False), ("5", 2, True), ("mask", 0, True)])
    def test_r15_when_a_hex_may_be_shifted(self, die: str, turns: int, open_: bool) -> None:
        table = scene("12,1", "5,3", laid=WALLED_IN, die=die, blocked=[turns])
        assert ("shift" in offered(table_after(table, f"die {die}"))) == open_

    def test_who_is_not_blocked_may_not_shift(self) -> None:
        assert "shift" not in offered(table_after(scene("12,2", "5,3", laid={"0,0": "wall"}, die="mask"), "die mask"))

    def test_shifting(self) -> None:
        table = scene("12,1", "5,3", laid=WALLED_IN | {"5,3": "path", "7,0": "wall"}, die="mask", blocked=[1])
        play(table, "die mask", "shift")
        assert cells(table, "shift from") == {"11,0", "12,2", "7,0"}  # not from under a pawn
        state = play(table, "shift from 12,2")
        assert (state["from"], state["laid"]["12,2"], state["shifted"]) == ("12,2", "wall", False)
        assert "12,2" not in cells(table, "shift to")
        state = play(table, "shift to 0,3")
        assert state["shifted"]
        assert state["laid"] == {"11,0": "wall", "0,3": "wall", "5,3": "path", "7,0": "wall"}
        assert cells(table) == {"12,2", "11,2", "12,3"}
        assert "shift" not in offered(table)
        assert play(table, "go 12,2", "leave", "end")["blocked"] == [0, 0]

    def test_a_swift_move_after_it_ends_the_count(self) -> None:
        table = scene("12,1", "5,3", laid=WALLED_IN, hands=["passage swift-4"], die="5", blocked=[2])
        state = play(table, "die 5", "stay", "play passage", "play swift-4", "go 11,2")
        assert not state["stuck"]
        assert play(table, "end")["blocked"] == [0, 0]


class TestPhantom:
    def test_a_room_is_one_space_with_many_borders(self) -> None:
        table = phantom_scene("12,1", "12,1", phantom="room-a", steps=2)
        around_a = {"4,7", "4,8", "5,6", "5,8", "6,6", "6,9", "7,9", "8,6", "8,8", "8,9"}  # no violins
        assert cells(table, "phantom to") == around_a
        play(table, "phantom to 6,9")
        assert cells(table, "phantom to") == {"room-a", "5,8", "5,9", "6,10", "7,9"}
        assert play(table, "phantom to room-a")["round"] == 2  # R16

    def test_it_never_enters_the_finish(self) -> None:
        table = phantom_scene("12,1", "12,1", phantom="9,14", steps=1)
        assert cells(table, "phantom to") == {"9,13", "9,15", "8,15", "10,15", "room-k"}

    def test_chases_in_order_from_the_left_of_the_mover(self) -> None:
        table = phantom_scene("12,1", "12,2", "12,2", phantom="11,1", steps=1, blocked=[0, 2, 0])
        state = play(table, "phantom to 12,2")
        assert (state["phase"], state["to_act"], state["to_chase"], state["steps"]) == ("chase", 0, [1, 2], 0)
        assert cells(table, "chase to") == refuge_cells(state, "12,2")
        assert {"12,1", "12,3", "11,2"} <= cells(table, "chase to")
        state = play(table, "chase to 12,3")
        assert (state["to_chase"], state["chased"], state["pawns"]) == ([2], [1], ["12,1", "12,3", "12,2"])
        assert state["blocked"] == [0, 0, 0]
        state = play(table, "chase to 12,1")
        assert (state["round"], state["first"], state["phase"], state["chased"]) == (2, 1, "die", [])
        assert state["hands"] == [["encore"], [], []]  # the last of the pile in order

    def test_the_movers_own_pawn_stays_and_the_left_neighbour_runs(self) -> None:
        table = phantom_scene("12,2", "0,1", "12,1", phantom="11,1", steps=3)
        state = play(table, "phantom to 12,2")
        assert state["to_chase"] == [1]
        assert cells(table, "chase to") == refuge_cells(state, "0,1")
        state = play(table, "chase to 0,3", "phantom to 11,1")
        assert (state["phase"], state["pawns"]) == ("phantom", ["12,2", "0,3", "12,1"])
        assert play(table, "phantom to 12,2")["round"] == 2  # player_1 was chased already

    def test_the_left_neighbour_is_chased_last_and_once(self) -> None:
        for left, order in (("0,1", [2, 1]), ("12,2", [1, 2])):
            table = phantom_scene("12,2", left, "12,2", phantom="11,1", steps=1)
            assert play(table, "phantom to 12,2")["to_chase"] == order

    def test_r18_who_has_nowhere_to_go_stays(self) -> None:
        start = scene("12,1", "12,1").state_dict()
        walls = dict.fromkeys(refuge_cells(start, "12,2") | {"12,2"}, "wall")
        table = phantom_scene("0,1", "12,2", phantom="11,1", steps=1, laid=walls)
        state = play(table, "phantom to 12,2")
        assert (state["round"], state["pawns"], state["hands"]) == (2, ["0,1", "12,2"], [[], []])

    def test_haunting(self) -> None:
        for seed in range(200):
            table = scene("12,1", "12,1")
            table.state["rng"][0] = seed
            state = play(table, "die 4", "stay", "end", "die 4", "stay", "end")
            if state["phase"] == "haunt":
                break
        assert state["steps"] == 0
        assert offered(table) == [f"haunt room-{sign}" for sign in sorted(ROOMS)]
        state = play(table, "haunt room-m")
        assert (state["phantom"], state["phase"]) == ("room-m", "phantom")
        assert 1 <= state["steps"] <= 5
        assert cells(table, "phantom to") == {cell for m in with_sign("m") for cell in around(m)} - with_sign("mF")

    def test_r19_the_last_round_truncates(self) -> None:
        table = phantom_scene("12,1", "12,2", phantom="11,1", steps=1, max_rounds=1)
        state = play(table, "phantom to 12,2", "chase to 12,3")
        assert table.truncated
        assert (state["phase"], state["to_act"], state["round"], state["winners"]) == ("over", None, 1, [])
        assert table.rewards.tolist() == [0, 0]


class TestDice:
    def test_frequencies(self) -> None:
        """R2: the mask has two of the six sides; 4,000 rounds of six dice."""
        states = GAME.blank(4000, 6, GAME.check_options({}))
        states["seed"] = np.arange(4000)
        kernels(GAME).start(states, np.ones(4000, np.bool_), 0, 4000)
        share = states["dice"].sum(axis=0) / 24000
        assert share == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 3], abs=0.012)

    def test_everyone_gets_one_and_the_turn_goes_around(self) -> None:
        table = scene("12,1", "12,1", "12,1")
        for seat in range(3):
            assert table.seat == seat
            assert table.state_dict()["dice"] == ["4"] * (3 - seat)
            play(table, "die 4", "stay", "end")
        assert table.state_dict()["phase"] in ("haunt", "phantom")
        assert table.seat == 0
