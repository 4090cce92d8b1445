"""Errata of the CoBo paper and its released code."""

from __future__ import annotations

from ..erratum import Erratum
from . import assumption, lemmas, released, theorem

ERRATA: tuple[Erratum, ...] = (*assumption.ERRATA, *theorem.ERRATA, *lemmas.ERRATA, *released.ERRATA)
