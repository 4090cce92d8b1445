"""All-for-one with the best fixed weights: a solver, and two records."""

from __future__ import annotations

import numpy as np
import pytest
from records import bound_of  # tests/helpers
from scipy.optimize import minimize

from suffice.bounds import ConditionError, InputError
from suffice.bounds.threshold_weights import precision_weights

bound = bound_of("sample-optimal")


def cost(weights, b, c, sigma2):
    return (weights**2 * sigma2).sum(-1) / (c - weights @ b) ** 2


def solved(g, sigma2):
    """z = lambda/(c - B): least sum sigma^2 z^2 with sum (c - b) z = 1, z >= 0."""
    constraint = {"type": "eq", "fun": lambda z: g @ z - 1, "jac": lambda z: g}
    return minimize(
        lambda z: ((sigma2 * z**2).sum(), 2 * sigma2 * z), np.full(len(g), 1 / len(g)), jac=True, method="SLSQP",
        bounds=[(0, None)] * len(g), constraints=constraint, options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip


def test_a_solver_finds_no_better_weights():
    rng = np.random.default_rng(5)
    for _ in range(100):
        n = rng.integers(2, 8)
        b, sigma2 = np.append(0, rng.exponential(size=n - 1)), 10.0 ** rng.uniform(-1, 1, n)
        mu, eps = 10.0 ** rng.uniform(-1, 1, 2)
        c = np.sqrt(2 * mu * eps)
        ours = precision_weights(b=b, mu=mu, eps=eps, sigma2=sigma2)
        found = solved(c - b, sigma2)
        least = cost(ours, b, c, sigma2)
        np.testing.assert_allclose(least, 1 / (np.maximum(c - b, 0) ** 2 / sigma2).sum(), rtol=1e-12)
        np.testing.assert_allclose(least, found.fun, rtol=1e-6)  # what the solver stops at
        others = rng.dirichlet(np.full(n, 0.3), 200)
        others = others[others @ b < c]
        assert (cost(others, b, c, sigma2) >= least * (1 - 1e-12)).all()


def test_they_are_water_filling_at_a_known_level_and_the_two_records_agree():
    rng = np.random.default_rng(6)
    for _ in range(50):
        b, mu, eps = np.append(0, rng.exponential(size=6)), rng.uniform(0.2, 1), rng.uniform(0.1, 3)
        weights = precision_weights(b=b, mu=mu, eps=eps)
        given = {"mu": mu, "beta": 5 * mu, "eps": eps, "distance2": 40.0, "sigma2": 0.7, "lambda2": (weights**2).sum()}
        signal2 = (np.maximum(np.sqrt(2 * mu * eps) - b, 0) ** 2).sum()
        if weights @ b <= 0.9 * np.sqrt(2 * mu * eps):
            one = bound("theorem-2-mixture-rounds", bias=weights @ b, **given)
            np.testing.assert_allclose(one, bound("theorem-2-optimal-rounds", signal2=signal2, **given), rtol=1e-10)


def test_what_is_refused_names_the_condition_and_both_sides():
    given = {"mu": 1.0, "beta": 2.0, "eps": 0.5, "distance2": 1.0, "sigma2": 1.0, "lambda2": 0.5}
    with pytest.raises(ConditionError, match=r"bias\^2 <= 1.8 mu eps.*1\.\d+.*0\.9"):  # eps below the bias
        bound("theorem-2-mixture-rounds", bias=1.3, **given)
    with pytest.raises(ConditionError, match=r"mu <= beta.*1.*0\.5"):  # kappa < 1
        bound("theorem-2-mixture-rounds", bias=0.1, **given | {"beta": 0.5})
    with pytest.raises(InputError, match="mu"):
        bound("theorem-2-optimal-rounds", signal2=2.0, **given | {"mu": 0.0})
    with pytest.raises(ConditionError, match=r"2 mu eps <= signal2"):
        bound("theorem-2-optimal-rounds", signal2=0.5, **given)
    with pytest.raises(InputError, match=r"the least is 1, the right side 0.2"):  # no peer below the threshold
        precision_weights(b=[[0.0, 1.0], [1.0, 2.0]], mu=1.0, eps=0.02)
