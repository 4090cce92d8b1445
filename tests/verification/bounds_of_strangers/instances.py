"""Instances of a record that meet its conditions, in numbers that one can type, extreme ones among them."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from typing import Any

import numpy as np

from suffice.verification.families import FamilyInstance
from suffice.verification.family import Family

from .cases import FEATURES, Moments, scalars
from .table import Record

SHORT = np.vectorize(lambda x: float(f"{x:.4g}"), otypes=[float])


def instances(record: Record, count: int, *, seed: int) -> Iterator[tuple[dict[str, Any], FamilyInstance]]:
    """`count` of those whose truth is exact; elsewhere as many of drawn and of extreme ones, and the sharp ones."""
    if not isinstance(record.case, Moments):
        yield from of_family(record, count, seed=seed)
        return
    rng = np.random.default_rng(seed)
    for attempt in range(400):
        values = draw(record, rng, wide=attempt % 2 == 0, longest=60)
        if values is not None:
            yield values, record.case.setting(values, record.steps)
            count -= 1
        if not count:
            return


def of_family(record: Record, count: int, *, seed: int) -> Iterator[tuple[dict[str, Any], FamilyInstance]]:
    """At steps up to the largest that is allowed."""
    family, rng = record.case.family(record.steps), np.random.default_rng(seed)
    whole = Family(name=family.name, domains=family.domains)
    batches = [whole.draw(count, seed=seed), whole.at(whole.corners(count, seed=seed))]
    batches += [family.sharp()] if family.sharp is not None else []
    quiet = "sigma2" in signature(record.limit).parameters  # a condition on the noise: none
    for batch in batches:
        for at in range(len(next(iter(batch.values())))):
            values = {name: SHORT(value[at]) for name, value in batch.items()} | ({"sigma2": 0.0} if quiet else {})
            known = family.setting(values | {"eta": 1.0}).arguments
            steps = record.steps / known["beta"] * 2.0 ** -np.arange(0, 6, 0.25)
            fitting = [eta for eta in steps if record.allowed({**known, "eta": eta})]
            if fitting:
                eta = float(fitting[0] if rng.uniform() < 0.5 else rng.choice(fitting))
                values = values | {"eta": eta}
                yield values, family.setting(values)


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
