"""The command line, as its users meet it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from phantom_envs import cli
from phantom_envs.arena.specs import NAMED
from phantom_envs.cli import main
from phantom_envs.core.game import Game
from phantom_envs.describe import markdown
from phantom_envs.registry import game_ids, get_game

TRICK = ["--game", "phantom_trick_v0", "--players", "3"]


@pytest.fixture(autouse=True)
def _same_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_games(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["games"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in game_ids())


def test_describe(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "phantom_trick_v0"]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("Players", "Options", "Actions", "card_played_by", "177 decisions"))
    assert main(["describe", "phantom_trick_v0", "--players", "5", "--markdown"]) == 0
    assert capsys.readouterr().out == markdown(get_game("phantom_trick_v0"), 5)


def test_further_pages_of_a_game(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with_board = replace(get_game("phantom_trick_v0"), extras={"board": lambda: "the board"})

    def get(name: str) -> Game:
        return with_board if name == "phantom_trick_v0" else get_game(name)

    monkeypatch.setattr(cli, "get_game", get)
    for flags in (["--board"], ["--page", "board"]):
        assert main(["describe", "phantom_trick_v0", *flags]) == 0
        assert capsys.readouterr().out == "the board\n"
    assert main(["describe", "phantom_trick_v0", "--page", "map"]) == 2
    assert "no page 'map'; its further pages: board" in capsys.readouterr().err


def test_arena(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "table.json"
    run = ["arena", *TRICK, "--agents", "rule", "random", "--deals", "6", "--seed", "5", "--workers", "1"]
    assert main([*run, "--out", str(out)]) == 0
    first = capsys.readouterr().out
    assert "phantom_trick_v0, 3 players, reward=win: 6 deals, seed 5" in first
    data = json.loads(out.read_text())
    assert [agent["agent"] for agent in data["agents"]] == ["rule", "random"]
    assert (data["games"], data["options"]) == (18, {"reward": "win"})
    assert main([*run, "--options", '{"reward": "score"}', "--out", str(tmp_path / "table.csv")]) == 0
    assert "reward=score" in capsys.readouterr().out
    assert (tmp_path / "table.csv").read_text().startswith("agent,win_share,win_share_low,")


def test_help_names_every_agent(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["arena", "--help"])
    shown = capsys.readouterr().out
    assert [name for name in NAMED if not re.search(rf"\b{name}\b", shown)] == []


def test_record_and_replay(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    record = ["record", *TRICK, "--seed", "7", "--agents", "random", "rule", "--games", "2", "--out", str(path)]
    assert main([*record, "--options", '{"reward": "score"}']) == 0
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["seed"], line["options"]) for line in lines if "game" in line] == [
        (7, {"reward": "score"}),
        (8, {"reward": "score"}),
    ]
    assert main(["replay", str(path)]) == 0
    assert f"2 games, {len(lines) - 2} decisions, all as the engine has them" in capsys.readouterr().out
    assert main(["replay", str(path), "--show", "--seat", "1"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("player_1 (you)") == len(lines)
    assert "\x1b" not in shown
    lines[3]["rewards"]["player_0"] = 5.0
    path.write_text("\n".join(map(json.dumps, lines)))
    assert main(["replay", str(path)]) == 2
    assert "phantom-envs: line 4: rewards.player_0 is 5.0 in the record, 0.0 in the engine" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["describe", "chess"], "no game 'chess'; there are phantom_trick_v0"),
        (["describe", "phantom_trick_v0", "--players", "9"], "Phantom Trick is played by 3, 4, 5"),
        (["arena", *TRICK, "--agents", "nobody"], "no agent 'nobody'"),
        (["arena", *TRICK, "--agents"], "no agents given"),
        (["arena", *TRICK, "--agents", "random", "--deals", "0"], "deals=0"),
        (["arena", *TRICK, "--agents", "random", "--workers", "0"], "workers=0"),
        (["arena", *TRICK, "--agents", "random", "--seed", "-1"], "--seed -1: a seed must not be negative"),
        (["arena", *TRICK, "--agents", "random", "--options", "{reward}"], "--options {reward}: no JSON"),
        (["arena", *TRICK, "--agents", "random", "--options", "[1]"], "--options [1]: give a JSON object"),
        (["arena", *TRICK, "--agents", "random", "--options", '{"fame": 1}'], "has no option 'fame'"),
        (["arena", *TRICK, "--agents", "random", "--out", "table.txt"], "name a .json or a .csv file"),
        (["record", *TRICK, "--out", "/nowhere/at/all.jsonl"], "No such file or directory"),
        (["replay", "/nowhere/at/all.jsonl"], "No such file or directory"),
    ],
)
def test_what_goes_wrong_is_one_line(args: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(args) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.err.startswith("phantom-envs: ")
    assert shown.err.count("\n") == 1


def test_interrupting_is_quiet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(name: str) -> Game:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "get_game", interrupted)
    assert main(["games"]) == 130
    assert capsys.readouterr().err == ""


def test_usage_errors_leave_with_status_2() -> None:
    with pytest.raises(SystemExit) as error:
        main(["arena", "--nonsense"])
    assert error.value.code == 2


def test_specs_may_name_classes_of_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here_bots.py").write_text(
        "class Bot:\n    def act(self, decisions):\n        return decisions.mask.argmax(axis=1)\n"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["arena", *TRICK, "--agents", "here_bots:Bot", "--deals", "2", "--workers", "2"]) == 0


def test_it_starts_light() -> None:
    asked = """
import sys
from phantom_envs.cli import main
main(["games"])
print({"torch", "pettingzoo", "agents", "concurrent.futures.process"} & sys.modules.keys())
"""
    command = [sys.executable, "-W", "error", "-c", asked]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "phantom_trick_v0" in shown.stdout
    assert shown.stdout.endswith("\nset()\n")


def test_output_that_nobody_reads_to_its_end_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    assert main(["record", *TRICK, "--out", str(path)]) == 0
    command = f"{sys.executable} -W error -m phantom_envs.cli replay --show {path} | head -n 1"
    shown = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)  # noqa: S602  # a pipe
    assert shown.stdout.startswith("line 1: ")
    assert shown.stderr == ""
