"""Claims on the excess of a peer's optimum: quadratics in the plane, and losses of two slopes on a line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...claim import Claim
from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows

AGENTS = 3
# f_i' has the slope a_i up to `bend` from the minimiser and a_i + extra_i beyond: strongly convex, not quadratic.


def _loss(a: np.ndarray, extra: np.ndarray, bend: np.ndarray, x: np.ndarray) -> np.ndarray:
    beyond = np.maximum(np.abs(x) - bend, 0)
    return a * x**2 / 2 + extra * beyond**2 / 2


def _slope(a: np.ndarray, extra: np.ndarray, bend: np.ndarray, x: np.ndarray) -> np.ndarray:
    return a * np.abs(x) + extra * np.maximum(np.abs(x) - bend, 0)


@measured_by("exact", "three agents on a line whose losses bend")
def _mixture(values: Values) -> Measured:
    a, extra, bend = (values[name][..., None] for name in ("a", "extra", "bend"))
    apart = values["optimum"][:, None, :] - values["optimum"][:, :, None]
    gradient = _slope(a, extra, bend, apart)
    b = np.maximum(gradient, gradient.swapaxes(1, 2)) * values["overstatement"][:, None, None]
    excess = _loss(a, extra, bend, apart)
    alpha = values["alpha"][..., None]
    own = np.eye(AGENTS)
    weights = (1 - alpha) * own + alpha * (1 - own) / (AGENTS - 1)
    mu = values["low"] * values["a"].min(-1)
    return (weights * excess).sum((1, 2)) / AGENTS, {
        "b": b[:, 0, 1],
        "bias": (weights * b).sum((1, 2)) / AGENTS,
        "bias2": (weights * b**2).sum((1, 2)) / AGENTS,
        "mu": mu,
        "pair": excess[:, 0, 1],
    }


_DOMAINS = {
    "a": Domain(low=0.1, high=10, log=True, shape=(AGENTS,)),
    "extra": Domain(low=0, high=5, shape=(AGENTS,)),
    "bend": Domain(low=0, high=2, shape=(AGENTS,)),
    "optimum": Domain(low=-3, high=3, shape=(AGENTS,)),
    "alpha": Domain(low=0, high=1, shape=(AGENTS,)),
    "overstatement": Domain(low=1, high=1.2),
    "low": Domain(low=0.8, high=1),
}


def _alike() -> Values:
    one = plain(_DOMAINS, extra=0, optimum=[-1, 0.5, 2], alpha=0.5, low=1)
    return rows(one, {}, {"alpha": np.ones(3), "a": np.full(3, 4.0)}, {"alpha": np.array([1.0, 0.0, 0.2])})


def claims() -> tuple[Claim, ...]:
    def pair(values: Values) -> Measured:
        found = _mixture(values)
        return found.arguments["pair"], found.arguments

    mixtures = Family(name="three agents on a line", domains=_DOMAINS, measure=_mixture, sharp=_alike)
    pairs = replace(mixtures, measure=measured_by("exact", "two agents on a line whose losses bend")(pair))
    return (
        Claim.on("sample-optimal/assumption-3-peer", pairs),
        *(Claim.on("sample-optimal/section-5-bias", mixtures, edition=edition) for edition in ("printed", "corrected")),
    )
