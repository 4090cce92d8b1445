"""Claims on the adaptive paper: measured sides by other routes, faults in them, how loose Theorem 2 is unstopped."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

from suffice.bounds import Continuous, collaboration_weights, evaluate, find
from suffice.simulate.problems import gradient_noise
from suffice.verification import Outcome
from suffice.verification.claims import claim_of
from suffice.verification.claims.adaptive import least_squares, row_networks, similarity
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
    monkeypatch.setattr(gradient_noise, "_mean", lambda draw: draw[:, :, 0])
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


EQUALITIES = {claim.theorem.key: claim for claim in least_squares.claims()}


@pytest.mark.parametrize("name", ["least-squares-rate", "least-squares-variance"])
def test_a_bound_that_is_larger_than_an_equality_is_violated(name):
    claim = EQUALITIES[f"adaptive/{name}"]
    honest = claim.theorem.bound

    @functools.wraps(honest)
    def larger(**arguments):
        return 1.01 * honest(**arguments)

    assert replace(claim, theorem=replace(claim.theorem, bound=larger)).verify().outcome is Outcome.VIOLATED


def test_exact_moments_of_rows_violate_a_bound_that_takes_their_noise_for_additive():
    claim = claim_of("adaptive/theorem-1-fixed-weights")
    honest = claim.theorem

    def additive(*, eta, mu, beta, e0, bias2, c, V, T, split):
        return honest.bound(eta=eta, mu=mu, beta=beta, e0=e0, bias2=bias2, c=c, V=V, T=T, split=0.0)

    wrong = replace(honest, bound=additive)
    evidence = row_networks.fixed_weights(60, 0)
    ratio = evidence.ratio(honest)[evidence.counted(honest)]
    assert len(ratio) >= 10
    assert ratio.max() <= 1
    assert replace(claim, theorem=wrong).verify().outcome is Outcome.VIOLATED


def test_the_share_of_noise_that_grows_is_never_below_what_the_weights_have():
    """Q of `multiplicative-running-total` for similarities at and above the given ones."""
    rng = np.random.default_rng(5)
    reduce = row_networks.definition("adaptive/multiplicative-running-total").reduce
    rho = np.concatenate((np.ones((4000, 1)), rng.uniform(size=(4000, 4))), axis=1)
    sigma2, factor = np.exp(rng.normal(size=(2, 4000, 5)))
    bound = reduce(similarity=rho, sigma2=sigma2, factor=factor)
    largest = np.zeros(4000)
    for _ in range(40):
        r = rho + (1 - rho) * rng.uniform(size=rho.shape) ** rng.choice([0.2, 1, 5])
        r[:, 0] = 1
        alpha = r / sigma2 / (r**2 / sigma2).sum(1, keepdims=True)
        largest = np.maximum(largest, (alpha**2 * factor * (1 + np.sqrt(1 - r)) ** 2).sum(1))
    assert (largest <= bound * (1 + 1e-12)).all()
    alike = reduce(similarity=np.ones(7), sigma2=np.ones(7), factor=np.full(7, 3.0))
    np.testing.assert_allclose(alike, 3 / 7, rtol=1e-14)  # one rounding per term


@pytest.mark.parametrize("share", [0.1, 0.001])
def test_constants_alone_have_no_floor_below_half_of_that_of_the_largest_variance(share):
    """R_i = theta^2/2 with rare noise +-A, a precise peer of gradient theta + b: every path with one jump at most."""
    b, T, rare = 1e-3, round(8 / share**0.5), 1e-7
    criterion, sigma2 = Continuous(), np.array([1.0, share / (1 - share)])
    eta, eps = criterion.step_ratio(share), 500 * b**2
    jump = np.where(np.eye(T + 1, T) > 0, eta / rare**0.5, 0.0)  # path s jumps at step s, the last one never
    theta = np.full(T + 1, 0.1)
    for t in range(T):
        gradients = np.stack((theta, theta + b), -1)
        similarity = np.maximum(1 - (b / theta) ** 2, 0)[:, None] ** np.array([0, 1])
        alpha = collaboration_weights(criterion, similarity=similarity, sigma2=sigma2)
        assert (eta * alpha.sum(-1) <= 1 + 1e-12).all()
        theta = theta - eta * (alpha * gradients).sum(-1) - alpha[:, 0] * jump[:, t]
    seen = rare * (1 - rare) ** (T - 1) * (theta[:-1] ** 2).sum() / 2  # E[e_T] from below
    rho = np.array([1, 1 - b**2 / (2 * eps)])
    given = {"eta": eta, "mu": 1.0, "beta": 1.0, "q": eta, "e0": 0.005, "T": T, "V_max": 1.0}
    given["s2"] = 1 / (rho**2 / sigma2).sum()
    record = find("adaptive/theorem-2-constant-unconditional")
    assert 0.97 / (2 - eta) < seen / evaluate(record, below=1.0, **given) <= 1
    assert seen > 0.5 * evaluate(record, below=1.0, **given)
    assert seen > 4 * evaluate(record, below=0.0, **given)
