"""FedFomo: paths against a plain transcription, who helps whom, and what an exchange costs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import N, affine_error, assert_follows, assert_same_path, built, costs, parts, randomness

from suffice.bounds import InputError
from suffice.simulate import Local, Quadratics
from suffice.simulate.algorithms import FedFomo


def loss(i: int, x: np.ndarray) -> float:
    A, xi, _, _ = parts()
    return (x + xi[i]) @ A[i] @ (x + xi[i])


def transcribed(period, eta, kinds):
    def path(seed, g, start):
        x, began, t = start.copy(), start.copy(), 0
        while True:
            yield x
            t += 1
            x = np.stack([x[i] - eta * g(i, x[i], t) for i in range(N)])
            if t % period == 0:
                after = np.empty_like(x)
                for i in range(N):
                    w = np.array([max((loss(i, began[i]) - loss(i, y)) / np.linalg.norm(y - began[i]), 0) for y in x])
                    kinds.append(int((w > 0).sum()))
                    after[i] = began[i]
                    for k in range(N):
                        if w[k] > 0:
                            after[i] = after[i] + w[k] / w.sum() * (x[k] - began[i])
                x, began = after, after.copy()

    return path


@pytest.mark.parametrize("period", [1, 4])
def test_paths_are_those_of_a_plain_transcription(period):
    kinds: list[int] = []
    assert_follows(FedFomo(period=period), transcribed(period, 0.2, kinds), eta=0.2)
    assert 0 in kinds  # somebody whom no model helps
    assert max(kinds) > 1
    assert affine_error(FedFomo(period=period), iteration=period) > 1e-3


def test_longer_rounds_than_the_run_are_local_steps():
    assert_same_path(FedFomo(period=100), Local(), built())


def test_only_models_that_lower_the_own_loss_are_used():
    """Losses (x - m)^2, m = 0, 0.1 and 9: from 1 the first two help each other, the third is helped by itself alone."""
    problem = Quadratics.of(np.ones((3, 1, 1)), [[0.0], [-0.1], [-9.0]], sigma2=0.0, start=[1.0])
    rule = FedFomo(period=1)
    trained = torch.tensor([[[0.5], [0.6], [3.0]]], dtype=torch.float64)
    w = rule.weights(problem, problem.start[None], trained)[0]
    # slopes (1 - 0.25)/0.5 and (1 - 0.36)/0.4 of client 0; (0.81 - 0.16)/0.5, (0.81 - 0.25)/0.4 of client 1
    np.testing.assert_allclose(w[0], [1.5 / 3.1, 1.6 / 3.1, 0], rtol=1e-14)
    np.testing.assert_allclose(w[1], [1.3 / 2.7, 1.4 / 2.7, 0], rtol=1e-14)
    np.testing.assert_allclose(w[2], [0, 0, 1], rtol=1e-14)
    state = rule.init(problem, problem.optimum[None])
    still = rule.step(problem, state, rule.draw(problem, randomness(0), 1), torch.tensor(0.1, dtype=torch.float64))
    torch.testing.assert_close(still["models"], state["models"], rtol=0, atol=0)  # 0/0: nobody helps


def test_an_exchange_is_paid_for_when_it_takes_place():
    assert [costs(FedFomo(period=3), t) for t in (1, 3)] == [(N, 0), (N * (N + 2), N * N)]
    with pytest.raises(InputError, match=r"^period = 0"):
        FedFomo(period=0)
