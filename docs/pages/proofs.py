"""What of each corrected statement is proved, for `suffice theorem` and the pages."""

from __future__ import annotations

import json

from suffice.bounds import THEOREMS
from suffice.verification.certificates import proof_of


def rows() -> str:
    """JSON: key -> what is proved."""
    return json.dumps({record.key: proof_of(record) for record in THEOREMS if record.guarantee}, indent=1) + "\n"
