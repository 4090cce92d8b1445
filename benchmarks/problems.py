"""Problems of the small comparisons."""

from __future__ import annotations

import numpy as np

from suffice.simulate import Quadratics


def network(n: int, d: int) -> Quadratics:
    rng = np.random.default_rng(0)
    A = np.stack([np.diag(rng.uniform(0.5, 1, d)) for _ in range(n)])
    return Quadratics.of(A, rng.normal(size=(n, d)) * 0.1, sigma2=1.0, start=np.ones(d))
