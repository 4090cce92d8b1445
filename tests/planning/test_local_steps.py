"""A plan says where FedAvg with local steps needs fewer rounds, and is silent where it does not."""

from __future__ import annotations

import re

import numpy as np
import pytest

import suffice as sf
from suffice.simulate.algorithms import FedAvg


def sites(spread, noise):
    rng = np.random.default_rng(2)
    X, slope = [rng.normal(size=(40, 2)) * [1, 0.2] for _ in range(3)], np.array([1.0, -2.0])
    y = [x @ (slope + spread * rng.normal(size=2)) + noise * rng.normal(size=40) for x in X]
    return sf.from_arrays(X, y)


def test_local_steps_that_save_rounds_are_named_and_arrive_when_simulated():
    plan = sf.plan(sites(0.0, 0.05), "10%", gradients="plain")
    (note,) = (note for note in plan.notes if "In rounds" in note)
    rounds, K, eta, taken = re.match(
        r".* after (\d+) rounds of (\d+) .* step ([\d.e-]+); .* takes (\d+) r", note
    ).groups()
    assert int(rounds) < int(taken) == max(row.exact.iterations for row in plan)
    T = int(rounds) * int(K)
    trace = sf.run(plan.problem, FedAvg(period=int(K)), iterations=T, eta=float(eta), seeds=512, grid=[T])
    excess = trace.excess[:, 0].astype(float)
    error = excess.std(0, ddof=1) / np.sqrt(len(excess))
    assert (excess.mean(0) - 4 * error <= [row.epsilon for row in plan]).all()


@pytest.mark.parametrize(("spread", "noise"), [(3.0, 1.0), (0.3, 0.3)], ids=["all", "one"])
def test_nothing_is_said_where_bias_keeps_the_average_away(spread, noise):
    """From all clients, or from one of the three."""
    assert not [note for note in sf.plan(sites(spread, noise), "10%").notes if "In rounds" in note]
