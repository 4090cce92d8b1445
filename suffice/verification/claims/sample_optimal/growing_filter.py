"""Claims on All-for-all with noise that grows with the loss, by exact second moments in dimension one.

Three agents with any Lambda: in y = h^(1/2) (x - m) the losses are y^2/2, and the noise of agent j has the variance
v_j + A y_j^2.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...claim import Claim
from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.recursions import matrices_of, repeated
from ...instances.rows import rows
from ...widened_conditions import beyond
from .all_for_all import ANY, KEY, SAME, N, network
from .moments import Filtered
from .two_stages import FOLLOW, STEP, _distance2


class SecondMoments:
    """`yy`, E y y^T round by round, (..., n, N, N), from the start; `advance` takes a round at steps (n,)."""

    def __init__(self, model: Filtered, growth: np.ndarray) -> None:
        root = np.sqrt(model.h)
        W = model.Lambda @ model.Lambda.swapaxes(1, 2)
        y = root * (model.start[:, None] - model.m)
        self.pull, self.noise = root[:, :, None] * W * root[:, None], root[:, :, None] * W
        self.v, self.growth, self.yy = model.v, growth[:, None], y[:, :, None] * y[:, None]

    @property
    def loss(self) -> np.ndarray:
        """E F, (..., n)."""
        return np.einsum("...ii->...", self.yy) / (2 * N)

    def advance(self, eta: np.ndarray, one: np.ndarray | float = 1.0) -> None:
        """`one` is what stands for 1 in a linear map."""
        step = eta[:, None, None]
        kept = np.eye(N) - step * self.pull
        variance = self.v * one + self.growth * np.einsum("...ii->...i", self.yy)
        added = step**2 * (self.noise * variance[..., None, :]) @ self.noise.swapaxes(1, 2)
        self.yy = kept @ self.yy @ kept.swapaxes(1, 2) + added


_SHARED: dict[str, Domain] = {
    **{name: domain for name, domain in ANY.items() if name not in ("fraction", "T")},
    "fraction": ANY["fraction"],
    "growing": Domain(low=0, high=1, zero=0.2),
}
MEANS = {**_SHARED, "T": Domain(low=0, high=40, integer=True)}
"""`growing` is eta A w over what the conditions allow."""
_exact = measured_by("exact moments", "All-for-all on quadratics in dimension one, growing noise: three agents")


def _known(values: Values) -> tuple[Filtered, dict[str, np.ndarray]]:
    one = np.ones_like(values["beta"])
    model, known = network({"fraction": one, **values})
    return model, known | {
        "start2": _distance2(model), "row_weight": np.minimum((model.Lambda**2).sum(-1).max(-1), 1),
    }  # fmt: skip


def _until(most: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    yield from ((t, t <= most) for t in range(int(most.max(initial=0)) + 1))


@_exact
def _mean(values: Values) -> Measured:
    model, known = _known(values)
    growth, T = 0.9 * values["growing"] / (model.eta * known["row_weight"]), values["T"]
    moments = SecondMoments(model, growth)

    def after(state: np.ndarray) -> np.ndarray:
        """One round of (E y y^T, 1, the sum of the losses before), (..., n, N^2 + 2)."""
        moments.yy, one, total = state[..., :-2].reshape(*state.shape[:-1], N, N), state[..., -2:-1], state[..., -1:]
        total = total + moments.loss[..., None]
        moments.advance(model.eta, one)
        return np.concatenate((moments.yy.reshape(*one.shape[:-1], N * N), one, total), -1)

    start = np.concatenate((moments.yy.reshape(-1, N * N), np.broadcast_to([1.0, 0.0], (len(T), 2))), -1)
    total = repeated(matrices_of(after, start), start, T + 1)[:, -1]
    return total / (T + 1), {**known, "eta": model.eta, "growth": growth, "T": T}


STAGES = {
    **_SHARED,
    "T1": Domain(low=0, high=20, integer=True),
    "T2": Domain(low=0, high=60, integer=True),
    "room": Domain(low=1, high=100, log=True),
}
"""`growing` is 2 A w/m over the offset, which is `room` times the least one but for growth; eta `fraction` of
its limit."""


@_exact
def _stages(values: Values) -> Measured:
    model, known = _known({**values, "fraction": np.ones_like(values["beta"])})
    m, most = known["mu"] * known["smin"], known["beta"] * known["smax"]
    a = np.maximum(2 * most / m - 2, 0) * values["room"]
    growth = values["growing"] * a * m / (2 * known["row_weight"])
    extra = growth * known["row_weight"]
    eta, T1 = values["fraction"] * np.minimum(1 / most, 1 / (m + extra)), values["T1"]
    T2 = np.maximum(values["T2"], np.ceil(2 * np.maximum(1 - (1 - values["growing"]) * a, 0)))
    moments, total, weights = SecondMoments(model, growth), np.zeros_like(a), np.zeros_like(a)
    for t in range(int(T1.max())):
        moments.advance(np.where(t < T1, eta, 0))
    for t, counts in _until(T2):
        n = a + t
        p = np.where(counts, (n + 1) * (n - 2 * extra / m) / (n + 2), 0)
        total, weights = total + p * moments.loss, weights + p
        moments.advance(np.where(counts, 2 / (m * (n + 2)), 0))
    known |= {"eta": eta, "growth": growth, "offset": a, "T1": T1, "T2": T2}
    return total / weights, known


def _sharp_mean() -> Values:
    still = {name: SAME[name] for name in MEANS if name in SAME} | {"growing": 0.0, "T": 0.0}
    noisy = {"sigma2": np.ones(3)}
    held = {**FOLLOW, "bend": np.ones(3), "place": np.array([0.0, 1.0, -1.0]), "kappa": 10.0}
    return rows(
        still,
        *({"start": 2.0, "beta": L} for L in (0.1, 9.0)),
        *({**noisy, "growing": g, "T": T, "kind": kind}
          for g, T in ((0.0, 1.0), (0.0, 30.0), (0.5, 400.0), (1.0, 2000.0)) for kind in (1.0, 2.0)),
        *({**held, "start": 2.0, "spread": D, "growing": g, "T": 400.0} for D in (0.0, 1.0) for g in (0.0, 0.9)),
        *({"start": 2.0, "growing": g, "T": 40.0} for g in (0.3, 1.0)),
    )  # fmt: skip


def _sharp_stages() -> Values:
    still = {name: SAME[name] for name in STAGES if name in SAME} | {
        "growing": 0.0, "T1": 0.0, "T2": 0.0, "room": 1.0, "kappa": 1e9, "bend": np.ones(3),
    }  # fmt: skip
    noisy, flat = {"sigma2": np.ones(3)}, {"bend": np.zeros(3), "kappa": 1.1, "room": 5e3, "T2": 3e3}
    follow = {**FOLLOW, "place": np.array([0.0, 1.0, -1.0])}
    return rows(
        still,
        *({"start": 2.0, "beta": L, "growing": g, "T2": T2, "kappa": 1e6}
          for L in (0.1, 9.0) for g, T2 in ((0.0, 0.0), (0.5, 60.0), (0.9, 300.0))),
        *({**noisy, **given, "growing": g, "T2": 1e3, "beta": L}
          for given in ({}, follow) for L in (0.1, 9.0) for g in (0.0, 0.5, 0.9)),
        *({**follow, "start": 2.0, "spread": 1.0, "growing": g, "T2": T2, "kappa": 1e6}
          for g, T2 in ((0.0, 0.0), (0.5, 300.0))),
        *({**flat, "start": 2.0, "growing": g, "T1": T1, "fraction": x}
          for g, x in ((0.0, 0.5), (1e-3, 1.0), (1e-3, 0.5), (1e-2, 0.9)) for T1 in (0.0, 1.0, 3.0)),
        *({**flat, **noisy, "growing": g, "T1": T1, "fraction": x}
          for g, x in ((0.0, 0.9), (1e-3, 1.0), (1e-2, 1.0)) for T1 in (1.0, 3.0, 60.0)),
        *({**flat, **follow, "spread": 1.0, "growing": g, "T1": 60.0} for g in (1e-3, 5e-3)),
    )  # fmt: skip


_LAST = {"bend": 1.0, "start": 2.0, "spread": 0.0, "sigma2": 0.0}
"""Curvature L from elsewhere, without noise at the minimiser."""


def claims() -> tuple[Claim, ...]:
    means = Family(name="any Lambda, growing noise", domains=MEANS, measure=_mean, sharp=_sharp_mean)
    stages = Family(name="any Lambda, growing noise", domains=STAGES, measure=_stages, sharp=_sharp_stages)
    return (
        Claim.on(
            KEY + "theorem-3-growing",
            means,
            outside_conditions={STEP: beyond(means, fraction=1.05, growing=0.0)},
            unrefuted_conditions={
                "growing noise eta growth row_weight <= 0.9": "the bound is true below 1, and infinite there; "
                "0.9 keeps its floats from cancelling"
            },
        ),
        Claim.on(
            KEY + "theorem-3-two-stage-growing",
            stages,
            outside_conditions={
                STEP: beyond(stages, **_LAST, fraction=1.15, kappa=1.2, T1=3.0, T2=2.0, room=1.0, growing=0.0),
                "growing noise eta (mu smin + growth row_weight) <= 1": beyond(
                    stages, **_LAST, fraction=1.2, kappa=1e3, T1=20.0, T2=0.0, room=2.0, growing=0.61
                ),
                "first step 2 beta smax/(mu smin) - 2 <= offset": beyond(stages, room=0.7),
            },
            unrefuted_conditions={
                name: "a mean has weights, and none of them is negative"
                for name in (
                    "weights 2 growth row_weight/(mu smin) <= offset",
                    "a weight in stage 2, 1 + 2 growth row_weight/(mu smin) <= offset + T2/2",
                )
            },
        ),
    )
