"""The parts of a search tree, with numbers worked out by hand."""

from __future__ import annotations

from collections import Counter
from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.search.tree import (
    EDGE,
    HEAD,
    NODE,
    PUCT,
    STEP,
    UCB,
    add_edge,
    add_node,
    back_up,
    choose_edge,
    clear,
    find_slot,
    hash_words,
    read_root,
    set_priors,
    spread_of,
)
from phantom_envs.core.jit import jit
from tests.chance import assert_uniform

WORDS = 2  # so that actions 64 and up are in the second


class Tree:
    """A tree with room for a few nodes and edges."""

    def __init__(self, nodes: int = 4, edges: int = 8, seed: int = 1) -> None:
        self.heads: NDArray[np.void] = np.zeros(1, HEAD)
        self.nodes: NDArray[np.void] = np.zeros(nodes, NODE)
        self.edges: NDArray[np.void] = np.zeros(edges, EDGE)
        self.slots: NDArray[np.int32] = np.zeros(8, np.int32)
        _clear(self.heads, self.slots, np.uint64(seed))

    def saw(self, *values: float) -> None:
        """The values of playouts so far, which set the unit of exploration."""
        self.heads["playouts"] = len(values)
        self.heads["sum"] = sum(values)
        self.heads["squares"] = sum(value * value for value in values)
        self.heads["spread"] = max((float(np.std(values[:size])) for size in range(1, len(values) + 1)), default=0.0)

    def node(self, key: int = 5) -> int:
        """A node of that key, made if it is not there."""
        return int(_node(self.heads, self.nodes, self.slots, np.uint64(key)))

    def edge(self, action: int, visits: int, total: float, available: int, prior: float = 0.0) -> int:
        """An edge at the first node."""
        index = int(_edge(self.heads, self.nodes, self.edges, action, prior))
        if index >= 0:
            self.edges[index]["visits"], self.edges[index]["available"] = visits, available
            self.edges[index]["total"] = total
        return index

    def choose(self, *legal: int, selection: int = UCB, c: float = 1.0, hint: int = -1, trust: float = 0.0) -> int:
        """The action chosen at the first node, -1 for none."""
        untried = np.zeros(WORDS, np.uint64)
        arrays = self.heads, self.nodes, self.edges
        index = int(_choose(*arrays, words_of(*legal), untried, selection, c, hint, trust))
        return int(self.edges[index]["action"]) if index >= 0 else -1


def words_of(*actions: int) -> NDArray[np.uint64]:
    """A set of actions."""
    words = np.zeros(WORDS, np.uint64)
    for action in actions:
        words[action // 64] |= np.uint64(1 << action % 64)
    return words


# Records are passed as arrays and an index, since that is how compiled code takes them.


@jit
def _clear(heads: Any, slots: Any, seed: Any) -> None:
    clear(heads[0], slots, seed)


@jit
def _node(heads: Any, nodes: Any, slots: Any, key: Any) -> int:
    slot = find_slot(nodes, slots, key)
    return slots[slot] - 1 if slots[slot] > 0 else add_node(heads[0], nodes, slots, slot, key)


@jit
def _edge(heads: Any, nodes: Any, edges: Any, action: int, prior: float) -> int:
    return add_edge(heads[0], nodes[0], edges, action, prior)


@jit
def _choose(
    heads: Any, nodes: Any, edges: Any, words: Any, untried: Any, how: int, c: float, hint: int, trust: float
) -> int:
    return choose_edge(heads[0], nodes[0], edges, words, untried, how, c, hint, trust)


@jit
def _set_priors(heads: Any, nodes: Any, edges: Any, words: Any, logits: Any, doubt: float) -> None:
    set_priors(heads[0], nodes[0], edges, words, logits, doubt)


@jit
def _back_up(
    heads: Any, nodes: Any, edges: Any, path: Any, leaf: int, leaf_seat: int, before: float, values: Any, loss: float
) -> None:
    back_up(heads[0], nodes, edges, path, len(path), leaf, leaf_seat, before, values, 2, loss)


@jit
def _spread(heads: Any) -> float:
    return spread_of(heads[0])


@jit
def _hash(words: Any, start: Any) -> Any:
    return hash_words(words, start)


@jit
def _read_root(nodes: Any, edges: Any, visits: Any, values: Any) -> None:
    read_root(nodes[0], edges, visits, values)


# Choosing


@pytest.mark.parametrize(
    ("values", "spread"), [((), 1.0), ((7.0,), 1.0), ((2.0, 2.0, 2.0), 1.0), ((1.0, 3.0), 1.0), ((0, 0, 0, 4), sqrt(3))]
)
def test_exploration_is_in_units_of_the_spread_of_values(values: tuple[float, ...], spread: float) -> None:
    tree = Tree()
    tree.saw(*values)
    assert _spread(tree.heads) == pytest.approx(spread)


def test_the_unit_of_exploration_does_not_shrink() -> None:
    """2 and -2 have a spread of 2; with 98 zeros behind them it would be sqrt(8 / 100)."""
    tree = Tree()
    nowhere: NDArray[np.void] = np.zeros(0, STEP)
    for value in (2.0, -2.0, *[0.0] * 98):
        _back_up(tree.heads, tree.nodes, tree.edges, nowhere, -1, -1, 0.0, np.full(6, value), 0.0)
    assert tree.heads["playouts"][0] == 100
    assert _spread(tree.heads) == 2.0


def test_puct_holds_untried_actions_for_as_good_as_the_node_so_far() -> None:
    """Two visits are backed up and brought 1.2 in all; a third is under way, which is all that `visits` is ahead.

    So an untried action promises 0.6 + c/2 sqrt(3), the tried one 0.55 + c/2 sqrt(3) / 3: untried wins for every c,
    and would not at c = 0.01 if the mean were over three visits, 0.4 + 0.0087 against 0.55 + 0.0029.
    """
    tree = Tree()
    node = tree.node()
    tree.saw(-1.0, 1.0)
    tree.edge(3, visits=2, total=1.1, available=2)
    tree.nodes["visits"][node], tree.nodes["total"][node] = 3, 1.2
    assert tree.choose(3, 4, selection=PUCT, c=0.01) == 4


def test_ucb_counts_when_an_action_was_available() -> None:
    """Cowling et al. 2012, equation (2): mean + c sqrt(ln(times available) / visits), this time counted in."""
    tree = Tree()
    tree.node()
    tree.saw(-1.0, 1.0)  # spread 1
    often = tree.edge(3, visits=4, total=2.0, available=9)
    rare = tree.edge(70, visits=1, total=-0.2, available=1)
    worth = {3: 0.5 + 2 * sqrt(log(10) / 4), 70: -0.2 + 2 * sqrt(log(2) / 1)}
    assert worth[3] > worth[70]
    assert -0.2 + 2 * sqrt(log(10) / 1) > worth[3]  # had all visits of the node counted for it, it would be chosen
    assert tree.choose(3, 70, c=2.0) == 3
    assert tree.edges["available"][[often, rare]].tolist() == [10, 2]
    for _ in range(4):
        chosen = tree.choose(3, 70, c=2.0)
    assert tree.edges["available"][[often, rare]].tolist() == [14, 6]
    assert -0.2 + 2 * sqrt(log(6)) > 0.5 + 2 * sqrt(log(14) / 4)
    assert chosen == 70


@pytest.mark.parametrize(("spread", "chosen"), [(1.0, 70), (0.1, 3)])
def test_ucb_explores_by_the_spread(spread: float, chosen: int) -> None:
    """0.5 + s sqrt(ln(10) / 4) = 0.5 + 0.76 s against -0.2 + s sqrt(ln 10) = -0.2 + 1.52 s: even at s = 0.92."""
    tree = Tree()
    tree.node()
    tree.saw(-spread, spread)
    tree.edge(3, visits=4, total=2.0, available=9)
    tree.edge(70, visits=1, total=-0.2, available=9)
    assert tree.choose(3, 70) == chosen


def test_actions_that_are_not_legal_here_are_neither_chosen_nor_counted() -> None:
    tree = Tree()
    tree.node()
    good = tree.edge(3, visits=4, total=40.0, available=9)
    tree.edge(70, visits=4, total=0.0, available=9)
    for selection in (UCB, PUCT):
        assert tree.choose(70, selection=selection) == 70
    assert tree.edges["available"][good] == 9


def test_ucb_tries_every_action_first_in_random_order() -> None:
    counts: Counter[int] = Counter()
    for seed in range(900):
        tree = Tree(seed=seed)
        tree.node()
        tree.edge(3, visits=4, total=400.0, available=9)
        chosen = tree.choose(3, 5, 64, 100)
        made = tree.edges[tree.heads["num_edges"][0] - 1]
        assert (made["action"], made["visits"], made["available"], made["total"]) == (chosen, 0, 1, 0.0)
        counts[chosen] += 1
    assert counts.keys() == {5, 64, 100}
    assert_uniform(counts.values())


@pytest.mark.parametrize(("c", "chosen"), [(0.4, 1), (0.8, 2)])
def test_puct_with_a_networks_priors(c: float, chosen: int) -> None:
    """Q + c P sqrt(available) / (1 + visits), even at c = 4/7.

    0.5 + c 0.2 · 4 / 8 = 0.5 + 0.1 c against 0.1 + c 0.8 · 4 / 4 = 0.1 + 0.8 c.
    """
    tree = Tree()
    tree.node()
    tree.saw(-1.0, 1.0)
    tree.edge(1, visits=7, total=3.5, available=15, prior=0.2)
    tree.edge(2, visits=3, total=0.3, available=15, prior=0.8)
    assert tree.choose(1, 2, selection=PUCT, c=c) == chosen


@pytest.mark.parametrize(("trust", "chosen"), [(0.0, 1), (0.3, 1), (0.6, 2)])
@pytest.mark.parametrize("priors", [(0.0, 0.0), (0.5, 0.5)])
def test_puct_gives_a_share_of_the_prior_to_advice(trust: float, chosen: int, priors: tuple[float, float]) -> None:
    """Of two actions with the same visits and c = 1, sqrt(16) / (1 + 3) = 1: Q + P counts.

    0.5 + (1 - trust) / 2 against 0.1 + (1 - trust) / 2 + trust: even at trust = 0.4.
    """
    tree = Tree()
    tree.node()
    tree.saw(-1.0, 1.0)
    tree.edge(1, visits=3, total=1.5, available=15, prior=priors[0])
    tree.edge(2, visits=3, total=0.3, available=15, prior=priors[1])
    assert tree.choose(1, 2, selection=PUCT, hint=2, trust=trust) == chosen


def test_puct_takes_advice_first_and_leaves_poor_untried_actions_alone() -> None:
    tree = Tree()
    tree.node()
    assert tree.choose(4, 5, 6, selection=PUCT, hint=6, trust=0.3) == 6
    tree = Tree()
    tree.node()
    tree.saw(-0.01, 0.01)
    tree.nodes["visits"], tree.nodes["total"] = 10, 5.0
    tree.edge(4, visits=9, total=9.0, available=9)
    assert tree.choose(4, 5, 6, selection=PUCT) == 4  # 1 and more against 0.5 or so
    tree.edges["total"][0] = -9.0
    assert tree.choose(4, 5, 6, selection=PUCT) in (5, 6)


def test_without_room_for_an_edge_the_best_of_those_there_is_taken() -> None:
    tree = Tree(edges=2)
    tree.node()
    tree.edge(1, visits=3, total=1.0, available=5)
    tree.edge(2, visits=3, total=2.0, available=5)
    assert tree.edge(3, visits=0, total=0.0, available=0) == -1
    assert tree.choose(1, 2, 3) == 2
    assert tree.choose(3) == -1


# A network's priors


@pytest.mark.parametrize("doubt", [0.0, 0.4])
def test_priors_are_the_softmax_of_the_legal_logits(doubt: float) -> None:
    tree = Tree()
    tree.node()
    kept = tree.edge(65, visits=3, total=1.5, available=4)
    logits = np.full(128, 50.0, np.float32)  # what is not legal plays no part
    logits[[2, 65, 127]] = [700.0, 701.0, 703.0]  # too large for exp
    _set_priors(tree.heads, tree.nodes, tree.edges, words_of(2, 65, 127), logits, doubt)
    total = exp(-3) + exp(-2) + 1
    soft = {2: exp(-3) / total, 65: exp(-2) / total, 127: 1 / total}
    assert tree.heads["num_edges"][0] == 3
    priors = {int(edge["action"]): float(edge["prior"]) for edge in tree.edges[:3]}
    assert priors == pytest.approx({action: (1 - doubt) * p + doubt / 3 for action, p in soft.items()})
    assert tree.edges[kept][["visits", "available", "total"]].tolist() == (3, 4, 1.5)


# Back up


@pytest.mark.parametrize("loss", [0.0, 0.5])
def test_each_seat_is_credited_with_what_it_gained_from_its_own_step_on(loss: float) -> None:
    """Seat 2 searches. It acts, then seat 0, then seat 2 again; at the leaf seat 1 is to act.

    In the end they have gained 3, -1 and -2 since the root. Before the steps the actors had gained 0, 1 and -4, and
    seat 1 had gained 2 at the leaf: what is still to come is -2 - 0, 3 - 1, -2 + 4 and -1 - 2.
    """
    tree = Tree()
    for key in range(4):
        tree.node(100 + key)
    edges = [tree.edge(action, visits=1, total=10.0 - loss, available=1) for action in range(3)]
    tree.nodes["total"] = [20.0 - loss, 20.0 - loss, 20.0 - loss, 20.0]
    path: NDArray[np.void] = np.zeros(3, STEP)
    path["node"], path["edge"], path["seat"], path["before"] = [0, 1, 2], edges, [2, 0, 2], [0.0, 1.0, -4.0]
    tree.saw(4.0)
    _back_up(tree.heads, tree.nodes, tree.edges, path, 3, 1, 2.0, np.array([3.0, -1.0, -2.0, 0.0, 0.0, 0.0]), loss)
    assert tree.edges["total"][edges].tolist() == [8.0, 12.0, 12.0]
    assert tree.nodes["total"].tolist() == [18.0, 22.0, 22.0, 17.0]
    assert tree.heads[["playouts", "sum", "squares"]][0].tolist() == (2, 4.0 - 2.0, 16.0 + 4.0)


def test_a_leaf_without_a_node_is_no_ones() -> None:
    tree = Tree()
    tree.node()
    _back_up(tree.heads, tree.nodes, tree.edges, np.zeros(0, STEP), -1, -1, 0.0, np.arange(6.0), 0.0)
    assert (tree.nodes["total"] == 0).all()
    assert tree.heads["sum"][0] == 2.0


def test_the_root_is_read_out_by_action() -> None:
    tree = Tree()
    tree.node()
    tree.edge(3, visits=4, total=2.0, available=9)
    tree.edge(70, visits=1, total=-0.2, available=1)
    visits, values = np.zeros(128, np.int64), np.zeros(128)
    _read_root(tree.nodes, tree.edges, visits, values)
    assert dict(zip(np.flatnonzero(visits).tolist(), visits[visits > 0].tolist(), strict=True)) == {3: 4, 70: 1}
    assert (values[3], values[70], values.sum()) == pytest.approx((2.0, -0.2, 1.8))


# Finding nodes


def test_nodes_whose_keys_fall_together_are_told_apart() -> None:
    """Eight slots: keys 5, 13 and 21 all belong in slot 5; the last goes around the end of the table."""
    tree = Tree()
    keys = [5, 13, 7, 21]
    assert [tree.node(key) for key in keys] == [0, 1, 2, 3]
    assert tree.slots.tolist() == [4, 0, 0, 0, 0, 1, 2, 3]
    assert [tree.node(key) for key in keys] == [0, 1, 2, 3]
    assert tree.node(29) == -1  # full
    assert tree.node(6) == -1
    assert [tree.node(key) for key in keys] == [0, 1, 2, 3]
    _clear(tree.heads, tree.slots, np.uint64(0))
    assert tree.node(29) == 0


def test_hashes_tell_observations_and_seats_apart() -> None:
    rng = np.random.default_rng(0)
    words = rng.integers(2**64, size=(40, 8), dtype=np.uint64)
    starts = np.array([1, 2], np.uint64)
    keys = {int(_hash(each, starts[0])) for each in words}
    for row in range(8):  # every single bit counts
        for shift in range(64):
            other = words[0].copy()
            other[row] ^= np.uint64(1 << shift)
            keys.add(int(_hash(other, starts[0])))
    keys.add(int(_hash(words[0], starts[1])))
    keys.add(int(_hash(np.concatenate([words[0][4:], words[0][:4]]), starts[0])))
    assert len(keys) == 40 + 8 * 64 + 2
    ones = [int(key).bit_count() for key in keys]
    assert abs(np.mean(ones) - 32) < 5 * 4 / sqrt(len(ones))
