"""Verdicts on one's own bound: right ones hold, wrong ones come with a small counterexample at 50 digits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bounds import Binary, InputError
from bounds.elementary import fall, survive
from simulate import AllForOne, FixedWeights, Local
from verify import Outcome, check
from verify.check import measured_family, record
from verify.families import quadratics
from verify.search import search


def limit(*, eta, beta):
    return {"step size eta <= 1/beta": (eta, 1 / beta)}


def right(*, eta, mu, beta, e0, sigma2, T):
    return survive(eta * mu, 2 * T) * e0 + eta * beta * sigma2 / (2 * mu) * fall(eta * mu, T)


def half_noise(*, eta, mu, beta, e0, sigma2, T):
    return survive(eta * mu, T) * e0 + eta * beta * sigma2 / (4 * mu) * fall(eta * mu, T)


def no_square(*, eta, mu, beta, e0, sigma2, T):
    return survive(eta * mu, 3 * T) * e0 + eta * beta * sigma2 / (2 * mu)


def test_a_right_bound_holds_with_every_wrong_variant_refuted():
    verdict = check(right, conditions=limit)
    assert verdict.holds, str(verdict)
    assert verdict.mutants >= 6
    assert verdict.worst_ratio > 1 - 1e-9  # attained at mu = beta, eta = 1/beta
    # what speaks against a check need not be a variant: all of these are refuted still
    apart = replace(verdict, survivors=("two routes differ: here", "proof step not certified: there"))
    assert apart.refuted == verdict.mutants == apart.to_dict()["refuted_mutants"]
    assert f"{verdict.mutants} of {verdict.mutants} mutants refuted" in str(apart)


@pytest.mark.parametrize("bound", [half_noise, no_square])
def test_a_wrong_bound_is_violated_with_a_simple_counterexample(bound):
    verdict = check(bound, conditions=limit)
    assert verdict.outcome is Outcome.VIOLATED
    found = verdict.counterexample
    assert found is not None
    assert found["margin"] > 0
    assert found["margin"] == found["measured"] - found["bound"]
    values, point = found["values"], found["arguments"]
    assert values["T"] <= 2
    # by hand: one client, d = 2, Hessian diag(curvature), e_t = sum_a h_a x_a^2 / 2
    h, x = np.array(values["curvature"])[0], np.array(values["start"])
    second, noise = x**2, values["sigma2"] / 2
    for _ in range(int(values["T"])):
        second = (1 - point["eta"] * h) ** 2 * second + point["eta"] ** 2 * noise
    np.testing.assert_allclose(float(found["measured"]), (h * second).sum() / 2, rtol=1e-12)
    # few bits: every number is a short dyadic fraction
    for number in np.ravel([*h, *x, values["sigma2"]]):
        assert number * 2**20 == np.round(number * 2**20)


def test_ascent_finds_what_random_draws_miss():
    """Violated for eta beta > 0.999 alone, and there by 0.1 % at most."""

    def thin(*, eta, mu, beta, e0, sigma2, T):
        return survive(eta * mu, 2 * T) * e0 + 0.999 * eta * beta * sigma2 / (2 * mu) * fall(eta * mu, 2 * T)

    theorem = record(thin, limit)
    family = measured_family(quadratics(features=1), theorem)
    drawn = family.evidence(family.draw(200, seed=3))
    assert (drawn.ratio(theorem)[drawn.counted(theorem)] <= 1).all()
    found = search(theorem, family, draws=24, restarts=4, ascents=8, root=3)
    assert found.ratio(theorem)[found.counted(theorem)].max() > 1.0005


def test_without_its_condition_the_same_bound_is_violated():
    verdict = check(right, family=quadratics(steps=1.9))
    assert verdict.outcome is Outcome.VIOLATED


def test_a_bound_whose_conditions_nothing_meets_is_vacuous():
    verdict = check(right, conditions=lambda *, eta, beta: {"step size eta <= 0": (eta * beta, 0 * beta)})
    assert verdict.outcome is Outcome.VACUOUS


def test_other_linear_algorithms_and_clients():
    import torch

    weights = torch.full((3, 3), 1 / 3, dtype=torch.float64)

    def averaged(*, eta, mu, beta, e0, sigma2, T, N):
        return survive(eta * mu, T) * e0 + eta * beta * sigma2 / (2 * mu * N)

    family = quadratics(clients=3)

    def alike(values):
        same = {name: np.broadcast_to(np.asarray(values[name])[:1], (3, 2)) for name in ("curvature", "minimiser")}
        return family.build({**values, **same})

    same = type(family)(name="identical clients", domains=family.domains, build=alike, sharp=family.sharp)
    verdict = check(averaged, conditions=limit, algorithm=FixedWeights(alpha=weights), family=same)
    assert verdict.outcome in (Outcome.HOLDS, Outcome.WEAK), str(verdict)
    np.testing.assert_allclose(verdict.worst_ratio, 1, rtol=1e-9)
    verdict = check(averaged, conditions=limit, algorithm=Local(), family=same)
    assert verdict.outcome is Outcome.VIOLATED  # alone, the noise is not divided by N
    assert verdict.worst_ratio > 2.9


@pytest.mark.parametrize("longest", [1, 3, 40])
def test_sharp_instances_stay_within_the_familys_domains(longest):
    family = quadratics(longest=longest)
    assert family.sharp is not None
    for name, values in family.sharp().items():
        domain = family.domains[name]
        assert ((values >= domain.low) & (values <= domain.high)).all(), name


def test_requests_that_cannot_be_checked_are_named():
    with pytest.raises(InputError, match="algorithm = 'all-for-one'"):
        check(right, algorithm=AllForOne(criterion=Binary(threshold=0.5)))
    with pytest.raises(InputError, match="quantity = 'gradient'"):
        check(right, quantity="gradient")
    with pytest.raises(InputError, match="client = 1: the family 1 quadratics in R\\^2 has clients 0 to 0"):
        check(right, client=1)
    with pytest.raises(InputError, match="client = -1"):
        check(right, client=-1)
    with pytest.raises(InputError, match="longest = 0"):
        quadratics(longest=0)
    with pytest.raises(InputError, match="effort = 'heroic'"):
        check(right, effort="heroic")
    with pytest.raises(InputError, match="parameter = 'colour'"):
        check(lambda *, eta, colour: eta * colour)
    with pytest.raises(InputError, match="parameter = 'share'"):
        check(lambda *, eta, share: eta * share)
