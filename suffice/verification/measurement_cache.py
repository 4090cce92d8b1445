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
        return _kept(_results, (make, given, named), lambda: make(*given, **named))

    return found


def once(algorithm: Algorithm, asked: tuple[Any, ...], make: Callable[[], Found]) -> Found:
    """The result of `make` for `asked`, a question about an algorithm. It is made once in a process if the algorithm is
    the library's own and its options are plain, as checks are often repeated."""
    plain = all(isinstance(each, bool | int | float | str | Tensor) for each in vars(algorithm).values())
    if not plain or not type(algorithm).__module__.startswith("suffice."):
        return make()
    return _kept(_found_once, (type(algorithm), vars(algorithm), asked), make)


_found_once: dict[Any, Any] = {}


def _kept(results: dict[Any, Any], question: tuple[Any, ...], make: Callable[[], Found]) -> Found:
    key = _hashable(question)
    if key not in results:
        while len(results) >= MOST:
            del results[next(iter(results))]
        results[key] = make()
    return results[key]


def _hashable(value: Any) -> Any:
    if isinstance(value, dict | tuple):
        return tuple(map(_hashable, value.items() if isinstance(value, dict) else value))
    value = value.numpy() if isinstance(value, Tensor) else value
    return (value.shape, blake2b(value.tobytes(), digest_size=16).digest()) if hasattr(value, "tobytes") else value
