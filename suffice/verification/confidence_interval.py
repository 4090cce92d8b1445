"""Confidence intervals of a mean Y >= 0, valid at any time without a bound on Y, and of a quantile.

For independent draws with E[Y] <= B the product of 1 + l (Y/B - 1), l in [0, 1], is a nonnegative
supermartingale; so is its average over several l. By Ville's inequality it ever exceeds 1/alpha with probability at
most alpha. One Y per independent path.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

FALSE_ALARMS = 1e-6
"""Probability that a whole check reports a violation by chance."""
BETS = (0.005, 0.02, 0.08, 0.3, 0.9)
_HALVINGS = 8
_WIDE = 14.0
"""Standard errors below the mean at which the search of its bound starts."""


def log_evidence(draws: np.ndarray, bound: float) -> float:
    """Largest log of the test supermartingale along `draws` (n,) against E[Y] <= bound, an average over `BETS`."""
    if np.isnan(draws).any() or np.isnan(bound):
        raise ValueError("draws and bound must be numbers")
    if np.isinf(draws).any() or (bound <= 0 and (draws > bound).any()):
        return np.inf
    if bound <= 0:
        return 0.0
    steps = np.log1p(np.array(BETS)[:, None] * (draws / bound - 1))
    paths = np.cumsum(steps, axis=1)
    top = paths.max(0)
    return float((top + np.log(np.exp(paths - top).mean(0))).max())


def mean_bound(paths: np.ndarray, alpha: float) -> float:
    """A lower confidence bound (1 - alpha) of E[Y] from independent draws Y >= 0 (n,), whatever their distribution."""
    mean, level = float(paths.mean()), -np.log(alpha)
    if mean <= 0:
        return 0.0
    # where a normal mean would be bounded, if that is low enough, and else from 0
    low, high = max(mean - _WIDE * float(paths.std()) / len(paths) ** 0.5, 0.0), mean
    if low and log_evidence(paths, low) <= level:
        low, high = 0.0, low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if log_evidence(paths, middle) > level else (low, middle)
    return low


def quantile_bound(paths: np.ndarray, delta: float, alpha: float, *, upper: bool = True) -> float:
    """A number that exceeds the smallest q with P(Y <= q) >= 1 - delta with probability at most alpha; of a lower
    bound, one that the largest q with P(Y >= q) >= 1 - delta exceeds with such a probability."""
    k, sign = _rank(len(paths), delta, alpha), 1 if upper else -1
    if not k:
        return 0.0 if upper else np.inf
    return sign * float(np.sort(sign * paths)[k - 1])


@lru_cache(maxsize=256)
def _rank(n: int, delta: float, alpha: float) -> int:
    """The largest k with P(Binomial(n, 1 - delta) <= k - 1) <= alpha; 0 where there is none."""
    from scipy.special import bdtr, bdtrik  # the binomial distribution function; scipy.stats takes a second to load

    k = int(np.ceil(bdtrik(alpha, n, 1 - delta)))
    while k > 0 and bdtr(k - 1, n, 1 - delta) > alpha:
        k -= 1
    return k
