"""The Bayes risk of a sign: s = +-1, equally likely, is seen through T ~ N(s u, 1); how well can it be estimated?

The posterior mean is tanh(u T). Its risk E(s - tanh(uT))^2 = E[(1 - tanh(uT))^2 | s = 1] is R(u). Since the risk is
also 1 - E tanh(uT)^2 = E sech(uT)^2, and the mixture of both signs has the density phi(t) exp(-u^2/2) cosh(ut),
    R(u) = exp(-u^2/2) E sech(uZ),   Z ~ N(0, 1):
nothing cancels. sech x >= exp(-x^2/2) gives R(u) >= exp(-u^2): Newton's method for u^2 starts below the answer.

Quadrature: the trapezoidal rule of step h is off by at most about exp(a^2/2 - 2 pi a/h) / cos(ua) for every a below
pi/(2u), where sech has its first pole (shift the line of integration by a; the Gaussian grows by exp(a^2/2)).
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .elementary import library_of, log, sqrt

_DIGITS = 41.0  # natural logarithm of the float quadrature's accuracy: 1e-18
_AT_ONCE = 2**13  # terms of the quadrature that are computed together
_NUDGE = 2.0**-48  # sixteen roundings: of the argument, and of the quadrature


def risk(u):
    """R(u), rounded down."""
    library = library_of(u)
    if library is None:
        u = np.asarray(u, dtype=float)
        with np.errstate(all="ignore"):
            known = np.exp(-(u**2) * (1 + _NUDGE) / 2) * _moments(np.where(u < 1e3, u, 1e3))[0] * (1 - _NUDGE)
        return np.where(u < 1e3, known, 0.0)[()]
    if library.__name__ == "sympy":
        return _symbolic().risk(u)
    if library.isinf(u):
        return library.mpf(0)
    with library.workprec(library.mp.prec + 30):
        return library.exp(-(u**2) / 2) * _moments(u)[0]


def inverse_risk(rho):
    """The u with R(u) = rho, rounded down; 0 for rho >= 1."""
    library = library_of(rho)
    if library is None:
        rho = np.asarray(rho, dtype=float) * (1 + _NUDGE)
        with np.errstate(all="ignore"):
            inside = (rho < 1) & (rho > 0)
            v = -(target := np.log(np.where(inside, rho, 0.5)))
            for _ in range(5):
                v = _newton_step(v, target)
        return np.where(inside, np.sqrt(v * (1 - _NUDGE)), np.where(rho <= 0, np.inf, 0.0))[()]
    if library.__name__ == "sympy":
        return _symbolic().inverse_risk(rho)
    if rho >= 1 or rho <= 0:
        return library.mpf(0) if rho >= 1 else library.inf
    near_one = max(0, -library.mag(1 - rho))  # bits that ln R - ln rho loses
    precisions = [library.mp.prec + 20]
    while precisions[0] > 60:  # a Newton step doubles the correct bits
        precisions.insert(0, precisions[0] // 2 + 12)
    v = -library.log(rho)
    for precision in [precisions[0]] * 4 + precisions:
        with library.workprec(precision + near_one + 30):
            v = _newton_step(v, library.log(rho))
    return library.sqrt(v)


def _newton_step(v, target):
    """The next v = u^2 on the way to ln R = `target`. The slope in v runs from -1 to -1/2: it is reached from below."""
    u = sqrt(v)
    mass, slope = _moments(u)
    return v + (log(mass) - v / 2 - target) / (0.5 + slope / (2 * u * mass))


def _step(u, digits) -> tuple[Any, Any]:
    """Step of the quadrature and number of nodes on one side, for an error of exp(-digits)."""
    shift = np.minimum(1.4 / np.maximum(u, 1e-9), math.sqrt(2 * digits))
    step = 2 * math.pi * shift / (digits + shift**2 / 2 + 3)
    return step, np.minimum(math.sqrt(2 * digits), (digits + 1) / np.maximum(u, 1e-9)) / step


def _moments(u) -> tuple[Any, Any]:
    """E sech(uZ) and E Z sech(uZ) tanh(uZ) = -(d/du) E sech(uZ)."""
    if (mpmath := library_of(u)) is not None:
        step, nodes = map(mpmath.mpf, _step(float(u), mpmath.mp.prec * math.log(2)))
        # exp(-z^2/2) and exp(-uz) by recurrence: exp(-(k + 1)^2 h^2/2) = exp(-k^2 h^2/2) exp(-h^2/2) exp(-k h^2)
        gauss, ratio, power = mpmath.mpf(1), mpmath.exp(-(step**2) / 2), mpmath.exp(-(step**2))
        faint, fading = mpmath.mpf(1), mpmath.exp(-u * step)
        mass, slope = mpmath.mpf(0.5), mpmath.mpf(0)
        for node in range(1, int(nodes) + 2):
            gauss, ratio, faint = gauss * ratio, ratio * power, faint * fading
            square = faint * faint
            weight = 2 * gauss * faint / (1 + square)
            mass, slope = mass + weight, slope + node * weight * (1 - square) / (1 + square)
        scale = 2 * step / mpmath.sqrt(2 * mpmath.pi)
        return scale * mass, scale * step * slope
    step, nodes = _step(u, _DIGITS)
    sums = np.stack((np.full_like(u, 0.5), np.zeros_like(u)))
    count, last = max(1, _AT_ONCE // max(np.size(u), 1)), int(np.max(nodes, initial=0)) + 2
    for node in range(1, last, count):
        z = np.arange(node, min(node + count, last)).reshape(-1, *[1] * np.ndim(u)) * step
        weight = 1 / np.cosh(np.minimum(u * z, 700)) * np.exp(-(z**2) / 2)
        terms = np.stack((weight, weight * z * np.tanh(u * z)), axis=1)
        terms[0] += sums
        sums = np.add.accumulate(terms)[-1]  # in order: the same digits alone and among many
    scale = 2 * step / math.sqrt(2 * math.pi)
    return scale * sums[0], scale * sums[1]


@functools.cache
def _symbolic() -> Any:
    """The two functions as SymPy functions: undefined for algebra, with values and a name for LaTeX."""
    import types

    import mpmath
    import sympy

    class Undefined(sympy.Function):
        nargs = 1
        letter: str
        _imp_: Any  # what sympy.lambdify calls

        def _eval_evalf(self, prec: int) -> Any:
            argument: Any = self.args[0]
            with mpmath.workprec(prec + 10):
                return sympy.Float(self._imp_(argument._to_mpmath(prec + 10)), precision=prec)

        def _latex(self, printer: Any, exp: str | None = None) -> str:
            power = "" if exp is None else f"^{{{exp}}}"
            return rf"{self.letter}\left({printer._print(self.args[0])}\right){power}"

    names = {"risk": ("R", risk), "inverse_risk": ("R^{-1}", inverse_risk)}
    found = {name: type(name, (Undefined,), {"letter": x, "_imp_": staticmethod(f)}) for name, (x, f) in names.items()}
    return types.SimpleNamespace(**found)
