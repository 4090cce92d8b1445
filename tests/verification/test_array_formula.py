"""Expressions of arrays without compiling: the same numbers as SymPy's own, and nothing kept from another batch."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest
import sympy

from suffice.bounds import THEOREMS, find
from suffice.verification import mutants
from suffice.verification.array_formula import Formulas

EVALUATED = [theorem for theorem in THEOREMS if theorem.bound is not None]


def drawn(theorem, rng) -> dict[str, np.ndarray]:
    return {name: rng.uniform(0.1, 0.9, 7) for name in inspect.signature(theorem.bound).parameters}


@pytest.mark.parametrize("theorem", EVALUATED[::6], ids=lambda theorem: f"{theorem.key} {theorem.edition}")
def test_the_value_is_that_of_the_compiled_expression(theorem):
    values = drawn(theorem, np.random.default_rng(1))
    whole = theorem.expression()
    symbols = [sympy.Symbol(name, positive=True) for name in values]
    with np.errstate(all="ignore"):
        compiled = sympy.lambdify(symbols, whole, "numpy")(*values.values())
    found = Formulas(whole, list(values)).function(whole)(**values)
    np.testing.assert_allclose(found, np.broadcast_to(compiled, np.shape(found)), rtol=1e-9)  # 1 - x cancels


def test_parts_are_shared_within_a_batch_and_never_between_two():
    theorem = find("cobo/corollary-2")
    rng = np.random.default_rng(2)
    first, second = drawn(theorem, rng), drawn(theorem, rng)
    whole = theorem.expression()
    formulas = Formulas(whole, list(first))
    both, squared = formulas.function(whole), formulas.function(whole**2)
    for values in (first, second, first):
        alone = Formulas(whole, list(values)).function(whole)(**values)
        np.testing.assert_array_equal(both(**values), alone)
        np.testing.assert_allclose(squared(**values), alone**2, rtol=1e-15)


def test_a_function_that_is_not_in_the_list_is_evaluated_too():
    x = sympy.Symbol("x", positive=True)
    value = Formulas(sympy.sinh(x), ["x"]).function(sympy.sinh(x) + 1)(x=np.array([0.3, 2.0]))
    np.testing.assert_allclose(value, np.sinh([0.3, 2.0]) + 1, rtol=1e-15)


@pytest.mark.parametrize(("direction", "ratio"), [("upper", 0.3), ("upper", 0.999), ("lower", 0.3), ("lower", 0.999)])
def test_the_whole_is_moved_beyond_the_worst_ratio_and_never_to_the_other_sign(direction, ratio):
    theorem = replace(find("adaptive/theorem-1"), direction=direction)
    (whole,) = (mutant for mutant in mutants(theorem, worst_ratio=ratio) if mutant.change.startswith("whole"))
    values = drawn(theorem, np.random.default_rng(3))
    assert theorem.bound is not None
    moved = whole.value(**values) / theorem.bound(**values)
    np.testing.assert_allclose(moved, ratio**2 if direction == "upper" else ratio**-2, rtol=1e-12)
