"""Errata of Theorem 1."""

from __future__ import annotations

import numpy as np

from ..erratum import Finding
from .paper import constant, false, typo


@false(
    location="Section 3, definition of K_i^eps, and Theorem 1",
    claim="inf over methods of sup over instances of K_i^eps = inf{K: error of x_i^K <= eps} is "
    "Omega(r^2 sigma^2/(eps N_i))",
    truth="K may depend on the instance there, so that outputs of a fixed grid reach eps at some K whatever the noise; "
    "the bound holds for the K at which the error is at most eps on every instance.",
    key="sample-optimal/theorem-1",
)
def theorem_1_infimum() -> Finding:
    # mu = r = 1, one agent, d = 1: the K-th output is the K-th of four fixed points, and no sample is looked at
    eps, sigma = 1 / 32, 100.0
    guesses = np.array([-0.75, -0.25, 0.25, 0.75])
    minimisers = np.linspace(-1, 1, 2001)
    precise = (guesses - minimisers[:, None]) ** 2 / 2 <= eps * (1 + 1e-12)
    rounds = int(precise.argmax(1).max()) + 1
    if not precise.any(1).all():
        raise RuntimeError("some minimiser is missed by all four guesses")
    inputs = {"N": 1, "r": 1, "mu": 1, "sigma": 100, "eps": "1/32", "method": "outputs -3/4, -1/4, 1/4, 3/4 in turn",
              "quantity": "K_i^eps, worst over the instances, against r^2 sigma^2/(eps N_i)"}  # fmt: skip
    return Finding(inputs=inputs, printed=sigma**2 / eps, measured=float(rounds))


_NEAR = np.array([0.0, 0.15, 0.15])
_NEAR_INPUTS = {"mu": 1, "eps": 0.01, "b_ij": _NEAR.tolist(), "quantity": "agents whose samples tell about agent i"}


def _informative() -> float:
    """Agents whose mean moves with the sign in the family of the proof, m_j = (2 sqrt(eps/mu) - b_ij/mu)_+."""
    mu, eps = 1.0, 0.01
    place = np.maximum(2 * np.sqrt(eps / mu) - _NEAR / mu, 0)
    return float((place > 0).sum())


@typo(
    location="Theorem 1, last line",
    claim="N_i^eps(b^2/(4 mu)) is the number of agents with b_ij^2 <= eps",
    truth="The count is of b_ij^2 <= 4 mu eps, as in the formula before.",
    key="sample-optimal/theorem-1",
    direction="equality",
)
def theorem_1_count() -> Finding:
    return Finding(inputs=_NEAR_INPUTS, printed=float((_NEAR**2 <= 0.01).sum()), measured=_informative())


@typo(
    location="text after Theorem 1",
    claim="cooperation appears in the factor 1/N_i^eps(b/4)",
    truth="N_i^eps(b^2/(4 mu)) is meant, which counts the agents with b_ij^2 <= 4 mu eps.",
    key="sample-optimal/theorem-1",
    direction="equality",
)
def theorem_1_quarter() -> Finding:
    return Finding(inputs=_NEAR_INPUTS, printed=float((_NEAR / 4 <= 0.01).sum()), measured=_informative())


@constant(
    location="text after Theorem 2",
    claim="the algorithm's O~(kappa sigma^2/(mu eps N_i(2 b^2/mu))) matches the lower bound's N_i(b^2/(4 mu)); O~ "
    "hides logarithmic and constant factors",
    truth="Both match up to the constants inside the counts, b_ij^2 <= 4 mu eps below and mu eps/2 above, which can "
    "differ by all agents.",
    key="sample-optimal/theorem-1-sum",
    direction="equality",
)
def theorem_1_matching() -> Finding:
    mu, eps, N = 0.3, 0.01, 1000
    b2 = np.append(0.0, np.full(N - 1, mu * eps))
    lower, upper = (b2 <= 4 * mu * eps).sum(), (2 * b2 / mu <= eps).sum()
    inputs = {"N": N, "mu = L": mu, "eps": eps, "b_ij^2": "mu eps for every j != i",
              "quantity": "N_i of the lower bound over N_i of the upper bound"}  # fmt: skip
    return Finding(inputs=inputs, printed=1.0, measured=float(lower / upper))
