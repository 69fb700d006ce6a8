"""Every run has a folder of its own."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.training.runs import small
from training import ppo, seeds
from training.checkpoints import read_note
from training.run_folder import RESULTS, RunRefused, begin_run, check_free, in_use, new_folder
from training.settings import InvalidSetting

ROOT = Path(__file__).parents[2]
TOGETHER = """
import sys
from pathlib import Path
from training.run_folder import RunRefused, begin_run
print("ready", flush=True)
sys.stdin.readline()
try:
    print(begin_run(Path(sys.argv[1]) if len(sys.argv) > 1 else None, "game", {"a": 1}))
except RunRefused as error:
    print("refused:", error)
"""


def at_once(folder: Path, *arguments: str, count: int = 4) -> list[str]:
    """What several processes say that ask for a folder at the same moment."""
    command = [sys.executable, "-c", TOGETHER, *arguments]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen(command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, text=True) for _ in range(count)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        return [process.communicate("go\n", timeout=60)[0].strip() for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_runs_of_the_same_second_have_different_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(time, "strftime", lambda form: "now")
    folders = [begin_run(None, "game", {"number": number}) for number in range(3)]
    assert folders == [Path("runs/game-now"), Path("runs/game-now-2"), Path("runs/game-now-3")]
    assert [read_note(folder / "run.json")["number"] for folder in folders] == [0, 1, 2]


def test_processes_that_begin_at_the_same_moment(tmp_path: Path) -> None:
    assert len(set(at_once(tmp_path))) == 4
    said = at_once(tmp_path, "mine")
    assert said.count("mine") == 1
    assert sum(line.startswith("refused: mine holds another run") for line in said) == 3


def test_threads_that_begin_at_the_same_moment(tmp_path: Path) -> None:
    barrier, got, refused = threading.Barrier(8), [], []

    def ask() -> None:
        barrier.wait()
        try:
            got.append(begin_run(tmp_path / "run", "game", {}))
        except RunRefused as error:
            refused.append(error)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(got), len(refused)) == (1, 7)


@pytest.mark.parametrize("name", ["run.json", *(pattern.replace("*", "000000000001.json") for pattern in RESULTS)])
def test_another_runs_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(RunRefused, match="another run"):
        begin_run(tmp_path, "game", {})
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_folder_with_other_things_is_taken(tmp_path: Path) -> None:
    (tmp_path / "log.txt").touch()
    assert begin_run(tmp_path, "game", {}) == tmp_path


def test_a_full_disk_leaves_the_folder_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=r"No space left on device: .*run\.json"):
            begin_run(tmp_path, "game", {})
    assert begin_run(tmp_path, "game", {}) == tmp_path


@pytest.mark.parametrize("below", ["", "run", "run/of/mine"])
def test_a_file_is_refused(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunRefused, match="is a file"):
        check_free(tmp_path / "file" / below)


def test_a_folder_is_used_by_one_at_a_time(tmp_path: Path) -> None:
    with in_use(tmp_path), pytest.raises(RunRefused, match="another process"), in_use(tmp_path):
        pass
    with in_use(tmp_path):
        pass


def test_several_seeds_in_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = seeds.Config((1, 2), None, small(None, total_steps=1024, final_deals=2))
    seeds.main(config)
    seeds.main(config)
    assert len(list(tmp_path.glob("runs/phantom_trick_v0-seeds-*/[12]/agent.safetensors"))) == 4


def test_seeds_whose_folders_are_taken_are_refused_before_the_first(tmp_path: Path) -> None:
    begin_run(tmp_path / "2", "game", {})
    with pytest.raises(RunRefused, match="2 holds another run"):
        seeds.main(seeds.Config((1, 2), None, small(tmp_path)))
    assert [path.name for path in tmp_path.iterdir()] == ["2"]


def test_seeds_go_on_with_those_that_were_begun(tmp_path: Path) -> None:
    ppo.train(small(tmp_path / "1", seed=1, total_steps=1024, width=16, final_deals=2))
    config = seeds.Config((1, 2), None, small(tmp_path, resume=True, more_steps=1024, total_steps=2048, final_deals=2))
    rows = seeds.main(config)
    assert [(row["seed"], row["steps"]) for row in rows] == [(1, 2048), (1, 2048), (2, 2048), (2, 2048)]
    with pytest.raises(RunRefused, match="no folder"):
        seeds.main(seeds.Config((1,), None, small(tmp_path / "mistyped", resume=True)))


@pytest.mark.parametrize("given", [(), (1, 1), (1, -1)])
def test_seeds_that_cannot_be(tmp_path: Path, given: tuple[int, ...]) -> None:
    with pytest.raises(InvalidSetting, match="seed"):
        seeds.main(seeds.Config(given, None, small(tmp_path / "runs")))
    assert not list(tmp_path.iterdir())


def test_seeds_whose_figures_cannot_be_written_are_refused_at_once(tmp_path: Path) -> None:
    for target in (tmp_path, tmp_path / "none" / "seeds.json"):
        with pytest.raises(InvalidSetting, match="json"):
            seeds.main(seeds.Config((1,), target, small(tmp_path / "runs")))
    assert not list(tmp_path.iterdir())


def test_new_folders_are_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert len({new_folder("a") for _ in range(5)}) == 5
