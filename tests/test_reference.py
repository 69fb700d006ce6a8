"""Every game is held against an independent slow implementation of its rules, written from the rules file alone."""

from __future__ import annotations

import json
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
import pytest

from phantom_envs.core.game import Game
from phantom_envs.core.table import Table
from phantom_envs.registry import game_ids, get_game
from tests.settings import settings_of

GAMES_PER_SETTING = 40
MAX_STEPS = 1500  # of one walk; longer games are left there
STEPS_PER_SETTING = 12_000  # no further walk begins once so many are made: long games need fewer


def cases() -> list[Any]:
    """Every game, player count and combination of options."""
    return [
        pytest.param(name, players, options, id=f"{name}-{players}-{'-'.join(map(str, options.values()))}")
        for name in game_ids()
        for players, options in product(get_game(name).players, settings_of(get_game(name)))
    ]


def pick(table: Table, rng: np.random.Generator, with_rule_bot: bool) -> int:
    """A random legal action, or in some games mostly the rule bot's, which reaches other corners."""
    if with_rule_bot and rng.random() < 0.8:
        actions = np.zeros(1, np.int64)
        from phantom_envs.core.batch import kernels

        kernels(table.game).advise(table.states, table.words.reshape(1, -1), actions, 0, 1)
        return int(actions[0])
    return int(rng.choice(table.legal()))


def walk(game: Game, players: int, options: dict[str, Any], seed: int) -> int:
    """One game, engine and reference side by side: legal actions, complete state and rewards after each step.

    Returns the number of steps.
    """
    reference_type = import_module(f"tests.reference.{game.name}").Reference
    rng = np.random.default_rng(seed)
    table = Table(game, players, options)
    table.deal(seed)
    reference = reference_type(table.state_dict(), dict(table.options))
    for steps in range(MAX_STEPS):
        assert table.legal_names() == reference.legal()
        if table.over:
            return steps
        action = pick(table, rng, with_rule_bot=seed % 4 == 3)
        name = table.action_name(action)
        table.play(action)
        after = table.state_dict()
        assert json.loads(json.dumps(after)) == after
        rewards = reference.step(name, after)
        assert reference.state_dict() == after, name
        assert table.rewards.tolist() == pytest.approx(rewards, abs=1e-12), name
        assert (table.terminated, table.truncated) == (reference.terminated, reference.truncated)
    return MAX_STEPS


@pytest.mark.parametrize(("name", "players", "options"), cases())
def test_engine_follows_the_reference(name: str, players: int, options: dict[str, Any]) -> None:
    steps = 0
    for seed in range(GAMES_PER_SETTING):
        if steps < STEPS_PER_SETTING:
            steps += walk(get_game(name), players, options, seed)
