"""The smallest constant with which a bound of order O(.) holds over what is tried, and whether it grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from suffice.bounds import Theorem
from suffice.support.errors import InputError

from .claim import Claim, Effort
from .evidence import Evidence
from .problem_measure import Measure
from .verdict import Outcome, Verdict

_HALVINGS, _WIDEST = 60, 100.0
_TIMES = 6
_GROWS = {"kappa": 1.5, "N": 1.3, "T": 1.5}
"""How many times as much is needed at all values as at the smaller ones, where it grows: what levels off grows too."""


def with_constant(
    name: str, whole: Theorem, at: Callable[[float], Theorem], measured: Sequence[Measure], spend: Effort, root: int,
    judged: Callable[[Theorem], Verdict],
) -> Verdict:  # fmt: skip
    """The verdict at the smallest constant; `whole` takes it, `at` has a value for it, `judged` is asked at the end."""
    one = at(1.0)
    pieces = Claim(theorem=one, families=[each.family(one) for each in measured]).explored(spend, root)
    needed = [_needed(name, whole, piece) for piece in pieces]
    counted = [piece.counted(one) & np.isfinite(each) for piece, each in zip(pieces, needed)]
    most = np.concatenate([each[rows] for each, rows in zip(needed, counted)])
    constant = float(most.max(initial=0.0))
    if not 2.0**-_WIDEST < constant < 2.0**_WIDEST:
        raise InputError("free", name, "no constant makes the bound hold, or any does: let the bound grow with it")
    grows = [(key, low) for key in _GROWS if (low := _smaller(key, pieces, needed, counted)) < constant / _GROWS[key]]
    for _ in range(_TIMES):
        verdict = judged(at(constant := float(f"{constant * (1 + 1e-6):.6g}")))
        if verdict.outcome is not Outcome.VIOLATED:
            break
        constant *= max(verdict.worst_ratio, 1 + 1e-6)  # what the search has not seen
    says = f"{name} = {constant:.4g} is the least that was needed"
    if grows:
        found = " and ".join(f"{key} (at its smaller half {low:.3g} was enough)" for key, low in grows)
        reason = f"{says}, and it grows with {found}: if so it goes on, no constant is large enough"
        return replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)
    tried = f"{says}; it does not grow with kappa, N or T; {verdict.tried}"
    return replace(verdict, tried=tried, constant=constant)


def _needed(name: str, whole: Theorem, piece: Evidence) -> np.ndarray:
    """The least constant (n,) at which the bound holds, where it grows with it: by bisection on a logarithmic scale."""
    low, high = np.full((2, len(piece.measured)), _WIDEST) * np.array([[-1.0], [1.0]])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        here = replace(piece, arguments={**piece.arguments, name: 2.0**middle})
        fails = here.ratio(whole) > 1
        low, high = np.where(fails, middle, low), np.where(fails, high, middle)
    return 2.0**high


def _smaller(
    key: str, pieces: Sequence[Evidence], needed: Sequence[np.ndarray], counted: Sequence[np.ndarray]
) -> float:
    """What is needed where kappa, N or T is at most half of the largest (kappa and T on a logarithmic scale), infinite
    where that is nowhere."""
    given = [piece.arguments for piece in pieces]
    sizes = [each["beta"] / each["mu"] if key == "kappa" else each[key] for each in given if {"beta", "mu"} <= {*each}]
    if len(sizes) < len(pieces):
        return np.inf
    size, most = (np.concatenate([x[rows] for x, rows in zip(of, counted)]) for of in (sizes, needed))
    top = float(size.max(initial=1.0))
    below = size <= (top / 2 if key == "N" else top**0.5)
    return float(most[below].max()) if top >= 4 and below.any() else np.inf
