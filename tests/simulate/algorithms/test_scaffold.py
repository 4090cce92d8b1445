"""SCAFFOLD: the printed algorithm, where it converges, what it costs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import N, assert_follows, assert_same_path, built, costs, parts, randomness, simulated

from suffice.bounds import InputError
from suffice.simulate import FedAvg, Quadratics, Stream
from suffice.simulate.algorithms import Scaffold

SIZES = torch.tensor([3.0, 1.0, 4.0, 1.5, 9.0, 2.0])
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


def test_the_first_round_is_fedavg_s():
    assert_same_path(Scaffold(period=4), FedAvg(period=4), built(), iterations=4)


def test_without_noise_it_reaches_the_optimum_of_the_mean_loss_where_fedavg_drifts():
    A, xi, _, start = parts()
    quiet = Quadratics.of(A, xi, sigma2=0.0, start=start)
    solved = -np.linalg.solve(A.sum(0), np.einsum("kab,kb->a", A, xi))
    ends = {rule.name: simulated(rule, quiet, 400, 0.1)[-1, 0, 0] for rule in (Scaffold(period=5), FedAvg(period=5))}
    np.testing.assert_allclose(ends["scaffold"], solved, rtol=1e-10)
    assert np.linalg.norm(ends["fedavg"] - solved) > 1e-3


def test_costs_are_twice_fedavg_s_messages():
    for t in range(1, 5):
        calls, vectors = costs(FedAvg(period=2, participants=2), t)
        assert costs(RULES["sampled"], t) == (calls, 2 * vectors)


def test_bad_input_is_named():
    with pytest.raises(InputError, match=r"^server_step = 0"):
        Scaffold(server_step=0)
    with pytest.raises(InputError, match=r"^period = 0"):
        Scaffold(period=0)
