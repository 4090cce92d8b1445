"""Formal vectors: a step of a proof holds in every dimension because only their inner products appear."""

from __future__ import annotations

from typing import Any


class Vector:
    """A formal linear combination of basis vectors; `u @ v` is the inner product in Gram symbols."""

    def __init__(self, coefficients: dict[str, Any]) -> None:
        self.coefficients = coefficients

    def __add__(self, other: Vector) -> Vector:
        names = self.coefficients.keys() | other.coefficients.keys()
        return Vector({n: self.coefficients.get(n, 0) + other.coefficients.get(n, 0) for n in names})

    def __rmul__(self, factor: Any) -> Vector:
        return Vector({name: factor * value for name, value in self.coefficients.items()})

    def __neg__(self) -> Vector:
        return -1 * self

    def __sub__(self, other: Vector) -> Vector:
        return self + -1 * other

    def __matmul__(self, other: Vector) -> Any:
        import sympy

        total = sympy.Integer(0)
        for one, x in self.coefficients.items():
            for two, y in other.coefficients.items():
                total += x * y * sympy.Symbol("<{}, {}>".format(*sorted((one, two))), real=True)
        return total


def vectors(names: str) -> list[Vector]:
    """One basis vector per word."""
    return [Vector({name: 1}) for name in names.split()]


def scalars(names: str) -> Any:
    """Real symbols, one per word."""
    import sympy

    return sympy.symbols(names, real=True)


def ratio(one: int, other: int) -> Any:
    """An exact fraction."""
    import sympy

    return sympy.Rational(one, other)
