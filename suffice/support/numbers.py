"""Values that a user hands in, checked: as float64 arrays, one number, a whole one, a word, a flag or names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from .errors import InputError

LARGEST, LEAST = 1e60, 1e-60
"""Magnitudes beyond 1e60 (or, for what must be positive, below 1e-60) overflow in products: they are refused."""

MOST_WHOLE = 2**63 - 1
"""Larger whole numbers fit no array."""


def real_array(name: str, value: Any) -> np.ndarray:
    """`value` as a float64 array of whatever shape and size it has, or `InputError`.

    Truth values, texts, complex numbers and rows of different lengths are no numbers here; NaN and infinity are.
    """
    try:
        raw = np.asarray(value)
        entries = raw.flat if raw.dtype.kind == "O" else ()  # whole numbers of any size, fractions, mpmath's
        if raw.dtype.kind in "iufO" and not any(isinstance(entry, bool | str | bytes | None) for entry in entries):
            return np.array(raw, dtype=float)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # the last is torch's, of a tensor with a gradient
        pass
    raise InputError(name, value, "give real numbers (every row of the same length)")


def as_numbers(
    name: str,
    value: Any,
    shape: tuple[int | str, ...],
    *,
    one_for_all: bool = False,
    infinite: bool = False,
    positive: bool = False,
) -> np.ndarray:
    """`value` as a float64 array of `shape` (a string is a free axis), or `InputError`.

    NaN is never legitimate, infinity only with `infinite`; truth values, texts and complex numbers are not
    numbers here. With `positive` every entry is in [1e-60, 1e60]. With `one_for_all` one number stands for every
    entry, and for a single one along a free axis.
    """
    array = real_array(name, value)
    if one_for_all and array.ndim == 0:
        array = np.full([size if isinstance(size, int) else 1 for size in shape], array.item())
    if array.ndim != len(shape) or any(size != have for size, have in zip(shape, array.shape) if isinstance(size, int)):
        wanted = f"shape ({', '.join(str(size) for size in shape)})" if shape else "one number"
        wanted += " or one number" if one_for_all else ""
        raise InputError(name, f"array of shape {array.shape}", f"give {wanted}")
    within = np.abs(array).max(initial=0.0) <= LARGEST  # one pass over what is as it should be
    if not within:
        left = np.where(np.isinf(array), 0, array) if infinite else array
        worst = left.flat[np.abs(left).argmax()].item()  # NaN is the largest there
        if math.isfinite(worst) and abs(worst) > LARGEST:
            raise InputError(name, worst, f"give numbers up to {LARGEST:g}; change units")
        if not math.isfinite(worst):
            remedy = "infinity has no meaning here; give finite numbers"
            raise InputError(name, worst, remedy if math.isinf(worst) else "replace NaN by numbers")
    if positive:
        least = array.min(initial=np.inf, where=True if within else np.isfinite(array))
        if least < LEAST:
            raise InputError(name, least.item(), f"give positive numbers (at least {LEAST:g})")
    return array


def as_number(name: str, value: Any, *, least: float = -LARGEST, most: float = LARGEST) -> float:
    """One finite number in [least, most], or `InputError`."""
    plain = type(value) is float and abs(value) <= LARGEST  # every instance of a family is checked: no array is made
    number = value if plain else as_numbers(name, value, ()).item()
    if not least <= number <= most:
        wanted = f"in [{least:g}, {most:g}]" if most < LARGEST else f">= {least:g}"
        raise InputError(name, value, f"give a number {wanted}")
    return number


def check_numbers(name: str, document: Any) -> None:
    """`InputError` unless every number anywhere in a JSON document is one that `as_number` takes."""
    if isinstance(document, dict):
        for key, value in document.items():
            check_numbers(f"{key} of {name}", value)
    elif isinstance(document, (list, tuple)):
        for value in document:
            check_numbers(name, value)
    elif isinstance(document, (int, float)) and not isinstance(document, bool):
        as_number(name, document)


def as_whole(name: str, value: Any, *, least: int = 1) -> int:
    """A whole number in [least, 2^63), or `InputError`: 2.0 is none, nor is a truth value."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < least:
        some = " (an interval is given to sf.check(period=(1, 10)))" * (
            name == "period" and type(value) in (tuple, list)
        )
        raise InputError(name, value, f"give a whole number, at least {least}{some}")
    whole = int(value)
    if whole > MOST_WHOLE:
        raise InputError(name, f"about 1e{whole.bit_length() * 30103 // 100000}", f"give at most {MOST_WHOLE}")
    return whole


def as_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """One of the words, or `InputError`."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(name, value, f"use {', '.join(choices[:-1])} or {choices[-1]}")
    return value


def as_flag(name: str, value: Any) -> bool:
    """True or False, or `InputError`."""
    if not isinstance(value, bool):
        raise InputError(name, value, "give True or False")
    return value


def check_whole(field: str, names: Iterable[str]) -> None:
    """`InputError` where a name holds half of a character, as that of a file may: no table and no UTF-8 can hold it."""
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InputError(field, name, "half of a character: give a name of whole ones (UTF-8)") from None


def plain(value: Any) -> Any:
    """`value` as JSON has it: lists for arrays, None for numbers that are infinite or none."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
