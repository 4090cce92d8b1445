"""Errata of the sample-optimality paper."""

from __future__ import annotations

from ..erratum import declared
from . import all_for_all, all_for_one, estimated, lower_bound

ERRATA = declared(lower_bound, all_for_one, all_for_all, estimated)
