"""Aligned clients: the closed-form law against the moment engine and simulation."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.bounds import Continuous
from suffice.simulate import AllForOne, FixedWeights, Quadratics, expected_excess, run
from suffice.verification.instances.aligned_pair import Aligned

D = 3


def one(**values: float) -> Aligned:
    base = {"beta": 1.0, "kappa": 1.0, "r": 0.5, "sigma2_i": 1.0, "sigma2_k": 0.5, "ratio": 0.8, "e0": 4.0, "T": 6.0}
    base |= {"eps": 1e-9, "d": float(D)}
    return Aligned.of({name: np.array([value]) for name, value in (base | values).items()})


def as_problem(batch: Aligned) -> Quadratics:
    """R_i = (beta/2)|theta|^2 and R_k = (1 - sqrt(1 - r)) R_i in R^3, from e_0."""
    beta, share = batch.beta[0], 1 - np.sqrt(1 - batch.r[0])
    A = np.stack([beta / 2 * np.eye(D), share * beta / 2 * np.eye(D)])
    return Quadratics.of(
        A,
        np.zeros((2, D)),
        sigma2=[batch.sigma2_i[0], batch.sigma2_k[0]],
        start=np.full(D, np.sqrt(2 * batch.e0[0] / beta / D)),
    )


CASES = [
    {},
    {"beta": 7.0, "r": 0.9},
    {"r": 1.0, "sigma2_k": 3.0},
    {"r": 0.05, "ratio": 1.0},
    {"sigma2_i": 1e4, "T": 40.0},
]


@pytest.mark.parametrize("case", CASES)
def test_excess_is_the_moment_engine_under_weights_of_definition_1(case):
    batch = one(**case)
    a = 1 / np.array([batch.sigma2_i[0], batch.sigma2_k[0]])
    r = np.array([1.0, batch.r[0]])
    alpha = torch.tensor(np.stack([a * r / (a * r * r).sum(), [0.1, 0.1]]))  # model 1 is not looked at
    T, eta = int(batch.T[0]), batch.eta[0]
    np.testing.assert_allclose(eta * batch.beta[0], batch.ratio[0] / alpha[0].sum().item(), rtol=1e-13)
    expected = expected_excess(as_problem(batch), FixedWeights(alpha=alpha), iterations=T, eta=eta)
    np.testing.assert_allclose(batch.excess(), expected[T, :1], rtol=1e-10)
    np.testing.assert_allclose(batch.e0, expected[0, :1], rtol=1e-12)


@pytest.mark.parametrize(
    "case",
    [
        {"sigma2_i": 0.01, "sigma2_k": 0.01, "T": 2.0, "eps": 0.05},
        {"sigma2_i": 0.3, "sigma2_k": 0.01, "T": 4.0, "eps": 0.25},
        {"r": 1.0, "ratio": 0.3, "sigma2_i": 0.05, "sigma2_k": 0.05, "T": 4.0, "eps": 0.15},
        {"beta": 3.0, "r": 0.8, "ratio": 0.5, "sigma2_i": 0.2, "sigma2_k": 0.1, "T": 2.0, "eps": 0.5},
    ],
)
def test_path_probabilities_are_below_those_of_simulated_paths(case):
    # E[e_T] >= eps in all cases, so that `stopped` ends at T
    batch = one(**case)
    T, eps = int(batch.T[0]), batch.eps[0]
    assert batch.excess()[0] >= eps
    trace = run(as_problem(batch), AllForOne(criterion=Continuous()), iterations=T, eta=batch.eta[0], seeds=20000)
    e = trace.excess[..., 0]
    tau = np.where((e < eps).any(1), (e < eps).argmax(1), T + 1)
    at = np.minimum(tau, T)
    for lower, draws in [
        (batch.running(), tau > T),
        (batch.hitting(), at),
        (batch.stopped(), e[np.arange(len(e)), at]),
        (batch.excess(), e[:, -1]),
    ]:
        assert lower[0] > 0.3 * draws.mean()  # not an empty bound
        assert lower[0] <= draws.mean() + 6 * draws.std() / np.sqrt(len(e)) + 1e-12
    z = (e[:, -1].mean() - batch.excess()[0]) / (e[:, -1].std() / np.sqrt(len(e)))
    assert abs(z) < 6
