"""Minibatch SGD over rounds: the printed algorithm."""

from __future__ import annotations

import numpy as np
import pytest
from paths import SIZES, N, assert_follows, randomness

from suffice.simulate import Stream
from suffice.simulate.algorithms import MinibatchSGD

RULES = {
    "rounds": MinibatchSGD(period=3, sizes=SIZES),
    "sampled": MinibatchSGD(period=2, participants=2),
    "tuned": MinibatchSGD(period=3, fine_tune_after=6),
}


def minibatch(rule: MinibatchSGD):
    sizes = np.ones(N) if rule.sizes is None else rule.sizes.numpy()

    def path(seed, g, start):
        w, t = np.average(start, axis=0, weights=sizes), 0
        yield np.tile(w, (N, 1))
        while rule.fine_tune_after is None or t < rule.fine_tune_after:
            u = randomness(seed).uniform(iteration=t + 1, stream=Stream.COIN, clients=N, features=1)[0, :, 0]
            present = sorted(range(N), key=lambda i: u[i])[: rule.participants]
            batch = np.zeros((N, len(w)))
            for h in range(rule.period):
                t += 1
                for i in present:
                    batch[i] += g(i, w, t) / rule.period
                if h + 1 < rule.period:
                    yield np.tile(w, (N, 1))
            w = w - 0.1 * sum(sizes[i] * batch[i] for i in present) / sum(sizes[i] for i in present)
            yield np.tile(w, (N, 1))
        x = np.tile(w, (N, 1))
        while True:
            t += 1
            x = np.array([x[i] - 0.1 * g(i, x[i], t) for i in range(N)])
            yield x.copy()

    return path


@pytest.mark.parametrize("name", RULES)
def test_paths_are_those_of_a_plain_transcription(name):
    assert_follows(RULES[name], minibatch(RULES[name]))
