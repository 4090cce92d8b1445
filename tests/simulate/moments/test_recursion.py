"""The exact curve against probing the algorithm's own step, against paths in plain NumPy, and wrong variants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suffice.simulate import FixedWeights, LeastSquares, Quadratics, StreamingLeastSquares
from suffice.simulate.excess_loss import expected_excess
from suffice.simulate.moments.gradient_moments import moments_of_rows
from suffice.simulate.moments.orbits import BLOCK, orbit, orbit_sum
from suffice.simulate.moments.recursion import ExactRecursion

N, D, STEPS, ETA = 3, 3, 9, 0.04


def rows(seed=0, shift=0.0, counts=(7, 9, 30)):
    """Three clients with different optima, noise and curvature, and an intercept."""
    rng = np.random.default_rng(seed)
    X = [np.column_stack((np.ones(n), rng.normal(size=(n, D - 1)) * (1 + k))) for k, n in enumerate(counts)]
    y = [x @ rng.normal(size=D) + (0.5 + k) * rng.normal(size=len(x)) + shift for k, x in enumerate(X)]
    return X, y


def least_squares(**options):
    return LeastSquares.of(*rows(), start=np.random.default_rng(5).normal(size=(N, D)), **options)


def quadratics():
    rng = np.random.default_rng(1)
    root, spread = rng.normal(size=(2, N, D, D))
    A, covariance = root @ root.swapaxes(1, 2) / D + 0.1 * np.eye(D), spread @ spread.swapaxes(1, 2)
    return Quadratics.of(A, rng.normal(size=(N, D)), covariance=covariance, start=rng.normal(size=(N, D)))


def streaming(bias):
    rng = np.random.default_rng(2)
    root = rng.normal(size=(N, D, D))
    return StreamingLeastSquares.of(
        root @ root.swapaxes(1, 2) / D + 0.1 * np.eye(D), rng.normal(size=(N, D + bias)), label_noise=[0.1, 1.0, 2.0],
        batch=2, bias=bias, start=rng.normal(size=(N, D + bias)),
    )  # fmt: skip


PROBLEMS = {
    "rows": lambda: least_squares(),
    "ridge and batch": lambda: least_squares(regularisation=0.4, batch=3),
    "quadratics": quadratics,
    "streams": lambda: streaming(bias=False),
    "streams with a bias": lambda: streaming(bias=True),
}
ALPHA = np.random.default_rng(3).uniform(0, 1, (N, N)) * [[1, 1, 0], [1, 1, 1], [1, 0, 1]]
ALPHA /= ALPHA.sum(1, keepdims=True)


def by_probing(problem):
    """(T + 1, N) by `simulate.moments`, which calls the algorithm's own step on unit vectors."""
    return expected_excess(problem, FixedWeights(alpha=ALPHA), iterations=STEPS, eta=ETA)


def curves(moments, kind=ExactRecursion):
    return np.stack([kind(moments=moments, client=i).curve(ETA * ALPHA[i], STEPS) for i in range(N)], axis=1)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_curve_is_that_of_the_algorithms_own_step(name):
    problem = PROBLEMS[name]()
    moments = problem.gradient_moments()
    expected = by_probing(problem)
    np.testing.assert_allclose(curves(moments), expected, rtol=1e-11)
    # and in other coordinates, where the step is another one: theta+ = theta - basis basis' sum v_k g_k
    d = problem.features
    basis = np.linalg.qr(np.random.default_rng(4).normal(size=(d, d)))[0]
    np.testing.assert_allclose(curves(moments.in_basis(basis)), expected, rtol=1e-10)
    assert np.abs(curves(moments.in_basis(1.1 * basis)) / expected - 1).max() > 1e-3


def radius(recursion, v):
    """The spectral radius of the whole matrix, by an unsymmetric solver."""
    return np.abs(np.linalg.eigvals(recursion.matrix(v)[1:, 1:])).max()


def test_the_step_limit_separates_decay_from_explosion():
    for client in range(N):
        recursion = ExactRecursion(moments=least_squares().gradient_moments(), client=client)
        v = recursion.limit(ALPHA[client]) * ALPHA[client]
        np.testing.assert_allclose(recursion.limit(v), 1, rtol=1e-10)
        np.testing.assert_allclose(radius(recursion, v), 1, rtol=1e-10)
        assert radius(recursion, 0.99 * v) < 1 < radius(recursion, 1.01 * v)


def test_the_floor_is_where_the_curve_ends():
    recursion = ExactRecursion(moments=least_squares().gradient_moments(), client=0)
    v = 0.3 * recursion.limit(ALPHA[0]) * ALPHA[0]
    np.testing.assert_allclose(recursion.floor(v), recursion.curve(v, 3000)[-1], rtol=1e-11)
    # what no smaller step removes: the excess where the weighted gradients vanish
    moments = recursion.moments
    gap = np.linalg.solve(np.tensordot(v, moments.A, 1), -v @ moments.gradients[..., 0]) - moments.optimum[0]
    bias = gap @ moments.A[0] @ gap
    assert bias < recursion.floor(v)
    np.testing.assert_allclose(recursion.floor(1e-4 * v), bias, rtol=1e-2)


def test_the_first_step_below_is_found_by_steps_and_by_blocks_and_what_never_arrives_says_so_soon():
    recursion = ExactRecursion(moments=least_squares().gradient_moments(), client=2)
    for share, horizon in ((0.5, 1000), (0.02, 2000), (0.001, 20_000)):
        v = share * recursion.limit(ALPHA[2]) * ALPHA[2]
        curve = recursion.curve(v, horizon)
        epsilon = 1.1 * curve[-1]
        expected = int(np.flatnonzero(curve <= epsilon)[0])
        to = replace(recursion, unit=epsilon)
        assert expected - 1 < to.arrival(v, horizon) <= expected
        assert to.arrival(v, expected - 1) == np.inf
        assert replace(recursion, unit=0.9 * recursion.floor(v)).arrival(v, 10**9) == np.inf
    assert expected > 20 * BLOCK  # blocks were needed
    assert replace(recursion, unit=recursion.excess).arrival(v, 10) == 0


def test_responses_far_from_zero_lose_no_digits():
    start = np.zeros((N, D))
    found = []
    for shift in (0.0, 1e6):
        X, y = rows(shift=shift)
        start[:, 0] = shift
        moments = moments_of_rows(list(zip(X, y)), start=start)
        found.append(ExactRecursion(moments=moments, client=0).curve(0.03 * ALPHA[0], 60))
    # responses near 1e6 carry rounding of 1e-10 themselves
    np.testing.assert_allclose(found[1], found[0], rtol=1e-8)


def test_a_site_with_fewer_rows_than_coefficients_goes_to_the_nearest_minimiser():
    X, y = rows(counts=(2, 9, 30))
    start = np.ones((N, D))
    moments = moments_of_rows(list(zip(X, y)), start=start)
    recursion = ExactRecursion(moments=moments, client=0)
    # it moves in the span of its rows and fits them
    found = moments.optimum[0] - moments.start[0] + start[0]
    np.testing.assert_allclose(X[0] @ found, y[0], rtol=1e-10)
    np.testing.assert_allclose(np.linalg.lstsq(X[0].T, found - start[0], rcond=None)[1], 0, atol=1e-20)
    np.testing.assert_allclose(recursion.excess, ((X[0] @ start[0] - y[0]) ** 2).mean(), rtol=1e-12)
    alone = np.array([1.0, 0, 0])
    v = 0.5 * recursion.limit(alone) * alone
    assert recursion.floor(v) < 1e-12 * recursion.excess  # fitted exactly: no noise there
    np.testing.assert_allclose(
        recursion.floor(0.01 * ALPHA[0]), recursion.curve(0.01 * ALPHA[0], 30_000)[-1], rtol=1e-9
    )
    # a peer's directions that the client itself cannot see stay where they are under its own gradients
    far = ExactRecursion(moments=moments, client=1)
    rates = far.limit(alone) / 2 * alone
    np.testing.assert_allclose(far.floor(rates), far.curve(rates, 30_000)[-1], rtol=1e-9)


@pytest.mark.parametrize("steps", [1, 5, 63, 64, 200, 777])
def test_paths_and_sums_over_steps_by_doubling_are_those_step_by_step(steps):
    rng = np.random.default_rng(steps)
    M = rng.normal(size=(2, 3, 6, 6))
    M /= np.abs(np.linalg.eigvals(M)).max(-1)[..., None, None]  # neither overflow nor underflow
    z, p = rng.normal(size=(2, 2, 3, 6))
    forth, back = [z], [p]
    for _ in range(steps):
        forth.append((M @ forth[-1][..., None])[..., 0])
        back.append((back[-1][..., None, :] @ M)[..., 0, :])
    np.testing.assert_allclose(orbit(M, z, steps), np.stack(forth, axis=-1), rtol=1e-8, atol=1e-10)
    for at in np.ndindex(2, 3):
        expected = sum(np.outer(b[at], f[at]) for b, f in zip(reversed(back[:steps]), forth))
        scale = np.abs(expected).max()
        found, end = orbit_sum(M[at], z[at], p[at], steps)
        np.testing.assert_allclose(found / scale, expected / scale, atol=1e-10)
        np.testing.assert_allclose(end, forth[-1][at], rtol=1e-8, atol=1e-10)
