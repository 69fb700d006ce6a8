"""What training shows: a bar in a terminal, whole plain lines everywhere else."""

from __future__ import annotations

import errno
import io
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rich.table import Table
from torch.utils.tensorboard import SummaryWriter

from phantom_envs.arena.summary import AgentSummary, Estimate
from tests.outputs import Terminal, closed, plain_environment, unread
from training.evaluate import Evaluation
from training.monitor import EVERY, Display, Monitor, print_table

SUMMARY = AgentSummary("net", Estimate(0.5123, 0.4987, 0.5256), Estimate(1.25, -0.75, 3.5), 0.1, 400, 9000)


class Clock:
    """Stands in for `time.monotonic`."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


def output(monkeypatch: pytest.MonkeyPatch, stream: Any) -> Any:
    monkeypatch.setattr(sys, "stdout", stream)
    return stream


def test_plain_lines_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    plain_environment(monkeypatch)
    monkeypatch.setenv("COLUMNS", "40")
    out = output(monkeypatch, io.StringIO())
    with Monitor(tmp_path, 8000) as monitor:
        for second in range(1, 26):
            clock.now += 1
            monitor.update(100 * second, {"policy": 0.5})
        monitor.report(2500, [Evaluation("random", 1000, 4, SUMMARY)])
    lines = out.getvalue().splitlines()
    assert len(lines) == 1 + 2 + 1  # the first update, one each ten seconds, the evaluation
    assert [line.split(" of ")[0].strip() for line in lines[:3]] == ["100", "1,100", "2,100"]
    assert "2,100 of 8,000 steps (26.2%) after 0:00:21: 100 steps/s" in lines[2]
    assert lines[3] == "       2,500 steps: against random: wins 51.2% (49.9% … 52.6%), margin +1.25 (-0.75 … +3.50)"
    assert all(line.isprintable() for line in lines)


def test_the_time_between_lines(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    out = output(monkeypatch, io.StringIO())
    with Display(100) as display:
        display.update(1)
        clock.now += EVERY - 0.1
        display.update(2)
        assert len(out.getvalue().splitlines()) == 1
        clock.now += 0.2
        display.update(3)
        assert len(out.getvalue().splitlines()) == 2


def test_a_bar_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    plain_environment(monkeypatch)
    out = output(monkeypatch, Terminal())
    with Display(8000) as display:
        display.update(4000, "env 1%")
        display.say("a line [bold] as it is")
    shown = out.getvalue()
    assert "\r" in shown
    assert "4000/8000" in shown
    assert "a line [bold] as it is" in shown


def test_a_dumb_terminal_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    plain_environment(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    out = output(monkeypatch, Terminal())
    with Display(8000) as display:
        display.update(4000)
    assert out.getvalue().startswith("       4,000 of 8,000 steps (50.0%)")
    assert all(line.isprintable() for line in out.getvalue().splitlines())


def test_no_colour_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    plain_environment(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    out = output(monkeypatch, Terminal())
    with Display(8000) as display:
        display.update(4000, "env 1%")
    shown = out.getvalue()
    assert "4000/8000" in shown
    assert not any(f"\x1b[{code}" in shown for code in ("1;", "3", "38", "9"))


@pytest.mark.parametrize("make", [closed, unread, lambda: None])
def test_whoever_read_has_left(make: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    out = output(monkeypatch, make())
    with Monitor(tmp_path, 100) as monitor:
        monitor.update(1, {})
        monitor.report(1, [Evaluation("random", 1000, 4, SUMMARY)])
    print_table(Table(title="nobody"))
    if out is not None and not out.closed:
        out.close()


def test_tables_are_not_cut_at_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    plain_environment(monkeypatch)
    monkeypatch.delenv("COLUMNS", raising=False)
    out = output(monkeypatch, io.StringIO())
    wide = Table()
    wide.add_column("x" * 100)
    print_table(wide)
    assert "x" * 100 in out.getvalue()


def test_curves_that_cannot_be_written_end_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Monitor(tmp_path, 100) as monitor:
        with monkeypatch.context() as patched:
            patched.setattr(SummaryWriter, "add_scalar", full)
            monitor.update(1, {"policy": 0.5})
        monitor.update(2, {"policy": 0.5})
    assert capsys.readouterr().out.count("tensorboard files are no longer written (No space left on device)") == 1
