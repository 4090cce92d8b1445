"""Rows of data refute what forgets that their noise grows: by exact moments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.verification import Outcome
from suffice.verification.claims import claim_of
from suffice.verification.claims.adaptive import row_networks


def test_exact_moments_of_rows_violate_a_bound_that_takes_their_noise_for_additive():
    claim = claim_of("adaptive/theorem-1-fixed-weights")
    honest = claim.theorem

    def additive(*, eta, mu, beta, e0, bias2, c, V, T, split):
        return honest.bound(eta=eta, mu=mu, beta=beta, e0=e0, bias2=bias2, c=c, V=V, T=T, split=0.0)

    wrong = replace(honest, bound=additive)
    evidence = row_networks.fixed_weights(60, 0)
    ratio = evidence.ratio(honest)[evidence.counted(honest)]
    assert len(ratio) >= 10
    assert ratio.max() <= 1
    assert replace(claim, theorem=wrong).verify().outcome is Outcome.VIOLATED


def test_the_share_of_noise_that_grows_is_never_below_what_the_weights_have():
    """Q of `multiplicative-running-total` for similarities at and above the given ones."""
    rng = np.random.default_rng(5)
    reduce = row_networks.definition("adaptive/multiplicative-running-total").reduce
    rho = np.concatenate((np.ones((4000, 1)), rng.uniform(size=(4000, 4))), axis=1)
    sigma2, factor = np.exp(rng.normal(size=(2, 4000, 5)))
    bound = reduce(similarity=rho, sigma2=sigma2, factor=factor)
    largest = np.zeros(4000)
    for _ in range(40):
        r = rho + (1 - rho) * rng.uniform(size=rho.shape) ** rng.choice([0.2, 1, 5])
        r[:, 0] = 1
        alpha = r / sigma2 / (r**2 / sigma2).sum(1, keepdims=True)
        largest = np.maximum(largest, (alpha**2 * factor * (1 + np.sqrt(1 - r)) ** 2).sum(1))
    assert (largest <= bound * (1 + 1e-12)).all()
    alike = reduce(similarity=np.ones(7), sigma2=np.ones(7), factor=np.full(7, 3.0))
    np.testing.assert_allclose(alike, 3 / 7, rtol=1e-14)  # one rounding per term
