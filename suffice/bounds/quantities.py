"""The quantities that theorems bound; `quantities.csv` lists the library's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from suffice.support.errors import InputError

from .units import Unit, table, unit_of

_KNOWN: dict[str, Quantity] = {}


class _ByName(type):
    """`Quantity.EXCESS` is the quantity of that name, and `for quantity in Quantity` passes all of them."""

    def __getattr__(cls, name: str) -> Quantity:
        try:
            return _KNOWN[name]
        except KeyError:
            raise AttributeError(f"no quantity is called {name!r}") from None

    def __iter__(cls) -> Iterator[Quantity]:
        return iter(tuple(_KNOWN.values()))

    def __len__(cls) -> int:
        return len(_KNOWN)


@dataclass(frozen=True, kw_only=True)
class Quantity(metaclass=_ByName):
    """The quantity that a theorem bounds: its name, its expression in text and LaTeX, and its unit.

    `add_quantity` registers it: it is then an attribute of this class.
    """

    name: str
    expression: str
    latex: str
    unit: Unit

    @property
    def is_probability(self) -> bool:
        """A probability is at most 1."""
        return self.expression.startswith("P(")

    def __reduce__(self) -> tuple[Any, ...]:
        return new_quantity, (self.name, self.expression, self.latex, self.unit)  # the known object, in any process


def add_quantity(quantity: Quantity) -> Quantity:
    """Make a quantity known, and return the one object of its name; `InputError` where the name means another."""
    known = _KNOWN.setdefault(quantity.name, quantity)
    if known != quantity:
        raise InputError("quantity", quantity.name, f"it is the name of {known.expression}; choose another")
    return known


def new_quantity(name: str, expression: str, latex: str, unit: Unit) -> Quantity:
    """A quantity made known."""
    return add_quantity(Quantity(name=name, expression=expression, latex=latex, unit=unit))


for _row in table("quantities.csv"):
    new_quantity(_row["name"], _row["expression"], _row["latex"], unit_of(_row))
