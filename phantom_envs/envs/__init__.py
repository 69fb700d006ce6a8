"""The faces of the games: PettingZoo, batches, and Gymnasium with one learning seat."""
