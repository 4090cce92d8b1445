"""What in a function's code may depend on its arguments in a way that no formula shows.

SymPy's symbols answer every question: `T == 7777` is False of a symbol, `bool(T)` True, `isinstance(T, float)` False. A
formula that is read by calling a function with symbols is the function itself only where the function asks nothing. So
its code may do arithmetic, build lists and go through them, and call functions of which the same is known; it may ask
only what no argument changes, such as `if` of a constant that it closes over. Whatever is not known to be harmless is
named, code of later versions of Python too.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import math
from collections.abc import Collection, Mapping
from copy import copy
from fractions import Fraction
from functools import partial
from types import CellType, CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from suffice.bounds import elementary

_HARMLESS = (
    "BINARY_", "BUILD_CONST_KEY_MAP", "BUILD_LIST", "BUILD_SLICE", "BUILD_TUPLE", "CACHE", "CALL", "COPY",
    "DELETE_FAST", "DICT_", "END_FOR", "EXTENDED_ARG", "FOR_ITER", "GET_ITER", "JUMP_BACKWARD", "JUMP_FORWARD",
    "KW_NAMES", "LIST_", "LOAD_CLOSURE", "LOAD_CONST", "LOAD_FAST", "LOAD_SMALL_INT", "MAKE_CELL", "MAKE_FUNCTION",
    "NOP", "NOT_TAKEN", "POP_ITER", "POP_TOP", "PRECALL", "PUSH_NULL", "RERAISE", "RESUME", "RETURN_",
    "SET_FUNCTION_ATTRIBUTE", "STORE_FAST", "SWAP", "UNARY_NEGATIVE", "UNARY_POSITIVE", "UNPACK_", "YIELD_VALUE",
)  # fmt: skip
"""Beginnings of the names of instructions that ask nothing of a value, or raise where it is a symbol."""
_ASKING = {
    "COMPARE_OP": "it compares values", "CONTAINS_OP": "it looks a value up", "IS_OP": "it compares values",
    "UNARY_NOT": "it decides by a value", "TO_BOOL": "it decides by a value", "POP_JUMP": "it decides by a value",
    "JUMP_IF": "it decides by a value", "FORMAT_": "it makes a text of a value",
    "CONVERT_VALUE": "it makes a text of a value", "BUILD_STRING": "it makes a text of a value",
}  # fmt: skip
"""What is harmless of constants alone."""
_KEEPING = (*_ASKING, "BINARY_OP", "BUILD_TUPLE", "UNARY_")
_OTHER = {
    "PUSH_EXC_INFO": "it catches exceptions", "MATCH_": "it decides by a value", "BUILD_SET": "it looks a value up",
    "SET_": "it looks a value up", "MAP_ADD": "it looks a value up", "IMPORT_": "it imports",
    "STORE_GLOBAL": "it keeps something between calls", "STORE_": "it changes an object",
}  # fmt: skip
_CALLED = (
    abs, enumerate, float, int, len, list, map, max, min, pow, range, reversed, sum, tuple, zip, Fraction, np.float64,
    *(each for each in vars(math).values() if callable(each)),
)  # fmt: skip
"""They do arithmetic, or raise where they are given a symbol."""
_NUMBERS = (bool, int, float, complex, str, Fraction, type(None))


def decision(function: Any, known: Collection[int] = ()) -> str:
    """In words, what in `function` or what it calls may decide by an argument; "" where nothing does. `known` are ids
    of further functions that do arithmetic alone."""
    reader = _Reader(known)
    found = reader.of(function, getattr(function, "__name__", type(function).__name__))
    return found or "it may change a list that it keeps between calls" * (reader.in_place and reader.holds)


class _Reader:
    def __init__(self, known: Collection[int]) -> None:
        self.known = {*known, *map(id, _CALLED)}
        self.seen: list[Any] = []  # held, so that no id is used twice
        self.holds = self.in_place = False  # whether what can be changed is at hand, and an operator such as +=

    def of(self, value: Any, name: str) -> str:
        """Of something that a function holds or calls."""
        if _plain(value) or type(value) in (ModuleType, SimpleNamespace) or id(value) in self.known:
            return ""  # of modules and namespaces, what is read from them is looked at
        self.holds |= type(value) in (list, dict, np.ndarray)
        if type(value) is np.ndarray and value.dtype.kind in "biuf":
            return ""
        if any(value is each for each in self.seen):
            return ""
        self.seen.append(value)
        if type(value) in (tuple, list):
            return self._first((each, name) for each in value)
        if type(value) is dict:
            return self._first((each, name) for pair in value.items() for each in pair)
        if type(value) is partial:
            return self._first((each, name) for each in (value.func, *value.args, *value.keywords.values()))
        if type(value) is FunctionType:
            if vars(elementary).get(value.__name__) is value and value is not elementary.library_of:
                return ""
            defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
            return self._first((each, name) for each in defaults) or self._code(value.__code__, _Names(value))
        return f"it uses {name}, of which nothing is known"

    def _first(self, pairs: Any) -> str:
        return next(filter(None, (self.of(value, name) for value, name in pairs)), "")

    def _code(self, code: CodeType, names: _Names) -> str:
        self.in_place |= _changes_in_place(code)
        constant: list[bool] = []  # of what is on the stack; all else is not
        top: Any = None  # the object there, where it is known
        for each in dis.get_instructions(code):
            if each.is_jump_target:
                constant.clear()
            held, top = top, None
            effect = dis.stack_effect(each.opcode, each.arg if each.opcode >= dis.HAVE_ARGUMENT else None, jump=False)
            taken = max(1 - effect, 0)
            whole = len(constant) >= taken and all(constant[len(constant) - taken :])
            why, keeps = "", whole and each.opname.startswith(_KEEPING)
            if each.opname in ("LOAD_GLOBAL", "LOAD_DEREF"):
                found, top = names.find(each.argval, each.opname)
                why, keeps = self.of(top, each.argval) if found else "", found and _plain(top)
            elif each.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                if held is None:
                    why = f"it reads {each.argval} of a value"
                else:
                    top = inspect.getattr_static(held, each.argval, self)  # of the last nothing is known
                    why, keeps = self.of(top, each.argval), _plain(top)
            elif each.opname == "LOAD_CONST" and isinstance(each.argval, CodeType):
                why = self._code(each.argval, names.inside(code))
            elif each.opname == "BUILD_MAP":
                pairs = 2 * (each.arg or 0)
                keys = constant[-pairs::2] if pairs else []
                why = "" if len(keys) == pairs / 2 and all(keys) else "it looks a value up"
            elif each.opname == "STORE_DEREF":
                why = "it keeps something between calls" if each.argval in code.co_freevars else ""
            elif each.opname == "BINARY_OP" and each.argrepr.startswith("%"):
                why = "" if whole else "it takes a remainder, or makes a text of a value"
            elif each.opname.startswith(tuple(_ASKING)):
                jumps = "JUMP" in each.opname
                why = "" if whole or (jumps and constant[-1:] == [True]) else _said(_ASKING, each.opname)
            elif not each.opname.startswith(_HARMLESS):
                why = _said(_OTHER, each.opname) or f"it does more than arithmetic ({each.opname})"
            else:
                keeps |= each.opname in ("LOAD_CONST", "LOAD_SMALL_INT")
            if why:
                line = getattr(each.positions, "lineno", None) or code.co_firstlineno
                return why if "(line " in why else f"{why} (line {line} of {code.co_name})"
            del constant[len(constant) - min(taken, len(constant)) :]
            if each.opname == "SWAP":
                constant.clear()
            constant += [keeps] if effect <= 1 else [False] * effect
        return ""


def _changes_in_place(code: CodeType) -> bool:
    """Whether an operator such as += may change an object that the code did not make: the left side is no variable, or
    one that is also given something else than a constant, a list that is written out or the result of an operator."""
    made: dict[str, bool] = dict.fromkeys(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], False)
    changed, before = set[str](), ("", "")
    for each in dis.get_instructions(code):
        if each.opname == "STORE_FAST":
            new = before[0] in ("BINARY_OP", "BUILD_LIST", "LIST_EXTEND", "LOAD_CONST", "LOAD_SMALL_INT")
            made[each.argval] = made.get(each.argval, True) and new
        if before[0] == "BINARY_OP" and before[1].endswith("="):
            changed.add(each.argval if each.opname == "STORE_FAST" else "")
        if each.opname != "CACHE":
            before = each.opname, each.argrepr
    return any(not made.get(name, False) for name in changed)


class _Names:
    """What a function's code finds by name outside of itself."""

    def __init__(self, function: FunctionType) -> None:
        self.outside = function.__globals__, getattr(function, "__builtins__", vars(builtins))
        self.closed = dict(zip(function.__code__.co_freevars, map(_content, function.__closure__ or ())))

    def find(self, name: str, where: str) -> tuple[bool, Any]:
        """Whether it is known, and what it is: a variable of the function itself is not."""
        for table in self.outside if where == "LOAD_GLOBAL" else (self.closed,):
            if name in table:
                return True, table[name]
        return False, None

    def inside(self, code: CodeType) -> _Names:
        """Those of a function within it."""
        made = copy(self)
        made.closed = {name: value for name, value in self.closed.items() if name not in code.co_cellvars}
        return made


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet: of it nothing is known
        return cell


def _plain(value: Any) -> bool:
    return type(value) in _NUMBERS or isinstance(value, np.generic)


def _said(table: Mapping[str, str], opname: str) -> str:
    return next((says for start, says in table.items() if opname.startswith(start)), "")
