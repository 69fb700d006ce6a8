"""The pages of the games are made from the code; a full build with Sphinx is a step of CI."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from agents.neural import WrongNetwork
from phantom_envs.arena.specs import make_agent
from phantom_envs.registry import game_ids, get_game

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("games")
    subprocess.run([sys.executable, "-W", "error", str(ROOT / "docs" / "make_game_pages.py"), str(folder)], check=True)
    return folder


@pytest.mark.parametrize("game_id", game_ids())
def test_page_says_everything(game_id: str, pages: Path) -> None:
    game = get_game(game_id)
    page = (pages / f"{game.name}.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (\w+)", page, re.MULTILINE)
    wanted = ["Players", "Options", "Actions", "Observation", "Rewards", "Limits", "Usage", "The", "Rulings", "Version"]
    assert [heading for heading in headings if heading in wanted] == wanted
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)
    assert len(re.findall(r"^# ", prose, re.MULTILINE)) == 1
    for option in game.options:
        assert f"| `{option.name}` |" in page
    for block in game.layout(game.default_players):
        assert f"| `{block.name}` | {block.start} |" in page
    assert re.search(r"\bR1\b", page), "the page lacks the numbered rulings"


@pytest.mark.parametrize("game_id", game_ids())
def test_site_lists_the_game(game_id: str) -> None:
    assert f"games/{get_game(game_id).name}\n" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    module = f"automodule:: phantom_envs.{game_id}\n"
    assert module in (ROOT / "docs" / "api" / "envs.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("game_id", game_ids())
def test_rulings_that_the_code_cites_are_in_the_rules(game_id: str) -> None:
    game = get_game(game_id)
    rules = "".join(
        (ROOT / "docs" / kind / f"{game.name}.md").read_text(encoding="utf-8") for kind in ("rules", "rulings")
    )
    known = set(re.findall(r"\bR\d+\b", rules))
    for path in (ROOT / "phantom_envs" / "games" / game.name).glob("*.py"):
        cited = set(re.findall(r"\bR\d+\b", path.read_text(encoding="utf-8")))
        assert cited <= known, path.name


@pytest.mark.parametrize("game_id", game_ids())
def test_usage_runs(game_id: str, pages: Path) -> None:
    page = (pages / f"{get_game(game_id).name}.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(snippets) == 2
    for snippet in snippets:
        exec(snippet, {})  # noqa: S102  # our own page


def test_search_page_shows_specs_that_work() -> None:
    page = (ROOT / "docs" / "search_agents.md").read_text(encoding="utf-8")
    specs = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
    assert len(specs) >= 8
    game = get_game("fantasmagoria_v0")
    for spec in specs:
        if "network=" in spec:
            with pytest.raises(WrongNetwork, match="no network file"):
                make_agent(spec, game, 3, game.check_options({}))
        else:
            make_agent(spec, game, 3, game.check_options({}))


def test_search_page_has_figures_of_every_game() -> None:
    figures = (ROOT / "docs" / "figures" / "search.md").read_text(encoding="utf-8")
    for game_id in game_ids():
        game = get_game(game_id)
        for players in game.players:
            assert f"| {game.title}, {players} |" in figures
