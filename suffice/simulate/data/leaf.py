"""LEAF's folders of JSON, by client: FEMNIST's writers with images, Shakespeare's roles with texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np

from suffice.support.errors import InputError

from .memory import MAX_MEMORY, Memory, as_path, whole
from .plays import ALPHABET


class LeafRows(msgspec.Struct):
    x: list[list[float] | str]
    y: list[int | str]


class Part(msgspec.Struct):
    users: list[str]
    user_data: dict[str, LeafRows]


LARGEST_FILE = 2**30
EXPECTED = 'give a folder of LEAF\'s .json files with "users" and "user_data", as data/train'


def leaf(
    path: str | Path, *, least: int = 1, max_memory: float = MAX_MEMORY
) -> Mapping[str, tuple[np.ndarray, np.ndarray]]:
    """Read rows X (n, d) and targets y (n,) of each client with at least `least` rows, by name.

    `path` is a folder, all of whose .json files are read.
    Numbers become float32 and labels int64 (FEMNIST). Texts of one length become the places of their characters in
    `suffice.simulate.data.plays.ALPHABET` (Shakespeare). Files of more than `max_memory` bytes in all are refused.
    Raises `InputError`, also where no client has `least` rows.

    Source: LEAF (Caldas et al. 2018), https://leaf.cmu.edu.
    """
    folder = as_path("path", path)
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not files:
        raise InputError("path", str(path), EXPECTED)
    memory, found = Memory(max_memory), dict[str, tuple[np.ndarray, np.ndarray]]()
    for file in files:
        memory.take(file.name, float(file.stat().st_size))
        try:
            part = msgspec.json.decode(whole(file, field="path", most=LARGEST_FILE), type=Part)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError("path", file.name, f"{error}; {EXPECTED}") from None
        for name in part.users:
            if name in found or name not in part.user_data:
                remedy = "an earlier file has this user; give one split at a time"
                remedy = remedy if name in found else "it has no rows in user_data"
                raise InputError(f"user in {file.name}", name, remedy)
            found[name] = _arrays(f"rows of {name} in {file.name}", part.user_data[name])
    kept = {name: rows for name, rows in found.items() if len(rows[1]) >= least}
    if not kept:
        most = max((len(y) for _, y in found.values()), default=0)
        raise InputError("least", least, f"of {len(found)} clients the largest has {most} rows")
    return kept


def _arrays(place: str, rows: LeafRows) -> tuple[np.ndarray, np.ndarray]:
    x, y = rows.x, rows.y
    if not x or len(x) != len(y):
        raise InputError(place, f"{len(x)} x and {len(y)} y", "give as many of both, at least one")
    codes = {letter: at for at, letter in enumerate(ALPHABET)}
    places = [[codes.get(letter, len(ALPHABET)) for letter in row] if isinstance(row, str) else row for row in x]
    targets = [codes.get(label[:1], len(ALPHABET)) if isinstance(label, str) else label for label in y]
    try:
        X, found = np.array(places, np.int64 if isinstance(x[0], str) else np.float32), np.array(targets, np.int64)
    except (ValueError, OverflowError):
        X, found = np.empty(0), np.empty(0)
    if X.ndim != 2 or not np.isfinite(X).all() or len({isinstance(row, str) for row in (*x, *y)}) > 1:
        raise InputError(place, "x", "give rows of one length, all of numbers or all of texts")
    return X, found
