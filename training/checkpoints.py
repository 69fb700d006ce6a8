"""Checkpoints that survive being killed: tensors in a safetensors file, the rest in a JSON file that vouches for both.

The tensors are written first and the JSON file last, each whole or not at all. The JSON file carries a checksum of
itself and of the tensors; a checkpoint counts only when it fits. Numbers and JSON are read, never code.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor

from phantom_envs.core.errors import PhantomError
from phantom_envs.core.files import write_whole

KEPT = 3
"""Whole checkpoints that stay in a folder; older ones go."""
FORMAT = 2
"""Of the JSON files. Those of format 1, which had no such entry, vouched for the tensors only."""
LONGEST_NOTE = 1 << 20
"""Bytes of a JSON file, at most."""


class Unusable(PhantomError, ValueError):
    """A file that a run cannot go on from; the message says why."""


@dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint holds: the step it was made at, tensors by name, and plain JSON data."""

    step: int
    tensors: dict[str, Tensor]
    about: dict[str, Any]


def save_checkpoint(folder: Path, step: int, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write checkpoint `step` (0 or more) into `folder` (made if needed) and drop all but the newest few.

    Only whole checkpoints of earlier steps and the same settings (`about["config"]`) are dropped, and one of the same
    step, whole or not, is replaced. All else in the folder stays, but for `.partial` files of a process that was killed
    while it wrote.

    Raises:
        OSError: It cannot be written, as on a full disk. The checkpoints that were there are as they were.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in ("checkpoint-*.partial", "agent.safetensors.*.partial"):
        for left in folder.glob(pattern):
            left.unlink(missing_ok=True)
    payload = safetensors.torch.save({key: tensor.contiguous().cpu() for key, tensor in tensors.items()})
    note_path = folder / f"checkpoint-{step:012d}.json"
    write_whole(_tensors_of(note_path), payload)
    write_whole(note_path, note_bytes({"step": step, "bytes": len(payload), **about}, payload))
    whole = 0
    for old in checkpoint_notes(folder):
        if old > note_path:
            continue  # of a later step, passed over when this run went on: it is not for this one to judge
        try:
            note, _ = _read_vouched(old)
        except Unusable:
            continue  # not ours to judge
        whole += note.get("config") == about.get("config")
        if whole > KEPT and note.get("config") == about.get("config"):
            old.unlink()
            _tensors_of(old).unlink()


def checkpoint_notes(folder: Path) -> list[Path]:
    """The JSON files of the checkpoints in a folder, whole or not, newest first."""
    return sorted(folder.glob("checkpoint-*.json"), reverse=True)


def read_checkpoint(note_path: Path) -> Checkpoint:
    """The checkpoint of a JSON file.

    Raises:
        Unusable: It is not whole, or not of this format.
    """
    note, payload = _read_vouched(note_path)
    step = note.get("step")
    if not isinstance(step, int) or note_path.name != f"checkpoint-{step:012d}.json":
        raise Unusable(f"it is of step {step!r}, unlike its name")
    try:
        return Checkpoint(step, safetensors.torch.load(payload), note)
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError) as error:
        raise Unusable(f"its tensors cannot be read: {error}") from error


def note_bytes(note: Mapping[str, Any], payload: bytes = b"") -> bytes:
    """A JSON file that vouches for itself and for `payload`."""
    note = {"format": FORMAT, **note}
    return json.dumps({**note, "sha256": _checksum(note, payload)}, indent=1).encode()


def read_note(path: Path, payload: bytes = b"") -> dict[str, Any]:
    """What a file of `note_bytes`, made with the same `payload`, says.

    Raises:
        Unusable: It is damaged or was changed.
    """
    note = _read_json(path)
    given = note.pop("sha256", None)
    if given != _checksum(note, payload):
        raise Unusable("its checksum does not fit: it is damaged or was changed")
    return note


def _read_vouched(note_path: Path) -> tuple[dict[str, Any], bytes]:
    """Note and tensor file of a whole checkpoint."""
    size = _read_json(note_path).get("bytes")  # a damaged note is named as such, whatever the tensors are
    tensors = _tensors_of(note_path)
    try:
        if not tensors.is_file() or tensors.stat().st_size != size:
            raise Unusable(f"there is no {tensors.name} of {size} bytes beside it")
        payload = tensors.read_bytes()
    except OSError as error:
        raise Unusable(f"{tensors.name} cannot be read ({error.strerror})") from error
    return read_note(note_path, payload), payload


def _read_json(path: Path) -> dict[str, Any]:
    try:
        readable = path.is_file() and path.stat().st_size <= LONGEST_NOTE
        note = json.loads(path.read_bytes().decode()) if readable else None
    except OSError as error:
        raise Unusable(f"it cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise Unusable("it is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise Unusable("it is not JSON, or nested too deeply, or has numbers of thousands of digits") from error
    if not isinstance(note, dict):
        raise Unusable(f"it holds no JSON object of at most {LONGEST_NOTE:,} bytes")
    if note.get("format") != FORMAT:
        raise Unusable(f"it is not of format {FORMAT}, but damaged or of another version of this program")
    return note


def _checksum(note: Mapping[str, Any], payload: bytes) -> str:
    try:
        text = json.dumps(note, sort_keys=True)
    except RecursionError as error:
        raise Unusable("it is nested too deeply") from error
    return hashlib.sha256(text.encode() + b"\n" + payload).hexdigest()


def _tensors_of(note_path: Path) -> Path:
    return note_path.with_suffix(".safetensors")
