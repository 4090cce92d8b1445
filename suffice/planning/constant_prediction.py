"""Plans on tables start from the best constant prediction: shares are of the excess that it leaves, and where this is
at most the precision, there is nothing to plan."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from suffice.bounds import Constants
from suffice.simulate.moments.gradient_moments import RANK
from suffice.support.errors import InputError
from suffice.support.numbers import as_choice

if TYPE_CHECKING:
    from suffice.simulate import LeastSquares, Logistic, Problem

HALVINGS, FARTHEST = 60, 50.0
"""Halvings of the interval [-50, 50] of the best intercept: down to rounding, and far enough for e^50 rows."""
ROUNDING = 1e-20
"""An excess below this share of the loss of the model 0 is rounding."""


def _has_rows(problem: Any) -> bool:
    from suffice.simulate import LeastSquares, Logistic

    return isinstance(problem, LeastSquares | Logistic)


def _with_intercept(problem: Any) -> LeastSquares | Logistic | None:
    """The problem where it is one on rows with a column of ones."""
    return problem if _has_rows(problem) and bool((problem.data.X[:, 0] == 1).all()) else None


def started(problem: Any, start: str | None) -> Any:
    """The problem with every client's start at its own best constant, or at 0; None: at the constant where there is an
    intercept, unless the problem has a start of its own. Raises `InputError`."""
    if start is not None:
        as_choice("start", start, ("constant", "zero"))
    if start == "zero":
        return problem.with_start(None) if hasattr(problem, "with_start") else problem
    found = _with_intercept(problem)
    if found is None:
        if start is not None:
            raise InputError("start", start, "only tables with an intercept have a best constant; drop it")
        return problem
    if start is None and bool((found.start != 0).any()):
        return problem
    return found.with_start(best_constants(found))


def reference(source: Any) -> dict[str, Any]:
    """The arguments of `Precision.parse` that texts such as "10%" and "noise" refer to. Rows with an intercept have the
    excess of the best constant, other problems and constants that of their start."""
    if isinstance(source, Constants):
        return {"clients": source.clients, "excess": source.excess}
    known = {"clients": source.clients, "excess": source.excess(source.start[None])[0].double().cpu().numpy()}
    if not _has_rows(source):
        return known
    if _with_intercept(source) is not None:
        known |= {"excess": constant_excess(source)}
        known |= {"of": "constant" if hasattr(source, "A") else "base rate"}
    least = np.maximum(ROUNDING * _losses_of_zero(source), 1e-300)
    return known | {"noise": partial(statistical_precision, source), "least": least}


def constant_excess(problem: Problem) -> np.ndarray:
    """The excess of every client's best constant, the model (t_i, 0, ..., 0), (N,); inf without an intercept."""
    found = _with_intercept(problem)
    if found is None:
        return np.full(problem.clients, np.inf)
    models = found.start.new_tensor(best_constants(found))
    return found.excess(models[None])[0].double().cpu().numpy()


def best_constants(problem: LeastSquares | Logistic) -> np.ndarray:
    """The model (t_i, 0, ..., 0) of the least loss of every client, (N, d)."""
    means = problem.data.means(problem.data.y.double()[None])[0].cpu().numpy()
    r, others = problem.regularisation, np.zeros((len(means), problem.features - 1))
    if hasattr(problem, "A"):  # mean (t - y)^2 + r t^2 / 2
        return np.column_stack((means / (1 + r / 2), others))
    # with p the share of y = 1 the loss has the derivative 1/(1 + e^-t) - p + r t, which increases
    share = (1 + means) / 2
    low, high = np.full(share.shape, -FARTHEST), np.full(share.shape, FARTHEST)
    for _ in range(HALVINGS):
        t = (low + high) / 2
        rises = expit(t) - share + r * t > 0
        low, high = np.where(rises, low, t), np.where(rises, t, high)
    return np.column_stack(((low + high) / 2, others))


def _losses_of_zero(problem: LeastSquares | Logistic) -> np.ndarray:
    if not hasattr(problem, "A"):
        return np.full(problem.clients, np.log(2))
    return problem.data.means(problem.data.y.double()[None] ** 2)[0].cpu().numpy()


# Of one row at theta = theta* + delta the loss differs from that at the minimiser by g'delta to first order, g its
# gradient there, of covariance V. Where R exceeds its least value by eps, delta'H delta = 2 eps; for delta in all
# directions alike in the metric of H, the mean of delta'V delta is 2 eps tr(H^+ V) / d. So the excess measured on n new
# rows has the standard error sqrt(2 eps tr(H^+ V) / (d n)), which is eps itself at
#     eps = 2 tr(H^+ V) / (d n),
# 4 s^2 / n for least squares with residuals of variance s^2, 2 / n for a logistic model that is true. Residuals at the
# fit are too small: n / (n - d) mends that, and where n < 2 d the clients' common variance is taken.


def statistical_precision(problem: LeastSquares | Logistic) -> np.ndarray:
    """The excess that is its own standard error when measured on as many new rows as a client has, (N,) [loss]; nan
    where rows tell no variance, or none at all."""
    optimum, ridge = problem.optimum.double().cpu().numpy(), problem.regularisation
    found = []
    for (x, y), theta in zip(problem.data.blocks(), optimum):
        n, score = len(x), x @ theta
        if hasattr(problem, "A"):
            slope, curved = 2 * (score - y), np.full(n, 2.0)
        else:
            slope, curved = -y * expit(-y * score), expit(score) * expit(-score)
        H = (x * curved[:, None]).T @ x / n + ridge * np.eye(len(theta))
        g = x * slope[:, None]
        V = (g - g.mean(0)).T @ (g - g.mean(0)) / n
        values, vectors = np.linalg.eigh(H)
        seen = values > RANK * values[-1]
        U = vectors[:, seen] / np.sqrt(values[seen])
        found.append((n, int(seen.sum()), float(np.einsum("de,df,fe->", U, V, U))))
    n, d, spread = np.array(found, dtype=float).T
    each, free = spread / np.maximum(d, 1), np.maximum(n - d, 0)
    common = float((n * each).sum() / free.sum()) if free.sum() > 0 else np.nan
    variance = np.where(n >= 2 * d, n * each / np.maximum(free, 1), common)
    return np.where(variance > ROUNDING * _losses_of_zero(problem), 2 * variance / n, np.nan)
