"""Elementary functions that let one text of a bound serve NumPy, mpmath and SymPy.

A bound is written once as a plain function. What it returns depends on what it is given:
floats and arrays take the numerically stable NumPy form, mpmath numbers the readable form at
any precision, SymPy symbols an expression (for LaTeX and for mutants). SymPy and mpmath are
never imported here: whoever passes their objects has imported them already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import reduce
from operator import sub
from typing import Any

import numpy as np

# What reaches `survive` as x has been rounded: a product eta * mu by u = 2^-53, the drift of
# Corollary 1 (a difference whose second term is at most 0.9 of the first) by at most 80u.
# Nudging x by 2^-46 = 128u in the safe direction makes 1 - x an upper bound of the true value,
# and x one in `fall`, even where 1 - x cancels completely.
_NUDGE = 2.0**-46
_SMALLEST = np.finfo(float).tiny


def library_of(*arguments):
    """SymPy or mpmath if an argument is theirs, else None: the arguments are floats."""
    for argument in arguments:
        root = (type(argument).__module__ or "sympy").partition(".")[0]  # its functions of a name have no module
        if root in ("sympy", "mpmath"):
            return sys.modules[root]
    return None


KEEP_NAMES: ContextVar[bool] = ContextVar("keep names", default=False)
"""Whether expressions keep, by name, the calls of those functions of this module that round in floats: programs in
another language have to round as well."""


def _written(library: Any, name: str, arguments: tuple[Any, ...], plain: Callable[[], Any]) -> Any:
    """An exact number, or an expression: `plain`, or the call of the function of that name."""
    if library.__name__ == "sympy" and KEEP_NAMES.get():
        return library.Function(name)(*arguments)
    return plain()


def survive(x, n):
    """(1 - x)^n, rounded up: the share that is left after n contractions by x."""
    if (library := library_of(x, n)) is not None:
        return _written(library, "survive", (x, n), lambda: (1 - x) ** n)
    x = np.asarray(x, dtype=float) * (1 - _NUDGE)
    with np.errstate(all="ignore"):
        stable = np.exp(n * np.log1p(-np.minimum(x, 1)))
        # an underflow to 0 would be a bound below the truth once it is multiplied by something large
        return np.where(x <= 1, np.maximum(stable, _SMALLEST), np.power(1 - x, n))[()]


def fall(x, n):
    """1 - (1 - x)^n, rounded up: the share that n contractions by x have removed."""
    if (library := library_of(x, n)) is not None:
        return _written(library, "fall", (x, n), lambda: 1 - (1 - x) ** n)
    x = np.asarray(x, dtype=float)
    nudged = np.where(x <= 1, np.minimum(x * (1 + _NUDGE), 1), x)
    with np.errstate(all="ignore"):
        stable = np.where(np.equal(n, 0), 0.0, -np.expm1(n * np.log1p(-np.minimum(nudged, 1))))
        return np.where(x <= 1, stable, 1 - np.power(1 - x, n))[()]


def spare(*terms):
    """1 - sum of terms, rounded down: what is left of one. The terms are >= 0 and carry at most 8 roundings."""
    if (library := library_of(*terms)) is not None:
        return _written(library, "spare", terms, lambda: reduce(sub, terms, 1))
    return 1 - sum(terms) * (1 + 2.0**-49)


def sqrt(x):
    """Square root."""
    return (library_of(x) or np).sqrt(x)


def log(x):
    """Natural logarithm."""
    return (library_of(x) or np).log(x)


def maximum(x, y):
    """The larger of two numbers, entry by entry."""
    return _extreme(x, y, np.maximum, "Max", max)


def minimum(x, y):
    """The smaller of two numbers, entry by entry."""
    return _extreme(x, y, np.minimum, "Min", min)


def _extreme(x, y, of_floats, of_expressions: str, of_numbers):
    """Texts are refused, which SymPy would evaluate as Python."""
    library = library_of(x, y)
    if library is None:
        return of_floats(x, y)
    if library.__name__ == "mpmath":
        return of_numbers(x, y)
    return getattr(library, of_expressions)(*(library.sympify(value, strict=True) for value in (x, y)))


def decay(x):
    """exp(-x), rounded up and never 0; x >= 0 carries at most eight roundings."""
    library = library_of(x)
    if library is not None:
        return _written(library, "decay", (x,), lambda: library.exp(-x))
    return np.maximum(np.exp(-np.asarray(x, dtype=float) * (1 - 2.0**-50)), _SMALLEST)[()]


def log1p(x):
    """ln(1 + x)."""
    library = library_of(x)
    return np.log1p(x) if library is None else _written(library, "log1p", (x,), lambda: library.log(1 + x))


def last_over_mean(n, x):
    """1 + (n^x - 1)/x for n >= 1 and x > 0, rounded up: 1 + ln n for small x."""
    if (library := library_of(n, x)) is not None:
        return _written(library, "last_over_mean", (n, x), lambda: (n**x + x - 1) / x)
    # x ln n carries 2 ulp, e^y y times that, y < 30 in use
    return (1 + np.expm1(x * np.log(n)) / x) * (1 + 2.0**-45)


def log_ratio(x, y):
    """ln(x / y) where x > y, else 0; rounded up in floats, where x and y carry at most four roundings."""
    if (library := library_of(x, y)) is not None:
        return _written(library, "log_ratio", (x, y), lambda: log(maximum(1, x / y)))
    return np.log(np.maximum(x / y * (1 + 2.0**-50), 1))


def up(x):
    """x >= 0, rounded up by sixteen roundings; what reaches it carries at most eight."""
    library = library_of(x)
    return x * (1 + 2.0**-49) if library is None else _written(library, "up", (x,), lambda: x)


def down(x):
    """x >= 0, rounded down by sixteen roundings."""
    library = library_of(x)
    return x * (1 - 2.0**-49) if library is None else _written(library, "down", (x,), lambda: x)


def difference(x, y):
    """x - y for x, y >= 0, rounded up, however much of them cancels."""
    library = library_of(x, y)
    return up(x) - down(y) if library is None else _written(library, "difference", (x, y), lambda: x - y)


def quotient(x, y):
    """x / y for x, y >= 0, and 0 where x is 0: the least r with x <= r y."""
    library = library_of(x, y)
    if library is None:
        with np.errstate(all="ignore"):
            return np.where(np.equal(x, 0), 0.0, np.divide(x, y))[()]
    if library.__name__ == "mpmath" and 0 in (x, y):
        return library.mpf(0) if x == 0 else library.inf
    return _written(library, "quotient", (x, y), lambda: x / y)


def times_log_ratio(a, x, y):
    """a ln(x / y), and 0 where a is 0: the limit if y falls to 0 no faster than a power of a."""
    library = library_of(a, x, y)
    if library is None:
        with np.errstate(all="ignore"):
            ratio = np.divide(x, y)
            # a ratio that overflows has a logarithm that does not; ln x - ln y > 700 then loses nothing
            ln = np.where(np.isinf(ratio), np.log(x) - np.log(y), np.log(ratio))
            return np.where(np.equal(a, 0), 0.0, a * ln)[()]
    if library.__name__ == "mpmath" and a == 0:
        return library.mpf(0)
    return _written(library, "times_log_ratio", (a, x, y), lambda: a * log(x / y))
