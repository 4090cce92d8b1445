"""Random instances of a case, extreme ones among them: mu << beta, the step at its limit, e0 = 0, sigma2 = 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cases import FEATURES, LONGEST, scalars
from .table import Record

SHORT = np.vectorize(lambda x: float(f"{x:.4g}"), otypes=[float])
"""Numbers that one can type."""


def within(record: Record, instance: dict[str, Any]) -> bool:
    """Whether the instance is of the record's case and meets its conditions."""
    case, (N, d) = record.case, np.shape(instance["h"])
    shared = all(np.ptp(instance[name], axis=0).max() == 0 for name in case.same)
    few = case.clients[0] <= N <= case.clients[1] and d <= (8 if case.default else FEATURES)
    short = instance["T"] <= (10_000 if case.default else LONGEST)
    return (
        shared
        and few
        and short
        and (instance["sigma2"] == 0 or not case.noiseless)
        and record.allowed(scalars(instance))
    )


def draw(record: Record, rng: np.random.Generator, *, wide: bool, longest: int) -> dict[str, Any] | None:
    """A random instance that meets the conditions, or None; `wide` curvatures reach beyond the families of `check`."""
    case = record.case
    N = int(rng.integers(case.clients[0], case.clients[1] + 1))
    d = int(rng.integers(1, (8 if case.default else FEATURES) + 1))
    low = 10.0 ** -rng.uniform(1, 6) if wide else 1 / 16
    h = 4 * (low / 4) ** rng.choice(
        [rng.uniform(size=(N, d)), rng.integers(0, 2, (N, d)), np.full((N, d), rng.uniform())]
    )
    m = rng.uniform(-2, 2, (N, d)) * rng.choice([1, 0.01, 10])
    h, m = (np.repeat(x[:1], N, 0) if name in case.same else x for name, x in (("h", h), ("m", m)))
    h, m = SHORT(h), SHORT(0 * m if "m" in case.same else m)
    start = SHORT(
        m[0] + rng.uniform(-4, 4, d) * rng.choice([1, 1, 1, 0.01, 0]) * (rng.uniform(size=d) < rng.uniform(0.3, 1.3))
    )
    sigma2 = 0.0 if case.noiseless else float(rng.choice([0, 1e-3, 1 / 16, 1, 16]))
    T = int(rng.integers(1, 6)) if rng.uniform() < 0.4 else int(np.exp(rng.uniform(0, np.log(longest + 0.999))))
    instance = {"h": h.tolist(), "m": m.tolist(), "start": start.tolist(), "sigma2": sigma2, "eta": 1.0, "T": T}

    def allowed(eta: float) -> bool:
        return record.allowed(scalars(instance | {"eta": float(eta)}))

    fits = [eta for eta in 4.5 / h.max() * 2.0 ** -np.arange(0, 9, 0.25) if allowed(eta)]
    if not fits:
        return None
    least, most = min(fits), max(fits)
    beyond = most * 2**0.25
    for _ in range(50):
        middle = (most + beyond) / 2
        most, beyond = (middle, beyond) if allowed(middle) else (most, middle)
    share = rng.choice([0, rng.uniform(), 0.02 * rng.uniform(), 1])
    return instance | {"eta": float(most * (least / most) ** share)}
