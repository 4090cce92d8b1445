"""A campaign file (strict TOML) and the cells it names; docs/campaigns.md has an example of each entry."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice, product
from pathlib import Path
from typing import Annotated, Any

import msgspec

from suffice.simulate.data.memory import Memory, as_path
from suffice.simulate.data.toml_file import read_toml
from suffice.support.errors import InputError
from suffice.support.numbers import as_whole

from ..claim import FALSE_ALARMS
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


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """Cells in order, and the folder for their results."""

    name: str
    out: Path
    cells: tuple[Cell, ...]


def read_campaign(path: str | Path, *, out: str | Path | None = None) -> Campaign:
    """Read and check a campaign file. `out` replaces its folder, which is relative to it. Raises `InputError`."""
    path = as_path("campaign", path)
    try:
        table = msgspec.convert(read_toml("campaign", path, Memory()), CampaignFile)
        cells = {identity(cell): cell for cell in _at_most(_cells(table))}
        for cell in cells.values():
            read_cell(cell)
    except InputError:
        raise
    except (ValueError, OverflowError, TypeError, AttributeError) as error:
        raise InputError(
            "campaign", path.name, " ".join(str(error).replace("$.", "").replace("`", "").split())
        ) from None
    if not cells:
        raise InputError("cells", 0, "give at least one of [[verify]], [[sharpness]] and [[simulate]]")
    folder = path.parent / table.out if out is None else Path(out)
    return Campaign(name=table.name, out=folder, cells=tuple(cells.values()))


def identity(cell: Cell) -> str:
    """The name of a cell's file: a hash of its description."""
    return hashlib.sha256(json.dumps(cell, sort_keys=True).encode()).hexdigest()[:24]


def _at_most(cells: Iterator[Cell]) -> list[Cell]:
    found = list(islice(cells, MOST_CELLS + 1))
    if len(found) > MOST_CELLS:
        raise InputError("cells", f"over {MOST_CELLS}", "split the campaign")
    return found


def _cells(table: CampaignFile) -> Iterator[Cell]:
    """A cell for every combination; those of [[verify]] share the false-alarm probability `FALSE_ALARMS` evenly."""
    asked = _at_most(cell for entry in table.verify for cell in _combined("verify", entry, table.root))
    yield from (cell | {"false_alarm": FALSE_ALARMS / len(asked)} for cell in asked)
    for entry in table.sharpness:
        instances = as_whole("instances", entry.pop("instances", None), least=1)
        block = as_whole("block", entry.pop("block", 500), least=1)
        for cell in _combined("sharpness", entry, 0):
            for first in range(0, instances, block):
                yield cell | {"instances": min(block, instances - first), "root": table.root + first}
    for entry in table.simulate:
        yield from _combined("simulate", entry, table.root)


def _combined(kind: str, entry: dict[str, Any], root: int) -> Iterator[Cell]:
    from ..claims import all_claims

    known = dict.fromkeys((claim.theorem.key, claim.theorem.edition) for claim in all_claims())
    roots = as_whole("roots", entry.pop("roots", 1), least=1)
    grid = entry.pop("grid", {})
    given = {"kind": kind, **entry, **grid}
    axes = {_ONE.get(name, name): each if isinstance(each, list) else [each] for name, each in given.items()}
    if kind != "simulate":
        axes = {"kind": [kind], "key": [], "edition": ["corrected"]} | axes
        for pattern in axes["key"]:
            if not any(fnmatchcase(key, pattern) for key, _ in known):
                raise InputError("keys", pattern, "no claim has such a key; * stands for anything")
        axes["key"] = list(dict.fromkeys(key for key, _ in known if any(fnmatchcase(key, p) for p in axes["key"])))
    for name, values in axes.items():
        if not values:
            raise InputError(name, "nothing", "give at least one value")
    for values in product(*axes.values(), range(root, root + roots)):
        cell = dict(zip((*axes, "root"), values))
        if kind == "simulate" or (cell["key"], cell["edition"]) in known:
            yield cell
