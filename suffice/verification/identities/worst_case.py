"""Steps of the worst-case results."""

from __future__ import annotations

from typing import Any

from .proof_step import Identity, Step
from .vector import Vector, scalars, vectors


def one_step() -> Step:
    """eta beta A <= 1: h = A g + r y with |y| <= |g|, pull p = A - r >= 0. The farthest h from g/(eta beta) is p g.

    Any h with |h - A g| <= r |g| is of this form, at r = 0 (pull = weight, as for one client) as well.
    """
    eta, beta, V, p, r = scalars("eta beta V p r")
    g, y = vectors("g y")
    spare = 1 - eta * beta * (p + r)
    near = g @ g - y @ y
    return Step(
        left=_one_step_left(g, (p + r) * g + r * y),
        right=(1 - eta * beta * p) ** 2 * (g @ g) / (2 * beta) + eta**2 * beta / 2 * V,
        terms=[(eta**2 * beta * r**2 / 2, near), (eta * spare * r / 2, near), (eta * spare * r / 2, y + g)],
        positive=[beta],
        atoms=[eta, r, spare],
        facts=[near],
    )


def one_step_beyond() -> Step:
    """eta beta A >= 1: the farthest h is (A + r) g = (2 A - p) g."""
    eta, beta, V, p, r = scalars("eta beta V p r")
    g, y = vectors("g y")
    excess = eta * beta * (p + r) - 1
    near = g @ g - y @ y
    return Step(
        left=_one_step_left(g, (p + r) * g + r * y),
        right=(eta * beta * (p + 2 * r) - 1) ** 2 * (g @ g) / (2 * beta) + eta**2 * beta / 2 * V,
        terms=[(eta**2 * beta * r**2 / 2, near), (eta * excess * r / 2, near), (eta * excess * r / 2, y - g)],
        positive=[beta],
        atoms=[eta, r, excess],
        facts=[near],
    )


def _one_step_left(g: Vector, h: Vector) -> Any:
    """The left side that smoothness gives: -eta <g, h> + (eta^2 beta/2)(|h|^2 + V) + |g|^2/(2 beta)."""
    eta, beta, V = scalars("eta beta V")
    return -eta * (g @ h) + eta**2 * beta / 2 * (h @ h + V) + (g @ g) / (2 * beta)


def sharp_step() -> Step:
    """The value at the weights x_k = G p_k/(beta s_k (1 + G Y)), an equality, for any number of clients.

    With <x, y> = sum_k s_k x_k y_k for numbers of clients and v = (p_k/s_k): Y = sum_k p_k^2/s_k = <v, v>,
    sum_k p_k x_k = <v, x> and sum_k x_k^2 s_k = <x, x>.
    """
    beta, G = scalars("beta G")
    (v,) = vectors("v")
    growth = 1 + G * (v @ v)
    x = G / (beta * growth) * v
    return Step(
        left=G / (2 * beta) * (1 - beta * (v @ x)) ** 2 + beta / 2 * (x @ x),
        right=G / (2 * beta * growth),
        terms=[],
        positive=[beta, growth],
    )


def contraction() -> Step:
    """f(x - eta grad f(x)) - f* <= (1 - eta m)^2 (f(x) - f*) for eta (L + m) <= 2 (Taylor, Hendrickx, Glineur 2018).

    Facts are the interpolation inequalities of m-strongly convex, L-smooth functions between x, x+ and x* = 0; e and d
    are the excess before and after. What their combination leaves is a sum of two squares.
    """
    eta, m, L, e, d = scalars("eta m L e d")
    x, g, h = vectors("x g h")  # gradients g at x, h at x+
    none: Vector = 0 * x
    after, q, gap, room = x - eta * g, 1 - eta * m, L - m, 2 - eta * (L + m)

    def interpolation(one: tuple[Any, Vector, Vector], other: tuple[Any, Vector, Vector]) -> Any:
        (value, at, slope), (value_2, at_2, slope_2) = one, other
        move, turn = at - at_2, slope - slope_2
        square = turn @ turn + L * m * (move @ move) - 2 * m * (turn @ move)
        return value - value_2 - slope_2 @ move - square / (2 * gap)

    down = interpolation((e, x, g), (d, after, h))
    best_after = interpolation((0, none, none), (d, after, h))
    best_before = interpolation((0, none, none), (e, x, g))
    return Step(
        left=d,
        right=q**2 * e,
        terms=[
            (q, down),
            (eta * m, best_after),
            (q * eta * m, best_before),
            (1 / gap / 2, h + (1 - room) * g - (eta * L * m) * x),
            (L * eta * room / gap / 2, g - m * x),
        ],
        positive=[gap],
        atoms=[eta, m, L, q, room],
        facts=[down, best_after, best_before],
    )


def contraction_of_one_curvature() -> Step:
    """The same at m = L, where strong convexity and smoothness are one equality: f = f* + L |x|^2/2."""
    eta, L = scalars("eta L")
    (x,) = vectors("x")
    after = x - eta * (L * x)
    return Step(left=L / 2 * (after @ after), right=(1 - eta * L) ** 2 * (L / 2 * (x @ x)), terms=[])


IDENTITIES = (
    Identity(key="worst-case/one-step", says="farthest peers within the step limit", step=one_step),
    Identity(key="worst-case/one-step", says="farthest peers beyond it", step=one_step_beyond),
    Identity(key="worst-case/sharp-step", says="value at the best weights", step=sharp_step),
    Identity(key="worst-case/contraction", says="a gradient step contracts the loss", step=contraction),
    Identity(key="worst-case/contraction", says="the same at mu = beta", step=contraction_of_one_curvature),
)
