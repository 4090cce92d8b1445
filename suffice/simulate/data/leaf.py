"""LEAF's folders of JSON, by client: FEMNIST's writers with images, Shakespeare's roles with texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from suffice.support.errors import InputError

from .memory import MAX_MEMORY, Memory, as_path, whole
from .plays import ALPHABET

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
    memory, found = Memory(max_memory), {}
    for file in files:
        memory.take(file.name, float(file.stat().st_size))
        for name, rows in _users(file).items():
            if name in found:
                raise InputError(
                    f"user in {file.name}", name, "an earlier file has this user; give one split at a time"
                )
            found[name] = _arrays(file, name, rows)
    kept = {name: rows for name, rows in found.items() if len(rows[1]) >= least}
    if not kept:
        most = max((len(y) for _, y in found.values()), default=0)
        raise InputError("least", least, f"of {len(found)} clients the largest has {most} rows")
    return kept


def _users(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(whole(file, field="path", most=LARGEST_FILE))
    except (ValueError, RecursionError):
        raise InputError("path", file.name, "not JSON, or cut off") from None
    users = content.get("user_data") if isinstance(content, dict) else None
    if not isinstance(users, dict) or not isinstance(content.get("users"), list):
        raise InputError("path", file.name, EXPECTED)
    for name in content["users"]:
        if not isinstance(name, str) or name not in users:
            raise InputError(f"user in {file.name}", name, "it has no rows in user_data")
    return users


def _arrays(file: Path, name: str, rows: Any) -> tuple[np.ndarray, np.ndarray]:
    place = f"rows of {name} in {file.name}"
    if not isinstance(rows, dict) or not all(isinstance(rows.get(key), list) for key in "xy"):
        raise InputError(place, type(rows).__name__, 'give {"x": [...], "y": [...]}')
    x, y = rows["x"], rows["y"]
    if not x or len(x) != len(y):
        raise InputError(place, f"{len(x)} x and {len(y)} y", "give as many of both, at least one")
    if all(isinstance(text, str) and text for text in (*x, *y)):
        codes = {letter: at for at, letter in enumerate(ALPHABET)}
        x = [[codes.get(letter, len(ALPHABET)) for letter in text] for text in x]
        y = [codes.get(text[0], len(ALPHABET)) for text in y]
        kind: Any = np.int64
    else:
        kind = np.float32
    try:
        X, targets = np.array(x, kind), np.array(y)
    except (TypeError, ValueError):
        raise InputError(place, "x", "give rows of one length, of numbers or texts") from None
    if X.ndim != 2 or targets.ndim != 1 or targets.dtype.kind not in "iu" or not np.isfinite(X).all():
        raise InputError(place, f"x {X.shape}, y {targets.dtype}", "give rows of finite numbers and whole labels")
    return X, targets.astype(np.int64)
