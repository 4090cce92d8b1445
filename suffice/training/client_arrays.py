"""Every client's rows as arrays: from a table, a folder of .npz files, or images in IDX files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np

from suffice.simulate.data.client_partition import parse_split, parts_of
from suffice.simulate.data.design import Design
from suffice.simulate.data.encoding import Encoding
from suffice.simulate.data.memory import as_path
from suffice.simulate.data.mnist import mnist, mnist_part
from suffice.simulate.data.npz import read_arrays
from suffice.simulate.data.site_source import read_sites
from suffice.simulate.data.source import UNDIVIDED
from suffice.simulate.data.table import PREFIX
from suffice.simulate.problems.network_input import held_out
from suffice.support.errors import InputError
from suffice.support.memory import Memory

Arrays = list[np.ndarray]
_PARTS = ("X", "y", "X_test", "y_test")


@dataclass(frozen=True, kw_only=True)
class TableReading:
    """How rows of a table became arrays: its columns are encoded, then `standardised`, shifted and divided by the mean
    and the deviation over all rows, and so is a target of numbers."""

    client: str
    target: str
    design: Design
    encoding: Encoding
    standardised: dict[str, tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class ClientArrays:
    """X (n_i, ...) and y (n_i, ...) of each client, for training and for tests.

    classes  what the labels 0, 1, ... mean; none where targets are numbers
    reading  of a table, how its rows became arrays
    """

    names: tuple[str, ...]
    X: Arrays
    y: Arrays
    X_test: Arrays
    y_test: Arrays
    classes: tuple[str, ...] = ()
    reading: TableReading | None = None
    notes: tuple[str, ...] = ()


def client_arrays(
    source: Any,
    *,
    client: str,
    target: str,
    loss: str,
    drop: Sequence[str],
    split: str | None,
    test: float,
    seed: int,
    max_memory: float,
) -> ClientArrays:
    """The arrays of `source`; `test` is the share of each client's rows that tests take. Raises `InputError`."""
    named = isinstance(source, str | Path) and str(source) != "" and not str(source).startswith(PREFIX)
    path = as_path("setup", source) if named else None
    if path is not None and not path.exists():
        raise InputError("setup", str(path), "no such file or folder")
    files = sorted(path.glob("*.npz")) if path is not None and path.is_dir() else []
    part = None if path is None else mnist_part(path)
    if not (files or part):
        how: dict[str, Any] = {"client": client, "target": target, "loss": loss, "drop": drop, "split": split}
        return _of_table(source, test, seed=seed, max_memory=max_memory, **how)
    for name, value, usual in (("client", client, "client"), ("target", target, "target"), ("drop", drop, ())):
        if value != usual:
            raise InputError(name, value, "only a table has named columns; drop it")
    if loss != "auto":
        raise InputError("loss", loss, "arrays say by their type whether they are labels; drop it")
    if path is not None and part:
        if split is None or (rule := parse_split(split)).kind == "column":
            raise InputError("split", split or "missing", UNDIVIDED)
        whole = mnist(path, part=part, max_memory=max_memory)
        side = isqrt(whole.X.shape[1])
        shape = (1, side, side) if side * side == whole.X.shape[1] else whole.X.shape[1:]
        clients = {
            str(at): {"X": whole.X[rows].reshape(-1, *shape), "y": whole.y[rows].astype(int)}
            for at, rows in enumerate(parts_of(whole.y, rule, seed))
        }
    else:
        if split is not None:
            raise InputError("split", split, "a folder has one client per file; drop it")
        memory = Memory(max_memory)
        clients = {file.stem: _parts(file, memory) for file in files}
    return _divided(clients, test, seed)


def _parts(file: Path, memory: Memory) -> dict[str, np.ndarray]:
    arrays = read_arrays("setup", file, memory)
    tests = {"X_test", "y_test"} & set(arrays)
    if not {"X", "y"} <= set(arrays) <= set(_PARTS) or len(tests) == 1:
        raise InputError(f"arrays of {file.name}", sorted(arrays), "give X and y and, optionally, X_test and y_test")
    for of, answer in (("X", "y"), ("X_test", "y_test"))[: 1 + bool(tests)]:
        if arrays[of].ndim < 2 or arrays[answer].ndim < 1 or len(arrays[of]) != len(arrays[answer]):
            shapes = [arrays[of].shape, arrays[answer].shape]
            raise InputError(f"{of} and {answer} of {file.name}", shapes, "give shapes (n, ...) and (n,)")
    return arrays


def _of_table(source: Any, test: float, *, seed: int, **how: Any) -> ClientArrays:
    sites, loss = read_sites(source, seed=seed, keep=True, **how)
    encoding, X, y = sites.encoded(), sites.X, sites.y
    columns = dict(zip(encoding.columns, np.concatenate(X).T))
    numbers = loss == "least-squares"
    if numbers:
        columns[sites.target] = np.concatenate(y)
    mean, scale = np.array([(values.mean(), values.std()) for values in columns.values()]).T
    constant = scale <= 1e-9 * np.abs(mean)  # rounding
    if numbers and constant[-1]:
        raise InputError(f"column {sites.target}", float(mean[-1]), "the same in every row; give a target that varies")
    scale = np.where(constant, 1.0, scale)
    p = len(encoding.columns)
    clients = {
        name: {
            "X": (rows - mean[:p]) / scale[:p],
            "y": (own - mean[-1]) / scale[-1] if numbers else own.astype(int),
        }
        for name, rows, own in zip(sites.names, X, y)
    }
    notes = (*sites.notes, *encoding.remarks(sites.design, constant[:p]))
    if numbers:
        notes += (f"{sites.target} is divided by its deviation: a loss of 1 is that of a constant",)
    standardised = dict(zip(columns, zip(mean.tolist(), scale.tolist())))
    reading = TableReading(client=how["client"], target=sites.target, design=sites.design, encoding=encoding,
                      standardised=standardised)  # fmt: skip
    return _divided(clients, test, seed, sites.classes, reading=reading, notes=notes)


def _divided(
    clients: dict[str, dict[str, np.ndarray]], share: float, seed: int, classes: tuple[str, ...] = (), **rest: Any
) -> ClientArrays:
    """Clients with their own rows for tests, or a share of each one's; labels become 0, 1, ... where they are not."""
    for at, (name, own) in enumerate(clients.items()):
        if "X_test" not in own:
            out = held_out(name, len(own["X"]), "test", share, seed=seed, number=at).numpy()
            clients[name] = {f"{key}{end}": own[key][rows] for end, rows in (("", ~out), ("_test", out)) for key in own}
    answers = [own[key] for key in ("y", "y_test") for own in clients.values()]
    labels = [each.dtype.kind not in "fc" for each in answers]
    if any(labels) and not classes:
        if not all(labels):
            raise InputError("y", "labels and numbers", "give all clients whole numbers or texts as labels, or numbers")
        found = np.unique(np.concatenate([each.ravel() for each in answers]))
        if len(found) < 2:
            raise InputError("y", found.tolist(), "one class alone; give at least two")
        classes = tuple(map(str, found.tolist()))
        for own in clients.values():
            own |= {key: np.searchsorted(found, own[key]) for key in ("y", "y_test")}
    arrays: dict[str, Any] = {key: [own[key] for own in clients.values()] for key in _PARTS}
    return ClientArrays(names=tuple(clients), classes=classes, **arrays, **rest)
