"""Agents by name."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from agents.ismcts import IsmctsAgent
from agents.pimc import PimcAgent
from phantom_envs.arena import specs
from phantom_envs.arena.builtin import RandomAgent, RuleAgent
from phantom_envs.arena.match import play_match
from phantom_envs.arena.specs import InvalidSpec, make_agent
from phantom_envs.core.errors import InvalidOption
from phantom_envs.registry import get_game
from tests.arena.bots import Configured, First

BOT = "tests.arena.bots:Configured"


def make(spec: str) -> Any:
    game = get_game("phantom_trick_v0")
    return make_agent(spec, game, 4, game.check_options({}))


@pytest.mark.parametrize(
    ("spec", "kind"), [("random", RandomAgent), (" rule ", RuleAgent), ("tests.arena.bots:First", First)]
)
def test_names_and_classes(spec: str, kind: type) -> None:
    assert type(make(spec)) is kind


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        (f"{BOT}(3)", (3, "x", False)),
        (f"{BOT}(-1, 'a,b=c', wild=True)", (-1, "a,b=c", True)),
        (f"{BOT}(level=2, name='(y)')", (2, "(y)", False)),
        ("mine:3", (3, "x", False)),
        ("mine:3,runs/a=b/net.safetensors", (3, "runs/a=b/net.safetensors", False)),
        ("mine:level=0x10, name=plain text, wild=True", (16, "plain text", True)),
        ("mine:1,name='7'", (1, "7", False)),
    ],
)
def test_values(spec: str, values: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(specs.NAMED, "mine", BOT)
    agent = make(spec)
    assert isinstance(agent, Configured)
    assert agent.values == values
    assert agent.prepared == [("phantom_trick_v0", 4, {"reward": "win"})]


def test_searching_agents() -> None:
    pimc = make("pimc:worlds=5,rollout=random")
    assert isinstance(pimc, PimcAgent)
    assert (pimc.worlds, pimc.rollout, pimc.milliseconds) == (5, "random", None)
    ismcts = make("ismcts:iterations=20,milliseconds=2.5,horizon=deal,reuse=True")
    assert isinstance(ismcts, IsmctsAgent)
    assert (ismcts.iterations, ismcts.milliseconds, ismcts.horizon, ismcts.reuse) == (20, 2.5, "deal", True)


def test_searching_agents_play() -> None:
    specs = ["pimc:worlds=5", "ismcts:iterations=20", "rule"]
    _, results = play_match("phantom_trick_v0", specs, 3, None, 1, 0, 1)
    assert results.share.shape == (1, 3, 3)
    assert (results.decisions > 0).all()


def test_installed_packages_register_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [EntryPoint("theirs", BOT, specs.ENTRY_POINTS), EntryPoint("random", BOT, specs.ENTRY_POINTS)]

    def entry_points(group: str) -> list[EntryPoint]:
        assert group == "phantom_envs.agents"
        return entries

    monkeypatch.setattr(specs, "entry_points", entry_points)
    assert make("theirs:5").values == (5, "x", False)
    assert type(make("random")) is RandomAgent


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "no agent ''; give .*random"),
        ("nobody", "no agent 'nobody'; give .*random, rule, module:Class"),
        ("nobody:3", "agent 'nobody:3': No module named 'nobody'|no agent 'nobody:3'"),
        ("random:3", "takes no arguments|too many positional arguments; it takes no values"),
        ("rule:", "give values as value,key=value"),
        ("rule:a=1,a=2", "a is given twice"),
        ("rule:a=1,2", "those without a key first"),
        (BOT, "missing a required argument: 'level'; it takes level"),
        (f"{BOT}(1, what=2)", "unexpected keyword argument 'what'"),
        ("tests.arena.bots:Missing", "module tests.arena.bots has no class Missing"),
        ("tests.arena.bots:np", "module tests.arena.bots has no class np"),
        ("tests.arena.nowhere:Bot", "No module named 'tests.arena.nowhere'"),
        ("tests.arena.bots:NoAgent", r"a NoAgent has no method act\(decisions\)"),
        (f"{BOT}(len('abc'))", "literals only"),
        (f"{BOT}(**{{'level': 1}})", "literals only"),
        (f"{BOT}(1)(2)", "literals only"),
        (f"{BOT}(1) + f(2)", "literals only"),
        (f"{BOT}(1", "no agent"),
        (f"{BOT}(1,,2)", "literals only"),
        ("pimc:worlds=0", "worlds=0: give an integer of at least 1"),
        ("pimc:iterations=5", "unexpected keyword argument 'iterations'; it takes worlds"),
        ("ismcts:rollout=best", "rollout='best': choose one of 'random', 'rule', 'none'"),
        ("cmd:", "names no program"),
        ("cmd:'open", "No closing quotation"),
    ],
)
def test_bad_specs_say_why(spec: str, message: str) -> None:
    with pytest.raises((InvalidSpec, InvalidOption), match=message):
        make(spec)


def test_nothing_in_a_spec_is_executed(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with pytest.raises(InvalidSpec):
        make(f"{BOT}(__import__('pathlib').Path({str(mark)!r}).touch())")
    assert not mark.exists()


def test_what_a_constructor_says_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def prepare(self: Configured, *_: Any) -> None:
        raise OSError("no such file")

    monkeypatch.setattr(Configured, "prepare", prepare)
    with pytest.raises(InvalidSpec, match="no such file"):
        make(f"{BOT}(1)")


def test_agents_of_a_checkout_say_so_when_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(specs.NAMED, "gone", "agents.not_there:Agent")
    with pytest.raises(InvalidSpec, match="it runs from a checkout of the repository"):
        make("gone")
