"""Every game has a golden record for each player count, and plays it again."""

from __future__ import annotations

import pytest

from tests.write_golden import FOLDER, golden_lines, golden_path, settings

REMEDY = "if that is meant, raise the game's version and run: python -m tests.write_golden"


@pytest.mark.parametrize(("game_id", "players"), settings())
def test_game_is_as_recorded(game_id: str, players: int) -> None:
    path = golden_path(game_id, players)
    assert path.is_file(), f"{game_id} with {players} players lacks its golden record; run python -m tests.write_golden"
    recorded = path.read_text(encoding="utf-8").splitlines()
    played = golden_lines(game_id, players)
    for number, (was, now) in enumerate(zip(recorded, played, strict=False), start=1):
        assert now == was, f"{path.name}, line {number}: {REMEDY}"
    assert len(played) == len(recorded), f"{path.name}: {REMEDY}"


def test_there_are_no_records_of_other_games() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {golden_path(*setting).name for setting in settings()}
