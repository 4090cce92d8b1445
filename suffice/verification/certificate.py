"""Certificates as dictionaries and expressions as nested lists, which `recheck.py` reads."""

from __future__ import annotations

import re
from typing import Any

from .recheck import digest

INNER = re.compile(r"<(\w+), (\w+)>")
"""The name of an inner product: both vectors."""


def nested(node: Any) -> Any:
    """A rational expression of SymPy as the checker reads it, nothing simplified; ValueError for any other."""
    if node.is_Rational:
        return str(node)
    if node.is_Symbol:
        return node.name
    if node.is_Pow and node.exp.is_Integer:
        return ["^", nested(node.base), int(node.exp)]
    if node.is_Add or node.is_Mul:
        return ["+" if node.is_Add else "*", *map(nested, node.args)]
    raise ValueError(f"{node} is no rational expression")


def certificate(kind: str, says: str, proof: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A certificate of a claim with its hash."""
    claim = {"kind": kind, "says": says, **more}
    return {"version": 1, "claim": claim, "sha256": digest(claim), "proof": proof}
