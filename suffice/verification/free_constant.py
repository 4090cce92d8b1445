"""The smallest constant with which a bound of order O(.) holds over what is tried, and whether it goes on growing.

M(s), the constant that is needed where kappa, N or T is at most s, is looked at over scales s of one ratio r. From one
scale to the next ln M gains the same where M is a power of s, and r^-p times as much where M levels off like 1 - s^-p;
in between, as for ln s, which of both it is remains open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from suffice.bounds import Theorem
from suffice.support.errors import InputError

from .claim import Claim, Effort
from .dimension_sweep import LARGEST, embedded
from .evidence import Evidence
from .family import Values
from .problem_measure import Measure, alike, shape_of
from .verdict import Outcome, Verdict
from .violation_search import search

_HALVINGS, _WIDEST = 60, 100.0
_TIMES = 4
_SCALES = 4
"""The number of scales of kappa and of T, from 1 to the largest; the scales of N are powers of 2."""
_LEVELS, _POWER = 0.55, 0.8
"""The ratio of a gain of ln M to the gain before: at most the first where M levels off, at least the second where M is
like a power of s; ln(1 + s/100) is at .6, ln(s) at .78."""
_NOTHING, _MUCH = 0.03, 0.1
"""The last gain of ln M: at most the first where M has levelled off, at least the second where it goes on growing."""
_SURE = 0.01
"""The largest rounding, as a share of the measured value, of an instance that counts for the constant."""
_WORST = 8
"""Instances that are brought to each scale."""


def with_constant(
    name: str, whole: Theorem, at: Callable[[float], Theorem], measured: Sequence[Measure], spend: Effort, root: int,
    judged: Callable[[Theorem], Verdict],
) -> Verdict:  # fmt: skip
    """The verdict at the smallest constant; `whole` takes it, `at` has a value for it, `judged` is asked at the end."""
    one = at(1.0)
    seen = _InstanceTable(name, whole, one)
    families = [each.family(one) for each in measured if shape_of(each.problems)[0] <= LARGEST]
    for piece in Claim(theorem=one, families=families).explored(spend, root):
        seen.add(piece)
    if not len(seen.table["C"]):
        return judged(one)  # it says which condition fails
    most = float(seen.table["C"].max())
    larger = [float(shape_of(each.problems)[0]) for each in measured[len(families) :]]
    scales = [("N", clients, clients * most) for clients in larger]
    if not 2.0**-_WIDEST < most < 2.0**_WIDEST:
        raise InputError("free", name, "no constant makes the bound hold, or any does: let the bound grow with it")
    scales += [(key, *each) for key in ("kappa", "T") for each in reversed(seen.scales(key))]
    for key, size, most in scales if measured[0].problems.movable else ():
        # at a constant with which the bound holds: what violates it is measured again at 50 digits
        for piece in _brought(seen, key, size, at(4 * most), measured, spend, root):
            seen.add(piece)
    trends = {key: seen.trend(key) for key in ("kappa", "N", "T")}
    grows, open_ = ([f"{key} ({each[1]})" for key, each in trends.items() if each[0] == kind] for kind in ("+", "?"))
    constant = float(seen.table["C"].max())
    says = f"{name} = {constant:.4g} is the least that was needed"
    if grows:
        reason = f"{says}, and it grows with {' and '.join(grows)}: if so it goes on, no constant is large enough"
        return Verdict.inconclusive(at(constant), reason)
    for _ in range(_TIMES):
        verdict = judged(at(constant := float(f"{constant * (1 + 6e-6):.6g}")))
        if verdict.outcome is not Outcome.VIOLATED:
            break
        constant *= max(verdict.worst_ratio, 1 + 1e-6)  # what the search has not seen
    says = f"{name} = {constant:.4g} is the least that was needed"
    open_ += ["the search, which found more each time"] if verdict.outcome is Outcome.VIOLATED else []
    if open_:
        reason = f"{says}, but whether it levels off with {' and '.join(open_)} is open"
        return replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)
    tried = f"{says}; it does not grow with kappa, N or T; {verdict.tried}"
    beyond = f"whether {name} grows beyond N = {seen.table['N'].max():g}; {verdict.not_tried}"
    return replace(verdict, tried=tried, not_tried=beyond, constant=constant)


class _InstanceTable:
    """Instances with the constant that each needs: `table` has columns of C, kappa, N and T."""

    def __init__(self, name: str, whole: Theorem, one: Theorem) -> None:
        self.name, self.whole, self.one = name, whole, one
        self.table = {key: np.zeros(0) for key in ("C", "kappa", "N", "T")}
        self.values: list[Values] = []

    def add(self, piece: Evidence) -> None:
        """Add the instances of a piece that meet the hypotheses, each with the constant that it needs."""
        needed, given = _needed(self.name, self.whole, piece), piece.arguments
        known = piece.rounding <= _SURE * piece.measured
        rows = np.flatnonzero(piece.counted(self.one) & np.isfinite(needed) & known)
        kappa = given["beta"] / given["mu"] if {"beta", "mu"} <= {*given} else np.full(len(needed), np.nan)
        for key, column in {"C": needed, "kappa": kappa, "N": given["N"], "T": given["T"]}.items():
            self.table[key] = np.append(self.table[key], column[rows])
        self.values += [{name: value[[row]] for name, value in piece.values.items()} for row in rows]

    def scales(self, key: str) -> list[tuple[float, float]]:
        """Sizes, and the constant that was needed up to each; none where the largest size is below 4."""
        size, needed = self.table[key], self.table["C"]
        top = float(np.nan_to_num(size).max(initial=1.0))
        count = round(np.log2(top)) if key == "N" else _SCALES
        ends = [top ** (at / count) * (1 + 1e-9) for at in range(1, count + 1)] if top >= 4 else []
        return [(end, float(needed[size <= end].max())) for end in ends if (size <= end).any()]

    def trend(self, key: str) -> tuple[str, str]:
        """The trend of M, "+" if it grows on, "" if it levels off, "?" if neither is seen; and the last values of M."""
        sizes, most = zip(*self.scales(key)[-4:]) if self.scales(key) else ((), ())
        gains = np.diff(np.log(most))
        words = ", ".join(f"{each:.3g} up to {size:.3g}" for size, each in zip(sizes, most))
        if len(gains) < 2 or gains[-1] <= _NOTHING:
            return "", words
        with np.errstate(divide="ignore"):
            ratio = gains[-1] / gains[-2]
            slowest = max(ratio, np.sqrt(gains[-1] / gains[0]) if len(gains) > 2 else ratio)
        return ("" if slowest <= _LEVELS else "+" if ratio >= _POWER and gains[-1] >= _MUCH else "?"), words

    def worst(self, key: str, size: float) -> list[Values]:
        """Up to `_WORST` instances that need the largest constants among those whose `key` is at least size**0.5."""
        needed = np.where(self.table[key] >= size**0.5, self.table["C"], 0)
        _, first = np.unique(-needed, return_index=True)
        return [self.values[at] for at in first[:_WORST]]


def _brought(
    seen: _InstanceTable, key: str, size: float, theorem: Theorem, measured: Sequence[Measure], spend: Effort, root: int
) -> Iterator[Evidence]:
    """The worst instances with kappa, N or T at most `size`, in every shape; and a search among all such."""
    worst = seen.worst(key, size)
    for measure in measured:
        problems, pair = measure.problems, shape_of(measure.problems)
        if pair[0] != size if key == "N" else pair != ((1, 2) if alike(theorem) else (3, 2)):
            continue
        longest = problems.domains["T"].high  # of many clients powers take long
        if key != "N":
            longest = max(int(size), 1) if key == "T" else max([longest, *(each.late for each in measured)])
        domains = {**problems.domains, "T": replace(problems.domains["T"], high=longest)}
        if key == "kappa":
            domains["curvature"] = replace(domains["curvature"], low=domains["curvature"].high / size)
        family = replace(measure, problems=replace(problems, domains=domains), scan=False, late=0).family(theorem)
        parts = [embedded(each, family, pair, turn) for turn, each in enumerate(worst)]
        if key == "T" and problems.sharp is not None:
            parts.append((sharp := problems.sharp()) | {"T": np.full(len(sharp["T"]), domains["T"].high)})
        values = {name: np.concatenate([part[name] for part in parts]) for name in domains}
        if key == "kappa" and problems.movable is not None:
            now = problems.movable.scalars(values)
            values = problems.movable.moved(values, "mu", np.maximum(now["mu"], now["beta"] / size))
        yield family.evidence(values)
        if key != "N":
            amounts = {name: getattr(spend, name) for name in ("corners", "restarts", "ascents")}
            yield from search(theorem, family, draws=spend.instances, **amounts, root=root + 2)


def _needed(name: str, whole: Theorem, piece: Evidence) -> np.ndarray:
    """The least constant (n,) at which the bound holds, where it grows with it: by bisection on a logarithmic scale."""
    low, high = np.full((2, len(piece.measured)), _WIDEST) * np.array([[-1.0], [1.0]])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        here = replace(piece, arguments={**piece.arguments, name: 2.0**middle})
        fails = here.ratio(whole) > 1
        low, high = np.where(fails, middle, low), np.where(fails, high, middle)
    return 2.0**high
