"""Errata of the CoBo paper and its released code."""

from __future__ import annotations

from ..erratum import declared
from . import assumption, lemmas, released, theorem

ERRATA = declared(assumption, theorem, lemmas, released)
