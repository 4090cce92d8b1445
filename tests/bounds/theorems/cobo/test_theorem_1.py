"""CoBo's Theorem I: the tuned step."""

from __future__ import annotations

from inspect import signature

import numpy as np
from records import bound_of  # tests/helpers

from suffice.bounds.theorems.cobo import tuned_step

bound = bound_of("cobo")


def test_tuned_bound_covers_the_mean_gradient_bound_at_the_tuned_step():
    rng = np.random.default_rng(8)
    attained = 0
    for _ in range(200):
        at = {"beta": np.exp(rng.normal()), "size": int(rng.integers(1, 6)), "M": rng.uniform(0, 0.999)}
        m2 = bound("cluster-dissimilarity", **at)
        at["rho"] = 1.01 * (1 + np.sqrt(m2)) * at["beta"] / at["size"] * (1 + np.exp(rng.normal()))
        at |= {"e0": np.exp(rng.normal()), "spread": rng.choice([0, 0.3, 3]), "sigma2": np.exp(rng.uniform(-6, 2))}
        at["T"] = int(rng.choice([1, 2, 10, 100]))
        step = float(tuned_step(**{name: at[name] for name in signature(tuned_step).parameters}))
        tuned = bound("theorem-1-tuned", **at)
        ratio = bound("theorem-1-mean-gradient", **at, eta=step) / tuned
        assert ratio <= 1 + 1e-11
        attained += ratio > 1 - 1e-11
    assert attained > 10  # wherever the limit 1/(rho c) does not bind
