"""Claims on weights of estimates: exact risks of rules that move an estimate along its own direction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, i0e, i1e, ive

from ..claim import Claim
from ..evidence import Evidence, Measured, measured_by
from ..family import Domain, Family, Values
from ..instances.rows import columns

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
Rule = Callable[[np.ndarray], np.ndarray]
"""g of the estimate x + g(|x|) x, by |x| (n, ..., nodes)."""


def _panels(*ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gauss and Legendre's nodes and weights (..., 48 per panel) between successive ends (..., 1)."""
    edges = np.stack(np.broadcast_arrays(*ends), -2)
    middle, half = (edges[..., 1:, :] + edges[..., :-1, :]) / 2, np.diff(edges, axis=-2) / 2
    shape = (*middle.shape[:-2], -1)
    return np.maximum(middle + half * _NODES, 1e-12).reshape(shape), (half * _WEIGHTS).reshape(shape)


def _bessel(order: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """e^{-x} I(x) of this order and of the next; in one dimension and two they have faster forms."""
    if (order == -0.5).all():
        scale = 1 / np.sqrt(2 * np.pi * x)
        return scale * (1 + np.exp(-2 * x)), scale * -np.expm1(-2 * x)
    return (i0e(x), i1e(x)) if (order == 0).all() else (ive(order, x), ive(order + 1, x))


def _density(r: np.ndarray, t: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The density of |x| at r in d >= 3 dimensions, t = |theta|: the sphere's part at an angle a from theta has measure
    sin(a)^{d-2} da times that of the unit sphere S^{d-2}, and |x - theta|^2 = (r - t)^2 + 2 r t (1 - cos a)."""
    widest = np.minimum(np.pi, 13 / np.sqrt(np.maximum(r * t, 1e-9)))  # beyond, less than 1e-17 of the density
    angle, weights = widest[..., None] / 2 * (1 + _NODES), widest[..., None] / 2 * _WEIGHTS
    near = np.exp(-2 * (r * t)[..., None] * np.sin(angle / 2) ** 2) * np.sin(angle) ** (d[..., None] - 2)
    scale = np.exp((1 - d / 2) * np.log(2) - gammaln((d - 1) / 2)) / np.sqrt(np.pi)
    return scale * r ** (d - 1) * np.exp(-((r - t) ** 2) / 2) * (near * weights).sum(-1)


def bias_and_risk(
    rule: Rule, far: np.ndarray, d: np.ndarray | int, kink: np.ndarray | None = None
) -> tuple[np.ndarray, ...]:
    """Bias along theta and risk (...) at |theta| = `far` (...) with noise of variance 1 in d dimensions.

    r = |x| has the density r (r/t)^n exp(-(r - t)^2/2) e^{-rt} I_n(rt), n = d/2 - 1, and x the mean component
    r I_{n+1}(rt)/I_n(rt) along theta. `kink` is where the rule has one.
    """
    t, order = np.maximum(far, 1e-3)[..., None], np.asarray(d)[..., None] / 2 - 1
    low, high = np.maximum(t - 9, 0), t + 9 + np.sqrt(2 * order + 2)
    r, weights = _panels(low, *(() if kink is None else (np.clip(kink[..., None], low, high),)), high)
    below, above = _bessel(order, r * t)
    weights = weights * r * (r / t) ** order * np.exp(-((r - t) ** 2) / 2) * below
    along, g = r * above / below, rule(r)
    risk = 2 * order[..., 0] + 2 + (weights * g * (2 * (r**2 - t * along) + g * r**2)).sum(-1)
    return (weights * g * along).sum(-1), risk


@measured_by("sums of three random estimates", "fixed weights")
def _weighted(values: Values) -> Measured:
    """Every sign of errors of given sizes is as likely: exact means over the eight corners."""
    signs = np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T
    theta, size, w = values["theta"], values["size"], values["weights"]
    x = theta[:, None] + signs[None, :, :, None] * size[:, None]
    combined = (w[:, None, :, None] * x).sum(2)
    apart, risk = (((combined - own) ** 2).sum(-1).mean(1) for own in (x[:, :, 0], theta[:, None, 0]))
    return risk, {"own_weight": w[:, 0], "own_variance": (size[:, 0] ** 2).sum(-1), "apart2": apart}


@measured_by("quadrature over the distance", "positive-part James-Stein", rounding=1e-12)
def _james_stein(values: Values) -> Measured:
    d, v, gap2 = values["d"], values["v"], values["gap2"]
    c = values["share"] * 2 * np.maximum(d - 2, 0)  # in units of v, as everything below
    far = np.sqrt(gap2)
    _, risk = bias_and_risk(lambda r: -np.minimum(1, c[:, None] / r**2), far, d, np.sqrt(c))
    return risk * v, {"d": d, "v": v, "shrink": c * v, "gap2": gap2 * v}


def james_stein() -> Family:
    """Sites up to far apart; c up to the limit and beyond."""
    return Family(
        name="two sites",
        domains={
            "d": Domain(low=3, high=12, integer=True),
            "v": Domain(low=0.1, high=10, log=True),
            "gap2": Domain(low=1e-4, high=1e4, log=True),
            "share": Domain(low=0.05, high=1.2),
        },
        measure=_james_stein,
        # far apart the bound is attained; the last two, near each other and of a small c, tell gap2 from v and from c
        sharp=lambda: {
            "d": np.array([3.0, 4.0, 8.0, 8.0, 8.0]), "v": np.ones(5),
            "gap2": np.array([1e3, 1e4, 400.0, 0.01, 6.0]), "share": np.array([0.5, 1.0, 0.9, 0.05, 0.05]),
        },
    )  # fmt: skip


# --- clusterings: all five of three sites, on a line

_PARTITIONS = ([0, 1, 2], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 0, 0])
_BASIS = np.linalg.qr(np.array([[1.0, 1, 0], [1, -1, 1], [1, 0, -1]]))[0]
"""The first column is common to all sites: no clustering changes that part, which is noise of variance v."""


def _contrasts(labels: list[int]) -> np.ndarray:
    """The projection onto a clustering's cluster means, on the two contrasts of three sites."""
    same = np.equal.outer(labels, labels)
    return _BASIS[:, 1:].T @ (same / same.sum(1)) @ _BASIS[:, 1:]


def _mixture(values: Values) -> tuple[np.ndarray, ...]:
    """`_of_few` of any number of instances: the points of a few at a time stay in the processor's cache."""
    few = [{name: value[at : at + 4] for name, value in values.items()} for at in range(0, len(values["theta"]), 4)]
    return tuple(map(np.concatenate, zip(*map(_of_few, few))))


def _of_few(values: Values) -> tuple[np.ndarray, ...]:
    """E|mix - theta|^2, E sum w r, E sum w |P_c x - mix|^2 and E KL(w, pi), in units of v, by the trapezoidal rule."""
    step = np.arange(-8.4, 8.41, 0.2)
    # The two contrasts come first, so that sums over them are short; the corners have 2e-16 of the density.
    noise: np.ndarray = np.stack(np.meshgrid(step, step)).reshape(2, 1, -1)
    noise = noise[..., np.square(noise).sum(0)[0] < 8.5**2]
    density = np.exp(-np.square(noise[:, 0]).sum(0) / 2) * 0.04 / (2 * np.pi)
    theta = (values["theta"] @ _BASIS[:, 1:]).T[..., None]
    x, prior = theta + noise, values["prior"] / values["prior"].sum(-1, keepdims=True)
    projections = [_contrasts(labels) for labels in _PARTITIONS]
    means = [np.tensordot(P, x, 1) for P in projections]
    scores = [((x - m) ** 2).sum(0) + 2 * np.trace(P) - 1 for m, P in zip(means, projections)]  # 2 (tr P + 1) - 3
    lowest = np.min(scores, axis=0)
    powers = [(lowest - r) / values["share"][:, None] for r in scores]
    raw = [pi[:, None] * np.exp(power) for pi, power in zip(prior.T, powers)]
    total = sum(raw)
    w = [each / total for each in raw]
    mix = sum(each * m for each, m in zip(w, means))
    apart = sum(each * ((m - mix) ** 2).sum(0) for each, m in zip(w, means))
    information = sum(each * power for each, power in zip(w, powers)) - np.log(total)  # w/pi = exp(power)/total
    risk = ((mix - theta) ** 2).sum(0) + 1
    return tuple(of @ density for of in (risk, sum(each * r for each, r in zip(w, scores)), apart, information))


@measured_by("quadrature over the contrasts", "all clusterings of three sites")
def _score(values: Values) -> Measured:
    v = values["v"]
    risk, score, apart, _ = _mixture(values)
    return risk * v, {"mean_score": score * v, "disagreement": apart * v, "temperature": values["share"] * v, "v": v}


@measured_by("quadrature over the contrasts", "all clusterings of three sites")
def _oracle(values: Values) -> Measured:
    """The risk and the information of the mixture, beside the clustering whose guarantee is least."""
    v, prior = values["v"], values["prior"] / values["prior"].sum(-1, keepdims=True)
    risk, _, _, information = _mixture({**values, "share": np.full_like(v, 4.0)})
    theta, clusters = values["theta"] @ _BASIS[:, 1:], np.array([max(labels) + 1 for labels in _PARTITIONS])
    away = np.stack([((theta - theta @ _contrasts(labels)) ** 2).sum(-1) for labels in _PARTITIONS], -1)
    with np.errstate(all="ignore"):
        best = (away + clusters - 4 * np.log(prior)).argmin(-1)
    chosen = [np.take_along_axis(of, best[:, None], 1)[:, 0] for of in (away, prior)]
    given = {"misplaced2": chosen[0] * v, "v": v, "clusters": clusters[best], "d": np.ones_like(v), "prior": chosen[1]}
    return (risk + 4 * information) * v, given


_SITES = {
    "theta": Domain(low=-6, high=6, shape=(3,)),
    "prior": Domain(low=0.05, high=1, log=True, shape=(5,)),
    "v": Domain(low=0.1, high=10, log=True),
}
"""Means in units of sqrt(v), priors up to a factor; `share` is beta/v."""


def _decided() -> Values:
    """One clustering far better than the others, or alone: of one to three clusters, with a prior near 1 or small."""
    far, pair, one = [0.0, 40, -40], [0.0, 0.6, 60], [0.0, 0.9, 0.3]
    alone = np.eye(5) + 1e-300
    given = [(far, [p, 1, 1, 1, 1], v) for p in (1.0, 1e-3, 1e6) for v in (0.25, 4.0)]
    given += [(far, alone[0], 1.0), (pair, alone[1], 4.0), (one, alone[4], 1.0), ([0.0, 3, -4], alone[4], 0.3)]
    return columns(("theta", "prior", "v"), given)


def _cautious(p: int) -> Callable[[Values], Evidence]:
    """Moves of 2 v/((1 + slack) (B - |x|)), or over |x| ln(B/|x|): harmless up to some radius near B, which is looked
    for on a grid of |theta|."""

    def measure(values: Values) -> Measured:
        B, slack = (values[name][:, None, None] for name in ("reach", "slack"))

        def rule(r: np.ndarray) -> np.ndarray:
            near = np.minimum(r, B * (1 - 1e-4))
            steps = B - near if p == 1 else near * np.log(B / near)
            return -np.minimum(1, 2 / ((1 + slack) * steps) / r)

        ends = B[..., 0] * (1 - np.geomspace(0.9, 1e-3, 36))
        grid = np.sort(np.concatenate((np.linspace(0, 10, 12) * np.ones_like(ends[:, :1]), ends), 1), axis=1)
        harm = bias_and_risk(rule, grid, p)[1] > p * (1 + 1e-13)
        safe = np.where(np.logical_or.accumulate(harm, 1), 0.0, grid)
        outer = np.maximum(safe.max(1, keepdims=True), 1.0)
        inner = values["part"][:, None] * outer
        t, weights = _panels(np.zeros_like(inner), np.minimum(10, inner), inner)
        bias = bias_and_risk(rule, t, p)[0]
        mean = p * (weights * bias**2 * t ** (p - 1)).sum(1) / inner[:, 0] ** p
        scale = np.sqrt(values["v"])
        arguments = {"v": values["v"], "inner": inner[:, 0] * scale, "outer": outer[:, 0] * scale}
        return mean * values["v"], arguments, {"hypothesis": outer[:, 0] > 10}

    return measured_by("quadrature over the distance", f"cautious moves, {p}")(measure)


def cautious(p: int) -> Family:
    """Rules for (N - 1) d = p contrasts."""
    ends = {"reach": np.array([2000.0, 5e3]), "slack": np.full(2, 2e-3), "v": np.array([4.0, 0.25])}
    return Family(
        name=f"rules that hardly harm, {p}",
        domains={
            "reach": Domain(low=40, high=5e3, log=True),
            "slack": Domain(low=1e-3, high=0.3, log=True),
            "part": Domain(low=0.05, high=0.98),
            "v": Domain(low=0.1, high=10, log=True),
        },
        measure=_cautious(p),
        sharp=lambda: ends | {"part": np.array([0.9, 0.8]) if p == 1 else np.array([0.5, 0.3])},
    )


def claims() -> tuple[Claim, ...]:
    pair = james_stein()
    assert pair.sharp is not None
    beyond = {name: value[:3] for name, value in pair.sharp().items()} | {"share": np.full(3, 1.3)}
    weighted = Family(
        name="three sites",
        domains={
            "theta": Domain(low=-2, high=2, shape=(3, 2)),
            "size": Domain(low=0.01, high=3, log=True, shape=(3, 2)),
            "weights": Domain(low=0, high=1, shape=(3,)),
        },
        measure=_weighted,
    )

    def outside(p: int) -> Claim:
        family = cautious(p)
        assert family.sharp is not None
        larger = family.sharp() | {"part": np.full(2, 1.2)}
        return Claim.on(
            f"stein/harmless-{'line' if p == 1 else 'plane'}",
            family,
            outside_conditions={"inner <= 0.999 outer": lambda: family.evidence(larger)},
        )

    mixed = Family(name="three sites", domains={**_SITES, "share": Domain(low=2.5, high=12, log=True)}, measure=_score)
    oracle = Family(name="three sites", domains=_SITES, measure=_oracle, sharp=_decided)
    return (
        Claim.on("stein/weighting", weighted, equality=1e-9),
        Claim.on("stein/clusterings-score", mixed, equality=1e-9),
        Claim.on("stein/clusterings", oracle),
        Claim.on(
            "stein/james-stein", pair, outside_conditions={"shrink <= 2 (d - 2) v": lambda: pair.evidence(beyond)}
        ),
        outside(1),
        outside(2),
    )
