"""Quantities of the clients' mean loss f at the mean of their models: measured by hand, and theorems as papers print
them; names of a theorem's own."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from suffice.bounds import InputError
from suffice.simulate import LocalSGD, Quadratics
from suffice.simulate.problem_batches import instances
from suffice.verification import Outcome, check
from suffice.verification.check import record
from suffice.verification.families import FamilyInstance, ProblemFamily, curves, of_mean_loss, quadratics
from suffice.verification.family import Domain, Family
from suffice.verification.problem_measure import measured_family
from suffice.verification.quantity import quantity_of

pytestmark = pytest.mark.usefixtures("brief")

QUANTITIES = ("global_excess", "global_distance", "global_gradient", "average_global_excess", "average_mean_gradient")


def within(*, eta, beta):
    return {"step size eta <= 1/beta": (eta, 1 / beta)}


def by_hand(problem, eta, T, period, sigma2):
    """E of f(xbar_t) - f*, |xbar_t - x*|^2 and |grad f(xbar_t)|^2 for t = 0, ..., T: mean and covariance of all models
    in one vector, each client's loss added up, x* from the sum of the gradients."""
    H, m, start = (2 * problem.A).numpy(), problem.optimum.numpy(), problem.start.numpy()
    N, d = m.shape
    best = np.linalg.solve(H.sum(0), sum(H[k] @ m[k] for k in range(N)))

    def loss(x):
        return sum((x - m[k]) @ H[k] @ (x - m[k]) / 2 for k in range(N)) / N

    centre, spread = start.reshape(-1), np.zeros((N * d, N * d))
    average = np.tile(np.eye(d) / N, (1, N))
    rows = []
    for t in range(T + 1):
        x, C = average @ centre, average @ spread @ average.T
        mean_hessian = H.sum(0) / N
        slope = sum(H[k] @ (x - m[k]) for k in range(N)) / N
        rows.append([
            loss(x) - loss(best) + np.trace(mean_hessian @ C) / 2,
            (x - best) @ (x - best) + np.trace(C),
            slope @ slope + np.trace(mean_hessian @ C @ mean_hessian),
        ])  # fmt: skip
        move = np.zeros_like(spread)
        for k in range(N):
            own = slice(k * d, (k + 1) * d)
            move[own, own] = np.eye(d) - eta * H[k]
            centre[own] = m[k] + move[own, own] @ (centre[own] - m[k])
        spread = move @ spread @ move.T + eta**2 * sigma2 / d * np.eye(N * d)
        if (t + 1) % period == 0:
            P = np.tile(average, (N, 1))
            centre, spread = P @ centre, P @ spread @ P.T
    return np.array(rows)


@pytest.mark.share(2)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_of_clients_with_unequal_hessians_the_quantities_are_those_of_the_recursion_by_hand(quantity):
    given = quadratics(clients=3, features=2, longest=12)
    theorem = record(lambda *, e0, distance2, zeta2, T: e0 + distance2 + zeta2 + T)
    object.__setattr__(theorem, "quantity", quantity_of(quantity))
    family = measured_family(given, theorem, LocalSGD(period=3))
    values = family.draw(6, seed=1) | {"sigma2": np.array([0.0, 1, 2, 0.5, 3, 1]), "far": np.ones(6)}
    values["along"] = np.zeros(6)  # the noise by hand is isotropic
    found = family.evidence(values)
    seen = of_mean_loss(given)
    at = {"eta": found.arguments["eta"]}
    for row, problem in enumerate(instances(seen.build.many(values | at)[0], 6)):
        T, eta, sigma2 = int(found.arguments["T"][row]), float(at["eta"][row]), values["sigma2"][row]
        rows = by_hand(problem, eta, T, 3, sigma2)
        excess, distance, slope = rows[-1]
        averaged = rows[:T].mean(0)
        wanted = dict(zip(QUANTITIES, (excess, distance, slope, averaged[0], averaged[2])))[quantity]
        assert_allclose(found.measured[row], wanted, rtol=1e-9)
        assert_allclose([found.arguments[name][row] for name in ("e0", "distance2")], rows[0][:2], rtol=1e-9)
        H, m = (2 * problem.A).numpy(), problem.optimum.numpy()
        best = np.linalg.solve(H.sum(0), np.einsum("kde,ke->d", H, m))
        slopes = [H[k] @ (best - m[k]) for k in range(3)]
        assert_allclose(found.arguments["zeta2"][row], np.square(slopes).sum() / 3, rtol=1e-9)


# Local SGD with averages after every second step, on quadratics of curvatures in [mu, beta], eta <= 1/beta. With
# u = xbar - x*, g_k = grad R_k(x*), sum_k g_k = 0, two steps from a common model give
#     u+ = (1/N) sum_k (I - eta H_k)^2 u + (eta^2/N) sum_k H_k g_k + noise,
# where |(I - eta H_k)^2| <= (1 - eta mu)^2 and |(1/N) sum_k H_k g_k| = |(1/N) sum_k (H_k - (mu + beta)/2) g_k| is at
# most zeta (beta - mu)/2. The sum over rounds of eta^2 zeta (beta - mu)/2 (1 - eta mu)^(2 r) is the drift below; the
# noise is that of SGD with N samples a step. After an odd step u+ = (I - eta H) u + noise, which moves less.


def two_local_steps(drift, noise, *, eta, mu, beta, distance2, zeta2, sigma2, N, T):
    left = (1 - eta * mu) ** T
    bias = drift * (1 - left) * eta * (beta - mu) * zeta2**0.5 / (2 * mu * (2 - eta * mu))
    return (left * distance2**0.5 + bias) ** 2 + noise * eta * sigma2 / (N * mu * (2 - eta * mu))


@pytest.mark.share(2)
@pytest.mark.parametrize(("drift", "noise", "true"), [(1, 1, True), (0.5, 1, False), (1, 0.5, False)])
def test_the_drift_of_clients_that_differ_is_judged(drift, noise, true):
    family = quadratics(clients=2, features=1, longest=100)
    verdict = check(partial(two_local_steps, drift, noise), conditions=within, quantity="global_distance",
                    algorithm=LocalSGD(period=2), family=family)  # fmt: skip
    assert verdict.valid if true else verdict.outcome is Outcome.VIOLATED, str(verdict)
    if not true:
        assert verdict.counterexample is not None
        assert verdict.counterexample["margin"] > 0


@pytest.mark.share(2)
@pytest.mark.parametrize("kind", ["kink", "logistic", "ripple", "well"])
def test_e0_of_curves_is_that_of_the_mean_loss(kind):
    family = of_mean_loss(curves(kind, clients=3))
    values = Family(name="", domains=family.domains).draw(3, seed=2)
    for row in range(3):
        setting = family.setting({name: value[row] for name, value in values.items()})
        problem = setting.problem

        def loss(x, problem=problem):
            return float(problem.excess(torch.full((1, 3, 1), float(x), dtype=torch.float64)).mean())

        ends = problem.optimum.min().item(), problem.optimum.max().item()
        grid = np.linspace(*ends, 4001)
        start = grid[int(np.argmin([loss(x) for x in grid]))]
        near = (ends[1] - ends[0]) / 4000
        best = minimize_scalar(loss, bounds=(start - near, start + near), method="bounded", options={"xatol": 1e-12})
        assert_allclose(setting.arguments["e0"], loss(problem.start.mean()) - best.fun, rtol=1e-7, atol=1e-12)
        assert_allclose(setting.arguments["distance2"], (float(problem.start.mean()) - best.x) ** 2, rtol=1e-5)


def test_a_family_of_ones_own_is_seen_from_the_mean_loss_but_for_what_it_states():
    """R_1 = (x - 1)^2/2, R_2 = 3 (x + 1)^2/2: x* = -1/2, f(x*) = (9/8 + 3/8)/2 = 3/4, f(1) = 3, gradients +-3/2."""

    def build(values):
        problem = Quadratics.of([[[0.5]], [[1.5]]], [[-1.0], [1.0]], sigma2=1.0, start=[[2.0], [0.0]])
        return FamilyInstance(problem=problem, eta=0.1, iterations=1, arguments=values)

    family = of_mean_loss(ProblemFamily(name="two", domains={"b": Domain(low=0, high=1)}, build=build))
    found = family.setting({"b": 0.5}).arguments
    assert_allclose([found[name] for name in ("e0", "distance2", "zeta2", "b")], [2.25, 2.25, 2.25, 0.5], rtol=1e-12)
    assert family.setting({"e0": 7.0}).arguments["e0"] == 7.0


def test_names_that_mean_nothing_are_refused():
    for names, said in (({"K": "period"}, "names = 'K': no function has this keyword"),
                        ({"e0": 3}, "names.*: say what your own keywords mean"),
                        ("eta", "names = 'eta': say what"), ({"e0": "nothing"}, "parameter = 'nothing'")):  # fmt: skip
        with pytest.raises(InputError, match=said):
            check(lambda *, e0: e0, names=names)


def test_a_keyword_with_a_value_of_its_own_is_a_constant():
    """By default argument, by partial and as a fraction; what the family gives is the family's."""

    def bound(*, eta, mu, e0, sigma2, T, beta, share=Fraction(1, 2), sigma=3.0):
        return (1 - eta * mu) ** (2 * T) * e0 + share * eta * beta * sigma2 / mu * sigma / 3

    assert check(bound, conditions=within).outcome is Outcome.HOLDS  # its variants were read from a formula
    assert check(partial(bound, share=Fraction(1, 3)), conditions=within).outcome is Outcome.VIOLATED

    def given(*, e0=-1.0, sigma2=-1.0):
        return 1e9 * (e0 + sigma2 + 1) if e0 >= 0 and sigma2 >= 0 else -1.0

    assert check(given, conditions=within, family=quadratics(longest=3)).valid
