"""The bootstrap against what is known of it, and the files that results are written to."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from phantom_envs.arena import summary
from phantom_envs.arena.match import Results, Setting
from phantom_envs.arena.report import InvalidReport, as_data, check_name, table, write
from phantom_envs.arena.summary import Estimate, bootstrap, summarize


def plain_bootstrap(values: list[float], seed: int, resamples: int) -> tuple[float, float]:
    """The textbook's loop."""
    rng = np.random.default_rng(seed)
    means = sorted(float(np.mean(rng.choice(values, len(values)))) for _ in range(resamples))
    return means[int(0.025 * resamples)], means[int(0.975 * resamples)]


def test_bootstrap_agrees_with_the_textbook() -> None:
    values = np.random.default_rng(1).exponential(size=40)
    low, high = bootstrap(values[:, None], seed=0)
    plain_low, plain_high = plain_bootstrap(values.tolist(), seed=99, resamples=20_000)
    width = plain_high - plain_low
    assert low[0] == pytest.approx(plain_low, abs=0.03 * width)
    assert high[0] == pytest.approx(plain_high, abs=0.03 * width)


def test_bootstrap_of_many_deals_is_the_normal_interval() -> None:
    values = np.random.default_rng(2).normal(3.0, 2.0, size=(900, 1))
    low, high = bootstrap(values, seed=0)
    half = 1.96 * values.std() / 30
    assert low[0] == pytest.approx(values.mean() - half, abs=0.05 * half)
    assert high[0] == pytest.approx(values.mean() + half, abs=0.05 * half)


def test_bootstrap_of_few_deals_by_hand() -> None:
    low, high = bootstrap(np.array([[0.0, 7.0, 1.0], [1.0, 7.0, 3.0]]), seed=4)
    assert low.tolist() == [0.0, 7.0, 1.0]  # of two deals each is drawn twice in a quarter of all draws
    assert high.tolist() == [1.0, 7.0, 3.0]


def test_bootstrap_is_seeded_and_draws_all_columns_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).normal(size=(30, 1))
    both = np.concatenate([values, 2 * values + 1], axis=1)
    low, high = bootstrap(both, seed=7)
    assert low[1] == pytest.approx(2 * low[0] + 1)
    assert bootstrap(values, seed=7)[1][0] == high[0]
    assert bootstrap(values, seed=8)[1][0] != high[0]
    monkeypatch.setattr(summary, "_BLOCK", 100)
    assert bootstrap(values, seed=0, resamples=1001)[0] == pytest.approx(low[0], abs=0.05)


def hand_made(game: str = "phantom_trick_v0") -> tuple[Setting, Results]:
    """Two deals at three seats: `[x]` against two `rule`; it wins one game of three, and the second deal ties."""
    seating = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    setting = Setting(game, 3, {"reward": "win"}, ("[x]", "rule"), ("[x]", "rule"), seating, 1, 2)
    share = np.array([[[1, 0, 0], [1, 0, 0], [0, 1, 0]], [[1 / 3] * 3] * 3])
    points = np.array([[[3, 0, 0], [3, 0, 0], [0, 3, 0]], [[1, 1, 1]] * 3])
    truncated = np.zeros((2, 3), np.bool_)
    return setting, Results(share, points, truncated, np.array([100, 200]), np.array([0.05, 0.4]))


def test_summary_by_hand() -> None:
    setting, results = hand_made()
    one, two = summarize(setting, results)
    assert one.win_share.mean == pytest.approx(1 / 3)
    assert (one.win_share.low, one.win_share.high) == (one.win_share.mean, one.win_share.mean)
    assert one.margin == Estimate(0.0, 0.0, 0.0)  # (3 - 1.5 - 1.5) / 3 in the first deal
    assert (one.agent, one.games, one.decisions) == ("[x]", 6, 100)
    assert one.ms_per_decision == pytest.approx(0.5)
    assert two.ms_per_decision == pytest.approx(2.0)
    assert two.win_share.mean == pytest.approx(1 / 3)
    results.points[0, 0, 0] = 9  # + 6 / 3 seats
    margin = summarize(setting, results)[0].margin
    assert margin is not None
    assert (margin.mean, margin.low, margin.high) == (1.0, 0.0, 2.0)


def test_table_shows_all_agents_and_what_was_cut_off() -> None:
    setting, results = hand_made()
    results.truncated[0, 0] = True
    console = Console(width=100)
    with console.capture() as shown:
        console.print(table(setting, results, summarize(setting, results)))
    text = " ".join(shown.get().split())
    assert "[x]" in text
    assert "0.333 [0.333, 0.333]" in text
    assert "+0.00 [+0.00, +0.00]" in text
    assert "1 games were cut off" in text
    assert "a fair win share is 0.333" in text


def test_a_match_that_was_broken_off_says_so() -> None:
    setting, results = hand_made()
    assert not as_data(setting, results, summarize(setting, results))["partial"]
    asked = replace(setting, deals=5)
    agents = summarize(asked, results)
    assert [agent.games for agent in agents] == [6, 6]
    console = Console(width=100)
    with console.capture() as shown:
        console.print(table(asked, results, agents))
    text = " ".join(shown.get().split())
    assert "reward=win: broken off, 2 of 5 deals finished, seed 1" in text
    assert " 6 games; [95 % interval]" in text
    data = as_data(asked, results, agents)
    assert (data["partial"], data["deals"], data["deals_asked"], data["games"]) == (True, 2, 5, 6)


def test_json_and_csv(tmp_path: Path) -> None:
    setting, results = hand_made()
    agents = summarize(setting, results)
    write(tmp_path / "a.json", setting, results, agents)
    data = json.loads((tmp_path / "a.json").read_text())
    assert data == as_data(setting, results, agents)
    assert (data["game"], data["deals"], data["games"], data["truncated"]) == ("phantom_trick_v0", 2, 6, 0)
    assert data["seating"][1] == ["rule", "[x]", "rule"]
    assert data["agents"][0]["margin"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    write(tmp_path / "a.CSV", setting, results, agents)
    with (tmp_path / "a.CSV").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["agent"] for row in rows] == ["[x]", "rule"]
    assert float(rows[0]["win_share_low"]) == pytest.approx(1 / 3)
    assert (rows[0]["margin_high"], rows[1]["games"], rows[1]["decisions"]) == ("0.0", "6", "200")


def test_a_game_without_points_has_no_margin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setting, results = hand_made()
    monkeypatch.setattr(summary, "margins", lambda *_: None)
    agents = summarize(setting, results)
    assert [agent.margin for agent in agents] == [None, None]
    write(tmp_path / "a.csv", setting, results, agents)
    assert ",,,," in (tmp_path / "a.csv").read_text()
    write(tmp_path / "a.json", setting, results, agents)
    assert json.loads((tmp_path / "a.json").read_text())["agents"][0]["margin"] is None
    console = Console(width=100)
    with console.capture() as shown:
        console.print(table(setting, results, agents))
    assert "-" in shown.get()


@pytest.mark.parametrize("name", ["result.txt", "result", "nowhere/result.json"])
def test_file_names_that_cannot_be_written(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidReport):
        check_name(tmp_path / name)
