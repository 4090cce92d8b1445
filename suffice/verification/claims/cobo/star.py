"""Theorem I with one Lyapunov function: diagonal quadratics at any weight, and the clients at which it is attained.

All weights of an instance are one number `weight` in [least_weight, 1]: the cluster moves as with a penalty
rho * weight and settled weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from suffice.bounds.theorems.cobo import largest_share_kept

from ...claim import Claim
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.recursions import repeated
from ...instances.rows import rows
from ...widened_conditions import beyond
from .cluster import Cluster
from .step_moments import simulated

STEP = "step size eta <= 2/((1 + least_weight) rho size)"
SHARE = "share s (1 + dissimilarity) <= tilt, s = tilt (beta/k0)^2 + kept"
MEAN = "mean kept <= 1 - eta beta + (1 - kap) (tilt - 1)/(tilt - kap), kap = tilt s dissimilarity/(tilt - s)"


def dissimilarity(given: Cluster) -> np.ndarray:
    """The least m^2 of diagonal quadratics with one minimiser: the largest over the coordinates."""
    mean = np.einsum("bk,bkd->bd", given.share, given.curvature)
    apart = np.einsum("bk,bkd->bd", given.share, (given.curvature - mean[:, None]) ** 2)
    return (apart / mean**2).max(-1)


def penalised(values: Values) -> tuple[Cluster, dict[str, np.ndarray]]:
    """The cluster and what is told of it: `slack` and `fraction` multiply the limits of penalty and step."""
    least, size = values["least"], values["counts"].sum(-1)
    weight = least + values["share"] * (1 - least)
    given = Cluster(
        **{name: values[name] for name in ("counts", "curvature", "sigma2", "T", "overstatement")},
        start=values["together"][:, None] + values["apart"],
        rho=np.ones_like(size),
        eta=np.ones_like(size),
    )
    m2 = dissimilarity(given)
    rho = 1.01 * np.sqrt(1 + m2) * given.beta / (least * size) * values["slack"]
    given = replace(given, rho=rho * weight, eta=values["fraction"] * 2 / ((1 + least) * rho * size))
    known = {**given.arguments(), "rho": rho, "least_weight": least, "dissimilarity": m2}
    return given, known


alike = measured_by("closed-form moments", "a cluster of diagonal quadratics with one minimiser, all weights alike")


@alike
def _quadratics(values: Values) -> Measured:
    given, known = penalised(values)
    return given.mean_gradient, known


def shares(known: Mapping[str, np.ndarray], tilt: np.ndarray) -> dict[str, np.ndarray]:
    """`tilt` and the largest `kept` with it; where the penalty is too small for it, an instance that does not count."""
    return {"tilt": tilt, "kept": np.maximum(largest_share_kept(known, tilt), 1e-30)}


@alike
def _clients(values: Values) -> Measured:
    given, known = penalised(values)
    return given.client_gradient, {**known, **shares(known, values["tilt"])}


def concave() -> Evidence:
    """Identical f = -L x^2/2 within |x| <= R = eta sigma/p, which two-point noise never leaves, convex beyond: inf f is
    -L R^2. Of E|grad f(x_i)|^2 only the deviations' part, in a cluster so large that the mean stays until T: the bound
    is the same from 1e300 clients on."""
    ratio, tilt = (
        a.ravel() for a in np.meshgrid([1.05, 1.25, 2.0, 10.0, 50.0], [1.0, 1.3, 2.0, 5.0, 20.0], indexing="ij")
    )
    L, sigma, size, one = 2.0, 3.0, 1e300, np.ones(ratio.shape)
    k0 = ratio * L
    p = 1 - 1 / ratio
    eta, T = 1 / k0, np.floor(300 * ratio / p**2)
    rest = (1 - p) ** 2  # the variance (eta sigma)^2 (1 - rest^t)/(1 - rest), its mean over t < T
    measured = (L * eta * sigma) ** 2 * (1 - (1 - rest**T) / (1 - rest) / T) / (p * (2 - p))
    known = {
        **{"eta": eta, "beta": L * one, "rho": k0 / size, "size": size * one, "least_weight": one, "T": T},
        **{"dissimilarity": 0 * one, "e0": L * (eta * sigma / p) ** 2, "spread": 0 * one, "sigma2": sigma**2 * one},
    }
    label = "identical concave clients in noise, from below"
    return Evidence(
        engine="closed-form moments", measured=measured, arguments={**known, **shares(known, tilt)}, label=label
    )


DOMAINS = {
    "counts": Domain(low=1, high=4, integer=True, shape=(3,)),
    "curvature": Domain(low=0.01, high=1, log=True, shape=(3, 2)),
    "together": Domain(low=-1, high=1, shape=(2,)),
    "apart": Domain(low=-1, high=1, shape=(3, 2)),
    "sigma2": Domain(low=1e-6, high=10, log=True),
    "slack": Domain(low=1, high=100, log=True),
    "fraction": Domain(low=0.01, high=1, log=True),
    "T": Domain(low=1, high=300, integer=True),
    "overstatement": Domain(low=1, high=1.01),
    "least": Domain(low=0.1, high=1),
    "share": Domain(low=0, high=1),
}
TILT = Domain(low=1, high=100, log=True)


def one_client() -> Values:
    """One client at eta near 1/L: its start at T = 1, its noise for T large, and both."""
    plain = {
        "counts": np.ones(1),
        "curvature": np.full((1, 2), 4.0),
        "together": np.ones(2),
        "apart": np.zeros((1, 2)),
        **{"sigma2": 0.0, "slack": 1.0, "fraction": 1.0, "T": 1.0, "overstatement": 1.0, "least": 1.0, "share": 0.0},
    }
    return rows(
        plain,
        *(
            {"T": T, "sigma2": s, "together": x, "slack": slack, "curvature": h}
            for T, s, x, slack, h in product((1, 100, 10_000), (0, 1.0), (0, 1), (1, 3), (4.0, 0.5))
        ),
    )


def _tilts() -> Values:
    """One client is at consensus: any weight of the distance is free, and a large one is best."""
    return {"tilt": np.full(len(one_client()["T"]), 1e4)}


# Clients whose loss has a kink at their mean. u_i are the corners of a simplex, w_i directions orthogonal to them, 0
# one more; noise +-sigma w_i, eta = 1/k0. In the coordinates (0, u_i, w_i)
#   grad f_i = (g, m g, 0) at the mean (0, 0, 0),   (0, m g + al, 0) at the clients (0, -y, +-z),
#   g = L eta sigma/sqrt(1 - m^2 l2), al = l2 m g, y = (al + m g)/k0, z = eta sigma:
# the two gradients are L times as far apart as the points, so an L-smooth f_i has them. Half of the clients start at
# each point, and stay: x_i+ = -(m g + al)/k0 u_i -+ z w_i. The largest interpolant is above min_k (f_k - |g_k|^2/(2L)),
# which bounds Delta. With m = 0 the clients are alike. In a cluster as large as needed the mean stays at 0:
# E|xbar_t| <= (z/sqrt c) (1 + eta L)^t/(eta L), and E|grad fbar(xbar_t)|^2 >= g^2 - 2 g L E|xbar_t|.


def apart_at_their_mean() -> Evidence:
    """E|grad fbar(xbar)|^2 from below, for penalties up from 1.01 of the threshold."""
    ahead, m = (a.ravel() for a in np.meshgrid([1.01, 1.1, 1.5, 2.0, 5.0, 50.0], [0, 0.1, 0.7, 1.5], indexing="ij"))
    L, sigma, size = 2.0, 3.0, np.full(m.shape, 1e300)
    k0 = ahead * np.sqrt(1 + m**2) * L
    eta, l2, T = 1 / k0, L**2 / (k0**2 - L**2), np.floor(300 * k0 / L)
    g = L * eta * sigma / np.sqrt(1 - m**2 * l2)
    al = l2 * m * g
    y, z = (al + m * g) / k0, eta * sigma
    np.testing.assert_allclose(g**2 + al**2, L**2 * (y**2 + z**2), rtol=1e-12)
    delta = np.maximum(g**2 * (1 + m**2) / (2 * L), (m * g + al / 2) * y + (m * g + al) ** 2 / (2 * L))
    drift = z * np.exp(T * np.log1p(eta * L) - np.log(size) / 2) / (eta * L)
    one = np.ones(m.shape)
    return Evidence(
        engine="closed-form law",
        measured=g**2 - 2 * g * L * drift,
        arguments={
            **{"eta": eta, "beta": L * one, "rho": k0 / size, "size": size, "least_weight": one},
            **{"dissimilarity": m**2, "e0": delta, "spread": y**2 + z**2, "sigma2": sigma**2 * one, "T": T},
        },
        label="clients with a kink at their mean, alike or not, half of them on either side, from below",
    )


def pushed_off(*, clients: bool = False) -> Evidence:
    """Two clients at +-s around the minimum of one loss, f' = L x up to h, L (2 h - x) to 2 h and 0 beyond: Delta = 0.

    The left one alone has a gradient and pushes the mean onto the slope: without Xi_0 the bound would be 0.
    """
    L, s, h = 1.0, 1.0, 0.25
    k0 = np.array([1.02, 2.0, 10.0])
    eta = 1 / k0
    mean = eta * L * s / 2  # after the first step
    slope = L * np.where(mean <= h, mean, np.maximum(2 * h - mean, 0))
    one = np.ones_like(k0)
    known = {
        **{"eta": eta, "beta": L * one, "rho": k0 / 2, "size": 2 * one, "least_weight": one},
        **{"dissimilarity": 0 * one, "e0": 0 * one, "spread": s**2 * one, "sigma2": 0 * one, "T": 2 * one},
    }
    return Evidence(
        engine="closed-form path",
        measured=(L * s) ** 2 / 4 * one if clients else slope**2 / 2,  # of the clients' only the first step's
        arguments={**known, **(shares(known, one) if clients else {})},
        label="two equal clients around the minimum of their loss",
    )


# --- consensus ------------------------------------------------------------------------------------------

# Half of the clients f_i = G x_1 + b x_2 + h x_2^2/2, half with -b, h = +-L: the mean's second coordinate stays 0 up to
# noise that does not matter for the rest, grad fbar = (G, 0) there, m = |b|/|G|. A deviation follows
#     d+ = (1 - eta rho c w - eta h) d - eta (+-b + noise),
# whose first two moments are a linear recursion; the noise of deviations has variance sigma^2 (1 - 1/c).


@measured_by("closed-form moments", "clients that drift apart, linear along their mean's gradient")
def _drifting(values: Values) -> Measured:
    """At `bend` 0 concave clients and the least weight, at 1 convex ones and all weights 1."""
    L, size, least, T = values["beta"], 2 * values["half"], values["least"], values["T"]
    rho = 1.01 * L * values["slack"] / (least * size)
    eta = values["fraction"] * 2 / ((1 + least) * rho * size)
    convex = values["bend"] == 1
    keep, push = 1 - eta * (rho * size * np.where(convex, 1, least) + L * np.where(convex, 1, -1)), eta * values["push"]
    start = values["apart"] - push / (1 - keep)
    step = np.zeros((len(T), 4, 4))  # on (E d, E d^2, 1, the sum of E d^2 before)
    step[:, 0, 0], step[:, 0, 2] = keep, -push
    step[:, 1, 0], step[:, 1, 1] = -2 * keep * push, keep**2
    step[:, 1, 2] = push**2 + eta**2 * values["sigma2"] * (1 - 1 / size)
    step[:, 2, 2] = step[:, 3, 1] = step[:, 3, 3] = 1
    state = np.stack((start, start**2, np.ones_like(start), np.zeros_like(start)), -1)
    return 2 * repeated(step, state, T)[:, 3] / T, {
        **{"eta": eta, "beta": L, "rho": rho, "size": size, "least_weight": least, "T": T},
        "dissimilarity": (values["push"] / values["slope"]) ** 2,
        "mean_gradient2": values["slope"] ** 2,
        "spread": start**2,
        "sigma2": values["sigma2"],
    }


DRIFTING = {
    "beta": Domain(low=0.1, high=10, log=True),
    "half": Domain(low=1, high=50, integer=True),
    "least": Domain(low=0.1, high=1),
    "slack": Domain(low=1, high=100, log=True),
    "fraction": Domain(low=0.01, high=1, log=True),
    "bend": Domain(low=0, high=1, integer=True),
    "push": Domain(low=1e-3, high=10, log=True),
    "slope": Domain(low=0.1, high=10, log=True),
    "apart": Domain(low=-1, high=1),
    "sigma2": Domain(low=1e-6, high=10, log=True),
    "T": Domain(low=1, high=300, integer=True),
}


def _sharp_drifting() -> Values:
    plain = {name: 0.0 if name in ("bend", "push", "apart", "sigma2") else 1.0 for name in DRIFTING}
    noise = {"sigma2": 2.0, "T": 3000.0}
    return rows(
        {**plain, "least": 0.4},
        *({**noise, "beta": L, "slack": k, "fraction": f, "half": half, "least": w}
          for L in (0.5, 3.0) for k, f in ((1.0, 1.0), (3.0, 1.0), (30.0, 0.5)) for half in (1.0, 4.0)
          for w in (0.4, 1.0)),
        *({**noise, "bend": 1.0, "slack": k, "least": w} for k in (1.5, 10.0) for w in (0.4, 1.0)),
        *({"push": b, "slope": G, "beta": L, "slack": k, "T": 3000.0, "least": w, "fraction": f}
          for b, G in ((0.3, 2.0), (4.0, 0.5)) for L in (0.5, 3.0) for k in (1.1, 3.0, 10.0) for w in (0.4, 1.0)
          for f in (1.0, 0.3)),
        *({"apart": x, "slack": 1e4, "least": 1.0, "beta": L} for x in (0.5, 3.0) for L in (0.5, 3.0)),
    )  # fmt: skip


def _overshooting() -> Evidence:
    """Convex clients, all weights 1 beside a least one of 0.4, one per cent beyond the limit of the step."""
    values = {name: value[:1] for name, value in _sharp_drifting().items()}
    change = {"bend": 1.0, "slack": 1.5, "least": 0.4, "fraction": 1.01}
    return _drifting({**values, **{name: np.array([value]) for name, value in change.items()}})


def _with(values: Values, **change: float) -> Values:
    return values | {name: np.full_like(values["T"], value) for name, value in change.items()}


def _kept_too_much(found: Evidence) -> Evidence:
    """A share of the gradients 5 % larger than the conditions allow."""
    return replace(found, arguments={**found.arguments, "kept": 1.05 * found.arguments["kept"]})


def claims() -> tuple[Claim, ...]:
    quadratics = Family(name="three kinds of clients", domains=DOMAINS, measure=_quadratics)
    drifting = Family(name="drifting clients", domains=DRIFTING, measure=_drifting, sharp=_sharp_drifting)

    def mean_gradient(key: str) -> Claim:
        """The average over the steps, which is what a step drawn uniformly has in expectation."""
        return Claim.on(
            f"cobo/{key}",
            quadratics,
            exact=lambda effort, root: [
                simulated(effort.instances // 4, root)[0],
                _quadratics(one_client()),
                apart_at_their_mean(),
                pushed_off(),
            ],
            outside_conditions={
                STEP: lambda: _quadratics(_with(one_client(), fraction=1.05, T=100)),
                "penalty 1.01 sqrt(1 + dissimilarity) beta/(least_weight size) <= rho": lambda: _quadratics(
                    _with(quadratics.draw(16, seed=1), slack=0.8)
                ),
            },
        )

    return (
        mean_gradient("theorem-1-star"),
        mean_gradient("algorithm-1-output"),
        Claim.on(
            "cobo/corollary-2-star",
            replace(quadratics, domains={**DOMAINS, "tilt": TILT}, measure=_clients),
            exact=lambda effort, root: [_clients(one_client() | _tilts()), concave(), pushed_off(clients=True)],
            outside_conditions={
                MEAN: lambda: _kept_too_much(_clients(one_client() | _tilts())),
                SHARE: lambda: _kept_too_much(concave()),
            },
            unrefuted_conditions={
                STEP: "with a longer step the other conditions leave a smaller share, which no instance known attains",
            },
        ),
        Claim.on(
            "cobo/theorem-1-star-consensus",
            drifting,
            exact=lambda effort, root: [simulated(effort.instances // 4, root)[1]],
            outside_conditions={
                STEP: _overshooting,
                "penalty 1.01 beta/(least_weight size) <= rho": beyond(drifting, slack=0.95),
            },
        ),
    )
