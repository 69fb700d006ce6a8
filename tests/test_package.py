"""The wheel: what is in it, and that it works without anything else of the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import phantom_envs

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# Plays games with only the wheel on the path; whatever needs an extra or the checkout cannot be imported.
PLAY = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "stable_baselines3", "sb3_contrib", "agents", "training", "tests"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import phantom_envs
from pathlib import Path

assert Path(phantom_envs.__file__).is_relative_to(sys.argv[1]), phantom_envs.__file__
for game_id in phantom_envs.game_ids():
    table = phantom_envs.Table(phantom_envs.get_game(game_id))
    table.deal(1)
    while not table.over:
        table.play(table.legal()[0])
    module = __import__(f"phantom_envs.{game_id}", fromlist=["env"])
    assert module.env().metadata["name"] == game_id

from phantom_envs.cli import main

assert main(["arena", "--game", "phantom_v0", "--agents", "rule", "random", "--deals", "1", "--workers", "1"]) == 0
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_holds_the_library_whole_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    info = f"phantom_envs-{phantom_envs.__version__}.dist-info/"
    library = {name for name in names if name.startswith("phantom_envs/")}
    assert {name for name in names - library if not name.startswith(info)} == set()
    sources = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "phantom_envs").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert library == sources
    assert "phantom_envs/py.typed" in library
    assert f"{info}licenses/LICENSE" in names


def test_wheel_works_without_extras_and_checkout(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    subprocess.run(
        [sys.executable, "-c", PLAY, str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        check=True,
    )


def test_versions_agree() -> None:
    assert PROJECT["version"] == phantom_envs.__version__


def test_all_that_ci_installs_is_pinned() -> None:
    pinned = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    }
    installed = ("dev", "docs", "training")
    extras = [requirement for extra in installed for requirement in PROJECT["optional-dependencies"][extra]]
    wanted = {
        requirement.split(">")[0].split("[")[0].strip().lower() for requirement in [*PROJECT["dependencies"], *extras]
    }
    assert wanted - {"phantom-envs"} <= pinned
