"""Errata of the adaptive paper and its released code."""

from __future__ import annotations

from ..erratum import Erratum
from . import rates, similarity

ERRATA: tuple[Erratum, ...] = (*similarity.ERRATA, *rates.ERRATA)
