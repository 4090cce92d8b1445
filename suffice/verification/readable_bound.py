"""Somebody's own function made to serve every route: arrays, 50 digits, and symbols for its wrong variants.

People write `math.exp`, `np.sqrt` or `max`. The first and last refuse arrays, all of them refuse SymPy symbols. A copy
of the function sees stand-ins under those names that pass each kind of number to its own library. What remains, such as
`if`, is asked one instance at a time, and then has no symbols: see `opaque`.
"""

from __future__ import annotations

import builtins
import decimal
import inspect
import math
import operator
import os
import random
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache, partial
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
import torch

from suffice.bounds import elementary
from suffice.bounds.elementary import library_of
from suffice.bounds.symbolic import as_expression, on_symbols
from suffice.support.errors import InputError

from .tracer import Copy, Formula, NoFormula, extreme

FUNCTIONS = "exp, expm1, log, log1p, log2, log10, sqrt, abs, min, max, minimum, maximum"
"""The functions of `math`, `numpy` and Python that formulas are read from."""


def _exp(x: Any) -> Any:
    library = library_of(x)
    return np.exp(x) if library is None else library.exp(x)


def _log(x: Any, base: Any = None) -> Any:
    return elementary.log(x) if base is None else elementary.log(x) / elementary.log(base)


def _whole(name: str) -> Callable[[Any], Any]:
    """`floor` or `ceil`: of symbols there is no formula."""
    return lambda x: getattr(np if library_of(x) is None else math, name)(x)


_SHARED: dict[str, Callable[..., Any]] = {
    "exp": _exp, "expm1": lambda x: np.expm1(x) if library_of(x) is None else _exp(x) - 1, "log": _log,
    "log1p": elementary.log1p, "log2": lambda x: _log(x, 2), "log10": lambda x: _log(x, 10), "sqrt": elementary.sqrt,
    "pow": operator.pow, "fabs": abs, "ceil": _whole("ceil"), "floor": _whole("floor"),
}  # fmt: skip
_NUMPY = _SHARED | {
    "maximum": elementary.maximum, "minimum": elementary.minimum, "fmax": elementary.maximum,
    "fmin": elementary.minimum, "power": operator.pow, "float_power": operator.pow, "square": lambda x: x**2,
    "abs": abs, "absolute": abs,
}  # fmt: skip
_BUILTIN = {"max": extreme(elementary.maximum, max), "min": extreme(elementary.minimum, min), "pow": operator.pow}
_STAND_INS: dict[int, Any] = {
    id(getattr(module, name)): entry
    for module, table in ((math, _SHARED), (np, _NUMPY), (builtins, _BUILTIN))
    for name, entry in table.items()
    if hasattr(module, name)
}
_ANSWERS: dict[int, Any] = {id(each): each for each in vars(elementary).values() if isinstance(each, FunctionType)}
_ANSWERS |= _STAND_INS | {id(max): elementary.maximum, id(min): elementary.minimum}
del _ANSWERS[id(library_of)]  # it tells the kinds of numbers apart
_STAND_INS |= {id(each): SimpleNamespace(**vars(each) | given) for each, given in ((math, _SHARED), (np, _NUMPY))}


def renamed(
    function: Callable[..., Any], names: Mapping[str, Any], known: Callable[[str], bool] = lambda name: True
) -> Callable[..., Any]:
    """`function` with its own keywords as `names` says: each is another's name, or a function of others; without those
    that have a value of their own, by `functools.partial` or, where nothing else is `known` to give one, by default."""
    try:
        own = dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # of a type such as int, which is refused elsewhere
        return function
    bound = function.keywords if isinstance(function, partial) else {}
    left = [name for name, each in own.items() if name not in bound and (each.default is each.empty or known(name))]
    if len(left) == len(own) and not names.keys() & own.keys():
        return function
    meanings, keywords = [], dict[str, None]()
    for name in left:
        meant = names.get(name, name)
        takes = tuple(inspect.signature(meant).parameters) if callable(meant) else None
        meanings.append((name, meant, takes))
        keywords |= dict.fromkeys([meant] if takes is None else takes)
    meanings = tuple(meanings)

    def call(**values: Any) -> Any:
        given = {}
        for name, meant, takes in meanings:
            given[name] = values[meant] if takes is None else meant(**{each: values[each] for each in takes})
        return function(**given)

    return _named(call, keywords, function)


def _named(call: Any, keywords: Iterable[str], function: Callable[..., Any]) -> Callable[..., Any]:
    """`call` with these keywords, named as `function` is."""
    kind = inspect.Parameter.KEYWORD_ONLY
    call.__dict__["__signature__"] = inspect.Signature([inspect.Parameter(name, kind) for name in keywords])
    call.__name__ = getattr(function, "__name__", type(function).__name__)
    call.__doc__, call.__module__ = inspect.getdoc(function), getattr(function, "__module__", "")
    return call


def adapted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a Python function in which `FUNCTIONS` serve all kinds of numbers, as in those that it calls of the
    same file; anything else as it is."""
    return Copy(function, _STAND_INS).copy_of(function)


def served(own: Callable[..., Any], field: str = "bound") -> Callable[..., Any]:
    """Somebody's bound of scalars, or `conditions`, as the engines need them: of arrays by keyword, asked one instance
    at a time if it cannot take them; what it returns is checked. Of symbols it gives a formula, or refuses: see
    `tracer`."""
    answers = _Served(field, own, _number if field == "bound" else _pairs)

    def many(**values: Any) -> Any:
        return answers.many(**values)

    return _named(many, inspect.signature(own).parameters, own)


class _Served:
    """One of somebody's functions, and what it has answered."""

    def __init__(self, field: str, own: Callable[..., Any], checked: Callable[..., Any]) -> None:
        self.field, self.checked, self.name = field, checked, getattr(own, "__name__", field)
        self.function, self.formula = adapted(own), Formula(own, _ANSWERS)
        self.calls, self.together = 0, True
        self.first: tuple[dict[str, float], Any] | None = None  # instance asked for, with what the function returned
        # a search asks for the same instances several times
        self.known = lru_cache(maxsize=1 << 15)(lambda keys, row: self.one(**dict(zip(keys, row))))

    def one(self, **values: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                floats = {key: np.float64(value) for key, value in values.items()}
                return self.checked(self.field, self.function(**floats), ())
        except InputError:
            raise
        except OverflowError:
            return self.checked(self.field, math.inf, ())
        except ZeroDivisionError:  # of Python's floats: NumPy's give what is no number, too
            return self.checked(self.field, math.nan, ())
        except Exception as error:
            given = ", ".join(f"{name}={value:.4g}" for name, value in values.items())
            why = f"it fails at {given} ({type(error).__name__}: {error}); use arithmetic and {FUNCTIONS}"
            raise InputError(self.field, self.name, why) from error

    def due(self) -> bool:
        """Return True after 1, 2, 4, 8, ... calls, when the first instance is asked for again."""
        self.calls += 1
        return self.calls & (self.calls - 1) == 0

    def ask_again(self, row: dict[str, float]) -> None:
        """`InputError` where the first instance, which is `row` if there was none, now has another value."""
        if self.first is None:
            self.first = row, self.one(**row)
        asked, answer = self.first
        before, after = _numbers(answer), _numbers(self.one(**asked))
        if not _alike(before, after, 0.0):
            given = ", ".join(f"{key}={value:.6g}" for key, value in asked.items())
            apart = next(((x, y) for x, y in zip(before, after) if x != y), (len(before), len(after)))
            why = f"it is no function: at {given} it returns {apart[0]!r} and then {apart[1]!r}; "
            raise InputError(self.field, self.name, why + "return the same for the same arguments")

    def many(self, **values: Any) -> Any:
        if not any(isinstance(value, np.ndarray) and value.ndim for value in values.values()):
            library = library_of(*values.values())
            if library is None:
                return self.one(**values)
            try:
                if library.__name__ == "sympy":
                    return self.formula.value(**values)
                return self.formula.value(lambda each: library.mpf(each.numerator) / each.denominator, **values)
            except NoFormula as why:
                if library.__name__ == "sympy":
                    raise InputError(self.field, self.name, f"{_UNREADABLE}{why}") from None
                return self.function(**values)
        columns = np.broadcast_arrays(*values.values())
        ends: list[dict[str, float]] = []
        if columns[0].size and self.due():
            ends = [dict(zip(values, map(float, row))) for row in zip(*(column[[0, -1]] for column in columns))]
        found = None
        if self.together:
            try:
                with np.errstate(all="ignore"):
                    found = self.checked(self.field, self.function(**values), columns[0].shape)
            except Exception:  # `if`, or a function that takes one number only, or gives fractions an array of objects
                self.together = False
        try:
            for place, row in zip((0, -1), ends):
                self.ask_again(row)
                if found is not None:
                    # an array's maximum, say, is no maximum of one instance's numbers; last places may differ
                    alike = _alike(_numbers(found, columns[0].shape, place), _numbers(self.one(**row)), 1e-6)
                    self.together &= alike
        except InputError as error:
            if found is None or "it is no function" in str(error):
                raise  # else it takes arrays alone
        if found is not None and self.together:
            return found
        return _joined([self.known(tuple(values), tuple(map(float, row))) for row in zip(*columns)])


def _numbers(result: Any, shape: tuple[int, ...] = (), place: int = 0) -> list[float]:
    """Return a function's result at one instance of an array of them as plain numbers."""
    sides = [side for pair in result.values() for side in pair] if isinstance(result, dict) else [result]
    return [float(np.broadcast_to(side, shape)[(place,) * len(shape)]) for side in sides]


def _alike(one: list[float], other: list[float], tolerance: float) -> bool:
    """Whether two lists are equal up to `tolerance`, a share of the larger number; a NaN is equal to a NaN."""
    with np.errstate(all="ignore"):
        return len(one) == len(other) and all(
            x == y or (x != x and y != y) or abs(x - y) <= tolerance * max(abs(x), abs(y)) for x, y in zip(one, other)
        )


@contextmanager
def settings_kept() -> Generator[None]:
    """Whatever a user's function may change of its process is put back: how NumPy treats errors, the states of random
    numbers (Python's, NumPy's, torch's), torch's default type, the folder, the precision of decimal and mpmath."""
    import mpmath

    with ExitStack() as kept:
        for each in (np.errstate(), decimal.localcontext(), mpmath.workprec(mpmath.mp.prec)):
            kept.enter_context(each)
        kept.callback(random.setstate, random.getstate())
        kept.callback(np.random.set_state, np.random.get_state())  # noqa: NPY002
        kept.callback(torch.set_rng_state, torch.get_rng_state())
        kept.callback(torch.set_default_dtype, torch.get_default_dtype())
        with suppress(OSError):  # it was deleted
            kept.callback(os.chdir, os.getcwd())
        yield


def _joined(rows: list[Any]) -> Any:
    """Results of single instances as those of arrays; a condition that one instance does not name is met there."""
    if not rows or not isinstance(rows[0], dict):
        return np.array(rows, dtype=float)
    names = list(dict.fromkeys(name for row in rows for name in row))
    sides = {name: np.array([row.get(name, (0.0, 0.0)) for row in rows], dtype=float) for name in names}
    return {name: (pair[:, 0], pair[:, 1]) for name, pair in sides.items()}


def _number(field: str, value: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1e300:
        value = float(value)  # NumPy makes no number of a long one
    array = np.asarray(value)
    if array.dtype.kind in "iuf" and array.shape in ((), shape):
        return value
    raise InputError(field, value, "return one number")


def _pairs(field: str, value: Any, shape: tuple[int, ...]) -> Any:
    remedy = 'return {name: (lhs, rhs)}, meaning lhs <= rhs, such as {"eta <= 1/beta": (eta, 1 / beta)}'
    if not isinstance(value, dict):
        raise InputError(field, value, remedy)
    for name, sides in value.items():
        if not isinstance(sides, tuple | list) or len(sides) != 2:
            first = np.ravel(sides)[0] if isinstance(sides, np.ndarray) and sides.size else sides
            raise InputError(f"{field}[{name!r}]", first, remedy)
        for side in sides:
            _number(f"{field}[{name!r}]", side, shape)
    return value


_UNREADABLE = "no formula can be read from it: "


def opaque(bound: Any) -> str:
    """Say why the bound gives no expression of SymPy symbols; "" where it gives one."""
    try:
        as_expression(on_symbols(bound))
    except (InputError, TypeError) as error:  # SymPy's own, of a truth value
        return str(error).rpartition(_UNREADABLE)[2]
    return ""
