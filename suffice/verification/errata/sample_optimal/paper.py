"""The sample-optimality paper's name in every entry."""

from __future__ import annotations

from functools import partial

from suffice.bounds.papers import OWN

from ..erratum import declare

erratum = partial(declare, paper=OWN["sample-optimal"])
