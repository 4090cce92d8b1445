"""Values of hand-picked instances, one row each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..family import Domain, Values


def rows(plain: Mapping[str, Any], *given: Mapping[str, Any]) -> Values:
    """One row for each of `given`, whose values are broadcast to the shapes in `plain`; the rest is as in `plain`."""
    values = {}
    for name, value in plain.items():
        values[name] = np.empty((len(given), *np.shape(value)))
        values[name][:] = value
        for at, row in enumerate(given):
            if name in row:
                values[name][at] = row[name]
    return values


def plain(domains: Mapping[str, Domain], **change: Any) -> dict[str, Any]:
    """The values of most rows: `change`, else 1 on a logarithmic scale and 0 on others, or the end next to it."""
    one = {name: np.clip(float(domain.log), domain.low, domain.high) for name, domain in domains.items()}
    return {name: np.broadcast_to(change.get(name, one[name]), domains[name].shape) for name in domains}


def columns(names: Iterable[str], given: Iterable[Iterable[Any]]) -> Values:
    """Rows that give a number or an array for every name, in order."""
    return {name: np.array(column, dtype=float) for name, column in zip(names, zip(*given), strict=True)}
