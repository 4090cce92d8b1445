"""Faults in the simulator, and what of Theorem 2 is true as printed; the second routes have a file of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from suffice.bounds import find
from suffice.bounds.elementary import survive
from suffice.simulate import AllForAll, FixedWeights
from suffice.verification import Claim, Outcome
from suffice.verification.claims.sample_optimal import claims, simulated

KEY = "sample-optimal/"
VIOLATED = Outcome.VIOLATED
CLAIMS = {(claim.theorem.key.removeprefix(KEY), claim.theorem.edition): claim for claim in claims()}


def corrected(key: str) -> Claim:
    return CLAIMS[key, "corrected"]


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
