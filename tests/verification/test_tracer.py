"""Functions that ask something of their arguments: a formula read from them would not be theirs."""

from __future__ import annotations

import collections
import functools
import inspect
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest

import suffice as sf
from suffice.bounds import THEOREMS
from suffice.bounds.elementary import survive
from suffice.bounds.symbolic import on_symbols
from suffice.verification.check import record
from suffice.verification.readable_bound import opaque, served

CHOICE = collections.defaultdict(lambda: 1.0, {7777: 0.0})
SETTINGS = SimpleNamespace(share=0.5)


class Sly(float):
    """A number that tells symbols from numbers."""

    def __mul__(self, other):
        return 0.0 if other == 7777 else other


SLY = Sly(1.0)


STATE = [0]


def grows(T):
    steps = STATE
    steps += [1]
    return len(steps) // 7777


def grows_by_default(T, steps=[]):  # noqa: B006
    steps += [1]
    return len(steps) // 7777


def divides(T):
    try:
        return 1 / (T - 7777)
    except ZeroDivisionError:
        return 0


def of_class(T):
    match T:
        case float():
            return 0
    return 1


def changes_an_attribute(T):
    changes_an_attribute.calls += 1
    return changes_an_attribute.calls < 50


changes_an_attribute.calls = 0  # ty: ignore[unresolved-attribute]


def scales_an_array(T):
    weights = WEIGHTS
    weights *= 1.01
    return weights[0]


def by_a_cell():
    calls = 0

    def counts(T):
        nonlocal calls
        calls += 1
        return calls < 50

    return counts


def by_a_helper():
    calls = [0]

    def count():
        calls[0] += 1
        return calls[0]

    return lambda T: count() < 50


WEIGHTS, COUNT = np.array([0.25, 0.75]), itertools.count()
ASKING = {
    "try to divide": divides,
    "a class pattern": of_class,
    "an attribute of its own": changes_an_attribute,
    "an array in place": scales_an_array,
    "nonlocal": by_a_cell(),
    "a helper that counts": by_a_helper(),
    "an iterator": lambda T: next(COUNT) < 50,
    "is": lambda T: T is None,
    "id": lambda T: id(T) % 2,
    "sorted numbers": lambda T: sorted([T, 7777])[0],
    "max by a key": lambda T: max([T, 7777], key=lambda each: -each),
    "int": lambda T: int(T) / T,
    "//": lambda T: T // 1 / T,
    "math.isnan": lambda T: math.isnan(T),
    "range": lambda T: sum(1 for _ in range(T)),
    "an index of a list": lambda T: [1, 0][T],
    "==": lambda T: 0 if T == 7777 else 1,
    "and": lambda T: (T - 7777) and 1,
    "if": lambda T: 1 if T - 7777 else 0,
    "a dictionary's size": lambda T: len({T: 0, 7777: 0}) - 1,
    "get": lambda T: {7777: 0}.get(T, 1),
    "a default": lambda T: CHOICE[T],
    "isinstance": lambda T: int(isinstance(T, float)),
    "all": lambda T: int(all((T - 7777, 1))),
    "str": lambda T: len(str(T)),
    "a remainder": lambda T: T % 7777,
    "a list that grows": grows,
    "a list of its own that grows": grows_by_default,
    "hash": lambda T: 0 if hash(T) else 1,
    "an attribute": lambda T: 1 if T.is_integer else 0,
    "np.where": lambda T: np.where(T == 7777, 0, 1),
    "__eq__": lambda T: (7777).__ne__(T),
    "eval": lambda T: eval("T != 7777"),
    "a number of its own": lambda T: SLY * T,
}
"""Factors of a bound, nearly all of which are 0 or False at T = 7777 and nearly always 1."""


@pytest.mark.parametrize("name", ASKING)
def test_a_function_that_may_decide_by_an_argument_gives_no_formula(name):
    factor = ASKING[name]

    def rate(*, eta, mu, beta, e0, sigma2, T):
        return ((1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (2 * mu)) * factor(T)

    assert opaque(served(rate))
    with pytest.raises(sf.InputError, match="no formula can be read"):
        record(rate).expression()


FLOOR, SHARE = True, 0.3


@dataclass(frozen=True, slots=True)
class Constants:
    share: float = 0.25
    powers: tuple[int, ...] = (1, 2)

    @property
    def twice(self):
        return 2 * self.share

    def rate(self, eta, mu):
        return 1 - math.sqrt(self.share) * eta * mu


CONSTANTS = Constants()


def half(x):
    return x / 2


def by_math(x):
    return math.exp(-x) + math.sqrt(1 + x) + math.log(2 + x)


def largest(x, y):
    return max(x, y) + min([x, 2 * y, 1])


class Method:
    def __init__(self, share):
        self.share = share

    def bound(self, *, eta, mu, e0, T):
        return self.share * (1 - eta * mu) ** T * e0


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
        return sum(terms) - terms[0] + (lambda x, y=2: x * y)(T) * SHARE

    def with_functions(*, eta, mu, e0, T):
        return math.exp(-eta * mu) * e0 + np.sqrt(T) * math.pi + max(e0, eta) + survive(eta * mu, T) + float(np.pi)

    def with_objects(*, eta, mu, e0, T, constants=CONSTANTS, twice=True):
        rate = constants.rate(eta, mu) ** (constants.powers[1] * T)
        return rate * e0 + (mu * CONSTANTS.twice if twice else mu)

    def with_a_list_of_its_own(*, eta, mu, e0, T):
        terms = []
        for each in (1, 2, 3):
            terms.append(eta**each / (math.factorial(each) + T))
        return sum(terms, start=e0) * mu

    def with_helpers(*, eta, mu, e0, T):
        return by_math(eta * mu) * e0 + largest(mu, T) + functools.reduce(lambda x, y: x * y, (eta, mu, T))

    def with_fractions(*, eta, mu, e0, T):
        return Fraction(1, 3) * e0 + eta * Fraction(2, 7) - Fraction(1, 2) / mu + (T - Fraction(5, 3)) ** np.float64(2)

    first = functools.partial(with_objects, constants=Constants(share=0.16))
    named = (with_constants, with_lists, with_functions, with_objects, with_a_list_of_its_own, with_helpers)
    named = {each.__name__: each for each in (*named, with_fractions)}
    return named | {"partial": functools.partial(first, twice=False), "method": Method(0.3).bound}


@pytest.mark.parametrize("name", honest())
def test_a_formula_is_read_that_is_the_function(name):
    function = honest()[name]
    names = [each for each in inspect.signature(function).parameters if each in ("eta", "mu", "e0", "T")]
    read = served(lambda *, eta, mu, e0, T: function(eta=eta, mu=mu, e0=e0, T=T))
    assert opaque(read) == ""
    formula = record(lambda *, eta, mu, e0, T: function(eta=eta, mu=mu, e0=e0, T=T)).expression()
    rng = np.random.default_rng(0)
    for _ in range(5):
        at = dict(zip(names, rng.uniform(0.1, 0.9, 4)))
        value = formula.subs({each: at[each.name] for each in formula.free_symbols}).doit()
        np.testing.assert_allclose(float(value), function(**at), rtol=1e-12)
        np.testing.assert_allclose(read(**{key: np.array([each]) for key, each in at.items()}), [function(**at)])
        exact = read(**{key: mpmath.mpf(each) for key, each in at.items()})
        np.testing.assert_allclose(float(exact), function(**at), rtol=1e-12)


def test_fifty_digits_reach_through_helpers():
    read = served(lambda *, e0, T: by_math(e0) * T)
    with mpmath.workdps(50):
        x = mpmath.mpf(1) / 3
        exact = mpmath.exp(-x) + mpmath.sqrt(1 + x) + mpmath.log(2 + x)
        assert abs(read(e0=x, T=mpmath.mpf(1)) - exact) < mpmath.mpf(10) ** -48


def test_a_copy_leaves_what_the_function_holds_as_it_is():
    before = list(STATE)
    assert opaque(served(lambda *, e0: e0 * grows(e0))) == "it keeps something between calls"
    assert before == STATE


def test_conditions_are_read_too():
    def limits(*, eta, beta):
        return {"eta <= 1/beta": (eta, 1 / beta), f"eta <= {SHARE}/beta": (eta, SHARE / beta), **{"a": (eta, 9)}}

    found = on_symbols(served(limits, "conditions"))
    assert list(found) == ["eta <= 1/beta", "eta <= 0.3/beta", "a"]
    assert [str(right) for _, right in found.values()] == ["1/beta", "0.3/beta", "9"]


def test_the_formulas_of_the_library_are_read_but_for_those_that_choose_by_the_kind_of_number():
    unread = {each.key for each in THEOREMS if each.bound and opaque(served(each.bound))}
    for each in THEOREMS:
        if each.conditions:
            on_symbols(served(each.conditions, "conditions"))
    assert unread == {"sample-optimal/theorem-1-optimised", "sample-optimal/theorem-1-excess"}


def test_what_is_asked_is_named_with_its_line():
    def bound(*, e0, T):
        return e0 if T == 3 else 2 * e0

    line = bound.__code__.co_firstlineno + 1
    assert opaque(served(bound)) == f"it compares values (line {line} of bound)"
