"""The command line, as its users meet it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import pytest

from phantom_envs import cli
from phantom_envs.arena import match
from phantom_envs.arena.record import read_lines, replay
from phantom_envs.arena.specs import NAMED
from phantom_envs.cli import main
from phantom_envs.core.game import Game
from phantom_envs.describe import markdown
from phantom_envs.registry import game_ids, get_game
from tests.outputs import Terminal, closed, of_encoding, plain_environment, text_of, unread

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


@pytest.fixture(scope="module")
def game_record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "game.jsonl"
    assert main(["record", *TRICK, "--out", str(path)]) == 0
    return path


def commands(folder: Path, record: Path) -> list[list[str]]:
    """Every command, and what shows most characters."""
    arena = ["arena", *TRICK, "--agents", "rule", "random", "--deals", "2", "--workers", "1"]
    return [
        ["games"],
        ["describe", "fantasmagoria_v0"],
        ["describe", "das_phantom_v0", "--markdown"],
        ["describe", "das_phantom_v0", "--board"],
        [*arena, "--out", str(folder / "results.json")],
        ["record", *TRICK, "--out", str(folder / "games.jsonl")],
        ["replay", str(record), "--show"],
    ]


def check_files(folder: Path) -> None:
    """What `commands` are to write, whatever becomes of the output."""
    assert json.loads((folder / "results.json").read_text())["games"] == 6
    assert len(list(replay(read_lines(folder / "games.jsonl")))) > 100


def test_output_of_few_characters(tmp_path: Path, game_record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in commands(tmp_path, game_record):
        out = of_encoding("ascii")
        monkeypatch.setattr(sys, "stdout", out)
        assert main(command) == 0
        shown = text_of(out)
        assert shown.endswith("\n")
        assert "?" not in shown
    check_files(tmp_path)


@pytest.mark.parametrize("stream", [None, closed()])
def test_output_that_is_closed(
    stream: TextIO | None, tmp_path: Path, game_record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in commands(tmp_path, game_record):
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(command) == 0
    check_files(tmp_path)


def test_output_that_nobody_reads(
    tmp_path: Path, game_record: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in commands(tmp_path, game_record):
        pipe = unread()
        monkeypatch.setattr(sys, "stdout", pipe)
        assert main(command) == 141
        pipe.close()  # has nothing left to complain of
    assert "Errno" not in capsys.readouterr().err
    check_files(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_onto_a_full_disk(tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    arena = ["arena", *TRICK, "--agents", "random", "--deals", "2", "--workers", "1", "--out", str(out)]
    command = [sys.executable, "-W", "error", "-m", "phantom_envs.cli", *arena]
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == 2
    assert "No space left on device" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert json.loads(out.read_text())["games"] == 6


@pytest.mark.parametrize(("redirection", "status"), [(">&-", 0), ("<&- >&- 2>&-", 0), ("| true", 141)])
def test_closed_and_broken_output_of_a_process(redirection: str, status: int, tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    arena = f"arena {' '.join(TRICK)} --agents rule random --deals 2 --workers 1 --out {out}"
    run = f"set -o pipefail; {sys.executable} -W error -m phantom_envs.cli {arena} {redirection}"
    ran = subprocess.run(run, shell=True, executable="/bin/bash", capture_output=True, text=True, check=False)  # noqa: S602  # a pipe
    assert ran.returncode == status
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr
    assert json.loads(out.read_text())["games"] == 6


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_are_left_out_where_they_are_not_wanted(
    variables: dict[str, str], tmp_path: Path, game_record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda: "")
    for colored in (True, False):
        plain_environment(monkeypatch)
        for name, value in ({} if colored else variables).items():
            monkeypatch.setenv(name, value)
        for command in (["games"], ["describe", "phantom_v0"], ["replay", str(game_record), "--show"]):
            out = Terminal()
            monkeypatch.setattr(sys, "stdout", out)
            monkeypatch.setattr(sys, "stdin", Terminal())
            assert main(command) == 0
            assert ("\x1b" in out.getvalue()) is colored


@pytest.mark.parametrize(
    ("answer", "status", "seen"),
    [(["", "q"], 0, 2), ([EOFError], 0, 1), (["", EOFError], 0, 2), ([KeyboardInterrupt], 130, 1)],
)
def test_a_pause_may_end_in_every_way(
    answer: list[Any], status: int, seen: int, game_record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = iter(answer)

    def asked() -> str:
        each = next(given)
        if isinstance(each, str):
            return each
        raise each

    monkeypatch.setattr("builtins.input", asked)
    monkeypatch.setattr(sys, "stdin", Terminal())
    out = Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["replay", str(game_record), "--show"]) == status
    assert out.getvalue().count("line ") == seen


def run_in(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """The command line as it is installed, started in a folder."""
    start = f"import sys; sys.path[:] = {[each or str(Path.cwd()) for each in sys.path]}; "
    start += "from phantom_envs.cli import main; sys.exit(main(sys.argv[1:]))"
    program = [sys.executable, "-P", "-c", start, *command]
    return subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def test_files_of_the_working_directory_take_nobodys_place(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    wrong = "raise RuntimeError('imported from the working directory')\n"
    for name in ("random.py", "agents/__init__.py", "secrets.py"):
        (tmp_path / name).write_text(wrong)
    (tmp_path / "my_bots.py").write_text(
        "class Bot:\n    def act(self, decisions):\n        return decisions.mask.argmax(axis=1)\n"
    )
    agents = ["--agents", "pimc:worlds=1", "my_bots:Bot", "random"]
    ran = run_in(tmp_path, "arena", *TRICK, *agents, "--deals", "2", "--workers", "2")
    assert ran.returncode == 0, ran.stderr
    assert "my_bots:Bot" in ran.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no folder in use")
def test_a_working_directory_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    run = f"import os; os.mkdir({str(gone)!r}); os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); "
    run += "import sys; from phantom_envs.cli import main; sys.exit(main(sys.argv[1:]))"
    for command, status in ((["games"], 0), (["record", *TRICK, "--out", "games.jsonl"], 2)):
        ran = subprocess.run([sys.executable, "-c", run, *command], capture_output=True, text=True, check=False)
        assert ran.returncode == status
        assert "Traceback" not in ran.stderr
        assert ("the working directory has been deleted" in ran.stderr) is (status == 2)


def test_as_many_workers_as_there_are_processors_for_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    used = []

    def play(*arguments: Any, own_process: bool) -> None:
        used.append(arguments[6])
        assert own_process
        raise KeyboardInterrupt

    monkeypatch.setattr(match, "play_match", play)
    monkeypatch.setattr(cli, "usable_cpus", lambda: 3)
    arena = ["arena", *TRICK, "--agents", "random"]
    assert main(arena) == 130
    assert main([*arena, "--workers", "2"]) == 130
    assert used == [3, 2]


def test_a_record_that_fails_leaves_an_older_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "keep.jsonl"
    record = ["record", *TRICK, "--out", str(path), "--agents"]
    assert main([*record, "random"]) == 0
    before = path.read_bytes()
    met = tmp_path / "met"
    met.mkdir()
    for bot, says in (("Answers('nothing')", "answered"), (f"Twitching('{met}', 1, 'leave')", "called sys.exit")):
        assert main([*record, "random", f"tests.arena.bots:{bot}"]) == 2
        assert says in capsys.readouterr().err
    assert path.read_bytes() == before
    assert {each.name for each in tmp_path.iterdir()} == {"keep.jsonl", "met"}


def test_errors_show_foreign_text_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arena", *TRICK, "--agents", "no\x1b[2Jbody"]) == 2
    assert main(["replay", str(tmp_path / "no\x1b[2Jfile")]) == 2
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize("width", [30, 60, 76, 100])
def test_games_are_named_whole_at_every_width(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["games"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in game_ids())


@pytest.mark.parametrize("width", [40, 60, 80])
def test_pages_are_whole_at_every_width(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for name in game_ids():
        assert main(["describe", name]) == 0
        shown = re.findall(r"\d+", capsys.readouterr().out)
        assert set(re.findall(r"\d+", re.sub(r"[-`|]|_v\d", " ", markdown(get_game(name))))) <= set(shown)


def test_output_that_nobody_reads_to_its_end_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    assert main(["record", *TRICK, "--out", str(path)]) == 0
    command = f"{sys.executable} -W error -m phantom_envs.cli replay --show {path} | head -n 1"
    shown = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)  # noqa: S602  # a pipe
    assert shown.stdout.startswith("line 1: ")
    assert shown.stderr == ""


def test_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PHANTOM_ENVS_CACHE_DIR", str(tmp_path / "none yet"))
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == f"0 files, 0.0 MB, in {tmp_path / 'none yet'}\n"
    monkeypatch.setenv("PHANTOM_ENVS_CACHE_DIR", str(tmp_path))
    for name in ("one.nbc", "two.nbc", "foreign.txt"):
        (tmp_path / name).write_bytes(bytes(600_000))
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == f"2 files, 1.2 MB, in {tmp_path}\n"
    assert main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out == f"2 files removed from {tmp_path}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["foreign.txt"]


@pytest.mark.parametrize(("variables", "painted"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_help_and_errors_of_usage_are_painted_as_all_else(
    variables: dict[str, str], painted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for arguments in (["arena", "--help"], ["arena", "--bogus"]):
        out = Terminal()
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", out)
        with pytest.raises(SystemExit):
            main(arguments)
        assert "arena" in out.getvalue()
        assert ("\x1b[" in out.getvalue()) == painted
