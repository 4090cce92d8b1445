"""The rule of `candidates` such that no site is hurt by another's mistake.

`screen` names suspected folds, then sites. The rule is run with and without them, and held-out losses of all *other*
sites vote: with losses l and l' of the same cells, with and without the suspects, in the target's units,
    gain = sum_j (l_j - l'_j)/v_j,   v_j = (min(l_j, l'_j) + 10 t)/(n_j + 10),   t = median_j min(l_j, l'_j)/n_j.
Suspected folds are left out where the gain is above 8: folds with rows of high leverage are often suspected, and
needed. Suspected sites are left out unless it is below -4: they are hardly missed, and a moderate fault moves the
others by less than their noise. Beside a site that is 1e5 times as far as others, sums of the fit with all have lost
the digits of the others' losses, and there is no vote: it is left out. Of two sites that do not fit each other nobody
can tell which is wrong, and a vote would be the faulty one's as well: each is fitted by itself. What is left out
changes nothing of the others: units, centre, folds and weights are those of a fit without it. A site left out has the
model of its own rows alone, or that of the fit with all where this loses less on the site's held-out rows. One with
fewer than three rows per coefficient has the others' common model, unless that of the fit with all loses less than half
as much on them.
Where nobody is suspected, all this is the rule itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from suffice.simulate.data.folds import FOLDS, Fold, Messages, Units, dealt

from .candidates import Fitted, collaborate
from .gain import PER_COEFFICIENT, Gains, gains
from .screen import Suspects, suspects

FOLDS_OUT, SITES_IN, NO_DIGITS = 8.0, -4.0, 1e5
"""Gains above or below which folds are left out, sites are kept; so many times as far a site is left out unasked."""
Progress = Callable[[int, int], None] | None


@dataclass(frozen=True, kw_only=True)
class Part:
    """The rule's answer for some sites: `messages` in standardised `units`, and held-out `losses` (N, F) in the
    target's own, by the site's own folds."""

    units: Units
    messages: Messages
    fitted: Fitted
    losses: np.ndarray
    moved: np.ndarray

    @classmethod
    def of(cls, folds: Sequence[Sequence[Fold]], counts: np.ndarray, progress: Progress = None) -> Part:
        moved = dealt(folds, counts)
        units = Units.pooled(folds)
        messages = units.messages([turned(site, by) for site, by in zip(folds, moved)])
        fitted = collaborate(messages, progress=progress)
        losses = messages.held_out.loss(fitted.held_out).T * units.scale[-1] ** 2
        return cls(units=units, messages=messages, fitted=fitted, losses=_own(losses, moved), moved=moved)

    @property
    def held_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Slopes (N, F, q) and intercepts (N, F) in given units that were fitted without the site's own fold f."""
        slopes, intercepts = self.units.given(self.fitted.held_out.swapaxes(0, 1))
        return _own(slopes, self.moved), _own(intercepts, self.moved)

    def common(self, site: Sequence[Fold]) -> Part:
        """The sites' common model, for one that is none of them."""
        shared = self.fitted.population
        held_out = np.tile(shared, (FOLDS, 1, 1))
        losses = self.units.messages([site]).held_out.loss(held_out).T * self.units.scale[-1] ** 2
        influences = self.fitted.influences.mean(0, keepdims=True)
        fitted = replace(self.fitted, models=shared[None], held_out=held_out, influences=influences)
        return replace(self, fitted=fitted, losses=losses, moved=np.zeros(1, int))

    def only(self, k: int) -> Part:
        """With the model of site k alone."""
        old, at = self.fitted, slice(k, k + 1)
        fitted = replace(old, models=old.models[at], held_out=old.held_out[:, at], influences=old.influences[at])
        return replace(self, fitted=fitted, losses=self.losses[at], moved=self.moved[at])


Source = tuple[np.ndarray, np.ndarray, Part]
"""Sites, the sites that their models are made of, and a part with a model of each of the former."""


def turned(site: Sequence[Fold], by: int) -> Sequence[Fold]:
    """Fold f as fold f + by; a single one stays."""
    return site if len(site) == 1 else [site[(f - by) % FOLDS] for f in range(FOLDS)]


def _own(values: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """Values (N, F, ...) of moved folds, by the site's own."""
    return values[np.arange(len(values))[:, None], (np.arange(FOLDS) + moved[:, None]) % FOLDS]


@dataclass(frozen=True, kw_only=True)
class Robust:
    """`network` is the rule's answer for the sites of `group`, of a single one where two were fitted apart; `out` the
    suspects that are left out. Of all sites, in the units of the columns: models as `slopes` (N, q) and `intercepts`
    (N,), those without the site's fold f `held_out`, `influences` (N, N), held-out squared errors `losses` (N, F) and
    their `rows` (N, F)."""

    group: np.ndarray
    network: Part
    out: Suspects
    slopes: np.ndarray
    intercepts: np.ndarray
    held_out: tuple[np.ndarray, np.ndarray]
    influences: np.ndarray
    losses: np.ndarray
    rows: np.ndarray


def emptied(site: Sequence[Fold], out: np.ndarray) -> list[Fold]:
    """The folds of a site, those `out` (F,) with no rows."""
    return [
        Fold(rows=0.0, mean=np.zeros_like(fold.mean), products=np.zeros_like(fold.products)) if gone else fold
        for fold, gone in zip(site, out)
    ]


def unsuspected(folds: Sequence[Sequence[Fold]], found: Suspects) -> list[list[Fold]]:
    """What settles gaps, reference levels and means: no suspected fold, and no suspected site unless all are."""
    chosen = [k for k in range(len(folds)) if found.sites.all() or not found.sites[k]]
    kept = [emptied(folds[k], found.folds[k]) for k in chosen]
    return kept if any(fold.rows for site in kept for fold in site) else [list(site) for site in folds]


def fitted_robustly(
    folds: Sequence[Sequence[Fold]], counts: np.ndarray, found: Suspects, always: np.ndarray, progress: Progress = None
) -> Robust:
    """Of all sites' messages in the columns of an `Encoding`, and who is suspected; `always` (N,) stay."""
    everybody = np.arange(len(folds))
    whole = best = Part.of(folds, counts, progress)
    kept: list[list[Fold]] = [list(site) for site in folds]
    left = np.zeros_like(found.folds)
    if found.folds.any():
        tried = [emptied(site, row) for site, row in zip(folds, found.folds)]
        if any(fold.rows for site in tried for fold in site):
            part = Part.of(tried, counts)
            others = np.where(found.folds, 0.0, 1.0)
            rows = _rows(folds) * others
            if vote(whole.losses * others, part.losses * others, rows).sum() > FOLDS_OUT:
                kept, best, left = tried, part, found.folds
                found = replace(suspects(kept, counts, always), fold_times=found.fold_times)
    parts: list[Source] = [(everybody, everybody, best)]
    if found.sites.any():
        two = bool(found.sites.all())
        groups = [everybody[k : k + 1] for k in everybody] if two else [everybody[~found.sites]]
        tried = [(group, group, Part.of([kept[k] for k in group], counts[group])) for group in groups]
        them = groups[0]
        if two:
            parts = tried
        elif found.site_times[found.sites].max() > NO_DIGITS or vote(
            best.losses[them], tried[0][2].losses, _rows(kept)[them]
        ).sum() >= (FOLDS_OUT if found.asked else SITES_IN):
            for k in np.flatnonzero(found.sites):  # one that is only a little far may be right of itself
                own = None if found.asked else _left_out(k, kept, counts, best, tried[0])
                tried.append(own or (everybody[k : k + 1], everybody, best.only(k)))
            parts = tried
    return _together(parts, _rows(kept), replace(found, folds=left, sites=found.sites & (len(parts) > 1)))


def _left_out(k: int, folds: Sequence[Sequence[Fold]], counts: np.ndarray, whole: Part, rest: Source) -> Source | None:
    """The model of a site that is left out of `rest`, if it is not that of the fit with all, `whole`."""
    at = np.array([k])
    if counts[k] >= PER_COEFFICIENT * len(whole.units.mean):
        members, own, share = at, Part.of([folds[k]], counts[at]), 1.0
    else:
        members, own, share = rest[1], rest[2].common(folds[k]), 0.5
    return (at, members, own) if own.losses.sum() * share <= whole.losses[k].sum() else None


def _rows(folds: Sequence[Sequence[Fold]]) -> np.ndarray:
    """Rows (N, F) that are held out."""
    return np.array([[fold.rows for fold in site] if len(site) == FOLDS else [0.0] * FOLDS for site in folds])


def vote(before: np.ndarray, after: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """What each site gains (N,), in units of its noise, from held-out losses (N, F) of so many rows (N, F)."""
    n, old, new = rows.sum(1), before.sum(1), after.sum(1)
    known = n > 0
    if not known.any():
        return np.zeros(len(n))
    least = np.minimum(old, new)
    noise = (least + 10 * np.median(least[known] / n[known])) / (n + 10)
    return np.where(known, old - new, 0.0) / np.maximum(noise, 1e-300 + 1e-12 * np.maximum(old, new))


def _together(parts: Sequence[Source], rows: np.ndarray, out: Suspects) -> Robust:
    sites, size = len(rows), len(parts[0][2].units.mean) - 1
    influences, losses = np.zeros((sites, sites)), np.zeros((sites, FOLDS))
    slopes, intercepts = np.zeros((sites, FOLDS + 1, size)), np.zeros((sites, FOLDS + 1))
    for mine, members, part in parts:
        influences[np.ix_(mine, members)] = part.fitted.influences
        losses[mine] = part.losses
        whole, held_out = part.units.given(part.fitted.models), part.held_out
        slopes[mine] = np.concatenate((whole[0][:, None], held_out[0]), axis=1)
        intercepts[mine] = np.concatenate((whole[1][:, None], held_out[1]), axis=1)
    return Robust(
        group=parts[0][0], network=parts[0][2], out=out, slopes=slopes[:, 0], intercepts=intercepts[:, 0],
        held_out=(slopes[:, 1:], intercepts[:, 1:]), influences=influences, losses=losses, rows=rows,
    )  # fmt: skip


def gained(found: Robust, counts: np.ndarray) -> Gains:
    """What the network's sites gain, in its units; the others, and a single site, have a loss and nothing to gain.
    `counts` (N,) are the rows of all sites."""
    group, network = found.group, found.network
    answer = gains(network.messages, network.fitted.held_out, counts[group])
    if len(group) == len(counts):
        return answer
    rows = np.where(found.rows.sum(1) > 0, found.rows.sum(1), np.nan)
    own, nothing = found.losses.sum(1) / rows / network.units.scale[-1] ** 2, np.full(len(counts), np.nan)
    parts = {"together": own, "alone": own.copy(), "gain": nothing, "error": nothing.copy()}
    if len(group) == 1:
        return replace(answer, **parts, network=np.nan, network_error=np.nan, among=0, decisive=None)
    for name, values in parts.items():
        values[group] = getattr(answer, name)
    decisive = answer.decisive
    return replace(answer, **parts, decisive=None if decisive is None else (int(group[decisive[0]]), decisive[1]))
