"""Colours, foreign text, and standard outputs of every kind."""

from __future__ import annotations

import io
import sys

import pytest

from phantom_envs.core.terminal import PLAIN, open_streams, paint, printable, say, takes_color
from tests.outputs import Terminal, closed, of_encoding, plain_environment, text_of, unread


@pytest.mark.parametrize(
    ("variables", "terminal", "other"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),  # "when present and not an empty string"
        ({"TERM": "dumb"}, False, False),
        ({"TERM": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    variables: dict[str, str], terminal: bool, other: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_environment(monkeypatch)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert takes_color(Terminal()) is terminal
    assert takes_color(io.StringIO()) is other


def test_nothing_that_is_closed_takes_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    plain_environment(monkeypatch)
    assert not takes_color(None)
    assert not takes_color(closed())


def test_paint() -> None:
    assert paint("7", "red", True) == "\x1b[31m7\x1b[0m"
    assert paint("7", "red", False) == "7"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, ó × …", "plain text, ó × …"),
        ("\x1b[31mred\x07\n\t", "\\x1b[31mred\\x07\\n\\t"),
        ("\x9b2J", "\\x9b2J"),  # the same in one character
        ("right\u202eleft", "right\\u202eleft"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_foreign_text_does_nothing_to_a_terminal(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_long_text_keeps_both_ends() -> None:
    assert printable("a" * 500 + "b" * 500, 10) == "aaaaa … bbbbb"
    assert printable("ten digits", 10) == "ten digits"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("Fantasmagória", "Fantasmagoria"), ("0 … 3", "0 ... 3"), ("3 × rule", "3 x rule"), ("α", "?"), ("\ud800", "?")],
)
def test_what_an_encoding_lacks_is_replaced(text: str, shown: str) -> None:
    assert text.encode("ascii", PLAIN) == shown.encode()


def test_an_encoding_that_has_it_keeps_it() -> None:
    assert "ó ×".encode("latin-1", PLAIN) == "ó ×".encode("latin-1")


def test_say_writes_what_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    out = of_encoding("ascii")
    monkeypatch.setattr(sys, "stdout", out)
    say("Fantasmagória")
    assert text_of(out) == "Fantasmagoria\n"
    assert out.errors == "strict"  # not ours to change


def test_say_is_quiet_where_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (None, closed()):
        monkeypatch.setattr(sys, "stdout", stream)
        say("nothing")
    pipe = unread()
    monkeypatch.setattr(sys, "stdout", pipe)
    say("lost")
    print("and so is this, without an error", flush=True)
    pipe.close()


def test_streams_of_a_program_that_was_started_without(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, stream in (("stdin", None), ("stdout", None), ("stderr", closed())):
        monkeypatch.setattr(sys, name, stream)
    open_streams()
    print("…", flush=True)
    print("…", file=sys.stderr, flush=True)
    assert sys.stdin.read() == ""


def test_no_character_fails_in_a_program_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    out = of_encoding("ascii")
    monkeypatch.setattr(sys, "stdout", out)
    open_streams()
    print("Fantasmagória")
    assert text_of(out) == "Fantasmagoria\n"
