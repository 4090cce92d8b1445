"""Comma-separated tables: one header line, numbers below, and perhaps a column that names the client."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from bounds import InputError

from .tables import MOST_NUMBERS, Table, too_large

Lines = list[tuple[int, list[str]]]


def read_csv(path: Path, *, client: str | None, target: str, text_target: bool, divided: bool) -> list[Table]:
    """One table per value of the column `client` in order of appearance; not `divided`: one, and no such column."""
    header, lines = _parse(path)
    if not divided and client in header:
        raise InputError("split", "given", f"{path.name} has a column {client} that names clients; drop one of them")
    client = client if divided else None
    if target not in header:
        raise InputError(
            "target", target, f"no such column in {path.name}; columns: {', '.join(header)}; say which one by target"
        )
    if client is not None and client not in header:
        remedy = f"no such column in {path.name}; columns: {', '.join(header)}"
        raise InputError(
            "client", client, f"{remedy}; say which one by client, or how to divide it, as split = contiguous:8"
        )
    columns = tuple(column for column in header if column not in (client, target))
    if not columns:
        raise InputError("columns", header, "give at least one predictor beside client and target")
    if len(lines) * len(columns) > MOST_NUMBERS:
        raise too_large(path, len(lines), len(columns))
    at = header.index(target)
    text_target = text_target and not all(_is_number(row[at]) for _, row in lines)
    made = []
    for name, group in _groups(header, lines, client).items():
        whose = f" (client {name})" if name else ""
        X = _numbers(header, columns, group, whose)
        if text_target:
            y = np.array([row[at].strip() for _, row in group], dtype=str)
            if "" in y:
                line = group[y.tolist().index("")][0]
                raise InputError(f"{target} in line {line}{whose}", "", "give every row a class")
        else:
            y = _numbers(header, (target,), group, whose)[:, 0]
        made.append(Table(name=name, X=X, y=y, columns=columns))
    return made


def _groups(header: list[str], lines: Lines, client: str | None) -> dict[str, Lines]:
    if client is None:
        return {"": lines}
    at = header.index(client)
    groups: dict[str, Lines] = {}
    for line, row in lines:
        name = row[at].strip()
        if not name:
            raise InputError(f"{client} in line {line}", "", "name the client of every row")
        groups.setdefault(name, []).append((line, row))
    return groups


def _parse(path: Path) -> tuple[list[str], Lines]:
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
    if len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
        raise InputError("header", header[0], "separate the columns by commas")
    if len(set(header)) != len(header) or "" in header:
        raise InputError("header", header, "name every column, each once")
    for number, row in lines[1:]:
        if len(row) != len(header):
            raise InputError(f"line {number} of {path.name}", f"{len(row)} fields", f"give {len(header)} fields")
    return header, lines[1:]


def _numbers(header: list[str], columns: tuple[str, ...], lines: Lines, whose: str) -> np.ndarray:
    where = [header.index(column) for column in columns]
    numbers = np.empty((len(lines), len(columns)))
    for at, (line, row) in enumerate(lines):
        for slot, column in enumerate(where):
            place = f"{header[column]} in line {line}{whose}"
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


def _is_number(text: str) -> bool:
    try:
        parse_number("", text)
    except InputError:
        return False
    return True
