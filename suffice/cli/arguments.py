"""NAME=VALUE arguments."""

from __future__ import annotations

from typing import Annotated, Any

import typer

OPTION = "Parameter of the algorithm as NAME=VALUE. Repeat it for several."


def option(help: str, *names: str) -> Any:
    """An option with its help."""
    return typer.Option(*names, help=help)


def argument(help: str) -> Any:
    """An argument, which stands without a flag, with its help."""
    return typer.Argument(help=help)


Parameters = Annotated[list[str] | None, option(OPTION, "--option")]


def words(values: list[str]) -> dict[str, Any]:
    """NAME=VALUE pairs whose values are numbers or words; `InputError` for what is no pair, or given twice."""
    from suffice.support.parse import as_label

    return {name: as_label(text) for name, text in texts("option", values, "period=5").items()}


def assignments(values: list[str]) -> dict[str, Any]:
    """NAME=VALUE pairs whose values are numbers, or `InputError`."""
    from suffice.support.parse import parse_number

    return {name: parse_number(name, text) for name, text in texts("argument", values, "mu=0.5").items()}


def texts(field: str, values: list[str], example: str) -> dict[str, str]:
    """NAME=VALUE pairs as they stand, or `InputError`."""
    from suffice.support.errors import InputError

    pairs: dict[str, str] = {}
    for entry in values:
        name, sign, text = entry.partition("=")
        if not sign or not name:
            raise InputError(field, entry, f"write NAME=VALUE, for example {example}")
        if name in pairs:
            raise InputError(name, text, "given twice; give it once")
        pairs[name] = text
    return pairs
