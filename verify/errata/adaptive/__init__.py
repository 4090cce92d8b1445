"""Errata of the adaptive paper and its released code."""

from __future__ import annotations

from ..erratum import declared
from . import criteria, descent, experiments, gradient, rates, released, similarity

ERRATA = declared(similarity, criteria, released, descent, rates, gradient, experiments)
