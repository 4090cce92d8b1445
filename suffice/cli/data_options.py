"""Options that say how a table of client data is read, the same for every command that reads one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

PANEL = "How to read a table (suffice.read)"
Site = Annotated[str | None, typer.Option(help="Column that names the site (default: client).")]
Target = Annotated[str | None, typer.Option(help="Column to predict (default: target).")]
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out. Repeat the option for several.")]
Split = Annotated[
    str | None,
    typer.Option(help="Split a table into sites: column:NAME, iid:8, contiguous:8, dirichlet:8:0.1 or labels:8."),
]


def _option(kind: Any, help: str, *names: str) -> Any:
    return Annotated[kind | None, typer.Option(*names, help=help, rich_help_panel=PANEL)]


OPTIONS: dict[str, Any] = {
    "client": _option(str, "CSV column that names the client (default: client)."),
    "target": _option(str, "CSV column to predict (default: target)."),
    "standardise": _option(str, "Scale predictors: pooled (over all clients, default), client (by its own) or none."),
    "standardise_target": _option(bool, "Standardise the target over all clients.", "--standardise-target"),
    "loss": _option(str, "Loss of a row: auto (chosen from the target, default), least-squares or logistic."),
    "regularisation": _option(str, "Penalty r in (r/2) |theta|^2 (default 0, or 0.1 if `auto` chooses logistic)."),
    "intercept": _option(bool, "Add a column of ones (default: yes).", "--intercept/--no-intercept"),
    "batch": _option(int, "Rows per stochastic gradient (default 1)."),
    "split": _option(str, "Split a table into clients: column:NAME, iid:8, contiguous:8, dirichlet:8:0.1 or labels:8."),
    "seed": _option(int, "Seed of a random split (default 0)."),
    "positive": _option(list[str], "Label to count as class 1. Repeat the option for several."),
    "drop": _option(list[str], "CSV column to leave out. Repeat the option for several."),
    "max_memory": _option(str, "Memory limit in bytes for a table or a problem's matrices (default 2e9)."),
}
"""Arguments of `suffice.read` with their declaration as an option; None where one is not given."""


def takes_data(command: Callable[..., None]) -> Callable[..., None]:
    """The command with all `OPTIONS`; its keyword-only `data` is a dictionary of those that were given."""
    signature = inspect.signature(command, eval_str=True)
    own = [entry for name, entry in signature.parameters.items() if name != "data"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in OPTIONS.items()
    ]

    @wraps(command)
    def with_data(**values: Any) -> None:
        given = {name: values.pop(name) for name in OPTIONS}
        command(**values, data={name: value for name, value in given.items() if value is not None})

    vars(with_data)["__signature__"] = signature.replace(parameters=[*own, *added])  # what typer reads
    return with_data


def is_setup(name: str) -> bool:
    return name.lower().endswith(".toml")


def refuse_options(setup: str, data: dict[str, Any]) -> None:
    """A setup file says how its data are read: options that say so beside it are refused."""
    from suffice.support.errors import InputError

    given = [name.replace("_", "-") for name in data if name != "max_memory"]
    if given:
        raise InputError(f"--{given[0]}", setup, "a setup file says this in its [data] table; drop the option")


def memory_limit(data: dict[str, Any]) -> dict[str, Any]:
    """`max_memory` as a number, where it is given."""
    from suffice.support.parse import parse_number

    return {name: parse_number(name, text) for name, text in data.items() if name == "max_memory"}


def check_exists(setup: str) -> None:
    """Raise `InputError` unless `setup` names a file, a folder or a set that comes with scikit-learn."""
    from suffice.simulate.data.embedded import PREFIX
    from suffice.simulate.data.memory import as_path
    from suffice.support.errors import InputError

    if not (setup.startswith(PREFIX) or as_path("setup", setup).exists()):
        raise InputError("setup", setup, "no such file or folder")


def read_table(setup: str, data: dict[str, Any]) -> Any:
    """The problem on the data of `setup`, with the options of `suffice.read` that were given; `InputError`."""
    from suffice.simulate.problems.read import read
    from suffice.support.parse import as_label, parse_number

    check_exists(setup)
    _check_data(setup, data)
    data = data | memory_limit(data)
    if "regularisation" in data:
        data["regularisation"] = parse_number("regularisation", data["regularisation"])
    if "positive" in data:
        data["positive"] = [as_label(text) for text in data["positive"]]
    return read(setup, **data)


def _check_data(setup: str, data: dict[str, Any]) -> None:
    """Refuse options that nothing would read: columns of files without names, the seed of what is not random."""
    from suffice.simulate.data.embedded import PREFIX
    from suffice.simulate.data.splits import parse_split
    from suffice.simulate.data.text_file import is_csv
    from suffice.support.errors import InputError

    path = Path(setup)
    tables = list(path.iterdir()) if path.is_dir() else [path]
    if not any(map(is_csv, tables)):
        known = () if setup.startswith(PREFIX) else ("client",)  # columns of a set have names, its target has none
        for name in (*known, "target"):
            if name in data:
                raise InputError(name, data[name], "only a CSV has named columns; drop it")
    if path.is_dir() and "client" in data:
        raise InputError("client", data["client"], "a folder has one client per file; drop it")
    split = parse_split(data["split"]).kind if "split" in data else "missing"
    if "seed" in data and split in ("missing", "contiguous", "column"):
        raise InputError("seed", data["seed"], "only the splits iid, dirichlet and labels are random; drop it")
