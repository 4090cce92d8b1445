"""Noise that grows with the loss, and links at any threshold: special cases."""

from __future__ import annotations

import numpy as np

from suffice.bounds import evaluate

KEY = "sample-optimal/theorem-"
STAGES = {"eta": 0.1, "mu": 0.5, "beta": 5.0, "smin": 1.0, "smax": 1.0, "offset": 30.0, "T1": 0, "T2": 9, "start2": 2.0,
          "sigma2": 1.0, "lambda2": 0.3, "growth": 4.0, "row_weight": 0.5, "peer_excess": 0.1}  # fmt: skip
ROWS = {"mu": 0.5, "beta": 5.0, "step_share": 1.0, "clusters": 3, "size": 4, "mean_distance2": 1.0, "sigma2": 1.0,
        "sensitivity": 1.0, "link": 0.2, "deviation": 0.1, "linked_gap": 0.3, "failure": 1e-3, "b_max": 1.0,
        "T": 50}  # fmt: skip


def test_without_growth_and_stage_1_it_is_the_bound_of_two_stages():
    given = {name: value for name, value in STAGES.items() if name not in ("eta", "growth", "row_weight")}
    older = evaluate(KEY + "3-two-stage", **given)
    np.testing.assert_allclose(evaluate(KEY + "3-two-stage-growing", **STAGES | {"growth": 0.0}), older, rtol=1e-11)


def test_links_that_are_surely_right_or_wrong_give_the_averaged_bound_with_their_constants():
    def averaged(smax, lambda2, misfit):
        run = {"mean_distance2": 1.0, "sigma2": 1.0, "lambda2": lambda2, "peer_excess": misfit}
        # T rounds there have T + 1 for T; the noise may leave smax out
        start = evaluate(
            KEY + "3-averaged-sharp", **run | {"sigma2": 0.0}, eta=1 / (5 * smax), beta=5.0, smax=smax, T=49
        )
        return start + lambda2 / 10

    for p, given in ((1e-12, (3.0, 0.25, 0.09)), (1.0, (12.0, 1.0, 1.0))):
        np.testing.assert_allclose(evaluate(KEY + "5-rows", **ROWS | {"failure": p}), averaged(*given), rtol=1e-9)


def test_the_bias_of_rows_is_that_of_components_without_their_chains():
    given = {"mu": 0.5, "clusters": 3, "sensitivity": 1.0, "link": 0.2, "deviation": 0.1}
    chains = evaluate(KEY + "5-threshold", **given)
    np.testing.assert_allclose(chains, (9 - 1) / 6 * 0.3**2 / (2 * 0.5), rtol=1e-11)
