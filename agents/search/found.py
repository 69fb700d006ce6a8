"""What a search found, and the choice that follows from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Found:
    """What was found for K decisions; an action that is not legal, or was never tried, has no visits.

    Attributes:
        visits: (K, A) int64, how often each action was tried.
        values: (K, A) float64, what it was worth to the deciding seat on the mean; NaN where never tried.
    """

    visits: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, visits: NDArray[np.int64], totals: NDArray[np.float64]) -> Found:
        """From sums of values."""
        with np.errstate(invalid="ignore"):
            return cls(visits, np.where(visits > 0, totals / visits, np.nan))

    def best(self) -> NDArray[np.int64]:
        """The action of the best value of each decision, (K,); of equals the lowest."""
        return self._among(self.visits > 0)

    def most_visited(self) -> NDArray[np.int64]:
        """The most visited action of each decision, (K,); of equals the better one, then the lowest."""
        return self._among(self.visits == self.visits.max(axis=1, keepdims=True))

    def _among(self, allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
        best: NDArray[np.int64] = np.where(allowed, np.nan_to_num(self.values, nan=0.0), -np.inf).argmax(axis=1)
        return best
