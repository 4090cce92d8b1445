"""Sampled evidence: a test of E[Y] <= B for Y >= 0 that is valid at any time and needs no bound on Y.

For independent draws with E[Y] <= B the product of 1 + l (Y/B - 1), l in [0, 1], is a nonnegative
supermartingale; so is its average over several l. By Ville's inequality it ever exceeds 1/alpha with probability at
most alpha. One Y per independent path.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FALSE_ALARMS = 1e-6
"""Probability that a whole check reports a violation by chance."""
BETS = (0.05, 0.2, 0.5, 0.9)


def log_evidence(draws: np.ndarray, bound: float, *, bets: Sequence[float] = BETS) -> float:
    """Largest log of the test supermartingale along `draws` (n,) against E[Y] <= bound, an average over `bets`."""
    if np.isnan(draws).any() or np.isnan(bound):
        raise ValueError("draws and bound must be numbers")
    if np.isinf(draws).any() or (bound <= 0 and (draws > bound).any()):
        return np.inf
    if bound <= 0:
        return 0.0
    steps = np.log1p(np.asarray(bets)[:, None] * (draws / bound - 1))
    paths = np.cumsum(steps, axis=1)
    top = paths.max(0)
    return float((top + np.log(np.exp(paths - top).mean(0))).max())
