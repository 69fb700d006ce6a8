"""The benchmark of strength: what is played and kept, and how it is shown. How strong agents are is not tested."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from benchmarks import match_cache, ratings, strength
from benchmarks.fields import Entrant, choices_per_seat, enter, fixtures
from benchmarks.match_cache import CorruptMatch, identity, rules_hash, sources
from benchmarks.standings import GameReport
from benchmarks.strength import Config
from benchmarks.strength_report import grids, page, plot
from phantom_envs.arena.match import play_match
from phantom_envs.arena.specs import InvalidSpec
from phantom_envs.core.errors import InvalidBatch, UnknownGame
from tests.processes import all_end, needs_proc, running, stuck

AGENTS = ("random", "rule", "tests.arena.bots:First")


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "rate", partial(ratings.rate, resamples=40))


def config(folder: Path, game: str = "phantom_v0", **more: Any) -> Config:
    settings = Config(games=(game,), agents=AGENTS, deals=2, block=1, cache=folder, weights=folder)
    return replace(settings, **more)


def run(settings: Config) -> GameReport:
    (report,), _, _ = strength.run(settings, Console(file=StringIO()))
    return report


def timeless(report: GameReport) -> GameReport:
    """The report without what the clock decides."""
    duels = [replace(duel, alone=replace(duel.alone, ms_per_decision=0.0)) for duel in report.duels]
    return replace(
        report,
        standings=tuple(replace(standing, ms_per_decision=0.0) for standing in report.standings),
        duels=tuple(replace(duel, field=replace(duel.field, ms_per_decision=0.0)) for duel in duels),
    )


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[match_cache.Block]:
    """The blocks that are played in this process."""
    blocks: list[match_cache.Block] = []

    def play(block: match_cache.Block, *rest: Any) -> None:
        blocks.append(block)
        match_cache.play_block(block, *rest)

    monkeypatch.setattr(strength, "play_block", play)
    return blocks


def entrants(count: int) -> list[Entrant]:
    return [Entrant(name, name, name, name) for name in "ABCDEF"[:count]]


@pytest.mark.parametrize(
    ("players", "agents", "alone", "mixed"),
    [(2, 4, 6, 0), (4, 2, 2, 0), (4, 3, 6, 3), (4, 4, 12, 1), (4, 6, 30, 15), (3, 4, 12, 4)],
)
def test_who_meets_whom(players: int, agents: int, alone: int, mixed: int) -> None:
    found = fixtures("phantom_trick_v0", players, entrants(agents))
    assert [sum(not each.mixed for each in found), sum(each.mixed for each in found)] == [alone, mixed]
    assert len({each.entrants for each in found}) == len(found)
    assert fixtures("phantom_trick_v0", players, entrants(agents)[::-1]) == found
    assert not any(each.mixed for each in fixtures("phantom_trick_v0", players, entrants(agents), mixed=False))


def test_all_matches_have_the_same_deals_and_blocks_have_others() -> None:
    seeds = [
        [(block.seed, block.deals) for block in each.blocks("rules", 5, 2, seed=3)]
        for each in fixtures("phantom_trick_v0", 4, entrants(3))
    ]
    assert all(each == seeds[0] for each in seeds)
    assert [deals for _, deals in seeds[0]] == [2, 2, 1]
    assert len(dict(seeds[0])) == 3


def test_what_is_there_is_not_played_again(tmp_path: Path, played: list[match_cache.Block]) -> None:
    first = run(config(tmp_path))
    assert len(played) == 3 * 2
    assert run(config(tmp_path)) == first  # to the millisecond: nothing was played
    assert run(config(tmp_path, agents=AGENTS[::-1])).deals == 2
    assert len(played) == 3 * 2


def test_more_deals_and_agents_cost_what_is_new(tmp_path: Path, played: list[match_cache.Block]) -> None:
    run(config(tmp_path / "grown", agents=AGENTS[:2]))
    assert len(played) == 2
    run(config(tmp_path / "grown"))
    assert len(played) == 2 + 2 * 2
    grown = run(config(tmp_path / "grown", deals=3))
    assert len(played) == 2 + 2 * 2 + 3
    assert timeless(grown) == timeless(run(config(tmp_path / "at once", deals=3)))


def test_an_interrupted_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = 3

    def play(block: match_cache.Block, *rest: Any) -> None:
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1
        match_cache.play_block(block, *rest)

    monkeypatch.setattr(strength, "play_block", play)
    with pytest.raises(KeyboardInterrupt):
        run(config(tmp_path / "cut"))
    assert len(list((tmp_path / "cut").glob("*.json"))) == 3
    left = 3
    resumed = run(config(tmp_path / "cut"))
    assert left == 0
    left = 6
    assert timeless(resumed) == timeless(run(config(tmp_path / "whole")))


@needs_proc
@pytest.mark.parametrize("workers", [1, 2])
def test_a_signal_ends_all_processes_and_keeps_what_was_played(workers: int, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    agents = ["random", "rule", f"tests.arena.bots:Twitching({str(marks)!r}, 1, 'spin with the GIL')"]
    kept = ["--cache", str(tmp_path / "kept"), "--weights", str(tmp_path)]
    played = ["--games", "phantom_v0", "--deals", "2", "--block", "1", "--workers", str(workers), "--agents", *agents]
    with running("-m", "benchmarks.strength", *kept, *played) as program:
        pids = stuck(marks, program, workers)
        assert all_end(program, pids, [signal.SIGINT])
        _, said = program.communicate()
    assert program.returncode == 130
    assert said == "interrupted; the same command goes on from what is kept\n"
    assert len(list((tmp_path / "kept").glob("*.json"))) == 2  # random against rule: cheap matches come first


def test_processes_play_the_same(tmp_path: Path) -> None:
    agents = AGENTS[:2]
    alone = run(config(tmp_path / "alone", agents=agents))
    assert timeless(run(config(tmp_path / "two", agents=agents, workers=2))) == timeless(alone)


def test_what_a_network_holds_counts_and_not_where_it_lies(tmp_path: Path) -> None:
    first, second = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    first.write_bytes(b"one")
    second.write_bytes(b"one")
    for spec in ("neural:{}", "neural:path={},choose=sample", "cmd:python {} --fast", "tests.arena.bots:First('{}')"):
        same = identity(spec.format(first))
        assert identity(spec.format(second)) == same
        second.write_bytes(b"two")
        assert identity(spec.format(second)) != same
        second.write_bytes(b"one")
    assert identity("neural:a.safetensors") != identity("neural:b.safetensors")  # files that are not there


def test_what_a_spec_says_counts() -> None:
    specs = [
        "random",
        "rule",
        "tests.arena.bots:First",
        "tests.arena.bots:Configured(1)",
        "tests.arena.bots:Configured(2)",
    ]
    assert len(set(map(identity, specs))) == len(specs)


@pytest.mark.parametrize("spec", ["", "nobody", "nowhere:Agent", ":Agent", "pimc-but-not-quite"])
def test_an_agent_that_does_not_exist(spec: str) -> None:
    with pytest.raises(InvalidSpec, match="no agent"):
        identity(spec)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Writes an agent's helper module, which its class imports in a function, and says what the agent then is."""
    folder = tmp_path / "some_bots"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "inner" / "__init__.py").touch()
    (folder / "careful.py").write_text(
        "import numpy\nclass Careful:\n    def act(self):\n        from .inner import help\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(text: str) -> str:
        (folder / "inner" / "help.py").write_text(text)
        return identity("some_bots.careful:Careful")

    return write


def test_code_that_an_agent_imports_counts_but_not_its_wording(package: Callable[[str], str]) -> None:
    before = package("RISK = 1")
    assert package('"""Help."""\n\nRISK   = 1  # a little') == before
    assert package("RISK = 2") != before
    names = {path.name for path in sources("some_bots.careful")}
    assert names == {"careful.py", "help.py", "__init__.py"}


def test_rules_of_each_game_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rules_hash("phantom_v0") != rules_hash("phantom_trick_v0")
    hashing = rules_hash.__wrapped__
    before = rules_hash("phantom_v0"), rules_hash("phantom_trick_v0")
    code = match_cache._code
    monkeypatch.setattr(
        match_cache, "_code", lambda path: code(path) + ("edit" if path.parent.name == "phantom" else "")
    )
    assert hashing("phantom_v0") != before[0]
    assert hashing("phantom_trick_v0") == before[1]


def half(text: str) -> str:
    return text[: len(text) // 2]


def without_points(text: str) -> str:
    record = json.loads(text)
    record["points"] = record["points"][1:]
    return json.dumps(record)


@pytest.mark.parametrize("damage", [half, without_points, lambda _: "", lambda _: "[]", lambda _: '{"key": 1}'])
def test_a_damaged_file_is_named_with_the_remedy(
    tmp_path: Path, damage: Callable[[str], str], played: list[match_cache.Block]
) -> None:
    before = timeless(run(config(tmp_path)))
    file = min(tmp_path.glob("*.json"))
    file.write_text(damage(file.read_text()))
    with pytest.raises(CorruptMatch, match=rf"{file.name}: .*delete this file and run again"):
        run(config(tmp_path))
    file.unlink()
    assert timeless(run(config(tmp_path))) == before
    assert len(played) == 3 * 2 + 1


def test_a_file_keeps_everything(tmp_path: Path, played: list[match_cache.Block]) -> None:
    run(config(tmp_path, "phantom_trick_v0", agents=AGENTS[:2]))
    setting, results = play_match(played[0].game, played[0].specs, deals=1, seed=played[0].seed)
    kept = match_cache.read_block(played[0], tmp_path, ("one", "two"))
    assert kept.setting.labels == ("one", "two")
    assert (kept.setting.seating == setting.seating).all()
    for name in ("share", "points", "truncated", "decisions"):
        assert (getattr(kept.results, name) == getattr(results, name)).all(), name
    assert kept.results.seconds.shape == (2,)
    assert not list(tmp_path.glob("*.tmp"))


def test_two_players(tmp_path: Path) -> None:
    report = run(config(tmp_path))
    assert [(duel.alone.agent, duel.field.agent) for duel in report.duels] == [
        ("rule", "random"),
        ("tests.arena.bots:First", "random"),
        ("tests.arena.bots:First", "rule"),
    ]
    for duel in report.duels:
        assert duel.alone.win_share.mean + duel.field.win_share.mean == pytest.approx(1)
        assert duel.alone.margin is not None
    assert all(standing.mixed_wins is None for standing in report.standings)
    assert np.array(report.wins).sum() == report.games == 3 * 2 * 2
    assert report.standings[1].rating.mean == 0
    assert report.standings[0].rating.high < 0


def test_four_players(tmp_path: Path) -> None:
    report = run(config(tmp_path, "phantom_trick_v0"))
    pairs = [(duel.alone.agent, duel.field.agent) for duel in report.duels]
    assert pairs[:2] == [("random", "rule"), ("random", "tests.arena.bots:First")]
    assert len(pairs) == 6
    assert report.games == 9 * 2 * 4
    for standing in report.standings:
        assert standing.mixed_wins is not None
        assert standing.mixed_wins.low <= standing.mixed_wins.mean <= standing.mixed_wins.high
        assert standing.decisions > 0
    best = max(report.standings, key=lambda standing: standing.rating.mean)
    assert best.agent == "rule"


def test_tables_and_page(tmp_path: Path) -> None:
    games = ("phantom_trick_v0", "phantom_v0", "das_phantom_v0")
    settings = config(tmp_path, agents=(*AGENTS[:2], "neural:{network}"), games=games, deals=2, players={games[2]: 3})
    reports, machines, dates = strength.run(settings, Console(file=StringIO()))
    shown = StringIO()
    for report in reports:
        for grid in grids(report):
            Console(file=shown, width=strength.WIDTH).print(grid.rich())
            assert all(len(row) == len(grid.headings) for row in grid.rows)
    assert "Das Phantom, 3 players: one against 2" in shown.getvalue()
    text = page(reports, "python -m benchmarks.strength", machines, dates)
    assert "| random | 3 × rule |" in text
    assert "| rule | random |" in text
    assert "left out without a network phantom_v0_2.safetensors: neural:{network}" in text
    assert "mixed fields" not in text
    assert dates[0] in text
    assert str(machines[0]["cpu"]) in text
    assert "{" not in text.replace("neural:{network}", "").replace("{eval-rst}", "").replace("{doc}", "")


def test_documentation_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(strength, "DOCS", tmp_path)
    settings = config(tmp_path / "cache", "phantom_trick_v0", write_docs=True, json=tmp_path / "figures.json")
    strength.main(settings, ["--write-docs", "--agents", "neural:{network}"])
    assert (
        "python -m benchmarks.strength --write-docs --agents 'neural:{network}'"
        in (tmp_path / "strength.md").read_text()
    )
    picture = (tmp_path / "_static" / "strength.svg").read_text()
    assert "Phantom Trick, 4 players" in picture
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert [standing["agent"] for standing in figures["games"][0]["standings"]] == list(AGENTS)
    assert "a fair share" in capsys.readouterr().out
    plot([run(settings)], tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text() == picture


def test_agents_are_called_briefly_where_that_tells_them_apart(tmp_path: Path) -> None:
    file = tmp_path / "net.safetensors"
    file.touch()
    templates = ("random", "neural:{network}", "tests.arena.bots:Configured({ms})")
    entered = enter(templates, 12.5, file)
    assert [each.label for each in entered] == ["random", "neural", "tests.arena.bots:Configured(12.5)"]
    assert [each.shown for each in entered[1:]] == ["neural:net.safetensors", "tests.arena.bots:Configured(12.5)"]
    assert entered[1].spec == f"neural:{file}"
    assert [each.label for each in enter(templates, 1, None)] == ["random", "tests.arena.bots:Configured(1)"]
    two = enter(("neural:{network}", "neural:{network},choose=sample"), 1, file)
    assert [each.label for each in two] == ["neural:network", "neural:network,choose=sample"]
    with pytest.raises(InvalidSpec, match="each of them once"):
        enter(("random", "random"), 1, None)


def test_time_is_estimated_from_choices_and_clocks(tmp_path: Path) -> None:
    slow = Entrant("slow", "pimc:milliseconds=20", "", "b")
    match = fixtures("phantom_trick_v0", 4, [slow, Entrant("rule", "rule", "", "a")])
    assert [each.labels for each in match] == [("rule", "slow"), ("slow", "rule")]
    assert match[0].seconds(10) == pytest.approx(4 * 10 * (3 * 0.02 + 0.0005))  # rotations × choices × seats' time
    assert match[1].seconds(10) == pytest.approx(4 * 10 * (0.02 + 3 * 0.0005))
    assert 10 < choices_per_seat("phantom_trick_v0", 4) < 100
    said: list[str] = []
    plan = strength.make_plan(config(tmp_path, "phantom_trick_v0"), "phantom_trick_v0")
    timed = strength.schedule([plan], tmp_path, 2, said.append)
    assert [cost for cost, _ in timed] == sorted(cost for cost, _ in timed)
    assert "9 of 9 matches to play" in said[0]
    assert strength.duration(3661.2) == "1:01:01"


@pytest.mark.parametrize(
    ("more", "error", "says"),
    [
        ({"deals": 0}, InvalidBatch, "above 0"),
        ({"milliseconds": 0.0}, InvalidBatch, "above 0"),
        ({"players": {"chess": 2}}, UnknownGame, "no game 'chess'"),
        ({"deals_of": {"chess": 2}}, UnknownGame, "no game 'chess'"),
        ({"deals_of": {"phantom_v0": 0}}, InvalidBatch, "at least 1"),
        ({"networks": {"phantom_v0": Path("nowhere.safetensors")}}, InvalidSpec, "no network nowhere"),
        ({"agents": ("rule", "neural:{network}")}, InvalidSpec, "two agents at least"),
        ({"agents": ("rule", "neural:nowhere.safetensors")}, Exception, "nowhere.safetensors"),
    ],
)
def test_what_cannot_be_played_is_refused(
    tmp_path: Path, more: dict[str, Any], error: type[Exception], says: str, played: list[match_cache.Block]
) -> None:
    with pytest.raises(error, match=says):
        run(config(tmp_path, **more))
    assert not played
