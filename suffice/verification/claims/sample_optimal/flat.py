"""Flat losses: what the averaged iterate of All-for-all cannot beat, in closed form.

Huber losses G (|x - m| - G/(2L)) of slope G beyond G/L from their minimiser: L-smooth and convex. Many agents have
slope 1 and minimiser 0, one has slope g and minimiser R; Lambda averages over all N, or all `follow` the one, so that
all models agree and move by eta smax times the mean slope, against the many, while they are between the bends. Across,
every loss has curvature L and its minimiser where all start, and there is the noise: W sigma2 in either case.
"""

from __future__ import annotations

import numpy as np

from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows
from .moments import last_missed, mean_of_iterates

DOMAINS: dict[str, Domain] = {
    "beta": Domain(low=1, high=1e4, log=True),
    "many": Domain(low=1, high=1e4, log=True),
    "slope": Domain(low=0, high=0.9),
    "apart": Domain(low=0, high=10),
    "sigma2": Domain(low=1e-4, high=10, log=True),
    "fraction": Domain(low=0.1, high=1, log=True),
    "reach": Domain(low=1, high=2),
    "follow": Domain(low=0, high=1, integer=True),
    "T": Domain(low=1, high=200, integer=True),
}
"""g = slope * many; R is `apart` times the start, and room for the bends; the start is `reach` times T steps' way."""


class Flat:
    """The common model of a batch of instances, (n,) each; `way` is eta smax."""

    def __init__(self, values: Values, start: np.ndarray, way: np.ndarray, sigma2: np.ndarray) -> None:
        self.beta, self.start, self.way, self.sigma2 = values["beta"], start, way, sigma2
        self.many, self.follow = np.floor(values["many"]), values["follow"] == 1
        self.N, self.slope = self.many + 1, values["slope"] * self.many
        alone = np.where(self.follow, 1 / self.beta, 0.0)
        self.R = np.where(self.slope > 0, (1 + values["apart"]) * start + self.slope / self.beta, alone)
        self.smax = np.where(self.follow, self.N, 1.0)
        self.drift = (self.many - self.slope) / self.N

    def averaged(self, T: np.ndarray) -> np.ndarray:
        """F at the mean of the iterates 1 to T; -inf from where the model passes a bend."""
        last = self.start - self.way * self.drift * T
        mean = self.start - self.way * self.drift * (T + 1) / 2
        F = self.many * (mean - 1 / (2 * self.beta)) + self.slope * (self.R - mean - self.slope / (2 * self.beta))
        across = self.beta * self.way**2 * self.sigma2 / 2 * mean_of_iterates(self.way * self.beta, T)[1]
        return np.where(last >= (1 - 1e-12) / self.beta, (F + across) / self.N, -np.inf)

    def arguments(self) -> dict[str, np.ndarray]:
        """Lambda = 1 1^T/N, smax = 1, or 1 e^T, smax = N; of x^0 - x* they see the mean over the agents, or e's."""
        there = self.R - 1 / (2 * self.beta)  # one of the many at R
        back = self.slope * (self.R - self.slope / (2 * self.beta))  # the one apart at 0
        between = np.where(self.slope > 0, self.many * (there + back) / self.N**2, 0.0)
        return {
            "beta": self.beta,
            "smax": self.smax,
            "lambda2": self.smax / self.N,
            "mean_distance2": (self.start - np.where(self.follow, self.R, self.R / self.N)) ** 2 / self.smax,
            "peer_excess": np.where(self.follow, self.many * there / self.N, between),
            "sigma2": self.sigma2,
        }


@measured_by("closed form", "mean of All-for-all's iterates on Huber losses, noise across")
def _measure(values: Values) -> Measured:
    way, T = values["fraction"] / values["beta"], values["T"]
    drift = (1 - values["slope"]) * np.floor(values["many"]) / (np.floor(values["many"]) + 1)
    model = Flat(values, values["reach"] * way * drift * T + 1 / values["beta"], way, values["sigma2"])
    return np.maximum(model.averaged(T), 0), {**model.arguments(), "eta": way / model.smax, "T": T}


_ALONE = plain(DOMAINS, many=1e8, sigma2=0, T=1e4)


def _sharp() -> Values:
    return rows(
        _ALONE,
        *({"beta": L, "fraction": eta} for L in (0.1, 1.0, 30.0) for eta in (0.1, 1.0)),
        {"T": 1.0},
        {"slope": 0.5, "apart": 1.0},
        *({"follow": 1.0, "many": 7.0, "T": T, "reach": 1 + 1 / T} for T in (1.0, 2.0, 9.0, 1e3)),
        {"follow": 1.0, "T": 1.0, "reach": 2.0, "sigma2": 30.0, "many": 7.0},
    )


def flat() -> Family:
    """The family for the bound at a step size."""
    return Family(name="flat losses", domains=DOMAINS, measure=_measure, sharp=_sharp)


# --- rounds to a precision

PRECISE: dict[str, Domain] = {
    **{name: DOMAINS[name] for name in ("beta", "slope", "apart", "follow")},
    "many": Domain(low=1, high=100, log=True),
    "way": Domain(low=100, high=1e5, log=True),
    "share": Domain(low=0.05, high=0.95),
    "noise": Domain(low=0.1, high=1e3, log=True),
}
"""The start is way/L; eps - peer_excess is the part `share` of F there, the step is 1/(L smax max(1, noise))."""


@measured_by("closed form", "mean of All-for-all's iterates on Huber losses, noise across")
def _rounds(values: Values) -> Measured:
    """The last T at which the mean misses eps, at the step min(1/(L smax), s/(sigma2 lambda2))."""
    beta, start = values["beta"], values["way"] / values["beta"]
    probe = Flat(values, start, 1 / beta, np.zeros_like(beta))
    known = probe.arguments()
    slack = values["share"] * probe.drift * start
    known["sigma2"] = values["noise"] * slack * beta * probe.smax / known["lambda2"]
    run = Flat(values, start, 1 / (beta * np.maximum(values["noise"], 1)), known["sigma2"])
    eps = known["peer_excess"] + slack
    return last_missed(run.averaged, eps), {**known, "eps": eps}


def _sharp_rounds() -> Values:
    default = {
        **{name: _ALONE[name] for name in ("beta", "many", "slope", "apart", "follow")},
        **{"way": 1e5, "share": 0.5, "noise": 0.0},
    }
    once = {"follow": 1.0, "way": 3.0}  # s is what one step leaves, and a little less
    differing = {"many": 100.0, "slope": 0.5, "apart": 3.0}
    return rows(
        default,
        {"noise": 100.0},
        *({**differing, "noise": noise, "beta": L} for noise in (0.0, 30.0) for L in (1e-2, 1.0, 1e2)),
        *(
            {**once, "noise": V, "share": (1 - 1e-6) / (3 - 1.5 * V), "beta": L}
            for V in (0.0, 0.5, 1.0)
            for L in (1.0, 9.0)
        ),
    )


def flat_rounds() -> Family:
    """The family for the rounds to a precision."""
    return Family(name="flat losses", domains=PRECISE, measure=_rounds, sharp=_sharp_rounds)
