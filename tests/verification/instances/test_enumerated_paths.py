"""Engines of paths and single steps: the noise they say, paths written out, the simulator, sampled renewals."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from one_step import expected_step

from suffice.bounds import Binary, Continuous, collaboration_weights
from suffice.simulate import FixedWeights, Quadratics
from suffice.verification.instances import enumerated_paths, one_step, renewal
from suffice.verification.instances.aligned_pair import Aligned
from suffice.verification.instances.enumerated_paths import QUADRATIC, RIPPLED, WAVE, Paths, uncorrelated
from suffice.verification.instances.one_step import OneStep
from suffice.verification.instances.renewal import Renewal
from suffice.verification.instances.scheduled import best_decreasing_steps, decreasing_steps, horizon_steps

FAMILY = enumerated_paths.family(Paths.excess)


def drawn(count, seed, **change):
    values = FAMILY.draw(count, seed=seed)
    return values | {name: np.full(count, value, dtype=float) for name, value in change.items()}


def test_noise_is_unbiased_of_unit_variance_and_uncorrelated():
    values = drawn(50, 3)
    Z, chance = uncorrelated(values["law"], values["chance"])
    np.testing.assert_allclose(chance.sum(1), 1, rtol=1e-14)
    np.testing.assert_allclose(np.einsum("nj,njk->nk", chance, Z), 0, atol=1e-13)
    second = np.einsum("nj,njk,njl->nkl", chance, Z, Z)
    np.testing.assert_allclose(second, np.broadcast_to(np.eye(3), second.shape), atol=1e-12)
    assert np.abs(Z).max() > 4  # rare and large values too
    signs = np.array([[[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]])
    np.testing.assert_allclose(uncorrelated(signs, np.ones((1, 4)))[0], signs, atol=1e-14)


@pytest.mark.parametrize("loss", [QUADRATIC, RIPPLED, WAVE], ids=lambda loss: loss.name)
def test_losses_have_their_constants(loss):
    x = np.linspace(-9, 9, 20001)
    slope = loss.slope(x)
    np.testing.assert_allclose(np.gradient(loss.value(x), x)[1:-1], slope[1:-1], atol=1e-4)  # step 1e-3, squared
    curvature = np.abs(np.diff(slope) / np.diff(x)).max()
    assert 0.999 * loss.beta < curvature <= loss.beta * (1 + 1e-9)
    assert loss.value(np.zeros(1)) == 0 <= loss.value(x).min()
    assert (slope**2 >= 2 * loss.mu * loss.value(x) * (1 - 1e-9)).all()


def path_by_path(values, loss, at, steps):
    """Every quantity of one instance, from a loop over the sequences of outcomes and scalar formulas."""
    v = {name: value[at] for name, value in values.items()}
    h, T = v["scale"], int(v["T"])
    start = abs(h * loss.slope(np.array(v["theta0"])))
    eps, b, sigma2 = v["slack"] * h * loss.value(np.array(v["theta0"])), v["shift"] * start, v["sigma2"] * start**2
    Z, chance = (x[0] for x in uncorrelated(v["law"][None], v["chance"][None]))
    criterion = Binary(threshold=v["threshold"]) if v["binary"] == 1 else Continuous()
    totals = dict.fromkeys(("excess", "while_running", "still_running", "stopped", "time", "mean_square"), 0.0)
    for outcomes in product(range(4), repeat=T):
        theta, excess, squares, probability = v["theta0"], [], [], 1.0
        for t, outcome in enumerate((*outcomes, None)):
            own = float(h * loss.slope(np.array(theta)))
            excess.append(float(h * loss.value(np.array(theta))))
            squares.append(own**2)
            if outcome is None:
                break
            gradient = np.array([own, *(v["factor"] * own + b)])
            similarity = np.maximum(1 - (gradient - own) ** 2 / own**2, 0)
            alpha = collaboration_weights(criterion, similarity=similarity, sigma2=sigma2)
            theta = theta - steps[t][at] * (alpha * (gradient + np.sqrt(sigma2) * Z[outcome])).sum()
            probability *= chance[outcome]
        tau = next((t for t, e in enumerate(excess) if e < eps), T + 1)
        totals["excess"] += probability * excess[T]
        totals["while_running"] += probability * excess[T] * (tau >= T)
        totals["still_running"] += probability * (tau > T)
        totals["stopped"] += probability * excess[min(T, tau)]
        totals["time"] += probability * min(tau, T)
        totals["mean_square"] += probability * np.mean(squares[:T])
    return totals


@pytest.mark.parametrize("loss", [QUADRATIC, RIPPLED], ids=lambda loss: loss.name)
@pytest.mark.parametrize("steps", [enumerated_paths.constant_steps, decreasing_steps], ids=["constant", "decreasing"])
def test_quantities_are_those_of_paths_written_out(loss, steps):
    values = drawn(12, 5) | {"T": np.tile([1.0, 2.0, 3.0], 4), "slack": np.full(12, 0.4)}
    batch = Paths(values, loss, steps)
    stopping, sizes = 0, [steps(batch.arguments, t) for t in (1, 2, 3)]
    for at in range(12):
        expected = path_by_path(values, loss, at, sizes)
        stopping += 0 < expected["still_running"] < 1
        for name, value in expected.items():
            np.testing.assert_allclose(getattr(batch, name)()[at], value, rtol=1e-11, err_msg=name)
    assert stopping >= 3


def test_fixed_weights_replace_those_of_definition_1():
    values = drawn(5, 8, T=1.0)
    w = np.array([0.5, 0.2, 0.3])
    batch = Paths(values, QUADRATIC, weights=np.tile(w, (5, 1)))
    g = values["scale"] * values["theta0"]
    peers = values["factor"] * g[:, None] + values["shift"] * g[:, None]
    mean = values["theta0"] - batch.arguments["eta"] * (w[0] * g + peers @ w[1:])
    noise = batch.arguments["eta"] ** 2 * (w**2 * batch.sigma2).sum(1)
    np.testing.assert_allclose(batch.excess(), values["scale"] * (mean**2 + noise) / 2, rtol=1e-11)
    q = w[0] + (w[1:] * (1 - (peers / g[:, None] - 1) ** 2)).sum(1)
    np.testing.assert_allclose(batch.contraction(), q, rtol=1e-11)


def test_one_step_in_the_plane_is_that_of_the_simulator():
    """Noise along one direction per client, isotropic in the simulator: the same where R_i has Hessian beta I."""
    values = one_step.family().draw(6, seed=2) | {"flat": np.ones(6)}
    batch = OneStep(values, QUADRATIC)
    for at in range(6):
        beta, theta = values["beta"][at], values["theta"][at]
        # peers of Hessian beta I through the given gradients
        xi = batch.gradients[at] / beta - theta
        problem = Quadratics.of(np.tile(beta / 2 * np.eye(2), (3, 1, 1)), xi, sigma2=values["sigma2"][at])
        alpha = torch.zeros(3, 3, dtype=torch.float64)
        alpha[0] = torch.from_numpy(values["alpha"][at])
        alpha[1:] = 0.1
        models = torch.from_numpy(np.tile(theta, (1, 3, 1)))
        after = expected_step(problem, FixedWeights(alpha=alpha), models, batch.eta[at].item())
        np.testing.assert_allclose(batch.expected_excess()[at], after[0, 0], rtol=1e-10)


def test_growing_noise_has_the_variance_it_says():
    values = one_step.family().draw(20, seed=4)
    batch = OneStep(values, QUADRATIC, adaptive=True, growing=True)
    after, chance = batch.after
    mean = np.einsum("nj,njd->nd", chance, after)
    spread = (chance * ((after - mean[:, None]) ** 2).sum(-1)).sum(1)
    variance = values["sigma2"] + values["growth"] * (batch.gradients**2).sum(-1)
    expected = batch.eta**2 * (batch.alpha**2 * variance).sum(1)
    np.testing.assert_allclose(spread, expected, rtol=1e-9)
    np.testing.assert_allclose((batch.alpha * batch.similarity).sum(1), 1, rtol=1e-12)


def test_a_renewal_is_the_law_of_the_client_sampled():
    values = {name: value[[40]] for name, value in renewal.sharp().items()} | {
        "r": np.array([0.3]),
        "ratio": np.array([0.8]),
    }
    batch = Renewal(values | {"drop": np.array([0.6]), "T": np.array([3.0])})
    assert batch.possible.all()
    eta, beta, e0, V = (batch.arguments[name][0] for name in ("eta", "beta", "e0", "s2"))
    s, weight, pull = np.sqrt(2 * e0 / beta), 1 / 0.3, 1 - np.sqrt(0.7)
    mean = 1 - eta * beta * weight * pull  # one step of the peer's gradient, in units of s
    stay = batch.stay[0]
    chances = [(stay + mean) / 2, 1 - stay, (stay - mean) / 2]
    assert min(chances) >= 0
    noise = s * (np.array([1, 0, -1]) - mean) / (-eta * weight)  # of the peer's gradient
    np.testing.assert_allclose(chances @ noise, 0, atol=1e-12)
    np.testing.assert_allclose(weight**2 * (chances @ noise**2), V, rtol=1e-12)
    rng = np.random.default_rng(1)
    theta, tau = np.full(40000, s), np.zeros(40000)
    for _ in range(400):
        running = beta * theta**2 / 2 >= e0 * (1 - 1e-12)
        tau += running
        gradient = np.sign(theta) * beta * s * pull + np.sign(theta) * rng.choice(noise, size=40000, p=chances)
        theta = np.where(running, theta - eta * weight * gradient, 0)
    error = tau.std() / np.sqrt(len(tau))
    assert abs(tau.mean() - batch.time()[0]) < 6 * error
    assert abs((tau > 3).mean() - batch.still_running()[0]) < 6 * 0.5 / np.sqrt(len(tau))


@pytest.mark.parametrize("fill", [1.0, 0.3])
def test_renewals_under_decreasing_steps_have_laws_of_the_mean_and_variance_that_they_say(fill):
    given = {"beta": 3.0, "low": 1.1, "r": 0.4, "fill": fill, "e0": 2.0, "C": 3.0, "extra": 0.2, "T": 6, "delta": 0.2}
    values = {name: np.array([float(value)]) for name, value in given.items()}
    (running, _), (longest, told) = (renewal.fading(values, longest=longest) for longest in (False, True))
    told = {name: value[0] for name, value in told.items()}
    alive, kinds = [1.0], set()
    for t in range(1, 60):
        eta = told["C"] / (told["mu"] * (t + told["gamma"]))
        assert eta <= told["q"] / told["beta"] * (1 + 1e-12)
        mean = 1 - eta / 0.4 * 3.0 * (1 - np.sqrt(0.6))  # all weight, 1/r, on the peer; in units of s
        variance = eta**2 * told["s2"] / (2 * 2.0 / 3.0)
        few = variance < mean * (1 - mean)
        kinds.add(few)
        square = min(mean**2 + variance, 1)
        chances = [variance, (1 - mean) ** 2] if few else [(square + mean) / 2, 1 - square, (square - mean) / 2]
        points = np.array([1, mean - variance / (1 - mean)] if few else [1, 0, -1])
        chances = np.array(chances) / np.sum(chances)
        assert (chances >= 0).all()
        np.testing.assert_allclose(chances @ points, mean, rtol=1e-12)
        assert chances @ (points - mean) ** 2 <= variance * (1 + 1e-12)
        alive.append(alive[-1] * chances[np.abs(points) >= 1].sum())
    np.testing.assert_allclose(running, alive[6], rtol=1e-12)
    assert longest == np.flatnonzero(np.array(alive) > 0.2)[-1] < 59
    assert kinds == ({True, False} if fill == 1 else {True})


ALIGNED = {
    "beta": 2.0, "kappa": 1.6, "low": 1.3, "r": 0.6, "sigma2_i": 1.0, "sigma2_k": 0.5, "ratio": 1.0, "e0": 3.0,
    "T": 7.0, "eps": 1e-9, "d": 4.0, "C": 1.7, "extra": 0.4,
}  # fmt: skip


@pytest.mark.parametrize("steps", [horizon_steps, decreasing_steps, best_decreasing_steps])
def test_scheduled_moments_are_a_recursion_written_out(steps):
    batch = Aligned.of({name: np.array([value]) for name, value in ALIGNED.items()}, steps)
    arguments = {name: float(value[0]) for name, value in batch.arguments().items()}
    mu, beta, q, V, T = arguments["mu"], arguments["beta"], arguments["q"], arguments["V"], int(arguments["T"])
    curvature = ALIGNED["beta"] / ALIGNED["kappa"]
    assert mu == pytest.approx(curvature / 1.3)
    if steps is horizon_steps:
        floor = beta * V / (2 * mu**2 * T)
        eta = [min(q / beta, np.log(3.0 / floor) / (mu * T))] * T
    else:
        chi = 2 * mu * 3.0 / (q * V)
        C = 1.7 if steps is decreasing_steps else (2 if chi <= 2 else chi / (chi - 1))
        gamma = (1.4 if steps is decreasing_steps else 1) * C * beta / (mu * q) - 1
        assert arguments["gamma"] == pytest.approx(gamma) or steps is best_decreasing_steps
        eta = [C / (mu * (t + gamma)) for t in range(1, T + 1)]
    a = np.array([1, 2.0])
    r = np.array([1, 0.6])
    alpha = a * r / (a * r**2).sum()
    level = 3.0
    for step in eta:
        contraction = 1 - step * curvature * (alpha * (1 - np.sqrt(1 - r))).sum()
        level = contraction**2 * level + step**2 * curvature * (alpha**2 / a).sum() / 2
    np.testing.assert_allclose(batch.excess(), level, rtol=1e-12)
    np.testing.assert_allclose(arguments["eta"], eta[0], rtol=1e-12)
    assert eta[0] <= q / beta * (1 + 1e-12)
