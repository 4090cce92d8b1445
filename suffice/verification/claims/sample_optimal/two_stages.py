"""Claims on All-for-all in two stages, by exact second moments round by round in dimension one.

Three agents with any Lambda (see `all_for_all`): what is measured is the mean of the losses of stage 2, with its
weights; the loss of the mean model, the output, is less.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...claim import Claim
from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.recursions import affine_recursion, by_length
from ...instances.rows import plain, rows
from ...widened_conditions import beyond
from .all_for_all import ANY, KEY, SAME, network
from .all_for_all_rounds import EDGE, FREE
from .moments import Filtered, geometric, power

Known = dict[str, np.ndarray]
MOST = 4000
"""Rounds of stage 2 that are followed."""

# --- one round


def _filtered(model: Filtered) -> tuple[np.ndarray, np.ndarray]:
    """Lambda^T H Lambda (n, N, N), and y - y* at the start (n, N), both y in the range of Lambda^T."""
    back = model.Lambda.swapaxes(1, 2)
    A = back @ (model.h[:, :, None] * model.Lambda)
    best = np.linalg.pinv(A, rcond=1e-12) @ (back @ (model.h * model.m)[:, :, None])
    start = np.linalg.pinv(model.Lambda, rcond=1e-12).sum(-1) * model.start[:, None]
    return A, start - best[:, :, 0]


def _distance2(model: Filtered) -> np.ndarray:
    return (_filtered(model)[1] ** 2).mean(-1)


@measured_by("closed form", "one round of All-for-all on quadratics in dimension one: three agents, any Lambda")
def _step(values: Values) -> Measured:
    model, known = network(values)
    A, u = _filtered(model)
    Au = np.einsum("nij,nj->ni", A, u)
    noise = np.einsum("nij,ni->n", model.Lambda**2, model.v) / u.shape[1]
    known |= {"eta": model.eta, "start2": (u**2).mean(-1), "filtered_excess": (u * Au).mean(-1) / 2}
    return ((u - model.eta[:, None] * Au) ** 2).mean(-1) + model.eta**2 * noise, known


KINKS: dict[str, Domain] = {
    **{name: ANY[name] for name in ("beta", "kappa", "fraction")},
    "slopes": Domain(low=0, high=1, shape=(2,)),
    "bend": Domain(low=1e-3, high=3, log=True),
    "start": Domain(low=1e-3, high=10, log=True),
    "sigma2": Domain(low=1e-4, high=10, log=True),
}


@measured_by("closed form", "one step on a loss whose curvature, mu kappa^slope, changes at the bend")
def _kinked(values: Values) -> Measured:
    mu, one = values["beta"] / values["kappa"], np.ones_like(values["beta"])
    inner, outer = np.minimum(mu[:, None] * values["kappa"][:, None] ** values["slopes"], values["beta"][:, None]).T
    y, near, eta = values["start"], np.minimum(values["start"], values["bend"]), values["fraction"] / values["beta"]
    far = y - near
    after = (y - eta * (inner * near + outer * far)) ** 2 + eta**2 * values["sigma2"]
    return after, {
        "mu": mu, "beta": values["beta"], "smin": one, "smax": one, "lambda2": one, "sigma2": values["sigma2"],
        "eta": eta, "start2": y**2, "filtered_excess": inner * near**2 / 2 + inner * near * far + outer * far**2 / 2,
    }  # fmt: skip


FOLLOW: dict[str, Any] = {"kind": 0.0, "weight": np.array([[1.0, 0, 0]] * 3)}


def _sharp_step() -> Values:
    noisy = {"sigma2": np.ones(3)}
    return rows(
        SAME,
        *({**noisy, "kind": kind, "beta": L} for kind in (1.0, 2.0) for L in (0.1, 9.0)),
        *({**given, "start": 2.0, "kappa": 50.0, "fraction": x} for given in ({}, FOLLOW) for x in (1.0, 0.3)),
        {**noisy, **FOLLOW, "start": 2.0, "kappa": 3.0, "bend": np.ones(3)},
    )


def _sharp_kinked() -> Values:
    default = plain(KINKS, slopes=[1, 0], kappa=10, sigma2=0)
    return rows(default, {"start": 2.0}, {"start": 9.0, "kappa": 1.5}, {"start": 3.0, "beta": 30.0, "kappa": 3.0})


# --- both stages


def staged(model: Filtered, known: Known) -> np.ndarray:
    """Mean of the losses of stage 2 with its weights, after T1 rounds of stage 1, (n,)."""
    curvature, amplitude, noise = replace(model, eta=np.ones_like(model.eta)).modes
    m, most, a, T2 = known["mu"] * known["smin"], known["beta"] * known["smax"], known["offset"], known["T2"]
    eta, T1 = (2 / (most + m))[:, None], known["T1"][:, None]
    moment = power(eta * curvature, 2 * T1) * amplitude**2 + eta**2 * noise * geometric(eta * curvature, T1)
    found = np.empty(len(m))
    for few in by_length(T2):
        t = np.arange(int(T2[few].max()) + 1)[:, None]
        n = a[few] + t
        p = np.where(t <= T2[few], n * (n + 1) / (n + 2), 0.0)
        eta = (2 / (m[few] * (n[:-1] + 2)))[..., None]
        losses = affine_recursion((1 - eta * curvature[few]) ** 2, eta**2 * noise[few], moment[few]).mean(-1) / 2
        weights = p.sum(0)
        found[few] = (p * losses).sum(0) / np.where(weights > 0, weights, 1)
    return found


STAGES: dict[str, Domain] = {
    **{name: domain for name, domain in ANY.items() if name not in ("fraction", "T")},
    "T1": Domain(low=0, high=20, integer=True),
    "T2": Domain(low=0, high=60, integer=True),
    "room": Domain(low=1, high=100, log=True),
}
"""The offset is `room` times the least one, and at least 0; where there is no weight T2 is 1."""


@measured_by("exact moments", "All-for-all in two stages on quadratics in dimension one: three agents, any Lambda")
def _stages(values: Values) -> Measured:
    model, known = network({**values, "fraction": np.ones_like(values["beta"])})
    least = 2 * known["beta"] * known["smax"] / (known["mu"] * known["smin"]) - 2
    known |= {"offset": np.maximum(least, 0) * values["room"], "T1": values["T1"]}
    known |= {"T2": np.maximum(values["T2"], known["offset"] < 1), "start2": _distance2(model)}
    return staged(model, known), known


def _sharp_stages() -> Values:
    # All follow agent 0 of three, curvature L, minimisers 0, D and -D: equality where stage 2 is one model. From the
    # minimiser, curvature L and steps of nearly 1/L all along: the floor of stage 2.
    still = {**{name: SAME[name] for name in STAGES if name in SAME}, "T1": 0.0, "T2": 0.0, "room": 1.0, "kappa": 1e9}
    follow = {**FOLLOW, "bend": np.ones(3), "place": np.array([0.0, 1.0, -1.0])}
    noisy = {"sigma2": np.ones(3)}
    scales = [(k, L, D, x, s, T1) for k, L in ((50.0, 1.0), (1e3, 9.0), (1e4, 0.1))
              for D, x, s, T1 in ((0.0, 2.0, 0.0, 0.0), (0.0, 2.0, 0.0, 20.0), (1.0, 2.0, 0.0, 3.0),
                                  (10.0, 0.0, 1e-9, 1.0), (0.0, 0.0, 1.0, 1e6), (0.0, 0.0, 1.0, 5e2))]  # fmt: skip
    return rows(
        still,
        *({**follow, "kappa": k, "beta": L, "spread": D, "start": x, "sigma2": np.full(3, s), "T1": T1}
          for k, L, D, x, s, T1 in scales),
        *({**noisy, **given, "bend": np.ones(3), "T2": 1e3, "beta": L} for given in ({}, FOLLOW) for L in (0.1, 1, 9)),
        *({"start": 2.0, "kappa": 1.5, "T2": T2} for T2 in (0.0, 1.0)),
        # kappa near 1 and many small steps: what stage 1 leaves of its noise decides
        {**noisy, "kappa": 1.1, "room": 5e3, "T1": 1.0, "T2": 3e3},
    )  # fmt: skip


# --- rounds

ROUNDS = {**FREE, "noise": Domain(low=1e-3, high=10, log=True)}
LOUD = Domain(low=400, high=2000, log=True)
"""Noise that decides at kappa = 100."""


def plan(known: Known) -> Known:
    """T1, a and T2 for the precision."""
    m, s = known["mu"] * known["smin"], known["sigma2"] * known["lambda2"]
    kappa, slack = known["beta"] * known["smax"] / m, known["eps"] - known["peer_excess"]
    with np.errstate(all="ignore"):
        start = np.log(np.maximum(2 * kappa * m * known["e0"] / np.maximum(s, m * slack), 1))
        each = np.where(start > 0, start / (2 * np.log1p(2 / (kappa - 1))), 0.0)
        needed = np.ceil(2 * s / (m * slack) + np.where(kappa < 1.5, 0.5, 0.0)) - 1
    T1 = np.where(kappa > 1, np.ceil(each), start > 0)
    return {"T1": T1, "offset": 2 * kappa, "T2": np.where(s <= m * slack, 0.0, needed)}


@measured_by("exact moments", "All-for-all in two stages on quadratics in dimension one: three agents, any Lambda")
def _rounds(values: Values) -> Measured:
    """T1 + T2 where they lead to the precision, which is what is claimed; else more than any bound."""
    one = np.ones_like(values["beta"])
    model, known = network({**values, "fraction": one, "T": one, "sigma2": np.zeros((len(one), 3))})
    known["eps"] = np.maximum(known["peer_excess"] / (0.9 * values["fill"] * EDGE), known["e0"] / (1 + values["rise"]))
    known["sigma2"] = values["noise"] * known["mu"] * known["eps"]
    known |= plan(known)
    possible = known["eps"] > known["peer_excess"]  # else no plan is made, and nothing reaches the precision
    followed = possible & (known["T2"] <= MOST)
    run = replace(model, v=np.broadcast_to(known["sigma2"][:, None], model.h.shape))
    reached = staged(run, {**known, "T2": np.where(followed, known["T2"], 0)}) <= known["eps"] * (1 + 1e-9)
    return np.where(reached, known["T1"] + known["T2"], 1e300), known, {"hypothesis": followed | ~possible}


def _sharp_rounds() -> Values:
    still = {name: value for name, value in SAME.items() if name in ROUNDS}
    still |= {"fill": 1.0, "noise": 0.0, "rise": 1e30, "start": 1.0}
    near = {"kappa": 1.2, "rise": 1e-3, "start": 1e-3}
    return rows(
        still,
        *({"kappa": k, "noise": V, "kind": kind, "rise": 1e20}
          for k in (1.0, 30.0, 2e3) for V in (0.0, 9.0, 3e2) for kind in (1.0, 2.0)),
        *({**FOLLOW, "kappa": k, "noise": V, "bend": np.ones(3), "place": np.array([0.0, 1.0, -1.0]), "start": 10.0,
           "spread": 1.0, "fill": 0.9, "beta": L, "rise": 1e30}
          for k in (1.2, 30.0) for V in (1.0, 2e2) for L in (1.0, 9.0)),
        *({**near, "noise": 3 * V} for V in (1.752, 2.2505, 3.002, 1e2)),
    )  # fmt: skip


STEP = "step size eta <= 1/(beta smax)"


def claims() -> tuple[Claim, ...]:
    step = Family(name="any Lambda", domains=ANY, measure=_step, sharp=_sharp_step)
    kinked = Family(name="a bend", domains=KINKS, measure=_kinked, sharp=_sharp_kinked)
    stages = Family(name="any Lambda", domains=STAGES, measure=_stages, sharp=_sharp_stages)
    rounds = Family(name="any Lambda", domains=ROUNDS, measure=_rounds, sharp=_sharp_rounds)
    return (
        Claim.on(
            KEY + "theorem-3-two-stage-step",
            step,
            kinked,
            outside_conditions={STEP: beyond(kinked, fraction=1.05)},
            unrefuted_conditions={
                "smoothness 2 eta filtered_excess <= start2": "implied: delta is at most L smax |u|^2/2, with the step"
            },
        ),
        Claim.on(
            KEY + "theorem-3-two-stage",
            stages,
            outside_conditions={"first step 2 beta smax/(mu smin) - 2 <= offset": beyond(stages, room=0.7)},
            unrefuted_conditions={
                "a weight in stage 2, 1 <= offset + T2": "without a weight there is no mean; below 1 the bound is true"
            },
        ),
        Claim.on(
            KEY + "theorem-3-two-stage-rounds",
            rounds,
            outside_conditions={"bias peer_excess <= 0.9 eps": beyond(rounds, fill=1.3)},
            in_regime=(replace(rounds, domains={**ROUNDS, "noise": LOUD}),),
        ),
    )
