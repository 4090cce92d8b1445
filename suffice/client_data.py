"""Clients' data from files and arrays to a problem."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds import InputError, as_numbers, check_names

if TYPE_CHECKING:
    from simulate import LeastSquares

STANDARDISE = ("client", "pooled", "none")


def read(
    path: str | Path,
    *,
    client: str = "client",
    target: str = "target",
    loss: str = "least-squares",
    intercept: bool = True,
    standardise: str = "client",
    standardise_target: bool = False,
) -> LeastSquares:
    """A least-squares problem from one CSV with a client column, or a folder of CSVs (one per client).

    Every column but `client` and `target` is a predictor and must be numeric. `standardise` sets the
    predictors to mean 0 and deviation 1 per client, over all clients, or not at all;
    `standardise_target` does so to the target, always over all clients. Raises `InputError`.
    """
    if loss != "least-squares":
        raise InputError("loss", loss, 'only "least-squares" is available in this version')
    if not str(path):
        raise InputError("path", "", "name a .csv file or a folder of them")
    for name, value in (("intercept", intercept), ("standardise_target", standardise_target)):
        if not isinstance(value, bool):
            raise InputError(name, value, "give true or false")
    single = not Path(path).is_dir()
    if single and client == target:
        raise InputError("target", target, "the client column cannot be the target; name another column")
    tables = _tables(Path(path), client)
    names, blocks, targets, predictors = [], [], [], None
    for name, header, rows in tables:
        if target not in header:
            where = path if single else f"{name}.csv"
            raise InputError("target", target, f"no such column in {where}; columns: {', '.join(header)}")
        columns = [column for column in header if column != target and not (single and column == client)]
        if predictors is not None and sorted(columns) == sorted(predictors):
            columns = predictors
        if predictors is not None and columns != predictors:
            raise InputError(f"columns of client {name}", columns, f"give the same predictors to all: {predictors}")
        predictors = columns
        numbers = _numbers(name, header, [*columns, target], rows)
        names.append(name)
        blocks.append(numbers[:, :-1])
        targets.append(numbers[:, -1])
    return from_arrays(
        blocks,
        targets,
        names=names,
        columns=predictors or [],
        intercept=intercept,
        standardise=standardise,
        standardise_target=standardise_target,
    )


def from_arrays(
    X: Sequence[Any],
    y: Sequence[Any],
    *,
    names: Sequence[str] = (),
    columns: Sequence[str] = (),
    intercept: bool = True,
    standardise: str = "client",
    standardise_target: bool = False,
) -> LeastSquares:
    """As `read`, from one (n_i, d) array and one (n_i,) array per client."""
    from simulate import LeastSquares

    if standardise not in STANDARDISE:
        raise InputError("standardise", standardise, f"use {', '.join(STANDARDISE)}")
    labels = list(names) or [str(i) for i in range(len(X))]
    check_names(labels, len(X))
    blocks = [as_numbers(f"X of client {label}", block, ("n", "d")) for label, block in zip(labels, X)]
    targets = [as_numbers(f"y of client {label}", target, ("n",)) for label, target in zip(labels, y)]
    if not blocks:
        raise InputError("clients", 0, "give at least one client")
    for label, block in zip(labels, blocks):
        if len(block) == 0:
            raise InputError(f"rows of client {label}", 0, "give every client at least one row")
    if len({block.shape[1] for block in blocks}) > 1 or len(targets) != len(blocks):
        shapes = [block.shape for block in blocks]
        raise InputError("X", shapes, "give the same predictors, and one y, for every client")
    everything = np.concatenate(blocks)
    if standardise != "none":
        for at, (label, block) in enumerate(zip(labels, blocks)):
            reference = block if standardise == "client" else everything
            deviation = reference.std(0)
            constant = np.flatnonzero(deviation <= 1e-12 * np.abs(reference).max(0))
            if constant.size:
                column = columns[constant[0]] if len(columns) > constant[0] else f"column {constant[0]}"
                if len(reference) == 1:
                    raise InputError(f"rows of client {label}", 1, "give at least two rows to standardise, or pooled")
                owner = f"client {label}" if standardise == "client" else "all clients"
                raise InputError(f"{column} of {owner}", "constant", "drop it, or use standardise = none or pooled")
            blocks[at] = (block - reference.mean(0)) / deviation
    if standardise_target:
        pooled = np.concatenate(targets)
        if pooled.std() == 0:
            raise InputError("target", "constant", "nothing to learn; give a target that varies")
        targets = [(values - pooled.mean()) / pooled.std() for values in targets]
    if intercept:
        blocks = [np.column_stack((np.ones(len(block)), block)) for block in blocks]
    return LeastSquares.of(blocks, targets, names=labels)


def _tables(path: Path, client: str) -> list[tuple[str, list[str], list[tuple[int, list[str]]]]]:
    """(client, header, numbered rows) for each client, in the order of first appearance (files: by name)."""
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() == ".csv" and file.name[0] != ".")
        if not files:
            raise InputError("path", str(path), "no .csv file in this folder")
        return [(file.stem, *_parse(file)) for file in files]
    if path.suffix.lower() != ".csv":
        raise InputError("path", str(path), "give a .csv file, or a folder of them")
    header, rows = _parse(path)
    if client not in header:
        raise InputError("client", client, f"no such column in {path.name}; columns: {', '.join(header)}")
    at = header.index(client)
    groups: dict[str, list[tuple[int, list[str]]]] = {}
    for line, row in rows:
        name = row[at].strip()
        if not name:
            raise InputError(f"{client} in line {line}", "", "name the client of every row")
        groups.setdefault(name, []).append((line, row))
    return [(name, header, group) for name, group in groups.items()]


def _parse(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError("path", str(path), (error.strerror or "cannot be read").lower()) from None
    except UnicodeDecodeError:
        raise InputError("path", str(path), "not UTF-8 text; save the table as UTF-8 CSV") from None
    except ValueError:
        raise InputError("path", str(path), "not a file name") from None
    try:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        lines = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise InputError("path", str(path), f"not a CSV table ({error})") from None
    if len(lines) < 2:
        raise InputError("path", str(path), "give a header line and at least one row")
    header = [column.strip() for column in lines[0][1]]
    if len(set(header)) != len(header) or "" in header:
        raise InputError("header", header, "name every column, each once")
    for number, row in lines[1:]:
        if len(row) != len(header):
            raise InputError(f"line {number} of {path.name}", f"{len(row)} fields", f"give {len(header)} fields")
    return header, lines[1:]


def _numbers(name: str, header: list[str], columns: list[str], rows: list[tuple[int, list[str]]]) -> np.ndarray:
    where = [header.index(column) for column in columns]
    numbers = np.empty((len(rows), len(columns)))
    for at, (line, row) in enumerate(rows):
        for slot, column in enumerate(where):
            place = f"{header[column]} in line {line} (client {name})"
            numbers[at, slot] = parse_number(place, row[column])
            if not np.isfinite(numbers[at, slot]):
                raise InputError(place, row[column], "give a finite number")
    return numbers


def parse_number(place: str, text: str) -> float:
    """A plain decimal number; Python's own extras (underscores, other alphabets' digits) are refused."""
    try:
        if not text.isascii() or "_" in text:
            raise ValueError
        return float(text)
    except ValueError:
        raise InputError(place, text, "give a number") from None
