"""Subtle faults in the simulator, the moment engine and the random numbers.

The verification itself has to catch them: no test of the faulty part is run here.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from suffice.simulate import Scaffnew
from suffice.simulate.moment_maps import Maps
from suffice.verification import Outcome
from suffice.verification.claims import claim_of
from suffice.verification.claims.sample_optimal import simulated


def test_a_control_variate_that_moves_from_the_model_before_the_local_step_is_violated(monkeypatch):
    honest = Scaffnew.step

    def step(self, problem, state, draw, eta):
        after = honest(self, problem, state, draw, eta)
        g = problem.stochastic_gradient(state["models"], None, draw.noise)
        coin = draw.extra["coin"][:, None, None]
        missed = -self.p * (g - state["control"])  # (p/gamma)(t'_i - t_i)
        return {**after, "control": after["control"] + coin * missed}

    monkeypatch.setattr(Scaffnew, "step", step)
    verdict = claim_of("scafflix/theorem-1").verify()
    assert verdict.outcome is Outcome.VIOLATED, str(verdict)


@pytest.mark.slow
def test_moments_that_are_too_small_are_told_by_their_second_route(monkeypatch):
    """Noise added before the step contracts it: no upper bound is violated by what is measured too small."""

    def advance(self, moment):
        after = self.mean @ (moment + self.noise) @ self.mean.mT
        for weight, deviation in zip(self.weights.unbind(-1), self.deviations.unbind(-3)):
            after = after + weight[..., None, None] * (deviation @ moment @ deviation.mT)
        return after

    claim = claim_of("adaptive/theorem-2-constant")
    monkeypatch.setattr(Maps, "advance", advance)
    verdict = claim.verify()
    assert verdict.outcome is Outcome.INCONCLUSIVE, str(verdict)
    assert not verdict.expected
    assert any(text.startswith("two routes differ: aligned peers") for text in verdict.survivors)


def test_noise_that_does_not_grow_with_the_loss_is_told_by_its_second_route(monkeypatch):
    assert simulated.least_squares(4, 0).agrees()
    honest = Maps.advance
    monkeypatch.setattr(Maps, "advance", lambda self, m: honest(replace(self, weights=0.99 * self.weights), m))
    assert not simulated.least_squares(4, 0).agrees()
