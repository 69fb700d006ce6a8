"""Baseline agents that need more than the library itself; they run from a checkout."""
