"""Errata of the paper."""

from __future__ import annotations

from ..erratum import Erratum

ERRATA: tuple[Erratum, ...] = ()
