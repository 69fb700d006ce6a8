"""Phantom Trick: the rulings R1-R11 worked out by hand, and the rule bot."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from phantom_envs.core.batch import GO_ON, PLAY_FIRST, PLAY_RANDOM, SKIP, kernels
from phantom_envs.core.game import RUNNING, TERMINATED
from phantom_envs.core.jit import JIT_DISABLED
from phantom_envs.core.table import Table
from phantom_envs.games.phantom_trick import GAME
from tests.chance import assert_uniform
from tests.games.phantom_trick_scene import PLAYERS, before_laying, play, random_game, trick, voids


def up(table: Table) -> list[tuple[int, str]]:
    """Who has which card face-up on the table, in order of play."""
    return [(each["seat"], each["card"]) for each in table.state_dict()["table"] if each["face_up"]]


# Laying


def test_the_lowest_value_that_nobody_else_laid_leads() -> None:
    table = before_laying("red-2 red-9", "blue-2 blue-9", "yellow-7 red-1", "green-4 blue-1")
    after = play(table, "red-2 blue-2 yellow-7 green-4")
    assert (after["phase"], after["first"], after["leader"], after["to_act"]) == ("play", 3, 3, 3)
    assert after["rows"] == [["red-2"], ["blue-2"], ["yellow-7"], ["green-4"]]
    assert after["placed"] == ["red-2", "blue-2", "yellow-7", "green-4"]


def test_rows_are_empty_until_all_have_laid() -> None:
    after = play(before_laying("red-2 red-9", "blue-2 blue-9", "yellow-7 red-1"), "red-2 blue-2")
    assert after["rows"] == [[], [], []]
    assert after["placed"] == ["red-2", "blue-2", None]
    assert (after["first"], after["leader"], after["to_act"]) == (None, None, 2)


@pytest.mark.parametrize("laid", ["red-5 blue-5 yellow-5", "red-5 blue-8 yellow-5 green-8"])
def test_r1_a_random_player_leads_if_every_value_is_shared(laid: str) -> None:
    leaders: Counter[int] = Counter()
    hands = [f"{card} {card.split('-')[0]}-1" for card in laid.split()]
    for seed in range(400):
        after = play(before_laying(*hands, seed=seed), laid)
        assert after["phase"] == "play"
        leaders[after["leader"]] += 1
    assert_uniform([leaders[seat] for seat in range(len(hands))])


# Equal cards


def test_r2_third_stays_fourth_vanishes_with_it_fifth_stays() -> None:
    table = trick("red-5 red-1", "blue-5 blue-1", "yellow-5 red-2", "green-5 green-1", "white-5 red-3")
    play(table, "red-5")
    assert up(table) == [(0, "red-5")]
    play(table, "blue-5")
    assert up(table) == []
    play(table, "yellow-5")
    assert up(table) == [(2, "yellow-5")]
    play(table, "green-5")
    assert up(table) == []
    after = play(table, "white-5")
    assert up(table) == [(4, "white-5")]
    assert (after["phase"], after["to_act"], after["leader"], after["leader_suit"]) == ("take", 4, 4, "white")
    assert after["piles"] == [["red-5"], ["blue-5"], ["yellow-5"], ["green-5"], []]


def test_a_card_does_not_vanish_with_one_that_is_face_down() -> None:
    table = trick("red-5 red-1", "blue-5 blue-1", "blue-9 red-2", "yellow-5 yellow-1")
    play(table, "red-5 blue-5 blue-9 yellow-5")
    assert up(table) == [(2, "blue-9"), (3, "yellow-5")]


# Leadership


def test_followers_must_follow_if_they_can() -> None:
    table = trick("red-5 blue-1", "red-1 red-7 blue-2", "blue-3 green-4", "red-2")
    play(table, "red-5")
    assert table.legal_names() == ["play red-1", "play red-7"]
    play(table, "red-7")
    assert table.legal_names() == ["play blue-3", "play green-4"]
    play(table, "blue-3")
    assert voids(table) == [set(), set(), {"red"}, set()]


def test_r3_leadership_passes_to_the_next_face_up_card_whose_suit_binds() -> None:
    table = trick("red-5 red-1", "blue-9 blue-1", "yellow-5 yellow-1", "red-3 blue-2 blue-7")
    after = play(table, "red-5 blue-9 yellow-5")
    assert (after["leader"], after["leader_suit"], after["first"]) == (1, "blue", 0)
    assert table.legal_names() == ["play blue-2", "play blue-7"]
    assert voids(table) == [set(), {"red"}, {"red"}, set()]
    after = play(table, "blue-2")
    assert (after["phase"], after["to_act"]) == ("take", 1)


def test_r3_leadership_stays_while_the_leaders_card_is_face_up() -> None:
    table = trick("red-5 red-1", "blue-9 blue-1", "yellow-9 yellow-1", "green-8 green-1")
    after = play(table, "red-5 blue-9 yellow-9")
    assert (after["leader"], after["leader_suit"]) == (0, "red")
    assert play(table, "green-8")["to_act"] == 0, "only the leader's suit wins"


def test_r3_leadership_passes_over_face_down_cards() -> None:
    table = trick("red-5 red-1", "blue-9 blue-1", "yellow-9 yellow-1", "green-2 green-3", "white-5 white-1")
    after = play(table, "red-5 blue-9 yellow-9 green-2 white-5")
    assert (after["leader"], after["leader_suit"]) == (3, "green")
    assert (after["phase"], after["to_act"]) == ("take", 3)


def test_r3_a_new_leader_who_has_not_played_plays_freely_and_shows_nothing() -> None:
    table = trick("red-5 red-1", "blue-5 blue-1", "red-2 blue-2 green-7", "green-3 red-4")
    after = play(table, "red-5 blue-5")
    assert (after["leader"], after["leader_suit"], after["to_act"]) == (2, None, 2)
    assert table.legal_names() == ["play red-2", "play blue-2", "play green-7"]
    after = play(table, "green-7")
    assert (after["leader"], after["leader_suit"]) == (2, "green")
    assert voids(table) == [set(), {"red"}, set(), set()]
    assert table.legal_names() == ["play green-3"]
    after = play(table, "green-3")
    assert (after["to_act"], after["phase"]) == (2, "take")


def test_r4_the_last_player_may_become_the_leader_and_wins() -> None:
    table = trick("red-5 red-1", "blue-5 blue-1", "red-2 green-7")
    after = play(table, "red-5 blue-5")
    assert (after["leader"], after["to_act"]) == (2, 2)
    assert table.legal_names() == ["play red-2", "play green-7"]
    after = play(table, "green-7")
    assert (after["phase"], after["to_act"]) == ("take", 2)
    assert table.legal_names() == ["take green-7"]


def test_r4_the_card_of_a_new_leader_can_vanish_later() -> None:
    table = trick("red-5 red-1", "blue-5 blue-1", "red-7 green-2", "yellow-7 white-1", "red-9 white-3")
    after = play(table, "red-5 blue-5 red-7 yellow-7")
    assert (after["leader"], after["leader_suit"], after["to_act"]) == (4, None, 4)
    assert voids(table) == [set(), {"red"}, set(), {"red"}, set()]


def test_r5_r6_all_vanish_and_the_first_leads_again() -> None:
    table = trick("green-5 red-1", "blue-5 blue-1", "red-7 green-2", "yellow-7 white-1", first=1)
    after = play(table, "blue-5 red-7 yellow-7")
    assert after["piles"] == [[], [], [], []], "R6: not before the last card is played"
    after = play(table, "green-5")
    assert (after["phase"], after["trick"]) == ("play", 2)
    assert (after["first"], after["leader"], after["leader_suit"], after["to_act"]) == (1, 1, None, 1)
    assert after["piles"] == [["green-5"], ["blue-5"], ["red-7"], ["yellow-7"]]
    assert after["table"] == []


# After the trick


def test_the_winner_takes_any_face_up_card_and_leads() -> None:
    table = trick("red-5 red-1", "red-9 blue-1", "blue-7 green-2", "yellow-7 white-1", rows="red-2,red-3,red-4,red-6")
    play(table, "red-5 red-9 blue-7 yellow-7")
    assert table.legal_names() == ["take red-5", "take red-9"]
    after = play(table, "red-5")
    assert after["rows"] == [["red-2"], ["red-3", "red-5"], ["red-4"], ["red-6"]]
    assert after["piles"] == [[], [], ["blue-7"], ["yellow-7"]]
    assert (after["first"], after["leader"], after["trick"], after["phase"]) == (1, 1, 2, "play")


def test_an_equal_card_in_the_row_makes_a_pair_in_the_pile() -> None:
    table = trick("red-5 red-1", "red-9 blue-1", "green-3 blue-2", rows="red-2,blue-5 blue-7 blue-8,red-4")
    after = play(table, "red-5 red-9 green-3 red-5")
    assert after["rows"][1] == ["blue-7", "blue-8"]
    assert after["piles"] == [[], ["blue-5", "red-5"], []]


# Scoring


def last_trick(rows: str, piles: str = "", scores: tuple[int, ...] = (10, 10, 10), round_number: int = 1) -> Table:
    """Before the last trick of a round, which seat 0 wins with red-9 or by taking red-1 or red-2."""
    table = trick("red-9", "red-1", "red-2", rows=rows, piles=piles, number=11)
    table.state["round"] = round_number
    table.state["scores"][:3] = scores
    return table


def test_r7_pile_minus_row_whatever_the_values() -> None:
    table = last_trick("blue-9 blue-8,blue-7,blue-6 blue-5 blue-4", "green-1,green-2 green-3,")
    after = play(table, "red-9 red-1 red-2 red-1")
    assert after["last_gain"] == [1 - 3, 2 - 1, 0 - 3]
    assert after["scores"] == [8, 11, 7]
    assert table.state["points"][:3].tolist() == [-2, 1, -3]
    mean = (-2 + 1 - 3) / 3
    assert table.rewards.tolist() == pytest.approx([(-2 - mean) / 10, (1 - mean) / 10, (-3 - mean) / 10])


def test_r7_a_pair_taken_last_counts() -> None:
    after = play(last_trick("blue-1 blue-8,blue-7,blue-6"), "red-9 red-1 red-2 red-1")
    assert after["last_gain"] == [2 - 1, -1, -1]


def test_r8_scores_stop_at_sixteen_and_points_with_them() -> None:
    table = last_trick("blue-1,blue-7,blue-6", "green-3 green-4 green-5,,", scores=(14, 10, 10))
    after = play(table, "red-9 red-1 red-2 red-1")
    assert after["last_gain"][0] == 5
    assert after["scores"] == [16, 9, 9]
    assert table.state["points"][:3].tolist() == [2, -1, -1]


@pytest.mark.parametrize(("score", "over"), [(2, False), (1, True), (0, True)])
def test_r8_a_score_of_zero_or_less_ends_the_game(score: int, over: bool) -> None:
    table = last_trick("blue-9,blue-7,blue-6", scores=(10, score, 10))
    after = play(table, "red-9 red-1 red-2 red-1")
    assert after["scores"] == [8, score - 1, 9]
    assert table.over == over
    assert after["winners"] == ([2] if over else [])


def test_three_rounds_end_the_game() -> None:
    assert not play(last_trick("blue-9,blue-7,blue-6", round_number=2), "red-9 red-1 red-2 red-1")["winners"]
    table = last_trick("blue-9,blue-7,blue-6", scores=(12, 10, 10), round_number=3)
    after = play(table, "red-9 red-1 red-2 red-1")
    assert table.terminated
    assert after["winners"] == [0]


def test_r9_among_equal_scores_the_last_rounds_gain_before_the_cap_decides() -> None:
    table = last_trick("blue-1,blue-7,blue-6", "green-3,green-4 green-5 green-6,", scores=(16, 14, 10), round_number=3)
    after = play(table, "red-9 red-1 red-2 red-1")
    assert after["scores"] == [16, 16, 9]
    assert after["last_gain"] == [3, 2, -1]
    assert after["winners"] == [0]


def test_r9_those_still_tied_share() -> None:
    table = last_trick("blue-1,blue-7,blue-6", ",green-4 green-5 green-6,", scores=(16, 14, 10), round_number=3)
    after = play(table, "red-9 red-1 red-2 red-1")
    assert after["scores"] == [16, 16, 9]
    assert after["last_gain"] == [2, 2, -1]
    assert after["winners"] == [0, 1]


def test_win_reward_of_shared_and_lone_victory() -> None:
    for table, expected in (
        (last_trick("blue-1,blue-7,blue-6", ",green-4 green-5 green-6,", (16, 14, 10), 3), [0.25, 0.25, -0.5]),
        (last_trick("blue-9,blue-7,blue-6", scores=(12, 10, 10), round_number=3), [1.0, -0.5, -0.5]),
    ):
        game = Table(GAME, 3, {"reward": "win"})
        game.states[:] = table.states
        game.refresh()
        play(game, "red-9 red-1 red-2")
        assert game.rewards.tolist() == [0.0, 0.0, 0.0]
        play(game, "red-1")
        assert game.rewards.tolist() == pytest.approx(expected)


def test_r10_no_game_is_longer_than_its_bound() -> None:
    for players in PLAYERS:
        longest = max(sum(1 for _ in random_game(players, seed)) - 1 for seed in range(20))
        bound = GAME.max_decisions(players, GAME.check_options({}))
        assert bound == 3 * (12 * players + 11)
        assert longest <= bound
        assert longest > bound / 3


def test_r11_the_step_that_ends_a_round_deals_the_next() -> None:
    after = play(last_trick("blue-9,blue-7,blue-6"), "red-9 red-1 red-2 red-1")
    assert (after["phase"], after["round"], after["trick"], after["to_act"]) == ("place", 2, 1, 0)
    assert [len(hand) for hand in after["hands"]] == [12, 12, 12]
    assert len(after["unused"]) == 4
    assert after["placed"] == [None] * 3
    assert after["rows"] == after["piles"] == [[], [], []]
    assert (after["first"], after["leader"], after["leader_suit"], after["table"]) == (None, None, None, [])


def test_r11_what_stays_when_the_game_is_over() -> None:
    table = last_trick("blue-9,blue-7,blue-6", round_number=3)
    before = table.state_dict()
    after = play(table, "red-9 red-1 red-2 red-1")
    assert table.status == TERMINATED
    assert (after["phase"], after["round"], after["trick"], after["to_act"]) == ("over", 3, 11, None)
    assert (after["first"], after["leader"], after["leader_suit"]) == (None, None, None)
    assert after["table"] == []
    assert after["hands"] == [[], [], []]
    assert after["unused"] == before["unused"]
    assert after["rows"] == [["blue-9", "red-1"], ["blue-7"], ["blue-6"]]
    assert table.legal() == []


# The rule bot


def advice(table: Table) -> str:
    """What the rule bot plays."""
    actions = np.full(1, -1, np.int64)
    kernels(GAME).advise(table.states, table.words.reshape(1, -1), actions, 0, 1)
    assert actions[0] in table.legal()
    return table.action_name(int(actions[0]))


def test_rule_bot_vanishes_where_it_can() -> None:
    table = trick("red-5 red-1", "blue-5 blue-9 blue-1", "green-3 blue-2")
    play(table, "red-5")
    assert advice(table) == "play blue-5"


def test_rule_bot_takes_a_pair() -> None:
    table = trick("red-5 red-1", "red-9 blue-1", "red-3 blue-2", rows="red-2,blue-5 blue-7 blue-8,red-4")
    play(table, "red-5 red-9 red-3")
    assert advice(table) == "take red-5"


def test_rule_bot_wins_only_for_something() -> None:
    """The last of the last trick: a pair is worth the trick, a new card in the row is not."""
    for row, choice in (("blue-5", "play red-9"), ("blue-4", "play red-1")):
        table = trick("red-5", "red-3", "red-9 red-1", rows=f"red-2,blue-7,{row}", number=11)
        play(table, "red-5 red-3")
        assert advice(table) == choice


@pytest.mark.parametrize(("players", "share", "score"), [(3, 0.8, 14.5), (4, 0.8, 15.2), (5, 0.8, 15.0)])
def test_rule_bot_beats_random_players(players: int, share: float, score: float) -> None:
    """One rule bot against random players, seats rotated. Alone it wins about 86, 84 and 87 % of the games."""
    games = (20 if JIT_DISABLED else 600) * players
    options = GAME.check_options({})
    states = GAME.blank(games, players, options)
    states["seed"] = np.arange(games) // players
    k = kernels(GAME)
    k.start(states, np.ones(games, np.bool_), 0, games)
    seats = np.arange(games) % players
    roles = np.full((games, players), PLAY_RANDOM)
    words = np.zeros((games, GAME.num_words), np.uint64)
    mask = np.zeros((games, GAME.num_actions), np.int8)
    observation = np.zeros((games, GAME.layout(players).size), np.int8)
    rng = np.arange(games, dtype=np.uint64).reshape(-1, 1)
    orders, actions = np.full(games, GO_ON), np.zeros(games, np.int64)
    rewards, scratch = np.zeros(games), np.zeros((games, players))
    out = (mask, observation, rewards, scratch, 0, games)
    while (orders != SKIP).any():
        k.advance(states, words, orders, actions, roles, seats, rng, 1.0, 0.0, *out)
        k.advise(states, words, actions, 0, games)
        orders[:] = np.where(states["status"] == RUNNING, PLAY_FIRST, SKIP)
    assert (states["status"] == TERMINATED).all()
    winners = states["winners"][:, None] >> np.arange(players) & 1
    won = winners[np.arange(games), seats] / winners.sum(1)
    assert won.mean() > (share if not JIT_DISABLED else 0.7)
    assert states["scores"][np.arange(games), seats].mean() > score
