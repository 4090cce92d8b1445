"""Measurements are kept while claims are checked that ask for them again."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from hashlib import blake2b
from typing import Any, ParamSpec, TypeVar

from torch import Tensor

from suffice.simulate import Algorithm

MOST = 512
"""Results that are kept at a time: the checks of a record and of its extension ask for several hundred."""
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
    return (value.shape, blake2b(value.tobytes(), digest_size=16).digest()) if hasattr(value, "tobytes") else value


known: dict[tuple[Any, ...], Any] = {}
"""Results that `once` keeps, by algorithm and question."""


def once(algorithm: Algorithm, asked: tuple[Any, ...], make: Callable[[], Found]) -> Found:
    """What `make` finds of one of the library's own algorithms and what is `asked` of it, made once in a process where
    its options are plain: whoever checks, checks again."""
    options = vars(algorithm)
    if not type(algorithm).__module__.startswith("suffice.") or not all(
        isinstance(each, bool | int | float | str | Tensor) for each in options.values()
    ):
        return make()
    plain = {name: each.numpy() if isinstance(each, Tensor) else each for name, each in options.items()}
    key = (type(algorithm), _hashable(plain), *map(_hashable, asked))
    if key not in known:
        known[key] = make()
    return known[key]
