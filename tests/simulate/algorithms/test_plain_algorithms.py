"""Every algorithm of the catalogue follows the path of its plain transcription, seed by seed, draw by draw."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from plain_algorithms import OPTIONS, RULES, At

from suffice.simulate import Quadratics, Randomness
from suffice.simulate.algorithms.cobo import MIDPOINT, PAIRS
from suffice.simulate.catalogue import algorithm

S, N, D, T = 4, 6, 3, 9
ETA = 0.1
SIZES = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.0])[:, None]
SAMPLED = [*sorted(name for name, options in OPTIONS.items() if "participants" in options), "ditto", "apfl"]


def clients() -> At:
    """Two and two share a Hessian and almost a minimiser, so that thresholds join some."""
    rng = np.random.default_rng(50)
    root, pairs = rng.normal(size=(N, D, D)), np.arange(N) // 2
    H = (2 * np.eye(D) + 0.2 * (root + root.transpose(0, 2, 1)))[pairs]
    m = 0.5 * rng.normal(size=(N, D))[pairs] + 0.02 * rng.normal(size=(N, D))
    return At(H=H, m=m, start=1.5 + rng.normal(size=(N, D)), eta=ETA)


def of_servers(rule, **more):
    """The same algorithm with another server, whether it is one or has one."""
    return replace(rule, server=replace(rule.server, **more)) if hasattr(rule, "server") else replace(rule, **more)


CASES = [
    *((name, 0, False, {}) for name in RULES),
    *((name, 2, False, {}) for name in SAMPLED),
    *((name, 3, True, {}) for name in SAMPLED),
    ("apfl", 3, True, {"adaptive": True}),
    ("cobo", 0, False, {"simplex": True}),
]


@pytest.mark.parametrize(("name", "participants", "weighted", "more"), CASES)
def test_paths_are_those_of_the_plain_transcription(name, participants, weighted, more):
    at, follow = clients(), partial(RULES[name], **more)
    problem = Quadratics.of(at.H / 2, -at.m, sigma2=0.3, start=at.start)
    rule = replace(algorithm(name, problem, eta=ETA, **OPTIONS.get(name, {})), **more)
    if participants:
        rule = of_servers(rule, participants=participants)
    if weighted:
        rule, at = of_servers(rule, sizes=torch.from_numpy(SIZES[:, 0])), replace(at, sizes=SIZES)
    many, eta = Randomness(seeds=torch.arange(S), root=3), torch.tensor(ETA, dtype=torch.float64)
    state = rule.init(problem, problem.start.expand(S, -1, -1))
    plain = follow(at, np.broadcast_to(at.start, (S, N, D)))
    alone = np.broadcast_to(at.start, (S, N, D))
    for t in range(1, T + 1):
        draw = rule.draw(problem, many, t)
        drawn = {key: value.numpy() for key, value in draw.extra.items()}
        shown = {"noise": draw.noise[:, :, 0].numpy()}
        if "coin" in drawn or "participants" in drawn:
            shown["coin"] = drawn["coin"][:, None, None] if "coin" in drawn else 1.0 * drawn["participants"][..., None]
        if name == "cobo":
            shown |= {"pairs": drawn[PAIRS], "second": drawn[MIDPOINT][:, :, 0]}
        state = rule.step(problem, state, draw, eta)
        now = replace(at, t=t, **shown)
        plain, alone = follow(now, *plain), alone - ETA * now.own(alone)
        # models are of order one and contract: a thousand roundings stay below 1e-12
        np.testing.assert_allclose(state["models"], plain[0], rtol=1e-10, atol=1e-11, err_msg=f"t = {t}")
    assert name == "local" or np.abs(state["models"].numpy() - alone).max() > 0.01
