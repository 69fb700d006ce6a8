"""Whole files, or none."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from phantom_envs.core.files import whole_file, write_whole


def write(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text)


def test_it_takes_the_place_of_an_older_file(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    path.write_text("old")
    with whole_file(path) as file:
        file.write("né\n")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_bytes() == "né\n".encode()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("before", ["old", None])
def test_a_failure_leaves_things_as_they_were(before: str | None, tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    if before is not None:
        path.write_text(before)

    def fail() -> None:
        with whole_file(path) as file:
            file.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [each.read_text() for each in tmp_path.iterdir()] == ([] if before is None else [before])


@pytest.mark.skipif(os.name == "nt", reason="modes and links are of POSIX")
def test_modes_and_links_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")
def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write(tmp_path / "ours", "new")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of POSIX")
def test_a_pipe_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write(path, "through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert path.is_fifo()


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "nowhere" / "figures.json", "new")


def test_bytes_are_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "weights"
    write_whole(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="weights") as raised:
        write_whole(path, b"new")
    assert raised.value.errno == errno.ENOSPC
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"old"]
    monkeypatch.undo()
    write_whole(path, b"new")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"new"]


@pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_bytes_get_the_mode_that_the_umask_gives(umask: int, mode: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        write_whole(tmp_path / "weights", b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "weights").stat().st_mode & 0o777 == mode


@pytest.mark.skipif(os.name != "posix", reason="elsewhere it cannot be told")
def test_what_a_killed_process_left_goes_and_what_others_write_stays(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for name in (f"f.{ended.pid}.partial", f"f.{os.getppid()}.partial", "f.x.partial", f"g.{ended.pid}.partial"):
        (tmp_path / name).touch()
    write(tmp_path / "f", "new")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"f", f"f.{os.getppid()}.partial", "f.x.partial", f"g.{ended.pid}.partial"}


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere/f'"):
        write(tmp_path / "nowhere" / "f", "")


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="the system has no /dev/stdout")
@pytest.mark.parametrize("shell", ["{write} | cat", "{write} > log; cat log", "{write} >> log; cat log"])
def test_standard_output_by_name(tmp_path: Path, shell: str) -> None:
    """Nothing takes its place, whether it is a pipe or a file, and what is before it stays."""
    code = "from phantom_envs.core.files import whole_file as w; from pathlib import Path as P\n"
    code += "with w(P('/dev/stdout')) as file: file.write('new')"
    (tmp_path / "log").write_text("old ")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
    command = shell.format(write=f'"{sys.executable}" -c "{code}"')
    done = subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == ("old new" if ">>" in shell else "new")
    assert [path.name for path in tmp_path.iterdir()] == ["log"]
