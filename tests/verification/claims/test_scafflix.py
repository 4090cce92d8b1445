"""Claims on the Scafflix paper: the moments behind them against the simulator, and a fault in that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from suffice.bounds import find
from suffice.simulate import LeastSquares, Quadratics, Scaffnew, expected_moments
from suffice.verification.claims import scafflix
from suffice.verification.claims.scafflix import complexity, rates, step_moments
from suffice.verification.claims.scafflix.assumption import sampled
from suffice.verification.claims.scafflix.moments import Clients, orthogonal

CLAIMS = {(c.theorem.key.removeprefix("scafflix/"), c.theorem.edition): c for c in scafflix.claims()}


# --- engines ----------------------------------------------------------------------------------------------


def draw(seed, *, n=3, d=2):
    """Diagonal quadratics with anchors, weights, noise and any start."""
    rng = np.random.default_rng(seed)
    H, centre, anchor = rng.uniform(0.3, 2, (n, d)), rng.normal(size=(n, d)), rng.normal(size=(n, d))
    alpha, C, eta = rng.uniform(0.2, 1, n), rng.uniform(0.1, 1, n), rng.uniform(0.1, 0.4, n)
    x, h, p = rng.normal(size=(n, d)), rng.normal(size=(n, d)), rng.uniform(0.2, 1)
    optimum = (alpha[:, None] * H * (centre - (1 - alpha)[:, None] * anchor)).sum(0) / (alpha[:, None] ** 2 * H).sum(0)
    best = alpha[:, None] * optimum + (1 - alpha)[:, None] * anchor
    star = H * (best - centre)
    given = Clients(curvature=H[None], A=H.max(1)[None], C=C[None], alpha=alpha[None], eta=eta[None], p=np.array([p]),
                    saturation=np.zeros(1), models=(x - optimum)[None], control=(h - star)[None])  # fmt: skip
    problem = Quadratics.of(np.stack([np.diag(row) for row in H]) / 2, -centre, sigma2=C, start=x)
    rule = Scaffnew(p=p, alpha=torch.tensor(alpha), anchors=torch.tensor(anchor), control=torch.tensor(h))
    return given, problem, rule, eta, best - centre, star


def squares(moments, name, point, t):
    """E|variable - point|^2 of each client."""
    second, mean = moments.of(name)[t].diagonal().numpy(), moments.mean(name)[t].numpy()
    return (second.reshape(point.shape) - 2 * mean.reshape(point.shape) * point + point**2).sum(-1)


@pytest.mark.parametrize("seed", range(4))
def test_moments_with_coins_are_those_of_the_simulator(seed):
    given, problem, rule, eta, best, star = draw(seed)
    T = 11
    moments = expected_moments(problem, rule, iterations=T, eta=eta)
    for t in (0, 1, T):
        model, control = given._squares(given.after(np.array([float(t)])))
        np.testing.assert_allclose(model[0], squares(moments, "models", best, t), rtol=1e-10)
        np.testing.assert_allclose(control[0], squares(moments, "control", star, t), rtol=1e-10)
    step = given.start
    for _ in range(T):
        step = given.step(step)
    np.testing.assert_allclose(step, given.after(np.array([float(T)])), rtol=1e-10, atol=1e-13)


def test_noise_that_grows_with_the_distance_is_that_of_sampled_least_squares():
    """Rows 0 or s with responses s theta*: all samples agree at theta*, where a ridge keeps the gradients apart."""
    ridge, p, T = 0.3, 0.5, 7
    s, chosen = np.array([1.2, 0.7]), np.array([0.5, 0.25])  # row s with this frequency
    curvature = 2 * chosen * s**2 + ridge
    second = chosen * (2 * s**2 + ridge) ** 2 + (1 - chosen) * ridge**2  # E (slope)^2
    A = second / curvature
    alpha, eta = np.array([1.0, 0.6]), 0.9 / A
    # both models start at 1 and theta* = 0 for both clients: gradients there vanish, and so do h_i^*
    X = [np.array([[s[0]], [0.0]]), np.array([[s[1]], [0.0], [0.0], [0.0]])]
    problem = LeastSquares.of(X, [np.zeros(2), np.zeros(4)], regularisation=ridge, start=[1.0])
    h = orthogonal(np.array([[[0.4], [-1.0]]]), alpha[None])[0]
    rule = Scaffnew(p=p, alpha=torch.tensor(alpha), control=torch.tensor(h))
    moments = expected_moments(problem, rule, iterations=T, eta=eta)
    given = Clients(curvature=curvature[None, :, None], A=A[None], C=np.zeros((1, 2)), alpha=alpha[None],
                    eta=eta[None], p=np.array([p]), saturation=np.ones(1), models=np.ones((1, 2, 1)),
                    control=h[None])  # fmt: skip
    model, control = given._squares(given.after(np.array([float(T)])))
    np.testing.assert_allclose(model[0], squares(moments, "models", np.zeros((2, 1)), T), rtol=1e-10)
    np.testing.assert_allclose(control[0], squares(moments, "control", np.zeros((2, 1)), T), rtol=1e-10)


def test_excess_and_weighted_distance_follow_their_definitions():
    given, *_ = draw(9)
    moment = given.start  # a point: everything is plain arithmetic
    e, h = given.models[0], given.curvature[0]
    alpha, eta = given.alpha[0], given.eta[0]
    weights = alpha**2 / eta / (alpha**2 / eta).sum()
    mean = weights @ e
    np.testing.assert_allclose(given.excess(moment), ((alpha**2 @ h) * mean**2).sum() / 3 / 2, rtol=1e-12)
    distance = (alpha[:, None] ** 2 * e**2).sum(-1)
    np.testing.assert_allclose(given.weighted(moment), (h.min(-1) * distance).sum() / 6, rtol=1e-12)
    np.testing.assert_allclose(given.arguments()["V0"], 3 * given.lyapunov(moment) / eta.min(), rtol=1e-14)


def test_the_constraint_stays_exactly_where_it_is():
    values = rates._attained(True)
    given = rates.clients(values)
    moment = given.after(np.full(len(values["p"]), 200.0))
    _, n, _ = given.shape
    # the part of the control variates along alpha is 0, and left out; where one client batch has it, 0 in the others
    np.testing.assert_allclose(np.einsum("bi,bij->bj", given.alpha, given.basis), 0, atol=1e-15)
    away = np.zeros_like(given.control)
    away[0] = 1
    beside = replace(given, control=given.control + away).after(np.full(len(values["p"]), 200.0))
    assert (beside[1:, ..., n, n] == 0).all()
    assert (beside[0, ..., n, n] > 1e-3).all()
    np.testing.assert_allclose(beside[1:, ..., :n, :n], moment[1:, ..., :n, :n], rtol=1e-9, atol=1e-13)
    assert (given.lyapunov(moment)[values["C"].max(-1) == 0] < 1e-6).all()


def test_the_last_iteration_above_the_target_is_found():
    kappa = 50.0
    values = complexity._rows(1, [{"spare": kappa, "relative": 0.01}], {"relative": 0.1, "p": 1.0})
    measured = complexity.measure(values, complexity._corollary_1, communications=False).measured[0]
    levels = (1 - 1 / kappa) ** np.arange(1000)
    assert measured == np.flatnonzero(levels > 0.01).max()


def test_samples_have_the_mean_and_variance_of_all_minibatches():
    rng = np.random.default_rng(3)
    a, L, residual, away = rng.normal(size=(3, 2)), rng.uniform(0.5, 2, 3), rng.normal(size=3), rng.normal(size=2)
    given = {"direction": a, "L": L, "residual": residual, "away": away, "m": 2.0}
    evidence = sampled({name: np.asarray(value)[None] for name, value in given.items()}, batch=True)
    unit = a / np.linalg.norm(a, axis=1, keepdims=True)
    gradients = (L * (unit @ away + residual))[:, None] * unit
    best = ((L * residual)[:, None] * unit).mean(0)
    means = [(gradients[i] + gradients[j]) / 2 for i in range(3) for j in range(3)]
    np.testing.assert_allclose(evidence.measured, np.mean([((g - best) ** 2).sum() for g in means]), rtol=1e-13)


# --- planted faults ---------------------------------------------------------------------------------------


def test_the_print_holds_for_convex_samples_that_are_as_smooth_as_it_asks():
    """5000 draws of its own hypotheses and of convexity: only samples that are not convex refute it."""
    (family,) = CLAIMS["assumption-3-finite-sum", "printed"].families
    ratio = family.evidence(family.draw(5000, seed=1)).ratio(find("scafflix/assumption-3-finite-sum", "printed"))
    assert 0.8 < ratio.max() <= 1
    refuting = family.evidence(family.sharp())
    assert (family.sharp()["L"] < 0).any()
    assert (refuting.ratio(find("scafflix/assumption-3-finite-sum", "printed")) > 9).all()


def test_a_simulator_whose_control_variates_move_the_wrong_way_is_caught(monkeypatch):
    def backwards(self, problem, state, draw, eta, honest=Scaffnew.step):
        after = honest(self, problem, state, draw, eta)
        return {**after, "control": 2 * state["control"] - after["control"]}

    theorem = find("scafflix/theorem-1")
    monkeypatch.setattr(Scaffnew, "step", backwards)
    fault = step_moments.simulated(24, 1)
    assert fault.ratio(theorem)[fault.counted(theorem)].max() > 2
