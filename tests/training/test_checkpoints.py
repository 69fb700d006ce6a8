"""A checkpoint is whole or it does not count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from training.checkpoints import KEPT, load_checkpoint, save_checkpoint


def test_comes_back_as_it_was(tmp_path: Path) -> None:
    tensors = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor([1, 2], dtype=torch.uint8)}
    save_checkpoint(tmp_path, 7, tensors, {"note": [1, "x"]})
    loaded = load_checkpoint(tmp_path)
    assert loaded is not None
    found, note = loaded
    assert all(torch.equal(found[name], tensor) for name, tensor in tensors.items())
    assert (note["step"], note["note"]) == (7, [1, "x"])


def test_no_folder_no_checkpoint(tmp_path: Path) -> None:
    assert load_checkpoint(tmp_path / "none") is None


@pytest.mark.parametrize("harm", ["cut tensors", "cut note", "no tensors", "no note", "other tensors"])
def test_half_written_is_passed_over(tmp_path: Path, harm: str) -> None:
    save_checkpoint(tmp_path, 1, {"a": torch.zeros(100)}, {})
    save_checkpoint(tmp_path, 2, {"a": torch.ones(100)}, {})
    tensors, note = (next(tmp_path.glob(f"checkpoint-*2.{kind}")) for kind in ("safetensors", "json"))
    if harm == "cut tensors":
        tensors.write_bytes(tensors.read_bytes()[:50])
    elif harm == "cut note":
        note.write_text(note.read_text()[:20])
    elif harm == "no tensors":
        tensors.unlink()
    elif harm == "no note":
        note.unlink()
    else:
        changed = json.loads(note.read_text()) | {"sha256": "0" * 64}
        note.write_text(json.dumps(changed))
    loaded = load_checkpoint(tmp_path)
    assert loaded is not None
    assert loaded[1]["step"] == 1
    assert loaded[0]["a"].sum() == 0


def test_old_ones_go(tmp_path: Path) -> None:
    for step in range(KEPT + 3):
        save_checkpoint(tmp_path, step, {"a": torch.zeros(1)}, {})
    assert len(list(tmp_path.iterdir())) == 2 * KEPT
    loaded = load_checkpoint(tmp_path)
    assert loaded is not None
    assert loaded[1]["step"] == KEPT + 2
