"""One search tree in preallocated arrays, and the choices made in it.

A node is an information set of the searching seat, whoever is to act there: it is found by a hash of what that seat
observes. Worlds that differ only in what the seat cannot see meet in the same node, and moves that it cannot see lead
to the same node, as in Cowling, Powley and Whitehouse, "Information set Monte Carlo tree search" (IEEE TCIAIG 4(2),
2012), SO-ISMCTS with the treatment of partially observable moves of their section IV. Equal observations reached in
different ways are one node.

An edge is an action tried at a node. It counts in how many of the node's worlds the action was legal (`available`,
their section IV-B), and sums up what the acting seat made of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phantom_envs.core.batch import random_member
from phantom_envs.core.bits import EMPTY, bit, count, drop_lowest, has, lowest
from phantom_envs.core.jit import jit, wrapping
from phantom_envs.core.rng import mix

HEAD = np.dtype(
    [
        ("rng", np.uint64, (1,)),  # generator of all chance in this search
        ("num_nodes", np.int64),
        ("num_edges", np.int64),
        ("asked", np.int64),  # nodes whose priors a network has yet to give
        ("playouts", np.int64),  # values seen
        ("sum", np.float64),  # of those values for the searching seat
        ("squares", np.float64),  # likewise, of their squares
        ("spread", np.float64),  # greatest standard deviation that the values have had so far
    ],
    align=True,
)

NODE = np.dtype(
    [
        ("key", np.uint64),  # hash of the searching seat's observation
        ("first", np.int32),  # the node's newest edge, -1 if none
        ("visits", np.int32),
        ("total", np.float64),  # sum over the visits of what the acting seat made of them
        ("judged", np.int32),  # ASKED once a network is to give the priors, JUDGED once it has
    ],
    align=True,
)

EDGE = np.dtype(
    [
        ("action", np.int32),
        ("next", np.int32),  # the node's edge made before this one, -1 if none
        ("visits", np.int32),
        ("available", np.int32),  # visits of the node in which the action was legal
        ("total", np.float64),  # sum over the visits of what the acting seat made of them
        ("prior", np.float64),  # its probability, where a network has given one; else 0
    ],
    align=True,
)

STEP = np.dtype(
    [
        ("node", np.int32),
        ("edge", np.int32),
        ("seat", np.int32),  # who acted
        ("before", np.float64),  # what that seat had gained since the root when it acted
    ],
    align=True,
)
"""One step of the way from the root to a leaf."""

MAX_DEPTH = 256
"""Longest way down; further decisions belong to the playout."""

ASKED, JUDGED = 1, 2

UCB, PUCT = 0, 1
SELECTIONS = {"ucb": UCB, "puct": PUCT}

_MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(32)


@wrapping
def hash_words(words: Any, start: Any) -> Any:
    """A 64-bit hash of uint64 `words`, whose number is a multiple of four, in four lanes.

    Each lane is xor-multiply-shift with the constant of Evensen's `rrmxmx` mixer; `mix` joins them.
    """
    a, b, c, d = start, ~start, mix(start), mix(~start)
    for index in range(0, len(words), 4):
        a = (a ^ words[index]) * _MULTIPLIER
        a ^= a >> _SHIFT
        b = (b ^ words[index + 1]) * _MULTIPLIER
        b ^= b >> _SHIFT
        c = (c ^ words[index + 2]) * _MULTIPLIER
        c ^= c >> _SHIFT
        d = (d ^ words[index + 3]) * _MULTIPLIER
        d ^= d >> _SHIFT
    return mix(mix(mix(mix(a) ^ b) ^ c) ^ d)


@jit
def clear(head: Any, slots: Any, seed: Any) -> None:
    """Empty a tree; `seed` begins its chance."""
    head["rng"][0] = seed
    head["num_nodes"] = 0
    head["num_edges"] = 0
    head["asked"] = 0
    head["playouts"] = 0
    head["sum"] = 0.0
    head["squares"] = 0.0
    head["spread"] = 0.0
    slots[:] = 0


@jit
def find_slot(nodes: Any, slots: Any, key: Any) -> int:
    """Where the node of `key` is in the hash table, or the free place where it belongs.

    `slots` (a power of two) holds node + 1, or 0 where free; linear probing.
    """
    last = len(slots) - 1
    slot = np.int64(key & np.uint64(last))
    while slots[slot] != 0 and nodes[slots[slot] - 1]["key"] != key:
        slot = (slot + 1) & last
    return slot  # type: ignore[return-value]  # numba's integers are NumPy's


@jit
def add_node(head: Any, nodes: Any, slots: Any, slot: int, key: Any) -> int:
    """Make a node at a free `slot`; -1 if there is no room."""
    index = int(head["num_nodes"])
    if index == len(nodes):
        return -1
    head["num_nodes"] = index + 1
    slots[slot] = index + 1
    node = nodes[index]
    node["key"] = key
    node["first"] = -1
    node["visits"] = 0
    node["total"] = 0.0
    node["judged"] = 0
    return index


@jit
def add_edge(head: Any, node: Any, edges: Any, action: int, prior: float) -> int:
    """Make an edge; -1 if there is no room."""
    index = int(head["num_edges"])
    if index == len(edges):
        return -1
    head["num_edges"] = index + 1
    edge = edges[index]
    edge["action"] = action
    edge["next"] = node["first"]
    edge["visits"] = 0
    edge["available"] = 0
    edge["total"] = 0.0
    edge["prior"] = prior
    node["first"] = index
    return index


@jit
def spread_of(head: Any) -> float:
    """The unit of exploration: the greatest standard deviation of the values so far, 1 before two are different.

    It must not shrink as the search settles, or a good action that began badly would never be tried again.
    """
    return float(head["spread"]) if head["spread"] > 0.0 else 1.0


@jit
def choose_edge(
    head: Any,
    node: Any,
    edges: Any,
    words: Any,
    untried: Any,
    selection: int,
    exploration: float,
    hint: int,
    trust: float,
) -> int:
    """The edge to follow at a node in a world where the actions `words` (W,) are legal; -1 if there is no room for it.

    UCB takes an untried action, at random, while there is one, and then the greatest
    Q + c sigma sqrt(ln(available) / visits): Cowling et al., equation (2), in units of the spread sigma of the values.
    PUCT takes the greatest Q + c sigma P sqrt(available) / (1 + visits) (Silver et al., "Mastering the game of Go
    without human knowledge", 2017), Q of an untried action being the node's mean. P is the edge's prior where a network
    has given one, else uniform; the action `hint`, if >= 0, takes the share `trust` of it all.
    """
    size = 0
    for word in range(len(words)):
        untried[word] = words[word]
        size += count(words[word])
    kept = 1.0 - trust if hint >= 0 else 1.0
    uniform_prior = kept / size
    scale = exploration * spread_of(head)
    before = int(node["visits"]) - 1  # this visit is counted, and has no worth yet
    mean = node["total"] / before if before > 0 else 0.0
    best = -1
    best_worth = 0.0
    index = int(node["first"])
    while index >= 0:
        edge = edges[index]
        action = int(edge["action"])
        if has(words[action >> 6], action & 63):
            untried[action >> 6] &= ~bit(action & 63)
            edge["available"] += 1
            visits = int(edge["visits"])
            if selection == UCB:
                worth = edge["total"] / visits + scale * np.sqrt(np.log(edge["available"]) / visits)
            else:
                prior = kept * edge["prior"] if edge["prior"] > 0.0 else uniform_prior
                if action == hint:
                    prior += trust
                worth = edge["total"] / visits if visits > 0 else mean
                worth += scale * prior * np.sqrt(edge["available"]) / (1 + visits)
            if best < 0 or worth > best_worth:
                best = index
                best_worth = worth
        index = int(edge["next"])
    anything = False
    for word in range(len(words)):
        anything = anything or untried[word] != EMPTY
    if not anything:
        return best
    if hint >= 0 and has(untried[hint >> 6], hint & 63):
        action, prior = hint, uniform_prior + trust
    else:
        action, prior = random_member(untried, head["rng"]), uniform_prior
    worth = mean + scale * prior * np.sqrt(node["visits"])
    if best >= 0 and selection == PUCT and worth <= best_worth:
        return best
    made = add_edge(head, node, edges, action, 0.0)
    if made < 0:
        return best
    edges[made]["available"] = 1
    return made


@jit
def set_priors(head: Any, node: Any, edges: Any, words: Any, logits: Any, doubt: float) -> None:
    """Give a node an edge for each action of `words` (W,), its prior the softmax of `logits` (A,) over them.

    The share `doubt` of it is spread evenly.
    An edge that is there already keeps its counts. Where the room ends, actions stay without an edge.
    """
    top = -np.inf
    for word in range(len(words)):
        rest = words[word]
        while rest != EMPTY:
            top = max(top, logits[64 * word + lowest(rest)])
            rest = drop_lowest(rest)
    total = 0.0
    size = 0
    for word in range(len(words)):
        rest = words[word]
        size += count(rest)
        while rest != EMPTY:
            total += np.exp(logits[64 * word + lowest(rest)] - top)
            rest = drop_lowest(rest)
    for word in range(len(words)):
        rest = words[word]
        while rest != EMPTY:
            action = 64 * word + lowest(rest)
            rest = drop_lowest(rest)
            prior = max((1.0 - doubt) * np.exp(logits[action] - top) / total + doubt / size, 1e-6)
            index = int(node["first"])
            while index >= 0 and edges[index]["action"] != action:
                index = int(edges[index]["next"])
            if index < 0:
                index = add_edge(head, node, edges, action, prior)
            if index >= 0:
                edges[index]["prior"] = prior
    node["judged"] = JUDGED


@jit
def back_up(
    head: Any,
    nodes: Any,
    edges: Any,
    path: Any,
    depth: int,
    leaf: int,
    leaf_seat: int,
    leaf_before: float,
    values: Any,
    root_seat: int,
    loss: float,
) -> None:
    """Credit each acting seat on the way, and at the leaf, with what it gained from there on.

    `values` (MAX_PLAYERS,) is what each seat gained since the root. The visits were counted on the way down, when
    `loss` was taken from the totals.
    """
    for level in range(depth):
        step = path[level]
        worth = values[step["seat"]] - step["before"] + loss
        edges[step["edge"]]["total"] += worth
        nodes[step["node"]]["total"] += worth
    if leaf >= 0:
        nodes[leaf]["total"] += values[leaf_seat] - leaf_before
    value = values[root_seat]
    head["playouts"] += 1
    head["sum"] += value
    head["squares"] += value * value
    mean = head["sum"] / head["playouts"]
    variance = head["squares"] / head["playouts"] - mean * mean
    if variance > 1e-12:
        head["spread"] = max(head["spread"], np.sqrt(variance))


@jit
def read_root(node: Any, edges: Any, visits: Any, values: Any) -> None:
    """Add the visits of a node's edges to `visits` (A,), their totals to `values` (A,)."""
    index = int(node["first"])
    while index >= 0:
        edge = edges[index]
        visits[edge["action"]] += edge["visits"]
        values[edge["action"]] += edge["total"]
        index = int(edge["next"])
