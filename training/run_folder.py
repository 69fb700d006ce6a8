"""The folder of a training run: one for each run, and one process at a time in it."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from phantom_envs.core.errors import PhantomError
from training.checkpoints import note_bytes

if sys.platform != "win32":
    import fcntl

SETTINGS = "run.json"
"""The file that says what a run was begun with; a folder that has it is taken."""
RESULTS = ("checkpoint-*", "agent.safetensors", "model.zip")
"""Files of a run, which are not overwritten by another."""

TAKEN = "holds another run; choose another --run, or, with training.ppo, go on with --resume"


class RunRefused(PhantomError, ValueError):
    """A folder in which a run cannot begin or go on."""


def check_free(folder: Path) -> None:
    """Refuse a folder in which no run can begin.

    Raises:
        RunRefused: It is a file, lies below one, or holds another run.
    """
    above = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
    if not above.is_dir():
        raise RunRefused(f"{folder} cannot be a folder: {above} is a file; choose another --run")
    if any(path for pattern in (SETTINGS, *RESULTS) for path in folder.glob(pattern)):
        raise RunRefused(f"{folder} {TAKEN}")


def begin_run(folder: Path | None, name: str, settings: Mapping[str, Any]) -> Path:
    """The folder of a new run, made if needed, with the run's settings in it.

    Of several processes that ask for the same folder at the same time one gets it.

    Args:
        folder: The folder, or None for a new one in `runs/`.
        name: What the name of a new one begins with; the time follows.
        settings: Plain JSON data.

    Raises:
        RunRefused: The folder holds another run, or is none.
    """
    folder = new_folder(name) if folder is None else folder
    check_free(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / SETTINGS
    try:
        with path.open("xb") as file:  # fails where another process was faster
            try:
                file.write(note_bytes(settings))
                file.flush()
                os.fsync(file.fileno())
            except OSError as error:
                path.unlink()
                raise OSError(error.errno, error.strerror, str(path)) from error
    except FileExistsError as error:
        raise RunRefused(f"{folder} {TAKEN}") from error
    return folder


def new_folder(name: str) -> Path:
    """A folder in `runs/` that did not exist: `name`, the time, and a number where several begin in a second."""
    base = Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    base.parent.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        folder = base if number == 1 else base.with_name(f"{base.name}-{number}")
        with contextlib.suppress(FileExistsError):  # another run's
            folder.mkdir()
            break
    return folder


@contextlib.contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Keep other processes from training in the folder of a run, however this one ends.

    Where the system or the file system has no locks, nothing is kept.

    Raises:
        RunRefused: Another process is at it.
    """
    if sys.platform == "win32":
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunRefused(f"another process trains in {folder}; wait for it, or choose another --run") from error
        except OSError as error:
            print(f"{folder} is not locked ({error.strerror}); train in it with one process only", file=sys.stderr)
        yield
    finally:
        os.close(handle)
