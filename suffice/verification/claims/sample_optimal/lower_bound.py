"""Claims on Theorem 1: the rounds that any method needs.

Two measurements. The family of the proof: two instances, s = +1 and -1, told apart by the best of all estimators,
whose risk is an integral over the data's law. And a method that anybody can run, the mean of all samples of the
nearest agents: what suffices for it on every instance of the class, no lower bound may exceed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from ...claim import Claim
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows
from .reduced import reduced

KEY = "sample-optimal/"
PEERS = 5
SCALES: dict[str, Domain] = {
    "mu": Domain(low=0.01, high=100, log=True),
    "eps": Domain(low=1e-3, high=1e3, log=True),
    "sigma2": Domain(low=1e-3, high=1e3, log=True),
    "b": Domain(low=0, high=4, shape=(PEERS,)),
    "room": Domain(low=1, high=3),
}
RISE = Domain(low=1e-3, high=3, log=True)
"""Peers' dissimilarities are `b` (mu eps)^(1/2), e_0 = eps (1 + rise); the ball is `room` times the least that fits."""


@cache
def _legendre() -> tuple[np.ndarray, np.ndarray]:
    """20 panels of 14 nodes on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(14)
    left = np.arange(20) / 20
    return (left[:, None] + (x + 1) / 40).ravel(), np.tile(w / 40, 20)


def sign_risk(u: np.ndarray) -> np.ndarray:
    """The least E(s - estimate)^2 for a fair sign s seen through N(s u, 1): the integral of 2 p q/(p + q), (n,).

    p and q are the two densities; at the posterior mean (p - q)/(p + q) the errors 2q/(p + q) and 2p/(p + q) squared
    have that mean. It is even in t; beyond t = 40/u it is below exp(-40) of its peak.
    """
    nodes, weights = _legendre()
    with np.errstate(divide="ignore"):
        reach = np.minimum(12, 40 / u)[:, None]
    t, u = reach * nodes, u[:, None]
    p, q = np.exp(-((t - u) ** 2) / 2), np.exp(-((t + u) ** 2) / 2)
    return (4 / np.sqrt(2 * np.pi) * reach * weights * p * q / (p + q)).sum(-1)


def separation(rho: np.ndarray) -> np.ndarray:
    """The u^2 at which the risk is rho in (0, 1), (n,), by secants: ln risk falls in u^2 with slopes in [-1, -1/2]."""
    target = np.log(rho)
    before = -0.99 * target
    v = -target
    miss = np.log(sign_risk(np.sqrt(before))) - target
    for _ in range(8):
        now = np.log(sign_risk(np.sqrt(v))) - target
        with np.errstate(all="ignore"):
            slope = np.where(v == before, -0.75, (now - miss) / (v - before))
        slope = np.where((slope > -1.1) & (slope < -0.4), slope, -0.75)
        before, miss, v = v, now, v - now / slope
    return v


def _signal(values: Values, e0: np.ndarray) -> np.ndarray:
    """mu^2 sum_j m_j^2: T rounds tell the two instances apart like N(s u, 1), u^2 = T times this over sigma^2."""
    mu, b = values["mu"][:, None], _dissimilarities(values)
    place = np.maximum(np.sqrt(2 * e0[:, None] / mu) - b / mu, 0)
    return (mu**2 * place**2).sum(-1)


def _dissimilarities(values: Values) -> np.ndarray:
    """b_ij of agent i itself and its peers, (n, 1 + PEERS)."""
    return np.pad(values["b"], ((0, 0), (1, 0))) * np.sqrt(values["mu"] * values["eps"])[:, None]


def _arguments(values: Values, e0: np.ndarray) -> dict[str, np.ndarray]:
    mu, eps, b = values["mu"], values["eps"], _dissimilarities(values)
    return {
        "mu": mu,
        "eps": eps,
        "e0": e0,
        "sigma2": values["sigma2"],
        "near": reduced("theorem-1-count", b=b, mu=mu, eps=eps),
        "signal2": reduced("theorem-1-signal", b=b, mu=mu, e0=e0),
        "ball": values["room"] * np.sqrt(2 * e0 / mu),
    }


def _level(values: Values) -> np.ndarray:
    """e_0, at 2 eps unless there is a rise."""
    return values["eps"] * (1 + values.get("rise", np.ones_like(values["eps"])))


@measured_by("quadrature", "two instances told apart by the posterior mean, six agents")
def _of_family(values: Values) -> Measured:
    """Rounds (a real number) at which the best estimator's mean excess over the two instances is eps."""
    e0 = _level(values)
    return separation(values["eps"] / e0) * values["sigma2"] / _signal(values, e0), _arguments(values, e0)


@measured_by("closed form", "mean of the samples of the nearest of six agents")
def _of_means(values: Values) -> Measured:
    """Rounds at which the mean of the samples of the m nearest agents is precise enough on the whole class, best m.

    Minimisers are within b_ij/mu of each other, samples of minimisers have the variance sigma^2/mu^2.
    """
    mu, eps = values["mu"][:, None], values["eps"][:, None]
    b = np.sort(_dissimilarities(values), axis=-1)
    m = np.arange(1, PEERS + 2)
    left = 2 * eps / mu - (np.cumsum(b, -1) / m / mu) ** 2
    with np.errstate(all="ignore"):
        needed = np.where(left > 0, values["sigma2"][:, None] / mu**2 / m / left, np.inf)
    return needed.min(-1), _arguments(values, _level(values))


EXCESS: dict[str, Domain] = {
    "mu": SCALES["mu"],
    "eps": SCALES["eps"],
    "sigma2": SCALES["sigma2"],
    "b": SCALES["b"],
    "room": SCALES["room"],
    "rise": RISE,
    "u": Domain(low=0.05, high=9.9, log=True),
    "T": Domain(low=1, high=100, integer=True),
}
"""sigma2 is what makes the separation after T rounds u^2."""


@measured_by("quadrature", "two instances told apart by the posterior mean, six agents")
def _excess(values: Values) -> Measured:
    e0 = _level(values)
    sigma2 = values["T"] * _signal(values, e0) / values["u"] ** 2
    return e0 * sign_risk(values["u"]), {**_arguments({**values, "sigma2": sigma2}, e0), "T": values["T"]}


_BARE = plain(SCALES)


def _sharp() -> Values:
    scales = ((mu, eps, s2) for mu in (0.1, 5.0) for eps in (0.1, 5.0) for s2 in (0.3, 7.0))
    return rows(_BARE, *({"mu": mu, "eps": eps, "sigma2": s2} for mu, eps, s2 in scales))


def _sharp_rise() -> Values:
    scales = ((rise, s2) for rise in (1e-3, 1.0, 2.1451, 3.0) for s2 in (0.1, 9.0))
    return rows({**_BARE, "rise": 1.0}, *({"rise": rise, "sigma2": s2} for rise, s2 in scales))


def _sharp_excess() -> Values:
    return rows({**_BARE, "rise": 1.0, "u": 1.0, "T": 4.0}, *({"u": u} for u in (0.1, 1.0, 9.0)))


def _shrunk_mean() -> Evidence:
    """Six agents alike in a ball with mu ball^2 = 2 e_0/1.2, e_0 = 2 eps: the mean of all samples, made shorter.

    At the variance v of the mean the factor ball^2/(ball^2 + v) leaves (mu/2) ball^2 v/(ball^2 + v) at most.
    """
    values = rows({**_BARE, "rise": 1.0, "room": 1.2**-0.5}, {})
    arguments = _arguments(values, _level(values))
    mu, square, left = values["mu"], arguments["ball"] ** 2, 2 * values["eps"] / values["mu"]
    needed = values["sigma2"] / mu**2 / arguments["near"] * (square - left) / (left * square)
    return Evidence(engine="closed form", measured=needed, arguments=arguments, label="a mean made shorter")


def _answer_zero() -> Evidence:
    """The answer 0 is wrong by mu ball^2/2 at most, here e_0/1.2."""
    values = rows({**_BARE, "rise": 1.0, "u": 0.1, "T": 1.0, "room": 1.2**-0.5}, {})
    arguments = _excess(values).arguments
    worst = arguments["mu"] * arguments["ball"] ** 2 / 2
    return Evidence(engine="closed form", measured=worst, arguments=arguments, label="the answer 0")


def _families(domains: dict[str, Domain], sharp: Callable[[], Values]) -> tuple[Family, ...]:
    return (
        Family(name="two instances", domains=domains, measure=_of_family, sharp=sharp),
        Family(name="means of samples", domains=domains, measure=_of_means, sharp=sharp),
    )


def claims() -> tuple[Claim, ...]:
    inside, half = "family in the ball, 2 e0 <= mu ball^2", "family in the ball, 4 eps <= mu ball^2"
    return (
        *(
            Claim.on(KEY + key, *_families(SCALES, _sharp), outside_conditions={half: _shrunk_mean})
            for key in ("theorem-1", "theorem-1-sum")
        ),
        Claim.on(
            KEY + "theorem-1-optimised",
            *_families({**SCALES, "rise": RISE}, _sharp_rise),
            outside_conditions={inside: _shrunk_mean},
            unrefuted_conditions={
                "precision eps <= 0.9991 e0": "the bound is right up to eps = e_0 and 0 beyond; this keeps its digits"
            },
        ),
        Claim.on(
            KEY + "theorem-1-excess",
            Family(
                name="two instances",
                domains=EXCESS,
                measure=_excess,
                sharp=_sharp_excess,
            ),
            outside_conditions={inside: _answer_zero},
            unrefuted_conditions={
                "not yet decided, T signal2 <= 100 sigma2": "the bound is right at every T; beyond, it is below "
                "e_0 exp(-50)"
            },
        ),
    )
