"""Collaboration by validation losses: paths against a plain transcription."""

from __future__ import annotations

import numpy as np
import pytest
from paths import N, assert_follows, exchanging, loss

from suffice.simulate.algorithms import ValidationBased


def mix(began, x):
    after = np.empty_like(x)
    for i in range(N):
        w = np.array([np.exp(-loss(i, y) / 3.0) for y in x])
        after[i] = began[i] + sum(w[k] / w.sum() * (x[k] - began[k]) for k in range(N))
    return after


@pytest.mark.parametrize("period", [1, 4])
def test_paths_are_those_of_a_plain_transcription(period):
    rule = ValidationBased(temperature=3.0, period=period)
    assert_follows(rule, exchanging(period, 0.2, mix), eta=0.2)
