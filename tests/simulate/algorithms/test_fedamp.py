"""FedAMP: paths against a plain transcription."""

from __future__ import annotations

import numpy as np
import pytest
from paths import N, assert_follows

from suffice.simulate.algorithms import FedAMP

SHARE, SIGMA, PULL = 0.7, 4.0, 0.8


def transcribed(period, eta):
    eta = np.broadcast_to(eta, N)

    def path(seed, g, start):
        x, u, t = start.copy(), start.copy(), 0
        while True:
            yield x
            if t % period == 0:
                for i in range(N):
                    u[i] = x[i]
                    for k in range(N):
                        xi = SHARE / (N - 1) * np.exp(-np.sum((x[i] - x[k]) ** 2) / SIGMA)
                        u[i] = u[i] + xi * (x[k] - x[i])
            t += 1
            x = np.stack([x[i] - eta[i] * (g(i, x[i], t) + PULL * (x[i] - u[i])) for i in range(N)])

    return path


@pytest.mark.parametrize("period", [1, 3])
@pytest.mark.parametrize("eta", [0.2, np.linspace(0.1, 0.3, N)], ids=["number", "per client"])
def test_paths_are_those_of_a_plain_transcription(period, eta):
    rule = FedAMP(share=SHARE, sigma=SIGMA, pull=PULL, period=period)
    assert_follows(rule, transcribed(period, eta), eta=eta)
