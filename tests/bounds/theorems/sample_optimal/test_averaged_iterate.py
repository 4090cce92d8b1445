"""The mean of All-for-all's iterates: rounds solve the bound."""

from __future__ import annotations

import numpy as np

from suffice.bounds import evaluate, find

KEY = "sample-optimal/theorem-3-averaged"


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
