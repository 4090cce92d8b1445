"""The mean of All-for-all's iterates against every path of a two-point noise, on losses that are not quadratic."""

from __future__ import annotations

from itertools import product

import numpy as np

from suffice.bounds import evaluate, find

KEY = "sample-optimal/theorem-3-averaged"


def huber(x, place, slope, L):
    """Sum over bends of L-smooth losses that are linear from slope/L on: values and gradients, shapes of x."""
    away = x[..., None] - place
    near = np.abs(away) <= slope / L
    value = np.where(near, L / 2 * away**2, slope * (np.abs(away) - slope / (2 * L)))
    return value.mean(-1), np.clip(L * away, -slope, slope).mean(-1)


def followers(rng, many):
    """(measured, arguments): all follow an agent without loss, its minimiser anywhere; the others are alike."""
    N, L, T = many + 1, 1.0, int(rng.integers(1, 7))
    place, slope = rng.normal(size=3) * rng.choice([0.1, 1, 10]), rng.uniform(0.05, 2, 3)
    start, target = rng.normal(size=2) * rng.choice([0.3, 3, 30])
    eta = rng.choice([1, rng.uniform(0.2, 1)]) / (L * N)
    sigma2, rare = rng.choice([0, 10 ** rng.uniform(-2, 2)]), rng.choice([0.5, rng.uniform(0.01, 0.5)])
    jump = np.sqrt(N * sigma2) * np.array([np.sqrt((1 - rare) / rare), -np.sqrt(rare / (1 - rare))])
    drawn = np.array(list(product((0, 1), repeat=T)))
    chance = np.array([rare, 1 - rare])[drawn].prod(-1)
    y, total = np.full(len(drawn), start), 0.0
    for t in range(T):
        y = y - eta * (many * huber(y, place, slope, L)[1] + jump[drawn[:, t]])
        total = total + y
    grid = np.linspace(place.min(), place.max(), 401)
    least = huber(grid, place, slope, L)[0].min() - L / 2 * (grid[1] - grid[0]) ** 2  # lower, for both sides
    excess = many / N * (chance @ huber(total / T, place, slope, L)[0] - least)
    peers = many / N * (huber(np.array(target), place, slope, L)[0].item() - least)
    known = {"beta": L, "smax": N, "sigma2": sigma2, "lambda2": 1.0, "peer_excess": max(peers, 0.0)}
    return excess, {**known, "mean_distance2": (start - target) ** 2 / N, "eta": eta, "T": T}


def test_no_path_measure_of_noise_exceeds_the_bound_and_some_come_near():
    rng = np.random.default_rng(0)
    found = []
    for many in (1, 3, 50):
        for _ in range(100):
            measured, known = followers(rng, many)
            found.append((measured / evaluate(f"{KEY}-sharp", **known), known["sigma2"] > 0, known["T"] > 1))
    ratio, noisy, later = np.array(found).T
    assert ratio.max() <= 1 + 1e-12
    for some in (noisy == 1, noisy == 0, later == 1):
        assert ratio[some].max() > 0.95


def test_rounds_solve_the_bound_at_their_step():
    """At the step of the count the bound is eps after T rounds that are no whole number, above it before them."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        beta, smax, sigma2, distance2, s, peers = 10 ** rng.uniform(-1, 1, 6)
        given = {"sigma2": sigma2, "lambda2": 0.3, "mean_distance2": 100 * distance2, "peer_excess": s * peers / 2}
        rounds = evaluate(f"{KEY}-sharp-rounds", beta=beta, smax=smax, eps=s * (1 + peers / 2), **given)
        eta = min(1 / (beta * smax), s / (sigma2 * 0.3))
        if rounds > 1:
            bound = find(f"{KEY}-sharp").bound
            assert bound is not None
            np.testing.assert_allclose(bound(eta=eta, T=rounds, **given), s * (1 + peers / 2), rtol=1e-10)
