"""Claims on the rest of Theorem 3 with noise that grows: all additive evidence, and clients whose own noise grows."""

from __future__ import annotations

from dataclasses import replace

from suffice.bounds.theorems.adaptive.multiplicative_gradient import key

from ...claim import Claim
from ...evidence import Evidence
from ...family import Family, Values
from ...instances.aligned_pair import Aligned
from ...instances.enumerated_paths import constant_steps
from ...instances.renewal import Renewal
from . import gradient
from .families import UNSTOPPED, aligned, joined, unstopped
from .multiplicative_rows import GROWING, GROWTH, SHARE, lifted_family, lifted_later, renewed, with_values

FLOOR = "noise floor eta beta s2 <= 0.9 G"
_FLOOR = "noise floor eta beta s2 <= 0.9 (1 - split) G"


def _sharp(fill: float = 1.0) -> Values:
    """The sharp instances keep their ratio at any kappa, all of it taken by the noise that grows."""
    base = gradient._sharp()
    return unstopped(joined(*(with_values(base, split=split, limit=1, fill=fill) for split in (0.1, 0.6))))


def _larger(family: Family) -> Evidence:
    """Noise that takes 1.05 times its share: the theorem is told of less noise than there is."""
    assert family.sharp is not None
    found = family.evidence(family.sharp())
    return replace(found, arguments={**found.arguments, "split": found.arguments["split"] / 1.05})


def claims() -> tuple[Claim, ...]:
    mean = aligned(Aligned.mean_square, _sharp, constant_steps, **GROWING, **UNSTOPPED)
    own = {
        "adaptive/theorem-3-unconditional": replace(mean, name="clients whose own noise grows"),
        "adaptive/theorem-3-hitting-time": renewed(Renewal.time),
        "adaptive/theorem-3-best-step": renewed(Renewal.time, best=True),
    }
    found = []
    for claim in gradient.claims():
        family = own.get(claim.theorem.key)
        if family is None or not claim.theorem.guarantee:
            continue
        best = claim.theorem.key.endswith("best-step")
        loud = {} if best else {GROWTH: lambda family=family: _larger(family)}
        outside = {name.replace(FLOOR, _FLOOR): lifted_later(make) for name, make in claim.outside_conditions.items()}
        found.append(
            Claim.on(
                key(claim.theorem.key),
                *map(lifted_family, claim.families),
                family,
                extends=claim.theorem.key,
                outside_conditions=outside | loud,
                unrefuted_conditions={SHARE: "the share is free: a larger one has a longer bound"} if best else {},
            )
        )
    return tuple(found)
