"""What a constant prediction reaches: where its excess loss is at most the precision, there is nothing to plan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from .plan_row import Row

if TYPE_CHECKING:
    from suffice.simulate import Problem

HALVINGS, FARTHEST = 60, 50.0
"""Of the interval [-50, 50] of the best intercept: to rounding, and far enough for e^50 rows."""


def served(problem: Problem | None, rows: Iterable[Row]) -> list[Row]:
    """The rows whose precision is reached by an intercept alone, none where there is no intercept."""
    from suffice.simulate import LeastSquares, Logistic

    if not isinstance(problem, LeastSquares | Logistic) or not bool((problem.data.X[:, 0] == 1).all()):
        return []
    least = _of_squares(problem) if isinstance(problem, LeastSquares) else _of_classes(problem)
    return [row for row in rows if row.epsilon >= least[row.client]]


def coarse(problem: Problem | None, rows: Iterable[Row]) -> tuple[str, ...]:
    """The note that says at how many clients that is so."""
    from suffice.simulate import LeastSquares

    names = {row.name for row in served(problem, rows)}
    if problem is None or not names:
        return ()
    remedy = ", or --standardise-target" if isinstance(problem, LeastSquares) else ""
    return (f"At {len(names)} of {problem.clients} clients a constant reaches eps: take less{remedy}.",)


def _at(problem: Problem, intercepts: float | np.ndarray) -> np.ndarray:
    """The excess of the models (t_i, 0, ..., 0), (N,)."""
    models = problem.start.new_zeros(problem.start.shape)
    models[:, 0] = models.new_tensor(intercepts)
    return problem.excess(models[None])[0].double().cpu().numpy()


def _of_squares(problem: Problem) -> np.ndarray:
    """The excess is a quadratic function of t, known from three points."""
    middle, up, down = (_at(problem, t) for t in (0.0, 1.0, -1.0))
    return middle - ((up - down) / 2) ** 2 / (2 * (up + down) - 4 * middle)


def _of_classes(problem: Problem) -> np.ndarray:
    """With p the share of y = 1 the loss has the derivative 1/(1 + e^-t) - p + r t, which increases."""
    from suffice.simulate import Logistic

    assert isinstance(problem, Logistic)
    share = problem.data.means((problem.data.y > 0).to(problem.data.X)[None])[0].double().cpu().numpy()
    low, high = np.full(share.shape, -FARTHEST), np.full(share.shape, FARTHEST)
    for _ in range(HALVINGS):
        t = (low + high) / 2
        rises = expit(t) - share + problem.regularisation * t > 0
        low, high = np.where(rises, low, t), np.where(rises, t, high)
    return _at(problem, (low + high) / 2)
