"""Exact values beside the bounds: a tight or violating instance of each record, and what is measured along an argument.

The instances and what measures them are the claims' own. A curve varies one scalar of the family: it is kept where one
argument of the record follows and no other changes, so that the curve and the bound are about the same instances.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from suffice.bounds import Theorem, find
from suffice.figures.catalogue import figure
from suffice.simulate.threads import one_thread
from suffice.verification import Claim, Evidence, Family
from suffice.verification.claim import EFFORTS
from suffice.verification.instances.quadrature_1d import counterexample

_DRAWS, _CANDIDATES, _POINTS = 24, 6, 25
_SAME = 1e-9
_CLOSE = 0.02
"""Instances whose ratios are so close count as equally tight: a spread of them is looked at."""
_USUAL = 100.0
"""An instance whose arguments are further from the typical ranges than this factor says little to a reader."""
_FALLEN = 1e-12
"""A value below this share of the largest value of its curve is rounding."""


@dataclass(frozen=True, kw_only=True)
class Truth:
    """The exact value at the arguments `at` of an instance in `words`; by argument, the exact values along it.

    `values` are the instance's, where it is of a family.
    """

    at: Mapping[str, float]
    value: float
    words: str
    curves: Mapping[str, tuple[list[float], list[float]]] = field(default_factory=dict)
    values: dict[str, np.ndarray] = field(default_factory=dict)


def truths(claims: Iterable[Claim]) -> dict[tuple[str, str], list[Truth]]:
    """The instances by key and edition, where a claim measures the record's quantity: its own, and that of the print.

    Superseded records have none: their claims compare bounds.
    """
    asked = {(one.theorem.key, one.theorem.edition): one for one in claims if one.theorem.superseded_by is None}
    found: dict[tuple[str, str], list[Truth]] = {}
    with one_thread():
        for (key, edition), claim in sorted(asked.items(), key=lambda one: one[0][1], reverse=True):  # printed first
            own, printed = _best(claim), found.get((key, "printed"))
            same = _measured_on(claim, printed[0]) if printed else None
            found[key, edition] = [truth for truth in (own, same) if truth is not None]
    _add_figure(found)
    return found


def _best(claim: Claim) -> Truth | None:
    """The instance that is tightest, usual, and has curves, T above all."""
    made = [_measured(claim.theorem, *candidate) for candidate in _candidates(claim)]

    def score(truth: Truth) -> float:
        tight = min(_ratio(claim.theorem, truth), 1.0)
        x, y = truth.curves.get("T", ([], []))
        falls = math.log10(y[0] / y[-1]) if y and min(y[0], y[-1]) > 0 else 0.0
        moves = min(max(falls, 0.0), 2.0)  # a bound is shown bending towards its floor, not rising with it
        told = (0.5 if len(x) > 5 else 0.0) + 0.1 * moves + 0.1 * min(len(truth.curves), 5)
        unusual = sum(0.1 * float(_beyond(claim.theorem, name, value)) for name, value in truth.at.items())
        return tight + told - unusual

    best = max(made, key=score, default=None)
    return best and _signed(claim, best)


def _signed(claim: Claim, truth: Truth) -> Truth:
    """The truth in the record's sign, where the claim bounds the size of a negative quantity from the other side."""
    if claim.theorem.direction == find(claim.theorem.key, claim.theorem.edition).direction:
        return truth
    curves = {name: (x, [-value for value in y]) for name, (x, y) in truth.curves.items()}
    return replace(truth, value=-truth.value, curves=curves)


def _measured_on(claim: Claim, other: Truth) -> Truth | None:
    """The claim measures this on the instance of another edition's claim, where the two are of one family."""
    for family in claim.families:
        if other.values and other.words.startswith(family.name) and set(other.values) == set(family.domains):
            found = family.evidence(other.values)
            if found.measured.shape == (1,) and found.counted(claim.theorem)[0]:
                return _signed(claim, _measured(claim.theorem, family, replace(found, values=other.values), 0))
    return None


def _candidates(claim: Claim) -> Iterator[tuple[Family | None, Evidence, int]]:
    """Families with evidence and a row of it: the tightest rows; or those of evidence that belongs to no family."""
    theorem = claim.theorem
    for family in claim.families:
        batches = ([family.sharp()] if family.sharp is not None else []) + [family.draw(_DRAWS, seed=0)]
        if "e0" in family.domains:  # from far away too
            batches += [{**one, "e0": np.full_like(one["e0"], family.domains["e0"].high)} for one in batches]
        for values in batches:
            found = family.evidence(values)
            if found.measured.shape == (len(next(iter(values.values()))),) and found.values:
                yield from ((family, found, row) for row in _tightest(theorem, found))
    if not claim.families and claim.exact is not None:
        for found in claim.exact(EFFORTS["quick"], 0):
            yield from ((None, found, row) for row in _tightest(theorem, found)[:1])


def _tightest(theorem: Theorem, found: Evidence) -> list[int]:
    ratio = found.ratio(theorem)
    ratio = np.where(found.counted(theorem) & np.isfinite(ratio) & (found.measured > 0), ratio, -1.0)
    for name, value in _arguments(theorem, found).items():
        ratio -= 0.1 * _beyond(theorem, name, value)
    close = np.flatnonzero((ratio > 0) & (ratio >= ratio.max(initial=0) - _CLOSE))
    return close[:: max(len(close) // _CANDIDATES, 1)][:_CANDIDATES].tolist()


def _beyond(theorem: Theorem, name: str, value: Any) -> Any:
    """Decades that values lie outside the typical range, and `_USUAL` beyond it; 0 is usual."""
    low, high = theorem.parameter(name).typical
    with np.errstate(all="ignore"):
        decades = np.log10(np.maximum(np.maximum(low / np.abs(value), np.abs(value) / high) / _USUAL, 1))
    return np.where(value == 0, 0.0, decades)


def _arguments(theorem: Theorem, found: Evidence) -> dict[str, np.ndarray]:
    names = [parameter.name for parameter in theorem.parameters]
    return {name: np.broadcast_to(found.arguments[name], found.measured.shape) for name in names}


def _ratio(theorem: Theorem, truth: Truth) -> float:
    arguments = {name: np.array([value]) for name, value in truth.at.items()}
    return float(Evidence(engine="", measured=np.array([truth.value]), arguments=arguments).ratio(theorem)[0])


def _measured(theorem: Theorem, family: Family | None, found: Evidence, row: int) -> Truth:
    at = {name: float(value[row]) for name, value in _arguments(theorem, found).items()}
    where = found.label or (family.name if family is not None else "")
    words = f"{where}; {found.engine}" if where else found.engine
    truth = Truth(at=at, value=float(found.measured[row]), words=words)
    if family is None:
        return replace(truth, curves=_followed(theorem, found, truth, [np.arange(len(found.measured))]))
    values = {name: value[[row]] for name, value in found.values.items()}
    truth = replace(truth, values=values)
    scalars = [name for name, one in family.domains.items() if name in values and not one.shape and one.low < one.high]
    if not scalars:
        return truth
    groups = list(np.arange(_POINTS * len(scalars)).reshape(-1, _POINTS))
    many = {name: np.repeat(value.astype(float), _POINTS * len(scalars), axis=0) for name, value in values.items()}
    for name, rows in zip(scalars, groups):
        many[name][rows[:-1]] = family.domains[name].at(np.linspace(0, 1, _POINTS - 1))
    return replace(truth, curves=_followed(theorem, family.evidence(many), truth, groups))


def _followed(
    theorem: Theorem, found: Evidence, truth: Truth, groups: list[np.ndarray]
) -> dict[str, tuple[list[float], list[float]]]:
    """The curves by argument, each along the longest group in which no other argument changes."""
    curves: dict[str, tuple[list[float], list[float]]] = {}
    if found.measured.shape != (sum(map(len, groups)),):
        return curves
    arguments, counted = _arguments(theorem, found), found.counted(theorem) & np.isfinite(found.measured)
    for rows in groups:
        kept = rows[counted[rows]]
        at = truth.at
        same = {name: np.abs(value[kept] - at[name]) <= _SAME * np.abs(at[name]) for name, value in arguments.items()}
        for name in arguments:
            alone = sum(same.values()) - same[name] == len(same) - 1  # all others are the same
            x, first = np.unique(arguments[name][kept][alone], return_index=True)
            y = found.measured[kept][alone][first]
            told = (y > _FALLEN * np.abs(y).max(initial=0)) | (y == 0)
            if told.sum() > 2 and len(x[told]) > len(curves.get(name, ([], []))[0]):
                curves[name] = (_short(x[told], 12), _short(y[told]))
    return curves


def _short(values: np.ndarray, digits: int = 10) -> list[float]:
    """Values without the last digits, which differ between processors; arguments keep more, as curves may be steep."""
    return [float(f"{value:.{digits}g}") for value in values]


def _add_figure(found: dict[tuple[str, str], list[Truth]]) -> None:
    """The first row of Theorem 2 at its counterexample, whose law after every step a figure has."""
    from suffice.figures.theorem_2_truth import RUNNING, TRUTH

    _, given = counterexample()
    key = "adaptive/theorem-2-constant"
    kept = found.get((key, "printed"), [])
    for first, (edition, name, s2) in zip(kept[:1] * 2, (("printed", TRUTH, "s2"), ("corrected", RUNNING, "tight"))):
        drawn = figure("theorem-2-truth").data[name]
        own = {name: float(given[s2 if name == "s2" else name]) for name in first.at}
        assert all(math.isclose(own[name], first.at[name], rel_tol=_SAME) for name in own if name not in ("e0", "s2"))
        curve = drawn["iteration"][1:].tolist(), _short(drawn["excess"][1:])
        curves = {**(first.curves if edition == "printed" else {}), "T": curve}
        truth = replace(first, at=own, value=float(drawn["excess"][int(own["T"])]), curves=curves)
        found[key, edition] = [truth] if edition == "printed" else [*found.get((key, edition), ())[:1], truth]
