"""The last iterate: the logarithm of kappa is needed."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import evaluate
from suffice.verification.claims.sample_optimal.last_iterate import KINKED, _kinked
from suffice.verification.family import Domain, Family

KEY = "sample-optimal/theorem-2-"


def floor(kappa, x):
    """The bound at its best window after many rounds, in units of eta sigma^2/2."""
    window = np.unique(np.floor(np.geomspace(1, 1e7, 4000))) - 1
    bound = evaluate(KEY + "last-iterate", eta=x, mu=1 / kappa, beta=1.0, distance2=0.0, sigma2=1.0, lambda2=1.0,
                     window=window, T=10**9)  # fmt: skip
    return bound.min() / (x / 2)


@pytest.mark.parametrize("kappa", [30.0, 300.0, 3000.0])
def test_timed_kicks_make_the_last_loss_grow_with_the_logarithm_of_kappa(kappa):
    """No constant times eta sigma^2 bounds it; the half of kappa that contraction alone gives is far more."""
    values = {"beta": 1.0, "kappa": kappa, "fraction": 0.1, "noise": 1e-4, "start": 0.0, "T": 4000.0, "window": 0.0}
    evidence = _kinked({name: np.array([value]) for name, value in values.items()})
    measured = evidence.measured[0] / (0.1 * 1e-4 / 2)
    assert 0.35 * np.log(kappa) < measured - 0.1 < 0.55 * np.log(kappa)
    assert measured < floor(kappa, 0.1)


def test_many_rounds_at_once_are_those_rounds_one_by_one():
    """From a start beyond the kink: slope mu y + 1 from y = 1/(beta - mu) on, beta y before; no noise."""
    values = Family(name="starts", domains=KINKED | {"start": Domain(low=1e-3, high=100, log=True)}).draw(200, seed=5)
    evidence = _kinked(values)
    given = evidence.arguments
    kink = 1 / (given["beta"] - given["mu"])
    y = np.sqrt(given["distance2"])
    began_beyond = y > kink
    for t in range(int(given["T"].max())):
        y = np.where(t < given["T"], y - given["eta"] * (given["mu"] * y + np.minimum(y / kink, 1)), y)
    assert (began_beyond & (y <= kink)).sum() > 10
    assert (y > kink).sum() > 10
    loss = given["mu"] * y**2 / 2 + np.where(y < kink, y**2 / (2 * kink), y - kink / 2)
    # 60 rounds of rounding, times 100 where most of the way is taken back; steps of 1/beta leave rounding errors alone
    np.testing.assert_allclose(evidence.measured, loss, rtol=1e-11, atol=1e-25)
