"""Agents by name: what `random`, `pimc:worlds=30` or `my_bots:Careful(risk=0.2)` stand for.

A spec is one of

* `name`, `name:value,key=value`: an agent of this project or of an installed package that registers one under the
  entry-point group `phantom_envs.agents`. Values are Python literals, or else taken as they stand
  (`neural:run/a.safetensors`).
* `module:Class`, `module:Class(value, key=value)`: a class to import; values are Python literals.
* `cmd:./my_bot --fast`: a program, see `external`.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
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
_KEYWORD = re.compile(r"(?P<key>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)


class InvalidSpec(PhantomError, ValueError):
    """A spec that names no agent, or one that cannot be made as it says."""


def make_agent(spec: str, game: Game, num_players: int, options: Mapping[str, Any]) -> Agent:
    """The agent that `spec` names, ready for this game.

    Raises:
        InvalidSpec: There is no such agent, or it does not take these values.
    """
    factory, values, keywords = _resolve(spec.strip())
    try:
        signature = inspect.signature(factory)
    except ValueError as error:
        raise InvalidSpec(f"agent {spec!r}: {error}") from error
    try:
        signature.bind(*values, **keywords)
    except TypeError as error:
        takes = ", ".join(map(str, signature.parameters.values())) or "no values"
        raise InvalidSpec(f"agent {spec!r}: {error}; it takes {takes}") from error
    try:
        agent = factory(*values, **keywords)
        prepare(agent, game, num_players, options)
    except PhantomError:
        raise  # says it well
    except (ImportError, OSError, ValueError) as error:
        raise InvalidSpec(f"agent {spec!r}: {error}") from error
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
        values, keywords = _plain_arguments(spec, rest) if colon else ([], {})
        return _load(spec, known[name]), values, keywords
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
        hint = ""
        if module.startswith("agents."):
            hint = "; it runs from a checkout of the repository, with the extra 'training' installed"
        raise InvalidSpec(f"agent {spec!r}: {error}{hint}") from error
    if not isinstance(found, type):
        raise InvalidSpec(f"agent {spec!r}: module {module} has no class {name}")
    return found


def _plain_arguments(spec: str, text: str) -> tuple[list[Any], dict[str, Any]]:
    """The values of `value,key=value`; a value that is no Python literal is a string."""
    values: list[Any] = []
    keywords: dict[str, Any] = {}
    for part in text.split(","):
        keyword = _KEYWORD.fullmatch(part.strip())
        if keyword is None:
            if keywords or not part.strip():
                raise InvalidSpec(f"agent {spec!r}: give values as value,key=value, those without a key first")
            values.append(_literal_or_text(part.strip()))
        elif keyword["key"] in keywords:
            raise InvalidSpec(f"agent {spec!r}: {keyword['key']} is given twice")
        else:
            keywords[keyword["key"]] = _literal_or_text(keyword["value"].strip())
    return values, keywords


def _literal_or_text(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _literal_call(spec: str, call: str) -> tuple[list[Any], dict[str, Any]]:
    """The values of `(value, key=value)`, literals only: nothing in a spec is executed."""
    wanted = InvalidSpec(f"agent {spec!r}: write Class(value, key=value) with Python literals only")
    try:
        node = ast.parse(f"_{call}", mode="eval").body
    except SyntaxError as error:
        raise wanted from error
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        raise wanted
    try:
        values = [ast.literal_eval(value) for value in node.args]
        keywords = {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords}
    except ValueError as error:
        raise wanted from error
    if None in keywords:  # **{…}
        raise wanted
    return values, {str(key): value for key, value in keywords.items()}
