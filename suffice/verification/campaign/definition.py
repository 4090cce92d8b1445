"""A campaign file (strict TOML) and the cells it names; docs/campaigns.md has an example of each entry."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import islice, product
from pathlib import Path
from typing import Annotated, Any

import msgspec

from suffice.simulate.data.memory import Memory, as_path
from suffice.simulate.data.toml_file import read_toml
from suffice.support.errors import InputError
from suffice.support.numbers import as_whole

from ..claims import all_claims
from .cells import Cell, Root, read_cell

MOST_CELLS = 100_000
_ONE = {"keys": "key", "editions": "edition", "algorithms": "algorithm"}


class CampaignFile(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    name: str
    out: Annotated[str, msgspec.Meta(min_length=1)]
    root: Root = 0
    verify: list[dict[str, Any]] = []
    sharpness: list[dict[str, Any]] = []
    simulate: list[dict[str, Any]] = []


class Campaign(msgspec.Struct, frozen=True, kw_only=True):
    """Cells in order, and the folder for their results."""

    name: str
    out: Path
    cells: tuple[Cell, ...]


def read_campaign(path: str | Path, *, out: str | Path | None = None) -> Campaign:
    """Read and check a campaign file. `out` replaces its folder, which is relative to it. Raises `InputError`."""
    path = as_path("campaign", path)
    try:
        table = msgspec.convert(read_toml("campaign", path, Memory()), CampaignFile)
        entries = [(kind, entry) for kind in ("verify", "sharpness", "simulate") for entry in getattr(table, kind)]
        cells = list(islice((cell for pair in entries for cell in _cells(*pair, table.root)), MOST_CELLS + 1))
        if not 0 < len(cells) <= MOST_CELLS:
            raise InputError("cells", f"over {MOST_CELLS}" if cells else 0, "give some entries; split a large campaign")
        for cell in cells:
            read_cell(cell)
    except InputError:
        raise
    except (ValueError, OverflowError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).replace("$.", "").replace("`", "").split())
        raise InputError("campaign", path.name, reason) from None
    folder = path.parent / table.out if out is None else Path(out)
    return Campaign(name=table.name, out=folder, cells=tuple({identity(cell): cell for cell in cells}.values()))


def identity(cell: Cell) -> str:
    """The name of a cell's file: a hash of its description."""
    return hashlib.sha256(json.dumps(cell, sort_keys=True).encode()).hexdigest()[:24]


def _cells(kind: str, entry: dict[str, Any], root: int) -> Iterator[Cell]:
    """One for every combination of what an entry lists, and every root or, of [[sharpness]], block of instances."""
    known = dict.fromkeys((claim.theorem.key, claim.theorem.edition) for claim in all_claims())
    many, block, few = ("instances", entry.pop("block", 500), None) if kind == "sharpness" else ("roots", 1, 1)
    end, block = root + as_whole(many, entry.pop(many, few)), as_whole("block", block)
    grid = entry.pop("grid", {})
    axes = {_ONE.get(name, name): each for name, each in {"kind": kind, **entry, **grid}.items()}
    axes = {name: each if isinstance(each, list) else [each] for name, each in axes.items()}
    if kind != "simulate":
        axes = {"kind": [kind], "key": [], "edition": ["corrected"]} | axes
        for pattern in axes["key"]:
            if not any(fnmatchcase(key, pattern) for key, _ in known):
                raise InputError("keys", pattern, "no claim has such a key; * stands for anything")
        axes["key"] = list(dict.fromkeys(key for key, _ in known if any(fnmatchcase(key, p) for p in axes["key"])))
    for name, values in axes.items():
        if not values:
            raise InputError(name, "nothing", "give at least one value")
    for *values, first in product(*axes.values(), range(root, end, block)):
        cell: Cell = dict(zip(axes, values)) | {"root": first}
        if kind == "sharpness":
            cell["instances"] = min(block, end - cell["root"])
        if kind == "simulate" or (cell["key"], cell["edition"]) in known:
            yield cell
