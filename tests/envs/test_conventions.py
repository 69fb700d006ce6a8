"""Pictures of all faces on every kind of standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import pytest

from phantom_envs import fantasmagoria_v0
from phantom_envs.envs.registration import gymnasium_id, register_all
from phantom_envs.envs.single_agent import SingleAgentEnv
from tests.outputs import Terminal, closed, of_encoding, plain_environment, text_of, unread

NAME = "fantasmagoria_v0"  # whose title is not ASCII
register_all()

FACES: list[Callable[[], Any]] = [
    lambda: fantasmagoria_v0.env(render_mode="human"),
    lambda: fantasmagoria_v0.raw_env(render_mode="human"),
    lambda: SingleAgentEnv(NAME, render_mode="human"),
    lambda: gymnasium.make(gymnasium_id(NAME), render_mode="human"),
]
every_face = pytest.mark.parametrize("make", FACES, ids=["env", "raw_env", "single", "gymnasium"])


def show(make: Callable[[], Any]) -> None:
    """Begin a game, which shows it, and show it once more."""
    env = make()
    env.reset(seed=1)
    env.render()
    env.close()


@every_face
def test_few_characters(make: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    out = of_encoding("ascii")
    monkeypatch.setattr(sys, "stdout", out)
    show(make)
    assert text_of(out).count("Fantasmagoria, round 1") == 2


@every_face
def test_nobody_there(make: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (None, closed()):
        monkeypatch.setattr(sys, "stdout", stream)
        show(make)
    pipe = unread()
    monkeypatch.setattr(sys, "stdout", pipe)
    show(make)
    pipe.close()  # has nothing left to complain of


@every_face
def test_colours(make: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for variables, colored in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        plain_environment(monkeypatch)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        out = Terminal()
        monkeypatch.setattr(sys, "stdout", out)
        show(make)
        assert ("\x1b" in out.getvalue()) is colored
