"""What the README shows works: its Python snippets, and its commands where they are quick."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTALLS_OR_TRAINS = re.compile(r"python3? -m (venv|training)|neural:")  # what CI runs otherwise, or takes minutes


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def title(block: str) -> str:
    """The first line that tells a block apart."""
    code = next(line for line in block.splitlines() if line and not line.startswith(("import", "from")))
    return code.partition("(")[0]


@pytest.mark.parametrize("block", blocks("python"), ids=title)
def test_snippet_runs(block: str) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", block], cwd=ROOT, check=True, timeout=600)


def test_commands_run(tmp_path: Path) -> None:
    commands = [line for block in blocks("bash") for line in block.splitlines() if not INSTALLS_OR_TRAINS.search(line)]
    assert len(commands) >= 5
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "phantom-envs"
        subprocess.run([sys.executable, "-m", "phantom_envs.cli", *arguments], cwd=tmp_path, check=True, timeout=600)


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)]+)\)", README):
        assert (ROOT / target).exists(), target


def test_it_names_every_game() -> None:
    from phantom_envs import game_ids, get_game

    for game_id in game_ids():
        game = get_game(game_id)
        players = "-".join(map(str, sorted({game.players[0], game.players[-1]})))
        assert re.search(rf"\| {game.title} \| `{game_id}` \| {players} \|.*\| {game.num_actions} \|", README), game_id
