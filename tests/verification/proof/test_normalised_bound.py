"""The formula of a proof is the function that was given, and what it is found to violate exists."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import suffice as sf
from suffice.bounds.elementary import quotient
from suffice.simulate import Local
from suffice.verification.check import record
from suffice.verification.proof import normalised_bound
from suffice.verification.proof.domain import domain_of
from suffice.verification.proof.normalised_bound import NotOfThisKind, normalised, symbols
from suffice.verification.proof.refute import check_agreement, value_at

from .test_prove import limit, proof

SPELLINGS = {
    "root of a square": lambda x, n: math.sqrt(1 - 2 * x + x**2) ** n,
    "half of T": lambda x, n: (1 - 2 * x + x**2) ** (n / 2),
    "square": lambda x, n: (1 - 2 * x + x**2) ** n,
    "fourth power": lambda x, n: ((1 - 2 * x + x**2) ** 2) ** (n / 4),
    "absolute value": lambda x, n: abs(1 - x) ** n,
    "the other sign": lambda x, n: (x**2 - 2 * x + 1) ** (n / 2),
    "a root outside": lambda x, n: math.sqrt((1 - x) ** 2) ** n,
}


def spelled(name, share=1.0, power=1, floor=1.0):
    rate = SPELLINGS[name]

    def bound(*, eta, mu, beta, e0, sigma2, T):
        return share * rate(eta * mu, power * T) * e0 + floor * eta * beta * sigma2 / (2 * mu)

    return bound


def up_to(steps):
    return lambda *, eta, beta: {"step": (eta, steps / beta)}


@pytest.mark.share(2)
@pytest.mark.parametrize("name", SPELLINGS)
def test_a_power_is_read_as_what_the_function_gives_however_it_is_written(name):
    rng = np.random.default_rng(3)
    for _ in range(6):
        share, power = float(rng.integers(1, 8)) / 4, int(rng.integers(1, 4))
        bound = spelled(name, share=share, power=power)
        try:
            found = normalised(record(bound), "excess", {})
        except NotOfThisKind:
            continue
        s, k = (Fraction(int(n), 16) for n in (rng.integers(1, 40), rng.integers(1, 17)))
        x = {symbols()["s"]: s, symbols()["k"]: k}
        q = value_at(found.q, x)
        if found.absolute and q < 0:  # nothing is said there
            continue
        T = int(rng.integers(0, 9))
        start = value_at(found.start, {**x, symbols()["h"]: k, found.z: q**T})
        own = bound(eta=float(s), mu=float(k), beta=1.0, e0=float(k) / 2, sigma2=0.0, T=T)
        np.testing.assert_allclose(float(start), own, rtol=1e-12, atol=1e-14)  # a few roundings of numbers up to 1


FEW = ("root of a square", "absolute value")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in FEW else pytest.mark.slow) for n in SPELLINGS])
def test_a_true_rate_is_never_violated_however_it_is_written(name):
    found = proof(spelled(name))
    assert found.outcome == "proved", found
    if name != "square":  # beyond 1/mu the base is negative, and a root of its square another function
        beyond = proof(spelled(name), up_to(2))
        assert beyond.outcome == "not of this kind"
        assert "its sign changes" in beyond.says


def test_a_reading_that_is_not_the_function_is_refused(monkeypatch):
    """As it was read before: the base of the square without its sign."""
    root = normalised_bound._root
    monkeypatch.setattr(normalised_bound, "_root", lambda base: (-root(base)[0], root(base)[1]))
    monkeypatch.setattr("suffice.verification.proof.prove._check_sign", lambda *given: None)
    for name in ("root of a square", "half of T"):
        found = proof(spelled(name))
        assert found.outcome == "not of this kind"
        assert "the formula read from the bound is" in found.says


def test_where_a_formula_and_its_function_differ_at_an_end_alone_it_is_refused():
    def without_noise(*, eta, mu, beta, e0, sigma2, T):
        return (1 - eta * mu) ** T * e0 * quotient(sigma2, sigma2) + eta * beta * sigma2 / (2 * mu)

    def at_once(*, eta, e0, T):
        return 2 * e0 * (0 * eta) ** T  # 2 e0 at T = 0, and 0 of a positive T

    assert "where it is itself 0" in proof(without_noise).says
    assert "where it is itself" in proof(at_once, direction="lower").says


def rate(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (2 * mu)


@pytest.mark.share(2)
@pytest.mark.parametrize(("least", "most"), [(40, 40), (1001, 2000), (0, 0), (5, 5)])
def test_a_function_that_is_another_at_some_T_is_not_the_formula(least, most):
    theorem = record(rate)
    symbolic = normalised(theorem, "excess", {})
    domain = domain_of(symbolic, {}, None)
    check_agreement(theorem, symbolic, domain, {})

    def elsewhere(*, eta, mu, beta, e0, sigma2, T):
        return (1 + (least <= T <= most)) * rate(eta=eta, mu=mu, beta=beta, e0=e0, sigma2=sigma2, T=T)

    other = replace(theorem, bound=elsewhere)
    with pytest.raises(NotOfThisKind, match="the formula read from the bound is"):
        check_agreement(other, symbolic, domain, {})


def test_conditions_that_decide_are_not_read():
    def limits(*, eta, mu, beta):
        return {"step": (eta, (2 if mu == 0.3 * beta else 1) / beta)}

    found = proof(rate, limits)
    assert found.outcome == "not of this kind"
    assert "from the conditions (it compares values" in found.says


def test_a_function_that_decides_is_checked_by_numbers_and_not_proved():
    def odd(*, eta, mu, beta, e0, sigma2, T):
        if T == 7777:
            return 0 * e0
        return (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (2 * mu)

    family = sf.families.quadratics(features=1, longest=20)
    verdict = sf.check(odd, conditions=limit, family=family, prove=True)
    assert verdict.valid
    assert verdict.instances > 100
    assert verdict.proof.outcome == "not of this kind"
    assert "it compares values (line" in verdict.proof.says
    assert "it compares values (line" in verdict.variants.opaque


@pytest.mark.slow
def test_a_violation_has_the_dimensions_that_its_curvatures_need():
    """Bounds that change with d, drawn, and the instance of each violation built and measured."""
    rng, seen = np.random.default_rng(0), set()
    for _ in range(6):
        a, b, steps = rng.integers(2, 5), rng.integers(0, 3) / 2, 1 + rng.integers(0, 3) / 4
        direction = ("upper", "lower")[int(rng.integers(2))]

        given = drawn(float(a), float(b), direction)
        found = proof(given, up_to(float(steps)), direction=direction)
        if found.outcome != "violated":
            continue
        (claim,) = (one["claim"] for one in found.certificates)
        k, h = Fraction(claim["at"]["k"]), Fraction(claim["at"]["h"])
        arguments = found.counterexample["arguments"]
        d, T = int(arguments["d"]), int(arguments["T"])
        assert 1 / Fraction(claim["at"]["v"]) == d >= len({k, h, 1})
        spectrum = [float(h), *sorted({1.0, float(k)} - {float(h)}), *[1.0] * d][:d]
        noisy = arguments["sigma2"] > 0
        problem = sf.Quadratics.of(
            np.diag(spectrum)[None] / 2, np.zeros((1, d)), covariance=noisy * np.diag(np.eye(d)[0])[None],
            start=(not noisy) * np.eye(d)[:1],
        )  # fmt: skip
        measured = float(sf.expected_excess(problem, Local(), iterations=T, eta=arguments["eta"]).ravel()[-1])
        value = given(**arguments)
        assert measured > value if direction == "upper" else measured < value
        np.testing.assert_allclose(min(spectrum), float(k))
        seen.add((direction, d))
    assert {direction for direction, _ in seen} == {"upper", "lower"}
    assert max(d for _, d in seen) > 1


def drawn(a, b, direction):
    def upper(*, eta, mu, beta, e0, sigma2, T, d):
        return (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (2 * mu) * a / (a + d)

    def lower(*, eta, mu, beta, e0, sigma2, T, d):
        return (a - b * d) * (1 - eta * beta) ** (2 * T) * e0 + 0 * mu * sigma2

    return upper if direction == "upper" else lower


def test_one_dimension_has_one_curvature():
    """What is false where d > 1 is not violated at d = 1, nor what is false at d = 1 alone where mu < beta."""

    def below(*, eta, beta, e0, T, d):
        return (2 - d) * (1 - eta * beta) ** (2 * T) * e0

    def flat(*, eta, mu, e0, T):
        return (1 - eta * mu) ** (2 * T) * e0

    def one(*, eta, beta, d):
        return {"step": (eta, 1 / beta), "one dimension": (d, 1)}

    assert proof(below, up_to(1.2), direction="lower").outcome != "violated"
    assert proof(flat, limit, direction="lower").outcome == "violated"
    assert proof(flat, one, direction="lower").outcome != "violated"
