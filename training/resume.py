"""How a run goes on: from its newest whole checkpoint, or from its beginning if it was ended before the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from phantom_envs.core.terminal import say
from training.checkpoints import Checkpoint, Unusable, checkpoint_notes, read_checkpoint, read_note
from training.run_folder import SETTINGS, RunRefused

Run = TypeVar("Run")


def resume(folder: Path, begin: Callable[[Mapping[str, Any]], Run], go_on: Callable[[Checkpoint], Run]) -> Run:
    """The run of a folder. What is passed over is told, and why; nothing in the folder is touched.

    Args:
        folder: Where it was begun.
        begin: Begins it with the settings that were kept then.
        go_on: Goes on from a whole checkpoint; `Unusable` if that cannot be.

    Raises:
        RunRefused: There is nothing to go on from.
    """
    passed: list[str] = []

    def pass_over(path: Path, error: Exception) -> None:
        passed.append(path.name)
        say(f"{path} is passed over: {error}")

    settings: dict[str, Any] = {}
    try:
        settings = read_note(folder / SETTINGS)
    except Unusable as error:
        if (folder / SETTINGS).exists():
            pass_over(folder / SETTINGS, error)
    for path in checkpoint_notes(folder):
        try:
            checkpoint = read_checkpoint(path)
            _require_same_run(checkpoint, settings)
            run = go_on(checkpoint)
        except Unusable as error:
            pass_over(path, error)
            continue
        say(f"going on from {path}, with the settings that the run was begun with")
        return run
    if settings and not any(folder.glob("checkpoint-*")):
        try:
            run = begin(settings)
        except Unusable as error:
            pass_over(folder / SETTINGS, error)
        else:
            say(f"{folder} has no checkpoint yet: its run begins again, with the settings that it was begun with")
            return run
    found = f"no whole checkpoint ({', '.join(passed)} cannot be used)" if passed else "no checkpoint"
    raise RunRefused(f"{folder} has {found}; is --run as it was? To begin anew, choose another --run without --resume")


def _require_same_run(checkpoint: Checkpoint, settings: Mapping[str, Any]) -> None:
    found = checkpoint.about.get("config")
    begun = settings.get("config", found)
    if not isinstance(found, dict) or not isinstance(begun, dict):
        raise Unusable("it has no settings")
    for name, value in begun.items():
        if found.get(name) != value:
            raise Unusable(f"it is of another run: its {name} is {found.get(name)!r}, not {value!r}")
