"""Claims on Theorem 2 under weak dissimilarity: gradients compared at agent 0's minimiser alone, dimension one.

Three groups of agents of curvatures mu kappa^bend in [mu, L], agent 0 in the first.
"""

from __future__ import annotations

import numpy as np

from ...claim import Claim
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows
from .all_for_one import KEY, SHARED, STEP
from .moments import Mixture

DOMAINS: dict[str, Domain] = {
    **{name: SHARED[name] for name in ("beta", "kappa", "spread", "count", "weight", "sigma2", "fraction", "T")},
    "bend": Domain(low=0, high=1, shape=(3,)),
    "place": Domain(low=-1, high=1, shape=(2,)),
    "start": Domain(low=-3, high=3),
}


@measured_by("closed-form moments", "All-for-one, three groups of quadratics in dimension one")
def _weak(values: Values) -> Measured:
    mu, eta = values["beta"] / values["kappa"], values["fraction"] / values["beta"]
    h = np.minimum(mu[:, None] * values["kappa"][:, None] ** values["bend"], values["beta"][:, None])
    each = values["weight"] / (values["count"] * values["weight"]).sum(-1, keepdims=True)
    model = Mixture(
        h=h[..., None],
        m=(values["spread"][:, None] * np.pad(values["place"], ((0, 0), (1, 0))))[..., None],
        v=values["sigma2"][..., None],
        weight=each * values["count"],
        share=each**2 * values["count"],
        start=values["start"][:, None],
        eta=eta,
    )
    return model.first(values["T"]), {
        "eta": eta,
        "mu": mu,
        "beta": values["beta"],
        "distance2": ((model.start - model.centre) ** 2).sum(-1),
        "sigma2": values["sigma2"].max(-1),
        "lambda2": np.minimum(model.share.sum(-1), 1),
        "bias": (model.weight * model.weak()).sum(-1),
        "T": values["T"],
    }


def _sharp_weak() -> Values:
    alone = plain(DOMAINS, weight=[1, 0, 0], sigma2=0, T=1)
    noise = {"sigma2": np.ones(3)}
    flat = {"bend": np.array([1.0, 0.0, 0.0]), "weight": np.array([0.0, 1.0, 0.0]), "place": np.array([1.0, 0.0])}
    steep = {"bend": np.array([1.0, 1.0, 0.0]), "weight": np.array([0.0, 1e-7, 1.0]), "place": np.array([1.0, 0.0])}
    return rows(
        alone,
        noise,
        *({**noise, "fraction": eta, "beta": L, "T": T}
          for eta in (0.05, 0.9) for L in (0.1, 3.0) for T in (3.0, 60.0)),
        {"start": 3.0, "fraction": 0.3, "T": 4.0},
        {"start": 3.0, "fraction": 0.01, "T": 1.0},
        *({**flat, "kappa": 40.0, "beta": L, "spread": b, "T": T}  # f_0 of curvature L follows one of curvature mu
          for L in (0.2, 5.0) for b in (0.1, 10.0) for T in (2.0, 1e6)),
        *({**flat, "kappa": 40.0, "start": b, "T": 5.0} for b in (3.0, 30.0)),  # from beyond its minimiser
        {**steep, "kappa": 10.0, "T": 1e6},  # the same with dissimilarities that are symmetric
    )  # fmt: skip


def _weak_outside() -> Evidence:
    """Agent 0 alone at 1.1/L, its curvature L larger than the mu = 0.9 L that the theorem is given."""
    values = {name: value[:1] for name, value in _sharp_weak().items()}
    change = {"bend": np.ones((1, 3)), "kappa": 1 / 0.9, "start": 1.0, "fraction": 1.1, "T": 3.0}
    return _weak({**values, **{name: np.full_like(values[name], value) for name, value in change.items()}})


def claims() -> tuple[Claim, ...]:
    return (
        Claim.on(
            KEY + "theorem-2-weak",
            Family(name="curvatures in dimension one", domains=DOMAINS, measure=_weak, sharp=_sharp_weak),
            outside_conditions={STEP: _weak_outside},
        ),
    )
