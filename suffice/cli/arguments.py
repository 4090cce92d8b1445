"""NAME=VALUE arguments."""

from __future__ import annotations

from typing import Any


def words(values: list[str]) -> dict[str, Any]:
    """NAME=VALUE pairs whose values are numbers or words."""
    from bounds import InputError

    words: dict[str, Any] = {}
    for entry in values:
        name, sign, text = entry.partition("=")
        if not sign or not name:
            raise InputError("option", entry, "write NAME=VALUE, for example period=5")
        if name in words:
            raise InputError(name, text, "given twice; give it once")
        try:
            words[name] = float(text)
        except ValueError:
            words[name] = text
    return words


def assignments(values: list[str]) -> dict[str, Any]:
    """NAME=VALUE pairs whose values are numbers."""
    from bounds import InputError

    from ..client_data import parse_number

    numbers: dict[str, Any] = {}
    for entry in values:
        name, sign, text = entry.partition("=")
        if not sign or not name:
            raise InputError("argument", entry, "write NAME=VALUE, for example mu=0.5")
        if name in numbers:
            raise InputError(name, text, "given twice; give it once")
        numbers[name] = parse_number(name, text)
    return numbers
