"""Instances of a record's family that meet its conditions, in numbers that one can type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from suffice.verification.families import Setting
from suffice.verification.family import Family, Values

from ..table import Record

ROUNDING = 1e-12
"""Allowed in a condition: the step is read off beta."""
_SHORT = np.vectorize(lambda x: float(f"{x:.4g}"), otypes=[float])


def setting(record: Record, values: Any) -> Setting:
    return record.case.family(record.steps).setting({name: np.asarray(value) for name, value in values.items()})


def scalars(record: Record, given: Setting) -> dict[str, Any]:
    """What a bound and its conditions may ask for."""
    return {**given.arguments, "delta": record.case.delta}


def instances(record: Record, count: int, *, seed: int) -> Iterator[tuple[Values, Setting]]:
    """`count` of drawn and of extreme ones each, and the sharp ones, at steps up to the largest that is allowed."""
    family, rng = record.case.family(record.steps), np.random.default_rng(seed)
    whole = Family(name=family.name, domains=family.domains)
    batches = [whole.draw(count, seed=seed), whole.at(whole.corners(count, seed=seed))]
    batches += [family.sharp()] if family.sharp is not None else []
    quiet = "sigma2" in record.limit.__signature__.parameters  # a condition on the noise: none
    for batch in batches:
        for at in range(len(next(iter(batch.values())))):
            values = {name: _SHORT(value[at]) for name, value in batch.items()} | ({"sigma2": 0.0} if quiet else {})
            known = scalars(record, family.setting(values | {"eta": 1.0}))
            steps = record.steps / known["beta"] * 2.0 ** -np.arange(0, 6, 0.25)
            fitting = [eta for eta in steps if record.allowed({**known, "eta": eta}, ROUNDING)]
            if fitting:
                eta = float(fitting[0] if rng.uniform() < 0.5 else rng.choice(fitting))
                values = values | {"eta": eta}
                yield values, family.setting(values)
