"""What goes wrong in Python: every wrong argument is one line of `InputError`, never another exception."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suffice as sf
from suffice.bounds import InputError
from suffice.cli.arguments import assignments
from suffice.support.numbers import as_whole

KEY = "adaptive/theorem-2-constant"
POINT: dict[str, Any] = {"eta": 0.1, "mu": 0.1, "beta": 1.0, "e0": 1.0, "s2": 1.0, "T": 10, "q": 0.5}
ROWS = [np.arange(10.0).reshape(5, 2) ** 1.5] * 2
TARGETS = [np.array([0.0, 1, 0, 1, 1])] * 2


def problem(**options: Any) -> Any:
    return sf.from_arrays(ROWS, TARGETS, regularisation=0.1, **options)


CASES: dict[str, tuple[Callable[[], object], str]] = {
    "a setup that is None": (lambda: sf.read_setup(None), "setup file = None: give a path as text"),
    "a setup with a null byte": (lambda: sf.read_setup("\0"), "no such file or folder"),
    "a path that is a number": (lambda: sf.read(5), "path = 5: give a path as text"),
    "a path of 300 characters": (lambda: sf.read("x" * 300), "file name too long"),
    "a setup of 300 characters": (lambda: sf.read_setup("x" * 300), "file name too long"),
    "images of 300 characters": (lambda: sf.mnist("x" * 300), "file name too long"),
    "positive None": (lambda: problem(positive=None), "positive = None: give the labels"),
    "batch of 31 digits": (lambda: problem(batch=10**30), "batch = 'about 1e30'"),
    "batch of 5000 digits": (lambda: problem(batch=10**5000), "batch = 'about 1e5000'"),
    "a bound that is a type": (lambda: sf.check(int), "bound = <class 'int'>: its parameters cannot be read"),
    "conditions that are a type": (lambda: sf.check(lambda *, e0: e0, conditions=int), "conditions = <class 'int'>"),
    "precisions in lists of two lengths": (lambda: sf.plan(problem(), [[1], [1, 2]]), "epsilon = "),
    "iterations as a text": (
        lambda: sf.run(problem(), sf.Local(), iterations="1", eta=0.1), "iterations = '1': give a whole number",
    ),
    "far too many iterations": (
        lambda: sf.run(problem(), sf.Local(), iterations=10**15, eta=0.1), "the trace would hold over",
    ),
    "far too many seeds": (
        lambda: sf.hitting_times(problem(), sf.Local(), epsilon=1.0, limit=1, eta=0.1, seeds=2**32), "hold over",
    ),
    "seeds of 31 digits": (
        lambda: sf.run(problem(), sf.Local(), iterations=1, eta=0.1, seeds=10**30), "seeds = 10000",
    ),
    "limit as a text": (
        lambda: sf.hitting_times(problem(), sf.Local(), epsilon=1.0, limit="1", eta=0.1), "limit = '1': give a whole",
    ),
    "a batch that fills the memory": (
        lambda: sf.run(problem(batch=10**12), sf.Local(), iterations=1, eta=0.1), "one step would draw",
    ),
    "no problem": (lambda: sf.run(None, sf.Local(), iterations=1, eta=0.1), "problem = None: give a problem"),
    "shapes that differ": (
        lambda: sf.evaluate(KEY, **POINT | {"mu": np.ones(2), "eta": np.ones(3)}), "give numbers, or arrays that broad",
    ),
    "shapes that differ, not enforced": (
        lambda: sf.evaluate(KEY, enforce=False, **POINT | {"mu": np.ones(2), "eta": np.ones(3)}), "arrays that broad",
    ),
    "digits of two numbers": (lambda: sf.digits(KEY, **POINT | {"mu": np.ones(2)}), "give one number"),
    "a million digits": (lambda: sf.digits(KEY, 10**6, **POINT), "count = 1000000: give at most"),
    "two targets": (
        lambda: sf.solve(KEY, "T", target=[1, 2], **{n: v for n, v in POINT.items() if n != "T"}), "give one number",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_argument_is_one_line(name):
    call, message = CASES[name]
    with pytest.raises(InputError) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_digits_take_numbers_of_numpy_as_they_are():
    single = {name: np.float32(value) for name, value in POINT.items()}
    assert sf.digits(KEY, 30, **single) == sf.digits(KEY, 30, **{name: float(value) for name, value in single.items()})


def test_a_whole_number_fits_64_bits():
    assert as_whole("n", 2**63 - 1) == 2**63 - 1
    with pytest.raises(InputError, match="give at most"):
        as_whole("n", 2**63)


def test_a_value_whose_repr_fails_is_named_by_its_type():
    assert str(InputError("n", 10**5000, "give less")) == "n = <int>: give less"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["b=1", "b=2"], "given twice"),
        (["b"], "write NAME=VALUE"),
        (["=1"], "write NAME=VALUE"),
        (["b=1_0"], "give a number"),
        (["b=\u0663"], "give a number"),
    ],
)
def test_pairs_are_a_name_and_a_plain_number_once(given, message):
    assert assignments(["b=1", "c=2e3"]) == {"b": 1, "c": 2000}
    with pytest.raises(InputError, match=message):
        assignments(given)
