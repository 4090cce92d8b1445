"""Control variates of 1/eta: what probing a step rounds away makes no violation of a bound that is true."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch

from suffice.simulate import Algorithm, Local, Quadratics
from suffice.simulate.algorithms import Scaffnew, Scaffold
from suffice.simulate.moment_powers import ONE_STEP, Block, Cycle
from suffice.simulate.quadratic_forms import forms
from suffice.verification import Outcome, check, high_precision
from suffice.verification.exact_arithmetic import BITS, ExactTensors
from suffice.verification.families import quadratics

pytestmark = pytest.mark.usefixtures("brief")


@pytest.fixture
def exactly(brief, monkeypatch):
    monkeypatch.setattr(high_precision, "_MOST_EXACT", 1e6)


# E|xbar_T - x*|^2 of Scaffnew (Mishchenko et al. 2022, Theorem 3.6, of the mean by convexity), gain min(eta mu, p^2),
# and the control variates' distance eta^2/p^2 times the mean of |grad f_i(x*)|^2.
def proxskip(p):
    def bound(*, eta, mu, distance2, T, sigma2, zeta2):
        gain = min(eta * mu, p * p)
        return (1 - gain) ** T * (distance2 + eta**2 / p**2 * zeta2) + eta**2 * sigma2 / gain

    return bound


@pytest.mark.parametrize(
    ("p", "clients", "features", "identical"),
    [(0.7, 2, 1, True), (0.3, 2, 2, False), (0.3, 3, 1, False),
     *(pytest.param(*each, marks=pytest.mark.slow)
       for each in ((0.3, 2, 1, False), (0.5, 3, 2, True), (0.7, 3, 2, True)))],
)  # fmt: skip
def test_the_linear_rate_of_control_variates_is_not_refuted_by_rounding(p, clients, features, identical):
    verdict = check(
        proxskip(p), conditions=lambda *, eta, beta: {"step": (eta, 1 / beta)}, quantity="global_distance",
        algorithm=Scaffnew(p=p), family=quadratics(clients=clients, features=features, identical=identical),
    )  # fmt: skip
    assert verdict.valid, str(verdict)


# One loss of curvature h: control variates stay 0 and the step is that of gradient descent.
def alone(h, eta, sigma2, far, T):
    with mpmath.workdps(60):
        q = (1 - mpmath.mpf(eta) * mpmath.mpf(h)) ** 2
        return mpmath.mpf(h) / 2 * (q**T * far**2 + mpmath.mpf(eta) ** 2 * mpmath.mpf(sigma2) * (1 - q**T) / (1 - q))


def one(h, sigma2, far, minimiser):
    problem = Quadratics.of([[[h / 2]]], [[-minimiser]], sigma2=sigma2, start=[[minimiser + far]])
    left = Fraction(minimiser + far) - Fraction(minimiser)  # what is left of it in floats
    with mpmath.workdps(60):
        return problem, mpmath.mpf(left.numerator) / left.denominator


EVERY_SECOND = Cycle(blocks=(Block(iterations=(1,)), Block(iterations=(2,))))


@pytest.mark.share(5)
@pytest.mark.usefixtures("exactly")
@pytest.mark.parametrize(("algorithm", "cycle"), [
    (Local(), ONE_STEP), (Scaffnew(p=1.0), ONE_STEP), (Scaffnew(p=0.3), ONE_STEP), (Scaffnew(p=0.02), ONE_STEP),
    (Scaffold(period=2), EVERY_SECOND), (Scaffold(period=1), ONE_STEP),
])  # fmt: skip
@pytest.mark.parametrize(("eta", "T"), [(1.65e-4, 4997), (0.3, 200), (0.9, 41)])
def test_as_many_digits_are_good_as_are_said(algorithm, cycle, eta, T):
    for h, sigma2, far, minimiser in ((1.0, 1.0, 1.0, 0.3), (1.0, 0.0, 2.0**-20, 1.7), (0.37, 1e-4, 3.0, -0.1)):
        problem, distance = one(h, sigma2, far, minimiser)
        value, good = high_precision.measured(
            problem, algorithm, iterations=T, eta=eta, client=0, cycle=cycle, form=forms()["excess"]
        )
        exact = alone(h, eta, sigma2, distance, T)
        assert abs(value - exact) <= mpmath.mpf(10) ** (1 - good) * exact, (h, sigma2, good)
        assert good == (50 if isinstance(algorithm, Local) else 15)


# Two clients of curvatures g and h that communicate by a coin, written out: delta_i, the control variates and 1.
def by_hand(p, eta, h, minimiser, start, T):
    mp = mpmath.mpf
    best = sum(mp(a) * mp(m) for a, m in zip(h, minimiser)) / sum(map(mp, h))
    x, c = mpmath.matrix([mp(start) - best] * 2), mpmath.matrix(2, 1)
    z = mpmath.matrix([x[0], x[1], c[0], c[1], 1])
    M = z * z.T
    local = mpmath.eye(5)
    for i in (0, 1):
        local[i, i] = 1 - mp(eta) * mp(h[i])
        local[i, 2 + i] = mp(eta)
        local[i, 4] = -mp(eta) * mp(h[i]) * (best - mp(minimiser[i]))
    meet = mpmath.eye(5)
    for i, k in ((0, 1), (1, 0)):
        meet[i, i] = meet[i, k] = mp(0.5)
        meet[2 + i, i], meet[2 + i, k] = -mp(p) / mp(eta) / 2, mp(p) / mp(eta) / 2
    for _ in range(T):
        moved = local * M * local.T
        M = mp(p) * (meet * moved * meet.T) + (1 - mp(p)) * moved
    return (M[0, 0] + 2 * M[0, 1] + M[1, 1]) / 4


@pytest.mark.share(2)
@pytest.mark.usefixtures("exactly")
@pytest.mark.parametrize(("p", "eta", "T"), [(0.7, 1e-4, 150), (0.5, 0.25, 150), (0.3, 0.9, 400)])
def test_clients_that_differ_are_measured_as_by_hand(p, eta, T):
    h, minimiser = (1.0, 0.5), (0.4, -1.1)
    with mpmath.workdps(60):
        problem = Quadratics.of([[[0.5]], [[0.25]]], [[-0.4], [1.1]], sigma2=0.0, start=[2.0])
        exact = by_hand(p, eta, h, minimiser, 2.0, T)
        # the mean's minimiser comes from a solver, in floats: of an excess of their size no digit is good
        value, good = high_precision.measured(
            problem, Scaffnew(p=p), iterations=T, eta=eta, client=0, cycle=ONE_STEP, form=forms()["global_distance"]
        )
        assert abs(value - exact) <= mpmath.mpf(10) ** (1 - good) * value
        assert good >= (13 if exact > 1e-6 else 0)


class Rooted(Algorithm):
    """Its step takes eta as the square of a root, less 1e9 and more: few digits are left."""

    name, linear = "rooted", True

    def init(self, problem, models):
        return {"models": models}

    def step(self, problem, state, draw, eta):
        step = (eta.sqrt() + 1e9) - 1e9
        return {"models": state["models"] - step**2 * problem.stochastic_gradient(state["models"], None, draw.noise)}


def test_no_digit_is_said_that_floats_do_not_have():
    problem, _ = one(1.0, 1.0, 1.0, 0.3)
    given = {"iterations": 5, "client": 0, "cycle": ONE_STEP}
    value, good = high_precision.measured(problem, Rooted(), eta=0.1, **given)
    exact = alone(1.0, float((torch.tensor(0.1).double().sqrt() + 1e9 - 1e9) ** 2), 1.0, 1.0, 5)
    assert 5 <= high_precision.measured(problem, Rooted(), eta=0.25, **given)[1] <= 15
    assert abs(value - exact) < 1e-4 * exact
    assert good >= 12  # the root is rounded, and the sum after it is exact beside it


def test_tensors_in_place_and_seen_twice_are_exact():
    third = torch.tensor(3.0, dtype=torch.float64).reciprocal()
    with ExactTensors() as exact:
        x = torch.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=torch.float64)
        y = x / 3
        y[0] -= y[1].flip(0)
        y[:, 1].mul_(3)
        z = torch.where(y > 0, y, torch.zeros_like(y)).sum(0)
        whole = [int(round(3 * each / 2**BITS, 6)) for each in exact.shadow(torch.stack((z[0], z[1], third)))]
    assert float(y[0, 0]) < 0
    assert whole == [3, 15, 1]
    assert exact.rounded == 0


@pytest.mark.parametrize("p", [0.13, pytest.param(1.0, marks=pytest.mark.slow)])
def test_an_exact_bound_at_small_steps_is_not_violated(p):
    def exact(share):
        def bound(*, eta, mu, e0, sigma2, T):
            kept = np.exp(2 * T * np.log1p(-eta * mu))
            return share * (kept * e0 + eta * sigma2 * (1 - kept) / (2 * (2 - eta * mu)))

        return bound

    one_curvature = {"algorithm": Scaffnew(p=p), "family": quadratics(features=1, longest=5000),
                     "conditions": lambda *, eta, mu: {"step": (eta * mu, 0.5)}}  # fmt: skip
    assert check(exact(1 + 1e-9), **one_curvature).outcome is not Outcome.VIOLATED
    assert check(exact(0.999), **one_curvature).outcome is Outcome.VIOLATED


@pytest.mark.slow
def test_a_number_without_a_good_digit_speaks_against_no_lower_bound():
    verdict = check(
        lambda *, eta, beta, e0, T: (1 - eta * beta) ** (2 * T) * e0, direction="lower", algorithm=Scaffnew(p=0.5),
        conditions=lambda *, eta, beta: {"step": (eta, 1 / beta)},
    )  # fmt: skip
    assert verdict.valid, str(verdict)
