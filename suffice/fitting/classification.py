"""`fit` for targets of classes: rows to standardised arrays, models back to the units of the columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.simulate.data.folds import FOLDS, Sums

from .assembly import assemble, encode
from .classifiers import fit_classes

if TYPE_CHECKING:
    from suffice.simulate.data.sites import Sites

    from .fitted import Fit


def classified(sites: Sites, loss: str, client: str, progress: Callable[[int, int], None] | None) -> Fit:
    """Logistic for two classes, multinomial with all at once for more. Labels that a site lacks are no difficulty."""
    classes = sites.classes
    sums, counts = Sums.of([[Sums.of_rows(X, y)] for X, y in zip(sites.X, sites.y)]), sites.counts
    moved = sums.dealt(counts)
    encoding, _, units, notes = encode(sites, sums, sums)
    outputs = 1 if len(classes) == 2 else len(classes)
    # models are of log-odds, which have no unit
    units = replace(units, mean=np.append(units.mean[:-1], 0.0), scale=np.append(units.scale[:-1], 1.0))
    rows = []
    for X, y, by in zip(sites.X, sites.y, moved):
        standard = (encoding.encoded(X) - units.mean[:-1]) / units.scale[:-1]
        standard[:, units.constant[:-1]] = 0.0
        Y = (y == 1)[:, None] if outputs == 1 else y[:, None] == np.arange(outputs)
        rows.append((np.column_stack((np.ones(len(X)), standard)), Y.astype(float), (np.arange(len(y)) + by) % FOLDS))
    fitted, gains, rounds = fit_classes(rows, progress=progress)
    size = rows[0][0].shape[1]
    # of a round at most: of all rows, without each fold and of each, per output, curvature, gradient and loss
    numbers = outputs * (1 + 2 * FOLDS) * (1 + size + size * (size + 1) // 2)
    return assemble(
        sites, client, loss, fitted, gains, units.given(fitted.models),
        units.given(fitted.population), scale=1.0, encoding=encoding, left_out=notes,
        rule={"suspects": [], "groups": [], "distances": None, "spread_power": None, "rounds": rounds,
              "numbers_per_site": numbers, "fewest_numbers": None},
    )  # fmt: skip
