"""Code that many processes have compiled into one cache does in one process what it does alone."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from phantom_envs.core.jit import JIT_DISABLED
from tests.core.test_jit import copied, edit, run
from tests.faces import NAMES

__all__ = ["copied"]

ROOT = Path(__file__).parent.parent
PROCESSES = 2

compiled_only = pytest.mark.skipif(JIT_DISABLED, reason="about compiled code")


def checksums(names: list[str], cache: Path) -> dict[str, str]:
    """What a fresh process says of some games and faces, in that order."""
    environment = os.environ | {"PHANTOM_ENVS_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "tests.faces", *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT, timeout=600)
    assert done.returncode == 0, done.stderr
    return dict(line.split() for line in done.stdout.splitlines())


@compiled_only
def test_games_and_faces_do_together_what_they_do_alone(tmp_path: Path) -> None:
    """Each is compiled by a process of its own; then all meet in one, in several orders."""
    alone: dict[str, str] = {}
    with ThreadPoolExecutor(PROCESSES) as pool:
        for found in pool.map(lambda name: checksums([name], tmp_path), NAMES):
            alone |= found
    assert list(alone) == NAMES
    orders = [NAMES, NAMES[::-1], sorted(NAMES, key=lambda name: name.partition(":")[2])]
    for order in orders:
        assert checksums(order, tmp_path) == alone


VERSION = """
import sys
from pathlib import Path
from zlib import crc32
from phantom_envs.core.table import Table

SCORES = Path("phantom_envs/games/phantom_trick/components.py")
OLD, NEW = "START_SCORE = 10", "START_SCORE = 12"

def play():
    from phantom_envs.games.phantom_trick import GAME
    table = Table(GAME)
    table.deal(5)
    seen = []
    while not table.over:
        table.play(table.legal()[0])
        seen += [table.observe(0).tobytes(), table.state_dict()]
    print(crc32(repr(seen).encode()))

def edit(old, new):
    text = SCORES.read_text()
    assert old in text
    SCORES.write_text(text.replace(old, new))
    for name in [name for name in sys.modules if name.startswith("phantom_envs.games")]:
        del sys.modules[name]
"""


@compiled_only
@pytest.mark.usefixtures("copied")
def test_two_versions_of_a_game_in_one_process(copied: Path, tmp_path: Path) -> None:
    cache, scores = tmp_path / "cache", copied / "phantom_envs/games/phantom_trick/components.py"
    first = run(copied, cache, f"{VERSION}play()")[0]
    edit(scores, "START_SCORE = 10", "START_SCORE = 12")
    second = run(copied, cache, f"{VERSION}play()")[0]
    assert first != second
    edit(scores, "START_SCORE = 12", "START_SCORE = 10")
    assert run(copied, cache, f"{VERSION}play(); edit(OLD, NEW); play()") == (first + second, "")
    assert run(copied, cache, f"{VERSION}play(); edit(NEW, OLD); play()") == (second + first, "")
