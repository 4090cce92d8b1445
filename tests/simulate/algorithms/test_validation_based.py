"""Collaboration by validation losses: paths against a plain transcription."""

from __future__ import annotations

import numpy as np
import pytest
from paths import N, assert_follows, parts

from suffice.simulate.algorithms import ValidationBased


def transcribed(period, eta, temperature):
    A, xi, _, _ = parts()

    def path(seed, g, start):
        x, began, t = start.copy(), start.copy(), 0
        while True:
            yield x
            t += 1
            x = np.stack([x[i] - eta * g(i, x[i], t) for i in range(N)])
            if t % period == 0:
                after = np.empty_like(x)
                for i in range(N):
                    w = np.array([np.exp(-(y + xi[i]) @ A[i] @ (y + xi[i]) / temperature) for y in x])
                    after[i] = began[i] + sum(w[k] / w.sum() * (x[k] - began[k]) for k in range(N))
                x, began = after, after.copy()

    return path


@pytest.mark.parametrize("period", [1, 4])
def test_paths_are_those_of_a_plain_transcription(period):
    rule = ValidationBased(temperature=3.0, period=period)
    assert_follows(rule, transcribed(period, 0.2, 3.0), eta=0.2)
