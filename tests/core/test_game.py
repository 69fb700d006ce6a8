"""The record that is a game's state."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from phantom_envs.arena.agent import Decisions
from phantom_envs.core.game import HEADER, state_dtype
from phantom_envs.core.table import Table
from phantom_envs.envs.vector import make_vec
from phantom_envs.registry import game_ids, get_game


def test_gaps_of_alignment_become_fields() -> None:
    fields = [("a", np.int8), ("b", np.uint64), ("c", np.int16, (3,)), ("d", np.int32), ("e", np.uint8)]
    record = state_dtype(fields)
    assert record.names == ("a", "gap_1", "b", "c", "gap_22", "d", "e", "gap_29")
    assert (record["gap_1"].shape, record["gap_22"].shape, record["gap_29"].shape) == ((7,), (2,), (3,))
    aligned = np.dtype(fields, align=True)
    assert aligned.fields is not None
    assert record.fields is not None
    assert all(record.fields[name] == aligned.fields[name] for name in aligned.names or ())
    assert (record.itemsize, record.alignment, record.isalignedstruct) == (32, 8, True)
    packed = [("a", np.uint64), ("b", np.int8, (8,))]
    assert state_dtype(packed) == np.dtype(packed)


@pytest.mark.parametrize("game_id", game_ids())
def test_every_byte_of_a_record_belongs_to_a_field(game_id: str) -> None:
    record = get_game(game_id).dtype
    assert record.fields is not None
    assert sum(kind.itemsize for kind, *_ in record.fields.values()) == record.itemsize
    assert record.names is not None
    assert [name for name in record.names if not name.startswith("gap_")][: len(HEADER)] == [each[0] for each in HEADER]


@pytest.mark.parametrize("game_id", game_ids())
def test_equal_games_are_equal_in_every_byte_however_they_came_about(game_id: str) -> None:
    game = get_game(game_id)
    table, batch = Table(game), make_vec(game_id, 3)
    numbers = np.zeros(1, np.uint64), np.zeros(1, np.int64)
    for seed in range(5, 8):
        table.deal(seed)
        bytes_of_it = table.states.tobytes()
        batch.reset(seed=seed - 1)
        saved = batch.save()
        batch.step(batch.sample())
        batch.restore(saved)
        asked = Decisions(game, table.num_players, table.options, table.states, *numbers)
        again = [table.copy(), copy.deepcopy(table), pickle.loads(pickle.dumps(table))]  # noqa: S301  # our own
        assert batch.states[1:2].tobytes() == bytes_of_it
        assert [each.states.tobytes() for each in again] == [bytes_of_it] * 3
        assert np.repeat(table.states, 4).tobytes() == bytes_of_it * 4
        worlds = asked.determinize(np.arange(50, dtype=np.uint64)[None])
        assert worlds.tobytes() == b"".join(asked.world(0, number).states.tobytes() for number in range(50))
        table.play(table.legal()[0])
