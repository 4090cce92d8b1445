"""The rule of `candidates` such that no site is hurt by another's mistake.

`suspects` names folds and sites. The rule is run with and without the folds, then the sites, and held-out losses of all
*others* vote: with losses l and l' of the same cells, with and without the suspects, in the target's units,
    gain = sum_j (l_j - l'_j)/v_j,   v_j = (min(l_j, l'_j) + 10 t)/(n_j + 10),   t = median_j min(l_j, l'_j)/n_j.
Folds are left out where the gain is above 8: those with rows of high leverage are often suspected, and needed. Sites
are left out unless it is below -4: they are hardly missed, and a moderate fault moves the others by less than their
noise. Beside what is 1e5 times as far as others, sums of the fit with all have lost the digits of the others' losses,
and there is no vote. Of two sites that do not fit each other nobody can tell which is wrong: each is fitted by itself.
What is left out changes nothing of the others: units, centre, folds and weights are those of a fit without it. A site
left out has the model of its own rows, or the others' common one below three rows per coefficient; or that of the fit
with all, where it loses less on the site's held-out rows, or half as much as the common one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from suffice.simulate.data.folds import FOLDS, Messages, Sums, Units

from .candidates import Fitted, collaborate
from .gain import PER_COEFFICIENT, Gains, sums_of
from .suspects import Suspects

FOLDS_OUT, SITES_IN, NO_DIGITS = 8.0, -4.0, 1e5
OF_SITES = ("slopes", "intercepts", "influences", "losses")


@dataclass(frozen=True, kw_only=True)
class Network:
    """The rule's answer for the sites of `group`, and their `messages` in standardised `units`. Of all sites, 0 where
    they have none: models in the units of the columns as `slopes` (N, q) and `intercepts` (N,), `influences` (N, N),
    and held-out squared errors `losses` (N, F) by the site's own folds."""

    group: np.ndarray
    units: Units
    messages: Messages
    fitted: Fitted
    slopes: np.ndarray
    intercepts: np.ndarray
    influences: np.ndarray
    losses: np.ndarray

    @classmethod
    def of(
        cls, sums: Sums, counts: np.ndarray, out: np.ndarray, progress: Callable[[int, int], None] | None = None
    ) -> Network:
        """The network of all folds that are not `out` (N, F); of the first site where all are."""
        group = np.flatnonzero(~out.all(1)) if not out.all() else np.arange(1)
        kept = (sums if out.all() else sums.without(out))[group]
        moved, units, sites = kept.dealt(counts[group]), Units.pooled(kept), len(out)
        messages = units.messages(kept.turned(moved))
        fitted = collaborate(messages, progress=progress)
        slopes, intercepts = np.zeros((sites, len(units.mean) - 1)), np.zeros(sites)
        influences, losses = np.zeros((sites, sites)), np.zeros(out.shape)
        slopes[group], intercepts[group] = units.given(fitted.models)
        influences[np.ix_(group, group)] = fitted.influences
        found = messages.held_out.loss(fitted.held_out).T * units.scale[-1] ** 2
        losses[group] = found[np.arange(len(group))[:, None], (np.arange(FOLDS) + moved[:, None]) % FOLDS]
        return cls(
            group=group, units=units, messages=messages, fitted=fitted, slopes=slopes, intercepts=intercepts,
            influences=influences, losses=losses,
        )  # fmt: skip


def unsuspected(sums: Sums, found: Suspects) -> Sums:
    """The folds that settle gaps, reference levels and means: no suspected fold, and no suspected site unless all
    are."""
    kept = sums.without(found.folds | (found.sites & ~found.sites.all())[:, None])
    return kept if kept.rows.any() else sums


def fitted_robustly(
    sums: Sums, counts: np.ndarray, kept: np.ndarray, progress: Callable[[int, int], None] | None = None
) -> tuple[Network, Suspects, np.ndarray]:
    """The answer for all sites' messages in the columns of an `Encoding`, of which those `kept` (N,) stay: the network
    with a model of every site, who was suspected, and what is left out (N, F)."""
    found, rows = Suspects.among(sums, counts, kept), sums.held_out
    out, sites = np.zeros(found.folds.shape, dtype=bool), np.broadcast_to(found.sites[:, None], found.folds.shape)
    best = whole = Network.of(sums, counts, out, progress)
    tries = (found.folds, found.fold_times, FOLDS_OUT), (sites, found.site_times[:, None], SITES_IN)
    for more, times, limit in tries:
        tried = out | more
        if more.any() and (tried.all() or (rows * ~tried).any()):
            part = Network.of(sums, counts, tried)
            gain = vote(best.losses * ~tried, part.losses * ~tried, rows * ~tried).sum()
            if (times * more).max() > NO_DIGITS or gain > limit:
                whole, best, out = best, part, tried
    for k in np.setdiff1d(np.arange(len(out)), best.group):
        if enough := counts[k] >= PER_COEFFICIENT * len(best.units.mean):
            own = Network.of(sums, counts, (np.arange(len(out)) != k)[:, None] | found.folds)
        else:
            own, shared, units = best, best.fitted.population, best.units
            own.influences[k] = own.influences[best.group].mean(0)
            own.slopes[k], own.intercepts[k] = units.given(shared)
            own.losses[k] = units.messages(sums[[k]]).held_out.loss(shared)[:, 0] * units.scale[-1] ** 2
        most = own.losses[k].sum() * (1.0 if enough else 0.5)
        chosen = whole if k in whole.group and whole.losses[k].sum() < most else own
        for name in OF_SITES:
            getattr(best, name)[k] = getattr(chosen, name)[k]
    return best, found, out


def vote(before: np.ndarray, after: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The gain of each site (N,), in units of its noise, from held-out losses (N, F) of so many rows (N, F)."""
    n, old, new = rows.sum(1), before.sum(1), after.sum(1)
    if not n.any():
        return np.zeros(len(n))
    least = np.minimum(old, new)
    noise = (least + 10 * np.median(least[n > 0] / n[n > 0])) / (n + 10)
    return np.where(n > 0, old - new, 0.0) / np.maximum(noise, 1e-300 + 1e-12 * np.maximum(old, new))


def gained(network: Network, rows: np.ndarray, counts: np.ndarray) -> Gains:
    """The gains of the network's sites, in its units; the others, and a single site, have a loss on their held-out
    `rows` (N, F) and nothing to gain."""
    group, there, sites = network.group, rows.sum(1), len(counts)
    sums = np.tile(network.losses.sum(1) / network.units.scale[-1] ** 2, (3, 1))
    sums[2], variance, fewer = np.full((3, sites), np.nan)
    if len(group) > 1 or sites == 1:
        parts = sums_of(network.messages, network.fitted.held_out)
        sums[:, group], variance[group], fewer[group], there[group] = parts
    return Gains.of(sums, variance, fewer, there, counts, network.messages.size)
