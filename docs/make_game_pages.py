"""The page of each game, from the code (`phantom_envs.describe`), its rules and its rulings.

    python docs/make_game_pages.py FOLDER

writes `FOLDER/<game>.md`. Sphinx does so by itself, see `conf.py`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from phantom_envs.core.game import Game
from phantom_envs.describe import markdown
from phantom_envs.registry import game_ids, get_game

HERE = Path(__file__).resolve().parent

USAGE = """## Usage

```python
from phantom_envs import {id}

env = {id}.env(num_players={players})  # PettingZoo; raw_env() has no wrappers
```

```python
import phantom_envs

vec = phantom_envs.make_vec("{id}", num_envs=1024, num_players={players})  # batches
```
"""


def offsets(game: Game) -> str:
    """Where each block of the observation begins, for every player count."""
    if len(game.players) == 1:
        return ""
    layouts = [game.layout(players) for players in game.players]
    rows = [["block", *(f"{players} players" for players in game.players)], ["---"] * (len(layouts) + 1)]
    for block in layouts[0]:
        places = [layout[block.name] for layout in layouts]
        rows.append([f"`{block.name}`", *(f"{place.start} … {place.stop - 1}" for place in places)])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"## Offsets by player count\n\n{table}\n"


def extra_pages(game: Game) -> str:
    """The game's further pages, as they look in a terminal."""
    return "\n".join(f"## {name.title()}\n\n```text\n{page()}\n```\n" for name, page in game.extras.items())


def rules(game: Game) -> str:
    """The rules, their headings one level down."""
    lines = (HERE / "rules" / f"{game.name}.md").read_text(encoding="utf-8").splitlines()
    fenced = False
    for number, line in enumerate(lines):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and re.match(r"#+ ", line):
            lines[number] = f"#{line}"
    return "\n".join(lines) + "\n"


def game_page(game: Game) -> str:
    """The whole page of a game."""
    rulings = (HERE / "rulings" / f"{game.name}.md").read_text(encoding="utf-8")
    usage = USAGE.format(id=game.id, players=game.default_players)
    parts = [markdown(game), offsets(game), usage, extra_pages(game), rules(game), rulings]
    return "\n".join(part for part in parts if part)


def write_all(folder: Path) -> None:
    """Write the pages of all games; a page that has not changed is left alone, so that Sphinx need not read it."""
    folder.mkdir(exist_ok=True)
    for game_id in game_ids():
        game = get_game(game_id)
        path, page = folder / f"{game.name}.md", game_page(game)
        if not path.exists() or path.read_text(encoding="utf-8") != page:
            path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
