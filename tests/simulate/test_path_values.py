"""Quantities on simulated paths: without noise those of exact moments, and the same one by one as side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from suffice.simulate import FixedWeights, Local, Quadratics, Stream, expected_excess
from suffice.simulate.expected_values import expected_values
from suffice.simulate.moment_powers import ONE_STEP
from suffice.simulate.path_values import path_values
from suffice.simulate.quadratic_forms import forms

MIXED = FixedWeights(alpha=torch.tensor([[0.7, 0.3], [0.4, 0.6]], dtype=torch.float64))
ETA, T = np.array([0.1, 0.3, 0.2]), np.array([5, 1, 3])


def instances(sigma2: float) -> list[Quadratics]:
    return [
        Quadratics.of(np.array([[[h]], [[1.0]]]) / 2, [[0.0], [far]], sigma2=sigma2, start=[2.0])
        for h, far in ((1.0, 1.0), (2.0, -1.0), (0.5, 3.0))
    ]


@pytest.mark.parametrize("name", [name for name, form in forms().items() if not form.level])
def test_without_noise_every_quantity_is_that_of_second_moments(name):
    form, problems = forms()[name], instances(0.0)
    drawn, exact = path_values(problems, MIXED, eta=ETA, iterations=T, client=1, form=form, seeds=64, root=0)
    expected, _ = expected_values(problems, MIXED, eta=ETA, iterations=T, cycle=ONE_STEP, client=1, form=form)
    assert exact == [True] * 3
    np.testing.assert_allclose([paths[0] for paths in drawn], expected, rtol=1e-11)
    for paths in drawn:
        assert paths[0] == paths[1]
        assert abs(paths[2] - paths[0]) <= 1e-11 * paths[0]  # disturbed by 256 units in the last place
    assert any(paths[2] != paths[0] for paths in drawn)


@pytest.mark.parametrize("name", [name for name, form in forms().items() if form.level])
def test_what_stops_is_found_from_the_whole_path(name):
    form, problems, seeds = forms()[name], instances(1.0), 512
    last = forms()["excess" if form.level == "eps" else "last_gradient"]
    options = {"eta": ETA, "client": 1, "seeds": seeds, "root": 0}
    levels = np.array([2.0, 0.03, 5.5]) * (1 if form.level == "eps" else 2)
    found, _ = path_values(problems, MIXED, iterations=T, form=form, scalars={form.level: levels}, **options)
    for at, (level, end) in enumerate(zip(levels, T)):
        values = [
            path_values(problems, MIXED, iterations=np.full(3, t), form=last, **options)[0][at] for t in range(end + 1)
        ]
        path = np.stack(values, axis=1)
        below = path < level
        tau = np.where(below.any(1), below.argmax(1), end + 1)
        expected = {
            "EXCESS_WHILE_RUNNING": path[:, -1] * (tau >= end),
            "STILL_RUNNING": tau > end,
            "STOPPED_EXCESS": np.take_along_axis(path, np.minimum(tau, end)[:, None], 1)[:, 0],
            "HITTING_TIME": np.minimum(tau, end),  # at most tau: a bound of E[tau] bounds it too
            "STOPPED_GRADIENT": (path * (np.arange(end + 1) < tau[:, None]))[:, :end].mean(1),
        }
        # of the gradient the names are those of the excess: P(tau > T), E[tau]
        wanted = expected.get(name.upper(), expected.get(name.upper().removeprefix("GRADIENT_")))
        np.testing.assert_allclose(found[at], wanted, rtol=1e-12)
    assert len(set(found[0])) > 1
    assert len(set(found[2])) > 1


@dataclass(frozen=True, kw_only=True)
class Branching(FixedWeights):
    """The same rule with a branch on a number, which vmap cannot follow."""

    def step(self, problem, state, draw, eta):
        return super().step(problem, state, draw, eta if bool(state["models"].sum() > -1e9) else 0 * eta)


def test_one_by_one_as_side_by_side_and_on_average_the_expected_value():
    form, problems = forms()["excess"], instances(1.0)
    options = {"eta": ETA, "iterations": T, "client": 0, "form": form, "seeds": 4096, "root": 3}
    together, exact = path_values(problems, MIXED, **options)
    apart, _ = path_values(problems, Branching(alpha=MIXED.alpha), **options)
    assert exact == [False] * 3
    for problem, eta, t, one, two in zip(problems, ETA, T, together, apart):
        np.testing.assert_allclose(one, two, rtol=1e-12)
        expected = expected_excess(problem, MIXED, iterations=int(t), eta=float(eta))[t, 0]
        assert abs(one.mean() - expected) < 5 * one.std() / 64


@dataclass(frozen=True, kw_only=True)
class Late(FixedWeights):
    """Keeps still with probability 1/2, in the fifth iteration alone."""

    def draw(self, problem, randomness, iteration):
        drawn = super().draw(problem, randomness, iteration)
        if iteration < 5:
            return drawn
        coin = randomness.uniform(iteration=iteration, stream=Stream.COIN, clients=1, features=1) < 0.5
        return replace(drawn, extra={"still": coin})

    def step(self, problem, state, draw, eta):
        after = super().step(problem, state, draw, eta)
        if "still" not in draw.extra:
            return after
        return {"models": torch.where(draw.extra["still"], state["models"], after["models"])}


def test_a_late_coin_makes_an_instance_without_noise_random():
    form = forms()["excess"]
    drawn, exact = path_values(
        instances(0.0), Late(alpha=MIXED.alpha), eta=ETA, iterations=T, client=0, form=form, seeds=64, root=0
    )
    assert exact == [False] * 3
    assert [len(set(paths.tolist())) for paths in drawn] == [2, 1, 1]  # T = 5, 1 and 3


@pytest.mark.parametrize("features", [1, 2])
def test_the_disturbed_path_differs_where_nothing_else_does(features):
    """A flat loss keeps every move, at even T too, and clients that are alike do not move alike."""
    flat = np.stack([np.eye(features) * 1e-6] * 3)
    problem = Quadratics.of(flat, np.zeros((3, features)), sigma2=0.0, start=np.ones(features))
    for name in ("last_consensus", "last_distance"):
        options = {"iterations": np.array([2]), "client": 0, "form": forms()[name], "seeds": 8, "root": 0}
        [[first, _, moved]], _ = path_values([problem], Local(), eta=np.array([1e-6]), **options)
        assert abs(moved - first) > (2.0**-92 if name == "last_consensus" else 2.0**-46)
