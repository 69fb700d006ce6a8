"""Game records: their form, and that no tampering passes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from phantom_envs.arena.agent import Decisions
from phantom_envs.arena.record import RecordError, difference, header, read_lines, replay, write_games
from phantom_envs.arena.record import play as record_line
from phantom_envs.arena.specs import InvalidSpec
from phantom_envs.core.errors import InvalidBatch, InvalidPlayers
from phantom_envs.core.game import Game
from phantom_envs.core.table import Table
from phantom_envs.registry import game_ids, get_game
from tests.arena.bots import First

TRICK = get_game("phantom_trick_v0")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Two games of three players with reward "score", seeds 7 and 8."""
    path = tmp_path_factory.mktemp("records") / "two.jsonl"
    assert write_games(path, TRICK, ["random", "rule"], 3, {"reward": "score"}, 7, 2) == len(list(read_lines(path)))
    return [json.loads(line) for line in read_lines(path)]


def as_lines(record: list[Any]) -> list[str]:
    return [line if isinstance(line, str) else json.dumps(line) for line in record]


def copy(record: list[dict[str, Any]]) -> list[Any]:
    copied: list[Any] = json.loads(json.dumps(record))
    return copied


def starts(record: list[dict[str, Any]]) -> list[int]:
    return [index for index, line in enumerate(record) if "game" in line]


def test_the_first_line_of_a_game(record: list[dict[str, Any]]) -> None:
    begin, second = starts(record)
    assert begin == 0
    for index, seed in ((begin, 7), (second, 8)):
        head = record[index]
        table = Table(TRICK, 3)
        table.deal(seed)
        assert list(head) == ["game", "num_players", "options", "seed", "state"]
        assert head == {
            "game": "phantom_trick_v0",
            "num_players": 3,
            "options": {"reward": "score"},
            "seed": seed,
            "state": table.state_dict(),
        }


def test_the_line_of_a_decision(record: list[dict[str, Any]]) -> None:
    first = record[1]
    assert list(first) == ["agent", "legal", "action", "state", "rewards", "terminated", "truncated"]
    assert first["agent"] == "player_0"
    assert first["legal"] == [f"place {card}" for card in record[0]["state"]["hands"][0]]
    assert first["action"] in first["legal"]
    assert first["state"]["placed"][0] == first["action"].removeprefix("place ")
    assert first["state"]["to_act"] == 1
    assert first["rewards"] == {"player_0": 0.0, "player_1": 0.0, "player_2": 0.0}
    assert (first["terminated"], first["truncated"]) == (False, False)


def test_the_last_line_of_a_game(record: list[dict[str, Any]]) -> None:
    games = (record[: starts(record)[1]], record[starts(record)[1] :])
    for game in games:
        assert [line["terminated"] for line in game[1:-1]] == [False] * (len(game) - 2)
        last = game[-1]
        assert last["terminated"] is True
        total = [sum(line["rewards"][f"player_{seat}"] for line in game[1:]) for seat in range(3)]
        gained = [score - 10 for score in last["state"]["scores"]]
        assert total == pytest.approx([(points - sum(gained) / 3) / 10 for points in gained])


def test_no_reward_is_a_negative_zero(tmp_path: Path) -> None:
    path = tmp_path / "win.jsonl"
    write_games(path, TRICK, ["random"])
    assert "-0.0" not in path.read_text()


def test_a_record_is_as_the_engine_has_it(record: list[dict[str, Any]]) -> None:
    steps = list(replay(as_lines(record)))
    assert [step.line for step in steps] == record
    assert [step.number for step in steps] == list(range(1, len(record) + 1))
    assert [index for index, step in enumerate(steps) if step.first] == starts(record)


@pytest.mark.parametrize("game_id", game_ids())
def test_every_game_is_recorded_and_replayed(game_id: str, tmp_path: Path) -> None:
    game = get_game(game_id)
    for players in (game.players[0], game.players[-1]):
        path = tmp_path / f"{players}.jsonl"
        count = write_games(path, game, ["random"], players, seed=3)
        assert len(list(replay(read_lines(path)))) == count


def test_other_ways_to_write_a_number_pass(record: list[dict[str, Any]]) -> None:
    other = copy(record)
    other[1]["rewards"]["player_0"] = 0
    other[2]["rewards"]["player_0"] = 1e-12
    assert len(list(replay(as_lines(other)))) == len(record)


def swap_legal(line: dict[str, Any]) -> None:
    line["legal"][:2] = reversed(line["legal"][:2])


TAMPERING: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda line: line.update(agent="player_0"), 'agent is "player_0" in the record, "player_1" in the engine'),
    (swap_legal, r"legal\[0\] is"),
    (lambda line: line["legal"].pop(), "legal is"),
    (lambda line: line.update(action="place white-11"), "player_1 may not 'place white-11'; legal are place "),
    (lambda line: line.update(action=None), "player_1 may not None"),
    (lambda line: line["state"].update(round=2), "state.round is 2 in the record, 1 in the engine"),
    (lambda line: line["state"].update(round=True), "state.round is true in the record, 1 in the engine"),
    (lambda line: line["state"]["hands"][2].pop(), r"state.hands\[2\] is"),
    (lambda line: line["state"]["scores"].__setitem__(1, 11), r"state.scores\[1\] is 11 in the record, 10"),
    (lambda line: line["state"].pop("unused"), "state.unused is only in the engine"),
    (lambda line: line["state"].update(extra=1), "state.extra is only in the record"),
    (lambda line: line["rewards"].update(player_2=0.1), "rewards.player_2 is 0.1 in the record, 0.0 in the engine"),
    (lambda line: line["rewards"].update(player_2=False), "rewards.player_2 is false in the record"),
    (lambda line: line["rewards"].pop("player_2"), "rewards.player_2 is only in the engine"),
    (lambda line: line.update(terminated=True), "terminated is true in the record, false in the engine"),
    (lambda line: line.update(truncated=True), "truncated is true in the record, false in the engine"),
    (lambda line: line.update(truncated=0), "truncated is 0 in the record, false in the engine"),
    (lambda line: line.pop("rewards"), "rewards missing"),
    (lambda line: line.update(comment="hi"), "comment unknown"),
]


@pytest.mark.parametrize(("tamper", "message"), TAMPERING, ids=[message for _, message in TAMPERING])
def test_a_changed_decision_is_found(
    record: list[dict[str, Any]], tamper: Callable[[dict[str, Any]], object], message: str
) -> None:
    changed = copy(record)
    tamper(changed[2])
    with pytest.raises(RecordError, match=f"line 3: {message}"):
        list(replay(as_lines(changed)))


HEADS: list[tuple[dict[str, Any], str]] = [
    ({"game": "chess_v0"}, "no game 'chess_v0'"),
    ({"game": 3}, "no game 3"),
    ({"num_players": 9}, "Phantom Trick is played by 3, 4, 5; got num_players=9"),
    ({"num_players": None}, "num_players is null in the record, 4 in the engine"),
    ({"options": {"speed": 1}}, "no option 'speed'"),
    ({"options": {}}, "options.reward is only in the engine"),
    ({"options": [1]}, "line 1: "),
    ({"seed": 9}, r"state\.hands\[0\]"),
    ({"seed": -1}, "a seed must not be negative"),
    ({"seed": "7"}, "line 1: "),
    ({"state": {}}, "state.game is only in the engine"),
    ({"player": 1}, "player unknown"),
]


@pytest.mark.parametrize(("change", "message"), HEADS)
def test_a_changed_first_line_is_found(record: list[dict[str, Any]], change: dict[str, Any], message: str) -> None:
    changed = copy(record)
    changed[0] |= change
    with pytest.raises(RecordError, match=message) as error:
        list(replay(as_lines(changed)))
    assert str(error.value).startswith("line 1: ")


def test_missing_and_surplus_lines_are_found(record: list[dict[str, Any]]) -> None:
    second = starts(record)[1]
    for lines, message in [
        ([], "the record is empty"),
        (record[1:], "line 1: the first line of a game, with game, num_players, options, seed, state, is wanted"),
        (record[:second] + record[second - 1 :], f"line {second + 1}: the game of line 1 is over"),
        (record[: second - 1] + record[second:], f"game of line 1 is not played to its end: line {second} begins"),
        (record[:-1], f"game of line {second + 1} is not played to its end: the record stops"),
        (record[:1] + record[2:], "line 2: agent is"),
    ]:
        with pytest.raises(RecordError, match=message):
            list(replay(as_lines(lines)))


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "null"])
def test_lines_that_are_no_objects_are_found(record: list[dict[str, Any]], text: str) -> None:
    lines = as_lines(record)
    lines[4] = text
    with pytest.raises(RecordError, match="line 5: "):
        list(replay(lines))


def test_a_file_that_is_no_text(record: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "binary"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordError, match="line 1: no text in UTF-8"):
        list(replay(read_lines(path)))
    path.write_bytes("\n".join([*as_lines(record)[:6], "ó"]).encode("latin-1"))
    with pytest.raises(RecordError, match="line 7: no text in UTF-8"):
        list(replay(read_lines(path)))


DEEP = "[" * 100_000 + "]" * 100_000

HOSTILE = [
    ('"agent"', '"agent": "player_0", "agent"', "agent is given twice"),
    ('"rewards": {', '"rewards": {"player_0": 1.0, ', "player_0 is given twice"),
    ('"state": {', f'"state": {{"deep": {DEEP}, ', "nested too deeply"),
    ('"player_0": 0.0', f'"player_0": {"1" * 400}', "too large a number"),
    ('"player_0": 0.0', f'"player_0": -{"1" * 400}', "too large a number"),
    ('"player_0": 0.0', f'"player_0": {"1" * 10_000}', "too large a number"),
    ('"player_0": 0.0', '"player_0": 1e999', "1e999 is too large a number"),
    ('"player_0": 0.0', '"player_0": NaN', "NaN is no number in JSON"),
    ('"player_0": 0.0', '"player_0": -Infinity', "-Infinity is no number in JSON"),
    ('"agent"', '"\x1b[2J": 1, "agent"', "no JSON"),
    ('"agent"', '"\\u001b[2J": 1, "agent"', r"\\x1b\[2J unknown"),
    ('"agent"', '"\\u009b2J": 1, "agent"', r"\\x9b2J unknown"),
    ('"state": {', '"state": {"\\u001b[2J": 1, ', r"state.\\x1b\[2J is only in the record"),
    ('"round": 1', '"round": "\\u001b[2J"', r"state.round is \"\\u001b\[2J\" in the record, 1 in the engine"),
    ('"action": "', '"action": "\\u001b[2J', r"player_1 may not '\\x1b\[2J"),
    ('"round": 1', f'"round": "{"x" * 10**6}"', "state.round is .* in the record, 1 in the engine"),
    ('"action": "', f'"action": "{"x" * 10**6}', "player_1 may not '.*'; legal are"),
    ('"agent"', f'"{"x" * 10**6}": 1, "agent"', "unknown"),
]


@pytest.mark.parametrize(("found", "instead", "message"), HOSTILE)
def test_hostile_lines_are_named(record: list[dict[str, Any]], found: str, instead: str, message: str) -> None:
    lines = as_lines(record)
    assert found in lines[2]
    lines[2] = lines[2].replace(found, instead, 1)
    with pytest.raises(RecordError, match=f"^line 3: .*{message}") as error:
        list(replay(lines))
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 1000


@pytest.mark.parametrize(
    "change",
    [
        {"num_players": [[[[]]]]},
        {"options": {"reward": "\x1b[2J" * 10**5}},
        {"options": {"\x1b[2J" * 10**5: 1}},
        {"game": "\x1b[2J" * 10**5},
        {"seed": 10**300},
    ],
)
def test_hostile_first_lines_are_named(record: list[dict[str, Any]], change: dict[str, Any]) -> None:
    changed = copy(record)
    changed[0] |= change
    with pytest.raises(RecordError, match=r"^line 1: ") as error:
        list(replay(as_lines(changed)))
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 1000


def test_depths_that_are_just_readable(record: list[dict[str, Any]]) -> None:
    """Wherever the reader's own limit lies, what it lets through is named, too."""
    for depth in range(500, 5000, 100):
        changed = as_lines(record)
        changed[2] = changed[2].replace('"action": "', f'"action": {"[" * depth}{"]" * depth}, "x": "', 1)
        with pytest.raises(RecordError, match=r"^line 3: "):
            list(replay(changed))
        changed[2] = as_lines(record)[2].replace('"round": 1', f'"round": {"[" * depth}{"]" * depth}', 1)
        with pytest.raises(RecordError, match=r"^line 3: "):
            list(replay(changed))


class FailsLater(First):
    """Plays some decisions, and then no longer."""

    def __init__(self, decisions: int) -> None:
        self.left = decisions

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("tired")
        return super().act(decisions)


def test_a_game_that_fails_leaves_the_older_file(tmp_path: Path) -> None:
    path = tmp_path / "keep.jsonl"
    write_games(path, TRICK, ["random"], 3, games=2)
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="tired"):
        write_games(path, TRICK, [f"{__name__}:FailsLater(100)"], 3, games=2)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_difference_says_where() -> None:
    assert difference({"a": [1, {"b": 2.5}]}, {"a": [1, {"b": 2.5}]}) is None
    assert difference({"a": [1, {"b": None}]}, {"a": [1, {"b": 0}]}) == "a[1].b is 0 in the record, null in the engine"
    assert difference([1, 2], [1]) == " is [1] in the record, [1, 2] in the engine"


def test_pictures_show_the_step(record: list[dict[str, Any]]) -> None:
    steps = replay(as_lines(record))
    first = next(steps)
    assert first.picture().startswith("line 1: seed 7\n")
    hands = record[0]["state"]["hands"]
    assert all(" ".join(hand) in first.picture() for hand in hands)
    assert [" ".join(hand) in first.picture(1) for hand in hands] == [False, True, False]
    assert next(steps).picture().startswith(f"line 2: player_0: {record[1]['action']}   rewards +0 +0 +0\n")
    with pytest.raises(InvalidPlayers, match="seats are 0 … 2"):
        first.picture(3)


def as_seen(game: Game, players: int, seed: int, seat: int, choices: Sequence[int]) -> list[str]:
    """What `seat` is shown of a game in which the first choices are the given ones among the legal actions."""
    table = Table(game, players)
    table.deal(seed)
    lines = [header(table, seed), *(record_line(table, table.legal()[choice]) for choice in choices)]
    steps = replay(as_lines(lines))
    return [next(steps).picture(seat) for _ in lines]


@pytest.mark.parametrize("game_id", ["phantom_trick_v0", "fantasmagoria_v0"])
def test_nobody_is_shown_what_others_chose_in_secret(game_id: str) -> None:
    """All lay a card face-down, one after the other, and reveal them together."""
    game = get_game(game_id)
    for players in game.players:
        for seat in range(players):
            others = [0 if other == seat else 1 for other in range(players)]
            shown = [as_seen(game, players, 3, seat, choices) for choices in ([0] * players, others)]
            assert shown[0][:players] == shown[1][:players]  # the first line, and all choices but the last
            assert shown[0][players] != shown[1][players]
            secrets = [text for text in shown[0] if "chooses in secret" in text]
            assert len(secrets) == players - 1 - (seat < players - 1)


def test_nobody_is_shown_the_seed() -> None:
    for game_id in game_ids():
        game = get_game(game_id)
        seed = 987654321012345
        assert str(seed) not in as_seen(game, game.default_players, seed, 0, [])[0]


def test_settings_that_cannot_be_recorded(tmp_path: Path) -> None:
    path = tmp_path / "none.jsonl"
    cases: list[tuple[dict[str, Any], type[Exception]]] = [
        ({"specs": ["random"] * 5, "num_players": 4}, InvalidSpec),
        ({"specs": []}, InvalidSpec),
        ({"games": 0}, InvalidBatch),
        ({"num_players": 7}, InvalidPlayers),
    ]
    for arguments, error in cases:
        with pytest.raises(error):
            write_games(path, TRICK, **({"specs": ["random"]} | arguments))
    assert not path.exists()
