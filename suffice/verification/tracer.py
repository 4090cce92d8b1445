"""The formula of a function, read by calling a copy of it with tracers: they do arithmetic and answer no question.

SymPy's symbols answer every question: `T == 7777` is False of a symbol, `bool(T)` True. A formula read from them is the
function itself only where it asks nothing. A tracer carries an expression and refuses what is no arithmetic; that is
kept, so that `finally` does not hide it. The copy sees nothing that could tell one call from another: what it holds is
copied too, of modules, classes and objects only attributes are read, and the unknown is refused once it is used. What
it holds must be the same after the call.
"""

from __future__ import annotations

import builtins
import dis
import fractions
import inspect
import math
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial, reduce
from types import CellType, CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

_QUESTIONS = {
    "it compares values": "eq ne lt le gt ge contains hash",
    "it decides by a value": "bool",
    "it makes a text of a value": "str repr format bytes",
    "it changes an object": "setattr delattr setitem delitem",
    "it does more than arithmetic": "float int index complex round trunc floor ceil floordiv rfloordiv mod rmod divmod "
    "rdivmod len length_hint iter next reversed getitem call enter exit await aiter anext aenter aexit matmul rmatmul "
    "and rand or ror xor rxor lshift rlshift rshift rrshift invert",
}
_TWO = ("add", "sub", "mul", "truediv", "pow")
_ARITHMETIC = {name: getattr(operator, name) for name in (*_TWO, "neg", "pos", "abs")}
_ARITHMETIC |= {f"r{name}": lambda one, other, name=name: _ARITHMETIC[name](other, one) for name in _TWO}
_SAFE = [
    abs, all, any, bool, complex, dict, divmod, enumerate, filter, float, int, iter, len, list, map, next, pow, range,
    reversed, round, set, slice, sorted, str, sum, tuple, zip, Fraction, reduce,
]  # fmt: skip
_SAFE += [each for each in vars(builtins).values() if isinstance(each, type) and issubclass(each, BaseException)]
_KNOWN = {id(each): each for each in (*_SAFE, *filter(callable, vars(math).values()))} | {id(np.float64): float}
"""The callables, by id, that do arithmetic with tracers or ask them questions, which they refuse."""
_PLAIN = (bool, int, float, complex, str, Fraction, type(None), type(...))
_INSTRUCTIONS = {"PUSH_EXC_INFO": "it catches exceptions", "IS_OP": "it asks which object a value is"}
"""Instructions no object can refuse: numbers may fail where tracers do not (1 / 0), `max` may return its argument."""
_LOOKING = {"gi_frame", "cr_frame", "ag_frame", "tb_frame", "format", "format_map"}
"""Attributes by which code sees who calls it, or reads further attributes, as all do that begin and end with "__"."""


class NoFormula(Exception):
    """A function gives no formula; the message says why in one line."""


class _NonArithmeticUse(BaseException):
    """A question that is no arithmetic; `except Exception` does not catch it."""


class _Opaque:
    """An object that refuses everything; `_own` is the `Formula` that it belongs to, and what it stands for."""

    __slots__ = ("_own",)

    def __init__(self, formula: Formula, held: Any) -> None:
        object.__setattr__(self, "_own", (formula, held))

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":  # arithmetic of fractions looks for their own kind, and leaves it to the other
            frame: Any = sys._getframe(1)
            while frame.f_globals.get("__name__") == "abc":
                frame = frame.f_back
            asks = frame.f_code.co_name in ("forward", "reverse", "__pow__", "__rpow__")
            if asks and frame.f_globals is vars(fractions):
                return _Opaque
        return _refuse(self, f"it reads {name} of a value")


_own: Callable[[Any], tuple[Formula, Any]] = vars(_Opaque)["_own"].__get__


def _refuse(of: Any, what: str, *_: Any, **__: Any) -> Any:
    formula, held = _own(of)
    name = getattr(held, "__name__", type(held).__name__)
    return formula.refuse(f"it uses {name}, of which nothing is known" if type(of) is ObjectProxy else what)


class Tracer(_Opaque):
    """A number that nobody may look at: an expression to calculate with."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's numbers leave arithmetic to it


class ObjectProxy(_Opaque):
    """A module, a class or an object: its attributes are read, the methods that Python defines are called."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        formula, held = _own(self)
        found = inspect.getattr_static(held, name, formula)  # of the last nothing is known
        if found is formula or name.startswith("__") or isinstance(type(held).__getattribute__, FunctionType):
            return _refuse(self, "")
        if isinstance(held, type | ModuleType) or name in getattr(held, "__dict__", ()):
            return formula.copy_of(found)
        if type(found) is FunctionType:
            return MethodType(formula.copy_of(found), self)
        if type(found) is property:
            return formula.copy_of(found.fget)(self)
        if type(found) is MemberDescriptorType:
            return formula.copy_of(found.__get__(held))
        return _refuse(self, "") if hasattr(type(found), "__get__") else formula.copy_of(found)

    def __call__(self, *values: Any, **named: Any) -> Any:
        formula, held = _own(self)
        found = inspect.getattr_static(type(held), "__call__", None)
        return formula.copy_of(found)(self, *values, **named) if type(found) is FunctionType else _refuse(self, "")


def _of_tracer(self: Tracer, operation: Callable[..., Any], *others: Any) -> Any:
    formula, own = _own(self)
    numbers = list(map(formula.number, others))
    return Tracer(formula, operation(own, *numbers))


def _method(action: Callable[..., Any], given: Any) -> Callable[..., Any]:
    return lambda self, *others, **named: action(self, given, *others, **named)


for _what, _names in _QUESTIONS.items():
    for _name in _names.split():
        setattr(_Opaque, f"__{_name}__", _method(_refuse, _what))
for _name, _operation in _ARITHMETIC.items():
    setattr(_Opaque, f"__{_name}__", _method(_refuse, "it does more than arithmetic"))
    setattr(Tracer, f"__{_name}__", _method(_of_tracer, _operation))


class Copy:
    """One of somebody's functions, copied: `answers` serve in place of functions and modules with their ids. Where it
    is `near` the functions of another module, such as a library's, are left as they are."""

    near = True

    def __init__(self, function: Callable[..., Any], answers: Mapping[int, Any]) -> None:
        self.answers = answers
        self.made: dict[int, tuple[Any, Any]] = {}  # id -> copy, and the original, so that no id is used twice
        self.watched: list[tuple[Any, list[Any]]] = []  # what may change, with the contents that it had
        self.function = function

    def copy_of(self, value: Any) -> Any:
        """The copy of what the function holds or calls."""
        if id(value) not in self.made:
            self.made[id(value)] = self.copied(value), value
        return self.made[id(value)][0]

    def copied(self, value: Any) -> Any:
        if id(value) in self.answers:
            return self.answers[id(value)]
        if type(value) is tuple:
            return tuple(map(self.copy_of, value))
        return self.copied_function(value, dict(value.__globals__)) if type(value) is FunctionType else value

    def copied_function(self, function: FunctionType, scope: dict[str, Any]) -> FunctionType:
        code, known = function.__code__, vars(builtins) | function.__globals__
        cells = tuple(map(self.copied_cell, function.__closure__ or ()))
        copy = FunctionType(code, scope, function.__name__, None, cells)
        self.made[id(function)] = copy, function  # it may call itself
        copy.__defaults__ = self.copy_of(function.__defaults__)
        copy.__kwdefaults__ = self.copy_of(function.__kwdefaults__)
        copy.__doc__, copy.__module__ = function.__doc__, function.__module__
        copy.__dict__.update(self.copy_of(vars(function)))  # a decorator keeps the keywords in `__wrapped__`
        for name in known.keys() & set(self.names(code)):
            far = type(known[name]) is FunctionType and known[name].__module__ != function.__module__
            scope[name] = known[name] if far and self.near else self.copy_of(known[name])
        self.watch(copy.__dict__, scope)
        return copy

    def names(self, code: CodeType) -> Iterator[str]:
        """Yield the names that the code and the functions within it use."""
        yield from code.co_names
        for entry in code.co_consts:
            if isinstance(entry, CodeType):
                yield from self.names(entry)

    def copied_cell(self, cell: CellType) -> CellType:
        if id(cell) not in self.made:
            self.made[id(cell)] = copy, _ = CellType(), cell
            for content in _contents(cell):
                copy.cell_contents = self.copy_of(content)
            self.watch(copy)
        return self.made[id(cell)][0]

    def watch(self, *copies: Any) -> None:
        self.watched += [(each, _contents(each)) for each in copies]


class Formula(Copy):
    """A copy that may be called with tracers: it holds nothing that is not copied or known."""

    near = False

    def __init__(self, function: Callable[..., Any], answers: Mapping[int, Any]) -> None:
        super().__init__(function, answers)
        self.asked: list[str] = []
        self.builtins = {name: self.copy_of(each) for name, each in vars(builtins).items()}

    def value(self, fraction: Callable[[Fraction], Any] = Fraction, **values: Any) -> Any:
        """Return its value at expressions or numbers, fractions as `fraction` makes them; raise `NoFormula`."""
        self.fraction, found, failed = fraction, None, "copying it"
        try:
            function, failed = self.copy_of(self.function), ""
            found = _plain(function(**{name: Tracer(self, value) for name, value in values.items()}))
        except (Exception, _NonArithmeticUse) as error:
            says = [type(error).__name__, *(each for each in error.args if type(each) is str)]  # none of a tracer
            self.asked += says if failed else []
            failed = ": ".join(says)
        for each, before in self.watched:
            after = _contents(each)
            if len(before) != len(after) or any(map(operator.is_not, before, after)):
                failed = "it keeps something between calls"
        if self.asked or failed:
            raise NoFormula(self.asked[0] if self.asked else failed)
        return found

    def refuse(self, what: str) -> Any:
        frame: Any = sys._getframe()
        while frame and frame.f_builtins is not self.builtins:
            frame = frame.f_back
        self.asked.append(f"{what} (line {frame.f_lineno} of {frame.f_code.co_name})" if frame else what)
        raise _NonArithmeticUse

    def number(self, value: Any) -> Any:
        """The expression or number that arithmetic meets."""
        if type(value) is Fraction:
            return self.fraction(value)
        if type(value) not in (Tracer, bool, int, float):
            return self.refuse(f"it calculates with {type(value).__name__}")
        return int(value) if type(value) is bool else _plain(value)

    def copy_of(self, value: Any) -> Any:
        if isinstance(value, np.generic) and value.dtype.kind in "biuf":
            value = value.item()
        return value if type(value) in _PLAIN else super().copy_of(value)

    def copied(self, value: Any) -> Any:
        if id(value) in self.answers:
            lifted = self.lifted(self.answers[id(value)])
            return extreme(lifted, value) if value is max or value is min else lifted
        if id(value) in _KNOWN:
            return _KNOWN[id(value)]
        if type(value) is FunctionType:
            return self.copied_function(value, {"__builtins__": self.builtins})
        if type(value) in (list, dict):
            self.made[id(value)] = copy, _ = type(value)(), value
            made = map(self.copy_of, _contents(value))
            copy.extend(made) if type(value) is list else copy.update(zip(made, made))  # key and value in turn
            self.watch(copy)
            return copy
        if type(value) is partial:
            copy = partial(self.copy_of(value.func), *map(self.copy_of, value.args), **self.copy_of(value.keywords))
            self.watch(vars(copy))
            return copy
        if type(value) is MethodType:
            return MethodType(self.copy_of(value.__func__), self.copy_of(value.__self__))
        return tuple(map(self.copy_of, value)) if type(value) is tuple else ObjectProxy(self, value)

    def names(self, code: CodeType) -> Iterator[str]:
        used, at = code.co_code[::2], f"(line {code.co_firstlineno} of {code.co_name})"
        for name, what in _INSTRUCTIONS.items():
            if dis.opmap[name] in used:
                self.refuse(f"{what} {at}")
        constant = [each for entry in code.co_consts if type(entry) is tuple for each in entry if type(each) is str]
        for name in (*code.co_names, *constant):
            if name in _LOOKING or (name.startswith("__") and name.endswith("__")):
                self.refuse(f"it reads {name} of a value {at}")
        return super().names(code)

    def lifted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, made to take tracers too."""

        def called(*values: Any, **named: Any) -> Any:
            if any(type(each) is Tracer for each in (*values, *named.values())):
                options = {name: self.number(each) for name, each in named.items()}
                return Tracer(self, function(*map(self.number, values), **options))
            result = function(*values, **named)
            return result.item() if isinstance(result, np.generic) else result

        return called


def extreme(pick: Callable[[Any, Any], Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """Python's `max` or `min` of values that `pick` chooses from in pairs; with options it is the plain one."""

    def chosen(*values: Any, **options: Any) -> Any:
        entries = tuple(values[0]) if len(values) == 1 else values
        return plain(*values, **options) if options or not entries else reduce(pick, entries)

    return chosen


def _contents(of: Any) -> list[Any]:
    if type(of) is CellType:
        try:
            return [of.cell_contents]
        except ValueError:  # not bound yet
            return []
    return [each for pair in of.items() for each in pair] if type(of) is dict else list(of)


def _plain(value: Any) -> Any:
    """Return a function's result with expressions for tracers."""
    if type(value) is dict:
        return {name: _plain(each) for name, each in value.items()}
    if type(value) in (tuple, list):
        return type(value)(map(_plain, value))
    return _own(value)[1] if isinstance(value, _Opaque) else value
