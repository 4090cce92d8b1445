"""Scafflix with bounded variance: where it is false, and its steps."""

from __future__ import annotations

import numpy as np

from suffice.bounds.scafflix_settings import bounded_variance_steps, equalised_steps


def test_steps_for_bounded_variance_are_those_of_the_record():
    rng = np.random.default_rng(1)
    for _ in range(50):
        mu = 10.0 ** rng.uniform(-2, 0, 5)
        L, C, eps = mu * 10.0 ** rng.uniform(0, 2, 5), rng.uniform(0, 3, 5), 10.0 ** rng.uniform(-3, 0)
        steps = bounded_variance_steps(L=L, C=C, mu=mu, eps_mu=eps)
        x = steps.eta * mu
        assert (steps.eta <= 2 / (L + mu) * (1 + 1e-14)).all()
        np.testing.assert_allclose(steps.p**2, x * (2 - x), rtol=1e-13)
        floor = (x / mu.max()) * (C / mu).mean() / (2 - x)
        assert (mu.max() / 2 * floor <= eps / 2 * (1 + 1e-13)).all()
        assert steps.eta.min() >= equalised_steps(A=L, C=C, mu=mu, eps_mu=eps).eta.min()
