"""Instances of a record's family that meet its conditions, in numbers that one can type."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from suffice.verification.families import Setting
from suffice.verification.family import Family, Values

from ..record import Record

_SHORT = np.vectorize(lambda x: float(f"{x:.4g}"), otypes=[float])


def setting(record: Record, values: Any) -> Setting:
    return record.case.family(record.steps).setting({name: np.asarray(value) for name, value in values.items()})


def _of(function: Any, record: Record, scalars: Mapping[str, float]) -> Any:
    scalars = {**scalars, "delta": record.case.delta}
    return function(**{name: scalars[name] for name in inspect.signature(function).parameters})


def bound(record: Record, given: Setting) -> float:
    return float(_of(record.bound, record, given.arguments))


def allowed(record: Record, scalars: Mapping[str, float]) -> bool:
    """Whether the conditions hold."""
    return all(left <= right * (1 + 1e-12) for left, right in _of(record.limit, record, scalars).values())


def instances(record: Record, count: int, *, seed: int) -> Iterator[tuple[Values, Setting]]:
    """`count` of drawn and of extreme ones each, and the sharp ones, at steps up to the largest that is allowed."""
    family, rng = record.case.family(record.steps), np.random.default_rng(seed)
    whole = Family(name=family.name, domains=family.domains)
    batches = [whole.draw(count, seed=seed), whole.at(whole.corners(count, seed=seed))]
    batches += [family.sharp()] if family.sharp is not None else []
    quiet = "sigma2" in inspect.signature(record.limit).parameters  # a condition on the noise: none
    for batch in batches:
        for at in range(len(next(iter(batch.values())))):
            values = {name: _SHORT(value[at]) for name, value in batch.items()} | ({"sigma2": 0.0} if quiet else {})
            scalars = family.setting(values | {"eta": 1.0}).arguments
            steps = record.steps / scalars["beta"] * 2.0 ** -np.arange(0, 6, 0.25)
            fitting = [eta for eta in steps if allowed(record, {**scalars, "eta": eta})]
            if fitting:
                eta = float(fitting[0] if rng.uniform() < 0.5 else rng.choice(fitting))
                values = values | {"eta": eta}
                yield values, family.setting(values)
