"""The scripts from the command line: exit statuses, and lines instead of tracebacks."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from sb3_contrib import MaskablePPO

from agents.network import load_network
from tests.training.runs import small
from training import ppo, sb3_maskable_ppo
from training.checkpoints import checkpoint_notes, read_checkpoint
from training.interrupts import Interrupts

ROOT = Path(__file__).parents[2]
SMALL = (
    "--num-envs",
    "32",
    "--rollout",
    "16",
    "--minibatch",
    "64",
    "--width",
    "16",
    "--threads",
    "1",
    "--final-deals",
    "0",
)
ENDLESS = ("--total-steps", "1000000000")
posix = pytest.mark.skipif(os.name == "nt", reason="signals and limits are of POSIX")


@pytest.fixture(scope="module", autouse=True)
def compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The games are in the compile cache, so that the scripts have nothing to say about that."""
    folder = tmp_path_factory.mktemp("compiled")
    ppo.train(small(folder / "ppo", total_steps=1024))
    sb3_maskable_ppo.train(tiny(folder / "sb3"))


def tiny(run: Path) -> sb3_maskable_ppo.Config:
    """A run of a second with MaskablePPO."""
    config = sb3_maskable_ppo.Config(run=run, threads=1, total_steps=64, num_envs=4, rollout=16)
    config.width, config.evaluate_every, config.final_deals = 8, 0, 0
    return config


def start(script: str, *arguments: str, before: str = "") -> subprocess.Popen[str]:
    """A script at work, with some Python that runs before it."""
    code = f"import runpy, sys; {before}\nrunpy.run_module({script!r}, run_name='__main__', alter_sys=True)"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def run(script: str, *arguments: str, before: str = "") -> tuple[int, str, str]:
    with start(script, *arguments, before=before) as process:
        try:
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    return process.returncode, out, err


def stopped(script: str, number: signal.Signals, *arguments: str) -> tuple[int, str, str]:
    """Status and output of a script that gets a signal after its first line of progress."""
    with start(script, *SMALL, *ENDLESS, *arguments) as process:
        try:
            assert process.stdout is not None
            began = ""
            while " steps (" not in began:
                line = process.stdout.readline()
                assert line, process.communicate()
                began += line
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, began + out, err


@pytest.mark.parametrize("script", ["training.ppo", "training.sb3_maskable_ppo", "training.seeds"])
def test_a_wrong_setting_is_a_line_and_a_status(script: str, tmp_path: Path) -> None:
    prefix = "--ppo." if script == "training.seeds" else "--"
    status, out, err = run(script, f"{prefix}rollout", "0", f"{prefix}run", str(tmp_path / "run"))
    assert (status, out) == (2, "")
    assert err == f"{script}: rollout=0: give a whole number of at least 1 and at most 16,777,216\n"
    assert not list(tmp_path.iterdir())


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_ppo_with_a_checkpoint(number: signal.Signals, tmp_path: Path) -> None:
    folder = tmp_path / "my run"
    status, out, err = stopped("training.ppo", number, "--run", str(folder), "--checkpoint-every", "1000")
    assert status == 128 + number
    assert err == ""
    last = out.splitlines()[-1]
    assert last.endswith(f"; to go on: python -m training.ppo --run '{folder}' --resume")
    (note,) = checkpoint_notes(folder)
    step = read_checkpoint(note).step
    assert step > 0
    assert f"stopped at {step:,} of 1,000,000,000 steps" in last
    assert ppo.resumed(ppo.Config(run=folder, resume=True), folder).steps == step


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_sb3_with_the_model_so_far(number: signal.Signals, tmp_path: Path) -> None:
    status, out, err = stopped("training.sb3_maskable_ppo", number, "--run", str(tmp_path))
    assert status == 128 + number
    assert err == ""
    assert f"the model so far is in {tmp_path / 'model.zip'}" in out.splitlines()[-1]
    assert MaskablePPO.load(tmp_path / "model.zip").policy is not None


@posix
def test_a_full_disk_is_lines_and_no_traceback(tmp_path: Path) -> None:
    """Files of 20,000 bytes at most: room for the settings, not for weights."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))"
    arguments = ("--run", str(tmp_path), "--total-steps", "2048", "--checkpoint-every", "0", "--evaluate-every", "0")
    status, out, err = run("training.ppo", *SMALL, *arguments, before=limit)
    assert status == 2
    for step in ("512", "1,024", "1,536", "2,048"):
        assert f"no checkpoint at {step} steps (File too large); earlier ones stay, training goes on\n" in out
    assert err == f"training.ppo: {tmp_path / 'agent.safetensors'}: File too large\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.json", "tensorboard"]


@posix
def test_files_get_the_mode_that_the_umask_gives(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        ppo.train(small(tmp_path / "ppo", total_steps=1024))
        sb3_maskable_ppo.train(tiny(tmp_path / "sb3"))
    finally:
        os.umask(before)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"agent.safetensors", "model.zip", "run.json"}
    assert {oct(stat.S_IMODE(path.stat().st_mode)) for path in files} == {"0o644"}
    assert load_network(tmp_path / "ppo" / "agent.safetensors")[1]["steps"] == 1024


def test_whoever_read_has_left(tmp_path: Path) -> None:
    """As in `… | head -1`: the training is finished all the same."""
    with start("training.ppo", *SMALL, "--run", str(tmp_path), "--total-steps", "2048") as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert process.wait(timeout=120) == 0
            assert process.stderr.read() == ""
        finally:
            process.kill()
    assert (tmp_path / "agent.safetensors").is_file()


@posix
def test_signals_wait_for_the_end_of_a_block() -> None:
    done: list[bool] = []

    def work() -> None:
        with interrupts.deferred():
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGTERM)  # some programs pass it on twice
            done.append(interrupts.asked)

    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt):
            work()
        assert (done, interrupts.number, interrupts.hasty) == ([True], signal.SIGTERM, False)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@posix
def test_elsewhere_they_come_at_once_and_later_ones_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)

    def work() -> None:
        nonlocal now
        with interrupts.deferred():
            signal.raise_signal(signal.SIGINT)
            now = 30.0
            signal.raise_signal(signal.SIGINT)

    with Interrupts() as interrupts:
        now = 10.0
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert not interrupts.hasty
        now = 20.0
        with pytest.raises(KeyboardInterrupt):
            work()
        assert interrupts.hasty


@posix
def test_ignored_signals_stay_ignored() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with Interrupts():
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
