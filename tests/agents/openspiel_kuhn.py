"""What OpenSpiel's information-set MCTS finds in Kuhn poker; `test_kuhn.py` holds ours against it.

    python -m tests.agents.openspiel_kuhn

prints `RECORDED` anew; it needs `pip install open_spiel`. An information state is the card of who is to act (J, Q, K)
and the bets so far (p, b).
"""

from __future__ import annotations

import numpy as np

ITERATIONS = 1000
SEARCHES = 40

CONSTANTS = {
    "J": 1.58, "Q": 10.25, "K": 1.15, "Jp": 1.17, "Qp": 9.25, "Kp": 0.4,
    "Jb": 0.5, "Qb": 10.95, "Kb": 1.51, "Jpb": 0.5, "Qpb": 10.95, "Kpb": 1.51,
}  # fmt: skip
"""The constant of UCT by information state, of the size of the values there."""

VERSION = "2.0.2"

RECORDED = {
    "J": 0.028, "Q": 0.517, "K": 0.539, "Jp": 0.022, "Qp": 0.414, "Kp": 0.555,
    "Jb": 0.002, "Qb": 0.797, "Kb": 0.998, "Jpb": 0.002, "Qpb": 0.797, "Kpb": 0.998,
}  # fmt: skip
"""Share of the simulations that bet, on the mean over `SEARCHES` searches, as found by OpenSpiel `VERSION`."""


def bet_shares(searches: int) -> dict[str, float]:
    """Shares as in `RECORDED`, from OpenSpiel itself."""
    import pyspiel
    from open_spiel.python.algorithms import ismcts, mcts

    game = pyspiel.load_game("kuhn_poker")
    shares = {}
    for name, constant in CONSTANTS.items():
        card, bets = "JQK".index(name[0]), ["pb".index(bet) for bet in name[1:]]
        cards = [card, (card + 1) % 3]
        state = game.new_initial_state()
        for action in [*(cards if len(bets) % 2 == 0 else cards[::-1]), *bets]:
            state.apply_action(action)
        found = []
        for seed in range(searches):
            random = np.random.RandomState(seed)  # what OpenSpiel takes
            evaluator = mcts.RandomRolloutEvaluator(1, random)
            bot = ismcts.ISMCTSBot(game, evaluator, constant, ITERATIONS, random_state=random)
            bot.run_search(state)
            tried = {action: child.visits for action, child in bot._root_node.child_info.items()}
            found.append(tried[1] / sum(tried.values()))
        shares[name] = round(float(np.mean(found)), 3)
    return shares


if __name__ == "__main__":
    print(bet_shares(SEARCHES))
