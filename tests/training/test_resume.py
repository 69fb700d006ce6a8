"""A run goes on from its newest whole checkpoint, says what it passed over, and refuses where there is none."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from agents.network import load_network
from tests.training.runs import small
from training import ppo
from training.checkpoints import checkpoint_notes, read_checkpoint, save_checkpoint
from training.ppo import Config, Trainer, resumed, train
from training.run_folder import RunRefused, in_use
from training.settings import InvalidSetting


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three checkpoints, with a network of 16 units that is none of the defaults."""
    folder = tmp_path_factory.mktemp("run")
    train(small(folder, width=16, total_steps=3072))
    return folder


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(trained, tmp_path / "run")


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def going_on(run: Path, **changes: Any) -> Config:
    """As from the command line: nothing is given but the folder."""
    return Config(run=run, resume=True, **changes)


def test_a_damaged_one_is_passed_over_with_a_word(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkpoint_notes(run)[0].write_text("garbage")
    before = content(run)
    trainer = resumed(going_on(run), run)
    assert (trainer.steps, trainer.config.width, trainer.config.num_envs) == (2048, 16, 32)
    assert content(run) == before
    out = capsys.readouterr().out
    assert "checkpoint-000000003072.json is passed over: it is not JSON" in out
    assert "going on from" in out
    assert "checkpoint-000000002048.json" in out


def test_all_damaged_is_refused_and_nothing_is_touched(run: Path) -> None:
    for path in checkpoint_notes(run):
        path.write_text("garbage")
    before = content(run)
    with pytest.raises(RunRefused, match=r"no whole checkpoint \(checkpoint-000000003072.json, .*1024.json cannot"):
        train(going_on(run, more_steps=100_000))
    assert content(run) == before


def test_empty_files_are_refused_too(run: Path) -> None:
    for path in run.glob("checkpoint-*"):
        path.write_bytes(b"")
    before = content(run)
    with pytest.raises(RunRefused, match="no whole checkpoint"):
        train(going_on(run))
    assert content(run) == before


def test_a_folder_that_is_not_there_or_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunRefused, match="no folder"):
        train(going_on(tmp_path / "mistyped"))
    with pytest.raises(RunRefused, match="no checkpoint"):
        train(going_on(tmp_path))
    (tmp_path / "file").touch()
    with pytest.raises(RunRefused, match="no folder"):
        train(going_on(tmp_path / "file"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_killed_before_the_first_checkpoint(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in [*run.glob("checkpoint-*"), run / "agent.safetensors"]:
        path.unlink()
    train(going_on(run, more_steps=1024))
    out = capsys.readouterr().out
    assert "begins again" in out
    assert "from step 0 to 4,096" in out
    net, about = load_network(run / "agent.safetensors")
    assert (net.shape["width"], about["steps"]) == (16, 4096)


def test_damaged_settings_before_the_first_checkpoint_are_refused(run: Path) -> None:
    for path in run.glob("checkpoint-*"):
        path.unlink()
    note = json.loads((run / "run.json").read_text())
    note["config"]["width"] = 64
    (run / "run.json").write_text(json.dumps(note))
    with pytest.raises(RunRefused, match=r"run\.json"):
        train(going_on(run))


def test_damaged_settings_beside_whole_checkpoints(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "run.json").write_bytes(b"\xff")
    trainer = resumed(going_on(run), run)
    assert (trainer.steps, trainer.config.width) == (3072, 16)
    assert "run.json is passed over: it is not UTF-8" in capsys.readouterr().out


def test_total_and_more_steps(run: Path) -> None:
    assert resumed(going_on(run), run).config.total_steps == 3072
    train(going_on(run, more_steps=2048))
    assert resumed(going_on(run), run).config.total_steps == 5120  # what was to be made more stays so
    assert len(checkpoint_notes(run)) == 3


@pytest.mark.parametrize(("setting", "value"), [("game", "phantom_v0"), ("num_players", 3), ("width", 8)])
def test_checkpoints_of_another_run(
    run: Path, tmp_path: Path, setting: str, value: object, capsys: pytest.CaptureFixture[str]
) -> None:
    train(small(tmp_path / "other", total_steps=9 * 1024, **{"width": 16, setting: value}))
    for path in (tmp_path / "other").glob("checkpoint-*9216.*"):
        shutil.copy(path, run)
    before = content(run)
    assert resumed(going_on(run), run).steps == 3072
    assert f"9216.json is passed over: it is of another run: its {setting} is {value!r}" in capsys.readouterr().out
    assert content(run) == before


def forged(run: Path, change: Callable[[dict[str, torch.Tensor], dict[str, Any]], object], step: int = 4096) -> None:
    """One more checkpoint, which vouches for what it should not."""
    checkpoint = read_checkpoint(checkpoint_notes(run)[0])
    about = {key: value for key, value in checkpoint.about.items() if key not in ("step", "bytes", "format")}
    change(checkpoint.tensors, about)
    save_checkpoint(run, step, checkpoint.tensors, about)


def first(tensors: dict[str, torch.Tensor], prefix: str, **with_: Any) -> None:
    name = next(name for name in tensors if name.startswith(prefix))
    tensors[name] = torch.full(with_.get("shape", tensors[name].shape), with_.get("value", 0.0))


FORGERIES: dict[str, tuple[Callable[[dict[str, torch.Tensor], dict[str, Any]], object], str]] = {
    "NaN": (lambda tensors, _: first(tensors, "net.body", value=float("nan")), "not finite"),
    "infinity": (lambda tensors, _: first(tensors, "optimizer.0.exp_avg", value=float("inf")), "not finite"),
    "weights of another shape": (lambda tensors, _: first(tensors, "net.body", shape=(2, 3)), "does not fit"),
    "optimizer of another shape": (
        lambda tensors, _: first(tensors, "optimizer.0.exp_avg", shape=(2, 3)),
        "another shape",
    ),
    "no random state": (lambda tensors, _: tensors.pop("torch_rng"), "does not fit"),
    "no weights": (lambda tensors, _: tensors.pop("net.value.bias"), "does not fit"),
    "an optimizer without steps": (lambda tensors, _: tensors.pop("optimizer.0.step"), "another shape"),
    "an optimizer of more layers": (
        lambda tensors, _: tensors.update({"optimizer.99.step": torch.zeros(())}),
        "another shape",
    ),
    "part of the optimizer": (lambda tensors, _: tensors.pop("optimizer.0.exp_avg"), "does not fit"),
    "no updates": (lambda _, about: about.pop("updates"), "does not fit"),
    "updates that are none": (lambda _, about: about.update(updates="3"), "does not fit"),
    "a past before the beginning": (lambda _, about: about.update(seconds=-1.0), "make no sense"),
    "a pool that is not there": (lambda _, about: about.update(pool=10**9), "does not fit"),
    "a pool that is none": (lambda _, about: about.update(pool=None), "does not fit"),
    "a generator that is none": (lambda _, about: about.update(rng={"bit_generator": "PCG64"}), "does not fit"),
    "no settings": (lambda _, about: about.pop("config"), "no settings"),
    "no total": (lambda _, about: about.pop("total_steps"), "settings are not"),
    "a total that is none": (lambda _, about: about.update(total_steps="many"), "settings are not"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_whole_but_useless(run: Path, forgery: str, capsys: pytest.CaptureFixture[str]) -> None:
    change, message = FORGERIES[forgery]
    forged(run, change)
    trainer = resumed(going_on(run), run)
    assert trainer.steps == 3072
    assert all(parameter.isfinite().all() for parameter in trainer.net.parameters())
    said = next(line for line in capsys.readouterr().out.splitlines() if "4096.json is passed over" in line)
    assert message in said


def test_what_was_passed_over_is_not_used(run: Path) -> None:
    """Neither its pool nor its generator stay behind."""
    plain = resumed(going_on(run), run)

    def change(tensors: dict[str, torch.Tensor], about: dict[str, Any]) -> None:
        first(tensors, "optimizer.0.exp_avg", shape=(2, 3))
        about["updates"] = 77

    forged(run, change)
    other = resumed(going_on(run), run)
    assert other.updates == plain.updates == 3
    assert other.rng.bit_generator.state == plain.rng.bit_generator.state


def test_a_first_update_that_is_still_to_come(tmp_path: Path) -> None:
    """A run that was interrupted at once has no state of its optimizer yet."""
    trainer = Trainer(small(tmp_path))
    trainer.save(tmp_path)
    assert resumed(going_on(tmp_path), tmp_path).steps == 0


def test_more_steps_are_for_resumed_runs(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="total-steps"):
        train(small(tmp_path / "run", more_steps=5))
    assert not (tmp_path / "run").exists()


def test_one_process_at_a_time(run: Path) -> None:
    with in_use(run), pytest.raises(RunRefused, match="another process"):
        train(going_on(run, more_steps=1024))
    train(going_on(run, more_steps=1024))


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it, and no more checkpoints can be written."""

    def fill() -> None:
        def refuse(path: Path, content: bytes) -> None:
            raise OSError(28, "No space left on device", str(path))

        monkeypatch.setattr("training.checkpoints.write_whole", refuse)

    return fill


def test_a_full_disk_does_not_end_a_run(
    run: Path, full_disk: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    full_disk()
    before = {name: data for name, data in content(run).items() if name.startswith("checkpoint")}
    train(going_on(run, more_steps=2048))
    assert "no checkpoint at 4,096 steps (No space left on device); earlier ones stay" in capsys.readouterr().out
    assert {name: data for name, data in content(run).items() if name.startswith("checkpoint")} == before
    assert load_network(run / "agent.safetensors")[1]["steps"] == 5120


def test_a_run_that_is_over_keeps_its_checkpoints_as_they_are(run: Path) -> None:
    before, agent = content(run), load_network(run / "agent.safetensors")
    assert ppo.train(going_on(run)) == []
    after, again = content(run), load_network(run / "agent.safetensors")
    written = "agent.safetensors"  # anew, and safetensors puts its notes in any order
    assert {name: data for name, data in after.items() if name in before and name != written} == {
        name: data for name, data in before.items() if name != written
    }
    assert again[1] == agent[1]
    for name, tensor in agent[0].state_dict().items():
        assert torch.equal(again[0].state_dict()[name], tensor)
