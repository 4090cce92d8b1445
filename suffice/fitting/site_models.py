"""A site's model in the units of the given columns, with whom it collaborates and what it gains by that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

Loss = Annotated[float, msgspec.Meta(ge=0)]
POPULATION = "(a new site)"
"""The name that stands for a site that was not fitted, which gets the population's model."""
LEFT_OUT = "it is left out of the other sites' models: see what the fit says of its data"


@dataclass(frozen=True, kw_only=True)
class SiteModel:
    """One site's model and what is known of it.

    weights             influences: the share of each site in this model, summing to 1
    collaborators       other sites with more than half of the equal share
    coefficients        column -> number in the column's own unit; per class {class: {column: number}} for labels
    intercept           a number, or {class: number}
    expected_loss       mean loss on rows that the model has not seen, by held-out folds (squared errors, or log-loss);
                        None where no row of the site was held out
    expected_loss_alone the same for the site's own ridge model
    expected_loss_constant  the same of the mean, or the shares of classes, of its other folds: a scale for both
    gain, gain_se       their difference with its standard error; None below three rows per coefficient, where intervals
                        of two standard errors do not cover
    """

    name: str
    rows: Annotated[int, msgspec.Meta(ge=0)]
    collaborators: tuple[str, ...]
    weights: Mapping[str, float]
    coefficients: Mapping[str, Any]
    intercept: Any
    expected_loss: Loss | None
    expected_loss_alone: Loss | None
    gain: float | None
    gain_se: Loss | None
    expected_loss_constant: Loss | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return msgspec.to_builtins(self)
