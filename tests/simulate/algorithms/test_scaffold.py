"""SCAFFOLD: the printed algorithm."""

from __future__ import annotations

import numpy as np
import pytest
from paths import SIZES, N, assert_follows, randomness

from suffice.simulate import Stream
from suffice.simulate.algorithms import Scaffold

RULES = {
    "rounds": Scaffold(period=3),
    "sampled": Scaffold(period=2, participants=2, server_step=0.6),
    "weighted": Scaffold(period=2, sizes=SIZES),
}


def scaffold(rule: Scaffold):
    """Algorithm 1, Option II, line by line."""
    sizes = np.ones(N) if rule.sizes is None else rule.sizes.numpy()

    def path(seed, g, start):
        x = np.average(start, axis=0, weights=sizes)
        c, ci, t = np.zeros_like(x), np.zeros_like(start), 0
        yield np.tile(x, (N, 1))
        while True:
            u = randomness(seed).uniform(iteration=t + 1, stream=Stream.COIN, clients=N, features=1)[0, :, 0]
            present = sorted(range(N), key=lambda i: u[i])[: rule.participants]
            y = np.tile(x, (N, 1))
            for h in range(rule.period):
                t += 1
                for i in present:
                    y[i] = y[i] - 0.1 * (g(i, y[i], t) - ci[i] + c)
                if h + 1 < rule.period:
                    yield y.copy()
            moved = sum(sizes[i] * (y[i] - x) for i in present) / sum(sizes[i] for i in present)
            changes = {i: ci[i] - c + (x - y[i]) / (rule.period * 0.1) - ci[i] for i in present}
            for i in present:
                ci[i] = ci[i] + changes[i]
            x, c = x + rule.server_step * moved, c + sum(changes.values()) / N
            yield np.tile(x, (N, 1))

    return path


@pytest.mark.parametrize("name", RULES)
def test_paths_are_those_of_a_plain_transcription(name):
    assert_follows(RULES[name], scaffold(RULES[name]))
