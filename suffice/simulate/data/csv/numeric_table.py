"""Comma-separated tables: one header line, numbers below, and perhaps a column that names the client."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np

from suffice.support.errors import InputError
from suffice.support.parse import parse_number

from ..memory import Memory, opened, pieces
from ..table import PER_TEXT, Asked, Table, check_clients, no_column
from .lines import INDEXES, csv_text_of, dialect_of, header_of, table_lines


class NotNumbers(InputError):
    """A table that holds more than numbers: `encoded` reads it."""


def read_csv(path: Path, asked: Asked, *, divided: bool) -> list[Table]:
    """One table per value of the column `client` in order of appearance; not `divided`: one, and no such column."""
    with opened(path, packed=False) as stream:
        most = _line_ends(stream)
    dialect = dialect_of(path)
    with csv_text_of(path) as text:
        lines = table_lines(path, text, dialect)
        header = header_of(next(lines, (0, []))[1])
        if set(INDEXES) & set(header) - set(asked.roles.values()):
            raise NotNumbers("header", header, "a column without a name")
        if not divided and asked.client in header:
            remedy = f"{path.name} has a column {asked.client} that names clients; drop one of them"
            raise InputError("split", "given", remedy)
        return _tables(path, header, lines, most, asked if divided else replace(asked, client=None))


def _line_ends(stream: IO[bytes]) -> int:
    """How many line ends there are, at most one per piece too many: no more rows are below a header."""
    return sum(piece.count(b"\n") + piece.count(b"\r") - piece.count(b"\r\n") for piece in pieces(stream))


def _tables(
    path: Path, header: list[str], lines: Iterator[tuple[int, list[str]]], most: int, asked: Asked
) -> list[Table]:
    client, target, memory = asked.client, asked.target, asked.memory
    if target not in header:
        raise no_column("target", target, header)
    if client is not None and client not in header:
        raise no_column("client", client, header, ", or how to divide it, as split = contiguous:8")
    columns = tuple(column for column in header if column not in (client, target))
    if not columns:
        raise InputError("columns", header, "give at least one predictor beside client and target")
    memory.take(f"the {most} x {len(header)} table {path.name}", 8.0 * most * len(header))
    where = [header.index(column) for column in columns]
    at, who = header.index(target), None if client is None else header.index(client)
    X, y, owner = np.empty((most, len(columns))), array("d"), array("q")
    clients: dict[str, int] = {}
    classes: dict[str, int] = {}
    rows = 0
    for line, row in lines:
        whose = ""
        if who is not None:
            name = row[who].strip()
            if not name:
                raise NotNumbers(f"{client} in line {line}", "", "name the client of every row")
            whose = f" (client {name})"
            owner.append(clients.setdefault(name, len(clients)))
            check_clients(f"{client} of {path.name}", len(clients))
        X[rows] = _numbers([row[j] for j in where], columns, line, whose)
        if asked.text_target:
            text = row[at].strip()
            if not text:
                raise InputError(f"{target} in line {line}{whose}", "", "give every row a class")
            if text not in classes:
                memory.take(f"the classes of {path.name}", PER_TEXT + 4 * len(text))
            y.append(classes.setdefault(text, len(classes)))
        else:
            y.append(_numbers([row[at]], (target,), line, whose)[0])
        rows += 1
    targets = np.array(y) if not asked.text_target else _classes(path, classes, np.array(y, dtype=int), memory)
    if who is None:
        return [Table(name="", X=X[:rows], y=targets, columns=columns)]
    whole, owners = Table(name="", X=X[:rows], y=targets, columns=columns), np.array(owner)
    return [whole.rows(name, np.flatnonzero(owners == code)) for name, code in clients.items()]


def _numbers(texts: list[str], columns: tuple[str, ...], line: int, whose: str) -> list[float]:
    """The numbers of some cells of a line."""
    together = "".join(texts)
    try:
        values = [float(text) for text in texts]
        if together.isascii() and "_" not in together and math.isfinite(sum(values)):
            return values
    except ValueError:
        pass
    values = []
    for column, text in zip(columns, texts):
        place = f"{column} in line {line}{whose}"
        try:
            values.append(parse_number(place, text))
        except InputError as error:
            raise NotNumbers(place, text, error.remedy) from None
        if not math.isfinite(values[-1]):
            raise InputError(place, text, "give a finite number")
    return values


def _classes(path: Path, classes: dict[str, int], codes: np.ndarray, memory: Memory) -> np.ndarray:
    """Every row's class: its text, or its number where every class is one."""
    try:
        values = np.array([parse_number("", text) for text in classes])
    except InputError:
        memory.take(f"the classes of {path.name}", 4.0 * len(codes) * max(map(len, classes)))
        values = np.array(list(classes), dtype=str)
    else:
        unclear = [text for text, value in zip(classes, values.tolist()) if not math.isfinite(value)]
        if unclear:
            raise InputError(f"classes of {path.name}", unclear[0], "give a finite number")
    return values[codes]
