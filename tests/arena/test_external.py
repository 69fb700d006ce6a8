"""Programs as agents."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from phantom_envs.arena.agent import AgentError
from phantom_envs.arena.external import CommandAgent, split_command
from phantom_envs.arena.match import play_match
from phantom_envs.arena.specs import InvalidSpec
from tests.arena.bots import First
from tests.arena.test_agent import decisions_of, tables

FIRST_LEGAL = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if log:
        print(line, file=open(log, "a"), end="")
    print(json.dumps({"action": asked["legal"][0]}), flush=True)
"""


def program(folder: Path, text: str, log: Path | None = None) -> str:
    """The command that runs a Python text."""
    path = folder / "my bot.py"
    path.write_text(f"log = {str(log) if log else None!r}\n{text}")
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


@pytest.mark.parametrize(
    ("line", "posix", "windows"),
    [
        ("./my_bot --level 3", ["./my_bot", "--level", "3"], ["./my_bot", "--level", "3"]),
        (r"C:\bots\my_bot.exe", ["C:botsmy_bot.exe"], [r"C:\bots\my_bot.exe"]),
        (r'"C:\my bots\bot.exe" -x', [r"C:\my bots\bot.exe", "-x"], [r"C:\my bots\bot.exe", "-x"]),
        (r"./my\ bot 'a b'", ["./my bot", "a b"], ["./my\\", "bot", "a b"]),
    ],
)
def test_a_line_is_split_as_the_system_does(line: str, posix: list[str], windows: list[str]) -> None:
    assert split_command(line, False) == posix
    assert split_command(line, True) == windows


def test_program_and_arguments_may_be_given_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "my bot.py"
    path.write_text(f"log = None\n{FIRST_LEGAL}")
    decisions = decisions_of(tables(1))
    for command in ([sys.executable, str(path), "--x"], (sys.executable, str(path))):
        agent = CommandAgent(command)
        assert (agent.act(decisions) == First().act(decisions)).all()
        agent.close()
    with pytest.raises(InvalidSpec, match="names no program"):
        CommandAgent([])


def test_a_program_is_shown_the_decision_and_plays(tmp_path: Path) -> None:
    log = tmp_path / "log"
    agent = CommandAgent(program(tmp_path, FIRST_LEGAL, log))
    decisions = decisions_of(tables(3), keys=[2**64 - 1, 1, 2**11])
    assert (agent.act(decisions) == First().act(decisions)).all()
    agent.close()
    asked = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["key"] for line in asked] == [2**53 - 1, 0, 1]
    for row, line in enumerate(asked):
        assert list(line) == [
            *("game", "num_players", "options", "table", "seat", "observation", "mask", "legal", "key")
        ]
        assert (line["game"], line["num_players"], line["options"]) == ("phantom_trick_v0", 4, {"reward": "win"})
        assert (line["table"], line["seat"]) == (row, decisions.seat[row])
        assert line["observation"] == decisions.observation[row].tolist()
        assert line["mask"] == decisions.mask[row].tolist()
        assert line["legal"] == decisions.names(row)


def test_a_match_with_a_program_is_that_of_its_twin(tmp_path: Path) -> None:
    spec = f"cmd:{program(tmp_path, FIRST_LEGAL)}"
    _, theirs = play_match("phantom_trick_v0", [spec, "random"], deals=2, num_players=3)
    _, ours = play_match("phantom_trick_v0", ["tests.arena.bots:First", "random"], deals=2, num_players=3)
    assert (theirs.points == ours.points).all()
    assert (theirs.share == ours.share).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("input(); print('hello', flush=True); input()", r"answered 'hello'; \{\"action\": name\} is wanted"),
        ("input(); print('[1]', flush=True); input()", r"answered '\[1\]'"),
        ("input(); print('{}', flush=True); input()", r"answered '\{\}'"),
        ('input(); print(\'{"action": "fly"}\', flush=True); input()', "chose 'fly'; legal are play "),
        ("input(); print('{\"action\": [3]}', flush=True); input()", r"chose \[3\]; legal are play "),
        ("raise SystemExit(7)", "ended with status 7 before it answered"),
        ("input(); raise SystemExit(0)", "ended with status 0 before it answered"),
        ("input(); input()", "did not answer within 0.5 seconds"),
    ],
)
def test_a_faulty_program_is_an_error_that_says_what(text: str, message: str, tmp_path: Path) -> None:
    timeout = 0.5 if "within" in message else 60.0
    agent = CommandAgent(program(tmp_path, text), timeout)
    with pytest.raises(AgentError, match=message) as error:
        agent.act(decisions_of(tables(1)))
    assert "my bot.py" in str(error.value)
    agent.close()
    agent.close()


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(AgentError, match=r"cmd:\./no_such_bot cannot be started"):
        CommandAgent("./no_such_bot").act(decisions_of(tables(1)))


def test_a_program_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phantom_envs.arena.external.GRACE", 0.1)
    agent = CommandAgent(program(tmp_path, FIRST_LEGAL + "\nimport time\ntime.sleep(600)"))
    assert len(agent.act(decisions_of(tables(1)))) == 1
    running = agent._program
    assert running is not None
    agent.close()
    assert running._process.returncode not in (None, 0)
    assert not running._reader.is_alive()
