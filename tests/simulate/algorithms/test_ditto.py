"""Ditto: personal models pulled towards the last received server model."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import CLUSTERS, SIZES, N, assert_follows, randomness

from suffice.simulate import Ditto, FedAvg, Stream

RULES = {
    "every step": Ditto(pull=0.7),
    "rounds": Ditto(pull=0.7, server=FedAvg(period=3, sizes=SIZES)),
    "sampled": Ditto(pull=1.5, server=FedAvg(period=2, participants=2)),
    "clusters": Ditto(pull=1.5, server=FedAvg(period=2, clusters=torch.tensor(CLUSTERS))),
}


def ditto(rule: Ditto):
    """One server unless clusters; w is broadcast when a round begins."""
    lam, fed = rule.pull, rule.server
    sizes = np.ones(N) if fed.sizes is None else fed.sizes.numpy()
    labels = np.zeros(N, dtype=int) if fed.clusters is None else np.array(CLUSTERS)
    groups = [np.flatnonzero(labels == g) for g in range(labels.max() + 1)]

    def path(seed, g, start):
        v, t = start.copy(), 0
        server = [np.average(start[m], axis=0, weights=sizes[m]) for m in groups]
        yield v.copy()
        while True:
            received = [server[label].copy() for label in labels]
            w = [r.copy() for r in received]
            u = randomness(seed).uniform(iteration=t + 1, stream=Stream.COIN, clients=N, features=1)[0, :, 0]
            present = [sorted(m, key=lambda i: u[i])[: fed.participants] for m in groups]
            for _ in range(fed.period):
                t += 1
                for i in np.concatenate(present):
                    v[i] = v[i] - 0.1 * (g(i, v[i], t) + lam * (v[i] - received[i]))
                    w[i] = w[i] - 0.1 * g(i, w[i], t)
                yield v.copy()
            server = [np.average([w[i] for i in p], axis=0, weights=sizes[p]) for p in present]

    return path


@pytest.mark.parametrize("name", RULES)
def test_paths_are_those_of_a_plain_transcription(name):
    assert_follows(RULES[name], ditto(RULES[name]))
