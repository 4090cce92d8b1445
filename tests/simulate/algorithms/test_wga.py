"""Weighted gradient averaging with bias correction."""

from __future__ import annotations

import numpy as np
import pytest
from paths import N, assert_follows

from suffice.simulate import WGABC


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
