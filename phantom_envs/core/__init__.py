"""What all games share: compilation, randomness, bit sets, layouts, and the batch engine."""
