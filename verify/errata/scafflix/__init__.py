"""Errata of the Scafflix paper and its released code."""

from __future__ import annotations

from ..erratum import declared
from . import released, statements

ERRATA = declared(statements, released)
