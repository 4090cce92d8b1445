"""Errata of the sample-optimality paper and its released code."""

from __future__ import annotations

from .erratum import Erratum

ERRATA: tuple[Erratum, ...] = ()
