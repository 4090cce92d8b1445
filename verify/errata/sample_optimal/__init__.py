"""Errata of the sample-optimality paper."""

from __future__ import annotations

from ..erratum import Erratum
from . import all_for_all, all_for_one, estimated, lower_bound

ERRATA: tuple[Erratum, ...] = (*lower_bound.ERRATA, *all_for_one.ERRATA, *all_for_all.ERRATA, *estimated.ERRATA)
