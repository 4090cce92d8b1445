"""FedProx: FedAvg with a pull towards the model that the server sent."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import CLUSTERS, SIZES, N, assert_follows, randomness

from suffice.simulate import Stream
from suffice.simulate.algorithms import FedProx

RULES = {
    "rounds": FedProx(pull=0.7, period=3, sizes=SIZES),
    "sampled": FedProx(pull=1.5, period=2, participants=2),
    "clusters": FedProx(pull=1.5, period=2, clusters=torch.tensor(CLUSTERS)),
    "tuned": FedProx(pull=0.7, period=3, fine_tune_after=6),
}


def fedprox(rule: FedProx):
    """Algorithm 2 of the paper: H gradient steps on h(x; w) = R_i(x) + (pull / 2) |x - w|^2 stand for its solution."""
    sizes = np.ones(N) if rule.sizes is None else rule.sizes.numpy()
    labels = np.zeros(N, dtype=int) if rule.clusters is None else np.array(CLUSTERS)
    groups = [np.flatnonzero(labels == g) for g in range(labels.max() + 1)]

    def path(seed, g, start):
        t = 0
        server = [np.average(start[m], axis=0, weights=sizes[m]) for m in groups]
        x = np.array([server[label] for label in labels])
        yield x.copy()
        while rule.fine_tune_after is None or t < rule.fine_tune_after:
            u = randomness(seed).uniform(iteration=t + 1, stream=Stream.COIN, clients=N, features=1)[0, :, 0]
            present = [sorted(m, key=lambda i: u[i])[: rule.participants] for m in groups]
            for h in range(rule.period):
                t += 1
                for i in np.concatenate(present):
                    x[i] = x[i] - 0.1 * (g(i, x[i], t) + rule.pull * (x[i] - server[labels[i]]))
                if h + 1 < rule.period:
                    yield x.copy()
            server = [np.average(x[p], axis=0, weights=sizes[p]) for p in present]
            x = np.array([server[label] for label in labels])
            yield x.copy()
        while True:
            t += 1
            x = np.array([x[i] - 0.1 * g(i, x[i], t) for i in range(N)])
            yield x.copy()

    return path


@pytest.mark.parametrize("name", RULES)
def test_paths_are_those_of_a_plain_transcription(name):
    assert_follows(RULES[name], fedprox(RULES[name]))
