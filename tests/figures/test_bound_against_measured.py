"""Bounds lie above exact expectations, near on sharp instances and far on ill-conditioned ones."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.figures import figure
from suffice.figures.bound_against_measured import ROWS


@pytest.fixture(scope="module")
def drawn():
    return figure("bound-against-measured", iterations=150)


@pytest.mark.parametrize("key", ROWS)
def test_every_bound_holds_nearly_on_sharp_instances_and_by_far_on_others(drawn, key):
    sharp, far = (drawn.data[f"{key} | {name}"] for name in ("sharp", "ill-conditioned"))
    for curve in (sharp, far):
        # bounds are rounded outward by 5e-13; exact moments have errors of the same order
        assert (curve["measured"] <= curve["bound"] * (1 + 1e-9)).all()
    near = sharp["bound"][-1] / sharp["measured"][-1]
    assert near < 1.51  # eta = 1/2: 1 / (2 - eta) of the limit's 1 is lost
    assert far["bound"][-1] / far["measured"][-1] > 10 * near


def test_worst_case_rows_are_attained(drawn):
    for key in ("worst-case/contraction", "worst-case/noise-floor"):
        curve = drawn.data[f"{key} | sharp"]
        np.testing.assert_allclose(curve["measured"], curve["bound"], rtol=1e-9)


def test_one_client_is_a_closed_form(drawn):
    # E e_t = (1 - eta)^(2t) e_0 + (sigma^2/2) eta (1 - (1 - eta)^(2t)) / (2 - eta), eta = 1/2, mu = beta = 1
    curve = drawn.data["adaptive/theorem-2-constant | sharp"]
    left = 0.25 ** curve["iteration"]
    np.testing.assert_allclose(curve["measured"], left / 2 + 0.005 / 3 * (1 - left), rtol=1e-12)
