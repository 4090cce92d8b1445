"""The frozen list: 40 true bounds, 80 false ones made from them by hand, a counterexample to each of these."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..record import Record
from . import many_clients, one_client

RECORDS: list[Record] = one_client.BOOK.records + many_clients.BOOK.records
TRUE = [entry for entry in RECORDS if entry.true]
FALSE = [entry for entry in RECORDS if not entry.true]
COUNTEREXAMPLES: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("counterexamples.json").read_text(encoding="utf-8")
)
"""By the name of a false bound: what the family builds an instance from, and truth and bound there."""
