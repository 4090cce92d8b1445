"""Results are what they were, to 1e-9, on the day when the files beside this one were recorded.

A result that changes on purpose is recorded again (`record.py`) and named in CHANGELOG.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from blocks import ROOT, blocks

from .record import HERE, cases

RELATIVE = 1e-9
"""Of a number, or of the largest one in its list of lists: sums may be taken in another order."""
QUICK, SLOW = dict(cases(slow=False)), dict(cases(slow=True))


def size(found: Any) -> float:
    """The largest number of a list, or of the lists inside it."""
    if isinstance(found, list):
        return max(map(size, found), default=0.0)
    return abs(found) if isinstance(found, float) and math.isfinite(found) else 0.0


def differences(old: Any, new: Any, place: str = "", scale: float = 0.0) -> Iterator[str]:
    """Where a result is no longer what it was, one line a place; what is new beside it is no difference."""
    if isinstance(old, dict) and isinstance(new, dict):
        scale = old["size"] if "some" in old else 0.0
        for key in old:
            if key in new:
                yield from differences(old[key], new[key], f"{place}/{key}", scale)
            else:
                yield f"{place}/{key} is gone"
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for k, pair in enumerate(zip(old, new)):
            yield from differences(*pair, f"{place}/{k}", max(scale, size(old)))
    elif type(old) in (int, float) and type(new) in (int, float):
        if old != new and not abs(old - new) <= RELATIVE * max(abs(old), abs(new), scale):
            yield f"{place} is {new!r}, not {old!r}"
    elif old != new or type(old) is not type(new):
        yield f"{place} is {new!r}, not {old!r}"


def assert_recorded(name: str, compute: Any) -> None:
    old = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    found = list(differences(old, json.loads(json.dumps(compute()))))
    assert found == [], f"{len(found)} places changed; the first: {found[:10]}"


@pytest.mark.parametrize("name", QUICK)
def test_what_people_have_stays(name):
    assert_recorded(name, QUICK[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_what_takes_longer_stays(name):
    assert_recorded(name, SLOW[name])


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ({"a": [1.0, 1e-15]}, {"a": [1.0 + 1e-12, 0.0], "b": 2}, None),
        ({"a": 1.0}, {}, "/a is gone"),
        ({"a": [1.0, 2.0]}, {"a": [1.0, 2.0 + 1e-8]}, "/a/1 is 2.00000001, not 2.0"),
        ({"a": None}, {"a": 0.0}, "/a is 0.0, not None"),
        ({"some": [0.0], "size": 1.0, "sum": 0.0}, {"some": [0.0], "size": 1.0, "sum": 1e-8}, "/sum is 1e-08, not 0.0"),
    ],
)  # fmt: skip
def test_a_change_is_named_by_its_place(old, new, where):
    assert list(differences(old, new)) == ([] if where is None else [where])


def test_every_recorded_file_is_compared():
    files = {path.stem for path in HERE.glob("*.json")}
    assert files - {"models-3"} == {*QUICK, *SLOW}


def test_the_page_of_a_paper_shows_what_papers_are_written_like_today():
    """The three modules are run by tests/contracts/test_plugin.py; one that changes leaves papers behind."""
    page, recorded = (blocks(path, "py") for path in (ROOT / "docs/howto/paper.md", HERE / "paper.md"))
    assert page == recorded
