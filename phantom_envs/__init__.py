"""Four phantom games of hidden information as fast, exact reinforcement-learning environments."""
