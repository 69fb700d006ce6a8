"""Golden records: a game per game and player count that a reader can follow, and that must stay as it is.

    python -m tests.write_golden

writes `tests/golden/<game>_<players>.jsonl` anew. Do so only on purpose: after a change of rules, observations or
rewards the game's version goes up too. Review the difference as you would review code.

The first line says what is dealt. Then follows a line for each of the first decisions: what was legal, what was chosen,
and what it changed in the complete state. `observation` is a checksum of what the deciding seat knew. The last line
sums up the whole game, which goes on to its end in the same way: the number of decisions, a checksum over all lines
that would have been, and how it ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from phantom_envs.core.rng import successors
from phantom_envs.core.table import Table
from phantom_envs.registry import game_ids, get_game

FOLDER = Path(__file__).parent / "golden"
SEED = 2024
LINES = 70
"""Decisions that are written out."""


def golden_path(game_id: str, num_players: int) -> Path:
    """Where the record of a game and player count lies."""
    return FOLDER / f"{game_id}_{num_players}.jsonl"


def settings() -> list[tuple[str, int]]:
    """Every game and player count."""
    return [(game_id, players) for game_id in game_ids() for players in get_game(game_id).players]


def difference(before: Any, after: Any, place: str = "") -> dict[str, Any]:
    """What has changed between two states, by its place: `{"hands.2": ["red-7", …], "to_act": 3}`."""
    if before == after:
        return {}
    pairs: list[tuple[Any, Any, Any]] | None = None
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        pairs = [(key, before[key], value) for key, value in after.items()]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = [(key, was, now) for key, (was, now) in enumerate(zip(before, after, strict=True))]
    if pairs is None:
        return {place: after}
    changes: dict[str, Any] = {}
    for key, was, now in pairs:
        changes |= difference(was, now, f"{place}.{key}" if place else str(key))
    return changes


def decisions(table: Table) -> Iterator[dict[str, Any]]:
    """Play a dealt game to its end with choices that depend on its seed alone; a line for each decision."""
    key = np.array([SEED], np.uint64)
    before = table.state_dict()
    while not table.over:
        key = successors(key)
        legal = table.legal()
        action = legal[int(key[0]) % len(legal)]
        line: dict[str, Any] = {
            "agent": f"player_{table.seat}",
            "observation": f"{crc32(table.observation.tobytes()):08x}",
            "legal": table.legal_names(),
            "action": table.action_name(action),
        }
        table.play(action)
        after = table.state_dict()
        line["changed"] = difference(before, after)
        if table.rewarded:
            line["rewards"] = [round(reward, 6) for reward in table.rewards.tolist()]
        yield line
        before = after


def golden_lines(game_id: str, num_players: int) -> list[str]:
    """The lines of a golden record."""
    table = Table(get_game(game_id), num_players)
    table.deal(SEED)
    head = {"game": game_id, "num_players": num_players, "options": table.options, "seed": SEED}
    lines = [json.dumps(head | {"state": table.state_dict()})]
    played, checksum = 0, 0
    for decision in decisions(table):
        line = json.dumps(decision)
        checksum = crc32(line.encode(), checksum)
        played += 1
        if played <= LINES:
            lines.append(line)
    end = {"decisions": played, "checksum": f"{checksum:08x}", "terminated": table.terminated}
    lines.append(
        json.dumps(end | {"rewards": [round(r, 6) for r in table.rewards.tolist()], "end": table.state_dict()})
    )
    return lines


def write_all() -> None:
    """Write the records of all games and remove those of games that are no more."""
    FOLDER.mkdir(exist_ok=True)
    kept = {golden_path(*setting) for setting in settings()}
    for path in set(FOLDER.glob("*.jsonl")) - kept:
        path.unlink()
    for setting in settings():
        golden_path(*setting).write_text("\n".join(golden_lines(*setting)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_all()
