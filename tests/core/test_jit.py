"""Compiled code on disk: an edit takes effect, what is unchanged is not compiled again, and nothing gets mixed up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.errors import NumbaError

import phantom_envs
from phantom_envs.core.batch import sample
from phantom_envs.core.compile_cache import DAY, KEPT_DAYS, SUFFIX, cached_files, remove_files
from phantom_envs.core.jit import JIT_DISABLED, entry, jit

SCRIPT = """
import numpy as np
from phantom_envs.core.batch import sample
actions = np.zeros(5, np.int64)
sample(np.full((5, 1), 1 << 40 | 7, np.uint64), np.arange(5, dtype=np.uint64).reshape(5, 1), actions, 0, 5)
print(*actions)
"""
"""Calls an entry of `batch.py`, whose result hangs on functions of `rng.py` and `bits.py`."""

COMPILING = "phantom_envs: compiling core for this machine"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder with a copy of the package, to be edited."""
    source = Path(phantom_envs.__file__).parent
    for folder in ("core", "games"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source / folder, tmp_path / "phantom_envs" / folder, ignore=ignored)
    (tmp_path / "phantom_envs" / "__init__.py").touch()
    return tmp_path


def run(
    copied: Path, cache: Path | None, script: str = SCRIPT, *, compiled: bool = True, **variables: str
) -> tuple[str, str]:
    """What a fresh process prints on its two streams."""
    environment = os.environ | {
        "PYTHONPATH": str(copied),
        "PHANTOM_ENVS_CACHE_DIR": str(cache or ""),
        "NUMBA_DISABLE_JIT": "0" if compiled else "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **variables,
    }
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=copied)
    return done.stdout, done.stderr


def edit(path: Path, old: str, new: str) -> None:
    """Replace a piece of a file that occurs once."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def the_file(cache: Path) -> Path:
    """The only file of a cache."""
    (found,) = cached_files(cache)
    return found


def test_an_edit_in_a_called_file_takes_effect_and_nothing_else_compiles_again(copied: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first, announced = run(copied, cache)
    assert announced.count(COMPILING) == 1
    assert str(cache) in announced
    assert first == run(copied, cache, compiled=False)[0]
    assert run(copied, cache) == (first, "")

    edit(copied / "phantom_envs/core/bits.py", "for _ in range(n):", "for _ in range(2):")
    edited, announced = run(copied, cache)
    assert COMPILING in announced
    assert edited.split() == ["2"] * 5 != first.split()

    edit(copied / "phantom_envs/core/bits.py", "for _ in range(2):", "for _ in range(n):")
    assert run(copied, cache) == (first, ""), "the old code is still there"


def test_what_compiled_code_is_told_of_numba_takes_effect(copied: Path, tmp_path: Path) -> None:
    """`count` is plain Python to Python and an instruction to numba: an edit of either compiles anew."""
    cache = tmp_path / "cache"
    run(copied, cache)
    edit(copied / "phantom_envs/core/bits.py", "return _ctpop(np.uint64(members))", "return _ctpop(np.uint64(1))")
    edited, announced = run(copied, cache)
    assert COMPILING in announced
    assert edited.split() == ["0"] * 5, "with one member counted the lowest is drawn"


def test_comments_docstrings_layout_and_other_code_compile_nothing(copied: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first, _ = run(copied, cache)
    rng = copied / "phantom_envs/core/rng.py"
    edit(rng, "    bound = np.uint64(n)\n", "    # a comment\n\n    bound = (\n        np.uint64(n))\n")
    edit(rng, '"""A uniformly random float of [0, 1), 53 bits."""', '"""Words."""')
    edit(rng, "for i in range(n - 1, 0, -1):", "for i in range(n - 1, 1, -1):")  # of `shuffle`, which is not called
    assert run(copied, cache) == (first, "")


def test_other_settings_of_numba_have_files_of_their_own(copied: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first, _ = run(copied, cache)
    checked, announced = run(copied, cache, NUMBA_BOUNDSCHECK="1")
    assert COMPILING in announced
    assert checked == first
    assert len(list(cached_files(cache))) == 2


@pytest.mark.parametrize("damage", ["empty", "half", "one bit"])
def test_a_damaged_file_is_compiled_anew(copied: Path, tmp_path: Path, damage: str) -> None:
    cache = tmp_path / "cache"
    first, _ = run(copied, cache)
    path = the_file(cache)
    whole = path.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    path.write_bytes({"empty": b"", "half": whole[:middle], "one bit": flipped}[damage])
    again, announced = run(copied, cache)
    assert again == first
    assert f"phantom_envs: {path} is damaged; its code is compiled anew" in announced
    assert run(copied, cache) == (first, "")


READ_ONLY = """
import errno
import os
from pathlib import Path
def refused(*_, **__):
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))
Path.mkdir = Path.write_bytes = os.utime = refused
"""
"""As on a disk that cannot be written; the permissions of a folder would not stop root."""


def test_a_filled_cache_that_cannot_be_written_is_used(copied: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first, _ = run(copied, cache)
    os.utime(the_file(cache), (0.0, 0.0))
    assert run(copied, cache, READ_ONLY + SCRIPT) == (first, "")


def test_where_nothing_can_be_written_work_goes_on_with_one_warning(copied: Path, tmp_path: Path) -> None:
    twice = SCRIPT + SCRIPT.replace("sample", "illegal").replace("np.arange(5, dtype=np.uint64).reshape(5, 1), ", "")
    printed, announced = run(copied, tmp_path / "cache", READ_ONLY + twice)
    assert printed == run(copied, tmp_path / "cache", twice, compiled=False)[0]
    assert announced.count("compiled code cannot be kept") == 1
    assert "Read-only file system" in announced
    assert "PHANTOM_ENVS_CACHE_DIR" in announced


def test_a_file_where_the_folder_should_be_is_said(copied: Path, tmp_path: Path) -> None:
    in_the_way = tmp_path / "cache"
    in_the_way.write_text("a file", encoding="utf-8")
    printed, announced = run(copied, in_the_way)
    assert printed == run(copied, in_the_way, compiled=False)[0]
    assert announced.count("compiled code cannot be kept") == 1
    assert in_the_way.read_text(encoding="utf-8") == "a file"


NO_HOME = """
import os, pwd
def unknown(_):
    raise KeyError("getpwuid(): uid not found")
pwd.getpwuid = unknown
for name in ("HOME", "XDG_CACHE_HOME", "PHANTOM_ENVS_CACHE_DIR"):
    os.environ.pop(name, None)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows homes by other means")
def test_without_a_home_and_a_known_user_work_goes_on(copied: Path) -> None:
    before = set(copied.iterdir())
    printed, announced = run(copied, None, NO_HOME + SCRIPT)
    assert printed == run(copied, None, compiled=False)[0]
    assert announced.count("not kept: there is no home directory") == 1
    assert set(copied.iterdir()) == before, "nothing is written into the working directory"


def test_plain_python_writes_nothing(copied: Path, tmp_path: Path) -> None:
    printed, announced = run(copied, tmp_path / "cache", compiled=False)
    assert printed
    assert announced == ""
    assert not (tmp_path / "cache").exists()


def test_what_is_long_unused_goes_when_something_new_is_written(copied: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    old, young, foreign = cache / f"old{SUFFIX}", cache / f"young{SUFFIX}", cache / "notes.txt"
    earlier = cache / "0123456789abcdef" / "entry.nbi"  # as an earlier version kept it
    earlier.parent.mkdir(parents=True)
    for path in (old, young, foreign, earlier):
        path.touch()
    for path in (old, foreign, earlier):
        os.utime(path, (0.0, path.stat().st_mtime - (KEPT_DAYS + 1) * DAY))
    run(copied, cache)
    assert not old.exists()
    assert not earlier.parent.exists()
    assert young.exists()
    assert foreign.exists()


def test_a_file_in_use_does_not_grow_old(copied: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run(copied, cache)
    path = the_file(cache)
    long_ago = path.stat().st_mtime - KEPT_DAYS * DAY
    os.utime(path, (long_ago, long_ago))
    run(copied, cache)
    assert path.stat().st_mtime > long_ago + DAY


def test_clearing_removes_compiled_code_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a.nbc").touch()
    (tmp_path / "b.nbc.123.tmp").touch()
    (tmp_path / "kept.txt").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "kept.txt").touch()
    (tmp_path / "folder" / "c.nbc").touch()
    assert remove_files(tmp_path) == 3
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder", "kept.txt", "kept.txt"]
    assert remove_files(tmp_path / "nowhere") == 0


TAKEN = """
from phantom_envs.core import jit
jit.FunctionIdentity._unique_ids = iter(lambda: 7, None)
def entry_of(number):
    @jit.entry("same")
    def answer():
        return number
    return answer
"""
"""As if two processes had drawn the same number for two functions."""


def test_a_symbol_that_is_taken_is_an_error(copied: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for number in (1, 2):
        assert run(copied, cache, f"{TAKEN}print(entry_of({number})())")[0] == f"{number}\n"
    both = """
from phantom_envs.core.compile_cache import SymbolTaken
print(entry_of(1)(), entry_of(1)())
try:
    print(entry_of(2)())
except SymbolTaken as error:
    print("cache --clear" in str(error))
"""
    assert run(copied, cache, TAKEN + both) == ("1 1\nTrue\n", "")


def test_code_that_another_entry_holds_may_be_loaded_by_itself(copied: Path, tmp_path: Path) -> None:
    """Over threads a kernel is linked into the code that hands it out; then one thread wants it alone."""
    script = """
import numpy as np
from phantom_envs.core.batch import sample
from phantom_envs.core.crew import Crew
words, rng = np.full((5, 1), 7, np.uint64), np.arange(5, dtype=np.uint64).reshape(5, 1)
for threads in (2, 1, 2):
    actions = np.zeros(5, np.int64)
    Crew(threads).run(sample, 5, words, rng.copy(), actions)
    print(*actions)
"""
    first, _ = run(copied, tmp_path / "cache", script)
    assert len(set(first.splitlines())) == 1
    assert run(copied, tmp_path / "cache", script) == (first, "")


def test_forks_of_a_process_number_functions_apart(copied: Path, tmp_path: Path) -> None:
    script = """
from multiprocessing import get_context
from numba.core.bytecode import FunctionIdentity
import phantom_envs.core.jit
def number(_):
    return next(FunctionIdentity._unique_ids)
with get_context("fork").Pool(2) as pool:
    print(len({*pool.map(number, range(4), chunksize=1), number(0)}))
"""
    assert run(copied, tmp_path / "cache", script)[0] == "5\n"


def test_calls_keep_no_references() -> None:
    words, actions = np.ones((3, 1), np.uint64), np.zeros(3, np.int64)
    rng = np.arange(3, dtype=np.uint64).reshape(3, 1)
    before = [sys.getrefcount(array) for array in (words, rng, actions)]
    for _ in range(10):
        sample(words, rng, actions, 0, 3)
    assert [sys.getrefcount(array) for array in (words, rng, actions)] == before


@pytest.mark.skipif(JIT_DISABLED, reason="about compiled code")
def test_only_an_entry_that_says_so_allocates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHANTOM_ENVS_CACHE_DIR", str(tmp_path))

    @jit
    def doubled(numbers: Any) -> Any:
        return numbers * 2

    def total(numbers: Any) -> Any:
        return doubled(numbers[1:]).sum()

    def counted(numbers: Any) -> Any:
        return np.zeros(len(numbers)).sum() + len(numbers)

    numbers = np.arange(4)
    with pytest.raises(NumbaError):
        entry("test_jit")(counted)(numbers)
    assert entry("test_jit", allocates=True)(counted)(numbers) == 4
    assert entry("test_jit", allocates=True)(total)(numbers) == 12
