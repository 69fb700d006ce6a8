"""Agents by name: what `random`, `pimc:worlds=30` or `my_bots:Careful(risk=0.2)` stand for.

A spec is one of

* `name`, `name:value,key=value`: an agent of this project or of an installed package that registers one under the
  entry-point group `phantom_envs.agents`. A value ends at the next comma; it is a Python literal, or else text as it
  stands (`neural:run/a.safetensors`). Text with commas in it, or with a `=` where no key stands before, goes into
  quotes, single or double, between which every character counts as it is:
  `ismcts:network='lr=0.1,seed=2/a.safetensors',iterations=200`. The first value may do without if it is the path, with
  a folder, of a file that exists: `neural:lr=0.1,seed=2/a.safetensors,choose=sample`.
* `module:Class`, `module:Class(value, key=value)`: a class to import; values are Python literals.
* `cmd:./my_bot --fast`: a program, see `external`.

On a command line, a spec with quotes, blanks or parentheses needs quotes of the shell's around it.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import sys
from collections.abc import Container, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from traceback import extract_tb
from typing import Any

from phantom_envs.arena.agent import Agent, prepare
from phantom_envs.core.errors import PhantomError
from phantom_envs.core.game import Game

ENTRY_POINTS = "phantom_envs.agents"

NAMED: dict[str, str] = {
    "random": "phantom_envs.arena.builtin:RandomAgent",
    "rule": "phantom_envs.arena.builtin:RuleAgent",
    "pimc": "agents.pimc:PimcAgent",
    "ismcts": "agents.ismcts:IsmctsAgent",
    "neural": "agents.neural:NeuralAgent",
}
"""Per name, where its class is; `agents` is the folder of a checkout and not in the wheel."""

PROGRAM = "phantom_envs.arena.external:CommandAgent"

_CLASS = re.compile(r"(?P<place>[A-Za-z_][\w.]*:[A-Za-z_]\w*)\s*(?P<call>\(.*\))?", re.DOTALL)
_ARGUMENT = re.compile(
    r"""\s* (?:(?P<key>[A-Za-z_]\w*)=)?+ \s*
    (?: '(?P<single>[^']*)' | "(?P<double>[^"]*)" | (?P<plain>(?!['"])[^,]*) ) \s* (?P<more>,|\Z)""",
    re.VERBOSE,
)


class InvalidSpec(PhantomError, ValueError):
    """A spec that names no agent, or one that cannot be made as it says."""


def make_agent(spec: str, game: Game, num_players: int, options: Mapping[str, Any]) -> Agent:
    """The agent that `spec` names, ready for this game.

    Raises:
        InvalidSpec: There is no such agent, or it does not take these values.
    """
    factory, values, keywords = _resolve(spec.strip())
    signature = _signature(spec, factory)
    try:
        signature.bind(*values, **keywords)
    except TypeError as error:
        takes = ", ".join(map(str, signature.parameters.values())) or "no values"
        hint = "; a path with = or commas goes into quotes" if "/" in spec or "\\" in spec else ""
        raise InvalidSpec(f"agent {spec!r}: {error}; it takes {takes}{hint}") from error
    try:
        agent = factory(*values, **keywords)
        prepare(agent, game, num_players, options)
    except PhantomError:
        raise  # says it well
    except (ImportError, OSError, ValueError) as error:
        raise InvalidSpec(f"agent {spec!r}: {error}") from error
    except (Exception, SystemExit) as error:  # whatever a class makes of values that it does not expect
        raise InvalidSpec(f"agent {spec!r}: {_what_and_where(error)}") from error
    if not isinstance(agent, Agent):
        raise InvalidSpec(f"agent {spec!r}: a {type(agent).__name__} has no method act(decisions)")
    return agent


def named_agents() -> dict[str, str]:
    """All names that specs may begin with and where their classes are; this project's come first."""
    return {entry.name: entry.value for entry in entry_points(group=ENTRY_POINTS)} | NAMED


def _resolve(spec: str) -> tuple[type[Any], list[Any], dict[str, Any]]:
    name, colon, rest = spec.partition(":")
    if name == "cmd":
        return _load(spec, PROGRAM), [rest], {}
    known = named_agents()
    if name in known:
        factory = _load(spec, known[name])
        if not colon:
            return factory, [], {}
        return factory, *_plain_arguments(spec, rest, _signature(spec, factory).parameters)
    match = _CLASS.fullmatch(spec)
    if match is None:
        raise InvalidSpec(
            f"no agent {spec!r}; give {', '.join(sorted(known))}, module:Class(…) or cmd:program, "
            "with values as in name:key=value"
        )
    values, keywords = _literal_call(spec, match["call"] or "()")
    return _load(spec, match["place"]), values, keywords


def _load(spec: str, place: str) -> type[Any]:
    module, _, name = place.partition(":")
    try:
        found = getattr(import_module(module), name, None)
    except ImportError as error:
        raise InvalidSpec(f"agent {spec!r}: {error}{_remedy(module, error)}") from error
    except (Exception, SystemExit) as error:  # whatever is wrong with that module
        raise InvalidSpec(f"agent {spec!r}: {_what_and_where(error)}") from error
    if not isinstance(found, type):
        raise InvalidSpec(f"agent {spec!r}: module {module} has no class {name}")
    return found


def _remedy(module: str, error: ImportError) -> str:
    """What to do where an agent of this project cannot be imported."""
    if not module.startswith("agents."):
        return ""
    if error.name and error.name.partition(".")[0] != "agents":
        return "; it needs the extra 'training': pip install 'phantom-envs[training]'"
    other = sys.modules.get("agents")
    found = f"; found here is {other}" if other else ""
    return f"; it runs from a checkout of the repository{found}"


def _signature(spec: str, factory: type[Any]) -> inspect.Signature:
    try:
        return inspect.signature(factory)
    except ValueError as error:
        raise InvalidSpec(f"agent {spec!r}: {error}") from error


def _what_and_where(error: BaseException) -> str:
    """An error that was not meant for whoever wrote the spec, and may say little."""
    last = extract_tb(error.__traceback__)[-1]
    where = "" if isinstance(error, SyntaxError) else f" ({Path(last.filename).name}, line {last.lineno})"
    return f"{type(error).__name__}: {error}{where}"


def _plain_arguments(spec: str, text: str, parameters: Container[str]) -> tuple[list[Any], dict[str, Any]]:
    """The values of `value,key=value`, as the head of this file has it."""
    values: list[Any] = []
    keywords: dict[str, Any] = {}
    position = 0
    if path := _leading_path(text, parameters):
        values, position = [path], len(path) + 1
    while position <= len(text):
        found = _ARGUMENT.match(text, position)
        if found is None:
            raise InvalidSpec(f"agent {spec!r}: a quote must be closed, with a comma or nothing behind it")
        position = found.end() if found["more"] else len(text) + 1
        key, plain = found["key"], found["plain"]
        value = (found["single"] or found["double"] or "") if plain is None else _literal_or_text(plain.strip())
        if key is None:
            if keywords or (plain is not None and not plain.strip()):
                raise InvalidSpec(f"agent {spec!r}: give values as value,key=value, those without a key first")
            values.append(value)
        elif key in keywords:
            raise InvalidSpec(f"agent {spec!r}: {key} is given twice")
        else:
            keywords[key] = value
    return values, keywords


def _leading_path(text: str, parameters: Container[str]) -> str:
    """As much of `text`, up to a comma or its end, as is the path of a file in a folder; nothing if a key leads it."""
    if text.partition("=")[0] in parameters:
        return ""
    parts = text.split(",")
    paths = (",".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((path for path in paths if Path(path).name != path and os.path.isfile(path)), "")  # noqa: PTH113  # Path's raises for what can be no path


def _literal_or_text(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # all that it is documented to raise
        return text


def _literal_call(spec: str, call: str) -> tuple[list[Any], dict[str, Any]]:
    """The values of `(value, key=value)`, literals only: nothing in a spec is executed."""
    wanted = InvalidSpec(f"agent {spec!r}: write Class(value, key=value) with Python literals only")
    try:
        node = ast.parse(f"_{call}", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise wanted from error
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        raise wanted
    try:
        values = [ast.literal_eval(value) for value in node.args]
        keywords = {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords}
    except (ValueError, TypeError) as error:
        raise wanted from error
    if None in keywords:  # **{…}
        raise wanted
    return values, {str(key): value for key, value in keywords.items()}
