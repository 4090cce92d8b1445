"""What the contract tests know about each paper, gathered from one module per paper."""

from __future__ import annotations

import formulas_adaptive
import formulas_cobo
import formulas_sample_optimal
import formulas_scafflix
import formulas_worst_case

_PAPERS = (formulas_adaptive, formulas_worst_case, formulas_sample_optimal, formulas_cobo, formulas_scafflix)

FORMULAS = {key: formula for paper in _PAPERS for key, formula in paper.FORMULAS.items()}
VACUOUS = {key for paper in _PAPERS for key in paper.VACUOUS}
UNIT_FAULTS = {key: faults for paper in _PAPERS for key, faults in paper.UNIT_FAULTS.items()}

SLOW = {key for paper in _PAPERS for key in getattr(paper, "SLOW", ())}
"""Records whose 50 digits take a quadrature each."""
