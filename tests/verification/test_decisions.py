"""Functions that ask something of their arguments: a formula read from them would not be theirs."""

from __future__ import annotations

import dis
import functools
import math
import operator
from collections import defaultdict
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.bounds import THEOREMS
from suffice.bounds.elementary import quotient, survive
from suffice.verification.check import record
from suffice.verification.decisions import decision
from suffice.verification.user_function import reading

CHOICE = defaultdict(lambda: 1.0, {7777: 0.0})
SETTINGS = SimpleNamespace(share=0.5)


class Sly(float):
    """A number that tells symbols from numbers."""

    def __mul__(self, other):
        return 0.0 if other == 7777 else other


SLY = Sly(1.0)


@functools.cache
def kept(T):
    return 0 if T == 7777 else 1


def inner(T):
    return not T - 7777


def caught(T):
    try:
        return int(T) != 7777
    except TypeError:
        return 1


def finally_one(T):
    try:
        return 1 / (int(T) - 7777)
    finally:
        return 1  # noqa: B012, SIM107


def matched(T):
    match T:
        case 7777:
            return 0
    return 1


def counted(T):
    steps = 1
    while T == 7777 and steps:
        steps -= 1
    return steps


def asserted(T):
    assert T != 7777
    return 1


def by_default(T, given=SLY):
    return given * T


LAZY = ModuleType("lazy")
LAZY.__dict__["__getattr__"] = lambda name: SLY
STATE = [0]


def keeps(T):
    global STATE
    STATE = [*STATE, T]
    return 1


def grows(T):
    steps = STATE
    steps += [1]
    return len(steps) // 7777


def grows_by_another_name(T):
    steps = []
    for _ in range(2):
        steps += [1]
        steps = STATE
    return len(steps) // 7777


def grows_by_default(T, steps=[]):  # noqa: B006
    steps += [1]
    return len(steps) // 7777


def imported(T):
    from operator import ne

    return ne(T, 7777)


ASKING = {
    "==": lambda T: 0 if T == 7777 else 1,
    "!=": lambda T: T != 7777,
    ">": lambda T: 0 if T > 0 else 1,
    "and": lambda T: (T - 7777) and 1,
    "or": lambda T: (T - 7777) or 1,
    "if": lambda T: 1 if T - 7777 else 0,
    "not": inner,
    "nested": lambda T: (lambda x: x == 7777)(T),
    "in a comprehension": lambda T: sum(1 for one in (7777, 7778) if one != T),
    "in a tuple": lambda T: T in (7777,),
    "in a set": lambda T: T in {7777},
    "is": lambda T: T is None,
    "a set's size": lambda T: len({T, 7777}) - 1,
    "a dictionary's size": lambda T: len({T: 0, 7777: 0}) - 1,
    "a dictionary of a comprehension": lambda T: len({one: 0 for one in (T, 7777)}) - 1,
    "get": lambda T: {7777: 0}.get(T, 1),
    "a default": lambda T: CHOICE[T],
    "hasattr": lambda T: 1 if hasattr(T, "free_symbols") else 0,
    "isinstance": lambda T: int(isinstance(T, float)),
    "type": lambda T: [0, 1][len(type(T).__name__) > 6],
    "bool": lambda T: int(bool(T - 7777)),
    "all": lambda T: int(all((T - 7777, 1))),
    "str": lambda T: len(str(T)),
    "a text": lambda T: len(f"{T}"),
    "a formatted text": lambda T: len("%s" % T),  # noqa: UP031
    "a remainder": lambda T: T % 7777,
    "a list that grows": grows,
    "a list of its own that grows": grows_by_default,
    "a list of two names that grows": grows_by_another_name,
    "hash": lambda T: 0 if hash(T) else 1,
    "an attribute": lambda T: 1 if T.is_integer else 0,
    "getattr": lambda T: getattr(T, "is_number", 0),
    "sorted": lambda T: sorted((T, 7777), key=str)[0],
    "count": lambda T: (7777, 7778).count(T),
    "np.where": lambda T: np.where(T == 7777, 0, 1),
    "np.equal": lambda T: 1 - np.equal(T, 7777),
    "operator": lambda T: operator.ne(T, 7777),
    "partial": functools.partial(operator.ne, 7777),
    "__eq__": lambda T: (7777).__ne__(T),
    "eval": lambda T: eval("T != 7777"),
    "locals": lambda T: locals()["T"],
    "round": lambda T: round(T / 7777),
    "a cache": kept,
    "try": caught,
    "finally": finally_one,
    "match": matched,
    "while": counted,
    "assert": asserted,
    "a number of its own": lambda T: SLY * T,
    "a default of its own": by_default,
    "a module's own rule": lambda T: LAZY.share * T,
    "global": keeps,
    "import": imported,
}
"""Factors of a bound, nearly all of which are 0 or False at T = 7777 and nearly always 1."""


@pytest.mark.parametrize("name", ASKING)
def test_a_function_that_may_decide_by_an_argument_gives_no_formula(name):
    factor = ASKING[name]

    def rate(*, eta, mu, beta, e0, sigma2, T):
        return ((1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (2 * mu)) * factor(T)

    read = reading(rate, None)
    assert read.opaque
    with pytest.raises(sf.InputError, match="no formula can be read"):
        record(rate).expression()
    assert decision(factor)


FLOOR, SHARE, WEIGHTS = True, 0.3, np.array([0.25, 0.75])


def half(x):
    return x / 2


def honest() -> dict[str, Any]:
    floor, power = False, 2

    def with_constants(*, eta, mu, e0, T):
        left = (1 - eta * mu) ** (power * T)
        return left * (e0 if floor else 2 * e0) + (eta if FLOOR and SHARE == 0.3 else mu) * SETTINGS.share

    def with_lists(*, eta, mu, e0, T):
        one, two = (each * SHARE for each in (eta, mu))
        terms = [half(one), *map(half, (two,))]
        for each in range(3):
            terms += [e0**each]
        return sum(terms) - terms[0] + (lambda x, y=2: x * y)(T) * WEIGHTS[0]

    def with_functions(*, eta, mu, e0, T):
        return math.exp(-eta * mu) * e0 + np.sqrt(T) * math.pi + max(e0, eta) + survive(eta * mu, T) + float(np.pi)

    def of_conditions(*, eta, beta):
        return {"eta <= 1/beta": (eta, 1 / beta), f"eta <= {SHARE}/beta": (eta, SHARE / beta), **{"a": (eta, 9)}}

    return {each.__name__: each for each in (with_constants, with_lists, with_functions, of_conditions)}


@pytest.mark.parametrize("name", honest())
def test_arithmetic_and_what_no_argument_changes_are_read(name):
    function = honest()[name]
    assert decision(function, {id(np.sqrt)}) == ""


def test_the_formulas_of_the_library_are_read_but_for_those_that_choose_by_the_kind_of_number():
    found = {each.key for each in THEOREMS for one in (each.bound, each.conditions) if one and decision(one)}
    assert found == {"sample-optimal/theorem-1-optimised", "sample-optimal/theorem-1-excess"}


def test_what_is_unknown_is_named_with_its_line():
    def bound(*, e0, T):
        return e0 if T == 3 else 2 * e0

    line = bound.__code__.co_firstlineno + 1
    assert decision(bound) == f"it compares values (line {line} of bound)"
    assert decision(operator.add) == "it uses add, of which nothing is known"
    assert decision(quotient) == ""


def test_an_instruction_that_nobody_foresaw_is_refused(monkeypatch):
    def bound(*, e0):
        return 2 * e0

    assert decision(bound) == ""
    every = [each._replace(opname="ASK") for each in dis.get_instructions(bound)]
    monkeypatch.setattr(dis, "get_instructions", lambda code: iter(every))
    assert "more than arithmetic (ASK)" in decision(bound)
