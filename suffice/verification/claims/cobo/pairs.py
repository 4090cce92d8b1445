"""Assumption 4: Example 2, two clients, and a cluster, from gradients drawn or computed at a point."""

from __future__ import annotations

import numpy as np

from ...claim import Claim
from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows
from ...widened_conditions import beyond

_PLANE = {
    "own": Domain(low=0.05, high=2, log=True),
    "peer": Domain(low=0.05, high=2, log=True),
    "x": Domain(low=-2, high=2, shape=(2,)),
    "separation": Domain(low=0.1, high=4, log=True),
}
"""f_i = own |x|^2 / 2 and f_j = peer |x - m|^2 / 2 in the plane, m on the first axis; x counts from where the sum of
the squared gradients is least, so that along a curvature x = 0 stays there."""


def _gradients(values: Values, *, apart: bool) -> tuple[np.ndarray, np.ndarray]:
    shift = values["separation"][:, None] * np.array([1.0, 0.0]) if apart else 0.0
    own, peer = values["own"][:, None], values["peer"][:, None]
    x = values["x"] + shift / (1 + (own / peer) ** 2)  # own^2 x + peer^2 (x - m) = 0 at the least sum
    return own * x, peer * (x - shift)


def _arguments(values: Values) -> dict[str, np.ndarray]:
    return {
        "own_curvature": values["own"],
        "peer_curvature": values["peer"],
        "separation": values["separation"],
    }


def _squares(gradient: np.ndarray) -> np.ndarray:
    return (gradient**2).sum(-1)


@measured_by("gradients", "two quadratics with one minimiser in the plane", rounding=1e-15)  # own - peer cancels
def _similarity(values: Values) -> Measured:
    """|grad f_i - grad f_j| / |grad f_i + grad f_j| of two clients with one minimiser."""
    own, peer = _gradients(values, apart=False)
    return np.sqrt(_squares(own - peer) / _squares(own + peer)), _arguments(values)


def _one_minimiser() -> Values:
    """Curvatures from equal to twenty times as large."""
    return rows(plain(_PLANE, x=[1, 0.5]), *({"peer": peer} for peer in (1.0, 1.1, 1.5, 2.0, 0.5, 0.05)))


@measured_by("gradients", "two quadratics with minimisers apart in the plane")
def _sum(values: Values) -> Measured:
    """|grad f_i|^2 + |grad f_j|^2 at x."""
    own, peer = _gradients(values, apart=True)
    return _squares(own) + _squares(peer), _arguments(values)


def _nearest() -> Values:
    """Points between the minimisers, the one that minimises the sum among them; small curvatures and large ones."""
    return rows(
        plain(_PLANE),
        *({"own": own, "peer": peer, "separation": D, "x": [beside * D, 0]}
          for peer in (0.1, 0.5, 2.0) for own in (0.05, 0.5, 1.0, 2.0) for D in (0.5, 1.0, 3.0)
          for beside in (-0.2, 0.0, 0.2)),
    )  # fmt: skip


def _smallest() -> Values:
    """a_i = a_j = 1/2, D = 1, halfway: each squared gradient is 1/16."""
    return rows(plain(_PLANE, own=0.5, peer=0.5, x=[0, 0]), {})


# --- two clients ----------------------------------------------------------------------------------------


@measured_by(
    "gradients", "two gradients in R^3", rounding=1e-14
)  # opposite parts of the inner product cancel as M tends to 1
def _alignment(values: Values) -> Measured:
    """Two gradients in R^3: M is their own |difference| / |sum|, or more."""
    total, gap = values["total"], values["gap"]
    gap = gap * (values["M"] * np.sqrt(_squares(total) / _squares(gap)))[:, None]
    own, peer = (total + gap) / 2, (total - gap) / 2
    least = np.sqrt(_squares(own - peer) / _squares(own + peer))
    return (own * peer).sum(-1), {
        "M": least * values["slack"],
        "gradient": np.sqrt(_squares(own)),
        "peer_gradient": np.sqrt(_squares(peer)),
    }


_TWO = {
    "total": Domain(low=-1, high=1, shape=(3,)),
    "gap": Domain(low=-1, high=1, shape=(3,)),
    "M": Domain(low=0, high=0.999),  # at M = 1 the inner product is 0, and its sign is rounding
    "slack": Domain(low=1, high=1.2),
}


def _aligned() -> Values:
    """Equality in (A4), at all M; parallel and orthogonal differences."""
    gaps, M = ([1, 0, 0], [0, 1, 0]), (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
    return rows(plain(_TWO, total=[2, 0, 0]), *({"gap": gap, "M": size} for gap in gaps for size in M))


# --- a cluster ------------------------------------------------------------------------------------------


@measured_by("gradients", "gradients of a cluster at one point")
def _cluster(values: Values) -> Measured:
    """The first `size` of the gradients common + spread * own: their variance over |mean|^2, and the least M."""
    gradients = values["common"][:, None] + values["spread"][:, None, None] * values["own"]
    size = np.minimum(values["size"], gradients.shape[1])
    inside = (np.arange(gradients.shape[1]) < size[:, None]).astype(float)
    mean = np.einsum("bk,bkd->bd", inside, gradients) / size[:, None]
    around = _squares(gradients - mean[:, None])
    one, other = gradients[:, :, None], gradients[:, None]
    with np.errstate(all="ignore"):
        ratio = np.where(_squares(one - other) > 0, np.sqrt(_squares(one - other) / _squares(one + other)), 0)
        measured = (inside * around).sum(-1) / (size * _squares(mean))
    pairs = inside[:, :, None] * inside[:, None]
    return np.nan_to_num(measured, posinf=1e300), {
        "M": np.where(pairs > 0, ratio, 0).max((1, 2)) * values["slack"],
        "size": size,
    }


_CLIENTS = 6
_CLUSTER = {
    "common": Domain(low=-1, high=1, shape=(_CLIENTS + 1,)),
    "own": Domain(low=-1, high=1, shape=(_CLIENTS, _CLIENTS + 1)),
    "spread": Domain(low=0.01, high=2, log=True),
    "size": Domain(low=1, high=_CLIENTS, integer=True),
    "slack": Domain(low=1, high=1.2),
}


def _simplex() -> Values:
    """g + u_i, u_i the corners of a regular simplex orthogonal to g, up to M = 1."""
    sizes, spreads = (a.ravel() for a in np.meshgrid(np.arange(2.0, _CLIENTS + 1), [0.05, 0.3, 1.0, 0.0]))
    count = len(sizes)
    own = np.zeros((count, _CLIENTS, _CLIENTS + 1))
    for at, size in enumerate(sizes.astype(int)):
        own[at, :size, :size] = np.eye(size) - 1 / size
    common = np.zeros((count, _CLIENTS + 1))
    common[:, -1] = 1.0
    # M = 1 where |u_i - u_j|^2 = 2 spread^2 reaches |2 g + u_i + u_j|^2 = 4 + spread^2 (2 - 4/size)
    spreads = np.where(spreads == 1, np.sqrt(sizes) * (1 - 1e-9), spreads)
    return {"common": common, "own": own, "spread": spreads, "size": sizes, "slack": np.ones(count)}


def claims() -> tuple[Claim, ...]:
    def example(key: str, edition: str, family: Family) -> Claim:
        return Claim.on(f"cobo/example-2-{key}", family, edition=edition)

    together = Family(name="one minimiser", domains=_PLANE, measure=_similarity, sharp=_one_minimiser)
    apart = Family(name="two minimisers", domains=_PLANE, measure=_sum, sharp=_nearest)
    smallest = Family(name="two minimisers", domains=_PLANE, measure=_sum, sharp=_smallest)
    two = Family(name="two gradients", domains=_TWO, measure=_alignment, sharp=_aligned)
    limit = "relative heterogeneity M <= 1"
    cluster = Family(name="gradients of a cluster", domains=_CLUSTER, measure=_cluster, sharp=_simplex)
    return (
        example("similarity", "corrected", together),
        example("dissimilarity", "printed", smallest),
        example("dissimilarity", "corrected", apart),
        Claim.on(
            "cobo/alignment",
            two,
            unrefuted_conditions={limit: "an equality for the least M of two gradients, also beyond 1"},
        ),
        Claim.on("cobo/cluster-dissimilarity", cluster, outside_conditions={limit: beyond(cluster, slack=1.3)}),
    )
