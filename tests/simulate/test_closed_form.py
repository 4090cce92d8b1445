"""Moments in closed form against the recursion that probes the algorithm's step."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.bounds import Binary, InputError
from suffice.simulate import AllForOne, FixedWeights, Local, Quadratics, StreamingLeastSquares, expected_excess
from suffice.simulate.closed_form import closed_excess


def network(n: int, d: int) -> tuple[Quadratics, FixedWeights]:
    rng = np.random.default_rng(11)
    Q = np.linalg.qr(rng.normal(size=(n, d, d)))[0]
    A = np.einsum("nij,nj,nkj->nik", Q, rng.uniform(0.2, 1.5, (n, d)), Q)
    root = rng.normal(size=(n, d, d))
    problem = Quadratics.of(
        (A + A.transpose(0, 2, 1)) / 2,
        rng.normal(size=(n, d)),
        covariance=root @ root.transpose(0, 2, 1),
        start=rng.normal(size=(n, d)),
    )
    return problem, FixedWeights(alpha=torch.from_numpy(rng.uniform(0, 2 / n, (n, n))))


@pytest.mark.parametrize("eta", [0.11, np.array([0.02, 0.9, 1e-9, 0.3])], ids=["number", "vector"])
def test_it_is_the_recursion(eta):
    """With steps of both signs of 1 - 2 eta l, and one so small that 1 - (1 - x)^t would cancel."""
    problem, fixed = network(4, 3)
    for algorithm in (Local(), fixed):
        expected = expected_excess(problem, algorithm, iterations=40, eta=eta)
        got = closed_excess(problem, algorithm, iterations=40, eta=eta)
        assert got.shape == (41, 4)
        # 40 steps of rounding in the recursion, some of them expanding
        np.testing.assert_allclose(got, expected, rtol=1e-10)


def test_what_has_no_closed_form_is_named():
    problem, fixed = network(4, 3)
    stream = StreamingLeastSquares.of(np.eye(3), np.ones((4, 3)), label_noise=1.0)
    adaptive = AllForOne(criterion=Binary(threshold=0.5))
    shared = Quadratics.of([np.eye(2)] * 2, np.zeros((2, 2)), sigma2=1.0, shared_noise=True)
    for field, arguments in {
        "problem": (stream, fixed, {}),
        "problem ": (shared, Local(), {}),
        "algorithm": (problem, adaptive, {}),
        "eta": (problem, fixed, {"eta": -0.1}),
        "iterations": (problem, fixed, {"iterations": 0}),
        "alpha": (problem, FixedWeights(alpha=torch.zeros(4, 4)), {}),
    }.items():
        where, algorithm, change = arguments
        with pytest.raises(InputError) as caught:
            closed_excess(where, algorithm, **({"iterations": 3, "eta": 0.1} | change))
        assert caught.value.field == field.strip()
