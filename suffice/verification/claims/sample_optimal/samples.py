"""Claims on the samples that find the clusters, and on samples and rounds together.

Gaussian xi in R^d of covariance Sigma = (trace/d) I, empirical means over S samples.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammainccinv, log_ndtr

from ...claim import Claim
from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import rows
from .estimated import CLUSTERS, PAIR, PLAN, between_clusters, plan

KEY = "sample-optimal/"

SAMPLES: dict[str, Domain] = {
    "d": Domain(low=1, high=1e9, log=True),
    "pairs": Domain(low=1, high=500, integer=True),
    "failure": Domain(low=1e-300, high=0.3, log=True),
    "proxy_trace": Domain(low=1e-3, high=1e3, log=True),
    "moment_gap": Domain(low=1e-4, high=1e-1, log=True),
}
"""Two clusters of 2 * `pairs` agents."""


def last_failing(
    d: np.ndarray, pairs: np.ndarray, failure: np.ndarray, trace: np.ndarray, gap: np.ndarray
) -> np.ndarray:
    """The largest S at which 2 * `pairs` disjoint pairs inside clusters are not all judged alike with probability
    1 - failure, (n,): a bound from below, since other pairs may be misjudged too.

    The means of a pair differ by sqrt(2 trace/(S d)) times a normal vector: they are judged apart if its chi-square of
    d degrees exceeds gap^2 S d/(8 trace).
    """
    tail = -np.expm1(np.log1p(-failure) / (2 * pairs))  # of one pair
    quantile = 2 * gammainccinv(d / 2, tail)
    return np.maximum(np.ceil(8 * trace / d * quantile / gap**2) - 1, 0)


def apart(failure: np.ndarray, variance: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """The same for two agents of different clusters in dimension one: judged alike with |gap + noise| <= gap/2."""
    low, high = np.full_like(failure, 0.6), np.full_like(failure, 40.0)
    for _ in range(60):  # z = gap/2 over the deviation of the difference; P = Q(z) - Q(3 z) falls from z = 0.6 on
        z = (low + high) / 2
        near, far = log_ndtr(-z), log_ndtr(-3 * z)
        missed = near + np.log1p(-np.exp(far - near)) > np.log(failure)
        low, high = np.where(missed, z, low), np.where(missed, high, z)
    return np.maximum(np.ceil(8 * variance * low**2 / gap**2) - 1, 0)


@measured_by("exact tails", "two clusters of Gaussian xi, pairs inside them")
def _samples(values: Values) -> Measured:
    d, trace, gap = np.floor(values["d"]), values["proxy_trace"], values["moment_gap"]
    measured = last_failing(d, values["pairs"], values["failure"], trace, gap)
    arguments = {"N": 4 * values["pairs"], "failure": values["failure"], "proxy_trace": trace, "nu2": trace / d,
                 "moment_gap": gap}  # fmt: skip
    return measured, arguments


@measured_by("exact tails", "two clusters of one agent, Gaussian xi in dimension one")
def _two_agents(values: Values) -> Measured:
    trace, gap = values["proxy_trace"], values["moment_gap"]
    arguments = {"N": np.full_like(gap, 2.0), "failure": values["failure"], "proxy_trace": trace, "nu2": trace,
                 "moment_gap": gap}  # fmt: skip
    return apart(values["failure"], trace, gap), arguments


def _sharp_samples() -> Values:
    default = {"d": 1e9, "pairs": 1.0, "failure": 0.1, "proxy_trace": 1.0, "moment_gap": 1e-3}
    return rows(
        default,
        *({"d": d, "failure": p, "proxy_trace": v, "moment_gap": gap}
          for d in (1.0, 1e9) for p in (0.1, 1e-300) for v in (1e-3, 1e3) for gap in (1e-4, 30.0)),
        {"pairs": 1e9, "d": 1.0},
    )  # fmt: skip


# --- Theorem 4: both together

BOTH: dict[str, Domain] = {
    **PLAN,
    "pairs": Domain(low=1, high=50, integer=True),
    **{name: SAMPLES[name] for name in ("d", "proxy_trace", "moment_gap")},
}


@between_clusters
def _theorem_4(values: Values) -> Measured:
    """One more than the last round above eps, and than the last number of samples that fails too often: whole numbers,
    of which nobody can run fewer. At T = 0 the excess is e_0 > eps."""
    values = {**values, "size": 2 * values["pairs"]}
    rounds, known = plan(values)
    d, trace, gap = np.floor(values["d"]), values["proxy_trace"], values["moment_gap"]
    samples = last_failing(d, values["pairs"], known["failure"], trace, gap)
    arguments = {**known, "proxy_trace": trace, "nu2": trace / d, "moment_gap": gap}
    return (samples + 1) + (rounds + 1), arguments


def _sharp_theorem_4() -> Values:
    still = {**{name: PAIR[name] for name in CLUSTERS}, "noise": 0.0, "rise": 1e20, "kappa": 2000.0, "start": 1.0,
             "pairs": 1.0, "d": 1e9, "proxy_trace": 1.0, "moment_gap": 1e6}  # fmt: skip
    small = {"beta": 1e-2, "kappa": 10.0, "noise": 1e5}
    many = {"moment_gap": 1e-3}
    scales = ((d, v, D) for d in (1.0, 1e9) for v in (1e-3, 1e3) for D in (1e-9, 1.0, 1e3))
    return rows(
        still,
        {"rise": 0.2},
        {"rise": 1.0},
        small,
        *({**many, "d": d, "proxy_trace": v, "apart": D} for d, v, D in scales),
        {**many, "moment_gap": 30.0, "proxy_trace": 1e6},
        {**many, "d": 1.0, "apart": 1e100, "rise": 1e250, "kappa": 1.0, "start": 0.0},
        {"kappa": 1.0, "rise": 1e-9, "start": 1e3},  # one sample and one round where next to nothing is asked for
    )


def claims() -> tuple[Claim, ...]:
    inside = Family(name="pairs inside clusters", domains=SAMPLES, measure=_samples, sharp=_sharp_samples)
    between = {name: SAMPLES[name] for name in ("failure", "proxy_trace", "moment_gap")}
    return (
        Claim.on(
            KEY + "theorem-4-sharp",
            Family(name="samples and rounds", domains=BOTH, measure=_theorem_4, sharp=_sharp_theorem_4),
        ),
        Claim.on(KEY + "theorem-5-samples", inside, Family(name="two agents", domains=between, measure=_two_agents)),
    )
