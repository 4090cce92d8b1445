"""Flat losses: what the averaged iterate of All-for-all cannot beat, in closed form.

Huber losses G (|x - m| - G/(2L)) of slope G beyond G/L from their minimiser: L-smooth and convex. Many agents have
slope 1 and minimiser 0, one has slope g and minimiser R; Lambda averages over all N, so that all models agree and
move by eta times the mean slope, against the many, while they are between the bends. The gradients are exact, which
every sigma2 admits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import rows
from .moments import last_missed

DOMAINS: dict[str, Domain] = {
    "beta": Domain(low=1, high=1e4, log=True),
    "many": Domain(low=1, high=1e4, log=True),
    "slope": Domain(low=0, high=0.9),
    "apart": Domain(low=0, high=10),
    "sigma2": Domain(low=1e-4, high=10, log=True),
    "fraction": Domain(low=0.1, high=1, log=True),
    "reach": Domain(low=1, high=2),
    "T": Domain(low=1, high=200, integer=True),
}
"""g = slope * many; R is `apart` times the start, and room for the bends; the start is `reach` times T steps' way."""


class Flat:
    """The common model of a batch of instances, (n,) each."""

    def __init__(self, values: Values, start: np.ndarray, eta: np.ndarray) -> None:
        self.beta, self.start, self.eta = values["beta"], start, eta
        self.many = np.floor(values["many"])
        self.N, self.slope = self.many + 1, values["slope"] * self.many
        self.R = np.where(self.slope > 0, (1 + values["apart"]) * start + self.slope / self.beta, 0.0)
        self.drift = (self.many - self.slope) / self.N

    def averaged(self, T: np.ndarray) -> np.ndarray:
        """F at the mean of the iterates 1 to T; -inf from where the model passes a bend."""
        last = self.start - self.eta * self.drift * T
        mean = self.start - self.eta * self.drift * (T + 1) / 2
        F = self.many * (mean - 1 / (2 * self.beta)) + self.slope * (self.R - mean - self.slope / (2 * self.beta))
        return np.where(last >= (1 - 1e-12) / self.beta, F / self.N, -np.inf)

    def arguments(self) -> dict[str, np.ndarray]:
        """Lambda = 1 1^T/N: smax = 1."""
        there = self.R - 1 / (2 * self.beta)  # one of the many at R
        back = self.slope * (self.R - self.slope / (2 * self.beta))  # the one apart at 0
        return {
            "beta": self.beta,
            "smax": np.ones_like(self.N),
            "lambda2": 1 / self.N,
            "mean_distance2": (self.many * self.start**2 + (self.R - self.start) ** 2) / self.N,
            "peer_excess": np.where(self.slope > 0, self.many * (there + back) / self.N**2, 0.0),
        }


@measured_by("closed form", "mean of All-for-all's iterates on Huber losses, exact gradients")
def _measure(values: Values) -> Measured:
    eta, T = values["fraction"] / values["beta"], values["T"]
    drift = (1 - values["slope"]) * np.floor(values["many"]) / (np.floor(values["many"]) + 1)
    model = Flat(values, values["reach"] * eta * drift * T + 1 / values["beta"], eta)
    return np.maximum(model.averaged(T), 0), {**model.arguments(), "sigma2": values["sigma2"], "eta": eta, "T": T}


_ALONE: dict[str, Any] = {
    "beta": 1.0,
    "many": 1e8,
    "slope": 0.0,
    "apart": 0.0,
    "sigma2": 0.0,
    "fraction": 1.0,
    "reach": 1.0,
    "T": 1e4,
}


def _sharp() -> Values:
    return rows(
        _ALONE,
        *({"beta": L, "fraction": eta} for L in (0.1, 1.0, 30.0) for eta in (0.1, 1.0)),
        {"T": 1.0},
        {"slope": 0.5, "apart": 1.0},
    )


def flat() -> Family:
    """For the bound at a step size."""
    return Family(name="flat losses", domains=DOMAINS, measure=_measure, sharp=_sharp)


# --- rounds to a precision

PRECISE: dict[str, Domain] = {
    **{name: DOMAINS[name] for name in ("beta", "slope", "apart")},
    "many": Domain(low=1, high=100, log=True),
    "way": Domain(low=100, high=1e5, log=True),
    "share": Domain(low=0.05, high=0.95),
    "noise": Domain(low=0.1, high=1e3, log=True),
}
"""The start is way/L; eps - peer_excess is the part `share` of F there; where noise > 1 the step is 1/(noise L)."""


@measured_by("closed form", "mean of All-for-all's iterates on Huber losses, exact gradients")
def _rounds(values: Values) -> Measured:
    beta, start = values["beta"], values["way"] / values["beta"]
    probe = Flat(values, start, 1 / beta)
    known = probe.arguments()
    slack = values["share"] * probe.drift * start
    sigma2 = values["noise"] * slack * beta / (2 * known["lambda2"])
    with np.errstate(all="ignore"):
        eta = np.minimum(1 / beta, slack / (2 * sigma2 * known["lambda2"]))
    eps = known["peer_excess"] + slack
    return last_missed(Flat(values, start, eta).averaged, eps), {**known, "sigma2": sigma2, "eps": eps}


def _sharp_rounds() -> Values:
    default = {"beta": 1.0, "many": 1e8, "slope": 0.0, "apart": 0.0, "way": 1e5, "share": 0.5, "noise": 0.0}
    differing = {"many": 100.0, "slope": 0.5, "apart": 3.0}
    return rows(
        default,
        {"noise": 100.0},
        *({**differing, "noise": noise, "beta": L} for noise in (0.0, 30.0) for L in (1e-2, 1.0, 1e2)),
    )


def flat_rounds() -> Family:
    """For the rounds to a precision."""
    return Family(name="flat losses", domains=PRECISE, measure=_rounds, sharp=_sharp_rounds)
