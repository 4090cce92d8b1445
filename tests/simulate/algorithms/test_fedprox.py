"""FedProx: FedAvg with a pull towards the model that the server sent."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import CLUSTERS, N, assert_follows, assert_same_path, built, costs, parts, randomness, simulated

from suffice.bounds import InputError
from suffice.simulate import FedAvg, Quadratics, Stream
from suffice.simulate.algorithms import FedProx

SIZES = torch.tensor([3.0, 1.0, 4.0, 1.5, 9.0, 2.0])
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


def test_without_a_pull_or_with_one_step_a_round_it_is_fedavg():
    assert_same_path(FedProx(pull=0.0, period=3), FedAvg(period=3), built())
    assert_same_path(FedProx(pull=5.0, period=1), FedAvg(), built())


def test_many_steps_solve_the_local_problem():
    """One round of long local work without noise: x_i is the minimiser of R_i + (pull / 2) |x - w|^2."""
    A, xi, _, start = parts()
    quiet, w = Quadratics.of(A, xi, sigma2=0.0, start=start), start.mean(0)
    got = simulated(FedProx(pull=0.8, period=1000), quiet, 400, 0.2)[400, 0]
    for i in range(N):
        solved = np.linalg.solve(2 * A[i] + 0.8 * np.eye(len(w)), 0.8 * w - 2 * A[i] @ xi[i])
        np.testing.assert_allclose(got[i], solved, rtol=1e-12, atol=1e-12)


def test_costs_are_fedavg_s():
    for t in range(1, 5):
        assert costs(RULES["sampled"], t) == costs(FedAvg(period=2, participants=2), t)


def test_bad_input_is_named():
    with pytest.raises(InputError, match=r"^pull = -1"):
        FedProx(pull=-1)
    with pytest.raises(InputError, match=r"^period = 0"):
        FedProx(period=0)
