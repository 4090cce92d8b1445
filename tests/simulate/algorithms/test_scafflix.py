"""Scaffnew, i-Scaffnew, Scafflix and FLIX: where they converge, and their starts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import N, parts

from suffice.bounds import InputError
from suffice.simulate import Flix, Quadratics, Scaffnew, run

P = 0.4
ALPHA = np.array([0.9, 0.3, 1.0, 0.05, 0.5, 0.7])
GAMMA = np.array([0.1, 0.25, 0.15, 0.2, 0.12, 0.18])
ANCHORS = np.random.default_rng(70).normal(size=(N, 3))


def built(sigma2: float) -> Quadratics:
    A, xi, _, start = parts()
    return Quadratics.of(A, xi, sigma2=sigma2, start=start)


def flix_solution(alpha: np.ndarray, y: np.ndarray) -> np.ndarray:
    """argmin_x sum_i f_i(alpha_i x + (1 - alpha_i) y_i), where sum_i alpha_i grad f_i vanishes."""
    A, xi, _, _ = parts()
    H = np.einsum("i,ide->de", alpha**2, A)
    return -np.linalg.solve(H, np.einsum("i,ide,ie->d", alpha, A, (1 - alpha)[:, None] * y + xi))


def final(problem: Quadratics, rule, eta, iterations: int) -> np.ndarray:
    """The last models (N, d) of one seed."""
    return run(problem, rule, iterations=iterations, eta=eta, seeds=1, models=True).models[0]


@pytest.mark.parametrize("anchored", [True, False], ids=["optima", "any anchors"])
def test_without_noise_flix_and_scafflix_reach_the_mixed_optimum(anchored):
    problem, alpha = built(0.0), torch.from_numpy(ALPHA)
    y = problem.optimum.numpy() if anchored else ANCHORS
    anchors = None if anchored else torch.from_numpy(y)
    x = flix_solution(ALPHA, y)
    expected = ALPHA[:, None] * x + (1 - ALPHA)[:, None] * y
    rules = [
        (Flix(alpha=alpha, anchors=anchors), 0.3),
        (Scaffnew(p=0.5, alpha=alpha, anchors=anchors), GAMMA),
        (Scaffnew.scafflix(problem, p=0.5, alpha=alpha, eta=torch.from_numpy(GAMMA), anchors=anchors), GAMMA),
    ]
    for rule, eta in rules:
        models = final(problem, rule, eta, 300)
        # contraction 1 - min(gamma mu, p^2) and 1 - eta mean(alpha^2 mu) of squares: 0.85 per iteration
        np.testing.assert_allclose(models, expected, atol=1e-11)


def test_starts_after_one_communication():
    """f_1 = x^2 / 2, f_2 = (x - 2)^2 / 2; with alpha = (1, 1/2) and their optima as anchors FLIX has x* = 0.4.

    Gradients at x = 0 are (0, -1). Printed: minus their mean, sum alpha h = 1/4, so 1.25 x - 0.5 = 0.25.
    """
    problem = Quadratics.of(np.full((2, 1, 1), 0.5), [[0.0], [-2.0]], sigma2=0.0)
    alpha = torch.tensor([1.0, 0.5], dtype=torch.float64)
    corrected = Scaffnew.scafflix(problem, p=0.5, alpha=alpha, eta=0.5)
    printed = Scaffnew.scafflix(problem, p=0.5, alpha=alpha, eta=0.5, start="printed")
    for rule, expected in ((corrected, 0.4), (printed, 0.6)):
        np.testing.assert_allclose(final(problem, rule, 0.5, 150)[0, 0], expected, atol=1e-12)
    with pytest.raises(InputError, match=r"^start = 'print': use corrected or printed"):
        Scaffnew.scafflix(problem, p=0.5, alpha=alpha, eta=0.5, start="print")
    given = Scaffnew.scafflix(problem, p=0.5, alpha=alpha, eta=torch.tensor([0.5, 0.1])).control
    np.testing.assert_allclose(alpha.numpy() @ given.numpy(), 0, atol=1e-15)


def test_exact_gradients_on_request():
    clean, noisy = built(0.0), built(2.0)
    for make in (
        lambda population: Flix(alpha=0.5, population=population),
        lambda population: Scaffnew(p=P, population=population),
    ):
        one = run(clean, make(False), iterations=5, eta=0.1, seeds=2).excess
        np.testing.assert_array_equal(run(noisy, make(True), iterations=5, eta=0.1, seeds=2).excess, one)
        assert (run(noisy, make(False), iterations=5, eta=0.1, seeds=2).excess[:, 1:] != one[:, 1:]).all()
