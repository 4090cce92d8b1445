"""Saved proofs say what of each corrected statement is proved, so that showing a theorem re-checks nothing.

`python docs/generate.py proofs` renews it from the certificates; a test fails when they say otherwise.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from .theorem import Theorem

FILE = Path(__file__).with_name("proofs.json")


@cache
def _known() -> dict[str, str]:
    return json.loads(FILE.read_text(encoding="utf-8"))


def saved_proof(theorem: Theorem) -> str:
    """Proof steps, closed form, end to end, or what is missing; "" for what has no kept line."""
    return _known().get(theorem.key, "") if theorem.guarantee else ""
