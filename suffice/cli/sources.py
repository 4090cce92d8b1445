"""Options that say how a table of client data is read, the same for every command that reads one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

Client = Annotated[str | None, typer.Option(help="Client column of a CSV (client).")]
Target = Annotated[str | None, typer.Option(help="Target column of a CSV (target).")]
Standardise = Annotated[str | None, typer.Option(help="Predictors: client (default), pooled or none.")]
StandardiseTarget = Annotated[
    bool | None, typer.Option("--standardise-target", help="Standardise the target over all clients.")
]
Loss = Annotated[str | None, typer.Option(help="Of data: least-squares (default) or logistic.")]
Regularisation = Annotated[str | None, typer.Option(help="r in (r/2) |theta|^2 (0).")]
Intercept = Annotated[bool | None, typer.Option("--intercept/--no-intercept", help="A column of ones (with).")]
Batch = Annotated[int | None, typer.Option(help="Rows that one stochastic gradient averages (1).")]
Split = Annotated[
    str | None,
    typer.Option(help="Divide one table: contiguous:8, iid:8, dirichlet:8:0.1, labels:8, column:NAME."),
]
Seed = Annotated[int | None, typer.Option(help="Of a random split (0).")]
Positive = Annotated[list[str] | None, typer.Option(help="A label that is class 1; repeat for several.")]


def is_setup(name: str) -> bool:
    return name.lower().endswith(".toml")


def refuse_options(setup: str, data: dict[str, Any]) -> None:
    """A setup file says how its data are read: options that say so beside it are refused."""
    from bounds import InputError

    if data:
        name = next(iter(data)).replace("_", "-")
        raise InputError(f"--{name}", setup, "a setup file says this in its [data] table; drop the option")


def check_exists(setup: str) -> None:
    """Raise `InputError` unless `setup` names a file, a folder or a set that comes with scikit-learn."""
    from bounds import InputError

    from ..datasets import PREFIX

    if not (Path(setup).exists() or setup.startswith(PREFIX)):
        raise InputError("setup", setup, "no such file or folder")


def read_table(setup: str, data: dict[str, Any]) -> Any:
    """The problem on the data of `setup`, with the options of `suffice.read` that were given; `InputError`."""
    from ..client_data import as_label, parse_number, read

    check_exists(setup)
    _check_data(setup, data)
    data = dict(data)
    if "regularisation" in data:
        data["regularisation"] = parse_number("regularisation", data["regularisation"])
    if "positive" in data:
        data["positive"] = [as_label(text) for text in data["positive"]]
    return read(setup, **data)


def _check_data(setup: str, data: dict[str, Any]) -> None:
    """Refuse options that nothing would read: columns of files without names, the seed of what is not random."""
    from bounds import InputError

    from ..splits import parse_split

    path = Path(setup)
    tables = list(path.iterdir()) if path.is_dir() else [path]
    if not any(table.suffix.lower() == ".csv" for table in tables):
        for name in ("client", "target"):
            if name in data:
                raise InputError(name, data[name], "only a CSV has named columns; drop it")
    if path.is_dir() and "client" in data:
        raise InputError("client", data["client"], "a folder has one client per file; drop it")
    split = parse_split(data["split"]).kind if "split" in data else "missing"
    if "seed" in data and split in ("missing", "contiguous", "column"):
        raise InputError("seed", data["seed"], "only the splits iid, dirichlet and labels are random; drop it")
