"""What was measured, kept while claims are checked that ask for it again."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

MOST = 128
"""Results that are kept at a time."""
_results: dict[Any, Any] | None = None

Given = ParamSpec("Given")
Found = TypeVar("Found")


@contextmanager
def caching() -> Generator[None]:
    """Inside, a function that is `cached` is called once for the same arguments: a record and its extension measure the
    same instances, and several records read the same simulation."""
    global _results
    _results = {}
    try:
        yield
    finally:
        _results = None


def cached(make: Callable[Given, Found]) -> Callable[Given, Found]:
    """`make`, whose results are kept inside `caching`; nobody writes to them. Arrays count by their bytes."""

    @wraps(make)
    def found(*given: Given.args, **named: Given.kwargs) -> Found:
        if _results is None:
            return make(*given, **named)
        key = make, *map(_hashable, given), _hashable(named)
        if key not in _results:
            while len(_results) >= MOST:
                del _results[next(iter(_results))]
            _results[key] = make(*given, **named)
        return _results[key]

    return found


def _hashable(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((name, _hashable(each)) for name, each in value.items())
    return (value.shape, value.tobytes()) if hasattr(value, "tobytes") else value
