"""Points of the typical ranges of a record's parameters."""

from __future__ import annotations

import numpy as np

from suffice.verification.evidence import met

ROWS = 20_000


def typical_points(theorem, count, *, seed=0, unmet=False):
    """Up to `count` points of the typical ranges, log-uniform, that meet the conditions, or with `unmet` do not."""
    rng, values = np.random.default_rng((11, seed)), {}
    for parameter in theorem.parameters:
        x = np.exp(rng.uniform(*np.log(parameter.typical), ROWS))
        values[parameter.name] = np.floor(x) if parameter.integer else x
    good = np.flatnonzero(met(theorem, values, (ROWS,)) != unmet)[:count]
    return {name: value[good] for name, value in values.items()}
