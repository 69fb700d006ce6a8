"""Checkpoints that survive being killed: tensors in a safetensors file, the rest in a JSON file that vouches for it.

The tensors are written first and the JSON file, which carries their checksum, last; each under another name that is
moved into place once it is on disk. A checkpoint counts only when the checksum fits, so a half-written one is passed
over and the one before it is loaded.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors.torch
from torch import Tensor

KEPT = 3
"""Checkpoints that stay in a folder; older ones go."""


def save_checkpoint(folder: Path, step: int, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write checkpoint `step` into `folder` (made if needed) and drop all but the latest few."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"checkpoint-{step:012d}"
    payload = safetensors.torch.save({key: tensor.contiguous().cpu() for key, tensor in tensors.items()})
    _write(folder / f"{name}.safetensors", payload)
    note = {"step": step, "sha256": hashlib.sha256(payload).hexdigest(), **about}
    _write(folder / f"{name}.json", json.dumps(note, indent=1).encode())
    for old in sorted(folder.glob("checkpoint-*.json"))[:-KEPT]:
        old.unlink()
        old.with_suffix(".safetensors").unlink(missing_ok=True)


def load_checkpoint(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """Tensors and notes of the latest whole checkpoint in `folder`, or None. Reads numbers and JSON, never code."""
    for note_path in sorted(folder.glob("checkpoint-*.json"), reverse=True):
        try:
            note = json.loads(note_path.read_text())
            payload = note_path.with_suffix(".safetensors").read_bytes()
        except (OSError, json.JSONDecodeError):
            continue  # half a checkpoint: the one before it counts
        if isinstance(note, dict) and hashlib.sha256(payload).hexdigest() == note.get("sha256"):
            return safetensors.torch.load(payload), note
    return None


def _write(path: Path, payload: bytes) -> None:
    """Put `payload` at `path`, whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        file.write(payload)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
