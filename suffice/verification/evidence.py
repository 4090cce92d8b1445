"""Exact evidence: a batch of instances with the measured quantity beside the theorem's arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

import numpy as np

from suffice.bounds import PARAMETERS, Parameter, Theorem
from suffice.support.errors import InputError

AGREEMENT = 1e-9
"""Relative tolerance of exact comparisons: second moments and quadratures are good to about 1e-12."""
CLEAR = 1e-6
"""measured/bound above 1 + this is a violation whatever the rounding."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """measured (n,) and arguments {keyword: (n,)}; `hypothesis` (n,) masks hypotheses that are not conditions.

    `rounding` is the absolute error of the measured number (one, or one per instance). `values` are
    the family's parameters that gave each instance, where there is one measurement per instance. `dropped` masks
    instances that were left out, as rounding of the bound may be all that speaks against it there. `exact` masks those
    whose measured number is no matter of chance.
    """

    engine: str
    measured: np.ndarray
    arguments: Mapping[str, np.ndarray]
    hypothesis: bool | np.ndarray = True
    rounding: float | np.ndarray = 0.0
    label: str = ""
    values: Mapping[str, np.ndarray] = field(default_factory=dict)
    dropped: bool | np.ndarray = False
    exact: bool | np.ndarray = True

    def counted(self, theorem: Theorem) -> np.ndarray:
        """Which instances meet the domains and conditions of `theorem`, (n,)."""
        if np.isnan(self.measured).any():
            first = self.rows(np.isnan(self.measured)).arguments
            at = ", ".join(f"{one.name} = {first[one.name][0]:.6g}" for one in theorem.parameters)
            what = self.label or self.engine
            raise InputError("measured", float("nan"), f"{what} measured no number for {theorem.key} at {at}; mend it")
        asked = self.arguments, self.measured.shape
        return within(theorem.parameters, *asked) & met(theorem, *asked) & self.hypothesis

    def unmet(self, theorem: Theorem) -> str:
        """Which condition no instance meets, with both sides where they come nearest; or the one that the fewest meet.

        "" where there is no instance, or none that fails a condition.
        """
        if not len(self.measured):
            return ""
        met: dict[str, int] = {}
        for name, pair in sides(theorem, self.arguments).items():
            left, right = (np.broadcast_to(np.asarray(side, dtype=float), self.measured.shape) for side in pair)
            with np.errstate(all="ignore"):
                far = np.nan_to_num((left - right) / np.maximum(np.abs(left), np.abs(right)), nan=np.inf)
            met[name] = int((far <= 8 * 2.0**-52).sum())
            if not met[name]:
                at = int(far.argmin())
                return f"{name} holds at none of {len(far):,} (nearest: {left[at]:.4g} <= {right[at]:.4g})"
        rarest = min(met, key=met.__getitem__, default="")
        if not rarest or met[rarest] == len(self.measured):
            return ""
        often = f"{rarest} holds at {met[rarest]:,}"
        if self.counted(theorem).any():
            return f"{often} of {len(self.measured):,} instances tried, no condition at fewer"
        return f"no condition fails everywhere, but some does at each; {often} instances"

    def bound(self, theorem: Theorem, function: Callable[..., Any] | None = None) -> np.ndarray:
        """The theorem's bound, or a mutant of it, at every instance."""
        given = {name: self.arguments[name] for name in theorem.bound_keywords}
        function = function or theorem.bound
        assert function is not None
        with np.errstate(all="ignore"):
            return np.broadcast_to(function(**given), self.measured.shape)

    def ratio(self, theorem: Theorem) -> np.ndarray:
        """measured / bound for upper bounds, bound / measured for lower ones, (n,); above 1 is a violation.

        Where both are negative it is the other way round, and where only the larger side is, infinite.
        """
        return self.against(self.bound(theorem), theorem.direction)

    def against(self, bound: np.ndarray, direction: str) -> np.ndarray:
        """Return the same ratio from the values (n,) of a bound."""
        top, bottom = (self.measured, bound) if direction == "upper" else (bound, self.measured)
        if np.any(self.rounding):
            top = np.where(top > 0, np.maximum(top - self.rounding, 0), top - self.rounding)
        with np.errstate(all="ignore"):
            unequal = np.where(bottom > 0, top / bottom, np.where(top < 0, bottom / top, np.inf))
            ratio = np.where((bottom == 0) & (top <= 0), 0.0, unequal)
        return np.where(np.isnan(bound), np.inf, ratio)  # a bound that says nothing is not a bound

    def rows(self, index: Any) -> Evidence:
        """Return the evidence of some instances alone."""

        def some(part: Any) -> Any:
            if isinstance(part, Mapping):
                return {name: some(each) for name, each in part.items()}
            return part[index] if np.ndim(part) else part

        return replace(self, **{name: some(part) for name, part in vars(self).items()})

    def instance(self, index: int) -> dict[str, Any]:
        """A readable description of one instance."""
        values = {name: float(value[index]) for name, value in self.arguments.items() if name in PARAMETERS}
        given = {"values": {n: v[index].tolist() for n, v in self.values.items()}} if self.values else {}
        return {"label": self.label, **values, "measured": float(self.measured[index]), **given}


def within(parameters: Sequence[Parameter], arguments: Mapping[str, np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Which instances lie in the domains of `parameters`."""
    valid = np.ones(shape, dtype=bool)
    for parameter in parameters:
        x = arguments[parameter.name]
        valid &= (x > parameter.lower) if parameter.open_lower else (x >= parameter.lower)
        valid &= x <= parameter.upper
    return valid


def sides(theorem: Theorem, arguments: Mapping[str, Any]) -> Mapping[str, tuple[Any, Any]]:
    """Both sides of every condition by its name."""
    with np.errstate(all="ignore"):
        return theorem.conditions(**{name: arguments[name] for name in theorem.condition_keywords})


def met(theorem: Theorem, arguments: Mapping[str, np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Which instances meet the conditions of `theorem`, up to rounding."""
    valid = np.ones(shape, dtype=bool)
    with np.errstate(all="ignore"):
        for lhs, rhs in sides(theorem, arguments).values():
            valid &= lhs <= rhs * (1 + 8 * 2.0**-52)
    return valid


def joined(pieces: Sequence[Evidence], theorem: Theorem) -> Evidence:
    """The instances of all pieces as one batch, with what the theorem's bound and conditions take."""

    def whole(part: Callable[[Evidence], Any]) -> np.ndarray:
        return np.concatenate([np.broadcast_to(part(piece), piece.measured.shape) for piece in pieces])

    names = [parameter.name for parameter in theorem.parameters]
    arguments = {name: whole(lambda piece, name=name: piece.arguments[name]) for name in names}
    kept = ("measured", "hypothesis", "rounding", "dropped")
    parts: dict[str, Any] = {name: whole(lambda piece, name=name: getattr(piece, name)) for name in kept}
    engine = " + ".join(dict.fromkeys(piece.engine for piece in pieces))
    return Evidence(engine=engine, arguments=arguments, **parts)


Measured = tuple[np.ndarray, Mapping[str, np.ndarray]] | tuple[np.ndarray, Mapping[str, np.ndarray], Mapping[str, Any]]
"""The measured values, the theorem's arguments and, if need be, fields of `Evidence` by name, such as `hypothesis`."""


def measured_by(
    engine: str, label: str, *, rounding: float = 0.0
) -> Callable[[Callable[..., Measured]], Callable[..., Evidence]]:
    """Makes a function of a family's values, and perhaps of more, that measures them into one that gives evidence."""

    def decorated(measure: Callable[..., Measured]) -> Callable[..., Evidence]:
        @wraps(measure)
        def evidence(values: dict[str, np.ndarray], *args: Any, **options: Any) -> Evidence:
            measured, arguments, *more = measure(values, *args, **options)
            told: dict[str, Any] = {"engine": engine, "label": label, "rounding": rounding, **(more[0] if more else {})}
            return Evidence(measured=measured, arguments=arguments, values=values, **told)

        return evidence

    return decorated
