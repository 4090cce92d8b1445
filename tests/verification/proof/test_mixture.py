"""`check(..., prove=True)` of fixed weights on clients that differ in their minimisers: start, noise and a bias."""

import json

import numpy as np
import pytest

import suffice as sf
from suffice.simulate import Local
from suffice.simulate.moment_powers import ONE_STEP, MomentPowers
from suffice.verification import Domain, recheck
from suffice.verification.families import FamilyInstance, ProblemFamily

from . import test_prove
from .test_prove import limit

WEIGHTS = np.array([[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.25, 0.25, 0.5]])
MIXED = sf.FixedWeights(alpha=WEIGHTS)


def clients(weights=WEIGHTS, *, apart=1.0, curvatures=(1.0, 1.0, 1.0), d=2, scalars=None):
    """Three clients with one Hessian, up to factors `curvatures`, and their scalars of the bias."""

    def build(values):
        H, m = np.diag(values["curvature"][:d]), apart * values["minimiser"][:, :d]
        problem = sf.Quadratics.of(
            np.array([factor * H / 2 for factor in curvatures]), -m, sigma2=float(values["sigma2"]),
            start=values["start"][:d],
        )  # fmt: skip
        given = {"bias": float(np.linalg.norm(H @ (weights[0] @ m - m[0]))), "lambda2": float((weights[0] ** 2).sum())}
        apart_by = np.linalg.norm((m - m[0]) @ H, axis=1)
        given |= {"b": float(weights[0] @ apart_by), "bias2": given["bias"] ** 2} | (scalars or {})
        return FamilyInstance(
            problem=problem, eta=values["step"] / H.max(), iterations=int(values["T"]), arguments=given
        )

    return ProblemFamily(
        name="three clients of one Hessian",
        build=build,
        domains={
            "curvature": Domain(low=0.1, high=4, log=True, shape=(2,)),
            "minimiser": Domain(low=-1, high=1, shape=(3, 2)),
            "start": Domain(low=-4, high=4, shape=(2,)), "sigma2": Domain(low=0, high=10, zero=0.2),
            "step": Domain(low=0.03, high=1, log=True), "T": Domain(low=1, high=30, integer=True),
        },
    )  # fmt: skip


def mixed(start=1.0, bias2=1.0, noise=1.0, power=1, floor=False, squared=False):
    """start (1 - eta mu)^(power T) e0 and what bias and noise add up to, in the end (`floor`) or until T."""

    def at_bias(*, eta, mu, beta, e0, sigma2, bias, lambda2, T):
        left = (1 - eta * mu) ** T
        level = (bias2 * bias**2 + noise * eta * beta * sigma2 * lambda2) / (2 * mu)
        return start * left**power * e0 + level * (1 if floor else 1 - left)

    def at_square(*, eta, mu, beta, e0, sigma2, bias2, lambda2, T):
        given = {"eta": eta, "mu": mu, "beta": beta, "e0": e0, "sigma2": sigma2, "lambda2": lambda2, "T": T}
        return at_bias(bias=bias2**0.5, **given)

    return at_square if squared else at_bias


biased = mixed()


def dissimilar(*, eta, mu, beta, e0, sigma2, b, T):
    left = (1 - eta * mu) ** T
    return left * e0 + b**2 / (2 * mu) + eta * beta * sigma2 / (2 * mu)


def distance(*, eta, mu, beta, distance2, sigma2, bias, T):
    left = (1 - eta * mu) ** T
    return left * distance2 + (1 - left) * (bias**2 / mu**2 + eta * sigma2 / mu)


LONG = [
    pytest.param(bound, "EXCESS", marks=pytest.mark.slow)
    for bound in (dissimilar, mixed(start=2, bias2=2, power=2, floor=True))
]


def proof(bound, family=None, algorithm=MIXED, **more):
    return test_prove.proof(bound, algorithm=algorithm, family=family or clients(), **more)


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("bound", "quantity"),
    [(biased, "EXCESS"), (distance, "LAST_DISTANCE"), (mixed(squared=True), "EXCESS"), *LONG],
)
def test_a_true_bound_with_a_bias_is_proved_and_rechecked(bound, quantity):
    found = proof(bound, quantity=quantity)
    assert found.outcome == "proved", found
    assert found.slack == 0
    assert found.seconds < 10
    assert "N = 3, one Hessian" in found.says
    # the convexity, the start, the noise and the bias
    assert len(found.certificates) >= 4
    assert not any(recheck.refusal(json.loads(json.dumps(one))) for one in found.certificates)


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (mixed(bias2=0.99), "a start at the mixture's minimiser"),
        (mixed(noise=0.99), "noise from the minimiser"),
        pytest.param(mixed(power=2), "a start at the mixture's minimiser", marks=pytest.mark.slow),
    ],
)
def test_a_bound_that_is_a_hundredth_too_small_is_violated_with_an_exact_T(bound, words):
    found = proof(bound)
    assert found.outcome == "violated", found
    assert words in found.says
    assert [recheck.refusal(json.loads(json.dumps(one))) for one in found.certificates] == [""]
    # the engine of moments, in floats, at the same constants: clients 1 and 2 have one minimiser
    at, curvature = found.counterexample["arguments"], found.counterexample["values"]["curvature"]
    away = at["bias"] / curvature / 0.6
    H = np.diag([curvature, at["mu"], at["beta"]])
    m, sigma = np.zeros((3, 3)), np.zeros((3, 3))
    m[1:, 0], sigma[0, 0] = away, at["sigma2"]
    start = np.sqrt(2 * at["e0"] / curvature)
    problem = sf.Quadratics.of([H / 2] * 3, -m, covariance=[sigma] * 3, start=[start, 0, 0])
    measured = float(MomentPowers(problem, MIXED, eta=at["eta"], cycle=ONE_STEP).excess(int(at["T"]), 0)[0])
    assert measured == pytest.approx(float(found.counterexample["measured"]), rel=1e-12)
    assert measured > bound(**at) * (1 + 1e-6)


def test_a_scalar_above_the_bias_proves_but_violates_nothing():
    """b = sum_k lambda_k |grad R_k - grad R_0| is more than the bias where the others pull to different sides."""

    def small(*, eta, mu, beta, e0, sigma2, b, T):
        return dissimilar(eta=eta, mu=mu, beta=beta, e0=e0, sigma2=sigma2, b=0.9 * b, T=T)

    found = proof(small)
    assert found.outcome == "undecided"
    assert found.says.startswith("false beyond the family")


def test_without_a_difference_there_is_nothing_to_split():
    """The square of the rate holds, which the convex split would lose."""

    def plain(*, eta, mu, beta, e0, sigma2, lambda2, T):
        return (1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 * lambda2 / (2 * mu)

    found = proof(plain, clients(apart=0.0))
    assert found.outcome == "proved", found
    assert "one Hessian" not in found.says
    for apart in (1.0, 1e-11):  # small units are no missing bias
        assert "no scalar of the bias" in proof(plain, clients(apart=apart)).says


def test_plain_sgd_of_clients_that_differ_is_that_of_one():
    def alone(*, eta, mu, beta, e0, sigma2, T):
        return (1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu)

    assert proof(alone, clients(np.eye(3)), Local()).outcome == "proved"


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("family", "algorithm", "words"),
    [
        (clients(curvatures=(1.0, 0.5, 1.0)), MIXED, "differ in more than their minimisers"),
        (clients(scalars={"bias": 0.01}), MIXED, "bias of the family is less than the bias"),
        (clients(scalars={"lambda2": 0.5}), MIXED, "lambda2 is the family's own"),
        (clients(scalars={"sigma2": 100.0}), MIXED, "sigma2 is the family's own"),
        (clients(), sf.FixedWeights(alpha=1.1 * WEIGHTS), "weights that sum to 1"),
        (clients(), sf.FixedWeights(alpha=[[2**-0.5, 1 - 2**-0.5, 0], *WEIGHTS[1:]]), "denominator 10,000 at most"),
        (clients(), sf.algorithms.LocalSGD(period=1), "client 0 is to follow gradients mixed"),
    ],
)
def test_what_is_no_mixture_of_one_hessian_is_not_of_this_kind(family, algorithm, words):
    found = proof(biased, family, algorithm)
    assert (found.outcome, words in found.says) == ("not of this kind", True), found


@pytest.mark.slow
def test_check_says_it():
    verdict = sf.check(biased, conditions=limit, algorithm=MIXED, family=clients(), prove=True)
    assert verdict.valid
    assert verdict.proof.outcome == "proved"
    other = sf.check(biased, conditions=limit, algorithm=MIXED, family=clients(), client=1, prove=True)
    assert "client 0's step, not client 1's" in other.proof.says
    verdict = sf.check(mixed(bias2=0.99), conditions=limit, algorithm=MIXED, family=clients(), prove=True)
    assert verdict.outcome.value == "violated"
    assert verdict.proof.outcome == "violated"


def test_a_bias_that_lowers_the_bound_is_not_left_out():
    """Clients that are alike may still be given a scalar above their bias, 0."""

    def lower(*, eta, mu, beta, e0, sigma2, bias, T):
        return (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (2 * mu) - bias**2 / mu

    assert proof(lower, clients(apart=0.0, scalars={"bias": 1.0})).outcome == "undecided"
    with_none = test_prove.proof(lower)
    assert (with_none.outcome, with_none.says) == ("not of this kind", "a bias of clients that do not differ")


@pytest.mark.slow
def test_a_violation_that_needs_more_dimensions_than_the_family_has_is_none_of_it():
    """In one dimension mu = beta: there any spectrum is narrow."""

    def narrow(*, eta, mu, beta, e0, sigma2, bias, lambda2, T):
        left = (1 - eta * beta) ** T
        return left * e0 + (1 - left) * (bias**2 + eta * beta * sigma2 * lambda2) / (2 * beta)

    assert proof(narrow, clients(d=1)).says.startswith("false beyond the family")
    assert proof(narrow, clients(d=2)).outcome == "violated"
