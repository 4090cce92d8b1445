"""The sample-optimality paper's name in every entry."""

from __future__ import annotations

from suffice.bounds.papers import OWN

from ..erratum import kinds

typo, constant, hypothesis, vacuous, false, code, loose = kinds(OWN["sample-optimal"])
