"""Errata of the adaptive paper and its released code."""

from __future__ import annotations

from suffice.bounds.papers import OWN

from ..erratum import declared, withdraw
from . import criteria, descent, experiments, gradient, rates, related_works, released, similarity, tables

ERRATA = declared(similarity, criteria, released, related_works, descent, rates, gradient, experiments, tables)
WITHDRAWN = (
    withdraw(
        OWN["adaptive"],
        "theorem-1-pl",
        location="Theorem 1",
        claim="Assumptions 1 and 2 suffice for a contraction by 1 - eta mu",
        truth="Section 2 takes strong convexity or PL for all that follows except Theorem 3, so that nothing is "
        "missing.",
    ),
    withdraw(
        OWN["adaptive"],
        "table-s1-hospitals",
        location="Table S1 and Section 5, heart disease",
        claim="four clients with 486 patients, and means weighted by their sizes",
        truth="The eight training accuracies fit four hospitals too, as multiples of 1/180, so that nothing is shown "
        "wrong.",
    ),
)
