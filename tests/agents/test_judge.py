"""A search guided by a network: what it is asked, and what becomes of its answers. The networks are made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from agents.ismcts import IsmctsAgent
from agents.network import PolicyValueNet, save_network
from agents.neural import WrongNetwork
from phantom_envs.arena.agent import Decisions
from phantom_envs.core.errors import InvalidOption
from phantom_envs.core.game import Game, members_of
from phantom_envs.core.table import Table
from phantom_envs.registry import game_ids, get_game

TRICK = get_game("phantom_trick_v0")


def blank_net(game: Game, num_players: int) -> PolicyValueNet:
    """A network that holds all actions equal and expects nothing."""
    net = PolicyValueNet.for_game(game, num_players, width=8, depth=1)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
    return net


def saved(folder: Path, net: PolicyValueNet, game: Game = TRICK, num_players: int = 4) -> Path:
    save_network(folder / "net.safetensors", net, {"game": game.id, "num_players": num_players})
    return folder / "net.safetensors"


def decisions_at(tables: list[Table], keys: NDArray[np.uint64] | None = None) -> Decisions:
    first, size = tables[0], len(tables)
    given = np.arange(size, dtype=np.uint64) + np.uint64(5) if keys is None else keys
    states = np.concatenate([table.states for table in tables])
    return Decisions(first.game, first.num_players, first.options, states, given, np.arange(size))


def played_until(wanted: Any, game: Game = TRICK, num_players: int = 4, seed: int = 0) -> Table:
    """A game played at random until `wanted(table)`."""
    for each in range(seed, seed + 200):
        table = Table(game, num_players)
        table.deal(each)
        rng = np.random.default_rng(each)
        while not table.over:
            if wanted(table):
                return table
            table.play(rng.choice(table.legal()))
    raise AssertionError("no such position")


def prepared(agent: IsmctsAgent, game: Game = TRICK, num_players: int = 4) -> IsmctsAgent:
    agent.prepare(game, num_players, game.check_options({}))
    return agent


def early(table: Table) -> bool:
    """A choice of at least five cards, long before a round is scored."""
    return table.state["phase"] == 1 and table.state["trick"] == 2 and len(table.legal()) >= 5


def test_a_network_that_knows_nothing_spreads_the_visits(tmp_path: Path) -> None:
    """All values are 0 as no points are booked so near the root, so PUCT visits equal priors equally often."""
    agent = prepared(
        IsmctsAgent(iterations=400, network=saved(tmp_path, blank_net(TRICK, 4)), rollout="none", leaves=1)
    )
    table = played_until(early)
    found = agent.search(decisions_at([table]))
    visits = found.visits[0, table.legal()]
    assert visits.sum() == 399  # the first iteration judges the root itself
    assert visits.max() - visits.min() <= 1
    assert np.nan_to_num(found.values).tolist() == np.zeros_like(found.values).tolist()


def test_visits_follow_the_priors(tmp_path: Path) -> None:
    """With all values 0, PUCT keeps (visits + 1) / prior equal; the logits ln 1, ln 2, ln 3, … are the priors here."""
    table = played_until(early)
    legal = table.legal()
    net = blank_net(TRICK, 4)
    with torch.no_grad():
        net.policy.bias[legal] = torch.log(torch.arange(1.0, len(legal) + 1))
    agent = prepared(IsmctsAgent(iterations=1000, network=saved(tmp_path, net), rollout="none", leaves=1))
    visits = agent.search(decisions_at([table])).visits[0, legal]
    wanted = np.arange(1, len(legal) + 1) / sum(range(1, len(legal) + 1)) * (999 + len(legal)) - 1
    assert np.abs(visits - wanted).max() <= 2.0


@pytest.mark.parametrize("leaves", [1, 8])
def test_each_seat_expects_what_the_network_sees_in_its_own_observation(tmp_path: Path, leaves: int) -> None:
    """The network expects 1 for whoever owns a certain card.

    The winner of a trick may take that card or another one. Taken, it expects 1 and the other three 0, less the mean
    of 1/4: 3/4 for the taker. If it takes another, the card is out of the round: all expect 0.
    """
    table = played_until(lambda t: t.state["phase"] == 2 and len(t.legal()) >= 2 and t.state["trick"] < 9)
    card, *others = table.legal()
    net = blank_net(TRICK, 4)
    start = next(block.start for block in TRICK.layout(4) if block.name == "card_owner") + card
    with torch.no_grad():
        first_layer = net.body[0]
        assert isinstance(first_layer, torch.nn.Linear)
        # the entry is 1 for oneself and 2, 3, 4 for others, and scaled by 1/4: relu(x) - 2 relu(x - 1/4) + …
        first_layer.weight[:3, start] = 1.0
        first_layer.bias[:3] = torch.tensor([0.0, -0.25, -0.5])
        net.value.weight[0, :3] = torch.tensor([4.0, -8.0, 4.0])
    agent = prepared(
        IsmctsAgent(iterations=240, network=saved(tmp_path, net), rollout="none", leaves=leaves, exploration=0.5)
    )
    decisions = decisions_at([table])
    found = agent.search(decisions)
    assert agent.act(decisions).tolist() == [card]
    assert found.values[0, card] == pytest.approx(0.75, abs=0.02 if leaves == 1 else 0.1)
    assert np.nanmax(np.abs(found.values[0, others])) == pytest.approx(0.0, abs=0.02 if leaves == 1 else 0.1)


def test_ripe_nodes_get_the_networks_priors_while_playouts_go_on(tmp_path: Path) -> None:
    """A network sure of one card, without doubt or trust in the rule bot, draws the visits to it."""
    table = played_until(early)
    legal = table.legal()
    plain = prepared(IsmctsAgent(iterations=1024, trust=0.0)).search(decisions_at([table])).visits[0]
    worst = min(legal, key=lambda action: plain[action])
    net = blank_net(TRICK, 4)
    with torch.no_grad():
        net.policy.bias[worst] = 8.0
    path = saved(tmp_path, net)
    sure = prepared(IsmctsAgent(iterations=1024, trust=0.0, network=path, doubt=0.0)).search(decisions_at([table]))
    unsure = prepared(IsmctsAgent(iterations=1024, trust=0.0, network=path, doubt=1.0)).search(decisions_at([table]))
    assert sure.visits[0, worst] > 2 * plain[worst]
    assert sure.visits[0].sum() == unsure.visits[0].sum() == 1023
    few = prepared(IsmctsAgent(iterations=200, network=path)).search(decisions_at([table]))
    assert few.visits[0].sum() == 199  # not rounded up to whole batches
    assert unsure.visits[0, worst] < sure.visits[0, worst] / 1.5


@pytest.mark.parametrize("rollout", ["rule", "none"])
@pytest.mark.parametrize("game_id", game_ids())
def test_hidden_cards_and_company_change_nothing(tmp_path: Path, game_id: str, rollout: str) -> None:
    """The same choice whatever is hidden, and the same for a decision by itself as among others.

    In float64 and with a network of one small layer no rounding of a batch is large enough to change a choice.
    """
    game = get_game(game_id)
    players = game.default_players
    torch.manual_seed(3)
    net = PolicyValueNet.for_game(game, players, width=16, depth=1)
    path = saved(tmp_path, net, game, players)
    agent = prepared(IsmctsAgent(iterations=32, network=path, rollout=rollout), game, players)
    tables = [played_until(lambda t: len(t.legal()) > 1, game, players, 300 * each) for each in range(2)]
    swapped = [table.copy() for table in tables]
    for table in swapped:
        table.resample(table.seat, 99)
    found, again = agent.search(decisions_at(tables)), agent.search(decisions_at(swapped))
    assert (found.visits == again.visits).all()
    assert (np.nan_to_num(found.values) == np.nan_to_num(again.values)).all()
    alone = agent.search(decisions_at(tables[1:], np.array([6], np.uint64)))
    assert alone.most_visited().tolist() == found.most_visited()[1:].tolist()
    assert np.abs(alone.visits[0] - found.visits[1]).sum() <= 8


def test_kept_trees_go_on_with_a_network(tmp_path: Path) -> None:
    """The tree of a seat still holds what the first search found, when it is asked again."""
    path = saved(tmp_path, blank_net(TRICK, 4))
    agent = prepared(IsmctsAgent(iterations=64, network=path, rollout="none", leaves=1, reuse=True))
    decisions = decisions_at([played_until(early)])
    assert agent.search(decisions).visits.sum() == 63
    assert agent.search(decisions).visits.sum() == 127


def test_wrong_networks_and_options_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, blank_net(TRICK, 4))
    with pytest.raises(WrongNetwork, match="phantom_trick_v0 with 4 players, not phantom_trick_v0 with 3"):
        prepared(IsmctsAgent(network=path), TRICK, 3)
    with pytest.raises(WrongNetwork, match="no network file"):
        IsmctsAgent(network=tmp_path / "none.safetensors")
    with pytest.raises(InvalidOption, match=r"goal='win'.*take that, or blend=1"):
        IsmctsAgent(network=path, rollout="none", goal="win")
    with pytest.raises(InvalidOption, match="playouts need a rollout policy"):
        IsmctsAgent(network=path, rollout="none", blend=0.5)
    with pytest.raises(InvalidOption, match="selection='ucb' uses no priors"):
        IsmctsAgent(network=path, selection="ucb")


def test_the_position_of_the_own_card_test_is_what_it_says() -> None:
    """Bits of the face-up set are what the winner may take."""
    table = played_until(lambda t: t.state["phase"] == 2 and len(t.legal()) >= 2 and t.state["trick"] < 9)
    assert members_of(table.state["face_up"]) == table.legal()
