"""Claims on the rounds that All-for-all's plans ask for: measured is the last round above the precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...claim import Claim
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows
from ...widened_conditions import beyond
from .all_for_all import AGREED, ANY, HELD, KEY, SAME, agreed, network
from .flat import flat_rounds
from .moments import Mixture, last_missed

Known = dict[str, np.ndarray]
EDGE = 1 - 1e-12
_PLAN: dict[str, Domain] = {
    "fill": Domain(low=0.01, high=1, log=True),
    "noise": Domain(low=1e-3, high=1e3, log=True),
    "rise": Domain(low=1e-3, high=1e9, log=True),
}
"""`fill` is the share of the admissible peer excess that is used, `noise` is sigma2/(mu eps), e_0 <= eps (1 + rise)."""


def _without(domains: dict[str, Domain]) -> dict[str, Domain]:
    return {name: domain for name, domain in domains.items() if name not in ("fraction", "T", "sigma2", "start")}


FREE = {**_without(ANY), **_PLAN, "start": Domain(low=-3, high=3)}
EQUAL = {**_without(AGREED), **_PLAN}


def _step(known: Known) -> np.ndarray:
    """2/((M + 1) mu smin), M = max(kappa smax/smin, kappa sigma2 weight2/(mu s smin^2)) with s = eps - peer_excess."""
    m, slack = known["mu"] * known["smin"], known["eps"] - known["peer_excess"]
    worst = np.maximum(
        known["beta"] * known["smax"] / m, known["beta"] * known["sigma2"] * known["weight2"] / (m**2 * slack)
    )
    return 2 / ((worst + 1) * m)


def _averaged_step(known: Known) -> np.ndarray:
    """min(1/(L smax), s/(sigma2 lambda2)); without slack no step leads to the precision, and any will do."""
    slack = known["eps"] - known["peer_excess"]
    with np.errstate(all="ignore"):
        limit = np.where(slack > 0, slack / (known["sigma2"] * known["lambda2"]), np.inf)
    return np.minimum(1 / (known["beta"] * known["smax"]), limit)


def _filled(values: Values, size: int) -> Values:
    """Values that the networks ask for and a plan decides."""
    one = np.ones_like(values["beta"])
    return {"start": one, **values, "fraction": one, "T": one, "sigma2": np.zeros((len(one), size))}


_three_agents = measured_by("closed-form moments", "All-for-all on quadratics in dimension one: three agents")


def _planned_any(
    values: Values, eps: np.ndarray, step: Callable[[Known], np.ndarray], averaged: bool
) -> tuple[np.ndarray, Known]:
    """Three agents with any Lambda at the plan `step`."""
    filled = _filled(values, 3)
    model, known = network(filled)
    sigma2 = values["noise"] * known["mu"] * eps
    known |= {"eps": eps, "sigma2": sigma2}
    run = replace(model, v=np.broadcast_to(sigma2[:, None], model.h.shape), eta=step(known))
    return last_missed(run.averaged if averaged else run.average, eps), known


def _planned(step: Callable[[Known], np.ndarray], averaged: bool = False) -> Callable[[Values], Evidence]:
    @_three_agents
    def measure(values: Values) -> Measured:
        known = network(_filled(values, 3))[1]
        least = known["peer_excess"] / (0.9 * values["fill"] * EDGE)
        return _planned_any(values, np.maximum(least, known["e0"] / (1 + values["rise"])), step, averaged)

    return measure


@measured_by("closed-form moments", "All-for-all on quadratics in dimension one: two groups, equal rows of Lambda")
def _equal(values: Values) -> Measured:
    """Equal rows: e_0 = eps (1 + rise), eps = peer_excess/(0.9 fill)."""
    filled = _filled(values, 2)
    model, known = agreed(filled)
    eps = known["peer_excess"] / (0.9 * values["fill"] * EDGE)
    least = (model.weight * model.limit()).sum(-1)
    start = model.centre[:, 0] + np.sqrt(2 * (eps * (1 + values["rise"]) - least) / model.pull[:, 0])
    noise = (values["noise"] * known["mu"] * eps)[:, None] * np.ones(2)
    filled |= {"start": start, "sigma2": noise}
    known = {**agreed(filled)[1], "eps": eps}
    run: Mixture = agreed(filled, _step(known))[0]
    return last_missed(run.average, eps), known


def _near(values: Values, eps: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """Whether b_ij^2 <= mu eps, (n, N, N), where b_ij is the weak dissimilarity made symmetric."""
    h = np.minimum(mu[:, None] * values["kappa"][:, None] ** values["bend"], values["beta"][:, None])
    m = values["spread"][:, None] * values["place"]
    b = np.maximum(h[:, :, None], h[:, None]) * np.abs(m[:, :, None] - m[:, None])
    return b <= np.sqrt(mu * eps)[:, None, None] * EDGE


def _threshold(clusters: bool) -> Callable[[Values], Evidence]:
    """Equal weights on the near agents, half of eps left for their excess; `clusters`: only unions of cliques count."""

    @_three_agents
    def measure(values: Values) -> Measured:
        mu = values["beta"] / values["kappa"]
        eps = mu * values["spread"] ** 2 * values["fill"] * 4
        linked = _near(values, eps, mu).astype(float)
        chosen = {**values, "kind": np.zeros_like(mu), "weight": linked}
        measured, arguments = _planned_any(
            chosen, eps, lambda known: _step({**known, "peer_excess": eps / 2}), averaged=False
        )
        Lambda = linked / linked.sum(-1, keepdims=True)
        cliques = np.abs(Lambda @ Lambda - Lambda).max((1, 2)) < 1e-12
        return measured, arguments, {"hypothesis": cliques if clusters else True}

    return measure


FORGOTTEN = {name: value for name, value in SAME.items() if name not in ("fraction", "T", "sigma2")}
_STILL: dict[str, Any] = {**FORGOTTEN, "fill": 1.0, "noise": 0.0, "rise": 1e30, "start": 1.0, "kappa": 2000.0}
"""Three agents that share one loss of curvature mu and average, no noise."""


def _sharp_any() -> Values:
    small = {"beta": 1e-2, "kappa": 10.0}
    return rows(
        _STILL,
        *({**small, "kind": kind, "noise": 1e5, "rise": 1e20} for kind in (1.0, 3.0)),
        {"rise": 1e3},
        {"kind": 3.0},
    )


def _sharp_equal() -> Values:
    default = plain(EQUAL, kappa=2000, count=[1e4, 1], tilt=1, noise=0)
    scales = ((rise, b) for rise in (0.01, 0.1, 1.0, 1e9) for b in (0.1, 1e3))
    return rows(
        default, {"noise": 1e9, "kappa": 10.0, "rise": 1e9}, *({"rise": rise, "spread": b} for rise, b in scales)
    )


def _sharp_averaged() -> Values:
    """All follow one agent of curvature L, the others of curvature mu: nearly all of the peer excess is attained."""
    return rows({**_STILL, **HELD, "kappa": 1e4, "spread": 1.0}, {})


def _sharp_threshold() -> Values:
    small, star = {"beta": 1e-2, "kappa": 10.0}, {"place": np.array([0.0, 0.9, -0.9]), "fill": 0.25}
    far = {"start": 1e12}
    return rows(
        {**_STILL, "spread": 1.0, "place": np.zeros(3)},
        *({**small, **far, "noise": 1e5, "spread": b} for b in (1.0, 1e3)),
        *({**small, **far, **star, "noise": 1e5}, {**far, **star}, {**far}),
        *({"start": start} for start in (2.9, 3.0, 4.0, 100.0)),
    )


def claims() -> tuple[Claim, ...]:
    free = Family(name="any Lambda", domains=FREE, measure=_planned(_step), sharp=_sharp_any)
    near = replace(free, name="near agents", sharp=_sharp_threshold)
    equal_rows = Family(name="equal rows", domains=EQUAL, measure=_equal, sharp=_sharp_equal)
    averaged = replace(free, name="averaged", measure=_planned(_averaged_step, averaged=True), sharp=_sharp_averaged)
    bias = "bias peer_excess <= 0.9 eps"
    return (
        Claim.on(
            KEY + "theorem-3-sharp-rounds",
            free,
            equal_rows,
            outside_conditions={bias: beyond(equal_rows, fill=1.3, rise=1.0)},
        ),
        Claim.on(
            KEY + "theorem-3-averaged-sharp-rounds",
            averaged,
            flat_rounds(),
            outside_conditions={bias: beyond(averaged, fill=1.3)},
        ),
        *(
            Claim.on(f"{KEY}{key}-sharp", replace(near, measure=_threshold(clusters)))
            for key, clusters in (("corollary-1", True), ("corollary-1-general", False))
        ),
    )
