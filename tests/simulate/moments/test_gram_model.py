"""The model against its own recursion step by step, its derivatives, and exact times where Hessians are alike."""

from __future__ import annotations

import numpy as np
from first_steps import first_below

from suffice.simulate.moments.gradient_moments import moments_of_gaussian_features
from suffice.simulate.moments.gram_model import GramModel
from suffice.simulate.moments.recursion import ExactRecursion

N, D = 5, 3
GOALS = np.array([1, 2, 7, 20, 50])


def model():
    rng = np.random.default_rng(0)
    optimum, start = rng.normal(size=(2, N, D))
    growth, level = rng.uniform(1, 3, N), rng.uniform(0, 1, N)
    return GramModel.from_minimisers(optimum, start, growth, level, np.arange(N)), growth, level


def test_the_sums_are_those_of_the_recursion_step_by_step():
    one, growth, level = model()
    V = 0.03 * np.random.default_rng(1).uniform(size=(N, 2, N))
    excess = one.trial(V, 50).excess
    for i in range(N):
        v, m, s = V[i, 1], one.start[i], 0.0
        for t in range(51):
            np.testing.assert_allclose(excess[i, 1, t], m @ m + s, rtol=1e-10)
            noise = 4 * v**2 * (growth * ((m - one.gaps[i]) ** 2).sum(1) + level)
            s = ((1 - 2 * v.sum()) ** 2 + (4 * v**2 * growth).sum()) * s + noise.sum()
            m = m - 2 * v @ (m - one.gaps[i])


def test_derivatives_are_differences():
    one, _, _ = model()
    V, h = 0.03 * np.random.default_rng(2).uniform(size=(N, 2, N)), 1e-6
    _, gradient = one.trial(V, 50).derivatives(GOALS)
    for k in range(N):
        ends = [one.trial(V + sign * h * np.eye(N)[k], 50).derivatives(GOALS)[0] for sign in (1, -1)]
        np.testing.assert_allclose(gradient[..., k], (ends[0] - ends[1]) / (2 * h), rtol=1e-6, atol=1e-7)


def test_rates_at_the_limit_neither_grow_nor_fall():
    one, _, _ = model()
    V = np.random.default_rng(3).uniform(size=(N, 2, N))
    at = one.limits(V)[..., None] * V
    np.testing.assert_allclose(one.trial(at, 1).lam, 1, rtol=1e-8)


def test_times_are_about_exact_where_features_are_white():
    rng = np.random.default_rng(4)
    optimum = 0.2 * rng.normal(size=(4, D))
    moments = moments_of_gaussian_features(
        np.tile(np.eye(D), (4, 1, 1)), optimum, mean=np.zeros((4, D)), label_noise=np.ones(4),
        start=np.full((4, D), 2.0), batch=1,
    )  # fmt: skip
    V = np.array([0.02, 0.05])[:, None] * np.full((4, 1, 4), 0.25)
    epsilon = 0.1 * moments.excess
    times = GramModel.of(moments, np.arange(4)).times(V, epsilon, 1000)
    exact = [
        [first_below(ExactRecursion(moments=moments, client=i).curve(v, 1000), epsilon[i]) for v in V[i]]
        for i in range(4)
    ]
    np.testing.assert_allclose(times, np.ceil(exact), rtol=0.1, atol=1)
