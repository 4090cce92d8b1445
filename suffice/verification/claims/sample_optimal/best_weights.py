"""Claims on All-for-one that follows a mixture in two stages, by exact means and variances.

As statements on communications do, those on rounds count a plan's own: the rounds that it takes where its exact excess
is at most eps at their end, else infinitely many.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...claim import Claim
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.recursions import affine_recursion, by_length
from ...instances.rows import plain, rows
from .all_for_one import KEY, SHARED, constants, hessian, network
from .all_for_one_rounds import EDGE
from .moments import Mixture, geometric, power
from .two_stages import LOUD

# --- from the mixture's excess to the agent's own

MIXTURE: dict[str, Domain] = {
    name: SHARED[name] for name in ("beta", "kappa", "place", "spread", "count", "weight", "split", "sigma2")
} | {"start": SHARED["start"], "fraction": SHARED["fraction"], "T": Domain(low=0, high=20, integer=True)}


@measured_by("closed-form moments", "All-for-one, three groups of quadratics in R^2 with one Hessian")
def _mixture(values: Values) -> Measured:
    model = network(values, values["fraction"] / values["beta"])
    known, T = constants(values, model), values["T"]
    x = model.eta[:, None] * model.pull
    away = power(x, T[:, None]) * (model.start - model.centre)
    noise = model.eta[:, None] ** 2 * np.einsum("ng,ngd->nd", model.share, model.v) * geometric(x, T[:, None])
    known["mixture_excess"] = (model.pull * (away**2 + noise)).sum(-1) / 2
    return model.first(T), known


def _beyond_the_minimiser() -> Values:
    """Starts beyond the mixture's minimiser along curvature mu, at it, and at the agent's own."""
    away = {"weight": [0, 1, 0], "place": [[1, 0], [0, 0]], "sigma2": 0, "split": 0.5, "T": 0, "spread": 1}
    starts = ((3.0, 0), (1.001, 0), (1.0, 0), (30.0, 0))
    given = ({"start": start, "beta": beta, "kappa": 3.0} for start in starts for beta in (0.05, 1.0, 60.0))
    return rows(plain(MIXTURE, **away), *given, {"start": [2.0, 0], "spread": 1e-4, "kappa": 1})


# --- rounds

ROUNDS: dict[str, Domain] = {
    **{name: SHARED[name] for name in ("beta", "kappa", "place", "count", "weight", "split")},
    "eps": Domain(low=1e-3, high=1e3, log=True),
    "fill": Domain(low=0, high=0.85),
    "noise": Domain(low=1e-3, high=30, log=True),
    "side": Domain(low=-1, high=1, shape=(2,)),
    "rise": Domain(low=1e-2, high=1e12, log=True),
}
"""`fill` is sum_j lambda_j b_j/c, or for the best weights the largest b over 2 c; `noise` is sigma2/(mu eps); `rise` is
the argument of the logarithm, from the mixture's minimiser to the `side` of it."""


def two_stages(model: Mixture, mu: np.ndarray, L: np.ndarray, T1: np.ndarray, T2: np.ndarray) -> np.ndarray:
    """E f_0 - f_0* at the mean of stage 2's iterates 0 to T2 with the weights p_t, agent 0's minimiser at 0."""
    h, q = model.pull, np.einsum("ng,ngd->nd", model.share, model.v)
    eta = (2 / (L + mu))[:, None]
    mean = power(eta * h, T1[:, None]) * (model.start - model.centre)
    variance = eta**2 * q * geometric(eta * h, T1[:, None])
    found = np.empty(len(mu))
    for few in by_length(T2):
        t = np.arange(int(T2[few].max()) + 1)[:, None]
        n = 2 * (L / mu)[few] + t
        p = np.where(t <= T2[few], n * (n + 1) / (n + 2), 0.0)
        p = (p / p.sum(0))[..., None]
        eta = (2 / (mu[few] * (n[:-1] + 2)))[..., None]
        left = 1 - eta * h[few]
        means = affine_recursion(left, np.zeros_like(left), mean[few])
        variances = affine_recursion(left**2, eta**2 * q[few], variance[few])
        # covariance of each iterate with the weighted sum of those up to it
        shared = affine_recursion(left, p[1:] * variances[1:], p[0] * variances[0])
        spread = (p * (2 * shared - p * variances)).sum(0)
        found[few] = (h[few] * ((model.centre[few] + (p * means).sum(0)) ** 2 + spread)).sum(-1) / 2
    return found


@measured_by("exact moments of two stages", "All-for-one, three groups of quadratics in R^2 with one Hessian")
def _rounds(values: Values, best: bool) -> Measured:
    h, eps, count = hessian(values), values["eps"], values["count"]
    mu, L = h[:, 0], h[:, 1]
    c = np.sqrt(2 * mu * eps)
    sigma2 = values["noise"] * mu * eps
    given = {**values, "start": values["side"], "sigma2": sigma2[:, None] * np.ones(3)}
    unit = network(given, 1 / L, np.ones_like(eps))
    farthest = np.where(count > 0, unit.strong(), 0).max(-1)
    weighed = farthest / 2 if best else (unit.weight * unit.strong()).sum(-1)
    with np.errstate(all="ignore"):
        spread = np.where(weighed > 0, values["fill"] * EDGE * c / weighed, 0)
    near = np.maximum(c[:, None] - spread[:, None] * unit.strong(), 0)
    if best:
        given["weight"] = near
    model = network(given, 1 / L, spread)
    lambda2, bias = model.share.sum(-1), (model.weight * model.strong()).sum(-1)
    noise, room = sigma2 * lambda2, (c - bias) ** 2
    level = np.maximum(noise, room / 2)
    side = values["side"] / np.linalg.norm(values["side"], axis=-1, keepdims=True)
    start = model.centre + side * np.sqrt(values["rise"] * level / (L * mu))[:, None]
    T1 = np.ceil(L / mu / 4 * np.maximum(np.log(values["rise"]), 0))
    T2 = np.where(noise >= room / 2, np.ceil(4 * noise / room + 3), 0)
    model = network({**given, "start": start}, 1 / L, spread)
    reached = two_stages(model, mu, L, T1, T2) <= eps * (1 + 1e-9)
    known = {"mu": mu, "beta": L, "eps": eps, "sigma2": sigma2, "lambda2": np.minimum(lambda2, 1), "bias": bias}
    known["distance2"] = ((start - model.centre) ** 2).sum(-1)
    known["signal2"] = (count * near**2).sum(-1)
    return np.where(reached, T1 + T2, np.inf), known


def _own_rounds() -> Values:
    """Both counts just above whole numbers: much noise or none, near and far starts, many agents or one."""
    one = plain(ROUNDS, kappa=4, count=[1, 0, 0], weight=[1, 0, 0], split=0.5, side=[1, 1], fill=0, noise=20.001)
    crowd = {"count": [1, 40, 9], "weight": [1, 1, 1], "place": [[1, 0], [0.2, 1]]}
    few, many = np.exp(1 + 1e-3), np.exp(500.001)  # kappa/4 = 1
    return rows(
        one,
        *({"rise": rise, "noise": noise} for rise in (1.0, few, many) for noise in (1e-9, 0.501, 2.0001, 29.0002)),
        *({"rise": few, "kappa": kappa} for kappa in (1.0, 4.0, 100.0)),
        *({**crowd, "rise": few, "noise": noise, "fill": fill} for noise in (0.5, 30.0) for fill in (0.3, 0.7)),
        *({"eps": eps, "beta": 7.0, "rise": few} for eps in (0.01, 50.0)),
    )


def claims() -> tuple[Claim, ...]:
    shared = Family(name="common Hessian", domains=MIXTURE, measure=_mixture, sharp=_beyond_the_minimiser)

    def plans(best: bool) -> Family:
        def measure(values: Values) -> Evidence:
            return _rounds(values, best)

        return Family(name="common Hessian", domains=ROUNDS, measure=measure, sharp=_own_rounds)

    # all weight on an agent whose distance is the bias
    other = plain(ROUNDS, count=[1, 1, 0], weight=[0, 1, 0], place=[[1, 0], [0, 0]], side=[1, 0], fill=1.05, noise=0.1)
    outside = {"bias bias^2 <= 1.8 mu eps": lambda: _rounds(rows(other, {}, {"kappa": 9.0}), False)}
    return (
        Claim.on(KEY + "theorem-2-mixture", shared),
        Claim.on(KEY + "theorem-2-mixture-rounds", plans(False), outside_conditions=outside),
        Claim.on(
            KEY + "theorem-2-optimal-rounds",
            plans(True),
            in_regime=(replace(plans(True), domains={**ROUNDS, "noise": LOUD}),),
        ),
    )
