"""A fit of all sites (`model_averaging`) such that none is hurt by another's mistake.

The suspects of `similar_sites` are left out. They change nothing of the others: units, centre, folds and weights are
those of a fit without them. A site that is left out has the model of its own rows, or below three rows per coefficient
the others' common one, if that loses less on its held-out rows. Of two sites that do not fit each other nobody can tell
which is wrong: each is fitted by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from suffice.simulate.data.folds import FOLDS, Messages, Sums, Units

from .gain import PER_COEFFICIENT, Gains, sums_of
from .model_averaging import Fitted, collaborate
from .similar_sites import Likeness


@dataclass(frozen=True, kw_only=True)
class RobustFit:
    """The rule's answer for the sites of `group`, and their `messages` in standardised `units`. Of all sites: models in
    the units of the columns as `slopes` (N, q) and `intercepts` (N,), `influences` (N, N), and held-out squared errors
    `losses` (N, F) by the site's own folds."""

    group: np.ndarray
    units: Units
    messages: Messages
    fitted: Fitted
    slopes: np.ndarray
    intercepts: np.ndarray
    influences: np.ndarray
    losses: np.ndarray


def fitted_robustly(
    sums: Sums, counts: np.ndarray, found: Likeness, progress: Callable[[int, int], None] | None = None
) -> RobustFit:
    """The answer for all sites' messages in the columns of an `Encoding`, of `counts` (N,) rows."""
    lone, kept, sites = found.sites > 0, sums.without(found.folds > 0), len(counts)
    slopes, intercepts = np.zeros((sites, sums.mean.shape[-1] - 1)), np.zeros(sites)
    influences, losses = np.zeros((sites, sites)), np.full((sites, FOLDS), np.inf)
    networks = []
    for group in filter(len, (np.flatnonzero(~lone), *np.flatnonzero(lone & (counts > 1))[:, None])):
        units, moved = Units.pooled(kept[group]), kept[group].dealt(counts[group])
        messages = units.messages(kept[group].turned(moved))
        fitted = collaborate(messages, progress=None if networks else progress)
        slopes[group], intercepts[group] = units.given(fitted.models)
        influences[np.ix_(group, group)] = fitted.influences
        each = messages.held_out.loss(fitted.held_out).T * units.scale[-1] ** 2
        losses[group] = np.take_along_axis(each, (np.arange(FOLDS) + moved[:, None]) % FOLDS, axis=1)
        networks.append((group, units, messages, fitted))
    group, units, messages, fitted = networks[0]
    for k in np.flatnonzero(lone & (counts < PER_COEFFICIENT * len(units.mean))):
        each = units.messages(sums[[k]]).held_out.loss(fitted.population)[:, 0] * units.scale[-1] ** 2
        if each.sum() < losses[k].sum():
            slopes[k], intercepts[k] = units.given(fitted.population)
            influences[k], losses[k] = influences[group].mean(0), each
    return RobustFit(
        group=group, units=units, messages=messages, fitted=fitted, slopes=slopes, intercepts=intercepts,
        influences=influences, losses=losses,
    )  # fmt: skip


def gained(network: RobustFit, rows: np.ndarray, counts: np.ndarray) -> Gains:
    """The gains of the network's sites, in its units; the others, and a single site, have a loss on their held-out
    `rows` (N, F) and nothing to gain."""
    group, there, sites = network.group, rows.sum(1), len(counts)
    sums = np.tile(network.losses.sum(1) / network.units.scale[-1] ** 2, (3, 1))
    sums[2], variance, fewer = np.full((3, sites), np.nan)
    if len(group) > 1 or sites == 1:
        parts = sums_of(network.messages, network.fitted.held_out)
        sums[:, group], variance[group], fewer[group], there[group] = parts
    return Gains.of(sums, variance, fewer, there, counts, network.messages.size)
