"""Agents by name."""

from __future__ import annotations

import shutil
import sys
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
        ("mine:1,'a,b=c'", (1, "a,b=c", False)),
        ("mine:1,name='lr=0.1,seed=2/net.safetensors',wild=True", (1, "lr=0.1,seed=2/net.safetensors", True)),
        ("""mine:1, name="it's, so" , wild=True""", (1, "it's, so", True)),
        (r"mine:1,name='C:\new\table'", (1, r"C:\new\table", False)),
        ("mine:1,name=it's", (1, "it's", False)),
        ("mine:1,name=''", (1, "", False)),
        ("mine:1,name=", (1, "", False)),
    ],
)
def test_values(spec: str, values: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(specs.NAMED, "mine", BOT)
    agent = make(spec)
    assert isinstance(agent, Configured)
    assert agent.values == values
    assert agent.prepared == [("phantom_trick_v0", 4, {"reward": "win"})]


@pytest.fixture
def hydra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file in a folder as Hydra makes them, under the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(specs.NAMED, "mine", BOT)
    folder = tmp_path / "lr=0.1,seed=2"
    folder.mkdir()
    (folder / "net.safetensors").touch()
    return "lr=0.1,seed=2/net.safetensors"


def test_the_path_of_a_file_needs_no_quotes_in_front(hydra: str) -> None:
    assert make(f"mine:{hydra}").values == (hydra, "x", False)
    assert make(f"mine:{hydra},wild=True").values == (hydra, "x", True)
    assert make(f"mine:{hydra},'a,b',wild=True").values == (hydra, "a,b", True)
    assert make(f"mine:{Path.cwd()}/{hydra}").values == (f"{Path.cwd()}/{hydra}", "x", False)


def test_elsewhere_it_does(hydra: str) -> None:
    assert make(f"mine:1,name='{hydra}'").values == (1, hydra, False)
    for spec in (f"mine:1,name={hydra}", f"mine:level={hydra}", f"mine:no/{hydra}"):
        with pytest.raises(InvalidSpec, match="a path with = or commas goes into quotes"):
            make(spec)


def test_what_has_a_key_is_no_path(hydra: str) -> None:
    folder = Path("level=3")
    folder.mkdir()
    (folder / "net").touch()
    Path("worlds=5").touch()  # without a folder
    assert make("mine:level=3/net").values == ("3/net", "x", False)
    assert make("pimc:worlds=5").worlds == 5


def test_a_network_from_such_a_folder_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "lr=0.1,seed=2"
    folder.mkdir()
    shutil.copy("agents/weights/phantom_trick_v0_4.safetensors", folder / "agent.safetensors")
    monkeypatch.chdir(tmp_path)
    path = f"{folder.name}/agent.safetensors"
    for spec in (f"neural:{path}", f"neural:'{path}',choose=sample", f"ismcts:network='{path}',iterations=8"):
        _, results = play_match("phantom_trick_v0", [spec, "random"], 4, None, 1)
        assert results.decisions[0] > 0


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
        ("mine:1,name='open", "a quote must be closed"),
        ("mine:1,name='a'b", "a quote must be closed, with a comma or nothing behind it"),
        ("mine:1,", "give values as value,key=value"),
        (f"{BOT}({{[]}})", "literals only"),
        (f"{BOT}({'(' * 1000})", "literals only"),
        ("mine:{[]}", "^agent 'mine:.*': no such level"),
        ("neural:5", "network file 5: give the path of a .safetensors file"),
        ("ismcts:network=5", "network file 5: give the path"),
        ("neural:agents/weights/phantom_trick_v0_4.safetensors,device=cuda", "CUDA"),
        ("ismcts:network=agents/weights/phantom_trick_v0_4.safetensors,device=cuda", "CUDA"),
    ],
)
def test_bad_specs_say_why(spec: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(specs.NAMED, "mine", f"{__name__}:Refusing")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises((InvalidSpec, InvalidOption), match=message):
        make(spec)


class Refusing(First):
    """Takes no level at all."""

    def __init__(self, level: int, name: str = "") -> None:
        raise ValueError(f"no such level {level}")


RAISED = [
    TypeError("what"),
    AssertionError("what"),
    RuntimeError("what"),
    ZeroDivisionError("what"),
    SystemExit("what"),
]


@pytest.mark.parametrize("raised", RAISED)
@pytest.mark.parametrize("where", ["__init__", "prepare"])
def test_what_goes_wrong_in_an_agent_is_the_cause(
    raised: BaseException, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Configured, *_: Any) -> None:
        raise raised

    monkeypatch.setattr(Configured, where, fail)
    with pytest.raises(InvalidSpec, match=rf"{type(raised).__name__}: what \(test_specs.py, line \d+\)") as error:
        make(f"{BOT}(1)")
    assert error.value.__cause__ is raised
    assert raised.__traceback__ is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def wrong(:", r"SyntaxError: .*\(broken_bot.py, line 1\)"),
        ("1 / 0", r"ZeroDivisionError: division by zero \(broken_bot.py, line 1\)"),
        ("import sys; sys.exit()", "SystemExit"),
        ("import nothing_of_that_name", "No module named 'nothing_of_that_name'"),
    ],
)
def test_what_goes_wrong_in_its_module_is_named(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_bot.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InvalidSpec, match=message):
        make("broken_bot:Bot")


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
    with pytest.raises(InvalidSpec, match="it runs from a checkout of the repository; found here is <module 'agents'"):
        make("gone")


def test_agents_without_their_libraries_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    for module in ("agents.neural", "agents.network"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(InvalidSpec, match=r"needs the extra 'training': pip install 'phantom-envs\[training\]'"):
        make("neural:net.safetensors")
