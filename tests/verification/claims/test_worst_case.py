"""Claims on the sharp results: the supremum of one step found by search, the measured sides, faults in them."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import Binary, Continuous, collaboration_weights, find, quadratic_certificate
from suffice.simulate import Additive
from suffice.verification import Outcome
from suffice.verification.claims import worst_case
from suffice.verification.instances import quadratic_pairs, worst_path, worst_step
from suffice.verification.instances.quadratic_pairs import Pairs
from suffice.verification.instances.worst_step import Steps

CLAIMS = {claim.theorem.key.removeprefix("worst-case/"): claim for claim in worst_case.claims()}


def test_a_certificate_that_is_too_small_is_caught(monkeypatch):
    honest = quadratic_certificate._b2
    monkeypatch.setattr(quadratic_certificate, "_b2", lambda *given: 0.999 * honest(*given))
    assert CLAIMS["quadratic-certificate"].verify().outcome is Outcome.VIOLATED


def test_a_simulator_with_twice_the_noise_is_caught(monkeypatch):
    honest = Additive.scenarios
    monkeypatch.setattr(Additive, "scenarios", lambda self: (honest(self)[0], 2 * honest(self)[1]))
    theorem = find("worst-case/one-step")
    assert worst_step.simulated(2, 0).ratio(theorem).max() > 1.5


def test_a_simulator_of_more_noise_over_many_steps_is_caught(monkeypatch):
    theorem = find("worst-case/noise-floor")
    assert worst_path.simulated(8, 0).ratio(theorem).max() <= 1 + 1e-12
    given = Additive.given

    def louder(covariance):
        return given(1.1 * covariance)

    monkeypatch.setattr(Additive, "given", louder)
    assert worst_path.simulated(8, 0).ratio(theorem).max() > 1.02


# --- the supremum of one step by search --------------------------------------------------------------------------


def test_the_worst_instance_found_attains_the_bound_on_the_line_and_in_the_plane():
    theorem = find("worst-case/one-step")
    line, plane = worst_step.found(100, 5)
    for evidence, least in ((line, 1 - 1e-9), (plane, 1 - 1e-5)):  # the climb slows down near eta beta A = 1
        assert evidence.counted(theorem).all()
        ratio = evidence.ratio(theorem)
        assert (ratio > least).all()
        assert (ratio <= 1 + 1e-9).all()
    lengths = line.arguments["eta"] * line.arguments["beta"] * line.arguments["weight"]
    assert 20 < (lengths <= 1).sum() < 80  # both branches


TABLE = (  # beta = sigma = |g| = 1; E[e_t] - e_{t-1} at eta beta A = .1, .5, .999
    ((1.0,), Continuous(), (-0.0900, -0.2500, -0.0010)),
    ((1.0, 0.5), Continuous(), (-0.0707, -0.2397, -0.1948)),
    ((1.0, 0.8, 0.5), Continuous(), (-0.0649, -0.2411, -0.2737)),
    ((1.0, 0.5), Binary(threshold=0.5), (-0.0601, -0.2085, -0.1878)),
)


@pytest.mark.parametrize(("similarity", "criterion", "expected"), TABLE)
@pytest.mark.parametrize("d", [1, 2])
def test_the_worst_instance_found_has_the_known_values(similarity, criterion, expected, d):
    r = np.array([similarity] * 3)
    n, peers = r.shape
    alpha = collaboration_weights(criterion, similarity=r, sigma2=np.ones_like(r))
    rng = np.random.default_rng(7)
    steps = Steps(
        eta=np.array([0.1, 0.5, 0.999]) / alpha.sum(-1),
        beta=np.ones(n),
        gradient=np.ones(n),
        alpha=alpha,
        r=r,
        sigma2=np.ones_like(r),
        H=np.zeros((n, d, d)),
        u=rng.normal(size=(n, peers, d)),
        noise=np.broadcast_to(np.eye(d)[0], (n, peers, d)),
    )
    found = worst_step.worst(steps).shortfall() - 0.5
    np.testing.assert_allclose(found, expected, rtol=0, atol=6e-5)  # printed to four digits


def test_the_weights_of_the_sharp_step_have_the_least_worst_case_found():
    family = worst_step.sharp_weights()
    values = family.draw(30, seed=2)
    best = family.evidence(values)
    bound = find("worst-case/sharp-step").bound
    assert bound is not None
    least = bound(**{name: best.arguments[name] for name in ("beta", "gradient", "agreement")})
    n, peers = values["r"].shape
    p = 1 - np.sqrt(1 - values["r"])
    G, Y = best.arguments["gradient"] ** 2, best.arguments["agreement"]
    x = (G / (values["beta"] * (1 + G * Y)))[:, None] * p / values["sigma2"]
    rng = np.random.default_rng(8)
    for spread in (0.0, 0.03, 0.3, 1.0):
        other = Steps(
            eta=np.ones(n),
            beta=values["beta"],
            gradient=best.arguments["gradient"],
            alpha=x * np.exp(spread * rng.normal(size=x.shape)),
            r=values["r"],
            sigma2=values["sigma2"],
            H=np.ones((n, 1, 1)),
            u=np.ones((n, peers, 1)),
            noise=np.ones((n, peers, 1)),
        )
        found = worst_step.worst(other).shortfall()
        assert (found >= least * (1 - 1e-9)).all()
        if spread == 0:
            np.testing.assert_allclose(found, least, rtol=1e-9)


# --- the other measured sides ---------------------------------------------------------------------------------------


def test_largest_ratios_on_the_circle_are_those_of_the_ascent_and_no_point_of_the_ellipse_has_a_larger_one():
    family = quadratic_pairs.family(2)
    values = family.draw(40, seed=4)
    batch = Pairs(values)
    circle = batch.largest_ratio_on_circle()
    np.testing.assert_allclose(circle, batch.largest_ratio(), rtol=1e-11)
    eps = batch.lemma_2()["eps"]
    turn = np.linspace(0, 2 * np.pi, 40_001)
    for A, xi, e, largest in zip(batch.A, batch.xi, eps, batch.largest_ratio_at_excess()):
        # u of length sqrt(e): e_0 = (theta + xi_0)^T A_0 (theta + xi_0) is |u|^2 at theta = L^-T u - xi_0, A_0 = L L^T
        theta = (
            np.linalg.solve(np.linalg.cholesky(A[0]).T, np.sqrt(e) * np.stack((np.cos(turn), np.sin(turn)))).T - xi[0]
        )
        own, peer = (2 * (theta + xi[k]) @ A[k] for k in (0, 1))
        found = (((peer - own) ** 2).sum(1) / (own**2).sum(1)).max()
        np.testing.assert_allclose(largest, found, rtol=1e-6)  # the grid's step squared, of ratios that turn slowly
        assert largest >= found * (1 - 1e-12)
    level = 2 * batch.lemma_2()["mu"] * eps  # what PL says of |grad R_i|^2 at that excess
    assert (level <= (batch.g**2).sum(-1) * (1 + 1e-12)).all()


def test_the_turned_peers_have_the_similarity_they_are_given():
    # one step of the family by hand: grad R_k = (I + sqrt(1 - r_k) reach_k turn_k) grad R_i
    family = worst_path.turned()
    values = family.draw(1, seed=6) | {"T": np.ones(1)}
    evidence = family.evidence(values)
    mu, kappa = values["mu"][0], values["kappa"][0]
    H = np.diag(mu * kappa ** values["curvature"][0])
    theta = np.array([np.cos(values["start"][0]), np.sin(values["start"][0])])
    own, after = H @ theta, theta.copy()
    for alpha, r, reach, angle in zip(*(values[name][0] for name in ("alpha", "r", "reach", "angle"))):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        peer = own + np.sqrt(1 - r) * reach * turn @ own
        assert 1 - ((peer - own) ** 2).sum() / (own**2).sum() >= r - 1e-12
        after = after - evidence.arguments["eta"][0] * alpha * peer
    np.testing.assert_allclose(evidence.measured[0], after @ H @ after / 2, rtol=1e-12)
    np.testing.assert_allclose(evidence.arguments["e0"][0], theta @ H @ theta / 2, rtol=1e-12)


def test_curvature_of_the_bent_loss_is_between_mu_and_beta():
    family = worst_path.bent()
    values = family.draw(200, seed=7)
    one = {**values, "T": np.zeros(200)}
    evidence = family.evidence(one)
    # at theta = 1 with the kink inside: the excess is between that of curvature mu and of curvature beta
    assert (evidence.measured >= evidence.arguments["mu"] / 2 * (1 - 1e-12)).all()
    assert (evidence.measured <= evidence.arguments["beta"] / 2 * (1 + 1e-12)).all()
