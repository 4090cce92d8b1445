"""How certain the constants of a problem from arrays are."""

from __future__ import annotations

import numpy as np

import suffice as sf


def test_constants_of_logistic_clients_are_certified_estimated_or_hold_everywhere(tmp_path):
    rng = np.random.default_rng(11)
    X = [rng.normal(size=(200, 2)) for _ in range(3)]
    y = [(x @ [1.0, -1.0] + rng.logistic(size=200) > 0).astype(int) for x in X]
    notes, similar, sigma2 = {}, {}, {}
    for certainty in ("everywhere", "certified", "estimated"):
        constants = sf.from_arrays(
            X, y, loss="logistic", regularisation=0.1, standardise="none", certainty=certainty
        ).constants()
        notes[certainty] = " ".join(constants.notes)
        similar[certainty] = constants.heterogeneity.similarity(2 * constants.mu * 0.5 * constants.excess)
        sigma2[certainty] = constants.sigma2
    assert "everywhere" in notes["everywhere"]
    assert "certified" in notes["certified"]
    assert "estimates" in notes["estimated"]
    assert (similar["everywhere"] <= similar["certified"]).all()
    assert (similar["certified"] <= similar["estimated"] + 1e-9).all()
    assert (similar["estimated"] > 0.5).all()  # three samples of one population
    assert (sigma2["certified"] <= sigma2["everywhere"] * (1 + 1e-8)).all()
    assert (sigma2["estimated"] <= sigma2["certified"]).all()
