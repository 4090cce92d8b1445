"""Weighted gradient averaging with bias correction."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import N, affine_error, assert_follows, assert_same_path, built, common, costs, parts, randomness, simulated

from suffice.bounds import InputError
from suffice.simulate import WGABC, FixedWeights, Local, Quadratics, expected_excess, run


def bias_corrected(a: float, b: float):
    def path(seed, g, theta):
        c, t = np.zeros_like(theta), 0
        yield theta
        while True:
            t += 1
            after, corrected = np.empty_like(theta), np.empty_like(theta)
            for i in range(N):
                own = g(i, theta[i], t)
                peers = np.mean([g(k, theta[i], t) for k in range(N) if k != i], axis=0)
                after[i] = theta[i] - 0.1 * ((1 - a) * own + a * (peers + c[i]))
                corrected[i] = (1 - b) * c[i] + b * (own - peers)
            theta, c = after, corrected
            yield theta

    return path


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.1), (0.9, 1.0), (1.0, 0.4)])
def test_paths_are_those_of_a_plain_transcription(a, b):
    assert_follows(WGABC(mixture=a, memory=b), bias_corrected(a, b))


def test_the_step_is_affine_and_leaves_a_common_optimum_alone():
    assert WGABC().linear
    assert affine_error(WGABC(), iteration=1) < 1e-13
    problem = common(built())
    path = simulated(WGABC(), problem, 8, 0.2)
    np.testing.assert_allclose(path, np.broadcast_to(problem.start.numpy(), path.shape), rtol=0, atol=1e-13)


def test_without_memory_it_is_plain_averaging_and_without_mixture_local():
    a = 0.7
    alpha = (1 - a) * torch.eye(N, dtype=torch.float64) + a * (1 - torch.eye(N, dtype=torch.float64)) / (N - 1)
    assert_same_path(WGABC(mixture=a, memory=0.0), FixedWeights(alpha=alpha), built())
    assert_same_path(WGABC(mixture=0.0, memory=0.3), Local(), built())
    rule, problem = WGABC(mixture=a), built()
    state = rule.init(problem, problem.start[None])
    got = rule.collaboration(problem, state, rule.draw(problem, randomness(0), 1))
    torch.testing.assert_close(got[0], alpha, rtol=1e-14, atol=0)


def test_the_correction_removes_the_bias_that_plain_averaging_keeps():
    """At rest c_i = o_i - p_i, so the direction (1 - a) o_i + a (p_i + c_i) = o_i is 0 at the own optimum alone."""
    A, xi, _, start = parts()
    quiet = Quadratics.of(A, xi, sigma2=0.0, start=start)
    for memory, low, high in [(0.0, 1e-3, 10), (0.2, 0, 1e-9)]:
        models = simulated(WGABC(mixture=0.6, memory=memory), quiet, 300, 0.1)[-1]
        excess = quiet.excess(torch.from_numpy(models))
        assert low <= excess.min() <= excess.max() < high


def test_the_correction_used_is_independent_of_the_step_s_noise():
    """One step from rest with c known: the variance of the step is that of (1 - a) o + a p alone."""
    A, xi, s2, start = parts()
    a, eta = 0.6, 0.1
    problem = Quadratics.of(A, xi, sigma2=s2, start=start)
    mean = expected_excess(
        Quadratics.of(A, xi, sigma2=0.0, start=start), WGABC(mixture=a, memory=1), iterations=1, eta=eta
    )
    got = expected_excess(problem, WGABC(mixture=a, memory=1), iterations=1, eta=eta)
    for i in range(N):
        weights = np.full(N, a / (N - 1))
        weights[i] = 1 - a
        expected = eta**2 * (weights**2 @ s2) / 3 * np.trace(A[i])
        np.testing.assert_allclose(got[1, i] - mean[1, i], expected, rtol=1e-11)


def test_costs_are_those_of_the_table():
    assert costs(WGABC(), 1) == (N**2, 2 * N * (N - 1))


def test_exact_moments_are_those_of_simulated_paths():
    grid = [0, 1, 3, 8]
    exact = expected_excess(built(), WGABC(), iterations=8, eta=0.1)[grid]
    trace = run(built(), WGABC(), iterations=8, eta=0.1, seeds=4096, grid=grid)
    np.testing.assert_allclose(trace.mean()[0], exact[0], rtol=1e-12)
    # 18 numbers within 6 standard errors: false alarm below 1e-7
    assert np.abs((trace.mean() - exact)[1:] / trace.standard_error()[1:]).max() < 6


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("mixture", lambda: WGABC(mixture=1.5)),
        ("memory", lambda: WGABC(memory=-0.5)),
        ("clients", lambda: WGABC().init(built(1), built(1).start[None])),
    ],
)
def test_bad_input_is_named(field, make):
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.field == field
