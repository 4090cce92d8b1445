"""Options in groups, a dataclass each; those that say how a table is read are the same for every command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_args

from suffice.support.errors import InputError
from suffice.support.parse import as_label, parse_number

from .arguments import option

STANDARDISE = "Scale predictors: pooled (over all clients, default), client (by its own) or none."
LOSS = "Loss of a row: auto (chosen from the target, default), least-squares or logistic."
PENALTY = "Penalty r in (r/2) |theta|^2 (default 0, or 0.1 if `auto` chooses logistic)."
MEMORY = "Memory limit in bytes for a table or a problem's matrices (default 2e9)."
Client = Annotated[str | None, option("Column that names the client (default: client).")]
Target = Annotated[str | None, option("Column to predict (default: target).")]
Drop = Annotated[list[str] | None, option("Column to leave out. Repeat the option for several.")]
Split = Annotated[
    str | None, option("Split a table into clients: column:NAME, iid:8, contiguous:8, dirichlet:8:0.1 or labels:8.")
]


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """Arguments of `suffice.read` as options; None where one is not given."""

    panel: ClassVar[str] = "How to read a table (suffice.read)"
    client: Client = None
    target: Target = None
    standardise: Annotated[str | None, option(STANDARDISE)] = None
    standardise_target: Annotated[
        bool | None, option("Standardise the target over all clients.", "--standardise-target")
    ] = None
    loss: Annotated[str | None, option(LOSS)] = None
    regularisation: Annotated[str | None, option(PENALTY)] = None
    intercept: Annotated[bool | None, option("Add a column of ones (default: yes).", "--intercept/--no-intercept")] = (
        None
    )
    batch: Annotated[int | None, option("Rows per stochastic gradient (default 1).")] = None
    split: Split = None
    seed: Annotated[int | None, option("Seed of a random split (default 0).")] = None
    positive: Annotated[list[str] | None, option("Label to count as class 1. Repeat the option for several.")] = None
    drop: Drop = None
    max_memory: Annotated[str | None, option(MEMORY)] = None

    def given(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for every field of its parameters that are dataclasses, each in a panel of --help."""
    own = inspect.signature(command, eval_str=True).parameters
    groups = {name: entry.annotation for name, entry in own.items() if is_dataclass(entry.annotation)}
    options = [entry for name, entry in own.items() if name not in groups]
    for group in groups.values():
        for entry in inspect.signature(group, eval_str=True).parameters.values():
            kind, info = get_args(entry.annotation)
            shown = copy(info)
            shown.rich_help_panel = group.panel
            options.append(entry.replace(annotation=Annotated[kind, shown]))  # ty: ignore[invalid-type-form]

    @wraps(command)
    def with_groups(**values: Any) -> None:
        made: dict[str, Any] = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**values, **made)

    vars(with_groups)["__signature__"] = inspect.Signature(options)  # what typer reads
    return with_groups


def is_setup(name: str) -> bool:
    return name.lower().endswith(".toml")


def has_sites(setup: str, split: str | None) -> bool:
    """Whether the file itself names every row's site."""
    from suffice.simulate.data.csv_file import is_csv

    path = Path(setup)
    return path.is_file() and is_csv(path) and (split is None or split.startswith("column:"))


def source_of(setup: str, data: DataOptions) -> tuple[Any, Any]:
    """The problem or constants that `setup` names, and the `Setup` of a setup file, which bars options on data."""
    from suffice.simulate.setup_file import read_setup

    if not setup:
        raise InputError("setup", setup, "name a setup file, a table or a folder")
    if not is_setup(setup):
        return _read_table(setup, data), None
    given = [name.replace("_", "-") for name in data.given() if name != "max_memory"]
    if given:
        raise InputError(f"--{given[0]}", setup, "a setup file says this in its [data] table; drop the option")
    chosen = read_setup(setup, target=False, **memory_limit(data))
    return chosen.source, chosen


def memory_limit(data: DataOptions) -> dict[str, Any]:
    """`max_memory` as a number, where it is given."""
    return {} if data.max_memory is None else {"max_memory": parse_number("max_memory", data.max_memory)}


def _read_table(setup: str, data: DataOptions) -> Any:
    """The problem on the data of `setup`, with the options of `suffice.read` that were given; `InputError`."""
    from suffice.simulate.data.memory import as_path
    from suffice.simulate.data.table import PREFIX
    from suffice.simulate.problems.read import read

    if not (setup.startswith(PREFIX) or as_path("setup", setup).exists()):
        raise InputError("setup", setup, "no such file or folder")
    given = data.given()
    _check_data(setup, given)
    if data.regularisation is not None:
        given["regularisation"] = parse_number("regularisation", data.regularisation)
    if data.positive is not None:
        given["positive"] = [as_label(text) for text in data.positive]
    return read(setup, **given | memory_limit(data))


def _check_data(setup: str, data: dict[str, Any]) -> None:
    """Refuse options that nothing would read: columns of files without names, the seed of what is not random."""
    from suffice.simulate.data.client_partition import parse_split
    from suffice.simulate.data.csv_file import is_csv
    from suffice.simulate.data.table import PREFIX

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
