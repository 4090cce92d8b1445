"""`sf.check`: the check of one's own bound, with a bar on a terminal where it takes longer than two seconds."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from .cli.console import later
from .verification import Verdict
from .verification import check as verification_check


@wraps(verification_check)
def check(bound: Callable[..., Any], **options: Any) -> Verdict:
    if "progress" in options:
        return verification_check(bound, **options)
    with later("check") as progress:
        return verification_check(bound, progress=progress, **options)
