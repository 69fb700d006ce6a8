"""Search over worlds that a player can imagine: what the agents `pimc` and `ismcts` run, compiled, for every game."""
