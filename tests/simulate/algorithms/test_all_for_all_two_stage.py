"""All-for-all in two stages: its exact moments beside the theorem."""

from __future__ import annotations

import numpy as np
import torch

from suffice.bounds import evaluate
from suffice.bounds.all_for_all_plan import all_for_all_plan
from suffice.simulate import Quadratics, expected_excess
from suffice.simulate.algorithms import TwoStageAllForAll


def test_its_exact_moments_keep_the_promise_of_the_plan():
    """Four agents in two pairs, kappa = 20: the output's excess is below the precision, and the bound above both."""
    A, xi = np.array([0.5, 10, 0.5, 10])[:, None, None] * np.eye(1), np.array([[0.0], [0.01], [1.0], [1.01]])
    problem = Quadratics.of(A, xi, sigma2=2.0, start=np.full((4, 1), 3.0))
    Lambda = np.kron(np.eye(2), np.full((2, 2), 0.5))
    f = A[:, 0, 0] * (xi[:, 0] - xi[:, 0, None]) ** 2  # f_j at the minimiser of i, [i, j]
    given = {"mu": 1.0, "beta": 20.0, "smin": 1.0, "smax": 1.0, "sigma2": 2.0, "lambda2": 0.5,
             "peer_excess": (Lambda * f.T).sum() / 4}  # fmt: skip
    e0 = (A[:, 0, 0] * (3 + xi[:, 0]) ** 2).mean()
    plan = all_for_all_plan(**given, eps=0.05, e0=e0, weight2=0.5)
    assert plan.key == "sample-optimal/theorem-3-two-stage-rounds"
    rule = TwoStageAllForAll(Lambda=torch.from_numpy(Lambda), first=plan.first, kappa=20.0, offset=plan.offset)
    got = expected_excess(problem, rule, iterations=plan.rounds, eta=plan.eta).mean(-1)
    bound = evaluate("sample-optimal/theorem-3-two-stage", **given, offset=plan.offset, T1=plan.first,
                     T2=plan.rounds - plan.first, start2=2 * e0)  # fmt: skip
    assert 0.04 * bound < got[-1] <= bound <= 0.05
    assert got[plan.first] > 10 * got[-1]  # what stage 1 leaves
