"""Network files: whole ones are read as they were written, all others are refused with a named error, and at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch
from torch import Tensor

from agents import network
from agents.network import PolicyValueNet, load_network, save_network
from agents.network_header import WrongNetwork
from agents.neural import NeuralAgent
from agents.vouch import vouch
from phantom_envs.core.errors import InvalidOption
from phantom_envs.core.layout import Layout
from phantom_envs.core.table import Table
from phantom_envs.registry import get_game
from tests.agents.support import decisions_of

GAME = get_game("phantom_trick_v0")
ABOUT = {"game": GAME.id, "num_players": 4}
WEIGHTS = Path(__file__).parents[2] / "agents" / "weights"


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and header of a whole file."""
    path = tmp_path_factory.mktemp("network") / "net.safetensors"
    save_network(path, PolicyValueNet.for_game(GAME, 4, width=8), ABOUT)
    with safetensors.safe_open(path, "pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118  # no dict


def written(folder: Path, tensors: dict[str, Tensor], header: dict[str, str] | None) -> Path:
    path = folder / "changed.safetensors"
    path.write_bytes(safetensors.torch.save(tensors, header))
    return path


def with_shape(header: dict[str, str], **changes: Any) -> dict[str, str]:
    return header | {"network": json.dumps(json.loads(header["network"]) | changes)}


def test_a_whole_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    net = PolicyValueNet.for_game(GAME, 4, width=8, depth=3)
    save_network(tmp_path / "net.safetensors", net, ABOUT)
    twin, about = load_network(tmp_path / "net.safetensors")
    assert about == ABOUT
    assert twin.shape == net.shape
    assert twin.shape["layout"] == GAME.layout(4).digest
    for name, tensor in net.state_dict().items():
        assert torch.equal(tensor, twin.state_dict()[name])


@pytest.mark.parametrize(
    "changes",
    [
        {"width": 12_000},
        {"depth": 10**6},
        {"observation_size": 10**9},
        {"num_actions": 10**300},
        {"width": 10**18, "depth": 10**18},
        {"width": 7},
        {"width": 0},
        {"width": -8},
        {"depth": 0},
        {"depth": 1},
        {"depth": True},
        {"width": 8.0},
        {"width": "8"},
        {"width": None},
        {"width": [8]},
        {"num_actions": float("nan")},
        {"rows": 5},
        {"rows": {}},
        {"rows": []},
        {"rows": [5]},
        {"rows": [[163, 11, 60]]},
        {"rows": [[163, 11, 60, "0"]]},
        {"rows": [[163, 11, 60, -1]]},
        {"rows": [[163, 11, 60, 1]]},
        {"rows": [[800, 11, 60, 0]]},
        {"rows": [[-1, 11, 60, 0]]},
        {"rows": [[163, 10**300, 60, 0]]},
        {"rows": [[0, 1, 1, 0]] * 10**4},
        {"layout": 5},
        {"layout": None},
        {"layout": ["a"]},
        {"rank": 3},
    ],
)
def test_a_shape_that_is_not_that_of_the_tensors(
    changes: dict[str, Any],
    parts: tuple[dict[str, Tensor], dict[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Building it first would take minutes, or all memory."""

    def build(**shape: Any) -> None:
        raise AssertionError("a network was built")

    monkeypatch.setattr(network, "PolicyValueNet", build)
    with pytest.raises(WrongNetwork, match="is not a network file of this project") as caught:
        load_network(written(tmp_path, parts[0], with_shape(parts[1], **changes)))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("missing", ["observation_size", "num_actions", "rows", "width", "depth"])
def test_a_shape_that_lacks_something(
    missing: str, parts: tuple[dict[str, Tensor], dict[str, str]], tmp_path: Path
) -> None:
    shape = json.loads(parts[1]["network"])
    del shape[missing]
    with pytest.raises(WrongNetwork, match=missing):
        load_network(written(tmp_path, parts[0], parts[1] | {"network": json.dumps(shape)}))


Change = Callable[[dict[str, Tensor]], object]

TENSOR_FAULTS: dict[str, tuple[Change, str]] = {
    "missing": (lambda t: t.pop("value.bias"), "holds 10 tensors where its header asks for 11"),
    "extra": (lambda t: t.update(more=torch.zeros(1)), "holds 12 tensors where its header asks for 11"),
    "renamed": (lambda t: t.update(worth=t.pop("value.bias")), "the tensor value.bias is missing"),
    "none": (lambda t: t.clear(), "is not a network file of this project"),
    "double": (lambda t: t.update(scale=t["scale"].double()), "scale is torch.float64"),
    "half": (lambda t: t.update({"policy.bias": t["policy.bias"].half()}), "policy.bias is torch.float16"),
    "integer": (lambda t: t.update({"value.bias": torch.ones(1, dtype=torch.int32)}), "value.bias is torch.int32"),
    "turned": (lambda t: t.update({"policy.weight": t["policy.weight"].T.contiguous()}), r"of \[8, 60\]"),
    "flat": (lambda t: t.update({"value.weight": t["value.weight"].ravel()}), r"of \[8\] where .* of \[1, 8\]"),
    "longer": (lambda t: t.update(scale=torch.ones(837)), r"of \[837\] where .* of \[836\]"),
}


@pytest.mark.parametrize("fault", TENSOR_FAULTS)
def test_tensors_that_are_not_those_of_the_shape(
    fault: str, parts: tuple[dict[str, Tensor], dict[str, str]], tmp_path: Path
) -> None:
    change, message = TENSOR_FAULTS[fault]
    tensors = dict(parts[0])
    change(tensors)
    with pytest.raises(WrongNetwork, match=message):
        load_network(written(tmp_path, tensors, parts[1]))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("name", ["body.0.weight", "policy.bias", "weights.weight", "value.bias", "scale"])
def test_numbers_that_are_not_finite(
    number: float, name: str, parts: tuple[dict[str, Tensor], dict[str, str]], tmp_path: Path
) -> None:
    changed = parts[0][name].clone()
    changed.view(-1)[-1] = number
    with pytest.raises(WrongNetwork, match=f"the tensor {name} holds numbers that are not finite"):
        load_network(written(tmp_path, parts[0] | {name: changed}, parts[1]))


def test_numbers_that_overflow_in_play(parts: tuple[dict[str, Tensor], dict[str, str]], tmp_path: Path) -> None:
    largest = torch.finfo(torch.float32).max
    changed = {name: torch.full_like(tensor, largest) for name, tensor in parts[0].items() if name.startswith("body")}
    agent = NeuralAgent(written(tmp_path, parts[0] | changed, parts[1]))
    table = Table(GAME, 4)
    table.deal(0)
    agent.prepare(GAME, 4, table.options)
    with pytest.raises(WrongNetwork, match="answers with numbers that are not finite"):
        agent.act(decisions_of([table]))


@pytest.mark.parametrize("key", ["network", "about"])
@pytest.mark.parametrize(
    "text", ["", "5", "[1, 2]", '"x"', "null", "true", "NaN", "{", "[" * 10**5, "1" * 10**4, '{"a": 1}x']
)
def test_headers_that_are_no_json_objects(
    key: str, text: str, parts: tuple[dict[str, Tensor], dict[str, str]], tmp_path: Path
) -> None:
    with pytest.raises(WrongNetwork, match=f"'{key}' in its header is no JSON"):
        load_network(written(tmp_path, parts[0], parts[1] | {key: text}))


@pytest.mark.parametrize("key", ["network", "about"])
def test_headers_that_lack_a_part(key: str, parts: tuple[dict[str, Tensor], dict[str, str]], tmp_path: Path) -> None:
    header = {name: text for name, text in parts[1].items() if name != key}
    with pytest.raises(WrongNetwork, match=f"its header has no '{key}'"):
        load_network(written(tmp_path, parts[0], header))
    with pytest.raises(WrongNetwork, match="its header has no 'network'"):
        load_network(written(tmp_path, parts[0], None))


@pytest.mark.parametrize(
    "about",
    [{}, {"game": GAME.id}, {"num_players": 4}, ABOUT | {"game": 5}, ABOUT | {"num_players": "4"},
     ABOUT | {"num_players": True}, ABOUT | {"num_players": None}, ABOUT | {"game": None}],
)  # fmt: skip  # one below the other says no more
def test_a_network_that_does_not_say_what_it_plays(
    about: dict[str, Any], parts: tuple[dict[str, Tensor], dict[str, str]], tmp_path: Path
) -> None:
    path = written(tmp_path, parts[0], parts[1] | {"about": json.dumps(about)})
    with pytest.raises(WrongNetwork, match="does not say which 'game' it was trained for, and for what 'num_players'"):
        NeuralAgent(path)


def test_files_that_are_none(parts: tuple[dict[str, Tensor], dict[str, str]], tmp_path: Path) -> None:
    whole = safetensors.torch.save(parts[0], parts[1])
    contents = {
        "empty": b"",
        "garbage": b"garbage " * 100,
        "half": whole[: len(whole) // 2],
        "cut": whole[:-1],
        "longer": whole + b"x",
        "huge header": b"\xff" * 8 + whole[8:],
        "no text": whole[:8] + b"\xff" + whole[9:],
    }
    for name, content in contents.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(WrongNetwork, match=f"{name} is not a network file of this project"):
            load_network(path)


@pytest.mark.parametrize("name", ["none.safetensors", "x" * 5000, "a\0b", "\udcff"])
def test_paths_that_lead_nowhere(name: str, tmp_path: Path) -> None:
    with pytest.raises(WrongNetwork, match=r"no network file|cannot be read|not a network file"):
        load_network(tmp_path / name)


def test_folders_are_no_network_files(tmp_path: Path) -> None:
    with pytest.raises(WrongNetwork, match=r"no network file .*: it is a folder"):
        load_network(tmp_path)


@pytest.mark.parametrize(
    "device", ["cuda:99", "gpu", "", "meta", "xla", "hpu", "opengl", "cpu ", "\0", 5, None, ["cpu"]]
)
def test_devices_that_are_not_there(device: Any) -> None:
    with pytest.raises(InvalidOption, match="device="):
        load_network(WEIGHTS / "fantasmagoria_v0_4.safetensors", device)


def test_a_network_is_refused_where_the_observation_has_changed(tmp_path: Path) -> None:
    """Two blocks of equal size change places: all sizes are as they were."""
    first, second, *others = GAME.layout(4).blocks
    assert first.size == second.size
    changed = replace(GAME, layout=lambda players: Layout(second, first, *others))
    net = PolicyValueNet.for_game(GAME, 4, width=8)
    save_network(tmp_path / "net.safetensors", net, ABOUT)
    NeuralAgent(tmp_path / "net.safetensors").prepare(GAME, 4, {})
    for agent in (NeuralAgent(tmp_path / "net.safetensors"), NeuralAgent.of(net)):
        with pytest.raises(
            WrongNetwork, match=r"trained on other observations or actions than .* train anew, or play it"
        ):
            agent.prepare(changed, 4, {})
    more_actions = PolicyValueNet(GAME.layout(4).size, GAME.num_actions + 1, GAME.layout(4).digest, width=8)
    with pytest.raises(WrongNetwork, match="trained on other observations or actions"):
        NeuralAgent.of(more_actions).prepare(GAME, 4, {})


def test_files_without_a_layout_are_refused_until_somebody_vouches(
    parts: tuple[dict[str, Tensor], dict[str, str]], tmp_path: Path
) -> None:
    shape = json.loads(parts[1]["network"])
    del shape["layout"]
    path = written(tmp_path, parts[0], parts[1] | {"network": json.dumps(shape)})
    with pytest.raises(
        WrongNetwork, match=r"`python -m agents\.vouch .*changed\.safetensors` adds it; else train anew"
    ):
        load_network(path)
    vouch(path)
    net, about = load_network(path)
    assert about == ABOUT
    assert net.shape["layout"] == GAME.layout(4).digest
    for name, tensor in net.state_dict().items():
        assert tensor.numpy().tobytes() == parts[0][name].numpy().tobytes()
    with pytest.raises(WrongNetwork, match="says already"):
        vouch(path)


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"game": GAME.id, "num_players": 3}, "has other sizes than phantom_trick_v0 with 3 players"),
        ({"game": "phantom_v0", "num_players": 2}, "has other sizes than phantom_v0 with 2 players"),
        ({"game": "chess", "num_players": 2}, "no game 'chess'"),
        ({"game": ["x"], "num_players": 2}, "no game"),
        ({"num_players": 2}, "no game"),
        ({"game": GAME.id, "num_players": [4]}, "is played by 3, 4, 5"),
    ],
)
def test_nobody_can_vouch_for_another_game(
    about: dict[str, Any], message: str, parts: tuple[dict[str, Tensor], dict[str, str]], tmp_path: Path
) -> None:
    shape = json.loads(parts[1]["network"])
    del shape["layout"]
    path = written(tmp_path, parts[0], {"network": json.dumps(shape), "about": json.dumps(about)})
    before = path.read_bytes()
    with pytest.raises((WrongNetwork, LookupError, ValueError), match=message):
        vouch(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "checksum"),
    [
        ("das_phantom_v0_4", "7bfc0d13aa9e28555ef8b13619dbc5a3b913d4a8c239d8e4e9386aad6ea77cf3"),
        ("fantasmagoria_v0_4", "d1eecc12c922f3f188863aa2346d5901a8ab64fe85e7dcb0deabc0ea5716ea67"),
        ("phantom_trick_v0_4", "50da1c9e512c1a0e7fed640fda93e41315ebfebfb040d836b0cde1c1842458c4"),
        ("phantom_v0_2", "59f7bf84ccca5f00934576f3ec54bde07caa5fdf2b7f3f86791e5206c10f4bb5"),
    ],
)
def test_shipped_weights_are_those_that_were_trained(name: str, checksum: str) -> None:
    """The checksums are of the files as training wrote them, before they named their layout."""
    tensors = safetensors.torch.load_file(WEIGHTS / f"{name}.safetensors")
    content = b"".join(np.ascontiguousarray(tensors[key].numpy()).tobytes() for key in sorted(tensors))
    assert hashlib.sha256(content).hexdigest() == checksum


@pytest.mark.parametrize("path", sorted(WEIGHTS.glob("*.safetensors")), ids=lambda path: path.stem)
def test_shipped_weights_play_their_games(path: Path) -> None:
    agent = NeuralAgent(path)
    game = get_game(agent.about["game"])
    agent.prepare(game, agent.about["num_players"], {})
    assert path.stem == f"{game.id}_{agent.about['num_players']}"
