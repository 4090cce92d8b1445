"""Families of few instances are tried whole, and no instance is certified twice."""

from __future__ import annotations

import numpy as np

import suffice as sf
from suffice.simulate import Quadratics
from suffice.verification import Domain, Outcome, sampled_check
from suffice.verification.families import FamilyInstance, ProblemFamily


def family(sigma2: Domain) -> ProblemFamily:
    """R = x^2/2 from x = 1 in steps of 1/4, by the number of steps and the variance of the noise."""

    def build(values):
        problem = Quadratics.of([[[0.5]]], [[0.0]], sigma2=float(values["sigma2"]), start=[[1.0]])
        return FamilyInstance(problem=problem, eta=0.25, iterations=int(values["T"]))

    domains = {"T": Domain(low=1, high=20, integer=True), "sigma2": sigma2}
    return ProblemFamily(name="a few", domains=domains, build=build)


def expected(*, eta, e0, sigma2, T):
    """(1 - eta)^{2T} e0 + (eta sigma2 / 2) (1 - (1 - eta)^{2T}) / (2 - eta), attained."""
    left = (1 - eta) ** (2 * T)
    return left * e0 + eta * sigma2 / 2 * (1 - left) / (2 - eta)


def lower_at(place: int):
    """A tenth lower at one instance."""

    def bound(*, eta, e0, sigma2, T):
        return expected(eta=eta, e0=e0, sigma2=sigma2, T=T) * (1 - 0.1 * (place == T) * (abs(sigma2 - 4) < 0.5))

    return bound


def test_a_bound_that_is_false_at_one_of_two_hundred_instances_is_violated():
    few = family(Domain(low=0, high=9, integer=True))
    verdict = sf.check(expected, family=few)
    assert verdict.valid
    assert verdict.instances == 200
    for T in (1, 13):
        assert sf.check(lower_at(T), family=few).outcome is Outcome.VIOLATED, T


def test_the_instances_that_are_certified_differ(monkeypatch):
    certified = []
    on_paths = sampled_check._on_paths

    def recorded(theorem, measure, values, most):
        certified.append((most, *(float(np.ravel(value)[0]) for value in values.values())))
        return on_paths(theorem, measure, values, 64)

    monkeypatch.setattr(sampled_check, "_on_paths", recorded)
    sf.check(
        lambda *, e0, sigma2, eps: e0 + sigma2 + 0 * eps, quantity="stopped_excess",
        family=family(Domain(low=1, high=2)),
    )  # fmt: skip
    assert len(certified) == len(set(certified)) >= 12
