"""What people write serves every kind of number; a text that it returns never reaches SymPy, which would run it."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy

from suffice.bounds import InputError, Quantity, Source, Theorem, evaluate, latex, solve
from suffice.bounds.elementary import maximum, minimum
from suffice.bounds.saved_verdicts import fingerprint
from suffice.verification import check
from suffice.verification.check import record
from suffice.verification.readable_bound import adapted, opaque, served


class Text:
    """No number, but a text to whoever asks for one."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def disguised(text: str) -> dict[str, Any]:
    return {
        "text": text,
        "bytes": text.encode(),
        "NumPy text": np.str_(text),
        "object": Text(text),
        "list": [text],
        "array": np.array([text]),
        "array of objects": np.array([text], dtype=object),
    }


KINDS = list(disguised(""))


@pytest.fixture
def harmful(tmp_path) -> tuple[Path, str]:
    """A file that must not come to be, and a text that makes it where it is evaluated."""
    path = tmp_path / "made"
    return path, f"__import__('pathlib').Path({str(path)!r}).touch()"


def assert_refused(call: Callable[[], object], path: Path) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert not path.exists()


@pytest.mark.share(2)
@pytest.mark.parametrize("kind", KINDS)
def test_a_text_as_a_bound_or_a_side_of_a_condition_is_refused(kind, harmful):
    path, text = harmful
    value = disguised(text)[kind]

    def bound(*, mu, e0):
        return value

    def side(*, mu, e0):
        return {"mu <= e0": (mu, value)}

    assert_refused(lambda: check(bound), path)
    assert_refused(lambda: check(lambda *, mu, e0: e0, conditions=side), path)
    theorem = record(bound)
    assert_refused(theorem.expression, path)
    assert_refused(theorem.latex, path)
    assert_refused(lambda: latex(theorem), path)
    assert_refused(lambda: fingerprint(theorem), path)
    assert_refused(lambda: fingerprint(record(lambda *, e0: e0, side)), path)
    assert "return one number" in opaque(served(bound))
    assert not path.exists()


@pytest.mark.share(2)
@pytest.mark.parametrize("kind", KINDS)
def test_a_text_among_the_arguments_of_a_maximum_is_refused(kind, harmful):
    path, text = harmful
    value = disguised(text)[kind]

    def largest(*, mu, e0):
        return max(e0, value)

    def smallest(*, mu, e0):
        return minimum(e0, value) + maximum(e0, value)

    for bound in (largest, smallest):
        assert_refused(lambda bound=bound: check(bound), path)
        assert opaque(served(bound))
        assert not path.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_that_returns_a_text_is_refused(kind, harmful):
    path, text = harmful
    for value in (disguised(text)[kind], disguised("1.5")[kind]):

        def bound(*, e0, returned=lambda value=value: value):
            return returned()

        bound.__dict__["__signature__"] = inspect.Signature([inspect.Parameter("e0", inspect.Parameter.KEYWORD_ONLY)])
        theorem = Theorem(
            key="own/bound", edition="corrected", title="own", source=Source(paper="yours", locator="here"),
            statement="", quantity=Quantity.EXCESS, direction="upper", mode="sure", bound=bound,
        )  # fmt: skip
        assert_refused(lambda theorem=theorem: evaluate(theorem, e0=1.0), path)
        assert_refused(theorem.expression, path)


def test_plain_constants_are_bounds():
    assert record(lambda *, e0: 7.5).expression() == 7.5
    assert not opaque(served(lambda *, e0: np.float64(2)))


def test_solving_for_what_a_text_bounds_is_refused(harmful):
    path, text = harmful
    assert_refused(lambda: solve(record(lambda *, e0: text), "e0", target=1.0), path)


# Powers of two keep what one function gives wrongly from being what another gives.


def by_math(*, x, y):
    chosen = max(x, y) + 2 * min(x, y, 1) + 4 * max([x, 2 * y])
    return chosen + 8 * math.exp(x) + 16 * math.expm1(y) + 32 * math.log(x) + 64 * math.log1p(y) + 128 * math.sqrt(y)


def by_numpy(*, x, y):
    chosen = np.maximum(x, y) + 2 * np.minimum(np.minimum(x, y), 1) + 4 * np.maximum(x, 2 * y)
    return chosen + 8 * np.exp(x) + 16 * np.expm1(y) + 32 * np.log(x) + 64 * np.log1p(y) + 128 * np.sqrt(y)


@pytest.mark.parametrize("function", [by_math, by_numpy])
def test_functions_of_math_and_numpy_have_their_values_for_every_kind_of_number(function):
    x, y = np.array([0.3, 2.0, 1.0]), np.array([0.7, 0.1, 1.0])
    expected = np.array([by_math(x=float(a), y=float(b)) for a, b in zip(x, y)])
    copy, a, b = adapted(function), sympy.Symbol("a", positive=True), sympy.Symbol("b", positive=True)
    symbolic = copy(x=a, y=b)
    for found in (
        served(function)(x=x, y=y),
        [float(copy(x=mpmath.mpf(c), y=mpmath.mpf(d))) for c, d in zip(x, y)],
        [float(symbolic.subs({a: c, b: d})) for c, d in zip(x, y)],
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-14)  # a dozen roundings


def test_a_decorated_bound_keeps_its_keywords():
    @functools.wraps(by_name)
    def decorated(**values):
        return by_name(**values)

    assert list(inspect.signature(adapted(decorated)).parameters) == ["eta", "mu"]
    assert adapted(decorated)(eta=0.5, mu=1.0) == 0.5


def by_name(*, eta, mu):
    return eta * mu


@pytest.mark.usefixtures("brief")
def test_a_wrong_variant_that_divides_by_zero_refuses_no_bound():
    quiet = {"conditions": lambda *, eta, beta, sigma2: {"step": (eta, 1 / beta), "quiet": (sigma2, 0)}}
    assert check(lambda *, e0, T: float(e0) * float(T) / float(T), **quiet).valid
