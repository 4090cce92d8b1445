"""Errata of the CoBo paper and its released code."""

from __future__ import annotations

from suffice.bounds.papers import OWN

from ..erratum import declared, withdraw
from . import assumption, lemmas, released, theorem

ERRATA = declared(assumption, theorem, lemmas, released)
WITHDRAWN = (
    withdraw(
        OWN["cobo"],
        "selection-immediate",
        location="Appendix A.2, case 2",
        claim="a negative inner product gives w_ij^{t+1} = 0 = w_ij^*",
        truth="The proof goes on: the cases hold true for well initialized weights. One update is enough for w_ij of "
        "at most gamma |<grad f_i, grad f_j>|; cobo/selection-time is about w_ij = 1.",
    ),
)
