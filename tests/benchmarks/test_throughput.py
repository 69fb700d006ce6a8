"""The throughput benchmark runs, counts rightly and reports what it should; how fast things are is not tested."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks import ours, peers, throughput
from benchmarks.companion import CALLS, TWO_PROCESSES, companion, side_by_side
from benchmarks.machine import cores, cpu_model, pinned, revision
from benchmarks.timing import Contender, Loop, Result
from phantom_envs.envs.vector import make_vec
from phantom_envs.registry import game_ids, get_game


def test_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "throughput.json"
    throughput.main(
        throughput.Config(
            games=("phantom_trick_v0",), players=(3,), batches=(1, 16), runs=2, seconds=0.01, peers=False, json=file
        )
    )
    report = json.loads(file.read_text())
    assert {"cpu", "cores", "python", "numpy", "numba", "gymnasium", "pettingzoo", "revision", "phantom_envs"} <= set(
        report["machine"]
    )
    ways = [(row["way"], row["batch"], row["threads"]) for row in report["results"] if row["cores"] == 1]
    assert ways == [
        (ours.COMPILED, ours.COMPILED_GAMES, 1),
        (ours.SAMPLER, 1, 1),
        (ours.NUMPY, 1, 1),
        (ours.SAMPLER, 16, 1),
        (ours.NUMPY, 16, 1),
        (ours.RAW_ENV, 1, 1),
        (ours.ENV, 1, 1),
    ]
    for row in report["results"]:
        assert (row["game"], row["players"]) == ("phantom_trick_v0", 3)
        assert row["observation"] == get_game("phantom_trick_v0").layout(3).size
        assert len(row["runs"]) == 2
        assert min(row["runs"]) > 0
        assert min(row["runs"]) <= row["steps_per_second"] <= max(row["runs"])
    if len(cores()) > 1:
        assert [gain["players"] for gain in report["two_threads"]] == [3]
        assert min(report["two_threads"][0][name] for name in ("speed_up", "ceiling")) > 0
    else:
        assert "two threads" in report["skipped"]
    shown = capsys.readouterr().out
    assert "phantom_trick_v0" in shown
    assert "3 players" in shown


def test_two_threads_are_compared_round_by_round() -> None:
    def result(way: str, threads: int, *runs: float) -> Result:
        return Result("phantom_envs", "a", 3, way, 4096, threads, 2, 9, runs)

    results = [
        result(ours.SAMPLER, 1, 100.0, 50.0, 10.0),  # a machine that gets busy
        result(ours.SAMPLER, 2, 180.0, 85.0, 10.0),
        result(TWO_PROCESSES, 1, 200.0, 50.0, 19.0),
        Result("phantom_envs", "a", 3, ours.SAMPLER, 4096, 1, 1, 9, (7.0, 7.0, 7.0)),
    ]
    (gain,) = throughput.two_threads(results)
    assert gain == {"game": "a", "players": 3, "speed_up": pytest.approx(1.7), "ceiling": pytest.approx(1.9)}


@pytest.mark.skipif(len(cores()) < 2, reason="needs two cores")
def test_two_processes_count_the_steps_of_both() -> None:
    game = get_game("phantom_trick_v0")
    alone, loop = ours.batch_loop(game, 3, 16), side_by_side(game, 3, 16)
    assert loop() == 2 * CALLS * alone()
    assert companion() is companion()


def test_all_games_and_player_counts_are_chosen_by_default() -> None:
    chosen, _ = throughput.choose(throughput.Config(peers=False), cores()[-1])
    expected = {(game, players) for game in game_ids() for players in get_game(game).players}
    assert {(each.game, each.players) for each in chosen} == expected


def fail() -> Loop:
    raise ImportError("not here")


def test_what_is_not_installed_is_skipped_with_the_reason() -> None:
    skipped: throughput.Skipped = {}
    chosen = [
        Contender("Elsewhere", "whist", 4, "step", fail),
        Contender("Elsewhere", "hearts", 4, "step", lambda: lambda: 1),
    ]
    ready, loops = throughput.build(chosen, skipped)
    assert [each.game for each in ready] == ["hearts"]
    assert len(loops) == 1
    assert skipped == {"Elsewhere whist": "ImportError: not here"}


def test_a_failure_of_our_own_is_not_skipped() -> None:
    with pytest.raises(ImportError, match="not here"):
        throughput.build([Contender(ours.LIBRARY, "phantom_trick_v0", 4, "step", fail)], {})


def test_numpy_sampler_draws_uniformly_among_the_legal() -> None:
    rng = np.random.default_rng(1)
    mask = np.zeros((3, 70), np.int8)
    mask[0, [0, 69]] = mask[1, 5] = 1
    mask[2, [3, 4, 68]] = 1
    counts = [Counter[int]() for _ in mask]
    for _ in range(3000):
        for count, action in zip(counts, ours.random_legal(mask, rng).tolist(), strict=True):
            count[action] += 1
    assert [set(count) for count in counts] == [{0, 69}, {5}, {3, 4, 68}]
    assert all(abs(count - 1500) < 150 for count in counts[0].values())
    assert all(abs(count - 1000) < 150 for count in counts[2].values())


def test_numpy_sampler_plays_legally() -> None:
    vec = make_vec("phantom_trick_v0", 20, 4, seed=3)
    batch = vec.reset()
    rng = np.random.default_rng(2)
    for _ in range(100):
        batch = vec.step(ours.random_legal(batch.action_mask, rng))  # an illegal action would raise


def test_picker_draws_uniformly_among_the_legal() -> None:
    pick = ours.Picker()
    counts = Counter(pick(np.array([0, 1, 0, 1, 1], np.int8)) for _ in range(3000))
    assert set(counts) == {1, 3, 4}
    assert all(abs(count - 1000) < 150 for count in counts.values())


# PGX compiles for a quarter of a minute; its loop is tried by hand.
QUICK = [each for each in peers.contenders(cores()[-1]) if each.library != "PGX"]


@pytest.mark.filterwarnings("ignore")  # what other libraries warn of is theirs to mend
@pytest.mark.parametrize("peer", QUICK, ids=lambda peer: f"{peer.library}-{peer.game}-{peer.way}")
def test_peers(peer: Contender) -> None:
    try:
        loop = peer.make()
    except ImportError as error:
        pytest.skip(str(error))
    assert loop() > 0
    assert loop() > 0


def test_pinned_is_undone() -> None:
    before = cores()
    with pinned((before[0],)):
        assert cores() in ((before[0],), before)  # outside Linux it does nothing
    assert cores() == before


def test_machine_is_named() -> None:
    assert cpu_model()
    assert revision()
