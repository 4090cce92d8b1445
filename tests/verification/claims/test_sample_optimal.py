"""Verdicts on the sample-optimality paper, and planted faults; `test_routes_sample_optimal` has the second routes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suffice.bounds import THEOREMS, find
from suffice.bounds.bayes_risk import inverse_risk, risk
from suffice.bounds.elementary import fall, survive
from suffice.simulate import AllForAll, FixedWeights
from suffice.verification import Claim, Outcome
from suffice.verification.claims.sample_optimal import all_for_one, claims, simulated

KEY = "sample-optimal/"
HOLDS, VIOLATED = Outcome.HOLDS, Outcome.VIOLATED
EXPECTED = {
    ("theorem-1", "corrected"): HOLDS,
    ("theorem-1-sum", "corrected"): HOLDS,
    ("theorem-1-optimised", "corrected"): HOLDS,
    ("theorem-1-excess", "corrected"): HOLDS,
    ("theorem-2", "printed"): HOLDS,
    ("theorem-2", "corrected"): HOLDS,
    ("theorem-2-tuned", "corrected"): HOLDS,
    ("theorem-2-weak", "corrected"): HOLDS,
    ("theorem-2-rounds", "corrected"): HOLDS,
    ("theorem-2-rounds-threshold", "corrected"): HOLDS,
    ("theorem-2-threshold", "printed"): VIOLATED,
    ("theorem-2-threshold", "corrected"): HOLDS,
    ("theorem-2-least-squares", "corrected"): HOLDS,
    ("theorem-3", "printed"): VIOLATED,
    ("theorem-3-averaged-sharp", "corrected"): HOLDS,
    ("theorem-3-averaged-sharp-rounds", "corrected"): HOLDS,
    ("corollary-1", "printed"): VIOLATED,
    ("assumption-3-peer", "corrected"): HOLDS,
    ("section-5-bias", "printed"): VIOLATED,
    ("section-5-bias", "corrected"): HOLDS,
    ("linear-dissimilarity", "printed"): VIOLATED,
    ("linear-dissimilarity", "corrected"): HOLDS,
    ("theorem-5-threshold", "corrected"): HOLDS,
    ("theorem-5-samples", "corrected"): HOLDS,
    **{(f"{key}-sharp", "corrected"): HOLDS for key in ("theorem-3", "theorem-4", "theorem-5")},
    **{(f"{key}-sharp", "corrected"): HOLDS for key in ("corollary-1", "corollary-1-general", "corollary-2")},
    ("theorem-3-sharp-rounds", "corrected"): HOLDS,
}
# How near the bound comes where it is not attained. Without noise the excess of gradient descent falls like
# (1 - eta mu)^(2T), and the rounds of Theorem 2 count (1 - eta mu)^T: at most half is used. All-for-one's excess is not
# least at the point that it tends to, and falls slower there: the more, the nearer the bias is to its limit.
ATTAINED = {
    "theorem-2-rounds": (0.94, 0.951),
    "theorem-2-rounds-threshold": (0.74, 0.745),
    "corollary-1-sharp": (0.97, 1),  # ln 4 of the logarithm is lost
    "corollary-1-general-sharp": (0.97, 1),
    "corollary-2-sharp": (0.97, 1),
}
# Bounds of a single term: nothing to drop or to move but the whole.
FEW_MUTANTS = {
    "assumption-3-peer": 1,
    "section-5-bias": 1,
    "theorem-1": 1,
    "theorem-1-sum": 2,
    "theorem-2-threshold": 1,
}
CLAIMS = {(claim.theorem.key.removeprefix(KEY), claim.theorem.edition): claim for claim in claims()}


def corrected(key: str) -> Claim:
    return CLAIMS[key, "corrected"]


def test_every_record_that_can_be_evaluated_has_a_claim():
    records = {(t.key.removeprefix(KEY), t.edition) for t in THEOREMS if t.key.startswith(KEY) and t.bound is not None}
    superseded = {(t.key.removeprefix(KEY), "corrected") for t in THEOREMS if t.superseded_by}
    assert records - set(CLAIMS) - superseded == set()
    assert set(CLAIMS) & superseded == set()
    assert set(CLAIMS) == set(EXPECTED)


@pytest.mark.parametrize("root", [0, 1])
@pytest.mark.parametrize("name", EXPECTED, ids=lambda name: "-".join(name))
def test_theorems_that_hold_refute_every_mutant_and_printed_ones_are_violated_but_for_one(name, root):
    key = name[0]
    verdict = CLAIMS[name].verify(root=root)
    assert verdict.outcome is EXPECTED[name], str(verdict)
    assert verdict.expected
    assert verdict.instances >= 20
    if verdict.outcome is VIOLATED:
        assert verdict.worst_ratio > (2 if key == "section-5-bias" else 5)  # it grows with the gap alone
        return
    assert verdict.survivors == ()
    assert verdict.mutants >= FEW_MUTANTS.get(key, 3)
    low, high = ATTAINED.get(key, (0.99, 1 + 1e-9))
    assert low < verdict.worst_ratio <= high
    assert verdict.necessity == dict.fromkeys(CLAIMS[name].outside_conditions, True)


# --- planted faults


def test_theorem_2_as_printed_is_true_without_noise_at_every_step_from_half_the_largest():
    """With half of its bias as well, not with less; nor with twice its rate at half the step."""
    claim = CLAIMS["theorem-2", "printed"]
    assert claim.theorem.true_as_printed
    assert not find(KEY + "theorem-3", "printed").true_as_printed

    def bound(rate, share):
        def printed(*, mu, beta, e0, bias2, T):
            return e0 * survive(rate * mu / beta, T) + share * bias2 / mu

        return replace(claim, theorem=replace(claim.theorem, bound=printed), true_variants={})

    assert bound(0.5, 0.5).verify().worst_ratio <= 1 + 1e-9
    assert bound(0.5, 0.49).verify().outcome is VIOLATED
    assert bound(1.01, 1).verify().outcome is VIOLATED


def planted(key: str, bound) -> Claim:
    return replace(corrected(key), theorem=replace(find(KEY + key), bound=bound))


def part(key: str, share: float):
    """A bound that asks for `share` of the rounds or samples."""
    import inspect

    honest = find(KEY + key).bound
    assert honest is not None

    def bound(**values):
        return share * honest(**values)

    bound.__signature__ = inspect.signature(honest)
    return bound


FAULTS = {
    "near agents, constant 0.3": ("theorem-1", lambda mu, eps, sigma2, near: 0.3 * sigma2 / (mu * eps * near)),
    "near agents, no mu": ("theorem-1", lambda eps, sigma2, near: 0.2127 * sigma2 / (eps * near)),
    "sum, 1 for 0.85": ("theorem-1-sum", lambda sigma2, signal2: sigma2 / signal2),
    "any level, no square": ("theorem-1-optimised", lambda eps, e0, sigma2, signal2: (
        sigma2 / signal2 * inverse_risk(eps / e0))),
    "excess, half the separation": ("theorem-1-excess", lambda e0, sigma2, signal2, T: (
        e0 * risk((T * signal2 / sigma2) ** 0.5 / 2))),
    "theorem 2, half the bias": ("theorem-2", lambda eta, mu, beta, e0, sigma2, lambda2, bias, T: (
        survive(eta * mu, T) * e0 + (eta * beta * sigma2 * lambda2 + bias**2 / 2) / (2 * mu) * fall(eta * mu, T))),
    "theorem 2, all noise averaged twice": ("theorem-2", lambda eta, mu, beta, e0, sigma2, lambda2, bias, T: (
        survive(eta * mu, T) * e0 + (eta * beta * sigma2 * lambda2**2 + bias**2) / (2 * mu) * fall(eta * mu, T))),
    "tuned, no logarithm": ("theorem-2-tuned", lambda mu, beta, e0, sigma2, lambda2, bias, T: (
        e0 * np.exp(-T * mu / beta) + beta * sigma2 * lambda2 / (2 * mu**2 * T) + bias**2 / (2 * mu))),
    "weak, no kappa": ("theorem-2-weak", lambda eta, mu, distance2, sigma2, lambda2, bias, T: (
        mu / 2 * ((survive(eta * mu, 2 * T) * distance2 + eta * sigma2 * lambda2 / mu) ** 0.5 + bias / mu) ** 2)),
    "growing noise, half the bias": ("theorem-2-least-squares", lambda eta, mu, beta, e0, bias, noise2, T: (
        survive(eta * mu / 2, T) * e0 + (bias**2 / 2 + eta * beta * noise2) / mu * fall(eta * mu / 2, T))),
    "growing noise, half the noise": ("theorem-2-least-squares", lambda eta, mu, beta, e0, bias, noise2, T: (
        survive(eta * mu / 2, T) * e0 + (bias**2 + eta * beta * noise2 / 2) / mu * fall(eta * mu / 2, T))),
    "rounds, nine tenths": ("theorem-2-rounds", part("theorem-2-rounds", 0.9)),
    "rounds with thresholds, seven tenths": ("theorem-2-rounds-threshold", part("theorem-2-rounds-threshold", 0.7)),
    "precision, 0.9": ("theorem-2-threshold", lambda eps: 0.9 * eps),
    "theorem 3, rate of clusters": ("theorem-3-sharp", lambda eta, mu, beta, smin, e0, sigma2, weight2, T: (
        survive(eta * mu, 2 * T) * e0
        + eta * beta * sigma2 * weight2 / (2 * mu * smin * (2 - eta * mu * smin)) * fall(eta * mu * smin, 2 * T))),
    "theorem 3, half the peer excess": (
        "theorem-3-sharp", lambda eta, mu, beta, smin, e0, sigma2, weight2, peer_excess, T: (
            find(KEY + "theorem-3-sharp").bound(eta=eta, mu=mu, beta=beta, smin=smin, e0=e0, sigma2=sigma2,
                weight2=weight2, peer_excess=peer_excess / 2, T=T))),
    "averaged, half the distance": (
        "theorem-3-averaged-sharp", lambda eta, sigma2, lambda2, mean_distance2, peer_excess, T: (
        mean_distance2 / (4 * eta * (T + 1)) + eta * sigma2 * lambda2 / 2 + peer_excess)),
    "averaged, half the peer excess": (
        "theorem-3-averaged-sharp", lambda eta, sigma2, lambda2, mean_distance2, peer_excess, T: (
        mean_distance2 / (2 * eta * (T + 1)) + eta * sigma2 * lambda2 / 2 + peer_excess / 2)),
    "rounds of all, nothing for the spectrum": ("theorem-3-sharp-rounds", lambda mu, beta, eps, e0: (
        beta / mu * np.log1p(2 * np.maximum(0, e0 - eps) / eps) / 4)),
    "averaged rounds, 0.95": ("theorem-3-averaged-sharp-rounds", part("theorem-3-averaged-sharp-rounds", 0.95)),
    "any graph, 0.95": ("corollary-1-general-sharp", part("corollary-1-general-sharp", 0.95)),
    "any graph, rounds of clusters": ("corollary-1-general-sharp", lambda mu, beta, eps, e0, sigma2, weight2: (
        np.maximum(beta / mu, 2 * beta * sigma2 * weight2 / (mu**2 * eps))
        * np.log1p(4 * np.maximum(0, e0 - eps) / eps) / 4)),
    "linear, as printed": ("linear-dissimilarity", lambda ball, scale, moment: ball * moment / scale**2),
    "estimated, never wrong": ("theorem-5-sharp", lambda eta, mu, beta, e0, sigma2, size, T: (
        survive(eta * mu, 2 * T) * e0
        + eta * beta * sigma2 / size / (2 * mu * (2 - eta * mu)) * fall(eta * mu, 2 * T))),
    "samples, 7 for 8": ("theorem-5-samples", part("theorem-5-samples", 7 / 8)),
    "samples of one pair": ("theorem-5-samples", lambda failure, proxy_trace, nu2, moment_gap: (
        8 * (proxy_trace**0.5 + (2 * nu2 * np.log(1 / failure)) ** 0.5) ** 2 / moment_gap**2)),
    "sharp, without the square": ("theorem-3-sharp", (
        lambda eta, mu, beta, smin, e0, sigma2, weight2, peer_excess, T: (
            survive(eta * mu * smin, 2 * T + 1) * e0 + fall(eta * mu * smin, 2 * T) * peer_excess))),
    "a quarter of the rounds, 0.95 of them": ("theorem-3-sharp-rounds", part("theorem-3-sharp-rounds", 0.95)),
    "clusters, 0.95 of a quarter": ("corollary-1-sharp", part("corollary-1-sharp", 0.95)),
    "rounds with estimated clusters, 0.95": ("corollary-2-sharp", part("corollary-2-sharp", 0.95)),
    "samples and rounds, 0.9": ("theorem-4-sharp", part("theorem-4-sharp", 0.9)),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_violated(fault):
    key, bound = FAULTS[fault]
    verdict = planted(key, bound).verify()
    assert verdict.outcome is VIOLATED, str(verdict)


def test_the_printed_threshold_is_a_fault_of_its_condition():
    claim = corrected("theorem-2-threshold")
    wide = replace(claim.theorem, conditions=lambda *, b, mu, eps: {"threshold": (b**2, 4 * mu * eps)})
    family = replace(claim.families[0], measure=all_for_one.thresholds(lambda b, mu: b**2 / (4 * mu)))
    assert replace(claim, theorem=wide, families=(family,)).verify().outcome is VIOLATED


def probed(key: str, make) -> Claim:
    return replace(corrected(key), families=(), exact=lambda effort, root: [make(12, root)])


@pytest.mark.parametrize(
    ("factor", "outer"), [(1.05, True), (1.0, False)], ids=["5 % too large", "Lambda^T Lambda for Lambda Lambda^T"]
)
def test_a_simulator_that_mixes_with_the_wrong_matrix_is_caught(monkeypatch, factor, outer):
    claim = probed("theorem-3-sharp", simulated.all_for_all)
    assert claim.verify().worst_ratio == pytest.approx(1, rel=1e-12)

    def wrong(self):
        one, two = (self.Lambda, self.Lambda.T) if outer else (self.Lambda.T, self.Lambda)
        return factor * one @ two

    monkeypatch.setattr(AllForAll, "W", property(wrong))
    assert claim.verify().outcome is VIOLATED


@pytest.mark.parametrize(
    ("key", "make"),
    [("theorem-2", simulated.all_for_one), ("theorem-2-least-squares", simulated.least_squares)],
)
def test_a_simulator_that_steps_too_far_is_caught(monkeypatch, key, make):
    def far(self, problem, state, draw, eta, honest=FixedWeights.step):
        return honest(self, problem, state, draw, 1.05 * eta)

    claim = probed(key, make)
    assert claim.verify().worst_ratio == pytest.approx(1, rel=1e-12)
    monkeypatch.setattr(FixedWeights, "step", far)
    assert claim.verify().outcome is VIOLATED
