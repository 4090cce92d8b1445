"""Claims on similarity, weights, variances and Equation (1): the measured sides by other routes, faults in them."""

from __future__ import annotations

import numpy as np

from suffice.bounds import collaboration_weights
from suffice.simulate.problems import additive_noise
from suffice.verification import Outcome
from suffice.verification.claims.adaptive import similarity
from suffice.verification.instances import peers, quadratic_pairs
from suffice.verification.instances.quadratic_pairs import Pairs

CLAIMS = {(claim.theorem.key, claim.theorem.edition): claim for claim in similarity.claims()}


def by_deviation(criterion, *, similarity, sigma2):
    """Definition 1 with sigma_k for sigma_k^2."""
    return collaboration_weights(criterion, similarity=similarity, sigma2=np.sqrt(sigma2))


def test_weights_from_deviations_are_caught(monkeypatch):
    monkeypatch.setattr(peers, "collaboration_weights", by_deviation)
    for key in ("definition-1-weights", "remark-3-continuous", "largest-variance-binary", "definition-2-binary"):
        verdict = CLAIMS[f"adaptive/{key}", "corrected"].verify()
        assert verdict.outcome is Outcome.VIOLATED, str(verdict)


def test_a_simulator_that_does_not_average_its_samples_is_caught(monkeypatch):
    monkeypatch.setattr(additive_noise, "_mean", lambda draw: draw[:, :, 0])
    for key in ("gap", "norm", "identical"):
        verdict = CLAIMS[f"adaptive/equation-1-{key}", "corrected"].verify()
        assert verdict.outcome is Outcome.VIOLATED, str(verdict)


# --- the measured sides -----------------------------------------------------------------------------------------


def test_the_drawn_pair_of_lemma_2_satisfies_assumption_3_and_is_the_least():
    family = quadratic_pairs.family()
    batch = Pairs(family.draw(40, seed=3))
    pair = batch.lemma_2()
    # g = (c I - M^T M)^-1 M^T v attains the supremum
    matrix = pair["c"][:, None, None] * np.eye(3) - np.einsum("nde,ndf->nef", batch.M, batch.M)
    best = np.linalg.solve(matrix, np.einsum("nde,nd->ne", batch.M, batch.v)[..., None])[..., 0]
    rng = np.random.default_rng(1)
    for g in (best, *(10.0 ** rng.uniform(-2, 2, (30, 40, 1)) * rng.normal(size=(30, 40, 3)))):
        gap = (np.einsum("nde,ne->nd", batch.M, g) + batch.v) ** 2
        assert (gap.sum(-1) <= (pair["b"] ** 2 + pair["c"] * (g**2).sum(-1)) * (1 + 1e-9)).all()
    gap = ((np.einsum("nde,ne->nd", batch.M, best) + batch.v) ** 2).sum(-1)
    np.testing.assert_allclose(gap - pair["c"] * (best**2).sum(-1), pair["b"] ** 2, rtol=1e-7)  # cancels at large c


def test_the_drawn_pair_of_cosines_satisfies_assumption_3_and_is_the_least():
    family = similarity.cosines()
    values = family.draw(50, seed=2)
    u = np.linspace(0, np.pi, 20001)
    own = values["own"][:, None] * np.sin(u)
    peer = values["peer"][:, None] * np.sin(u + values["shift"][:, None])
    excess = ((peer - own) ** 2 - values["c"][:, None] * own**2).max(1)
    b2 = family.evidence(values).arguments["b"] ** 2
    # the grid misses the maximum by at most (pi / 40000)^2 of the form's size
    scale = values["own"] ** 2 + values["peer"] ** 2
    np.testing.assert_allclose(b2, excess, rtol=0, atol=1e-7 * scale.max())


def test_mixed_criteria_are_those_of_definition_1():
    x = np.linspace(0, 1, 201)
    rng = np.random.default_rng(4)
    mixed = peers.Mixed(peak=rng.uniform(0.02, 1, (60, 1)), power=rng.uniform(0, 4, (60, 1)))
    phi = mixed.phi(x)
    np.testing.assert_array_equal(phi[:, 0], 0)
    assert (phi[:, -1] > 0).all()
    assert (np.diff(phi, axis=1) >= 0).all()
    assert (phi <= x * (1 + 1e-13)).all()
    assert (np.abs(np.diff(phi, axis=1)).max(1) > 0.1).any()  # jumps among them
