"""The same for two classes: logistic regression alone, pooled, Ditto, FedAvg with fine-tuning, IFCA told the groups."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .fit_rivals import Rows

PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
FOLDS = 5


def newton(X: np.ndarray, y: np.ndarray, centre: np.ndarray, penalty: float, *, free: bool = True) -> np.ndarray:
    """argmin of the summed log-loss + (penalty/2) |theta - centre|^2, the intercept not drawn if `free`."""
    ridge = np.full(X.shape[1], penalty)
    if free:
        ridge[0] = 1e-6
    theta = centre.copy()

    def loss(theta: np.ndarray) -> float:
        z = X @ theta
        return float(np.logaddexp(0, np.where(y > 0, -z, z)).sum() + (ridge * (theta - centre) ** 2).sum() / 2)

    value = loss(theta)
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(X @ theta, -500, 500)))
        hessian = (X * (p * (1 - p))[:, None]).T @ X + np.diag(ridge)
        step = np.linalg.solve(hessian, X.T @ (y - p) - ridge * (theta - centre))
        size = 1.0
        while (new := loss(theta + size * step)) > value and size > 1e-3:
            size /= 2
        theta, change, value = theta + size * step, value - new, new
        if change < 1e-6 * value:
            break
    return theta


def _chosen(X: np.ndarray, y: np.ndarray, make: Callable[[np.ndarray, np.ndarray, float], np.ndarray]) -> float:
    """The penalty that loses least on held-out folds of these rows; 1 below ten."""
    if len(y) < 10:
        return 1.0
    fold = np.arange(len(y)) % FOLDS
    losses = [
        sum(loss_of(X[fold == f], y[fold == f], make(X[fold != f], y[fold != f], penalty)) for f in range(FOLDS))
        for penalty in PENALTIES
    ]
    return PENALTIES[int(np.argmin(losses))]


def loss_of(X: np.ndarray, y: np.ndarray, theta: np.ndarray) -> float:
    z = X @ theta
    return float(np.logaddexp(0, np.where(y > 0, -z, z)).sum())


def alone(rows: Rows) -> np.ndarray:
    """Each its own penalty by its own folds."""
    models = []
    for X, y in rows:
        zero = np.zeros(X.shape[1])

        def make(X: np.ndarray, y: np.ndarray, penalty: float, zero: np.ndarray = zero) -> np.ndarray:
            # half a row of each class: a site of one class has no finite intercept otherwise
            ends = np.zeros((2, X.shape[1]))
            ends[:, 0] = 1
            return newton(np.concatenate((X, ends)), np.concatenate((y, [0, 1])), zero, penalty)

        models.append(make(X, y, _chosen(X, y, make)))
    return np.array(models)


def pooled(rows: Rows) -> np.ndarray:
    X, y = np.concatenate([X for X, _ in rows]), np.concatenate([y for _, y in rows])
    order = np.random.default_rng(0).permutation(len(y))
    X, y, zero = X[order], y[order], np.zeros(X.shape[1])
    penalty = _chosen(X, y, lambda X, y, penalty: newton(X, y, zero, penalty))
    return np.tile(newton(X, y, zero, penalty), (len(rows), 1))


def ditto(rows: Rows) -> np.ndarray:
    """Drawn to the pooled model, one lambda for all sites by their folds."""
    centre = pooled(rows)[0]
    losses = []
    for penalty in PENALTIES:
        total = 0.0
        for X, y in rows:
            fold = np.arange(len(y)) % FOLDS
            for f in np.unique(fold):
                model = newton(X[fold != f], y[fold != f], centre, penalty, free=False)
                total += loss_of(X[fold == f], y[fold == f], model)
        losses.append(total)
    penalty = PENALTIES[int(np.argmin(losses))]
    return np.array([newton(X, y, centre, penalty, free=False) for X, y in rows])


def fine_tuned(rows: Rows, steps: int = 10) -> np.ndarray:
    """FedAvg's limit, the pooled model, then ten gradient steps of 1/L on the site's own rows."""
    models = pooled(rows).copy()
    for k, (X, y) in enumerate(rows):
        step = 4 / max(np.linalg.eigvalsh(X.T @ X)[-1], 1e-9)
        for _ in range(steps):
            models[k] += step * X.T @ (y - 1 / (1 + np.exp(-X @ models[k])))
    return models


def ifca(rows: Rows, groups: int = 3, starts: int = 3) -> np.ndarray:
    """Alternate between the group whose model loses least and one model per group; the best of some starts."""
    best, answer = np.inf, pooled(rows)
    size = rows[0][0].shape[1]
    for start in range(starts):
        rng = np.random.default_rng(start)
        label = rng.integers(groups, size=len(rows))
        centres = np.zeros((groups, size))
        for _ in range(10):
            for g in range(groups):
                if (label == g).any():
                    X = np.concatenate([rows[k][0] for k in np.flatnonzero(label == g)])
                    y = np.concatenate([rows[k][1] for k in np.flatnonzero(label == g)])
                    centres[g] = newton(X, y, np.zeros(size), 1.0)
            losses = np.array([[loss_of(X, y, centre) for centre in centres] for X, y in rows])
            if (losses.argmin(1) == label).all():
                break
            label = losses.argmin(1)
        if (value := losses.min(1).sum()) < best:
            best, answer = value, centres[label]
    return answer


LOGISTIC: dict[str, Callable[[Rows], np.ndarray]] = {
    "alone": alone, "pooled": pooled, "ditto": ditto, "fine-tuned": fine_tuned, "ifca": ifca,
}  # fmt: skip
