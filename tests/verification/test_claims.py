"""Verdicts on theorems and simulators with planted faults, and what `verify` tells and refuses."""

from __future__ import annotations

import math
import threading
from dataclasses import replace

import numpy as np
import pytest

from suffice.bounds import InputError, evaluate, find
from suffice.simulate import Additive, Local, Quadratics, expected_excess, run
from suffice.verification import Claim, Outcome, verify
from suffice.verification.claims.adaptive.families import aligned
from suffice.verification.confidence_interval import log_evidence
from suffice.verification.instances.aligned_pair import Aligned, sharp_values
from suffice.verification.instances.quadratic_pairs import Pairs, measured

T2, RUNNING = "adaptive/theorem-2-constant", "adaptive/theorem-2-constant-running"


def pairs(arguments, measure, rounding=0.0):
    family = measured(arguments, measure, rounding=rounding)
    assert family.sharp is not None
    sharp = family.sharp()
    return lambda effort, root: [
        family.evidence(values) for values in (sharp, family.draw(20 * effort.instances, seed=root))
    ]


def theorem_2(effort, root):
    family = aligned(Aligned.excess, sharp_values)
    return [family.evidence(values) for values in (sharp_values(), family.draw(24, seed=root))]


def planted(key: str, bound) -> object:
    return replace(find(key), bound=bound)


def shrinking(eta, mu, beta, e0, s2, T):
    """The library's Theorem 2, written anew."""
    return (1 - eta * mu) ** T * e0 + eta * beta * s2 / (2 * mu) * (1 - (1 - eta * mu) ** T)


P1 = pairs(Pairs.property_1, Pairs.gap)


@pytest.mark.parametrize(
    ("superfluous", "outcome"),
    [
        (lambda eta, mu, beta, s2: 0, Outcome.HOLDS),
        (lambda eta, mu, beta, s2: eta**2 * beta * s2, Outcome.WEAK),
        (lambda eta, mu, beta, s2: eta * s2, Outcome.WEAK),
    ],
)
def test_a_true_bound_with_a_superfluous_term_is_weak(superfluous, outcome):
    def bound(eta, mu, beta, e0, s2, T):
        return shrinking(eta, mu, beta, e0, s2, T) + superfluous(eta, mu, beta, s2)

    verdict = Claim(theorem=planted(T2, bound), exact=theorem_2).verify()
    assert verdict.outcome is outcome, str(verdict)
    assert bool(verdict.survivors) is (outcome is Outcome.WEAK)


def test_a_claim_without_admissible_instances_is_vacuous():
    theorem = replace(find("adaptive/property-1"), conditions=lambda shift: {"never": (shift + 1, shift)})
    assert Claim(theorem=theorem, exact=P1).verify().outcome is Outcome.VACUOUS


def doubled(self, *args, honest=Additive.draw, **kwargs):
    """Twice the noise."""
    return 2 * honest(self, *args, **kwargs)


def test_an_oracle_with_twice_the_noise_is_caught_by_the_moments_and_by_sampling(monkeypatch):
    # one client with mu = beta at eta = 1/beta: every e_t is noise, and the bound is attained
    problem = Quadratics.of(np.eye(2)[None] / 2, np.zeros((1, 2)), sigma2=1.0, start=[1.0, 1.0])
    moment = expected_excess(problem, Local(), iterations=3, eta=1.0)[3, 0]
    bound = evaluate(find(T2), eta=1.0, mu=1.0, beta=1.0, q=1.0, e0=1.0, s2=1.0, T=3)
    np.testing.assert_allclose([moment, bound], 0.5, rtol=1e-12)
    outcome = []
    for fault in (False, True):
        if fault:
            monkeypatch.setattr(Additive, "draw", doubled)
        # the fault is in torch, which compiled code does not call
        trace = run(problem, Local(), iterations=3, eta=1.0, seeds=1000, kernel="reference")
        z = (trace.mean()[3, 0] - moment) / trace.standard_error()[3, 0]
        outcome.append((abs(z) < 6, log_evidence(trace.excess[:, 3, 0], bound) < math.log(1e8)))
    assert outcome == [(True, True), (False, False)]


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("theorem", {"keys": ["adaptive/theorem-2-constent"]}),
        ("theorem", {"keys": [RUNNING], "edition": "printed"}),
        ("edition", {"edition": "draft"}),
        ("effort", {"effort": "heroic"}),
    ],
)
def test_unknown_requests_are_named(field, call):
    with pytest.raises(InputError) as caught:
        verify(**call)
    assert caught.value.field == field


def test_a_bound_that_says_nothing_on_a_counted_instance_is_violated():
    def bound(eta, mu, beta, e0, s2, T):
        return np.where(T > 10, np.nan, shrinking(eta, mu, beta, e0, s2, T))

    verdict = Claim(theorem=planted(T2, bound), exact=theorem_2).verify()
    assert verdict.outcome is Outcome.VIOLATED


def test_copies_of_the_process_reach_the_same_verdicts(monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # pytest's own thread keeps no lock that a check takes
    keys = ("averaged-sgd/*", "adaptive/lemma-2*")
    alone, shared = (
        [verdict.to_dict() | {"seconds": 0, "record": verdict.theorem} for verdict in verify(keys, jobs=jobs)]
        for jobs in (1, 2)
    )
    assert shared == alone


def test_progress_is_told():
    calls, keys = [], ["adaptive/property-1", RUNNING, T2]
    verdicts = verify(keys, progress=lambda done, total: calls.append((done, total)))
    assert len(verdicts) == 5
    assert calls == [(n, 5) for n in range(1, 6)]
