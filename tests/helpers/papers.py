"""What the contract tests know about each paper, gathered from one module per paper."""

from __future__ import annotations

import importlib

from suffice.bounds.papers import OWN

_PAPERS = [importlib.import_module(f"formulas_{key.replace('-', '_')}") for key in OWN]

FORMULAS = {key: formula for paper in _PAPERS for key, formula in paper.FORMULAS.items()}
VACUOUS = {key for paper in _PAPERS for key in paper.VACUOUS}
UNIT_FAULTS = {key: faults for paper in _PAPERS for key, faults in paper.UNIT_FAULTS.items()}

SLOW = {key for paper in _PAPERS for key in getattr(paper, "SLOW", ())}
"""Records whose 50 digits take a quadrature each."""
