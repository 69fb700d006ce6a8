"""The compiled entry points of the searches, built from a game's functions.

Nothing is allocated in them: arrays belong to the caller, who keeps one `lane` of working space for each thread (or,
for a search with a network, for each leaf under way). `roots` (K,) are worlds that the seat to act there imagines, and
`words` (K, W) their legal actions; no true state ever comes here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from agents.search.playout import TO_DEAL_END, playouts
from agents.search.tree import (
    ASKED,
    JUDGED,
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
from phantom_envs.core.batch import Kernel
from phantom_envs.core.bits import EMPTY, drop_lowest, lowest
from phantom_envs.core.game import MAX_PLAYERS, RUNNING, Game
from phantom_envs.core.jit import entry, jit, wrapping
from phantom_envs.core.moves import moves
from phantom_envs.core.rng import mix, next64, successor

NO_NETWORK, LEAVES, PRIORS = 0, 1, 2
"""What a network is asked: nothing; priors and values at every leaf; or priors only, at nodes visited often enough."""

SETTINGS = np.dtype(
    [
        ("win", np.float64),  # weight of winning
        ("point", np.float64),  # weight of a point
        ("noise", np.float64),  # share of random moves in a playout; below 0: no playouts
        ("horizon", np.int64),  # TO_GAME_END or TO_DEAL_END
        ("playouts", np.int64),  # playouts for each world and action (pimc)
        ("selection", np.int64),  # UCB or PUCT
        ("exploration", np.float64),  # c
        ("trust", np.float64),  # share of the prior that goes to the rule bot's action, where no network gives one
        ("network", np.int64),  # NO_NETWORK, LEAVES or PRIORS
        ("threshold", np.int64),  # visits after which a node's priors are asked for (PRIORS)
        ("loss", np.float64),  # taken, in units of the spread of values, for each visit that is under way
    ],
    align=True,
)
"""What a search is run with, as one record that all kernels take."""

LEAF = np.dtype(
    [
        ("depth", np.int32),  # steps of the way to it
        ("node", np.int32),  # -1 where the tree has none for it
        ("seat", np.int32),  # who is to act there, -1 if nobody
        ("before", np.float64),  # what that seat had gained since the root
        ("loss", np.float64),  # what was taken from the totals on the way
        ("gained", np.int64, (MAX_PLAYERS,)),  # per seat, points since the root; after a playout, until its end
        ("so_far", np.float64, (MAX_PLAYERS,)),  # per seat, the worth of the points until here
        ("worth", np.float64, (MAX_PLAYERS,)),  # per seat, the worth of all that came of it
    ],
    align=True,
)
"""Where a way down a tree has ended."""


@dataclass(frozen=True)
class SearchKernels:
    """The compiled entry points of a game's searches; see `_build` for what they take."""

    survey: Kernel
    grow: Kernel
    descend: Kernel
    read_all: Kernel
    play_out: Kernel


@wrapping
def world_seed(key: Any, number: int) -> Any:
    """The seed of the world, or the playout, of that number."""
    return successor(mix(key) + np.uint64(number))


@jit
def seat_of(s: Any) -> int:
    """The seat to act, in 64 bits: some functions are not compiled for the narrow type of the field."""
    return np.int64(s["seat"])  # type: ignore[return-value]  # numba's integers are NumPy's


@cache
def search_kernels(game: Game) -> SearchKernels:
    """The search kernels of `game`, built once a process."""
    return _build(game)


def _build(game: Game) -> SearchKernels:
    compiled = entry(f"{game.id}-search")
    legal, observe, rule_action = game.legal, game.observe, game.rule_action
    play, imagine = moves(game).play, moves(game).imagine
    parts = playouts(game)
    deal_of, gain, settle, finish = parts.deal_of, parts.gain, parts.settle, parts.finish

    @jit
    def margin(gained: Any, seat: int, players: int, point: float) -> float:
        total = 0
        for other in range(players):
            total += gained[other]
        return float(point * (gained[seat] - total / players))

    @compiled
    def survey(
        roots: Any,
        words: Any,
        keys: Any,
        first_world: int,
        last_world: int,
        settings: Any,
        totals: Any,
        worlds: Any,
        scratch: Any,
        rng: Any,
        gained: Any,
        values: Any,
        first: int,
        last: int,
    ) -> None:
        """Add to `totals` (K, A) what each legal action is worth to the acting seat in each of some worlds.

        `keys` (K,) uint64 fix worlds and playouts. Working space: `worlds` (2,), `scratch` (W,), `rng` (1,),
        `gained` int64 and `values` float64 (MAX_PLAYERS,). All actions meet the same worlds and the same chance.
        """
        setting = settings[0]
        for row in range(first, last):
            seat = seat_of(roots[row])
            deal = deal_of(roots[row]) if setting["horizon"] == TO_DEAL_END else -1
            for number in range(first_world, last_world):
                seed = world_seed(keys[row], number)
                worlds[0] = roots[row]
                imagine(worlds[0], seat, seed)
                for word in range(words.shape[1]):
                    rest = words[row, word]
                    while rest != EMPTY:
                        action = 64 * word + lowest(rest)
                        rest = drop_lowest(rest)
                        for playout in range(setting["playouts"]):
                            worlds[1] = worlds[0]
                            s = worlds[1]
                            rng[0] = world_seed(seed, playout)
                            if playout > 0:
                                s["rng"][0] = mix(rng[0])
                            gained[:] = 0
                            play(s, action)
                            gain(s, gained)
                            finish(s, scratch, rng, setting["noise"], deal, gained)
                            settle(s, gained, setting["win"], setting["point"], values)
                            totals[row, action] += values[seat]

    @jit
    def go_down(
        s: Any,
        root_seat: int,
        deal: int,
        setting: Any,
        head: Any,
        nodes: Any,
        edges: Any,
        slots: Any,
        path: Any,
        leaf: Any,
        memory: Any,
        size: int,
        scratch: Any,
        untried: Any,
        loss: float,
        asked: Any,
        observations: Any,
        legals: Any,
    ) -> bool:
        """Follow the tree from the root in the world `s` to a leaf. Returns whether there is anything left to play.

        With PRIORS, `asked` (L,), `observations` (L, 1, D) and `legals` (L, W) take what the network is to be asked.
        """
        players = int(s["num_players"])
        leaf["gained"][:] = 0
        leaf["loss"] = loss
        leaf["node"] = -1
        leaf["seat"] = -1
        depth = 0
        while s["status"] == RUNNING and (deal < 0 or deal_of(s) == deal):
            seat = int(s["seat"])
            leaf["before"] = margin(leaf["gained"], seat, players, setting["point"])
            observe(s, root_seat, memory[:size].view(np.int8))
            key = hash_words(memory.view(np.uint64), mix(np.uint64(seat + 1)))
            slot = find_slot(nodes, slots, key)
            index = slots[slot] - 1
            new = index < 0
            if new:
                index = add_node(head, nodes, slots, slot, key)
            leaf["node"] = index
            leaf["seat"] = seat
            if index >= 0:
                nodes[index]["visits"] += 1
            legal(s, scratch)
            unjudged = setting["network"] == LEAVES and index >= 0 and nodes[index]["judged"] != JUDGED
            if new or unjudged or depth == len(path):
                break
            ripe = setting["network"] == PRIORS and nodes[index]["visits"] >= setting["threshold"]
            if ripe and nodes[index]["judged"] == 0 and head["asked"] < len(asked):
                number = head["asked"]
                head["asked"] = number + 1
                nodes[index]["judged"] = ASKED
                asked[number]["node"] = index
                legals[number] = scratch
                observe(s, seat, observations[number, 0])
            hint = rule_action(s, scratch) if setting["trust"] > 0.0 else -1
            edge = choose_edge(
                head,
                nodes[index],
                edges,
                scratch,
                untried,
                setting["selection"],
                setting["exploration"],
                hint,
                setting["trust"],
            )
            if edge < 0:
                break
            edges[edge]["visits"] += 1
            edges[edge]["total"] -= loss
            nodes[index]["total"] -= loss
            step = path[depth]
            step["node"] = index
            step["edge"] = edge
            step["seat"] = seat
            step["before"] = leaf["before"]
            depth += 1
            leaf["node"] = -1
            leaf["seat"] = -1
            play(s, int(edges[edge]["action"]))
            gain(s, leaf["gained"])
        leaf["depth"] = depth
        return bool(s["status"] == RUNNING and (deal < 0 or deal_of(s) == deal))

    @compiled
    def grow(
        roots: Any,
        keys: Any,
        iterations: int,
        fresh: Any,
        settings: Any,
        heads: Any,
        nodes: Any,
        edges: Any,
        slots: Any,
        tree_of: Any,
        paths: Any,
        leaves: Any,
        worlds: Any,
        memory: Any,
        size: int,
        scratch: Any,
        asked: Any,
        observations: Any,
        legals: Any,
        visits: Any,
        totals: Any,
        first: int,
        last: int,
    ) -> None:
        """Grow the tree of each row by `iterations`, then write its root's visits and totals (K, A).

        Row k has tree `tree_of[k]`; the arrays of trees have a leading axis for it. A tree that is `fresh` (K,) is
        emptied before; `keys` (K,) uint64 then begin its chance. Working space: `paths` (MAX_DEPTH,), `leaves` (1,),
        `worlds` (1,), `memory` uint8 of whole 32 bytes of which `size` hold an observation, `scratch` (2, W).

        With PRIORS up to L questions of each row are left in `asked` (K, L), `observations` (K, L, 1, D) and `legals`
        (K, L, W), their number in the tree's head, for `prime` to bring the answers in.
        """
        setting = settings[0]
        leaf = leaves[0]
        for row in range(first, last):
            tree = tree_of[row]
            head = heads[tree]
            if fresh[row]:
                clear(head, slots[tree], keys[row])
            root_seat = seat_of(roots[row])
            deal = deal_of(roots[row]) if setting["horizon"] == TO_DEAL_END else -1
            head["asked"] = 0
            for _ in range(iterations):
                worlds[0] = roots[row]
                s = worlds[0]
                imagine(s, root_seat, next64(head["rng"]))
                if go_down(
                    s,
                    root_seat,
                    deal,
                    setting,
                    head,
                    nodes[tree],
                    edges[tree],
                    slots[tree],
                    paths,
                    leaf,
                    memory,
                    size,
                    scratch[0],
                    scratch[1],
                    0.0,
                    asked[row],
                    observations[row],
                    legals[row],
                ):
                    finish(s, scratch[0], head["rng"], setting["noise"], deal, leaf["gained"])
                settle(s, leaf["gained"], setting["win"], setting["point"], leaf["worth"])
                back_up(
                    head,
                    nodes[tree],
                    edges[tree],
                    paths,
                    leaf["depth"],
                    leaf["node"],
                    leaf["seat"],
                    leaf["before"],
                    leaf["worth"],
                    root_seat,
                    0.0,
                )
            read(roots[row], head, nodes[tree], edges[tree], slots[tree], memory, size, visits[row], totals[row])

    @jit
    def read(
        root: Any, head: Any, nodes: Any, edges: Any, slots: Any, memory: Any, size: int, visits: Any, totals: Any
    ) -> None:
        seat = seat_of(root)
        observe(root, seat, memory[:size].view(np.int8))
        index = slots[find_slot(nodes, slots, hash_words(memory.view(np.uint64), mix(np.uint64(seat + 1))))] - 1
        visits[:] = 0
        totals[:] = 0.0
        if index >= 0:
            read_root(nodes[index], edges, visits, totals)

    @compiled
    def read_all(
        roots: Any,
        heads: Any,
        nodes: Any,
        edges: Any,
        slots: Any,
        tree_of: Any,
        memory: Any,
        size: int,
        visits: Any,
        totals: Any,
        first: int,
        last: int,
    ) -> None:
        """Write visits and totals (K, A) of the roots, as `grow` does."""
        for row in range(first, last):
            tree = tree_of[row]
            read(roots[row], heads[tree], nodes[tree], edges[tree], slots[tree], memory, size, visits[row], totals[row])

    @entry(f"{game.id}-search", allocates=True)
    def descend(
        roots: Any,
        keys: Any,
        fresh: Any,
        settings: Any,
        heads: Any,
        nodes: Any,
        edges: Any,
        slots: Any,
        tree_of: Any,
        paths: Any,
        leaves: Any,
        worlds: Any,
        memory: Any,
        size: int,
        scratch: Any,
        viewers: int,
        observations: Any,
        legals: Any,
        first: int,
        last: int,
    ) -> None:
        """Go down each row's tree once for each of its L leaves, and write what a network is to judge there.

        `paths` (K, L, MAX_DEPTH), `leaves` (K, L), `worlds` (K, L), `observations` (K, L, P, D) int8, as the acting
        seat and, with `viewers` > 1, the next ones see it, `legals` (K, L, W) the legal actions. A leaf where the game,
        or the deal that is searched, is over has seat -1 and needs no judgement. With a playout policy set, the leaf is
        played out as well. `memory`, `scratch` as in `grow`.
        """
        setting = settings[0]
        for row in range(first, last):
            tree = tree_of[row]
            head = heads[tree]
            if fresh[row]:
                clear(head, slots[tree], keys[row])
            root_seat = seat_of(roots[row])
            deal = deal_of(roots[row]) if setting["horizon"] == TO_DEAL_END else -1
            for number in range(leaves.shape[1]):
                worlds[row, number] = roots[row]
                s = worlds[row, number]
                leaf = leaves[row, number]
                imagine(s, root_seat, next64(head["rng"]))
                loss = setting["loss"] * spread_of(head)
                goes_on = go_down(
                    s,
                    root_seat,
                    deal,
                    setting,
                    head,
                    nodes[tree],
                    edges[tree],
                    slots[tree],
                    paths[row, number],
                    leaf,
                    memory,
                    size,
                    scratch[0],
                    scratch[1],
                    loss,
                    leaves[row],
                    observations[row],
                    legals[row],
                )
                if goes_on:
                    leaf["seat"] = s["seat"]
                    legals[row, number] = scratch[0]
                    players = int(s["num_players"])
                    for viewer in range(viewers):
                        observe(s, (int(s["seat"]) + viewer) % players, observations[row, number, viewer])
                    for other in range(players):
                        leaf["so_far"][other] = margin(leaf["gained"], other, players, setting["point"])
                    if setting["noise"] >= 0.0:
                        finish(s, scratch[0], head["rng"], setting["noise"], deal, leaf["gained"])
                settle(s, leaf["gained"], setting["win"], setting["point"], leaf["worth"])

    @compiled
    def play_out(
        roots: Any, keys: Any, number: int, settings: Any, worlds: Any, scratch: Any, rng: Any, gained: Any, values: Any
    ) -> int:
        """Play `number` worlds of `roots[0]` out from where they are. Returns the decisions made. For benchmarks."""
        setting = settings[0]
        decisions = 0
        seat = seat_of(roots[0])
        deal = deal_of(roots[0]) if setting["horizon"] == TO_DEAL_END else -1
        for world in range(number):
            worlds[0] = roots[0]
            rng[0] = world_seed(keys[0], world)
            imagine(worlds[0], seat, rng[0])
            gained[:] = 0
            decisions += finish(worlds[0], scratch, rng, setting["noise"], deal, gained)
            settle(worlds[0], gained, setting["win"], setting["point"], values)
        return decisions

    return SearchKernels(survey, grow, descend, read_all, play_out)


@entry("search")
def ascend(
    heads: Any,
    nodes: Any,
    edges: Any,
    tree_of: Any,
    root_seats: Any,
    players: int,
    paths: Any,
    leaves: Any,
    legals: Any,
    judged: Any,
    logits: Any,
    viewers: int,
    judgements: Any,
    blend: float,
    doubt: float,
    first: int,
    last: int,
) -> None:
    """Back up what `descend` found, with a network's judgement.

    `judged` (K, L) says where in `logits` (J, A) and `judgements` (J, viewers) the leaf's are, -1 if nowhere.
    `judgements` are what the acting seat and the next ones may still expect. Playouts have the share `blend`;
    for `doubt` see `set_priors`.
    """
    for row in range(first, last):
        tree = tree_of[row]
        head = heads[tree]
        for number in range(leaves.shape[1]):
            leaf = leaves[row, number]
            at = judged[row, number]
            seat = int(leaf["seat"])
            if at >= 0:
                node = int(leaf["node"])
                if node >= 0 and nodes[tree, node]["judged"] != JUDGED:
                    set_priors(head, nodes[tree, node], edges[tree], legals[row, number], logits[at], doubt)
                if viewers > 1:
                    mean = 0.0
                    for viewer in range(viewers):
                        mean += judgements[at, viewer] / viewers
                    for viewer in range(viewers):
                        other = (seat + viewer) % players
                        leaf["worth"][other] = blend * leaf["worth"][other] + (1.0 - blend) * (
                            leaf["so_far"][other] + judgements[at, viewer] - mean
                        )
            back_up(
                head,
                nodes[tree],
                edges[tree],
                paths[row, number],
                leaf["depth"],
                leaf["node"],
                seat,
                leaf["before"],
                leaf["worth"],
                root_seats[row],
                leaf["loss"],
            )


@entry("search")
def prime(
    heads: Any,
    nodes: Any,
    edges: Any,
    tree_of: Any,
    asked: Any,
    legals: Any,
    judged: Any,
    logits: Any,
    doubt: float,
    first: int,
    last: int,
) -> None:
    """Bring in the priors that `grow` has asked for; `judged` (K, L) says where in `logits` (J, A) they are."""
    for row in range(first, last):
        tree = tree_of[row]
        for number in range(heads[tree]["asked"]):
            node = nodes[tree, asked[row, number]["node"]]
            set_priors(heads[tree], node, edges[tree], legals[row, number], logits[judged[row, number]], doubt)
        heads[tree]["asked"] = 0
