"""APFL: mixtures of own and shared models, with a fixed and an adaptive mixture."""

from __future__ import annotations

import numpy as np
import pytest
from paths import SIZES, N, assert_follows, randomness

from suffice.simulate import APFL, FedAvg, Stream

RULES = {
    "every step": APFL(mixture=0.3),
    "rounds": APFL(mixture=0.6, server=FedAvg(period=3, sizes=SIZES)),
    "sampled": APFL(mixture=0.6, server=FedAvg(period=2, participants=2)),
    "adaptive": APFL(mixture=0.4, adaptive=True),
    "adaptive rounds": APFL(mixture=0.4, adaptive=True, server=FedAvg(period=3)),
    "adaptive sampled": APFL(mixture=0.4, adaptive=True, server=FedAvg(period=2, participants=3)),
}


def apfl(rule: APFL, mixtures: list | None = None):
    fed = rule.server
    sizes = np.ones(N) if fed.sizes is None else fed.sizes.numpy()

    def path(seed, g, start):
        v, a, t = start.copy(), np.full(N, rule.mixture), 0
        w = np.tile(np.average(start, axis=0, weights=sizes), (N, 1))

        def output():
            if mixtures is not None:
                mixtures.append(a.copy())
            return a[:, None] * v + (1 - a)[:, None] * w

        yield output()
        while True:
            u = randomness(seed).uniform(iteration=t + 1, stream=Stream.COIN, clients=N, features=1)[0, :, 0]
            present = sorted(range(N), key=lambda i: u[i])[: fed.participants]
            for step in range(fed.period):
                t += 1
                for i in present:
                    mixed = g(i, a[i] * v[i] + (1 - a[i]) * w[i], t)
                    shared = g(i, w[i], t)
                    slope = mixed @ (v[i] - w[i])
                    v[i] = v[i] - 0.1 * a[i] * mixed
                    w[i] = w[i] - 0.1 * shared
                    if rule.adaptive and step == 0:
                        a[i] = min(max(a[i] - 0.1 * slope, 0), 1)
                if step == fed.period - 1:
                    w[:] = np.average(w[present], axis=0, weights=sizes[present])
                yield output()

    return path


@pytest.mark.parametrize("name", RULES)
def test_paths_are_those_of_a_plain_transcription(name):
    mixtures: list[np.ndarray] = []
    assert_follows(RULES[name], apfl(RULES[name], mixtures))
    a = np.array(mixtures)
    if RULES[name].adaptive:
        assert (a == 0).any() or (a == 1).any()  # clipped somewhere
        assert ((a > 0) & (a < 1) & (a != 0.4)).any()
    else:
        assert (a == RULES[name].mixture).all()
