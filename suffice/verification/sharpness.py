"""The sharpness of a bound in the regime is the largest measured/bound that a short search finds there.

The instances are the claim's own, with kappa and T in the regime, and the search is the claim's own, for a measured
value that rises towards the regime and is the true one inside.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.bounds import Theorem

from .claim import Claim
from .evidence import CLEAR, Evidence, joined
from .family import Domain, Family, Values
from .regime import FACTOR, KAPPA, LONG, LONGEST, RegimeParts, Sharpness, outside, parts_of
from .violation_search import search

_SPENT = {"draws": 160, "restarts": 6, "ascents": 14}
_FEW = 10
"""A family whose T stays below this number follows every path, which takes exponentially long: T cannot be raised."""
_BATCH = 256
"""Instances that are measured at a time: some families keep every step."""


def sharpness(claim: Claim, known: Sharpness | None = None, *, root: int = 0) -> Sharpness:
    """The `Sharpness` of a claim: `known` with the ratio that a short search finds, a pure function of the root."""
    theorem = claim.theorem
    parts, lacks = parts_of(theorem)
    best, at = -1.0, None
    asked = () if claim.in_regime is None or not parts else (*claim.families, *claim.in_regime)
    for family in asked:
        if (narrow := _narrowed(theorem, family)) is None:
            continue
        *_, found = search(theorem, narrow, root=root, **_SPENT)
        ratio = np.where(found.counted(theorem) & (outside(theorem, found) == 0), found.ratio(theorem), -1.0)
        ratio = np.where(np.abs(ratio) <= CLEAR, 0.0, ratio)
        if len(ratio) and ratio.max() > best:
            best, row = float(ratio.max()), int(ratio.argmax())
            wide = {name: np.broadcast_to(value, ratio.shape) for name, value in found.arguments.items()}
            at = {parameter.name: float(wide[parameter.name][row]) for parameter in theorem.parameters}
    return replace(known or Sharpness(), parts=parts, lacks=lacks, ratio=None if at is None else best, at=at)


def _narrowed(theorem: Theorem, family: Family) -> Family | None:
    """The family with kappa, T and C in the regime and a measured value that leads there; None without long paths."""
    has, domains = RegimeParts(theorem), dict(family.domains)
    if has.kappa and "kappa" in domains:
        domains["kappa"] = Domain(low=KAPPA, high=KAPPA)
    if "C" in has.names and "C" in domains:
        domains["C"] = Domain(low=FACTOR, high=FACTOR)
    if "T" in domains and (has.long or has.precision):
        if domains["T"].high < _FEW:
            return None
        domains["T"] = Domain(low=LONG, high=LONGEST, log=True, integer=True)

    def measure(values: Values) -> Evidence:
        count = len(next(iter(values.values())))
        pieces = [_measured({n: v[at : at + _BATCH] for n, v in values.items()}) for at in range(0, count, _BATCH)]
        return replace(joined(pieces, theorem), rounding=0.0)

    def _measured(values: Values) -> Evidence:
        found = family.evidence(values)
        far, bound = outside(theorem, found), found.bound(theorem)
        near = np.exp(-far) * CLEAR
        with np.errstate(all="ignore"):
            guide = np.nan_to_num(near * bound if theorem.direction == "upper" else bound / near, posinf=0, neginf=0)
        higher = np.maximum if theorem.direction == "upper" else np.minimum
        inside = higher(found.measured, guide)  # what is 0 in the regime counts for more than what is outside
        return replace(found, measured=np.where(far == 0, inside, guide))

    return replace(family, domains=domains, measure=measure, sharp=None, arguments=None)
