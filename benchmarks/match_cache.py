"""Matches on disk: each block of deals is played once and kept as a JSON file, so a rerun plays only what is missing.

A file's name is a hash of all that decides what is in it: game, players, options, the agents' specs, the contents of
the files that these name (a network, a program), the code of the rules and of the agents, and the deals. Comments and
docstrings do not count as code. Machine and versions are noted in the file and do not count either; where an agent
plays by the clock they matter, so keep a folder of files to one machine.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any

import numpy as np

import phantom_envs
from phantom_envs.arena.match import Results, Setting, play_match
from phantom_envs.arena.specs import PROGRAM, InvalidSpec, named_agents
from phantom_envs.core.errors import PhantomError
from phantom_envs.registry import GAMES, get_game

FORMAT = 1
"""Goes up when files come to be written otherwise."""

LIBRARY = Path(phantom_envs.__file__).parent

SUFFIXES = (".py", ".txt")
"""What counts as a source: code, and the tables that it reads to build its constants."""

ARENA = "phantom_envs.arena"
LOOKS_UP = "phantom_envs.arena.specs"
"""Finds agents by name and plays no part in a match: a new name there leaves old matches valid."""


class CorruptMatch(PhantomError, ValueError):
    """A file of the cache that is not the whole record of its match."""


@dataclass(frozen=True)
class Block:
    """Some deals of a match.

    Attributes:
        game: Id of the game, with its default options.
        num_players: Seats P.
        specs: The E different agents as `play_match` takes them.
        seed: Seed of these deals.
        deals: Number of deals D.
        key: All that decides the outcome, as JSON.
    """

    game: str
    num_players: int
    specs: tuple[str, ...]
    seed: int
    deals: int
    key: str

    def path(self, folder: Path) -> Path:
        """Its file."""
        return folder / f"{hashlib.sha256(self.key.encode()).hexdigest()[:32]}.json"


@dataclass(frozen=True)
class Played:
    """A match, or a part of one, that has been played.

    Attributes:
        setting: The match.
        results: What came of it.
        machines: Where it was played, see `machine.describe`.
        dates: The days, as `2026-01-31`.
    """

    setting: Setting
    results: Results
    machines: tuple[Mapping[str, Any], ...]
    dates: tuple[str, ...]


def make_block(
    game: str, num_players: int, specs: tuple[str, ...], agents: tuple[str, ...], rules: str, seed: int, deals: int
) -> Block:
    """A block; `agents` are the `identity` of each spec, `rules` is the game's `rules_hash`."""
    about = {
        "format": FORMAT,
        "game": game,
        "num_players": num_players,
        "options": get_game(game).check_options({}),
        "agents": agents,
        "rules": rules,
        "seed": seed,
        "deals": deals,
    }
    return Block(game, num_players, specs, seed, deals, json.dumps(about, sort_keys=True))


def identity(spec: str) -> str:
    """What an agent is: its spec with the contents of files in place of their paths, and a hash of its code.

    Raises:
        InvalidSpec: There is no such agent.
    """
    name, colon, rest = spec.partition(":")
    known = {"cmd": PROGRAM} | named_agents()
    place = known.get(name, spec.partition("(")[0])
    module, found, _ = place.partition(":")
    code = list(sources(module)) if module and found else []
    if not code:
        raise InvalidSpec(f"no agent {spec!r}; give {', '.join(sorted(known))} or module:Class(…)")
    values = "".join(map(_contents, re.split(r"([\s,=()'\"]+)", rest)))
    return f"{name}{colon}{values} {_hash_files(code)}"


def _contents(word: str) -> str:
    """The hash of a file for its path, anything else as it is."""
    path = Path(word)
    return f"sha256-{hashlib.sha256(path.read_bytes()).hexdigest()}" if word and path.is_file() else word


@cache
def rules_hash(game: str) -> str:
    """Hash of the code that plays a game; it does not change under a process that has it in memory."""
    folders = LIBRARY / "core", LIBRARY / "games" / GAMES[game].rpartition(".")[2]
    files = [path for root in folders for path in root.rglob("*") if path.suffix in SUFFIXES]
    return _hash_files([*files, *sources("phantom_envs.arena.match")])


def sources(module: str) -> Iterator[Path]:
    """The file of a module and of whatever it imports, directly or not, from its own top-level package.

    Of this library only what lies in `arena`: the rest are the rules.
    """
    within = ARENA if module.startswith(f"{ARENA}.") else module.partition(".")[0]
    top = find_spec(module.partition(".")[0])
    if top is None or top.origin is None:
        return
    places = top.submodule_search_locations
    root = Path(places[0] if places else top.origin).parent
    seen = {LOOKS_UP}
    wanted = [module]
    while wanted:
        name = wanted.pop()
        if name in seen or not (name == within or name.startswith(f"{within}.")):
            continue
        seen.add(name)
        base = root.joinpath(*name.split("."))
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file():
                yield path
                wanted += _imports(path, name if path.name == "__init__.py" else name.rpartition(".")[0])


def _imports(path: Path, package: str) -> Iterator[str]:
    """Names that may be modules, of all import statements of a file."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module or ""
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)


def _hash_files(paths: Sequence[Path]) -> str:
    """Hash of what files hold, wherever the checkout lies."""
    parts = sorted((path.parent.name, path.name, _code(path)) for path in paths)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _code(path: Path) -> str:
    """A source without comments, layout and docstrings: hours of play should outlive a better wording."""
    if path.suffix != ".py":
        return path.read_text(encoding="utf-8")
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            del node.body[0]
    return ast.dump(tree)


def play_block(block: Block, folder: Path, machine: Mapping[str, Any]) -> None:
    """Play a block and keep it; a reader finds the whole file or none."""
    setting, results = play_match(
        block.game, block.specs, block.num_players, deals=block.deals, seed=block.seed, workers=1
    )
    seats = 1 << np.arange(block.num_players)
    record = {
        "key": json.loads(block.key),
        "machine": dict(machine),
        "played": datetime.now(UTC).date().isoformat(),
        "seating": setting.seating.tolist(),
        "winners": ((results.share > 0) @ seats).tolist(),
        "points": results.points.tolist(),
        "decisions": results.decisions.tolist(),
        "seconds": results.seconds.tolist(),
    }
    path = block.path(folder)
    partial = path.with_suffix(f".{os.getpid()}.tmp")
    partial.write_text(json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8")
    partial.replace(path)


def read_block(block: Block, folder: Path, labels: tuple[str, ...]) -> Played:
    """What was played of a block.

    Args:
        block: The block.
        folder: Of the cache.
        labels: What its agents are to be called.

    Raises:
        CorruptMatch: The file is not the whole record of this block.
    """
    path = block.path(folder)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if json.dumps(record["key"], sort_keys=True) != block.key:
            raise ValueError("it is about another match")
        seating = np.array(record["seating"], np.int64)
        shape = (block.deals, *seating.shape)
        won = np.array(record["winners"], np.int64).reshape(shape[:2])[..., None] >> np.arange(block.num_players) & 1
        winners = won.sum(axis=2, keepdims=True)
        results = Results(
            share=won / np.maximum(winners, 1),
            points=np.array(record["points"], np.int64).reshape(shape),
            truncated=winners[..., 0] == 0,
            decisions=np.array(record["decisions"], np.int64).reshape(len(labels)),
            seconds=np.array(record["seconds"], np.float64).reshape(len(labels)),
        )
        options = record["key"]["options"]
        setting = Setting(block.game, block.num_players, options, block.specs, labels, seating, block.seed, block.deals)
        return Played(setting, results, (record["machine"],), (record["played"],))
    except (ValueError, KeyError, TypeError) as error:
        raise CorruptMatch(
            f"{path}: not the whole record of a match ({type(error).__name__}: {error}); "
            "delete this file and run again, which plays its deals anew"
        ) from error


def join(parts: Sequence[Played], seed: int) -> Played:
    """The blocks of a match as one, of that seed."""
    results = [part.results for part in parts]
    setting = parts[0].setting
    machines = {json.dumps(machine, sort_keys=True): machine for part in parts for machine in part.machines}
    return Played(
        setting=replace(setting, seed=seed, deals=sum(part.setting.deals for part in parts)),
        results=Results(
            share=np.concatenate([each.share for each in results]),
            points=np.concatenate([each.points for each in results]),
            truncated=np.concatenate([each.truncated for each in results]),
            decisions=np.sum([each.decisions for each in results], axis=0),
            seconds=np.sum([each.seconds for each in results], axis=0),
        ),
        machines=tuple(machines.values()),
        dates=tuple(sorted({date for part in parts for date in part.dates})),
    )
