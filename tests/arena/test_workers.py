"""Processes that end when they are told to, or when whoever started them ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from phantom_envs.arena.agent import AgentError
from phantom_envs.arena.match import MatchBroken, MatchInterrupted, play_match
from phantom_envs.arena.workers import NotSendable, WorkerDied, one_interrupt
from tests.arena.bots import Answers, Clinging, First, Twitching
from tests.processes import BEGIN, END, ROOT, alive, all_end, needs_proc, running, stuck, within

TRICK = "phantom_trick_v0"
DEALS = 16
"""As many as there are chunks."""

pytestmark = needs_proc


@pytest.fixture(scope="module")
def half() -> int:
    """Half of the decisions of a match; playing it compiles the game before anything is timed."""
    _, results = play_match(TRICK, ["tests.arena.bots:First"], 3, deals=DEALS)
    return int(results.decisions[0]) // 2


def arena(agent: str, workers: int, *more: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """The command at work."""
    args = ["--game", TRICK, "--players", "3", "--deals", str(DEALS), "--workers", str(workers), "--agents", agent]
    return running("-m", "phantom_envs.cli", "arena", *args, *more)


@pytest.mark.parametrize(("workers", "deed"), [(1, "spin with the GIL"), (2, "spin")])
@pytest.mark.parametrize(
    "numbers",
    [[signal.SIGINT], [signal.SIGINT, signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP], [signal.SIGKILL]],
    ids=lambda numbers: "+".join(each.name for each in numbers),
)
def test_a_signal_ends_everything_and_what_was_played_is_shown(
    deed: str,
    workers: int,
    numbers: list[signal.Signals],
    half: int,
    tmp_path: Path,
) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    out = tmp_path / "out.json"
    spec = f"tests.arena.bots:Twitching({str(marks)!r}, {half // workers}, {deed!r})"
    with arena(spec, workers, "--out", str(out)) as program:
        pids = stuck(marks, program, workers)
        assert len(pids) >= workers
        assert all_end(program, pids, numbers)
        shown, said = program.communicate()
    if numbers == [signal.SIGKILL]:
        assert program.returncode == -signal.SIGKILL
        return
    assert program.returncode == 128 + numbers[0]
    assert "Traceback" not in said
    data = json.loads(out.read_text())
    assert data["partial"] is True
    assert data["deals_asked"] == DEALS
    assert 0 < data["deals"] < DEALS
    assert data["games"] == data["agents"][0]["games"] == 3 * data["deals"]
    assert f"broken off, {data['deals']} of {DEALS} deals finished" in " ".join(shown.split())
    if workers == 1:  # those are the first ones
        _, same = play_match(TRICK, ["tests.arena.bots:First"], 3, deals=data["deals"])
        assert data["agents"][0]["decisions"] == same.decisions[0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_programs_end_with_those_who_started_them(number: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "bot.py"
    marks = tmp_path / "marks"
    marks.mkdir()
    script.write_text(
        "import os, signal, time\n"
        "for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):\n"
        "    signal.signal(number, signal.SIG_IGN)\n"
        f"open(os.path.join({str(marks)!r}, str(os.getpid())), 'w').close()\n"
        "time.sleep(600)\n"
    )
    with arena(f"cmd:{sys.executable} {script}", 2) as program:
        pids = stuck(marks, program, 2)
        assert {int(path.name) for path in marks.iterdir()} <= set(pids)
        assert all_end(program, pids, [number])
        _, said = program.communicate()
    if number != signal.SIGKILL:
        assert said == "phantom-envs: broken off before any deal was finished\n"


def test_programs_that_outlive_their_agent_end_with_the_match(tmp_path: Path) -> None:
    play_match(TRICK, [Twitching(str(tmp_path), 1, "start"), "random"], 3, deals=2, workers=2)
    pids = [int(path.name) for path in tmp_path.iterdir()]
    assert len(pids) in (2, 4)  # one process or two, and what each has started
    assert within(END, lambda: not any(map(alive, pids)))


@pytest.mark.parametrize(
    ("deed", "message"),
    [
        ("vanish", r"ended with status 0 at deals \d+ to \d+ of phantom_trick_v0 between Twitching; .*os\._exit"),
        ("crash", r"was killed by SIGSEGV at deals \d+ to \d+ of .*; look at the agents' compiled code"),
        ("starve", r"was killed by SIGKILL at deals \d+ to \d+ of .*; .* memory .* fewer workers need less"),
    ],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_process_that_dies_leaves_the_results_so_far(
    deed: str, message: str, workers: int, half: int, tmp_path: Path
) -> None:
    agent = Twitching(str(tmp_path), half // workers, deed)
    with pytest.raises(MatchBroken, match=message) as broken:
        play_match(TRICK, [agent], 3, deals=DEALS, workers=workers, own_process=True)
    assert broken.value.setting.deals == DEALS
    results = broken.value.results
    assert results is not None
    assert 0 < results.deals < DEALS
    assert results.share.shape == results.points.shape == (results.deals, 3, 3)
    assert not any(alive(int(path.name)) for path in tmp_path.iterdir())


def test_a_process_that_dies_is_one_line_and_a_table(half: int, tmp_path: Path) -> None:
    spec = f"tests.arena.bots:Twitching({str(tmp_path)!r}, {half}, 'vanish')"
    with arena(spec, 1) as program:
        shown, said = program.communicate(timeout=BEGIN)
    assert program.returncode == 2
    assert said.startswith("phantom-envs: a worker process ended with status 0 at deals ")
    assert said.count("\n") == 1
    assert f"of {DEALS} deals finished" in " ".join(shown.split())


@pytest.mark.parametrize("own_process", [False, True])
def test_an_agent_that_leaves_is_at_fault(own_process: bool, tmp_path: Path) -> None:
    agent = Twitching(str(tmp_path), 1, "leave")
    with pytest.raises(AgentError, match=r"agent 'Twitching' called sys.exit\(0\); raise an error instead"):
        play_match(TRICK, [agent], 3, deals=1, own_process=own_process)


def test_an_error_that_does_not_pickle_is_told_all_the_same(tmp_path: Path) -> None:
    with pytest.raises(WorkerDied, match="Sealed: 1 and 2") as error:
        play_match(TRICK, [Twitching(str(tmp_path), 1, "raise")], 3, deals=1, own_process=True)
    cause: BaseException | None = error.value
    notes: list[str] = []
    while cause is not None:
        notes += getattr(cause, "__notes__", [])
        cause = cause.__cause__
    assert any("raise Sealed(1, 2)" in note for note in notes)


def test_an_agents_error_has_its_traceback() -> None:
    with pytest.raises(AgentError, match="'Answers' answered int64") as error:
        play_match(TRICK, [Answers([0] * 9)], 3, deals=1, own_process=True)
    assert any("in play_deals" in note for note in error.value.__notes__)


def test_an_agent_that_cannot_be_sent() -> None:
    class Local(First):
        pass

    with pytest.raises(NotSendable, match="must pickle, or be given as specs, or play with workers=1"):
        play_match(TRICK, [Local()], 3, deals=2, workers=2)


def test_an_interrupt_in_this_process_leaves_the_results_so_far() -> None:
    def progress(over: int, games: int) -> None:
        if over >= 18:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as interrupted:
        play_match(TRICK, ["random", "rule"], 3, deals=DEALS, progress=progress)
    assert isinstance(interrupted.value, MatchInterrupted)
    results = interrupted.value.results
    assert results is not None
    assert results.deals == 5  # the sixth is over, but not handed in
    _, five = play_match(TRICK, ["random", "rule"], 3, deals=5)
    assert (results.points == five.points).all()


def test_nothing_is_finished_before_the_first_deal_is() -> None:
    def progress(over: int, games: int) -> None:
        raise KeyboardInterrupt

    for own_process in (False, True):
        with pytest.raises(MatchInterrupted) as interrupted:
            play_match(TRICK, ["random"], 3, deals=1, progress=progress, own_process=own_process)
        assert interrupted.value.results is None


def script(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """A user's script, run in its folder, where the package and the tests can be imported."""
    path = folder / "script" / "play.py"
    path.parent.mkdir()
    path.write_text("from phantom_envs.arena.match import play_match\nfrom tests.arena.bots import First\n" + text)
    return subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=BEGIN,
        check=False,
    )


def test_a_script_that_does_not_look_whether_it_is_the_main_one(half: int, tmp_path: Path) -> None:
    assert half
    done = script(tmp_path, f"play_match({TRICK!r}, ['random'], deals=4, workers=2)\n")
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 2  # ours, and that it came from
    assert 'put what it does under `if __name__ == "__main__":`, or play with workers=1' in done.stderr


def test_a_script_that_cannot_be_imported_again(half: int, tmp_path: Path) -> None:
    assert half
    done = script(
        tmp_path,
        "from pathlib import Path\n"
        "if __name__ == '__main__':\n"
        "    Path(__file__).unlink()\n"
        f"    play_match({TRICK!r}, ['random'], deals=4, workers=2)\n",
    )
    assert "MatchBroken: a worker process ended with status 1 before its first task; it imports the main" in done.stderr


def test_agents_of_the_main_script_and_a_module_in_the_way(half: int, tmp_path: Path) -> None:
    assert half
    (tmp_path / "random.py").write_text("raise ImportError('not this one')\n")
    done = script(
        tmp_path,
        "import os\n"
        "class Own(First):\n"
        "    def act(self, decisions):\n"
        "        assert 'PYTHONSAFEPATH' not in os.environ\n"
        "        return super().act(decisions)\n"
        "if __name__ == '__main__':\n"
        f"    _, results = play_match({TRICK!r}, [Own(), First()], 3, deals=2, workers=2)\n"
        "    assert 'PYTHONSAFEPATH' not in os.environ\n"
        "    print(results.deals)\n",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


def test_signals_at_once_are_one_interrupt() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    finished: list[bool] = []

    def twice() -> None:
        with one_interrupt():
            try:
                signal.raise_signal(signal.SIGTERM)
            finally:
                signal.raise_signal(signal.SIGINT)
                finished.append(True)

    try:
        with pytest.raises(SystemExit) as left:
            twice()
        signal.raise_signal(signal.SIGHUP)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert finished == [True]
    assert left.value.code == 143


def test_signals_are_given_back_where_none_came() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    ignored = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with one_interrupt():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) != before[1]
    finally:
        signal.signal(signal.SIGHUP, ignored)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


@pytest.mark.parametrize("own_process", [False, True])
def test_an_agent_that_cannot_be_closed_leaves_the_results(
    own_process: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    match = "agent 'Clinging' failed to close: OSError.'it clings'"
    if own_process:
        _, results = play_match(TRICK, [Clinging()], 3, deals=2, own_process=True)
        assert re.search(match, capfd.readouterr().err)
    else:
        with pytest.warns(RuntimeWarning, match=match):
            _, results = play_match(TRICK, [Clinging()], 3, deals=2)
    assert results.deals == 2
