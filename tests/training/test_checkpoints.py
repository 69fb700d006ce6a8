"""A checkpoint is whole or it does not count, and only what this code wrote is ever removed."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import safetensors.torch
import torch

from training.checkpoints import KEPT, Checkpoint, Unusable, checkpoint_notes, read_checkpoint, save_checkpoint


def newest(folder: Path) -> Checkpoint:
    return read_checkpoint(checkpoint_notes(folder)[0])


def save(folder: Path, *steps: int, config: str = "ours") -> None:
    for step in steps:
        save_checkpoint(folder, step, {"a": torch.full((100,), float(step))}, {"config": config})


def steps(folder: Path) -> list[int]:
    """Of the whole checkpoints, newest first."""
    found = []
    for path in checkpoint_notes(folder):
        try:
            found.append(read_checkpoint(path).step)
        except Unusable:
            continue
    return found


def test_comes_back_as_it_was(tmp_path: Path) -> None:
    tensors = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor([1, 2], dtype=torch.uint8)}
    save_checkpoint(tmp_path / "new", 7, tensors, {"note": [1, "x", 0.1], "large": 2**128})
    found = newest(tmp_path / "new")
    assert all(torch.equal(found.tensors[name], tensor) for name, tensor in tensors.items())
    assert (found.step, found.about["note"], found.about["large"]) == (7, [1, "x", 0.1], 2**128)


def test_no_folder_no_checkpoint(tmp_path: Path) -> None:
    assert checkpoint_notes(tmp_path / "none") == []


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def without(path: Path, key: str) -> None:
    note = json.loads(path.read_text())
    del note[key]
    path.write_text(json.dumps(note))


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def of_first_format(path: Path) -> None:
    """As it was written before notes vouched for themselves."""
    path.write_text(json.dumps({"step": 2, "sha256": "0" * 64}))


HARM: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "cut tensors": ("safetensors", lambda path: path.write_bytes(path.read_bytes()[:50]), "bytes beside it"),
    "changed tensors": ("safetensors", flip, "checksum"),
    "no tensors": ("safetensors", Path.unlink, "bytes beside it"),
    "tensors are a folder": ("safetensors", as_folder, "bytes beside it"),
    "cut note": ("json", lambda path: path.write_text(path.read_text()[:20]), "not JSON"),
    "empty note": ("json", lambda path: path.write_bytes(b""), "not JSON"),
    "note is a folder": ("json", as_folder, "no JSON object"),
    "garbage": ("json", lambda path: path.write_text("garbage"), "not JSON"),
    "no UTF-8": ("json", lambda path: path.write_bytes(b"\xff" + path.read_bytes()), "not UTF-8"),
    "deep": ("json", lambda path: path.write_text("[" * 500_000), "nested"),
    "deep, and closed": ("json", lambda path: path.write_text("[" * 900 + "]" * 900), "no JSON object"),
    "long": ("json", lambda path: path.write_bytes(b" " * 2_000_000 + path.read_bytes()), "at most"),
    "digits": ("json", lambda path: path.write_text('{"step": ' + "9" * 5000 + "}"), "thousands of digits"),
    "another checksum": ("json", lambda path: edit(path, sha256="0" * 64), "checksum"),
    "a checksum that is none": ("json", lambda path: edit(path, sha256=[1]), "checksum"),
    "another step": ("json", lambda path: edit(path, step=-5), "checksum"),
    "another setting": ("json", lambda path: edit(path, config="theirs"), "checksum"),
    "a key more": ("json", lambda path: edit(path, more=1), "checksum"),
    "a key less": ("json", lambda path: without(path, "step"), "checksum"),
    "a list": ("json", lambda path: path.write_text("[]"), "no JSON object"),
    "of the first format": ("json", of_first_format, "format 2"),
}


@pytest.mark.parametrize("harm", HARM)
def test_what_is_not_whole_does_not_count_and_stays(tmp_path: Path, harm: str) -> None:
    kind, damage, message = HARM[harm]
    save(tmp_path, 1, 2)
    path = checkpoint_notes(tmp_path)[0].with_suffix(f".{kind}")
    damage(path)
    with pytest.raises(Unusable, match=message):
        read_checkpoint(checkpoint_notes(tmp_path)[0])
    assert steps(tmp_path) == [1]
    before = {each.name: each.is_dir() or each.read_bytes() for each in tmp_path.glob("*2.*")}
    save(tmp_path, *range(3, 3 + KEPT))
    assert {each.name: each.is_dir() or each.read_bytes() for each in tmp_path.glob("*2.*")} == before
    assert steps(tmp_path) == list(range(2 + KEPT, 2, -1))  # 1 is whole, and older than as many newer whole ones


def test_a_checkpoint_of_another_name(tmp_path: Path) -> None:
    save(tmp_path, 1)
    for path in list(tmp_path.iterdir()):
        path.rename(path.with_name(path.name.replace("1.", "9.")))
    with pytest.raises(Unusable, match="unlike its name"):
        newest(tmp_path)


def test_old_ones_go(tmp_path: Path) -> None:
    save(tmp_path, *range(KEPT + 3))
    assert len(list(tmp_path.iterdir())) == 2 * KEPT
    assert steps(tmp_path) == [KEPT + 2, KEPT + 1, KEPT]


def test_unreadable_ones_do_not_count_among_the_kept(tmp_path: Path) -> None:
    save(tmp_path, *range(KEPT))
    for number in range(10, 15):
        (tmp_path / f"checkpoint-{number:012d}.json").write_text("garbage")
    save(tmp_path, 5)
    assert steps(tmp_path) == [5, 2, 1]
    assert len(list(tmp_path.glob("checkpoint-*1?.json"))) == 5


def test_one_of_an_earlier_step_than_those_that_are_there_stays(tmp_path: Path) -> None:
    """A run that went on from step 4, since those behind it cannot be used, saves the next one."""
    save(tmp_path, *range(100, 100 + KEPT))
    save(tmp_path, 5)
    assert steps(tmp_path) == [*range(99 + KEPT, 99, -1), 5]
    save(tmp_path, *range(6, 6 + KEPT))
    assert steps(tmp_path) == [*range(99 + KEPT, 99, -1), *range(5 + KEPT, 5, -1)]


def test_those_of_other_settings_stay(tmp_path: Path) -> None:
    save(tmp_path, 1, config="theirs")
    save(tmp_path, *range(2, 4 + KEPT))
    assert steps(tmp_path) == [*range(3 + KEPT, 3, -1), 1]


def test_what_a_killed_process_left_half_written_goes(tmp_path: Path) -> None:
    mine = tmp_path / "notes.partial"
    left = [tmp_path / name for name in ("checkpoint-000000000001.json.partial", "agent.safetensors.12.partial")]
    left.append(tmp_path / "checkpoint-000000000001.safetensors.4711.partial")
    for path in (mine, *left):
        path.write_text("half")
    save(tmp_path, 2)
    assert mine.exists()
    assert not any(path.exists() for path in left)


def test_a_full_disk_leaves_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path, 1)
    before = sorted(tmp_path.iterdir())

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(tmp_path, 2)
    assert sorted(tmp_path.iterdir()) == before
    assert steps(tmp_path) == [1]


def test_tensors_that_are_none_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that vouches for what is no safetensors file."""
    monkeypatch.setattr(safetensors.torch, "save", lambda tensors: b"no tensors")
    save(tmp_path, 1)
    with pytest.raises(Unusable, match="tensors cannot be read"):
        newest(tmp_path)
