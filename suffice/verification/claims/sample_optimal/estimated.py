"""Claims on All-for-all between estimated clusters.

Two clusters of C agents each, curvature h, minimisers D apart; every agent starts `start` from the first one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...claim import Claim
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows
from .moments import geometric, last_missed, power

KEY = "sample-optimal/"

CLUSTERS: dict[str, Domain] = {
    "beta": Domain(low=0.01, high=100, log=True),
    "kappa": Domain(low=1, high=50, log=True),
    "size": Domain(low=1, high=100, integer=True),
    "apart": Domain(low=1e-2, high=10, log=True),
    "start": Domain(low=-5, high=5),
    "kind": Domain(low=0, high=1, integer=True),
}
"""`kind` 0: samples of an agent put it far from everybody, 1: half-way between the clusters, which links them all."""


class Clusters:
    """E F^T over noise and over the estimated clusters, a batch of instances (n,).

    Each agent's samples mislead independently with probability 1 - (1 - p)^(1/(2C)); p is the probability that any
    do. `sigma2` is the noise, `eta` the step size.
    """

    def __init__(self, values: Values, sigma2: np.ndarray, eta: np.ndarray, failure: np.ndarray) -> None:
        self.h, self.size, self.D, self.start = (
            values["beta"] / values["kappa"],
            values["size"],
            values["apart"],
            values["start"],
        )
        self.linked, self.sigma2, self.eta, self.failure = values["kind"] == 1, sigma2, eta, failure

    def average(self, T: np.ndarray) -> np.ndarray:
        """E F^T, (n,)."""
        x, C, p = self.eta * self.h, self.size, self.failure
        left, noise = power(x, 2 * T), self.eta**2 * self.sigma2 * geometric(x, T)
        right = left * (self.start**2 + (self.start - self.D) ** 2) / 2
        with np.errstate(divide="ignore"):
            one = -np.expm1(np.log1p(-p) / (2 * C))  # a given agent is misled
        # models per agent: clusters that have an agent left count one, and every misled agent one
        alone = self.h / 2 * (right + noise * (1 / C + one - one**C / C))
        merged = left * (self.start - self.D / 2) ** 2 + self.D**2 / 4 + noise / (2 * C)
        mixed = self.h / 2 * ((1 - p) * (right + noise / C) + p * merged)
        return np.where(self.linked, mixed, alone)

    def arguments(self) -> dict[str, np.ndarray]:
        return {
            "mu": self.h,
            "size": self.size,
            "N": 2 * self.size,
            "e0": self.h * (self.start**2 + (self.start - self.D) ** 2) / 4,
            "b_max": self.h * self.D,
            "sigma2": self.sigma2,
        }


STEPS: dict[str, Domain] = {
    **CLUSTERS,
    "sigma2": Domain(low=1e-4, high=10, log=True),
    "failure": Domain(low=1e-4, high=0.9, log=True),
    "fraction": Domain(low=0.01, high=1, log=True),
    "T": Domain(low=0, high=60, integer=True),
}


between_clusters = measured_by("closed-form moments", "All-for-all between two estimated clusters of equal quadratics")


@between_clusters
def _theorem_5(values: Values) -> Measured:
    eta = values["fraction"] * 2 / (values["beta"] * (1 + 1 / values["kappa"]))
    model = Clusters(values, values["sigma2"], eta, values["failure"])
    given = {name: values[name] for name in ("beta", "failure", "T")}
    return model.average(values["T"]), {**model.arguments(), **given, "eta": eta}


PAIR = plain(STEPS, size=2, apart=1e-12, sigma2=0, failure=1e-9, T=1)
"""Two clusters of two agents, mu = L, one step of length 1/L, no noise."""


def _sharp_theorem_5() -> Values:
    noise = {"sigma2": 1.0}
    return rows(
        PAIR,
        *({**noise, "beta": L, "failure": p} for L in (0.1, 1.0, 9.0) for p in (1e-9, 1e-3, 0.5)),
        {**noise, "size": 1.0},
        {"start": 2.0, "T": 0.0},
        {"start": 2.0, "fraction": 0.01},
        {"start": 2.0, "kappa": 50.0, "fraction": 0.1, "T": 5.0},
        *({"kind": 1.0, "apart": D, "failure": 0.5, "T": 30.0} for D in (1e-2, 1e2)),
    )


def _outside() -> Evidence:
    """Curvature L, the theorem is told a tenth of it: beyond 2/(1.1 L)."""
    found = _theorem_5(rows({**PAIR, "fraction": 1.85, "start": 2.0, "T": 5.0}, {}))
    return replace(found, arguments={**found.arguments, "mu": found.arguments["mu"] / 10})


# --- rounds of Corollary 2

PLAN: dict[str, Domain] = {
    **CLUSTERS,
    "noise": Domain(low=1e-3, high=1e3, log=True),
    "rise": Domain(low=1e-3, high=1e9, log=True),
}
"""eps = e_0/(1 + rise), sigma2 = noise mu eps."""


def plan(values: Values) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The last round above eps at the plan's probability of failure and step size, and the arguments.

    The step is 2/((M + 1) mu), M = max(kappa, 2 kappa sigma2/(mu eps C)): half of eps is left for the bias.
    """
    one = np.ones_like(values["beta"])
    known = Clusters(values, one, one, one / 2).arguments()
    mu, size, eps = known["mu"], values["size"], known["e0"] / (1 + values["rise"])
    sigma2 = values["noise"] * mu * eps
    failure = np.minimum(1 / size, mu * eps / (2 * known["b_max"] ** 2))
    beta = values["beta"]
    eta = 2 / ((np.maximum(beta / mu, 2 * beta * sigma2 / (mu**2 * eps * size)) + 1) * mu)
    run = Clusters(values, sigma2, eta, failure)
    arguments = {**run.arguments(), "beta": beta, "eps": eps, "failure": failure}
    return last_missed(run.average, eps), arguments


def _sharp_plan() -> Values:
    still = {**{name: PAIR[name] for name in CLUSTERS}, "noise": 0.0, "rise": 1e20, "kappa": 2000.0, "start": 1.0}
    small = {"beta": 1e-2, "kappa": 10.0, "noise": 1e5}
    return rows(still, {"rise": 0.2}, {"rise": 1.0}, small, {**small, "size": 7.0, "kind": 1.0}, {"beta": 100.0})


def claims() -> tuple[Claim, ...]:
    steps = Family(name="two clusters", domains=STEPS, measure=_theorem_5, sharp=_sharp_theorem_5)
    return (
        Claim.on(KEY + "theorem-5-sharp", steps, outside_conditions={"step size eta <= 2/(beta + mu)": _outside}),
        Claim.on(
            KEY + "corollary-2-sharp",
            Family(name="two clusters", domains=PLAN, measure=between_clusters(plan), sharp=_sharp_plan),
        ),
    )
