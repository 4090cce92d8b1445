"""Every claim that `suffice verify` checks, one module per paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bounds import THEOREMS, InputError, find

from ..claim import EFFORTS, FALSE_ALARMS, Claim
from ..verdict import Verdict
from . import adaptive, cobo, sample_optimal, scafflix, worst_case


def all_claims() -> list[Claim]:
    """In the order of the library."""
    order = {(theorem.key, theorem.edition): at for at, theorem in enumerate(THEOREMS)}
    papers = (adaptive, worst_case, sample_optimal, cobo, scafflix)
    found = [claim for paper in papers for claim in paper.claims()]
    return sorted(found, key=lambda claim: order[claim.theorem.key, claim.theorem.edition])


def verify(
    keys: Sequence[str] = (),
    *,
    edition: str = "all",
    effort: str = "quick",
    root: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[Verdict]:
    """Verdicts on the claims of `keys` (all when empty), in the order of the library.

    The false-alarm probability of the whole run is at most `FALSE_ALARMS`, split over its sampled claims.
    """
    if edition not in ("printed", "corrected", "all"):
        raise InputError("edition", edition, "use printed, corrected or all")
    if not isinstance(root, int) or not 0 <= root < 2**32:
        raise InputError("root", root, "give a whole number within 0..2^32 - 1")
    if isinstance(keys, str):
        keys = (keys,)
    if effort not in EFFORTS:
        raise InputError("effort", effort, f"use {' or '.join(EFFORTS)}")
    claims = [claim for claim in all_claims() if edition in ("all", claim.theorem.edition)]
    if keys:
        for key in keys:
            if key not in {claim.theorem.key for claim in claims}:
                find(key)  # an unknown key is told with the nearest one
                raise InputError("theorem", key, "no claim checks this edition of it yet")
        claims = [claim for claim in claims if claim.theorem.key in keys]
    share = FALSE_ALARMS / max(sum(claim.sampled is not None for claim in claims), 1)
    verdicts = []
    for done, claim in enumerate(claims):
        verdicts.append(claim.verify(effort=effort, root=root, alpha=share))
        if progress is not None:
            progress(done + 1, len(claims))
    return verdicts
