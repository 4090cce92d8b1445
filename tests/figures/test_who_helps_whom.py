"""The phase map is the planner's, and scales as the theory says."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.bounds import Constants, QuadraticCertificate
from suffice.figures import figure
from suffice.planning.guaranteed.plan import plan_rows
from suffice.planning.plan_row import quotient
from suffice.simulate import Randomness, Stream

CLIENTS, FEATURES = 20, 10
SPREADS, PRECISIONS = (0.01, 0.1), (1e-3, 0.01, 0.1, 2.0)


@pytest.fixture(scope="module")
def drawn():
    return figure("who-helps-whom", seeds=(0,), spreads=SPREADS, precisions=PRECISIONS)


@pytest.mark.parametrize("v", SPREADS)
def test_every_cell_is_the_plan_of_client_0(drawn, v):
    offset = Randomness(seeds=torch.arange(1)).normal(
        iteration=0, stream=Stream.DATA, clients=CLIENTS, features=FEATURES
    )
    one = np.ones(CLIENTS)
    for at, eps in enumerate(PRECISIONS):
        constants = Constants(
            mu=2 * one,
            beta=2 * one,
            sigma2=one,
            excess=10 * max(1.0, eps) * one,
            heterogeneity=QuadraticCertificate(A=np.tile(np.eye(FEATURES), (CLIENTS, 1, 1)), xi=-v * offset[0].numpy()),
        )
        row = plan_rows(constants, eps)[0]
        curve = drawn.data[f"{v:g}"]
        assert curve["size"][at] == len(row.cluster)
        # bounds are rounded outward by 5e-13 each
        times = (plan.hitting["expected_iterations"] for plan in (row.local, row.schedules))
        np.testing.assert_allclose(curve["speedup"][at], quotient(*times), rtol=1e-9)


def test_clusters_grow_with_precision_and_shrink_with_heterogeneity(drawn):
    near, far = (drawn.data[f"{v:g}"]["size"] for v in SPREADS)
    assert (np.diff(near) >= 0).all()
    assert (far <= near).all()
    assert (near[-1], far[0]) == (CLIENTS, 1)
