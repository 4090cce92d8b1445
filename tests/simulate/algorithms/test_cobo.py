"""CoBo: which pairs are sampled, at which rate and cost."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import N, built

from suffice.simulate import CoBo, Randomness

RHO, W0 = 0.6, np.random.default_rng(60).uniform(size=(N, N))
RULES = {
    "paper": CoBo(rho=RHO, weight_step=0.3),
    "every pair": CoBo(rho=RHO, weight_step=0.3, sampling="none"),
    "given weights, decreasing rate": CoBo(rho=RHO, weight_step=0.3, sampling="time", w0=torch.from_numpy(W0)),
    "unordered": CoBo(rho=RHO, weight_step=0.3, symmetric=True),
    "mixed": CoBo(rho=RHO, weight_step=0.3, sampling="mixed", horizon=2000),
    "released": CoBo.released(rho=RHO),
    "simplex": CoBo(rho=RHO, weight_step=0.3, simplex=True),
}


def chance(name: str, t: int) -> float:
    """Of a pair in iteration t = 1, 2, ..."""
    if name == "every pair":
        return 1
    if name == "given weights, decreasing rate":
        return 1 / t
    if name == "mixed":  # 0.2 % of 2000 iterations are four
        return 1 / N if t <= 4 else 1 / t
    return 2 / N if name == "released" else 1 / N


@pytest.mark.parametrize("name", RULES)
def test_pairs_are_sampled_at_their_rate_and_paid_for(name):
    problem, rule, seeds = built(), RULES[name], 1500
    both = name in ("unordered", "released")
    for t in (1, 6):
        draw = rule.draw(problem, Randomness(seeds=torch.arange(seeds)), t)
        pairs = draw.extra["pairs"]
        rate, count = chance(name, t), N * (N - 1) / (2 if both else 1)
        observed = pairs.double().sum((-1, -2)).mean() / N / (N - 1)
        alone = pairs.diagonal(dim1=-2, dim2=-1).sum(-1)
        observed = observed - alone.double().mean() / N / (N - 1)
        assert abs(observed - rate) <= 6 * np.sqrt(rate * (1 - rate) / seeds / count) + 1e-12
        assert bool(alone.any()) == (name == "simplex")  # elsewhere w_ii has no effect
        assert bool((pairs == pairs.transpose(-1, -2)).all()) == (both or rate == 1)
        directed = pairs.sum((-1, -2)) - alone
        # two gradients for a pair, one for a client's own entry; a gradient from j to i for each w_ij; all models
        np.testing.assert_array_equal(rule.oracle_calls(problem, draw), N + (1 if both else 2) * directed + alone)
        np.testing.assert_array_equal(rule.vectors_sent(problem, draw), N * (N - 1) + directed)


def test_released_rate_falls_after_800_iterations():
    rule = RULES["released"]
    assert [rule.chance(50, t) for t in (1, 800, 801, 10000)] == [0.04, 0.04, 801**-0.5, 0.01]
    assert rule.chance(1, 1) == 1
    assert [RULES["mixed"].chance(50, t) for t in (1, 4, 5, 100)] == [0.02, 0.02, 0.2, 0.01]
