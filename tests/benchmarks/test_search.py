"""The search benchmark runs and reports what it should, and the bare loop plays rightly; speed is not tested."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

from agents.network import PolicyValueNet, save_network
from benchmarks import search, search_report, searches
from benchmarks.bare import RANDOM, RULE, bare_play, dealt
from benchmarks.machine import cores
from benchmarks.throughput import WIDTH
from benchmarks.timing import Result
from phantom_envs.core.batch import kernels, sample
from phantom_envs.core.game import Game, States, members
from phantom_envs.core.table import Table
from phantom_envs.registry import game_ids, get_game

SETTINGS = [(get_game(game_id), players) for game_id in game_ids() for players in get_game(game_id).players]

every_game = pytest.mark.parametrize(("game", "players"), SETTINGS, ids=lambda value: getattr(value, "id", value))


def blank_words(game: Game) -> np.ndarray[Any, np.dtype[np.uint64]]:
    return np.zeros(game.num_words, np.uint64)


def test_bare_loop_makes_the_moves_of_random_play() -> None:
    game, players, count, steps = get_game("phantom_trick_v0"), 3, 3, 3000
    states, others = dealt(game, players, count), dealt(game, players, count)
    rng = np.arange(count, dtype=np.uint64)[:, None].copy()
    other_rng = rng.copy()
    ended = bare_play(game)(states, rng, blank_words(game), RANDOM, steps)
    observation = np.zeros((count, game.layout(players).size), np.int8)
    mask, rewards = np.zeros((count, game.num_actions), np.int8), np.zeros((count, players))
    words = np.zeros((count, game.num_words), np.uint64)
    assert kernels(game).random_play(others, words, other_rng, observation, mask, rewards, 0.0, steps) == ended > 0
    assert states.tobytes() == others.tobytes()
    assert rng.tolist() == other_rng.tolist()


@every_game
@pytest.mark.parametrize("policy", [RANDOM, RULE])
def test_bare_loop_plays_as_a_table_does(game: Game, players: int, policy: int) -> None:
    steps = 2500
    states, rng = dealt(game, players, 1), np.full((1, 1), 5, np.uint64)
    ended = bare_play(game)(states, rng, blank_words(game), policy, steps)
    table = Table(game, players)
    table.deal(0)
    games = 0
    other_rng, actions = np.full((1, 1), 5, np.uint64), np.zeros(1, np.int64)
    for _ in range(steps):
        if policy == RULE:
            kernels(game).advise(table.states, table.words[None], actions, 0, 1)
        else:
            sample(table.words[None], other_rng, actions, 0, 1)
        table.play(int(actions[0]))
        if table.over:
            games += 1
            table.deal()
    assert games == ended
    assert ended > 0 or (game.name == "das_phantom" and policy == RANDOM)  # which takes up to 100 rounds
    assert states.tobytes() == table.states.tobytes()
    assert rng == other_rng


def choices_left(game: Game, state: States) -> int:
    """How many choices the rule bot still has from `state` to the end of the game, that one included."""
    words = blank_words(game)
    choices = ended = 0
    while not ended:
        ended = bare_play(game)(state, np.zeros((1, 1), np.uint64), words, RULE, 1)
        choices += len(members(words)) > 1
    return choices


@pytest.mark.parametrize(
    ("game", "players"), [(get_game(game_id), get_game(game_id).players[0]) for game_id in game_ids()]
)
def test_roots_are_spread_over_the_game(game: Game, players: int) -> None:
    count = 8
    states = searches.roots(game, players, count)
    assert states.tobytes() == searches.roots(game, players, count).tobytes()
    assert (searches.choices_at(game, players, states) > 1).all()
    shares = []
    for row, start in enumerate(dealt(game, players, count)[:, None]):
        shares.append(1 - choices_left(game, states[row : row + 1].copy()) / choices_left(game, start))
    for some in (shares, shares[: count // 2]):
        assert abs(np.mean(some) - 0.5) < 0.15
        assert min(some) < 0.25
        assert max(some) > 0.65


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("search")
    game = get_game("phantom_trick_v0")
    torch.manual_seed(0)
    net = PolicyValueNet.for_game(game, 3, width=8)
    save_network(folder / "phantom_trick_v0_3.safetensors", net, {"game": game.id, "num_players": 3})
    file = folder / "search.json"
    config = search.Config(
        games=(game.id,),
        players=(3, 5),
        weights=folder,
        roots=4,
        iterations=64,
        worlds=2,
        runs=2,
        seconds=0.001,
        json=file,
    )
    threads = torch.get_num_threads()
    try:
        search.main(config)
    finally:
        torch.set_num_threads(threads)
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def test_report_has_every_figure(report: dict[str, Any]) -> None:
    assert report["benchmark"] == "search"
    assert {"cpu", "cores", "numba", "revision", "torch"} <= set(report["machine"])
    for row in report["results"]:
        assert row["game"] == "phantom_trick_v0"
        assert len(row["runs"]) == 2
        assert 0 < min(row["runs"]) <= row["per_second"] <= max(row["runs"])
    alone = [row for row in report["results"] if row["cores"] == 1]
    plain = [
        (f"{kind}, {policy}", 1, "decisions") for policy in ("random", "rule") for kind in ("bare loop", "playouts")
    ]
    for horizon in ("game", "deal"):
        plain += [
            (f"ismcts:iterations=64,{style},horizon={horizon}", 4, "iterations")
            for style in ("selection=ucb,rollout=random", "selection=ucb,rollout=rule", "selection=puct,rollout=rule")
        ]
        plain += [(f"pimc:worlds=2,rollout={rollout},horizon={horizon}", 4, "worlds") for rollout in ("random", "rule")]
    for players in (3, 5):
        here = [row for row in alone if row["players"] == players]
        assert [(row["way"], row["batch"], row["unit"]) for row in here if "network" not in row["way"]] == plain
    guided = [row for row in alone if "network" in row["way"]]
    assert [(row["players"], row["batch"], row["unit"]) for row in guided] == [
        (3, batch, "iterations") for _ in searches.GUIDED for batch in (1, 4)
    ]
    assert 0 < guided[0]["nodes_per_batch"] <= 8
    assert guided[0]["nodes_per_batch"] < guided[1]["nodes_per_batch"] <= 32
    assert [(row["players"], row["policy"]) for row in report["playouts"]] == [
        (players, policy) for players in (3, 5) for policy in ("random", "rule")
    ]
    assert all(row["ratio"] > 0 for row in report["playouts"])
    assert all(row["choices"] >= 2 for row in report["roots"])
    assert list(report["skipped"])[-1] == "phantom_trick_v0 with 5 players and a network"
    if len(cores()) > 1:
        assert [(row["players"], row["of"]) for row in report["two_threads"]] == [
            (players, of) for players in (3, 5) for of in ("one decision", "many decisions")
        ]
    else:
        assert "two threads" in report["skipped"]


def test_tables_show_every_figure(report: dict[str, Any]) -> None:
    grids = search_report.grids(report)
    lines = {grid.title: len(grid.rows) for grid in grids}
    assert lines.pop("Two threads on two cores", 2) == 2  # left out on a single core
    assert lines == {
        "Playouts and the bare loop": 2,
        "ismcts to the end of the game": 2,
        "ismcts to the end of the deal": 2,
        "pimc to the end of the game": 2,
        "pimc to the end of the deal": 2,
        "ismcts with a network": 4,
    }
    assert all(len(row) == len(grid.headings) for grid in grids for row in grid.rows)
    console = Console(width=WIDTH, record=True)
    text = search_report.page(report, "python -m benchmarks.search")
    for grid in grids:
        console.print(grid.rich())
        assert f"### {grid.title}\n" in text
    assert "Phantom Trick, 5" in console.export_text()
    assert "…" not in console.export_text(), "a column does not fit"
    assert f"cpu {report['machine']['cpu']}" in text


def test_games_of_one_deal_have_one_horizon() -> None:
    contenders = list(
        searches.search_contenders(get_game("phantom_v0"), 2, searches.Budget(2, 10, 10), None, cores()[0], None)
    )
    assert len(contenders) == 5
    assert all(each.way.endswith(",horizon=game") for each in contenders)


def test_ratios_are_taken_within_a_round() -> None:
    def result(way: str, runs: tuple[float, ...]) -> Result:
        return Result("phantom_envs", "phantom_v0", 2, way, 1, 1, 1, None, runs)

    found = search.compare_playouts(
        [
            result("bare loop, random", (10.0, 100.0, 50.0)),
            result("playouts, random", (8.0, 60.0, 45.0)),
            result("bare loop, rule", (1.0, 1.0, 1.0)),
            result("playouts, rule", (0.5, 0.6, 0.7)),
        ]
    )
    assert [row["ratio"] for row in found] == [0.8, 0.6]


def test_work_is_what_the_agents_do() -> None:
    game = get_game("phantom_trick_v0")
    states = searches.roots(game, 3, 2)
    loop = searches.SearchLoop(game, 3, "pimc:worlds=3,searches=2", states, 2)
    visits = loop.agent.search(loop.calls[0]).visits
    assert loop() == visits.max(axis=1).sum() == 2 * 2 * 3
    loop = searches.SearchLoop(game, 3, "ismcts:iterations=5,searches=2", states, 1)
    assert len(loop.calls) == 2
    assert loop() == 2 * 2 * 5
    visits = np.concatenate([loop.agent.search(decisions).visits for decisions in loop.calls])
    assert visits.sum(axis=1).tolist() == [2 * (5 - 1)] * 2  # the first iteration makes the root


def test_other_agents_are_refused() -> None:
    game = get_game("phantom_trick_v0")
    with pytest.raises(TypeError, match="rule does not search"):
        searches.SearchLoop(game, 3, "rule", searches.roots(game, 3, 1), 1)


def test_documentation_names_no_file_of_the_machine() -> None:
    assert search.command(["--json", "here/a.json", "--runs", "3", "--write-docs"]) == (
        "python -m benchmarks.search --runs 3 --write-docs"
    )
    assert search.command(["--write-docs", "--json=here/a.json"]) == "python -m benchmarks.search --write-docs"
