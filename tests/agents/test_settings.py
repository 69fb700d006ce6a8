"""Settings of the named agents that cannot work: each is refused with a named error before anything is played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.ismcts import IsmctsAgent
from agents.network import PolicyValueNet, save_network
from agents.network_header import WrongNetwork
from agents.neural import NeuralAgent
from agents.pimc import PimcAgent
from phantom_envs.arena.specs import InvalidSpec, make_agent
from phantom_envs.core.errors import InvalidOption
from phantom_envs.registry import get_game

GAME = get_game("fantasmagoria_v0")

NO_NUMBER: list[Any] = ["x", "", "1", [1], {}, (), None, b"1", 1j, True, float("nan"), np.zeros(2)]

NO_TEXT: list[Any] = [5, -1, 0.5, float("nan"), True, None, [], ["rule"], {}, ("cpu",), b"cpu", 10**5000, np.zeros(2)]

NO_INTEGER: list[Any] = [*NO_NUMBER, 0, -1, 1.0, float("inf"), 10**10, 10**30, 10**5000, -(10**5000)]

NO_SHARE: list[Any] = [*NO_NUMBER, -0.1, 1.1, -1, 2, float("inf"), float("-inf"), 10**400, 10**5000]

NO_AMOUNT: list[Any] = [*NO_NUMBER, 0, -1, 0.0, float("inf"), float("-inf"), 1e300, 10**400, 10**5000]

SEARCH = {
    "rollout": [*NO_TEXT, "rulebot", "x" * 10**5, "\x1b[2J"],
    "horizon": [*NO_TEXT, "round"],
    "goal": [*NO_TEXT, "points"],
    "noise": NO_SHARE,
    "milliseconds": [value for value in NO_AMOUNT if value is not None],
    "searches": NO_INTEGER,
    "threads": NO_INTEGER,
}

PIMC = SEARCH | {"worlds": NO_INTEGER, "playouts": NO_INTEGER}

ISMCTS = SEARCH | {
    "iterations": NO_INTEGER,
    "selection": [*NO_TEXT, "uct"],
    "exploration": NO_AMOUNT,
    "trust": [value for value in NO_SHARE if value is not None],
    "reuse": ["yes", 0, 1, None, [], float("nan"), 10**5000],
    "network": [value for value in NO_TEXT if value is not None],
    "device": NO_TEXT,
    "blend": [value for value in NO_SHARE if value is not None],
    "leaves": NO_INTEGER,
    "threshold": NO_INTEGER,
    "doubt": [value for value in NO_SHARE if value is not None],
}


@pytest.mark.parametrize(
    ("kind", "name"), [(PimcAgent, name) for name in PIMC] + [(IsmctsAgent, name) for name in ISMCTS]
)
def test_settings_of_a_search(kind: type[PimcAgent | IsmctsAgent], name: str) -> None:
    settings = ISMCTS if kind is IsmctsAgent else PIMC
    for value in settings[name]:
        with pytest.raises(InvalidOption, match=name) as caught:
            kind(**{name: value})
        assert len(str(caught.value)) < 300
        assert "\x1b" not in str(caught.value)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("network") / "net.safetensors"
    save_network(path, PolicyValueNet.for_game(GAME, 3, width=8), {"game": GAME.id, "num_players": 3})
    return path


@pytest.mark.parametrize(("name", "word"), [("path", "network file"), ("device", "device"), ("choose", "choose")])
def test_settings_of_a_network(name: str, word: str, path: Path) -> None:
    for value in NO_TEXT:
        with pytest.raises(InvalidOption, match=word):
            NeuralAgent(**({"path": path} | {name: value}))
    with pytest.raises(InvalidOption, match="choose='worst': choose one of 'best', 'sample'"):
        NeuralAgent(path, choose="worst")


def test_trees_that_are_too_large(path: Path) -> None:
    judged = IsmctsAgent(iterations=10**7, network=path, reuse=True)
    with pytest.raises(InvalidOption, match="give fewer iterations"):
        judged.prepare(GAME, 3, GAME.check_options({}))


def test_trees_for_which_there_is_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(trees: int, nodes: int, edges: int) -> None:
        raise MemoryError

    monkeypatch.setattr("agents.ismcts.Forest", full)
    with pytest.raises(InvalidOption, match="do not fit into the memory: give fewer iterations"):
        IsmctsAgent().prepare(GAME, 3, GAME.check_options({}))


@pytest.mark.parametrize(
    "spec",
    [
        "neural:5",
        "neural:True",
        "neural:[1]",
        "neural:.",
        "neural:",
        "neural",
        "neural:/dev/zero",
        "neural:{path},device=nowhere",
        "neural:{path},device=cuda:99",
        "neural:{path},device=5",
        "neural:{path},choose=0",
        "neural:{path},{path}",
        "ismcts:network=5",
        "ismcts:network=.",
        "ismcts:network=",
        "ismcts:network={path},device=cuda:99",
        "ismcts:network={path},device=nowhere,rollout=none",
        "ismcts:iterations=1e400",
        "ismcts:rollout=[]",
        "ismcts:iterations=None",
        "pimc:worlds=x",
        "pimc:worlds=1e3",
        "pimc:worlds=" + "9" * 400,
        "pimc:worlds=" + "9" * 5000,
        "pimc:noise=nan",
        "pimc:milliseconds=inf",
        "pimc:milliseconds=1e308",
        "pimc:threads=1000000000",
        "pimc:horizon={{}}",
        "random:5",
        "random:seed=1",
        "rule:x",
    ],
)
def test_specs_that_cannot_work(spec: str, path: Path) -> None:
    with pytest.raises((InvalidSpec, InvalidOption, WrongNetwork)):
        make_agent(spec.format(path=path), GAME, 3, GAME.check_options({}))
