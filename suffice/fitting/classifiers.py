"""Logistic and multinomial models by the rule for least squares, through quadratic functions about each site's models.

Rounds: the pooled model by Newton's method (its messages are sums, one round a step); then `PASSES` times one round of
quadratic functions about the present models and one in which sites score the candidates on their held-out folds, by the
true log-loss. The factor 2 below makes twice a log-loss what a squared residual over its variance is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.simulate.data.folds import FOLDS, Sums

from .assembly import assemble, encode
from .gain import RESAMPLED, Gains
from .local_quadratics import LocalQuadratics, local_quadratics, log_losses, probabilities
from .model_averaging import BETA, Fitted, average
from .ridge import alone_models

if TYPE_CHECKING:
    from suffice.simulate.data.sites import Sites

    from .fitted import Fit

SiteRows = tuple[np.ndarray, np.ndarray, np.ndarray]
"""X (n, d) with a first column of ones, Y (n, K) of ones and zeros, folds (n,)."""
PASSES = 4
ALONE_PASSES = 5
STEPS = 30
PENALTIES = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
"""The slopes are shrunk by these penalties, each counted in rows of curvature 1."""
NEGLIGIBLE = 10.0
"""Logarithm of a weight at which smaller ridges are not tried."""
SETTLED = 1e-4
"""Relative decrease of the loss at which steps at one penalty end."""


def classified(sites: Sites, loss: str, client: str, progress: Callable[[int, int], None] | None) -> Fit:
    """Logistic for two classes, multinomial with all at once for more. Labels that a site lacks are no difficulty."""
    classes = sites.classes
    sums, counts = Sums.of([[Sums.of_rows(X, y)] for X, y in zip(sites.X, sites.y)]), sites.counts
    moved = sums.dealt(counts)
    encoding, _, units, notes = encode(sites, sums, sums)
    outputs = 1 if len(classes) == 2 else len(classes)
    # models are of log-odds, which have no unit
    units = replace(units, mean=np.append(units.mean[:-1], 0.0), scale=np.append(units.scale[:-1], 1.0))
    rows = []
    for X, y, by in zip(sites.X, sites.y, moved):
        standard = (encoding.encoded(X) - units.mean[:-1]) / units.scale[:-1]
        standard[:, units.constant[:-1]] = 0.0
        Y = (y == 1)[:, None] if outputs == 1 else y[:, None] == np.arange(outputs)
        rows.append((np.column_stack((np.ones(len(X)), standard)), Y.astype(float), (np.arange(len(y)) + by) % FOLDS))
    fitted, gains, rounds = fit_classes(rows, progress=progress)
    size = rows[0][0].shape[1]
    # of a round at most: of all rows, without each fold and of each, per output, curvature, gradient and loss
    numbers = outputs * (1 + 2 * FOLDS) * (1 + size + size * (size + 1) // 2)
    return assemble(
        sites, client, loss, fitted, gains, units.given(fitted.models),
        units.given(fitted.population), scale=1.0, encoding=encoding, left_out=notes,
        rule={"suspects": [], "groups": [], "distances": None, "spread_power": None, "rounds": rounds,
              "numbers_per_site": numbers, "fewest_numbers": None},
    )  # fmt: skip


def fit_classes(
    rows: Sequence[SiteRows], *, progress: Callable[[int, int], None] | None = None
) -> tuple[Fitted, Gains, int]:
    """Models (K, N, d) of all sites from their rows, what sites gain, and the number of rounds."""
    models, ridge, rounds = pooled(rows)
    fitted = None
    for done in range(PASSES):
        parts = local_quadratics(rows, models)
        fitted = average(parts, lambda found: 2 * held_out_loss(rows, found), dispersion=1.0, ridge=ridge)
        if progress is not None:
            progress(done + 1, PASSES)
        models = np.concatenate((fitted.models[:, None], fitted.held_out), axis=1)
    assert fitted is not None
    return fitted, gains_of_rows(rows, fitted), rounds + 2 * PASSES


def held_out_loss(rows: Sequence[SiteRows], models: np.ndarray) -> float:
    """The summed log-loss of all rows under the models (K, B, N, d) that were fitted without their fold, B = 1 +
    folds."""
    losses = [log_losses(_scores(X, models[:, 1:, k], folds), Y) for k, (X, Y, folds) in enumerate(rows)]
    return float(np.concatenate(losses).sum())


def pooled(rows: Sequence[SiteRows]) -> tuple[np.ndarray, float, int]:
    """The model of all rows together and those without each fold, the same for all sites (K, 1 + folds, N, d), their
    ridge, and how many rounds they took.

    By Newton's method from all at once, averaged over the slopes' ridges of `PENALTIES` by the weights of the rule: a
    choice of one of them by a few dozen held-out rows is mostly chance. The ridge is the geometric mean.
    """
    X, Y, folds = (np.concatenate([entry[part] for entry in rows]) for part in range(3))
    outputs, size = Y.shape[1], X.shape[1]
    parts = [(folds != f).astype(float) for f in (-1, *range(FOLDS))]
    theta, rounds = np.zeros((1 + FOLDS, outputs, size)), 0
    models, losses = [], []
    for penalty in PENALTIES[::-1]:  # from the largest, each beginning where the one before ended
        ridge = np.concatenate(([1e-6], np.full(size - 1, penalty)))
        found = [_newton(X, Y, part, ridge, start) for part, start in zip(parts, theta)]
        theta = np.array([model for model, _ in found])
        rounds += max(steps for _, steps in found)
        models.append(theta)
        losses.append(float(log_losses(_scores(X, theta[1:].swapaxes(0, 1), folds), Y).sum()))
        if BETA * (losses[-1] - min(losses)) > NEGLIGIBLE:
            break
    share = np.exp(-BETA * (np.array(losses) - min(losses)))
    share /= share.sum()
    answer = np.einsum("r,rbkd->kbd", share, models)
    ridge = float(np.exp(share @ np.log(PENALTIES[::-1][: len(share)])))
    return np.repeat(answer[:, :, None], len(rows), axis=2), ridge, rounds


def _newton(
    X: np.ndarray, Y: np.ndarray, weights: np.ndarray, ridge: np.ndarray, theta: np.ndarray
) -> tuple[np.ndarray, int]:
    """The ridge's minimiser (K, d) and the steps to it, one block of the Hessian per class, halved until the loss
    falls."""

    def loss(theta: np.ndarray) -> float:
        return float(weights @ log_losses(X @ theta.T, Y) + (ridge * theta**2).sum() / 2)

    value = loss(theta)
    for step in range(1, STEPS + 1):
        p = probabilities(X @ theta.T)
        gradient = (weights[:, None] * (Y - p)).T @ X - ridge * theta
        curved = weights[:, None] * p * (1 - p)
        move = np.array(
            [np.linalg.solve((X * h[:, None]).T @ X + np.diag(ridge), g) for h, g in zip(curved.T, gradient)]
        )
        length, before = 1.0, value
        while (value := loss(theta + length * move)) > before and length > 1e-6:
            length /= 2
        if value > before:
            return theta, step
        theta = theta + length * move
        if before - value < SETTLED * value:
            return theta, step
    return theta, STEPS


def gains_of_rows(rows: Sequence[SiteRows], fitted: Fitted) -> Gains:
    """The gains of sites in log-loss, row by row, as `gain.gains`. Alone is ridge by some steps from the model
    together, the last of them with each penalty."""
    together = models = np.concatenate((fitted.models[:, None], fitted.held_out), axis=1)
    parts: list[LocalQuadratics] = []
    about = models
    for _ in range(ALONE_PASSES):
        about = models
        parts = local_quadratics(rows, about)
        models = np.array([alone_models(part.fits, 1.0) for part in parts])
    best, penalty, alone = np.inf, 1.0, models
    for entry in PENALTIES:
        found = np.array([alone_models(part.fits, entry) for part in parts])
        value = held_out_loss(rows, found)
        if value < best:
            best, penalty, alone = value, entry, found
    sums, variance, fewer = np.zeros((3, len(rows))), np.zeros(len(rows)), np.zeros(len(rows))
    for fold in range(FOLDS):  # as in `gain`: without one more fold
        rest = [(X[f != fold], Y[f != fold], f[f != fold]) for X, Y, f in rows]
        found = np.array([alone_models(part.fits, penalty) for part in local_quadratics(rest, about)])
        for k, (X, Y, folds) in enumerate(rest):
            fewer[k] += log_losses(_scores(X, found[:, 1:, k], folds), Y).sum() / (FOLDS - 1)
    for k, (X, Y, folds) in enumerate(rows):
        both = [log_losses(_scores(X, models[:, 1:, k], folds), Y) for models in (together, alone)]
        difference = both[1] - both[0]
        sums[:, k] = *np.sum(both, axis=1), len(Y) * loss_of_shares(Y, folds)
        variance[k] = RESAMPLED * ((difference - difference.mean()) ** 2).sum()
    counts = np.array([len(Y) for _, Y, _ in rows])
    return Gains.of(sums, variance, fewer, counts, counts, rows[0][0].shape[1])


def loss_of_shares(Y: np.ndarray, folds: np.ndarray) -> float:
    """Mean log-loss of rows under the shares of classes in the other folds, with one row more of each class."""
    Y = np.column_stack((1 - Y, Y)) if Y.shape[1] == 1 else Y
    others = np.array([1 + Y[folds != fold].sum(0) for fold in range(FOLDS)])
    return float(-np.log((Y * (others / others.sum(1, keepdims=True))[folds]).sum(1)).mean())


def _scores(X: np.ndarray, models: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """Linear predictors (n, K) of rows by the models (K, F, d) of their folds."""
    return np.einsum("nd,knd->nk", X, models[:, folds])
