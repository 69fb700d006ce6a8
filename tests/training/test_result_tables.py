"""What training says about its agents, at every width."""

from __future__ import annotations

from phantom_envs.arena.summary import AgentSummary, Estimate
from tests.test_tables import WIDTHS, numbers, shown
from training.evaluate import Evaluation, table
from training.seeds import show

SUMMARY = AgentSummary("net", Estimate(0.5123, 0.4987, 0.5256), Estimate(1.25, -0.75, 3.5), 0.1, 400, 9000)
WITHOUT_POINTS = AgentSummary("net", Estimate(0.25, 0.125, 0.5), None, 0.1, 400, 9000)


def test_evaluations() -> None:
    evaluations = [Evaluation("random", 1000, 4, SUMMARY), Evaluation("rule", 1000, 4, WITHOUT_POINTS)]
    wanted = {"51.2", "49.9", "52.6", "+1.25", "-0.75", "+3.50", "1000", "4", "3", "25.0", "12.5", "50.0"}
    for width in WIDTHS:
        assert wanted <= numbers(shown(table("phantom_trick_v0", evaluations), width))


def test_seeds() -> None:
    row = {
        "seed": 17,
        "steps": 250_000,
        "seconds": 61.2,
        "num_players": 4,
        "opponent": "rule",
        "win_share": [0.5123, 0.4987, 0.5256],
        "margin": [1.25, -0.75, 3.5],
    }
    wanted = {"17", "250", "000", "61", "51.2", "49.9", "52.6", "+1.250", "-0.750", "+3.500", "25.0"}
    for width in WIDTHS:
        assert wanted <= numbers(shown(show("phantom_trick_v0", [row]), width))
        assert "250,000" in shown(show("phantom_trick_v0", [row]), width)
