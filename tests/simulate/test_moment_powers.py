"""Moments after many iterations by squaring, against moments step by step and against a closed form."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from suffice.simulate import FedAvg, Local, LocalSGD, Quadratics, Scaffnew, expected_excess
from suffice.simulate.algorithms import Scaffold
from suffice.simulate.expected_values import expected_values
from suffice.simulate.moment_powers import ONE_STEP, Block, Cycle, MomentPowers
from suffice.simulate.quadratic_forms import forms


def network() -> Quadratics:
    rng = np.random.default_rng(5)
    B, C = rng.normal(size=(2, 3, 2, 2))
    return Quadratics.of(
        B @ B.transpose(0, 2, 1) / 4 + 0.1 * np.eye(2), rng.normal(size=(3, 2)),
        covariance=C @ C.transpose(0, 2, 1), start=[1.0, -2.0],
    )  # fmt: skip


HELD = Cycle(blocks=(Block(iterations=(1, 1, 3)),))
THREE = Cycle(blocks=tuple(Block(iterations=(t,)) for t in (1, 1, 3)))


RULES = [
    (Local(), ONE_STEP),
    (LocalSGD(period=3), THREE),
    (Scaffnew(p=0.3), ONE_STEP),
    (FedAvg(participants=2, period=3), HELD),
]


@pytest.mark.parametrize(("algorithm", "cycle"), RULES, ids=lambda value: getattr(value, "name", ""))
def test_squaring_gives_what_stepping_gives(algorithm, cycle):
    problem = network()
    powers = MomentPowers(problem, algorithm, eta=0.05, cycle=cycle)
    exact = expected_excess(problem, algorithm, iterations=64, eta=0.05)
    for T in (0, 1, 2, 3, 7, 31, 64):
        for client in range(3):
            value, rounding = powers.excess(T, client)
            assert abs(value - exact[T, client]) <= rounding + 1e-11 * exact[T, client]
            assert rounding <= 1e-9 * exact[0].max()  # far below what a violation needs


def few() -> Quadratics:
    """Two clients on a line: with a server four states, whose map of moments is squared."""
    return Quadratics.of([[[0.7]], [[0.3]]], [[1.0], [-0.5]], sigma2=[0.4, 2.0], start=[2.0])


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("algorithm", "cycle", "build"),
    [
        *((rule, cycle, network) for rule, cycle in RULES),
        (Scaffold(participants=1, period=3), HELD, few),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_instances_probed_together_are_those_probed_one_by_one(algorithm, cycle, build):
    problems = [replace(build(), A=build().A * scale) for scale in (0.5, 1.0, 0.1, 0.7, 0.8)]
    eta, T = np.array([0.05, 0.1, 0.2, 0.01, 0.1]), np.array([1, 7, 100, 900, 8])
    alone = [MomentPowers(problem, algorithm, eta=step, cycle=cycle) for problem, step in zip(problems, eta)]
    for name in ("excess", "last_consensus"):  # the second has a constant: the distances of the optima
        form = forms()[name]
        values, rounding = expected_values(problems, algorithm, eta=eta, iterations=T, cycle=cycle, client=1, form=form)
        for at, powers in enumerate(alone):
            one, error = powers.value(form, int(T[at]), 1)
            assert abs(values[at] - one) <= 1e-11 * one + rounding[at] + error
            assert rounding[at] <= 1e-8 * max(1.0, one)  # far below what a clear violation needs


def test_ten_thousand_iterations_reach_the_stationary_excess():
    """One coordinate, h = 1: m = (1 - eta)^2 m + eta^2 s has the fixed point eta s / (2 - eta)."""
    problem = Quadratics.of([[[0.5]]], [[0.0]], sigma2=3.0, start=[[7.0]])
    value, _ = MomentPowers(problem, Local(), eta=0.1, cycle=ONE_STEP).excess(10_000, 0)
    np.testing.assert_allclose(value, 0.1 * 3 / (2 - 0.1) / 2, rtol=1e-12)


@pytest.mark.parametrize("T", [0, 1, 2, 5, 100])
def test_the_mean_of_iterates_has_the_noise_of_each_once_though_coins_are_squared(T):
    """One client, h = 1, whom no coin of Scaffnew moves: x_t = a^t x_0 - eta sum_{s <= t} a^(t-s) g_s, a = 1 - eta, so
    that the sum over t = 0..T has x_0 with (1 - a^(T+1)) / eta and g_s with 1 - a^(T-s+1)."""
    problem = Quadratics.of([[[0.5]]], [[0.0]], sigma2=3.0, start=[[7.0]])
    a, j = 0.9, np.arange(1, T + 1)
    square = (7 * (1 - a ** (T + 1)) / 0.1) ** 2 + 3 * ((1 - a**j) ** 2).sum()
    powers = MomentPowers(problem, Scaffnew(p=0.3), eta=0.1, cycle=ONE_STEP)
    value, _ = powers.value(forms()["mean_iterate_excess"], T, 0)
    np.testing.assert_allclose(value, square / (T + 1) ** 2 / 2, rtol=1e-11)


def test_one_outcome_may_last_for_several_iterations():
    """A coin held for two iterations: 0.7 of the paths take both steps, the others take none."""

    @dataclass(frozen=True, kw_only=True)
    class Lazy(Local):
        def outcomes(self, problem, iteration):
            return [(0.7, {"coin": torch.tensor([True])}), (0.3, {"coin": torch.tensor([False])})]

        def step(self, problem, state, draw, eta):
            return super().step(problem, state, draw, eta * draw.extra["coin"].to(eta)[:, None])

    problem = Quadratics.of([[[0.5]]], [[0.0]], sigma2=0.0, start=[[2.0]])
    held = Cycle(blocks=(Block(iterations=(1, 1)),))
    fresh, kept = (MomentPowers(problem, Lazy(), eta=0.5, cycle=cycle).excess(2, 0)[0] for cycle in (ONE_STEP, held))
    np.testing.assert_allclose(kept, 2 * (0.3 + 0.7 * 0.5**4), rtol=1e-14)
    np.testing.assert_allclose(fresh, 2 * (0.3 + 0.7 * 0.5**2) ** 2, rtol=1e-14)
