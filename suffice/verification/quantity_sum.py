"""Several quantities in one bound: sum_k c_k E[Y_k], c_k numbers or functions of the bound's scalars.

A Lyapunov function is such a sum, as E|theta_T - theta*|^2 + c E[consensus] with c of eta and mu.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from suffice.bounds import Quantity, Theorem
from suffice.bounds.units import DIMENSIONLESS
from suffice.simulate.quadratic_forms import QuadraticForm, forms
from suffice.support.errors import InputError
from suffice.support.numbers import as_number

from .user_function import reading, renamed

_REMEDY = 'give a quantity by name, or weights by name: {"excess": 1.0, "last_consensus": lambda *, eta: 1 / eta}'


@dataclass(frozen=True, kw_only=True)
class Total(Quantity):
    """A sum of quantities, each with the weight that it has: a number >= 0 or a function of scalars."""

    weights: tuple[tuple[str, Any], ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return Total._of, (vars(self),)  # not one that is known by its name

    @classmethod
    def _of(cls, fields: dict[str, Any]) -> Total:
        return cls(**fields)


@dataclass(frozen=True, kw_only=True)
class Forms:
    """What is measured of an instance: one quadratic form, or several with their weights."""

    parts: tuple[tuple[QuadraticForm, Any], ...]

    @property
    def average(self) -> bool:
        return any(form.average for form, _ in self.parts)

    @property
    def levels(self) -> set[str]:
        """The scalars below which something stops: second moments do not tell when."""
        return {form.level for form, _ in self.parts if form.level}

    @property
    def mean_loss(self) -> bool:
        """Whether a bound's e0, distance2 and zeta2 are those of the clients' mean loss."""
        return any(form.mean_loss for form, _ in self.parts)

    @property
    def of_mean(self) -> bool:
        return any(form.of_mean for form, _ in self.parts)

    def weights(self, arguments: Mapping[str, Any]) -> list[Any]:
        """The weights (n,) at instances with these scalars (n,)."""
        found = []
        for form, weight in self.parts:
            value = weight
            if callable(weight):
                names = list(inspect.signature(weight).parameters)
                missing = [name for name in names if name not in arguments]
                if missing:
                    raise InputError("parameter", missing[0], f"the family gives {', '.join(arguments)}")
                value = weight(**{name: arguments[name] for name in names})
                worst = float(np.nan_to_num(np.asarray(value, dtype=float), nan=-np.inf, posinf=-np.inf).min())
                if worst < 0:
                    name = form.quantity.name.lower()
                    raise InputError(f"quantity[{name!r}]", worst, "give a weight that is finite and not negative")
            found.append(value)
        return found


def form_of(theorem: Theorem) -> Forms:
    """What its quantity is of second moments; `InputError` where they do not determine it."""
    if isinstance(theorem.quantity, Total):
        return Forms(parts=tuple((_known(name), weight) for name, weight in theorem.quantity.weights))
    return Forms(parts=((_known(theorem.quantity.name), 1.0),))


def quantity_of(given: Any, names: Mapping[str, Any] = MappingProxyType({})) -> Quantity:
    """The quantity of a name, or the sum that weights by name say; `InputError` where it is none. `names`: see
    `user_function.renamed`."""
    if not isinstance(given, Mapping):
        return _known(given).quantity
    if not given:
        raise InputError("quantity", given, _REMEDY)
    parts: list[tuple[str, Any]] = []
    words: list[str] = []
    for key, weight in given.items():
        form = _known(key)
        if callable(weight):
            keywords = ", ".join(inspect.signature(weight).parameters)
            weight, word = reading(renamed(weight, names), None).bound, f"c({keywords}) "
        else:
            weight = as_number(f"quantity[{key!r}]", weight, least=0)
            word = "" if weight == 1 else f"{weight:g} "
        parts.append((form.quantity.name, weight))
        words.append(f"{word}{form.quantity.expression}")
    text = " + ".join(words)
    return Total(name="SUM", expression=text, latex=rf"\text{{{text}}}", unit=DIMENSIONLESS, weights=tuple(parts))


def _known(given: Any) -> QuadraticForm:
    name = given.name.lower() if isinstance(given, Quantity) else str(given).lower().replace(" ", "_")
    if name not in forms():
        raise InputError("quantity", str(given), f"use {', '.join(forms())}")
    return forms()[name]
