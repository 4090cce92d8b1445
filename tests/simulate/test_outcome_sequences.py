"""Every sequence of outcomes followed: against moments of the binomial distribution, and against exact moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from suffice.simulate import Algorithm, Draw, FedAvg, Quadratics, Stream, expected_excess
from suffice.simulate.outcome_sequences import expected_by_sequences
from suffice.simulate.quadratic_forms import forms


@dataclass(frozen=True, kw_only=True)
class SignOfOne(Algorithm):
    """One of two entries, drawn for `period` iterations, moves by eta against the sign of its slope."""

    period: int = 1
    name: str = "sign of one"
    linear: bool = False

    def init(self, problem, models):
        return {"models": models}

    def draw(self, problem, randomness, iteration):
        first = iteration - (iteration - 1) % self.period
        u = randomness.uniform(iteration=first, stream=Stream.COIN, clients=1, features=1)
        extra = {"kept": torch.cat((u < 0.25, u >= 0.25), -1).to(problem.dtype)}
        return Draw(iteration=iteration, noise=problem.draw(randomness, iteration), extra=extra)

    def outcomes(self, problem, iteration):
        kept = torch.eye(2, dtype=problem.dtype)[:, None, None]
        return [(0.25, {"kept": kept[0]}), (0.75, {"kept": kept[1]})]

    def step(self, problem, state, draw, eta):
        g = problem.stochastic_gradient(state["models"], None, draw.noise)
        return {"models": state["models"] - eta[..., None] * draw.extra["kept"] * g.sign()}


@pytest.mark.parametrize("period", [1, 2])
def test_a_step_that_is_not_affine_has_the_moments_of_the_binomial_distribution(period):
    """From (2, 3) with eta T < 2 no sign changes: entries move by eta period K and eta period (T / period - K)."""
    problem = Quadratics.of([np.diag([0.5, 1.0])], np.zeros((1, 2)), sigma2=0.0, start=[2.0, 3.0])
    algorithm, eta, T = SignOfOne(period=period), 0.1, 6
    held = [t % period > 0 for t in range(T)]
    options = {"eta": np.array([eta]), "iterations": np.array([T]), "client": 0, "form": forms()["last_distance"]}
    found = expected_by_sequences([problem], algorithm, held, **options)[0]
    n, step = T / period, eta * period
    expected = sum(
        start**2 - 2 * start * step * n * p + step**2 * (n * p * (1 - p) + (n * p) ** 2)
        for start, p in ((2.0, 0.25), (3.0, 0.75))
    )
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    assert found[0] == found[1] < found[2]


def test_a_linear_algorithm_agrees_with_its_exact_moments_and_long_runs_are_left_out():
    problem = Quadratics.of(np.eye(1)[None].repeat(3, 0) / 2, [[1.0], [0.0], [-2.0]], sigma2=0.0, start=[1.0])
    algorithm = FedAvg(period=2, participants=1)
    held = [False, True] * 20
    T = np.array([17, 1, 2, 5, 7, 2])  # 3^9 sequences of the first
    options = {"eta": np.full(6, 0.3), "iterations": T, "client": 1, "form": forms()["excess"]}
    exact = expected_excess(problem, algorithm, iterations=7, eta=0.3)
    found = expected_by_sequences([problem] * 6, algorithm, held, **options)
    assert sorted(found) == [1, 2, 3, 4, 5]
    np.testing.assert_allclose([found[at][0] for at in range(1, 6)], exact[T[1:], 1], rtol=1e-11)
    assert expected_by_sequences([problem] * 6, algorithm, (), **options) == {}
