"""The gain of a site: loss of its model alone and together on folds that neither has seen, with a standard error.

Alone means ridge on the site's own rows: slopes drawn to 0, the intercept free, the penalty (in rows) the one that is
best for the whole network, since a site's own choice among penalties is noise below about three rows per coefficient.

With delta = alone - together, e the residual together, a row's gain is (e - delta'x)^2 - e^2 = (delta'x)^2 - 2 e
delta'x. Given both models, with e independent of x of variance s and D = delta'S delta/n, its variance is 4 s D + Var
(delta'x)^2, the last 2 D^2 where delta'x is normal: the variance of the summed gain, from messages alone. That other
samples would have given other models adds to it; Nadeau and Bengio (Machine Learning 52, 2003) multiply the variance
of a cross-validation by 1 + F n_test/n_train, 9/4 for five folds. Below `PER_COEFFICIENT` rows per coefficient
intervals of two standard errors do not cover even so, and nothing is printed for the site.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from suffice.simulate.data.folds import FOLDS, Messages

from .ridge import alone_models, best_penalty

PER_COEFFICIENT = 3
FLAT = 1e12
"""A penalty that leaves a ridge no slopes: a constant remains."""
RESAMPLED = 1 + FOLDS / (FOLDS - 1)
LEAST_ROWS = 3
"""A site of one or two rows is not in the gain of all: without one it has nothing to learn from, or a single row."""
STEEP, SURE, LEAST_SITES = 0.3, 4.0, 5
"""The spread grows where its power is steep and this many standard errors from 0, over so many sites at least."""
LEARNT = 0.6
"""A loss s + a/n of n rows falls by a/(4 n) from four fifths of them to all, and by a (5/3 - 5/4)/n = 5 a/(12 n) from
three fifths to four."""


def beyond_chance(sites: int) -> float:
    """So many standard errors no gain of any of so many sites exceeds with probability 95 %, where none gains
    (Bonferroni); two for one site."""
    return max(2.0, NormalDist().inv_cdf(1 - 0.025 / max(sites, 1)))


@dataclass(frozen=True)
class Gains:
    """Per site (N,), in squared standardised units: mean losses `together`, `alone` and of a `constant`, which is the
    mean of the site's other folds, `gain`, alone less together, and its standard error; NaN where none is known.
    `network` and `network_error` for the rows of the sites that have `LEAST_ROWS`, so many are `among` them; `decisive`
    the one, of three or more, with over half of all that sites gain or lose, and the gain per row without it: a site of
    few rows may be wildly wrong alone."""

    together: np.ndarray
    alone: np.ndarray
    constant: np.ndarray
    gain: np.ndarray
    error: np.ndarray
    network: float
    network_error: float
    decisive: tuple[int, float] | None
    among: int

    @classmethod
    def of(
        cls, sums: np.ndarray, variance: np.ndarray, fewer: np.ndarray, rows: np.ndarray, counts: np.ndarray, size: int
    ) -> Gains:
        """The gains from `sums` (3, N) of losses together, alone and of a constant over held-out `rows` (N,), the
        `variance` (N,) of the first two's difference (NaN: nothing to gain), and sums alone by models that lack one
        more fold, `fewer` (N,); sites have `counts` (N,) rows, models `size` coefficients."""
        with np.errstate(invalid="ignore", divide="ignore"):
            together, alone, constant = np.where(rows > 0, sums / rows, np.nan)
            error = np.where(counts >= PER_COEFFICIENT * size, np.sqrt(variance) / rows, np.nan)
        if len(rows) == 1:  # nobody else's rows: what is averaged and ridge alone are two ways of being alone
            unknown, among = np.full(1, np.nan), int(counts[0] >= LEAST_ROWS)
            return cls(together, together, constant, unknown, unknown, np.nan, np.nan, None, among)
        error, enough = np.where(rows > 0, error, np.nan), (counts >= LEAST_ROWS) & (rows > 0) & np.isfinite(variance)
        more = np.maximum(fewer - sums[1], 0.0)
        network, spread, decisive = of_network(sums[1] - sums[0], rows, variance, LEARNT * more, enough)
        gain = alone - together + 0 * error
        return cls(together, alone, constant, gain, error, network, spread, decisive, int(enough.sum()))


def sums_of(messages: Messages, held_out_models: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The first four of `Gains.of`."""
    fits, folds = messages.fits, messages.held_out
    penalty, rows = best_penalty(fits, folds), folds.rows.sum(0)
    models = alone_models(fits, penalty)[1:]
    losses, alone = folds.loss(held_out_models), folds.loss(models).sum(0)
    delta = models - held_out_models
    apart = np.maximum((delta * (folds.second @ delta[..., None])[..., 0]).sum(-1), 0.0)  # n D, (F, N)
    noise = (losses.sum(0) + 10 * losses.sum() / max(rows.sum(), 1.0)) / (rows + 10)
    variance = (4 * noise * apart + 2 * apart**2 / np.maximum(folds.rows, 1.0)).sum(0)
    sums = np.array([losses.sum(0), alone, folds.loss(alone_models(fits, FLAT)[1:]).sum(0)])
    return sums, RESAMPLED * variance, _without_another(messages, penalty), rows


def _without_another(messages: Messages, penalty: float) -> np.ndarray:
    """Losses (N,) of sites alone, summed over folds, by models that lack one more fold; the mean over that fold."""
    total = np.zeros(messages.sites)
    for fold in range(FOLDS):
        kept = np.arange(FOLDS + 1) != fold
        fits = messages.each(lambda part, kept=kept: (part.T * kept).T).fits
        total += messages.held_out.loss(alone_models(fits, penalty)[1:])[kept[:-1]].sum(0)
    return total / (FOLDS - 1)


def of_network(
    each: np.ndarray, rows: np.ndarray, variance: np.ndarray, unsure: np.ndarray, enough: np.ndarray
) -> tuple[float, float, tuple[int, float] | None]:
    """The gain per row of sites with `enough` (N,) rows, from the summed gain `each` (N,) of sites of so many `rows`
    (N,), its standard error, and the one site that decides it, if any: `Gains`.

    The variance is the larger of two: that of the rows, the sum of the sites' `variance` (N,), and that between sites,
    of a ratio estimator with sites as a sample of sites. A few sites that happen to agree have no scatter to speak of;
    rows alone understate it where a site of few rows is wildly wrong alone. In 60 to 250 drawn populations each of 2, 3
    and 8 sites of 8 to 90 rows and 4 coefficients, from all alike to unrelated, two errors cover what these sites gain
    in 90 % or more; the scatter alone did in half for 2 sites.

    Held-out models lack a fifth of the rows, which matters where these are few: `unsure` (N,) is what the loss alone
    would fall by with them, if it went on as from three fifths to four. It does so at some tables, at others not at all
    or the other way, alike at all sites: its sum is one more standard error, and the gain is not moved by it."""
    each, rows, variance, unsure = (np.where(enough, values, 0.0) for values in (each, rows, variance, unsure))
    sites, total = max(int(enough.sum()), 1), max(rows.sum(), 1.0)
    if not enough.any():
        return np.nan, np.nan, None
    network = each.sum() / total
    scatter = ((each - network * rows) ** 2).sum() * sites / max(sites - 1, 1)
    error = np.sqrt(max(variance.sum(), scatter) + unsure.sum() ** 2) / total
    most = int(np.abs(each).argmax())
    alone = sites > 2 and np.abs(each[most]) > np.abs(each).sum() / 2
    decisive = (most, float((each.sum() - each[most]) / max(total - rows[most], 1.0))) if alone else None
    return float(network), float(error), decisive


def spread_power(mean: np.ndarray, noise: np.ndarray) -> float | None:
    """The power of the means (N,), none negative, that the deviations of rows about models, of variance `noise`
    (N,), are proportional to; None where none is sure."""
    chosen = (noise > 0) & (mean != 0)  # of no held-out row, or all 0
    mean, noise = mean[chosen], noise[chosen]
    if len(mean) < LEAST_SITES or (mean < 0).any():
        return None
    x, y = np.log(mean) - np.log(mean).mean(), np.log(noise) / 2 - np.log(noise).mean() / 2
    power = (x @ y) / max(x @ x, 1e-300)
    error = np.sqrt(((y - power * x) ** 2).sum() / (len(x) - 2) / max(x @ x, 1e-300))
    return float(power) if power > max(STEEP, SURE * error) else None
