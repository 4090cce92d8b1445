"""FedFomo: paths against a plain transcription."""

from __future__ import annotations

import numpy as np
import pytest
from paths import N, assert_follows, parts

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
