"""Claims on Theorem 2 and Corollary 1 with noise that grows: all additive evidence, and clients whose own noise grows.

Additive noise is the case Q = kappa = 0: every piece of evidence of the additive records counts here too. The letters
mu' and kappa are told apart by aligned clients whose own noise grows with the gradient, and by renewals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from suffice.bounds.theorems.adaptive.multiplicative_rows import additive, key

from ...claim import Claim, Effort
from ...evidence import Evidence
from ...family import Domain, Family, Values
from ...instances.aligned_pair import Aligned, columns, sharp_values
from ...instances.enumerated_paths import Steps, constant_steps
from ...instances.renewal import Renewal
from ...instances.scheduled import decreasing_steps, sharp_decreasing, sharp_horizon, unstopped_horizon_steps
from . import hitting, rates, stopped
from .families import CONFIDENCE, DECREASING, UNSTOPPED, aligned, at_precision, fades, joined, renewal, unstopped, wide

CONDITIONS = {
    rates.FLOOR: "floor beta s2 <= 2 ((1 - split) mu)^2 T e0",
    rates.FIRST_STEP: "first step C beta <= (1 - split) mu (1 + gamma) q",
    hitting.FLOOR: "noise floor eta beta s2 <= 1.8 (1 - split) mu eps",
}
"""Conditions of the additive records as they read here; the others stay."""
NOISE = "multiplicative noise"
GROWTH, SHARE = f"{NOISE} eta beta Q <= split", f"{NOISE} q Q <= split"
OF_HORIZON = f"{NOISE} min(q (1 - split) mu T, beta ln(e0/K)) Q <= split (1 - split) mu T"
OF_FIRST_STEP = f"{NOISE} C beta Q <= split (1 - split) mu (1 + gamma)"
GROWING = {
    "split": Domain(low=0, high=0.9, zero=0.1),
    "limit": Domain(low=0.3, high=1),
    "fill": Domain(low=0, high=1),
}


# --- additive evidence -----------------------------------------------------------------------------------------


def lifted(evidence: Evidence) -> Evidence:
    """No multiplicative noise: Q = kappa = 0."""
    zero = np.zeros_like(evidence.measured)
    return replace(evidence, arguments={**evidence.arguments, "Q": zero, "split": zero})


def lifted_family(family: Family) -> Family:
    return replace(family, measure=lambda values: lifted(family.evidence(values)))


def lifted_later(make: Callable[[], Evidence]) -> Callable[[], Evidence]:
    return lambda: lifted(make())


def _exact(claim: Claim) -> Callable[[Effort, int], list[Evidence]] | None:
    given = claim.exact
    return None if given is None else lambda effort, root: [lifted(piece) for piece in given(effort, root)]


# --- clients whose own noise grows -------------------------------------------------------------------------------


def with_values(values: Values, **change: float) -> Values:
    return values | {name: np.full(len(values["T"]), value) for name, value in change.items()}


def _constant_sharp() -> Values:
    """The sharp instances keep their ratio at any kappa: x^2 Q = kappa x at the largest step."""
    base = sharp_values()
    return joined(*(with_values(base, split=split, limit=1, fill=1) for split in (0.1, 0.6)))


def _horizon_sharp() -> Values:
    """The sharp instances of a horizon; where noise counts, s2 is that of mu'."""
    base = sharp_horizon()
    base = {name: value[base["T"] <= 3000] for name, value in base.items()}
    return joined(
        *(with_values(_quieter(base, (1 - split) ** 2), split=split, limit=1, fill=1) for split in (0.1, 0.6))
    )


def _decreasing_sharp() -> Values:
    """Noise that grows takes its whole share in the first step only: T = 1 at any kappa, T large at small ones."""
    base, found = sharp_decreasing(), []
    for split, T in ((0.01, None), (0.5, None), (0.6, 1.0)):
        values = with_values(_quieter(base, 1 - split), split=split, limit=1, fill=1)
        found.append(values if T is None else with_values(values, T=T))
    return joined(*found)


def _quieter(values: Values, factor: float) -> Values:
    return values | {name: values[name] * factor for name in ("sigma2_i", "sigma2_k")}


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """How the steps of a record are made, and where its row is nearly attained."""

    steps: Steps
    sharp: Callable[[], Values]
    share: str
    more: Mapping[str, Domain]


CONSTANT = _Kind(steps=constant_steps, sharp=_constant_sharp, share=GROWTH, more={})
HORIZON = _Kind(steps=unstopped_horizon_steps, sharp=_horizon_sharp, share=OF_HORIZON, more={})
BEST = _Kind(steps=constant_steps, sharp=_constant_sharp, share=SHARE, more={})
DECREASES = _Kind(steps=decreasing_steps, sharp=_decreasing_sharp, share=OF_FIRST_STEP, more=DECREASING)


def _placed(kind: _Kind, reading: str, fill: float = 1.0) -> Values:
    """The sharp instances where this reading of the row is nearly attained, `fill` of the share taken by noise."""
    values = with_values(kind.sharp(), fill=fill)
    if reading == "running":
        return at_precision(values, kind.steps)
    return {"excess": lambda: values, "stopped": lambda: wide(values), "unconditional": lambda: unstopped(values)}[
        reading
    ]()


def _growing(kind: _Kind, measure: Callable[[Aligned], np.ndarray], reading: str) -> Family:
    """Clients whose noise grows."""
    more = {**GROWING, **kind.more, **(UNSTOPPED if reading == "unconditional" else {})}
    family = aligned(measure, lambda: _placed(kind, reading), kind.steps, **more)
    return replace(family, name="clients whose own noise grows")


def _confident(kind: _Kind, measure: Callable[[Aligned], np.ndarray]) -> Family:
    """Clients whose noise grows, looked at for T steps, from close above the precision."""
    like = aligned(
        measure, lambda: _sure(_placed(kind, "running")), kind.steps, **GROWING, **kind.more, delta=CONFIDENCE
    )
    return replace(like, name="clients whose own noise grows")


def _sure(values: Values) -> Values:
    """delta just below 1: how long a path runs for certain."""
    return with_values(values, delta=1 - 1e-5)


def _too_loud(family: Family, kind: _Kind, reading: str) -> Callable[[], Evidence]:
    """Noise that takes 1.05 times its share."""
    return lambda: family.evidence(_sure(_placed(kind, reading, fill=1.05)))


def _long_and_too_loud() -> Evidence:
    """1.05 times the share over 2000 steps without other noise, which the 1 beside the logarithm does not cover."""
    values = columns([(1.0, 1.0, 0.1, 1e-28, 1e-40, 1.0, 1.0, 2000, 1e-290, 1e14)])
    values = at_precision(with_values(values, split=0.6, limit=1, fill=1.05), constant_steps)
    return _growing(CONSTANT, Aligned.hitting, "running").evidence(values)


def renewed(measure: Callable[[Renewal], np.ndarray], *, best: bool = False) -> Family:
    """Renewals, half of whose noise is said to grow: running models are at +-s, where |grad R_i|^2 = 2 beta e_0.

    `best`: q is said to be eta beta, which then is the best step: less noise that stays would allow a longer one.
    """
    like = renewal(measure, best=best)

    def evidence(values: Values) -> Evidence:
        found = like.evidence(values)
        given = found.arguments
        Q = given["s2"] / (4 * given["beta"] * given["e0"])
        told = {"s2": given["s2"] / 2, "Q": Q, "split": given["eta"] * given["beta"] * Q}
        if best:
            told["q"] = given["eta"] * given["beta"]
        admitted = np.asarray(found.hypothesis) & (told["split"] <= 0.99)
        return replace(found, arguments={**given, **told}, hypothesis=admitted)

    return replace(like, name="renewals whose noise grows", measure=evidence)


def _faded(*, longest: bool) -> Family:
    """Renewals under decreasing steps, whose noise at +-s grows: as much as kappa allows, up to half of it."""
    like = fades(longest=longest)

    def evidence(values: Values) -> Evidence:
        found = like.evidence(values)
        given, split = found.arguments, 1 - 1 / values["low"]
        Q = np.minimum(given["s2"] / (4 * given["beta"] * given["e0"]), split * (1 + values["extra"]) / values["r"])
        s2 = given["s2"] - 2 * given["beta"] * given["e0"] * Q
        return replace(found, arguments={**given, "mu": given["beta"], "s2": s2, "Q": Q, "split": split})

    return replace(like, name="renewals under decreasing steps whose noise grows", measure=evidence)


# --- the claims ---------------------------------------------------------------------------------------------------

_READINGS: dict[str, tuple[str, Callable[[Aligned], np.ndarray]]] = {
    "": ("excess", Aligned.excess),
    "-running": ("running", Aligned.running),
    "-stopped": ("stopped", Aligned.stopped),
    "-unconditional": ("unconditional", Aligned.excess),
}


def _families() -> dict[str, tuple[_Kind, str, tuple[Family, ...]]]:
    """By the additive record's key: how its steps are made, what is read off them, and families beside the additive."""
    found: dict[str, tuple[_Kind, str, tuple[Family, ...]]] = {}
    for name, kind in (("constant", CONSTANT), ("horizon", HORIZON), ("decreasing", DECREASES)):
        for ending, (reading, measure) in _READINGS.items():
            found[f"adaptive/theorem-2-{name}{ending}"] = kind, reading, (_growing(kind, measure, reading),)
    *_, running = found.pop("adaptive/theorem-2-decreasing-running")
    found["adaptive/theorem-2-decreasing-running-sharp"] = DECREASES, "running", (*running, _faded(longest=False))
    running, hit = (_growing(CONSTANT, measure, "running") for measure in (Aligned.running, Aligned.hitting))
    above = _confident(DECREASES, Aligned.last_above)
    sure, constant_sure = (_confident(kind, Aligned.last_running) for kind in (DECREASES, CONSTANT))
    still, time, last = (renewed(measure) for measure in (Renewal.still_running, Renewal.time, Renewal.last_running))
    return found | {
        "adaptive/corollary-1": (DECREASES, "running", (above,)),
        "adaptive/corollary-1-decreasing-confidence-sharp": (DECREASES, "running", (sure, _faded(longest=True))),
        "adaptive/corollary-1-probability": (
            CONSTANT,
            "running",
            (running, still),
        ),
        "adaptive/corollary-1-expected-time": (
            CONSTANT,
            "running",
            (hit, time),
        ),
        "adaptive/corollary-1-confidence": (CONSTANT, "running", (constant_sure, last)),
        "adaptive/corollary-1-best-step": (BEST, "running", (renewed(Renewal.time, best=True),)),
    }


_CHOSEN = (
    "the share is free: a larger one, which q Q keeps to, has a longer bound; too small a one is refuted under the "
    "constant step"
)


def _claim(claim: Claim, kind: _Kind, reading: str, families: tuple[Family, ...]) -> Claim:
    renamed = {CONDITIONS.get(name, name): lifted_later(make) for name, make in claim.outside_conditions.items()}
    loud = _too_loud(families[0], kind, reading)
    if claim.theorem.key.endswith("-expected-time"):
        loud = _long_and_too_loud
    outside = {} if kind is BEST else {kind.share: loud}
    unrefuted = {SHARE: _CHOSEN} if kind is BEST else {}
    return Claim.on(
        key(claim.theorem.key),
        *(lifted_family(family) for family in claim.families),
        *families,
        exact=_exact(claim),
        true_variants=claim.true_variants,
        extends=claim.theorem.key,
        outside_conditions={**renamed, **outside},
        unrefuted_conditions=unrefuted
        | {CONDITIONS.get(name, name): why for name, why in claim.unrefuted_conditions.items()},
    )


def claims() -> tuple[Claim, ...]:
    known = _families()
    return tuple(
        _claim(claim, *known[claim.theorem.key])
        for group in (rates, stopped, hitting)
        for claim in group.claims()
        if claim.theorem.key in known and additive(claim.theorem)
    )
