"""The page of a game."""

from __future__ import annotations

from dataclasses import replace

import pytest

from phantom_envs.core.actions import Actions, group
from phantom_envs.core.errors import InvalidPlayers
from phantom_envs.core.game import Game, Option
from phantom_envs.describe import markdown
from phantom_envs.registry import game_ids, get_game


def every_setting() -> list[tuple[Game, int]]:
    return [(get_game(name), players) for name in game_ids() for players in get_game(name).players]


@pytest.mark.parametrize(("game", "players"), every_setting(), ids=lambda value: getattr(value, "id", value))
def test_everything_is_on_the_page(game: Game, players: int) -> None:
    page = markdown(game, players)
    assert page.startswith(f"# {game.title} (`{game.id}`)\n\n{game.summary}\n\n## Players\n")
    for block in game.layout(players):
        assert f"| `{block.name}` | {block.start} | " in page
    for option in game.options:
        assert f"| `{option.name}` | `{option.default!r}` | " in page
    for reward in game.reward_weights:
        assert f"| `{reward}` | " in page
    assert all(f"`{group.shown}`" in page for group in game.actions)
    assert f"{game.layout(players).size} with {players} players" in page
    columns = [line.replace("\\|", "").count("|") for line in page.splitlines() if line.startswith("|")]
    assert set(columns) <= {3, 4, 5, 6}


def test_phantom_trick_by_hand() -> None:
    page = markdown(get_game("phantom_trick_v0"))
    for line in [
        "3, 4 or 5; 4 by default. Agents are `player_0` … `player_3` with 4 players.",
        "| `reward` | `'win'` | `'win'`, `'score'` | ",
        "| 0 … 59 | `place red-7 / play red-7 / take red-7` | ",
        "| `to_act` | 0 | 4 | 0 … 1 | who is to act |",
        "| `first` | 4 | 4 | 0 … 1 | ",
        "(n/w - 1)/(n - 1) to a winner and -1/(n - 1) to everybody else (",
        "(+1 to a lone winner, -0.3333 to everybody else) |",
        "| `score` | whenever points are booked, 0.1 × (own points - mean over all players) |",
        "At most 177 decisions with 4 players and the default options.",
    ]:
        assert line in page


def test_what_other_games_may_have() -> None:
    game = replace(
        get_game("phantom_trick_v0"),
        players=(2,),
        default_players=2,
        layout=lambda players: get_game("phantom_trick_v0").layout(3),
        options=(Option("rounds", 5, "a|b", least=1, most=9),),
        reward_weights={"few": lambda players: (0.0, -0.5), "both": lambda players: (2.0, 1.0)},
        actions=Actions(group("pass", ["pass"], "pass"), group("play", ["play"] * 59, "play", shown="play")),
        max_decisions=lambda players, options: None,
    )
    page = markdown(game)
    for line in [
        "\n2. Agents are `player_0` … `player_1` with 2 players.\n",
        "| `rounds` | `5` | 1 … 9 | a\\|b |",
        "-0.5 × (own points - mean over all players), few points being good |",
        "2 × (n/w - 1)/(n - 1) to a winner and -2 × 1/(n - 1)",
        "; whenever points are booked, (own points - mean over all players) |",
        "| 0 | `pass` | pass |",
        "| 1 … 59 | `play` | play |",
        "The rules set no bound on the number of decisions.",
    ]:
        assert line in page
    with pytest.raises(InvalidPlayers):
        markdown(game, 3)
