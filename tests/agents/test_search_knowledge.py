"""What a searching agent cannot know changes nothing: true states are swapped for others that look alike to the seat.

This covers every game, player count and combination of options. It needs more of a game than `tests/test_sweep.py`
asks: from equal seeds the redrawing must come to equal worlds, whatever the true state was.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.ismcts import IsmctsAgent
from agents.pimc import PimcAgent
from phantom_envs.arena.agent import Decisions
from phantom_envs.core.game import States
from phantom_envs.core.jit import JIT_DISABLED
from phantom_envs.core.table import Table
from phantom_envs.registry import game_ids, get_game
from tests.agents.support import SETTINGS, AnyAgent, Setting, decisions_of, ready, same_found, walk, with_states

pytestmark = pytest.mark.skipif(
    JIT_DISABLED, reason="whole games are searched; compiled and uncompiled searches are compared in small"
)

EFFORT = 16  # worlds or iterations

every_setting = pytest.mark.parametrize(
    "setting",
    [pytest.param(each, id=f"{each[0]}-{each[1]}-{'-'.join(map(str, each[2].values()))}") for each in SETTINGS],
)
every_game = pytest.mark.parametrize("game_id", game_ids())


def agents_for(game_id: str) -> list[AnyAgent]:
    """Searches of every sort for a game."""
    horizons = ["game"] if get_game(game_id).deal_field is None else ["game", "deal"]
    found: list[AnyAgent] = []
    for horizon in horizons:
        found += [
            PimcAgent(worlds=EFFORT // 2, rollout="rule", horizon=horizon),
            PimcAgent(worlds=EFFORT // 2, rollout="random", playouts=2, goal="win", horizon=horizon),
            IsmctsAgent(iterations=EFFORT, trust=0.3, horizon=horizon),
            IsmctsAgent(iterations=EFFORT, rollout="random", selection="ucb", goal="score", horizon=horizon),
        ]
    return [*found, IsmctsAgent(iterations=EFFORT, reuse=True, searches=2)]


def swapped(decisions: Decisions, states: States, seed: int) -> States:
    """Other true states: all redrawn that the deciding seats cannot know, chance to come included."""
    worlds = decisions.determinize(np.arange(seed, seed + len(states), dtype=np.uint64))
    assert (worlds["rng"] != states["rng"]).all()
    return worlds


@every_setting
def test_hidden_cards_change_nothing(setting: Setting) -> None:
    tables = walk(*setting, seed=1, every=9, most=8)
    decisions = decisions_of(tables)
    states = np.concatenate([table.states for table in tables])
    before = states.tobytes()
    others = swapped(decisions, states, 500)
    told = tables[0].copy()
    changed = 0
    for row, table in enumerate(tables):
        told.states[0] = others[row]
        changed += told.state_dict() != table.state_dict()
    assert changed > len(tables) // 2
    for agent in agents_for(setting[0]):
        ready(agent, tables[0])
        found, chosen = agent.search(decisions), agent.act(decisions)
        ready(agent, tables[0])  # forgets what it kept
        again = with_states(decisions, others)
        assert same_found(found, agent.search(again)), vars(agent)
        assert (chosen == agent.act(again)).all()
        assert decisions.mask[np.arange(len(tables)), chosen].all()
    assert states.tobytes() == before


@every_game
@pytest.mark.parametrize("reuse", [False, True])
def test_hidden_cards_change_nothing_in_a_whole_game(game_id: str, reuse: bool) -> None:
    """With trees that are kept from decision to decision, too."""
    game = get_game(game_id)
    table = Table(game, game.players[0])
    table.deal(3)
    agents = [ready(IsmctsAgent(iterations=EFFORT, reuse=reuse), table) for _ in range(2)]
    for step in range(60):
        if table.over:
            break
        decisions = decisions_of([table], [step], [7])
        found = agents[0].search(decisions)
        other = with_states(decisions, swapped(decisions, table.states, 1000 + step))
        assert same_found(found, agents[1].search(other)), step
        if reuse and len(table.legal()) > 1:
            assert found.visits.sum() >= EFFORT - 1
        table.play(int(agents[0].choose(found)[0]))


class Sealed(Decisions):
    """Decisions that have no true state to look at, only worlds."""

    def __init__(self, decisions: Decisions) -> None:
        vars(self).update(vars(decisions))
        del self._states
        self.imagined = decisions.determinize

    def determinize(self, seeds: NDArray[np.uint64]) -> States:
        """Worlds, all the same as without the seal."""
        return self.imagined(seeds)


@every_game
def test_searches_touch_worlds_only(game_id: str) -> None:
    game = get_game(game_id)
    tables = walk(game_id, game.default_players, {}, seed=2, every=7, most=6)
    decisions = decisions_of(tables)
    sealed = Sealed(decisions_of(tables))
    late = decisions_of(tables)
    late._states = swapped(late, late._states, 900)
    for agent in agents_for(game_id):
        found = [ready(agent, tables[0]).search(each) for each in (decisions, sealed, late)]
        assert same_found(found[0], found[1])
        assert same_found(found[0], found[2])


@every_game
def test_equal_seeds_redraw_equal_worlds(game_id: str) -> None:
    """The worlds themselves, in all that `state_dict` tells: what a search finds could hide a difference."""
    game = get_game(game_id)
    for players in game.players:
        for table in walk(game_id, players, {}, seed=4, every=8, most=12):
            for seat in range(players):
                worlds: list[Any] = []
                for first in (11, 12, 13):
                    world = table.copy()
                    world.resample(seat, first)
                    world.resample(seat, 99)
                    worlds.append(world.state_dict())
                assert worlds[0] == worlds[1] == worlds[2]
