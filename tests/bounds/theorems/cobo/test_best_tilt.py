"""The share of the clients' gradients that a tilt leaves, and the best tilt."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from suffice.bounds import evaluate
from suffice.bounds.theorems.cobo import best_tilt, largest_share_kept

KNOWN = {"eta": 0.1, "beta": 2.0, "rho": 0.5, "size": 8.0, "least_weight": 0.9, "T": 50.0}
GIVEN = {**KNOWN, "e0": 3.0, "spread": 0.5, "sigma2": 2.0}


def test_clients_alike_have_a_closed_form():
    tilt = np.array([1.0, 1.05, 1.5, 2.0, 3.0])
    r = (KNOWN["beta"] / (KNOWN["least_weight"] * KNOWN["rho"] * KNOWN["size"])) ** 2
    closed = np.minimum(tilt * (1 - r), 2 - KNOWN["eta"] * KNOWN["beta"] - 1 / tilt)
    assert_allclose(largest_share_kept({**KNOWN, "dissimilarity": 0.0}, tilt), closed, rtol=3e-9)


def test_without_tilt_the_closed_form_of_clients_that_differ():
    for m2 in (0.0, 0.3, 1.5):
        r = (KNOWN["beta"] / (KNOWN["least_weight"] * KNOWN["rho"] * KNOWN["size"])) ** 2
        closed = min(1 - KNOWN["eta"] * KNOWN["beta"], 1 / (1 + m2) - r)
        assert_allclose(largest_share_kept({**KNOWN, "dissimilarity": m2}, 1.0), closed, rtol=3e-9)


def test_the_best_pair_is_admissible_and_no_tilt_tried_is_better():
    known = {**GIVEN, "dissimilarity": 0.4}
    best = best_tilt(known)
    least = evaluate("cobo/corollary-2-star", **known, **best)  # its conditions hold
    tilts = np.linspace(1, 4, 2000)
    kept = np.maximum(largest_share_kept(known, tilts), 1e-30)
    others = evaluate("cobo/corollary-2-star", **known, tilt=tilts, kept=kept, enforce=False)
    assert least < others[0]
    assert least <= 1.02 * others.min()  # the grid has ten tilts a decade, and around the best one the bound is flat


def test_a_penalty_too_small_for_every_tilt_leaves_nothing():
    assert best_tilt({**GIVEN, "rho": 0.2, "dissimilarity": 0.4})["kept"] == 0
