"""One rule without a knob: candidates from "all alike" to "nobody alike", averaged by how well they predict held-out
folds.

Every candidate is refitted without each of the five folds and scored on it, all from messages; with n rows, L_j the
mean squared residual of candidate j and b_j its mass beforehand,
    a_j proportional to b_j exp(-beta n L_j / (2 s)),  beta = 1/4,   theta_i = sum_j a_j theta_ij,
s the noise, see `noise_of`, or 1 where the loss is a log-likelihood. For fixed linear estimators and unbiased estimates
of risk such weights have E risk <= min_j (risk_j + 4 s/n log(1/b_j)) for beta <= 1/2 (Leung and Barron, IEEE Trans.
Inf. Theory 52, 2006); with held-out folds this is motivation, not a theorem.

Candidates. *Scatter*: theta_k ~ N(m, s Omega), where the intercept scatters with variance a and the slopes with a'
times the inverse of their pooled second moment, from a = a' = 0 (*pooled*) to a = 1e4 and a' = 1, and alone; nothing is
estimated but m. *Ridge*: small scatters with m's slopes drawn to 0, for many columns and few rows.
*Same slopes*: ridge of the rows of all sites, with one level or a level each, its penalty the one that is best for the
network: two candidates of large mass, since with few rows that is what cannot be told from the truth.
*Alone*: ridge of each site for itself, with the penalty that is best for the network, as in `gain`. One candidate of
large mass, not one for each penalty: with 20 rows in all, four fifths of them for training, scores choose nearly by
chance among candidates that differ by factors in risk, and 4 s/n log(1/b) is what the sites may lose beside it. (The
inverse second moment above draws all directions to the centre alike; where there is no centre worth the name, a site
that has about as many rows as columns needs the directions in which its rows hardly vary drawn to 0 more than others.)
*Random*: Omega learnt; it has d(d + 1)/2 numbers, so the mass is proportional to N/(N + d). *Clusters* of at most 2,
3, 6 groups, of little mass: with few rows some grouping always fits the folds by chance, and true groups win by far.
*All-for-one* with three precisions. Both take the coefficients of columns that never vary at a site from
the centre of the random coefficients (see `posterior`); influences leave this out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from suffice.simulate.data.folds import Messages

from .all_for_one import PRECISIONS, all_for_one
from .local_quadratics import LocalQuadratics
from .random_coefficients import Given, posterior, random_coefficients, root_of, with_centre
from .ridge import alone_models, best_penalty, ridge_of, shared_models
from .soft_clusters import clusters

Pair = tuple[float, float]
"""Variances of intercepts and of slopes."""
BETA = 0.25
SLOPES = (0.0, 0.01, 0.1, 1.0)
INTERCEPTS = (*SLOPES, 10.0, 100.0, 1e4)
"""Levels may be far apart, such as those of sites that a target was sorted into."""
PAIRS: list[Pair] = [*((a, b) for a in INTERCEPTS for b in SLOPES), (1e4, 100.0)]
"""The last is each site for itself."""
PENALTIES_OF_CLASSES = (1e4, 100.0, 10.0, 1.0)
"""*Alone* has these penalties, counted in rows: quadratic functions about other models cannot choose one of them, but
weights by log-losses can."""
RIDGES = (0.03, 0.3, 1.0)
SMALL = ((0.0, 0.0), (0.1, 0.0), (0.1, 0.01), (0.1, 0.1))
SETTINGS = [*((0.0, *pair) for pair in PAIRS), *((share, *pair) for share in RIDGES for pair in SMALL)]
"""Ridges of the centre, in shares of the rows, and the pairs that each has."""
GROUPS = (2, 3, 6)
MASSES = {
    "pooled": 0.3,
    "scatter": 1.0,
    "ridge": 0.6,
    "same slopes": 0.5,
    "alone": 0.5,
    "random": 1.6,
    "clusters": 0.1,
    "all-for-one": 0.3,
}
"""A family has this weight before any row is seen; that of random coefficients is multiplied by N/(N + d)."""
LEAST_START = 1.0
"""Scatter from which random coefficients begin, at least. A step adds Omega (sum_k (u_k u_k' - W_k)) Omega / N with the
scores u_k: of second order in Omega, so that steps from below hardly begin, while those from above shrink at once."""
LEAST_NOISE = 1e-8
"""A target of variance 1 has at least this noise: rows that a model fits exactly must leave digits for the others."""
LEAST_WEIGHT = 1e-4
"""Candidates of smaller weight are left out of the average."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """`models` (B, N, d): of all rows, then without each fold. `shares()` (N, N): the influences, see `posterior`."""

    family: str
    setting: str
    mass: float
    models: np.ndarray
    shares: Callable[[], np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """Standardised `models` (N, d), those without each fold `held_out` (F, N, d), the model of a site not seen yet
    `population` (d,), `influences` (N, N) with rows that add to 1, and each candidate's name, weight and score."""

    models: np.ndarray
    held_out: np.ndarray
    population: np.ndarray
    influences: np.ndarray
    candidates: tuple[tuple[str, str, float, float], ...]


def candidates(
    fits: Messages, held_out: Messages, metric: np.ndarray, *, dispersion: float | None, ridge: float = 0.0
) -> Iterator[Candidate]:
    """All candidates, one after the other; `ridge` as in `average`."""
    rows = fits.rows.sum(1)[:, None, None]
    free = 1e-6 * rows * metric + ridge * ridge_of(fits.size, 1.0)
    slopes = root_of(np.linalg.inv(metric[1:, 1:]))
    families = {setting: "ridge" if setting[0] else "scatter" if any(setting) else "pooled" for setting in SETTINGS}
    found: dict[tuple[float, float, float], Candidate] = {}
    for slope in {slope: None for *_, slope in SETTINGS}:  # the sites' slopes are integrated out once for all levels
        root = np.pad(np.sqrt(slope) * slopes, ((1, 0), (1, 0)))
        given = Given(fits, root)
        for share, level, _ in (setting for setting in SETTINGS if setting[-1] == slope):
            precision = free + share * rows * ridge_of(fits.size, 1.0)
            centres = shared_models(given.information, given.scores, precision + given.lost, level)
            whole = root + np.diag([np.sqrt(level), *[0.0] * (fits.size - 1)])
            family = families[share, level, slope]
            found[share, level, slope] = Candidate(
                family=family,
                setting=f"{f'ridge {share:g}, ' if share else ''}intercept {level:g}, slopes {slope:g}",
                mass=MASSES[family] / [*families.values()].count(family),
                models=given.models(centres),
                shares=partial(_shares, fits, whole, precision[:1]),
            )
        del given  # large, as in `random_coefficients`
    yield from (found[setting] for setting in SETTINGS)
    losses = {pair: held_out.loss(found[0.0, *pair].models[1:]).sum() for pair in PAIRS}
    loss, pair = min((loss, pair) for pair, loss in losses.items())
    yield from _ridges(fits, held_out, dispersion)
    noise = max(loss / max(held_out.rows.sum(), 1.0), LEAST_NOISE) if dispersion is None else dispersion
    yield from _learnt(fits, metric, free, noise, pair, dispersion)


def _ridges(fits: Messages, held_out: Messages, dispersion: float | None) -> Iterator[Candidate]:
    """*Same slopes*, of numbers, and *alone*."""
    for levels in (False, True) if dispersion is None else ():

        def shared(fits: Messages, penalty: float, levels: bool = levels) -> np.ndarray:
            return shared_models(fits.second, fits.cross, ridge_of(fits.size, penalty), levels / penalty)

        penalty = best_penalty(fits, held_out, shared)
        precision = ridge_of(fits.size, penalty)
        root = np.diag([np.sqrt(levels / penalty), *[0.0] * (fits.size - 1)])
        yield Candidate(
            family="same slopes",
            setting=f"{'levels apart' if levels else 'one level'}, ridge {penalty:.2g}",
            mass=MASSES["same slopes"] / 2,
            models=shared(fits, penalty),
            shares=partial(_shares, fits, root, precision[None]),
        )
    penalties = PENALTIES_OF_CLASSES if dispersion is not None else (best_penalty(fits, held_out),)
    for penalty in penalties:
        yield Candidate(
            family="alone",
            setting=f"ridge {penalty:.2g}",
            mass=MASSES["alone"] / len(penalties),
            models=with_centre(fits, alone_models(fits, penalty), np.zeros(fits.size)),
            shares=partial(np.eye, fits.sites),
        )


def _learnt(
    fits: Messages, metric: np.ndarray, free: np.ndarray, noise: float, pair: Pair, dispersion: float | None
) -> Iterator[Candidate]:
    """*Random*, which begins at the scatter `pair`, *clusters* and *all-for-one*, which begin at its models."""
    sites, size = fits.sites, fits.size
    scatter = np.zeros((size, size))
    scatter[0, 0] = noise * max(pair[0], LEAST_START)
    scatter[1:, 1:] = noise * max(pair[1], LEAST_START) * np.linalg.inv(metric[1:, 1:])
    learnt = [
        random_coefficients(
            fits, scatter, noise, free, least=LEAST_NOISE, own_noise=own_noise, known=dispersion is not None
        )
        for own_noise in ((False, True) if dispersion is None else (False,))
    ]
    for (models, _, omega, variance), setting in zip(learnt, ("one noise", "own noise")):
        yield Candidate(
            family="random",
            setting=setting,
            mass=MASSES["random"] / 2 * sites / (sites + size),
            models=models,
            shares=partial(_shares, fits, root_of(omega), free[:1], variance),
        )
    start, middle = learnt[0][:2]
    precise = all_for_one(fits, metric, free, dispersion) if sites > 1 else []
    grouped = [("all-for-one", f"precision {precision:g}", models, shares) for precision, models, shares in precise]
    for groups in (count for count in reversed(GROUPS) if count < sites):
        found = clusters(fits, start, metric, free, groups, least=LEAST_NOISE, dispersion=dispersion)
        grouped.insert(0, ("clusters", f"{groups} groups", *found))
    for family, setting, models, shares in grouped:
        yield Candidate(
            family=family,
            setting=setting,
            mass=MASSES[family] / (len(GROUPS) if family == "clusters" else len(precise)),
            models=with_centre(fits, models, middle),
            shares=partial(np.asarray, shares),
        )


def _shares(fits: Messages, root: np.ndarray, precision: np.ndarray, noise: np.ndarray | None = None) -> np.ndarray:
    first = fits.each(lambda part: part[:1])  # of all rows
    return posterior(first, root, precision, noise).shares


def collaborate(messages: Messages, *, progress: Callable[[int, int], None] | None = None) -> Fitted:
    """The averaged models of all sites by least squares."""
    held_out = messages.held_out

    fitted = average([messages], lambda models: held_out.loss(models[0, 1:]), dispersion=None, progress=progress)
    return replace(fitted, models=fitted.models[0], held_out=fitted.held_out[0], population=fitted.population[0])


def noise_of(losses: np.ndarray, rows: np.ndarray) -> float:
    """Noise variance of held-out `losses` (F, N) of so many `rows`: the mean of those of the cells, weighted with their
    losses.

    Two candidates whose predictions differ by delta on held-out rows have losses that differ by 2 e'delta, of variance
    4 sum v |delta|^2, v the noise of the row. Weights that act as if v were s everywhere trust a few cells of large
    noise too much, and as delta grows where rows say little, that is where candidates differ: with |delta|^2
    proportional to v the variance is that of s = sum n v^2 / sum n v. For l = v chi^2_n, l^2/(n + 2) has the mean n v^2
    and l the mean n v; with one variance everywhere s is about that variance."""
    losses = np.maximum(losses, 0.0)  # rounding
    return float((losses**2 / (rows + 2)).sum() / max(losses.sum(), 1e-300))


def average(
    messages: Sequence[Messages] | Sequence[LocalQuadratics],
    score: Callable[[np.ndarray], np.ndarray | float],
    *,
    dispersion: float | None,
    ridge: float = 0.0,
    progress: Callable[[int, int], None] | None = None,
) -> Fitted:
    """The rule for models of K outputs, one `Messages` each, with the same weights for all: `models` (K, N, d) and so
    on.

    `score` of models (K, B, N, d) is the summed loss of the held-out folds, in units in which the noise has the
    variance `dispersion`; where that is None, squared residuals of each fold and site (F, N).
    """
    entries: list[tuple[Candidate, ...]] = []
    parts = [candidates(part.fits, part.held_out, part.metric, dispersion=dispersion, ridge=ridge) for part in messages]
    total = len(SETTINGS) + 5 + len(GROUPS) + len(PRECISIONS)  # of many
    for entry in zip(*parts):
        entries.append(entry)
        if progress is not None:
            progress(min(len(entries), total), total)
    rows = max(messages[0].held_out.rows.sum(), 1.0)
    cells = [np.asarray(score(np.array([part.models for part in entry]))) for entry in entries]
    losses = np.array([cell.sum() for cell in cells])
    noise = noise_of(cells[losses.argmin()], messages[0].held_out.rows) if dispersion is None else dispersion
    log = np.log([entry[0].mass for entry in entries]) - BETA * losses / (2 * max(noise, 1e-300))
    weights = np.exp(log - log.max())
    weights[weights < LEAST_WEIGHT * weights.sum()] = 0.0
    weights /= weights.sum()
    kept = [(weight, entry) for weight, entry in zip(weights, entries) if weight]
    models = sum(weight * np.array([part.models for part in entry]) for weight, entry in kept)
    influences = sum(weight * np.mean([part.shares() for part in entry], axis=0) for weight, entry in kept)
    assert isinstance(models, np.ndarray)
    assert isinstance(influences, np.ndarray)
    return Fitted(
        models=models[:, 0],
        held_out=models[:, 1:],
        population=models[:, 0].mean(1),
        influences=influences / influences.sum(1, keepdims=True),
        candidates=tuple(
            (entry[0].family, entry[0].setting, float(weight), float(loss / rows))
            for entry, weight, loss in zip(entries, weights, losses)
        ),
    )
