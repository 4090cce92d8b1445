"""The Bayes risk R(u) = E(1 - tanh(uT))^2, T ~ N(u, 1), and its inverse: values, safe side, any precision."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy
from scipy.integrate import quad

from suffice.bounds.bayes_risk import inverse_risk, risk
from suffice.bounds.theorems.sample_optimal.lower_bound import HALF


def by_definition(u):
    def integrand(t):
        return (1 - np.tanh(u * t)) ** 2 * np.exp(-((t - u) ** 2) / 2) / np.sqrt(2 * np.pi)

    return quad(integrand, min(u - 12, -12), u + 12, points=[0, u], epsabs=0, epsrel=1e-12, limit=400)[0]


@pytest.mark.parametrize("u", [0.0, 1e-3, 0.2, 0.7, 1.0, 1.9, 3.0])
def test_risk_is_the_integral_that_defines_it(u):
    np.testing.assert_allclose(risk(u), by_definition(u), rtol=1e-11)  # the quadrature's own tolerance


@pytest.mark.parametrize("u", ["0.3", "1", "4"])
def test_fifty_digits_are_those_of_mpmaths_quadrature(u):
    with mpmath.workdps(50):
        u = mpmath.mpf(u)
        integral = mpmath.quad(lambda z: mpmath.exp(-(z**2) / 2) * mpmath.sech(u * z), [0, 4, mpmath.inf])
        known = mpmath.exp(-(u**2) / 2) * integral * 2 / mpmath.sqrt(2 * mpmath.pi)
        assert abs(risk(u) / known - 1) < mpmath.mpf(10) ** -48


def test_floats_are_below_the_truth_and_close():
    rng = np.random.default_rng(3)
    u = np.exp(rng.uniform(-6, 2, 200))
    rho = np.concatenate([1 - 10.0 ** rng.uniform(-3, -0.3, 100), 10.0 ** rng.uniform(-200, -0.3, 100)])
    with mpmath.workdps(25):
        for function, points in ((risk, u), (inverse_risk, rho)):
            for x, got in zip(points, function(points)):
                exact = function(mpmath.mpf(float(x)))
                # a nudge of sixteen roundings: u^2/2 < 30 times it for the risk, over 1 - rho > 1e-3 for the inverse
                assert 0 < exact - mpmath.mpf(float(got)) <= 4e-12 * exact


def test_the_inverse_is_one_at_any_precision():
    for count in (15, 50, 120):
        with mpmath.workdps(count):
            for rho in (mpmath.mpf(10) ** -400, mpmath.mpf(1) / 7, mpmath.mpf(1) / 2, 1 - mpmath.mpf(10) ** -9):
                u = inverse_risk(rho)
                # ln R falls by at most 2u du: a relative error of u costs u^2 times two of it
                assert abs(risk(u) / rho - 1) <= (u**2 + 1) * mpmath.mpf(10) ** (2 - count)


def test_outside_its_range_the_inverse_asks_for_nothing_or_everything():
    np.testing.assert_array_equal(inverse_risk(np.array([1.0, 3.0, 0.0])), [0, 0, np.inf])
    assert inverse_risk(mpmath.mpf(2)) == risk(np.inf) == 0


def test_the_constant_of_theorem_1_is_the_largest_float_below_the_square_at_which_the_risk_is_a_half():
    with mpmath.workdps(60):
        half = mpmath.mpf(1) / 2
        assert risk(mpmath.sqrt(mpmath.mpf(HALF))) > half > risk(mpmath.sqrt(mpmath.mpf(np.nextafter(HALF, 1).item())))
        assert mpmath.nstr(inverse_risk(half) ** 2, 20) == "0.85084443761416079316"


def test_sympy_keeps_both_as_functions_with_values_and_a_name():
    x = sympy.Symbol("x", positive=True)
    expression = 3 * inverse_risk(x) ** 2 + risk(x)
    assert sympy.latex(inverse_risk(x) ** 2) == r"R^{-1}\left(x\right)^{2}"
    assert sympy.latex(risk(x)) == r"R\left(x\right)"
    value = expression.subs(x, sympy.Rational(1, 3)).evalf(40)
    with mpmath.workdps(50):
        third = mpmath.mpf(1) / 3
        assert abs(mpmath.mpf(str(value)) - (3 * inverse_risk(third) ** 2 + risk(third))) < mpmath.mpf(10) ** -38
    numeric = sympy.lambdify([x], expression, "numpy")(np.array([0.2, 0.5]))
    np.testing.assert_allclose(numeric, [3 * inverse_risk(r) ** 2 + risk(r) for r in (0.2, 0.5)], rtol=1e-15)
