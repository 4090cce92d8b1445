"""One keyword, one symbol, one meaning, one unit: every scalar that a theorem may take.

`parameters.csv` lists the library's own: `loss` and `theta` are the powers of the unit, the domain goes from `lower`
(0) to `upper`, "above" the former or in "whole" numbers. A paper that prints another letter says so in its
`Source.symbols`; the keyword stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import LARGEST, LEAST

from .units import Unit, table, unit_of


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A scalar that theorems take: its symbol, meaning, unit, domain and a typical range (for random tests)."""

    name: str
    symbol: str
    meaning: str
    unit: Unit
    typical: tuple[float, float]
    lower: float = 0.0
    upper: float = np.inf
    open_lower: bool = False
    integer: bool = False

    def extreme(self, x):
        """True for numbers that are not finite, or so large that products of floats overflow and exact digits grow."""
        return ~np.isfinite(x) | (np.abs(x) > LARGEST) | ((x > 0) & (x < LEAST) & self.open_lower)

    def check(self, value: object) -> None:
        """Raise `InputError` unless every entry of `value` lies in the parameter's domain."""
        try:
            x = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise InputError(self.name, value, "give a number") from None
        low = x <= self.lower if self.open_lower else x < self.lower
        wrong = low | (x > self.upper) | self.extreme(x)
        if self.integer:
            wrong |= x != np.floor(x)
        if wrong.any():
            raise self.refusal(x[wrong].flat[0].item())

    def refusal(self, value: object) -> InputError:
        """The error that names the parameter's domain."""
        return InputError(self.name, value, f"give {self._domain()} ({self.meaning})")

    def _domain(self) -> str:
        kind = "a whole number" if self.integer else "a finite number"
        lower = max(self.lower, LEAST) if self.open_lower and self.lower == 0 else self.lower
        below = f"> {lower:g}" if self.open_lower and self.lower else f">= {lower:g}"
        above = f" and <= {LARGEST:g}" if np.isinf(self.upper) else f" and <= {self.upper:g}"
        return f"{kind} {below}{above}"


PARAMETERS: dict[str, Parameter] = {}
"""Every scalar that a theorem may take, by keyword."""


def add_parameter(parameter: Parameter) -> Parameter:
    """Make a keyword known, so that bounds may take it; `InputError` where the keyword means something else."""
    known = PARAMETERS.setdefault(parameter.name, parameter)
    if known != parameter:
        raise InputError("parameter", parameter.name, f"the keyword means {known.meaning}; choose another")
    return known


def new_parameter(
    name: str,
    symbol: str,
    unit: Unit,
    typical: tuple[float, float],
    meaning: str,
    *,
    positive: bool = False,
    **domain: Any,
) -> Parameter:
    """A keyword made known: `positive` is short for `open_lower`, `domain` are the other fields."""
    domain |= {"open_lower": True} if positive else {}
    return add_parameter(Parameter(name=name, symbol=symbol, meaning=meaning, unit=unit, typical=typical, **domain))


for _row in table("parameters.csv"):
    _domain: dict[str, Any] = {name: float(_row[name]) for name in ("lower", "upper") if _row[name]}
    _domain |= {"open_lower": _row["domain"] == "above", "integer": _row["domain"] == "whole"}
    _typical = float(_row["typical_low"]), float(_row["typical_high"])
    new_parameter(_row["name"], _row["symbol"], unit_of(_row), _typical, _row["meaning"], **_domain)
