"""Errata of the Scafflix paper and its released code."""

from __future__ import annotations

from ..erratum import Erratum
from . import released, statements

ERRATA: tuple[Erratum, ...] = (*statements.ERRATA, *released.ERRATA)
