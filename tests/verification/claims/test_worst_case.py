"""Claims on the sharp results: the best weights of one step, the measured sides, faults in them."""

from __future__ import annotations

import numpy as np

from suffice.bounds import find, quadratic_certificate
from suffice.simulate import Local, Quadratics, expected_excess
from suffice.verification import Outcome
from suffice.verification.claims import worst_case
from suffice.verification.instances import quadratic_pairs, worst_path
from suffice.verification.instances.quadratic_pairs import Pairs

CLAIMS = {claim.theorem.key.removeprefix("worst-case/"): claim for claim in worst_case.claims()}


def test_a_certificate_that_is_too_small_is_caught(monkeypatch):
    honest = quadratic_certificate._b2
    monkeypatch.setattr(quadratic_certificate, "_b2", lambda *given: 0.999 * honest(*given))
    assert CLAIMS["quadratic-certificate"].verify().outcome is Outcome.VIOLATED


def test_noise_floors_are_those_of_the_simulator():
    family = worst_path.floors()
    values = family.draw(12, seed=5)
    found = family.evidence(values)
    for at in range(12):
        one, told = ({name: value[at] for name, value in each.items()} for each in (values, found.arguments))
        axes = one["mu"] * one["kappa"] ** one["curvature"]
        start, spread = one["start"] / one["start"].sum(), one["spread"] / one["spread"].sum()
        problem = Quadratics.of(
            np.diag(axes)[None] / 2, np.zeros((1, 3)),
            covariance=one["V"] / one["pull"] ** 2 * np.diag(spread)[None], start=np.sqrt(2 * one["e0"] * start / axes),
        )  # fmt: skip
        exact = expected_excess(problem, Local(), iterations=int(one["T"]), eta=told["eta"] * one["pull"])
        np.testing.assert_allclose(found.measured[at], exact[-1, 0], rtol=1e-11)


def test_the_weights_of_the_sharp_step_have_the_least_worst_case():
    """What one-step says of other weights x = eta alpha, which it attains, is never below sharp-step."""
    n, rng = 200, np.random.default_rng(8)
    r, sigma2, beta = rng.uniform(0.05, 1, (n, 3)), 10 ** rng.uniform(-2, 2, (n, 3)), 10 ** rng.uniform(-1, 1, n)
    p = 1 - np.sqrt(1 - r)
    Y, Z = (p**2 / sigma2).sum(-1), (p / sigma2).sum(-1)
    gradient = np.sqrt(rng.uniform(0.02, 1, n) / np.maximum(Z - Y, 0.05 * Z))
    least = find("worst-case/sharp-step").bound(beta=beta, gradient=gradient, agreement=Y)
    x = (gradient**2 / (beta * (1 + gradient**2 * Y)))[:, None] * p / sigma2
    for spread in (0.0, 0.03, 0.3, 1.0):
        alpha = x * np.exp(spread * rng.normal(size=x.shape))
        given = {"eta": np.ones(n), "beta": beta, "gradient": gradient, "V": (alpha**2 * sigma2).sum(-1)}
        given |= {"weight": alpha.sum(-1), "pull": (alpha * p).sum(-1)}
        worst = find("worst-case/one-step").bound(**given)
        assert (worst >= least * (1 - 1e-9)).all()
        if spread == 0:
            np.testing.assert_allclose(worst, least, rtol=1e-9)


# --- the other measured sides ---------------------------------------------------------------------------------------


def test_no_point_of_the_ellipse_has_a_larger_ratio_than_the_largest():
    family = quadratic_pairs.family(2)
    values = family.draw(40, seed=4)
    batch = Pairs(values)
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
    family = worst_path.rotated_gradients()
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
