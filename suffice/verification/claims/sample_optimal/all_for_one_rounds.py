"""Claims on the rounds that All-for-one's plans ask for.

Measured is the last round at which the plan's exact expected excess is above the precision: a statement "from T on it
is at most eps" is true exactly if that round comes before T.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...claim import Claim
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows
from ...widened_conditions import beyond
from .all_for_one import KEY, SHARED, constants, hessian, network
from .moments import Mixture, last_missed

EDGE = 1 - 1e-12
"""A condition that is filled to its edge stays met after rounding."""

DOMAINS: dict[str, Domain] = {
    **{name: SHARED[name] for name in ("beta", "kappa", "place", "count", "weight", "split")},
    "eps": Domain(low=1e-3, high=1e3, log=True),
    "fill": Domain(low=0, high=1),
    "noise": Domain(low=1e-3, high=1e3, log=True),
    "side": Domain(low=-1, high=1, shape=(2,)),
    "rise": Domain(low=1e-3, high=1e9, log=True),
}
"""`fill` is the share of the admissible bias that is used, `noise` is sigma2/(mu eps), e_0 = eps (1 + rise)."""

_MANY = {"place": [[1, 0], [0, 0]], "count": [1, 1e6, 0], "weight": [1, 1, 0], "split": 1, "side": [1, 0]}
CROWD = plain(DOMAINS, **_MANY, kappa=2000, fill=1, noise=0)
"""A million agents b away, a start beyond them, curvature mu on the way, no noise."""


@measured_by("closed-form moments", "All-for-one, three groups of quadratics in R^2 with one Hessian")
def planned(values: Values, spread: np.ndarray, step: Callable[[dict[str, np.ndarray]], np.ndarray]) -> Measured:
    """The plan `step(arguments)` on the network with minimisers `spread` (n,) times `place`."""
    h, eps = hessian(values), values["eps"]
    e0 = eps * (1 + values["rise"])
    start = values["side"] * np.sqrt(2 * e0 / (h * values["side"] ** 2).sum(-1))[:, None]
    sigma2 = (values["noise"] * h[:, 0] * eps)[:, None] * np.ones(3)
    filled = {**values, "start": start, "sigma2": sigma2, "T": np.zeros_like(eps)}
    known = {**constants(filled, network(filled, 1 / values["beta"], spread)), "eps": eps}
    known["near"] = values["count"].sum(-1)
    return last_missed(network(filled, step(known), spread).first, eps), known


def _unit(values: Values) -> Mixture:
    """The network at spread 1."""
    quiet = {"start": np.zeros_like(values["side"]), "sigma2": np.zeros_like(values["weight"])}
    return network({**values, **quiet}, 1 / values["beta"], np.ones_like(values["beta"]))


def _rounds(values: Values) -> Evidence:
    unit, mu = _unit(values), values["beta"] / values["kappa"]
    bias = (unit.weight * unit.strong()).sum(-1)
    with np.errstate(all="ignore"):
        spread = np.sqrt(1.8 * mu * values["eps"] * values["fill"] * EDGE) / bias
    return planned(values, np.where(bias > 0, spread, 0), _step)


def _step(known: dict[str, np.ndarray]) -> np.ndarray:
    mu, beta = known["mu"], known["beta"]
    slack = known["eps"] - known["bias"] ** 2 / (2 * mu)
    with np.errstate(all="ignore"):
        limit = mu * slack / (beta * known["sigma2"] * known["lambda2"])
    return np.minimum(1 / beta, np.where(slack > 0, limit, np.inf))  # without slack no step leads to the precision


def _threshold(values: Values) -> Evidence:
    equal = {**values, "weight": np.ones_like(values["weight"])}
    farthest = np.where(values["count"] > 0, _unit(equal).strong(), 0).max(-1)
    limit = values["fill"] * EDGE * np.sqrt(values["beta"] / values["kappa"] * values["eps"])
    return planned(equal, limit / farthest, _threshold_step)


def _threshold_step(known: dict[str, np.ndarray]) -> np.ndarray:
    mu, beta = known["mu"], known["beta"]
    with np.errstate(all="ignore"):
        return np.minimum(1 / beta, mu * known["eps"] * known["near"] / (2 * beta * known["sigma2"]))


def _sharp() -> Values:
    small = {"beta": 1e-2, "kappa": 10.0, "weight": np.array([1.0, 0.0, 0.0]), "count": np.ones(3)}
    # a short step, the noise at half of the slack and a start just above eps: both meet the bound's first order
    near = {"kappa": 1.0, "noise": 1e12}
    return rows(
        CROWD,
        *({**near, "rise": rise, "eps": eps} for rise in (1e-4, 1e-2, 0.1) for eps in (1.0, 1e5)),
        *({"rise": rise} for rise in (0.01, 0.03, 0.3, 2.0, 1e6)),
        *({"rise": rise, "eps": eps, "beta": 10.0} for rise in (0.03, 2.0) for eps in (1e-2, 1e5)),
        {"fill": 0.0, "rise": 1e20},
        *({**small, "noise": noise, "rise": rise} for noise in (1e3, 1e5) for rise in (0.3, 30.0, 1e9)),
    )


def claims() -> tuple[Claim, ...]:
    plan, threshold = (
        Family(name="common Hessian", domains=DOMAINS, measure=measure, sharp=_sharp)
        for measure in (_rounds, _threshold)
    )
    return (
        Claim.on(
            KEY + "theorem-2-rounds", plan, outside_conditions={"bias bias^2 <= 1.8 mu eps": beyond(plan, fill=1.2)}
        ),
        Claim.on(KEY + "theorem-2-rounds-threshold", threshold),
    )
