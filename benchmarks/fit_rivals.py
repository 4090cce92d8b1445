"""What one would do otherwise with the same rows: classical choices, each with what it needs tuned for it.

All take per-site rows (X with a first column of ones, standardised over all training rows; y) and give models (N, d).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np

Rows = Sequence[tuple[np.ndarray, np.ndarray]]
PENALTIES = np.geomspace(1e-4, 1e4, 25)
MOST_RANDOM = 7
"""Coefficients beyond which MixedLM, whose covariance has their square, is not tried."""


def moments(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X'X (N, d, d), X'y (N, d), y'y (N,), n (N,)."""
    S = np.array([X.T @ X for X, _ in rows])
    return (
        S,
        np.array([X.T @ y for X, y in rows]),
        np.array([y @ y for _, y in rows]),
        np.array([len(y) for _, y in rows]),
    )


def alone(rows: Rows) -> np.ndarray:
    """Ridge by each site's own leave-one-out, the intercept free; the mean below three rows."""
    models = []
    for X, y in rows:
        mean, slopes = X[:, 1:].mean(0), np.zeros(X.shape[1] - 1)
        if len(y) >= 3:
            U, s, Vt = np.linalg.svd(X[:, 1:] - mean, full_matrices=False)
            best, centred = np.inf, y - y.mean()
            for penalty in PENALTIES * len(y):
                shrink = s**2 / (s**2 + penalty)
                leverage = (U**2) @ shrink + 1 / len(y)
                loss = (((centred - U @ (shrink * (U.T @ centred))) / np.maximum(1 - leverage, 1e-9)) ** 2).mean()
                if loss < best:
                    best, slopes = loss, Vt.T @ (s / (s**2 + penalty) * (U.T @ centred))
        models.append([y.mean() - mean @ slopes, *slopes])
    return np.array(models)


def pooled(rows: Rows) -> np.ndarray:
    """Least squares on all rows together."""
    X, y = np.concatenate([X for X, _ in rows]), np.concatenate([y for _, y in rows])
    return np.tile(np.linalg.lstsq(X, y, rcond=None)[0], (len(rows), 1))


def _left_out(rows: Rows, inverses: np.ndarray, models: np.ndarray) -> float:
    """Summed squared leave-one-out residuals of minimisers with these inverse Hessians."""
    total = 0.0
    for (X, y), inverse, theta in zip(rows, inverses, models):
        leverage = np.einsum("ij,jk,ik->i", X, inverse, X)
        total += float((((y - X @ theta) / np.maximum(1 - leverage, 1e-9)) ** 2).sum())
    return total


def ditto(rows: Rows, score: Callable[[np.ndarray], float] | None = None) -> np.ndarray:
    """Drawn to the pooled model in the pooled metric; one lambda for all, by leave-one-out or by `score`."""
    S, c, _, n = moments(rows)
    centre = pooled(rows)[0]
    A = S.sum(0) / n.sum() + 1e-8 * np.eye(len(centre))
    best, answer = np.inf, S
    for penalty in np.geomspace(1e-2, 1e4, 25):
        inverses = np.linalg.inv(S + penalty * A)
        models = centre + np.einsum("kij,kj->ki", inverses, c - S @ centre)
        loss = _left_out(rows, inverses, models) if score is None else score(models)
        if loss < best:
            best, answer = loss, models
    return answer


def random_coefficients(rows: Rows, steps: int = 150) -> np.ndarray:
    """theta_k ~ N(m, Omega), Omega and the noise by expectation and maximisation, as a mixed model has them."""
    S, c, q, n = moments(rows)
    sites, d = c.shape
    m = pooled(rows)[0]
    noise = max((q - 2 * c @ m + np.einsum("i,kij,j->k", m, S, m)).sum() / n.sum(), 1e-9)
    omega, models = 0.1 * np.eye(d), c
    for _ in range(steps):
        values, vectors = np.linalg.eigh((omega + omega.T) / 2)
        root = vectors * np.sqrt(np.maximum(values, 1e-10))
        V = root @ np.linalg.inv(np.eye(d) + root.T @ S @ root / noise) @ root.T
        W = S / noise - S @ V @ S / noise**2
        w = c / noise - np.einsum("kij,kj->ki", S @ V, c) / noise**2
        C = np.linalg.inv(W.sum(0) + 1e-8 * np.eye(d) * S.sum() / noise)
        m = C @ w.sum(0)
        models = m + np.einsum("kij,kj->ki", V, c - S @ m) / noise
        K, apart = V @ S / noise, models - m
        omega = (apart.T @ apart + (V + K @ C @ K.transpose(0, 2, 1)).sum(0)) / sites
        P = V + (np.eye(d) - K) @ C @ (np.eye(d) - K).transpose(0, 2, 1)
        rss = q - 2 * (c * models).sum(1) + np.einsum("ki,kij,kj->k", models, S, models)
        noise = max((rss + np.einsum("kij,kji->k", S, P)).sum() / n.sum(), 1e-9)
    return models


def all_for_one(rows: Rows) -> np.ndarray:
    """Weights (1 - debiased gap/eps)_+, one precision and one weight of the own rows for all by leave-one-out."""
    S, c, q, n = moments(rows)
    centre = pooled(rows)[0]
    A = S.sum(0) / n.sum() + 1e-8 * np.eye(c.shape[1])
    inverses = np.linalg.inv(S + 0.5 * A)
    own = centre + np.einsum("kij,kj->ki", inverses, c - S @ centre)
    rss = q - 2 * (c * own).sum(1) + np.einsum("ki,kij,kj->k", own, S, own)
    noise = rss.sum() / max(n.sum() - np.einsum("kij,kji->", inverses, S), 1)
    V = noise * np.einsum("ij,kji->k", A, inverses @ S @ inverses)
    D = own[:, None] - own
    gap = np.maximum(np.einsum("abi,ij,abj->ab", D, A, D) - V[:, None] - V, 0)
    np.fill_diagonal(gap, 0)
    positive = gap[gap > 0]
    grid = [1e9] if not len(positive) else [1e-12, *np.quantile(positive, np.linspace(0.02, 1, 14)), 1e9]
    best, answer = np.inf, own
    for precision in grid:
        for factor in (1, 2, 4, 8):
            weights = np.maximum(1 - gap / precision, 0) / factor
            np.fill_diagonal(weights, 1)
            inverses = np.linalg.inv(np.einsum("ik,kab->iab", weights, S) + 1e-6 * A)
            models = np.einsum("iab,ib->ia", inverses, weights @ c)
            loss = _left_out(rows, inverses, models)
            if loss < best:
                best, answer = loss, models
    return answer


def _levels_and_slopes(S: np.ndarray, c: np.ndarray, penalty: float, apart: np.ndarray) -> np.ndarray:
    """argmin sum_k |y_k - X_k (m + delta_k)|^2 + penalty (|slopes of m|^2 + sum_k delta_k' diag(apart) delta_k)."""
    size = c.shape[1]
    V = np.linalg.inv(S + penalty * np.diag(apart))
    W, w = S - S @ V @ S, c - np.einsum("kij,kj->ki", S @ V, c)
    centre = np.linalg.solve(W.sum(0) + penalty * np.diag([1e-9] + [1.0] * (size - 1)), w.sum(0))
    return centre + np.einsum("kij,kj->ki", V, c - S @ centre)


def _by_folds(rows: Rows, apart: np.ndarray) -> np.ndarray:
    """With the penalty that loses least on five folds of every site's rows."""
    losses, grid = np.zeros(len(PENALTIES)), PENALTIES
    for f in range(5):
        parts = [(np.arange(len(y)) + k) % 5 == f for k, (_, y) in enumerate(rows)]
        S, c, _, _ = moments([(X[~out], y[~out]) for (X, y), out in zip(rows, parts)])
        for at, penalty in enumerate(grid):
            models = _levels_and_slopes(S, c, penalty, apart)
            losses[at] += sum(((y - X @ m)[out] ** 2).sum() for (X, y), out, m in zip(rows, parts, models))
    S, c, _, _ = moments(rows)
    return _levels_and_slopes(S, c, grid[int(losses.argmin())], apart)


def interactions(rows: Rows) -> np.ndarray:
    """Ridge with columns, site dummies and all products of the two."""
    return _by_folds(rows, np.ones(rows[0][0].shape[1]))


def one_hot(rows: Rows) -> np.ndarray:
    """Ridge with columns and site dummies."""
    return _by_folds(rows, np.array([1.0] + [1e9] * (rows[0][0].shape[1] - 1)))


def target_encoded(rows: Rows) -> np.ndarray:
    """Ridge with columns and the site's mean target, cross-fitted by scikit-learn."""
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import KFold
    from sklearn.preprocessing import TargetEncoder

    X, y = np.concatenate([X for X, _ in rows]), np.concatenate([y for _, y in rows])
    sites = np.repeat(np.arange(len(rows)), [len(y) for _, y in rows])[:, None]
    encoder = TargetEncoder(target_type="continuous", cv=KFold(min(5, len(y)), shuffle=True, random_state=0))
    mean = encoder.fit_transform(sites, y)
    found = RidgeCV(PENALTIES * len(y)).fit(np.column_stack((X[:, 1:], mean)), y)
    levels = found.intercept_ + found.coef_[-1] * encoder.transform(np.arange(len(rows))[:, None])[:, 0]
    return np.column_stack((levels, np.tile(found.coef_[:-1], (len(rows), 1))))


def boosted(X: np.ndarray, y: np.ndarray, sites: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Predictions of scikit-learn's gradient boosting for rows not in `train`, the site a category: not linear."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    seen = np.column_stack((sites % 255, X))  # it takes 255 categories
    model = HistGradientBoostingRegressor(categorical_features=[0], random_state=0)
    return model.fit(seen[train], y[train]).predict(seen[~train])


def mixed_model(rows: Rows) -> np.ndarray | None:
    """statsmodels' MixedLM by restricted likelihood, intercept and slopes random; None where it does not converge."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    X, y = np.concatenate([X for X, _ in rows]), np.concatenate([y for _, y in rows])
    groups = np.repeat(np.arange(len(rows)), [len(y) for _, y in rows])
    if X.shape[1] > MOST_RANDOM:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = MixedLM(y, X, groups=groups, exog_re=X).fit(reml=True, method="lbfgs", maxiter=200)
            effects = np.array([found.random_effects[k] for k in range(len(rows))])
        except (np.linalg.LinAlgError, ValueError):
            return None
    models = found.fe_params + effects
    return models if found.converged and np.isfinite(models).all() else None


LEAST_SQUARES: dict[str, Callable[[Rows], np.ndarray | None]] = {
    "alone": alone, "pooled": pooled, "ditto": ditto, "random coefficients": random_coefficients,
    "all-for-one": all_for_one, "interactions": interactions, "one-hot": one_hot, "target-encoded": target_encoded,
}  # fmt: skip
NO_MIXED_MODEL = "" if find_spec("statsmodels") else "statsmodels is not installed (pip install statsmodels)"
if not NO_MIXED_MODEL:
    LEAST_SQUARES["mixed model"] = mixed_model
