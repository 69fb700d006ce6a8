"""Game records: one game after the other as JSON Lines, written, read and held against the engine.

The first line of a game holds `game`, `num_players`, `options`, `seed` and the dealt `state`; then comes a line for
each decision with `agent`, `legal` (names in order of their indexes), `action`, `state` (after it), `rewards` (of this
step), `terminated` and `truncated`. Records hold hidden information.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from phantom_envs.arena.agent import Agent, Decisions, ask, close_all, staying
from phantom_envs.arena.match import first_keys, seat_agents
from phantom_envs.arena.specs import InvalidSpec, make_agent
from phantom_envs.core.errors import InvalidBatch, InvalidPlayers, PhantomError
from phantom_envs.core.files import whole_file
from phantom_envs.core.game import Game
from phantom_envs.core.rng import as_seed, successors
from phantom_envs.core.table import Table
from phantom_envs.core.terminal import printable
from phantom_envs.registry import get_game

Line = dict[str, Any]

HEADER_KEYS = ("game", "num_players", "options", "seed", "state")
DECISION_KEYS = ("agent", "legal", "action", "state", "rewards", "terminated", "truncated")

REWARD_TOLERANCE = 1e-9
"""Records of other implementations may round a reward otherwise."""

MOST_SHOWN = 120
"""Characters of a value that an error shows."""


class RecordError(PhantomError, ValueError):
    """A record that is damaged or tells of a game that the engine would not play."""


class _Unfit(ValueError):
    """JSON that does not stand in a record."""


def header(table: Table, seed: int) -> Line:
    """The first line of the game just dealt."""
    return {
        "game": table.game.id,
        "num_players": table.num_players,
        "options": dict(table.options),
        "seed": seed,
        "state": table.state_dict(),
    }


def play(table: Table, action: int) -> Line:
    """Play an action, and the line that tells of it."""
    agent, legal, name = f"player_{table.seat}", table.legal_names(), table.action_name(action)
    table.play(action)
    return {
        "agent": agent,
        "legal": legal,
        "action": name,
        "state": table.state_dict(),
        "rewards": {f"player_{seat}": reward + 0.0 for seat, reward in enumerate(table.rewards.tolist())},  # no -0.0
        "terminated": table.terminated,
        "truncated": table.truncated,
    }


def record_game(
    game: Game,
    num_players: int | None,
    options: Mapping[str, Any] | None,
    seed: int,
    agents: Sequence[Agent],
    labels: Sequence[str] | None = None,
) -> Iterator[Line]:
    """Play a game and yield the lines of its record.

    Args:
        game: The game.
        num_players: Seats P, None for the game's default.
        options: The game's options.
        seed: Seed of the game. It is the game that a match plays of this deal in its first seating.
        agents: Who sits where, one agent a seat.
        labels: What they are called in errors.

    Raises:
        AgentError: An agent did not answer a legal action.
    """
    table = Table(game, num_players, options)
    dealt = as_seed(seed)
    table.deal(dealt)
    yield header(table, dealt)
    keys = first_keys(np.array([dealt], np.uint64), 1)[0]
    number = np.array([dealt >> 1], np.int64)  # tells the games of a record apart
    while not table.over:
        decisions = Decisions(game, table.num_players, table.options, table.states.copy(), keys, number)
        label = labels[table.seat] if labels else type(agents[table.seat]).__name__
        with staying(label):
            action = int(ask(agents[table.seat], label, decisions)[0])
        yield play(table, action)
        keys = successors(keys)


def as_text(line: Line) -> str:
    """A line as it stands in a file, without its end."""
    return json.dumps(line)


def write_games(
    path: Path,
    game: Game,
    specs: Sequence[str],
    num_players: int | None = None,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    games: int = 1,
) -> int:
    """Play games of the seeds `seed`, `seed + 1`, … and write their records one after the other.

    Args:
        path: File to write. It takes the place of what was there once all games are played, and not if one fails.
        game: The game.
        specs: Agents, at most one a seat, who sit in this order; the last one fills the seats left.
        num_players: Seats P, None for the game's default.
        options: The game's options.
        seed: Seed of the first game.
        games: Number of games, at least 1.

    Returns:
        Number of lines written.
    """
    players = game.check_players(num_players)
    settings = game.check_options(options or {})
    if games < 1:
        raise InvalidBatch(f"games={games}: at least one is needed")
    if not 1 <= len(specs) <= players:
        raise InvalidSpec(f"{len(specs)} agents for {players} seats; give one to {players}")
    made = [make_agent(spec, game, players, settings) for spec in specs]
    seats = seat_agents(len(specs), players)[0]
    lines = 0
    try:
        with whole_file(path) as file:
            for number in range(games):
                sitting, labels = [made[k] for k in seats], [specs[k] for k in seats]
                for line in record_game(game, players, settings, as_seed(seed + number), sitting, labels):
                    file.write(as_text(line) + "\n")
                    lines += 1
    finally:
        close_all(made, specs)
    return lines


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a file, read as they are asked for."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise RecordError(f"line {number}: no text in UTF-8 ({error})") from error


@dataclass(frozen=True)
class Step:
    """What `replay` found to be right.

    Attributes:
        number: Number of the line, from 1.
        line: The line.
        table: The game after it; the next step moves it on.
        first: Whether the line is the first of a game.
        secret: Whether only the seat that chose knows the line's action yet.
    """

    number: int
    line: Line
    table: Table
    first: bool
    secret: bool

    def picture(self, seat: int | None = None, color: bool = False) -> str:
        """What the line did and the table after it, as `seat` sees it; None shows all.

        A seat does not learn the seed, from which everything follows, nor what others have chosen in secret.
        """
        if seat is not None and not 0 <= seat < self.table.num_players:
            raise InvalidPlayers(f"seat={seat}: seats are 0 … {self.table.num_players - 1}")
        if self.first:
            title = f"seed {self.line['seed']}" if seat is None else f"the game as player_{seat} sees it"
        else:
            hidden = self.secret and seat is not None and self.line["agent"] != f"player_{seat}"
            action = "chooses in secret" if hidden else self.line["action"]
            rewards = " ".join(f"{reward:+g}" for reward in self.line["rewards"].values())
            title = f"{self.line['agent']}: {action}   rewards {rewards}"
        view = self.table.game.picture(self.table.state, seat, color)
        return f"line {self.number}: {title}\n{view}"


def replay(lines: Iterable[str]) -> Iterator[Step]:
    """Check a record line by line against the engine, as it is read.

    Args:
        lines: The lines of a file.

    Raises:
        RecordError: A line is not what the engine says it must be. It names the line and the first thing that differs.
    """
    number = 0
    try:
        for step in _checked(lines):
            number = step.number
            yield step
    except RecursionError as error:
        raise RecordError(f"line {number + 1}: nested too deeply for a record") from error


def _checked(lines: Iterable[str]) -> Iterator[Step]:
    table: Table | None = None
    number, begun = 0, 0
    for number, text in enumerate(lines, 1):
        line = _parse(number, text)
        if "game" in line:
            _require_over(table, begun, f"line {number} begins another")
            table, begun = _begin(number, line), number
            yield Step(number, line, table, first=True, secret=False)
            continue
        if table is None:
            raise RecordError(f"line {number}: the first line of a game, with {', '.join(HEADER_KEYS)}, is wanted here")
        if table.over:
            raise RecordError(f"line {number}: the game of line {begun} is over; nothing may follow but another game")
        secret = table.game.secret(table.state)
        _advance(number, line, table)
        yield Step(number, line, table, first=False, secret=secret)
    if table is None:
        raise RecordError("the record is empty")
    _require_over(table, begun, f"the record stops after line {number}")


def _parse(number: int, text: str) -> Line:
    try:
        line = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_integer
        )
    except _Unfit as error:
        raise RecordError(f"line {number}: {error}") from error
    except ValueError as error:
        raise RecordError(f"line {number}: no JSON ({error})") from error
    if not isinstance(line, dict):
        raise RecordError(f"line {number}: a JSON object is wanted, not {_shown(line)}")
    return line


def _object(pairs: list[tuple[str, Any]]) -> Line:
    line: Line = {}
    for key, value in pairs:
        if key in line:
            raise _Unfit(f"{printable(key, MOST_SHOWN)} is given twice")
        line[key] = value
    return line


def _constant(name: str) -> float:
    raise _Unfit(f"{name} is no number in JSON")


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _Unfit(f"{printable(text, MOST_SHOWN)} is too large a number")
    return value


def _integer(text: str) -> int:
    _float(text)
    return int(text)


def _shown(value: Any) -> str:
    return printable(json.dumps(value), MOST_SHOWN)


def _require_over(table: Table | None, begun: int, why: str) -> None:
    if table is not None and not table.over:
        raise RecordError(f"the game of line {begun} is not played to its end: {why}")


def _begin(number: int, line: Line) -> Table:
    _require_keys(number, line, HEADER_KEYS)
    try:
        table = Table(get_game(line["game"]), line["num_players"], line["options"])
        seed = as_seed(line["seed"])
    except (PhantomError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"line {number}: {printable(str(error), 3 * MOST_SHOWN)}") from error
    table.deal(seed)
    _require_same(number, header(table, seed), line)
    return table


def _advance(number: int, line: Line, table: Table) -> None:
    _require_keys(number, line, DECISION_KEYS)
    seat, names = f"player_{table.seat}", table.legal_names()
    _require_same(number, {"agent": seat, "legal": names}, {key: line[key] for key in ("agent", "legal")})
    if line["action"] not in names:
        raise RecordError(f"line {number}: {seat} may not {reprlib.repr(line['action'])}; legal are {', '.join(names)}")
    _require_same(number, play(table, table.legal()[names.index(line["action"])]), line)


def _require_keys(number: int, line: Line, keys: tuple[str, ...]) -> None:
    missing = [key for key in keys if key not in line]
    unknown = printable(", ".join(key for key in line if key not in keys), MOST_SHOWN)
    if missing or unknown:
        what = [f"{names} {verb}" for names, verb in ((", ".join(missing), "missing"), (unknown, "unknown")) if names]
        raise RecordError(f"line {number}: {'; '.join(what)}")


def _require_same(number: int, engine: Line, line: Line) -> None:
    found = difference(engine, line)
    if found is not None:
        raise RecordError(f"line {number}: {found}")


def difference(engine: Any, record: Any, place: str = "") -> str | None:
    """The first thing in which JSON data differ, or None. Floats are compared within `REWARD_TOLERANCE`."""
    if isinstance(engine, dict) and isinstance(record, dict):
        for key in [*engine, *(key for key in record if key not in engine)]:
            here = f"{place}.{key}" if place else str(key)
            if key not in record or key not in engine:
                return f"{printable(here, MOST_SHOWN)} is only in the {'engine' if key in engine else 'record'}"
            found = difference(engine[key], record[key], here)
            if found is not None:
                return found
        return None
    if isinstance(engine, list) and isinstance(record, list):
        for index, pair in enumerate(zip(engine, record, strict=False)):
            found = difference(*pair, f"{place}[{index}]")
            if found is not None:
                return found
        if len(engine) == len(record):
            return None
    elif isinstance(engine, float) and isinstance(record, int | float) and not isinstance(record, bool):
        if math.isclose(engine, record, rel_tol=0.0, abs_tol=REWARD_TOLERANCE):
            return None
    elif type(engine) is type(record) and engine == record:
        return None
    return f"{place} is {_shown(record)} in the record, {_shown(engine)} in the engine"
