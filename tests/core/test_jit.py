"""The cache of compiled code: an edit takes effect, what is unchanged is not compiled again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import phantom_envs
from phantom_envs.core import jit

SCRIPT = """
import numpy as np
from phantom_envs.core.batch import sample
actions = np.zeros(5, np.int64)
sample(np.full((5, 1), 1 << 40 | 7, np.uint64), np.arange(5, dtype=np.uint64).reshape(5, 1), actions, 0, 5)
print(*actions)
"""
"""Calls an entry of `batch.py`, whose result hangs on functions of `rng.py` and `bits.py`."""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder with a copy of the package, to be edited."""
    source = Path(phantom_envs.__file__).parent
    for folder in ("core", "games"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source / folder, tmp_path / "phantom_envs" / folder, ignore=ignored)
    (tmp_path / "phantom_envs" / "__init__.py").touch()
    return tmp_path


def run(copied: Path, cache: Path, script: str = SCRIPT, *, compiled: bool = True) -> tuple[str, str]:
    """What a fresh process prints on its two streams."""
    environment = os.environ | {
        "PYTHONPATH": str(copied),
        "PHANTOM_ENVS_CACHE_DIR": str(cache),
        "NUMBA_DISABLE_JIT": "0" if compiled else "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=copied)
    return done.stdout, done.stderr


def edit(path: Path, old: str, new: str) -> None:
    """Replace a piece of a file that occurs once."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_an_edit_in_a_called_file_takes_effect_and_nothing_else_compiles_again(copied: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first, announced = run(copied, cache)
    assert announced.count("phantom_envs: compiling core for this machine") == 1
    assert str(cache) in announced
    assert first == run(copied, cache, compiled=False)[0]

    again, announced = run(copied, cache)
    assert again == first
    assert announced == ""

    edit(copied / "phantom_envs/core/bits.py", "for _ in range(n):", "for _ in range(2):")
    edited, announced = run(copied, cache)
    assert "compiling" in announced
    assert edited.split() == ["2"] * 5 != first.split()

    edit(copied / "phantom_envs/core/bits.py", "for _ in range(2):", "for _ in range(n):")
    assert run(copied, cache) == (first, ""), "the old code is still there"


def test_a_cache_folder_that_cannot_be_written_is_passed_over(copied: Path, tmp_path: Path) -> None:
    in_the_way = tmp_path / "cache"
    in_the_way.write_text("a file where the folder should be", encoding="utf-8")
    printed, announced = run(copied, in_the_way)
    assert printed == run(copied, in_the_way, compiled=False)[0]
    folder = Path(announced.rpartition("kept in ")[2].strip().rstrip(")"))
    assert folder.name.startswith("phantom_envs-compiled-")
    assert not folder.exists(), "removed with the process"


def test_plain_python_writes_nothing(copied: Path, tmp_path: Path) -> None:
    printed, announced = run(copied, tmp_path / "cache", compiled=False)
    assert printed
    assert announced == ""
    assert not (tmp_path / "cache").exists()


def test_the_hash_covers_every_source_that_can_be_compiled(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    core, game = copied / "phantom_envs/core", copied / "phantom_envs/games/das_phantom"
    monkeypatch.setattr(jit, "CORE", core)
    hash_now = jit.source_hash.__wrapped__  # without its memory
    seen = {hash_now((game,))}
    for path in [*core.rglob("*.py"), *game.rglob("*.py"), game / "board.txt"]:
        with path.open("a", encoding="utf-8") as file:
            file.write("\n")
        assert hash_now((game,)) not in seen, path
        seen.add(hash_now((game,)))


def test_an_edit_in_one_game_leaves_the_others_compiled(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    games = copied / "phantom_envs/games"
    monkeypatch.setattr(jit, "CORE", copied / "phantom_envs/core")
    hash_now = jit.source_hash.__wrapped__
    before = hash_now((games / "phantom_trick",))
    edit(games / "phantom" / "rules.py", "from __future__ import annotations", "from __future__ import annotations  #")
    assert hash_now((games / "phantom_trick",)) == before
