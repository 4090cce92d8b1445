"""Errata of the adaptive paper and its released code."""

from __future__ import annotations

from ..erratum import declared
from . import criteria, descent, experiments, gradient, rates, related_works, released, similarity, tables

ERRATA = declared(similarity, criteria, released, related_works, descent, rates, gradient, experiments, tables)
