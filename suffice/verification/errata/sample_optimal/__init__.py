"""Errata of the sample-optimality paper."""

from __future__ import annotations

from suffice.bounds.papers import OWN

from ..erratum import declared, withdraw
from . import all_for_all, all_for_one, estimated, lower_bound

ERRATA = declared(lower_bound, all_for_one, all_for_all, estimated)
WITHDRAWN = (
    withdraw(
        OWN["sample-optimal"],
        "theorem-1-total-variation",
        location="Theorem 1, hypothesis on H",
        claim="H contains all 1-Lipschitz affine functions and d_H <= d_TV",
        truth="Section 2.2 takes the total variation over the maps of balls of radius 1 into balls of radius 1, which "
        "the 1-Lipschitz affine functions are, so that the two can hold together.",
    ),
)
