"""The frozen list: 60 true bounds, 120 false ones made from them by hand, a counterexample to each of these."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import decreasing, deterministic, local_sgd, momentum, scaffnew, sgd, weights
from .record import Record

RECORDS: list[Record] = [
    entry
    for module in (sgd, decreasing, deterministic, local_sgd, momentum, scaffnew, weights)
    for entry in module.BOOK.records
]
TRUE = [entry for entry in RECORDS if entry.true]
FALSE = [entry for entry in RECORDS if not entry.true]
COUNTEREXAMPLES: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("counterexamples.json").read_text(encoding="utf-8")
)
"""By the name of a false bound: h, m (N, d), start (d,), sigma2, eta, T of an instance, truth and bound there."""
