"""Verdicts on Lemma 1, Theorems 1 to 3, Corollary 1 and multiplicative noise; planted faults in bounds and engines."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

from suffice.bounds.theorems.adaptive import corollary_1 as hitting_records
from suffice.bounds.theorems.adaptive import multiplicative_noise as multiplicative_records
from suffice.bounds.theorems.adaptive import theorem_1 as descent_records
from suffice.bounds.theorems.adaptive import theorem_2 as rates_records
from suffice.bounds.theorems.adaptive import theorem_3 as gradient_records
from suffice.simulate import StreamingLeastSquares
from suffice.verification import Domain, Outcome
from suffice.verification.claims.adaptive import (
    descent,
    gradient,
    hitting,
    least_squares,
    multiplicative,
    rates,
    stopped,
)
from suffice.verification.instances.aligned_pair import Aligned
from suffice.verification.instances.enumerated_paths import Paths
from suffice.verification.instances.one_step import OneStep
from suffice.verification.instances.renewal import Renewal
from suffice.verification.instances.scheduled import Decreasing

GROUPS = (descent, rates, stopped, hitting, gradient, multiplicative, least_squares)
RECORDS = (descent_records, rates_records, hitting_records, gradient_records, multiplicative_records)
CLAIMS = {(claim.theorem.key, claim.theorem.edition): claim for group in GROUPS for claim in group.claims()}
PRINTED = {
    "lemma-1": Outcome.VIOLATED,
    "theorem-2-constant": Outcome.VIOLATED,
    "theorem-2-horizon": Outcome.VIOLATED,
    "theorem-2-decreasing": Outcome.VACUOUS,
    "corollary-1": Outcome.VACUOUS,
    "theorem-3": Outcome.VIOLATED,
}
HOLDING = (
    "lemma-1", "lemma-1-best-weights", "lemma-1-mean-gradient", "theorem-1", "theorem-1-normalised",
    "theorem-2-constant", "theorem-2-constant-running", "theorem-2-constant-stopped",
    "theorem-2-constant-unconditional", "theorem-2-constant-gradient-running",
    "theorem-2-horizon", "theorem-2-horizon-running", "theorem-2-horizon-stopped", "theorem-2-horizon-unconditional",
    "theorem-2-decreasing", "theorem-2-decreasing-running-sharp", "theorem-2-decreasing-stopped",
    "theorem-2-decreasing-unconditional", "theorem-2-offset",
    "theorem-2-decreasing-best",
    "corollary-1", "corollary-1-decreasing-confidence-sharp", "corollary-1-probability", "corollary-1-expected-time",
    "corollary-1-confidence", "corollary-1-best-step",
    "theorem-3", "theorem-3-any-step", "theorem-3-unconditional", "theorem-3-hitting-time", "theorem-3-best-step",
    "lemma-1-multiplicative", "theorem-1-multiplicative", "theorem-3-multiplicative", "multiplicative-total",
    "least-squares-variance", "least-squares-rate",
)  # fmt: skip
EXPECTED = {
    **{(f"adaptive/{key}", "printed"): outcome for key, outcome in PRINTED.items()},
    **{(f"adaptive/{key}", "corrected"): Outcome.HOLDS for key in HOLDING},
}


def test_every_claim_is_listed_and_every_corrected_record_has_one():
    assert set(CLAIMS) == set(EXPECTED)
    records = [theorem for module in RECORDS for theorem in module.THEOREMS if theorem.bound is not None]
    assert {theorem.key for theorem in records if theorem.edition == "corrected" and not theorem.superseded_by} == {
        key for key, edition in CLAIMS if edition == "corrected"
    }
    assert {theorem.key for theorem in records if theorem.fault} == {key for key, ed in CLAIMS if ed == "printed"}


@pytest.mark.parametrize("claim", EXPECTED, ids=lambda claim: " ".join(claim).removeprefix("adaptive/"))
def test_verdict(claim):
    verdict = CLAIMS[claim].verify()
    assert verdict.outcome is EXPECTED[claim], str(verdict)
    if verdict.outcome is Outcome.VACUOUS:
        assert verdict.instances == 0
        return
    if verdict.outcome is Outcome.VIOLATED:
        assert verdict.instances >= 3
        assert verdict.worst_ratio > 1.5
        return
    assert verdict.instances > 20
    assert verdict.mutants >= 4
    assert all(verdict.necessity.values())
    assert verdict.survivors == ()
    assert 0.99 < verdict.worst_ratio <= 1 + 1e-9


@pytest.mark.parametrize("root", [1, 2])
def test_verdicts_do_not_depend_on_the_root(root):
    for name in ("lemma-1", "theorem-2-horizon-running", "corollary-1-best-step", "theorem-3", "multiplicative-total"):
        verdict = CLAIMS[f"adaptive/{name}", "corrected"].verify(root=root)
        assert verdict.holds, str(verdict)


# --- faults in the bounds ---------------------------------------------------------------------------------------


def geometric(eta, mu, beta, e0, s2, T):
    return (1 - eta * mu) ** T * e0 + eta * beta * s2 / (2 * mu) * (1 - (1 - eta * mu) ** T)


def level(C, gamma, mu, beta, e0, s2):
    return np.maximum(C**2 * beta * s2 / (2 * mu**2 * (C - 1)), (gamma + 1) * e0)


def horizon(mu, beta, q, e0, s2, T):
    floor = beta * s2 / (2 * mu**2 * T)
    return np.maximum(floor, (1 - q * mu / beta) ** T * e0) + floor * np.log(e0 / floor)


def drift(eta, mu, beta, s2, eps):
    return eta * mu - eta**2 * beta * s2 / (2 * eps)


FAULTS = {
    "lemma 1, half the noise": ("lemma-1", lambda eta, beta, e0, weight, discrepancy, gradient, V: (
        e0 + eta * (discrepancy - weight * gradient**2 + eta * beta * V / 2) / 2)),
    "lemma 1, twice the descent": ("lemma-1", lambda eta, beta, e0, weight, discrepancy, gradient, V: (
        e0 + eta * (discrepancy - 2 * weight * gradient**2 + eta * beta * V) / 2)),
    "mean gradient, the step without its square": ("lemma-1-mean-gradient",
        lambda eta, beta, e0, weight, gradient, aggregate, aggregate_gap, V: (
            e0 - eta * weight / 2 * (gradient**2 - aggregate_gap**2)
            - eta * weight / 2 * (1 - eta * weight * beta / 2) * aggregate**2 + eta**2 * beta * V / 2)),
    "theorem 1, T + 1": ("theorem-1", lambda eta, mu, beta, e0, V, T: geometric(eta, mu, beta, e0, V, T + 1)),
    "normalised, q squared": ("theorem-1-normalised", lambda eta, mu, beta, q, e0, V, T: (
        geometric(eta, mu, beta, e0, V, T))),
    "unconditional, no local variance": ("theorem-2-constant-unconditional",
        lambda eta, mu, beta, e0, s2, T, V_max, below: geometric(eta, mu, beta, e0, s2, T)),
    "gradient running, without beta/mu": ("theorem-2-constant-gradient-running",
        lambda eta, mu, beta, e0, s2, T, eps: geometric(eta, mu, beta, e0, s2, T) / (2 * eps)),
    "horizon as printed, the limit ignored": ("theorem-2-horizon", lambda mu, beta, q, e0, s2, T: (
        beta * s2 / (2 * mu**2 * T) * (1 + np.log(2 * T * mu**2 * e0 / (beta * s2))))),
    "horizon running, 1 % less": ("theorem-2-horizon-running", lambda mu, beta, q, e0, s2, T, eps: (
        0.99 * horizon(mu, beta, q, e0, s2, T) / eps)),
    "horizon stopped, half the precision": ("theorem-2-horizon-stopped", lambda mu, beta, q, e0, s2, T, eps: (
        horizon(mu, beta, q, e0, s2, T) + eps / 2)),
    "horizon not stopped, sufficient variance": ("theorem-2-horizon-unconditional",
        lambda mu, beta, q, e0, s2, T, V_max, below: horizon(mu, beta, q, e0, s2, T)),
    "decreasing, without the offset in nu": ("theorem-2-decreasing", lambda C, gamma, mu, beta, e0, s2, T: (
        level(C, 0, mu, beta, e0, s2) / (gamma + T + 1))),
    "decreasing running, T^-p at once": ("theorem-2-decreasing-running-sharp",
        lambda C, gamma, mu, beta, e0, s2, T, eps: (
            np.minimum(1, level(C, gamma, mu, beta, e0, s2) / (gamma + T + 1) / eps) ** np.minimum(C, 2))),
    "decreasing stopped, half the row": ("theorem-2-decreasing-stopped", lambda C, gamma, mu, beta, e0, s2, T, eps: (
        eps + level(C, gamma, mu, beta, e0, s2) / (gamma + T + 1) / 2)),
    "offset, C beta/mu": ("theorem-2-offset", lambda C, mu, beta, q: C * beta / mu - 1),
    "best factor, C = 2 always": ("theorem-2-decreasing-best", lambda mu, beta, q, e0, s2, T: (
        2 * beta * s2 / (mu**2 * (2 * beta / (mu * q) + T)))),
    "corollary 1 without the start": ("corollary-1", lambda C, gamma, mu, beta, e0, s2, eps: (
        C**2 / (C - 1) * beta * s2 / (2 * mu**2 * eps))),
    "confidence, delta^(-1/p) alone": ("corollary-1-decreasing-confidence-sharp",
        lambda C, gamma, mu, beta, e0, s2, eps, delta: (
            level(C, gamma, mu, beta, e0, s2) * delta ** (-1 / np.minimum(C, 2)) / eps - gamma - 1)),
    "best step, 1 forgotten": ("corollary-1-best-step", lambda mu, beta, q, s2, eps, e0: (
        np.log(e0 / eps) * 2 * np.maximum(beta / (q * mu), beta * s2 / (mu**2 * eps)))),
    "iterations, drift without its noise": ("corollary-1-confidence", lambda eta, mu, beta, s2, eps, e0, delta: (
        np.log(e0 / (eps * delta)) / (eta * mu))),
    "expected time, twice the drift": ("corollary-1-expected-time", lambda eta, mu, beta, s2, eps, e0: (
        (1 + np.log(e0 / eps)) / (2 * drift(eta, mu, beta, s2, eps)))),
    "theorem 3 as printed": ("theorem-3", lambda beta, q, e0, s2, T: 2 * np.sqrt(2 * e0 * beta * s2 / T)),
    "theorem 3, half the noise": ("theorem-3-any-step", lambda eta, beta, e0, s2, T: (
        2 * e0 / (eta * T) + eta * beta * s2 / 2)),
    "theorem 3 not stopped, no local variance": ("theorem-3-unconditional",
        lambda eta, beta, e0, s2, T, V_max, below: 2 * e0 / (eta * T) + eta * beta * s2),
    "time to a gradient, no noise": ("theorem-3-hitting-time", lambda eta, beta, e0, s2, G: 2 * e0 / (eta * G)),
    "best step to a gradient, half": ("theorem-3-best-step", lambda beta, q, e0, s2, G: (
        np.maximum(4 * beta * s2 * e0 / G**2, beta * e0 / (q * G)))),
    "multiplicative descent, no Q": ("lemma-1-multiplicative", lambda eta, beta, e0, gradient, Q, V: (
        e0 - eta * gradient**2 / 2 + eta**2 * beta * V / 2)),
    "multiplicative run, no split": ("theorem-1-multiplicative", lambda eta, mu, beta, e0, V, T, split: (
        geometric(eta, mu, beta, e0, V, T))),
    "multiplicative total, max M": ("multiplicative-total", lambda noise_factor, peak, advantage: noise_factor),
    "least squares, M = d": ("least-squares-rate", lambda eta, h, d, batch, e0, label_variance, T: (
        ((1 - 2 * eta * h) ** 2 + 4 * eta**2 * h**2 * d / batch) ** T * e0)),
    "least squares, no squared gradient": ("least-squares-variance",
        lambda trace, e0, gradient, label_variance, batch: 4 * trace * (e0 + label_variance) / batch),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_violated(fault):
    name, bound = FAULTS[fault]
    claim = CLAIMS[f"adaptive/{name}", "corrected"]
    planted = replace(
        claim, theorem=replace(claim.theorem, bound=bound), sampled=None, exact=_light(claim), outside_conditions={}
    )
    verdict = planted.verify()
    assert verdict.outcome is Outcome.VIOLATED, str(verdict)


def _light(claim):
    """Without the engine that takes longest."""
    return None if claim.theorem.key == "adaptive/theorem-2-constant" else claim.exact


@pytest.mark.parametrize("name", ["least-squares-rate", "least-squares-variance"])
def test_a_bound_that_is_larger_than_an_equality_is_violated(name):
    claim = CLAIMS[f"adaptive/{name}", "corrected"]
    honest = claim.theorem.bound

    @functools.wraps(honest)
    def larger(**arguments):
        return 1.01 * honest(**arguments)

    assert replace(claim, theorem=replace(claim.theorem, bound=larger)).verify().outcome is Outcome.VIOLATED


# --- faults in the engines and the simulator: every group notices ------------------------------------------------


def louder(self, honest=Paths._noise):
    jumps, chance = honest(self)
    return 1.2 * jumps, chance


def test_noise_louder_than_said_is_caught_on_paths(monkeypatch):
    monkeypatch.setattr(Paths, "_noise", louder)
    for name in ("theorem-1", "theorem-2-constant-unconditional"):
        verdict = CLAIMS[f"adaptive/{name}", "corrected"].verify()
        assert verdict.outcome is Outcome.VIOLATED, str(verdict)


def slower(self, eta, honest=Aligned._step):
    rest, noise = honest(self, eta)
    return rest ** (1 / 1.2), noise


def test_a_slower_contraction_is_caught_on_aligned_clients(monkeypatch):
    monkeypatch.setattr(Aligned, "_step", slower)
    for name in ("theorem-1", "theorem-2-horizon", "theorem-2-decreasing-best", "theorem-3-any-step"):
        verdict = CLAIMS[f"adaptive/{name}", "corrected"].verify()
        assert verdict.outcome is Outcome.VIOLATED, str(verdict)


def test_a_client_that_stays_longer_is_caught(monkeypatch):
    honest = Renewal.stay.fget
    monkeypatch.setattr(Renewal, "stay", property(lambda self: 1 - (1 - honest(self)) / 1.05))
    for name in ("corollary-1-probability", "corollary-1-best-step", "theorem-3-hitting-time", "theorem-3-best-step"):
        verdict = CLAIMS[f"adaptive/{name}", "corrected"].verify()
        assert verdict.outcome is Outcome.VIOLATED, str(verdict)


def test_gradients_of_a_wrong_scale_are_caught_in_one_step(monkeypatch):
    honest = OneStep.slope
    monkeypatch.setattr(OneStep, "slope", lambda self, theta: 1.1 * honest(self, theta))
    verdict = CLAIMS["adaptive/lemma-1-mean-gradient", "corrected"].verify()
    assert verdict.outcome is Outcome.VIOLATED, str(verdict)


def test_a_least_squares_gradient_of_a_wrong_scale_is_caught(monkeypatch):
    honest = StreamingLeastSquares.slope
    monkeypatch.setattr(StreamingLeastSquares, "slope", lambda self, p, y: 1.05 * honest(self, p, y))
    verdict = CLAIMS["adaptive/least-squares-rate", "corrected"].verify()
    assert verdict.outcome is Outcome.VIOLATED, str(verdict)


# --- conditions that admit too much ------------------------------------------------------------------------------


def test_a_wider_step_limit_is_violated():
    claim = CLAIMS["adaptive/theorem-1-normalised", "corrected"]

    def wide(*, eta, beta, mu):
        return {"step size eta <= 3/beta": (eta, 3 / beta), "curvature mu <= beta": (mu, beta)}

    domains = {**claim.families[0].domains, "ratio": Domain(low=0.1, high=3)}
    families = (replace(claim.families[0], domains=domains), *claim.families[1:])
    wider = replace(claim, theorem=replace(claim.theorem, conditions=wide), families=families)
    assert wider.verify().outcome is Outcome.VIOLATED


def test_an_offset_of_any_size_is_violated():
    claim = CLAIMS["adaptive/theorem-2-decreasing", "corrected"]

    def wide(*, mu, beta):
        return {"curvature mu <= beta": (mu, beta)}

    wider = replace(claim, theorem=replace(claim.theorem, conditions=wide))
    assert wider.verify().outcome is Outcome.VIOLATED


def test_the_corollary_is_sharp_while_running_and_by_a_factor_of_two_not_for_the_stopped_process():
    """Why it bounds E[e_T 1{tau >= T}]: E[e_min(T, tau)] <= 2 eps is reached in half of the iterations or fewer."""
    record = next(theorem for theorem in hitting_records.THEOREMS if theorem.edition == "corrected")
    assert record.key == "adaptive/corollary-1"
    batch = Decreasing.of(hitting._sharp_decreasing_confidence())
    arguments = batch.arguments()
    names = ("C", "gamma", "mu", "beta", "e0", "s2", "eps")
    bound = record.bound(**{name: arguments[name] for name in names})
    assert 0.99 < (batch.last_above() / bound).max() <= 1
    # E[e_min(t, tau)] <= E[e_t 1{tau >= t}] + eps P(tau < t), and tau is T here
    halved = Decreasing.of(vars(batch) | {"eps": batch.eps / 2})
    arguments = halved.arguments()
    bound = record.bound(**{name: arguments[name] for name in names})
    stopped = np.where(halved.excess() > 2 * halved.eps, halved.T, 0)
    assert (stopped / bound).max() < 0.55
