"""Heavy ball and Nesterov's method: the printed recursions."""

from __future__ import annotations

import numpy as np
import pytest
from paths import N, assert_follows

from suffice.simulate.algorithms import Momentum


def momentum(q: float, *, ahead: bool):
    def path(seed, g, start):
        x, before, t = start.copy(), start.copy(), 0
        yield x
        while True:
            t += 1
            y = x + q * (x - before)
            at = y if ahead else x
            x, before = np.array([y[i] - 0.1 * g(i, at[i], t) for i in range(N)]), x
            yield x

    return path


@pytest.mark.parametrize("ahead", [False, True])
def test_paths_are_those_of_a_plain_transcription(ahead):
    rule = Momentum.nesterov(weight=0.7) if ahead else Momentum(weight=0.7)
    assert_follows(rule, momentum(0.7, ahead=ahead))
