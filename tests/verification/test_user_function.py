"""A text that a function returns is refused; it never reaches SymPy, which would run it as Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suffice.bounds import InputError, Quantity, Source, Theorem, evaluate, latex, solve
from suffice.bounds.elementary import maximum, minimum
from suffice.bounds.saved_verdicts import fingerprint
from suffice.verification import check
from suffice.verification.check import record
from suffice.verification.user_function import reading


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
    assert "it returns" in reading(bound, None).opaque
    assert not path.exists()


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
        assert reading(bound, None).opaque
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
    assert not reading(lambda *, e0: np.float64(2), None).opaque


def test_solving_for_what_a_text_bounds_is_refused(harmful):
    path, text = harmful
    assert_refused(lambda: solve(record(lambda *, e0: text), "e0", target=1.0), path)
