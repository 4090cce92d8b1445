"""FedFomo: paths against a plain transcription."""

from __future__ import annotations

import numpy as np
import pytest
from paths import N, assert_follows, exchanging, loss

from suffice.simulate.algorithms import FedFomo


@pytest.mark.parametrize("period", [1, 4])
def test_paths_are_those_of_a_plain_transcription(period):
    kinds: list[int] = []

    def mix(began, x):
        after = began.copy()
        for i in range(N):
            w = np.array([max((loss(i, began[i]) - loss(i, y)) / np.linalg.norm(y - began[i]), 0) for y in x])
            kinds.append(int((w > 0).sum()))
            for k in np.flatnonzero(w):
                after[i] = after[i] + w[k] / w.sum() * (x[k] - began[i])
        return after

    assert_follows(FedFomo(period=period), exchanging(period, 0.2, mix), eta=0.2)
    assert 0 in kinds  # somebody whom no model helps
    assert max(kinds) > 1
