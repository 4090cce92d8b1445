"""Minkowski's inequality, a step of several proofs."""

from __future__ import annotations

from .proof_step import Step
from .vector import scalars, vectors


def minkowski() -> Step:
    """|a x + b y|^2 <= (a + b)^2 X for |x|^2, |y|^2 <= X: a vector of norm at most a sqrt(X) is a x, if a = 0 too."""
    a, b, X = scalars("a b X")
    x, y = vectors("x y")
    one, other = X - x @ x, X - y @ y
    both = a * x + b * y
    return Step(
        left=both @ both,
        right=(a + b) ** 2 * X,
        terms=[(a**2, one), (a * b, one), (b**2, other), (a * b, other), (a * b, x - y)],
        atoms=[a, b],
        facts=[one, other],
    )
