"""Somebody's own function made to serve every route: arrays, 50 digits, and symbols for its wrong variants.

People write `math.exp`, `np.sqrt` or `max`. The first and last refuse arrays, all of them refuse SymPy symbols. A copy
of the function sees stand-ins under those names that pass each kind of number to its own library. What remains, such as
`if`, is asked one instance at a time, and then has no symbols: see `Reading`.
"""

from __future__ import annotations

import builtins
import decimal
import inspect
import math
import os
import random
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, reduce
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np
import torch

from suffice.bounds import elementary
from suffice.bounds.elementary import library_of
from suffice.bounds.symbolic import as_expression
from suffice.support.errors import InputError

from .decisions import decision

FUNCTIONS = "exp, expm1, log, log1p, log2, log10, sqrt, abs, min, max, minimum, maximum"
"""What `readable` understands of `math`, `numpy` and the built-in functions."""


def _exp(x: Any) -> Any:
    library = library_of(x)
    return np.exp(x) if library is None else library.exp(x)


def _expm1(x: Any) -> Any:
    return np.expm1(x) if library_of(x) is None else _exp(x) - 1


def _log(x: Any, base: Any = None) -> Any:
    return elementary.log(x) if base is None else elementary.log(x) / elementary.log(base)


def _power(x: Any, y: Any) -> Any:
    return x**y


def _square(x: Any) -> Any:
    return x**2


def _extreme(pick: Callable[[Any, Any], Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    def chosen(*values: Any, **options: Any) -> Any:
        entries = tuple(values[0]) if len(values) == 1 else values
        return plain(*values, **options) if options or not entries else reduce(pick, entries)

    return chosen


_SHARED: dict[str, Callable[..., Any]] = {
    "exp": _exp, "expm1": _expm1, "log": _log, "log1p": elementary.log1p, "log2": lambda x: _log(x, 2),
    "log10": lambda x: _log(x, 10), "sqrt": elementary.sqrt, "pow": _power, "fabs": abs,
}  # fmt: skip
_NUMPY = _SHARED | {
    "maximum": elementary.maximum, "minimum": elementary.minimum, "fmax": elementary.maximum,
    "fmin": elementary.minimum, "power": _power, "float_power": _power, "square": _square, "abs": abs, "absolute": abs,
}  # fmt: skip
_BUILTIN = {"max": _extreme(elementary.maximum, max), "min": _extreme(elementary.minimum, min), "pow": _power}


class _Library:
    """A module some of whose functions are replaced."""

    def __init__(self, module: ModuleType, given: dict[str, Any]) -> None:
        self._module = module
        vars(self).update(given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _stand_ins() -> dict[int, Any]:
    """id of what a function may hold -> what stands in for it."""
    found: dict[int, Any] = {}
    for module, table in ((math, _SHARED), (np, _NUMPY), (builtins, _BUILTIN)):
        given = {name: entry for name, entry in table.items() if hasattr(module, name)}
        found |= {id(getattr(module, name)): entry for name, entry in given.items()}
        if module is not builtins:
            found[id(module)] = _Library(module, given)
    return found


_STAND_INS = _stand_ins()


def adapted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a Python function in which `FUNCTIONS` serve all kinds of numbers; anything else as it is.

    Functions that it calls are not copied.
    """
    if not isinstance(function, FunctionType):
        return function
    names = {name: value for name, value in function.__globals__.items() if name in function.__code__.co_names}
    swapped = {name: _STAND_INS[id(value)] for name, value in names.items() if id(value) in _STAND_INS}
    swapped |= {name: _BUILTIN[name] for name in function.__code__.co_names if name in _BUILTIN and name not in names}
    cells = tuple(_cell(cell) for cell in function.__closure__ or ())
    copy = FunctionType(
        function.__code__, function.__globals__ | swapped, function.__name__, function.__defaults__, cells
    )
    copy.__kwdefaults__, copy.__doc__, copy.__module__ = function.__kwdefaults__, function.__doc__, function.__module__
    copy.__dict__.update(function.__dict__ | {_SOURCE: function})  # a decorator keeps the keywords in `__wrapped__`
    return copy


_SOURCE = "suffice_adapted_from"


def _decision(function: Any) -> str:
    """See `decisions`; of a renamed function all that it calls."""
    parts = (function.function, *function.given.values()) if isinstance(function, _Renamed) else (function,)
    sources = (getattr(each, _SOURCE, each) for each in parts if callable(each))
    return next(filter(None, (decision(each, _STAND_INS) for each in sources)), "")


def _cell(cell: CellType) -> CellType:
    try:
        stand_in = _STAND_INS.get(id(cell.cell_contents))
    except ValueError:  # not bound yet
        return cell
    return cell if stand_in is None else CellType(stand_in)


@dataclass(frozen=True)
class _Renamed:
    """A function of other keywords. It is no Python function, so that `adapted` leaves it alone."""

    function: Callable[..., Any]
    given: dict[str, Any]
    __signature__: inspect.Signature
    __name__: str
    __doc__: str | None

    def __call__(self, **values: Any) -> Any:
        def one(meant: Any) -> Any:
            if not callable(meant):
                return values[meant]
            return meant(**{name: values[name] for name in inspect.signature(meant).parameters})

        return self.function(**{name: one(meant) for name, meant in self.given.items()})


def renamed(function: Callable[..., Any], names: Mapping[str, Any]) -> Callable[..., Any]:
    """`function` with its own keywords as `names` says: each is another's name, or a function of others."""
    try:
        own = inspect.signature(function).parameters
    except (TypeError, ValueError):  # of a type such as int, which is refused elsewhere
        return function
    if not names.keys() & own.keys():
        return function
    given = {name: names.get(name, name) for name in own}
    given = {name: adapted(meant) if callable(meant) else meant for name, meant in given.items()}
    keywords: list[str] = []
    for meant in given.values():
        keywords += inspect.signature(meant).parameters if callable(meant) else [meant]
    kind = inspect.Parameter.KEYWORD_ONLY
    signature = inspect.Signature([inspect.Parameter(name, kind) for name in dict.fromkeys(keywords)])
    name = getattr(function, "__name__", type(function).__name__)
    return _Renamed(adapted(function), given, signature, name, inspect.getdoc(function))


@dataclass(frozen=True, kw_only=True)
class Reading:
    """`bound` and `conditions` serve arrays; `opaque` says why the bound gives no expression, "" where it does."""

    bound: Callable[..., Any]
    conditions: Callable[..., Any] | None
    opaque: str


def reading(bound: Callable[..., Any], conditions: Callable[..., Any] | None) -> Reading:
    """Somebody's functions of scalars as the engines need them, or `InputError`: see `verify.check.check`."""
    served = None if conditions is None else _of_arrays("conditions", conditions, _pairs)
    return Reading(
        bound=_of_arrays("bound", bound, _number),
        conditions=served,
        opaque=_opaque(adapted(bound)) or _decision(bound),
    )


def _of_arrays(field: str, own: Callable[..., Any], checked: Callable[..., Any]) -> Callable[..., Any]:
    """`own` of arrays by keyword, asked one instance at a time if it cannot take them; its results are checked. It
    refuses symbols where it may decide by a value."""
    served = _Served(field, own, checked)

    def many(**values: Any) -> Any:
        return served.many(**values)

    kind = inspect.Parameter.KEYWORD_ONLY
    many.__dict__["__signature__"] = inspect.Signature(
        [inspect.Parameter(name, kind) for name in inspect.signature(served.function).parameters]
    )
    many.__name__, many.__doc__ = served.name, served.function.__doc__
    return many


class _Served:
    """One of somebody's functions, and what it has answered."""

    def __init__(self, field: str, own: Callable[..., Any], checked: Callable[..., Any]) -> None:
        self.field, self.function, self.decides, self.checked = field, adapted(own), _decision(own), checked
        self.name = getattr(self.function, "__name__", field)
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
        except Exception as error:
            given = ", ".join(f"{name}={value:.4g}" for name, value in values.items())
            why = f"it fails at {given} ({type(error).__name__}: {error}); use arithmetic and {FUNCTIONS}"
            raise InputError(self.field, self.name, why) from error

    def due(self) -> bool:
        """Whether to ask for the first instance again: after 1, 2, 4, 8, ... calls."""
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
            if self.decides and getattr(library, "__name__", "") == "sympy":
                raise InputError(self.field, self.name, f"no formula can be read from it: {self.decides}")
            with np.errstate(all="ignore"):
                return self.one(**values) if library is None else self.function(**values)
        columns = np.broadcast_arrays(*values.values())
        ends: list[dict[str, float]] = []
        if columns[0].size and self.due():
            ends = [dict(zip(values, map(float, row))) for row in zip(*(column[[0, -1]] for column in columns))]
        found = None
        if self.together:
            try:
                with np.errstate(all="ignore"):
                    found = self.checked(self.field, self.function(**values), columns[0].shape)
            except InputError:
                raise
            except Exception:  # `if`, or a function that takes one number only
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
    """What a function returned of one instance of an array of them, as plain numbers."""
    sides = [side for pair in result.values() for side in pair] if isinstance(result, dict) else [result]
    return [float(np.broadcast_to(side, shape)[(place,) * len(shape)]) for side in sides]


def _alike(one: list[float], other: list[float], tolerance: float) -> bool:
    """Equal but for a share of their size; what is no number is equal to itself."""
    with np.errstate(all="ignore"):
        return len(one) == len(other) and all(
            x == y or (x != x and y != y) or abs(x - y) <= tolerance * max(abs(x), abs(y)) for x, y in zip(one, other)
        )


@contextmanager
def settings_kept() -> Generator[None]:
    """What a function of a user's may change of its process is put back: how NumPy treats errors, the states of random
    numbers (Python's, NumPy's, torch's), torch's default type, the folder, the precision of decimal and mpmath."""
    import mpmath

    shared = np.random.get_state()  # noqa: NPY002
    states = random.getstate(), shared, torch.get_rng_state(), torch.get_default_dtype()
    try:
        folder = os.getcwd()
    except OSError:  # it was deleted
        folder = ""
    try:
        with np.errstate(), decimal.localcontext(), mpmath.workprec(mpmath.mp.prec):
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
        torch.set_rng_state(states[2])
        torch.set_default_dtype(states[3])
        if folder:
            os.chdir(folder)


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


def _opaque(function: Callable[..., Any]) -> str:
    """Why `function` of SymPy symbols gives no expression; "" where it does."""
    import sympy

    names = inspect.signature(function).parameters
    try:
        with sympy.evaluate(False):
            value = function(**{name: sympy.Symbol(name, positive=True) for name in names})
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    try:
        as_expression(value)
    except InputError:
        return f"it returns {type(value).__name__}"
    return ""
