"""A campaign file (strict TOML) names cells; each computes plain numbers from its description alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from threadpoolctl import ThreadpoolController

from suffice.simulate.data.memory import as_path
from suffice.simulate.data.toml_file import read_toml
from suffice.simulate.threads import one_thread
from suffice.support.errors import InputError
from suffice.support.numbers import plain

from ..claims import all_claims, claim_of

Cell = dict[str, Any]
MOST_CELLS = 100_000
_libraries = cache(ThreadpoolController)  # finding the linear algebra that is loaded takes milliseconds


class Entry(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Claims of a campaign file: those of an edition listed whose key fits a pattern listed, where * is anything."""

    keys: Annotated[list[str], Meta(min_length=1)]
    editions: Annotated[tuple[Literal["printed", "corrected"], ...], Meta(min_length=1)] = ("corrected",)

    def each(self, roots: range) -> Iterator[tuple[str, str, int]]:
        known = dict.fromkeys((claim.theorem.key, claim.theorem.edition) for claim in all_claims())
        for pattern in self.keys:
            if not any(fnmatchcase(key, pattern) for key, _ in known):
                raise InputError("keys", pattern, "no claim has such a key; * stands for anything")
        for key, edition in known:
            if edition in self.editions and any(fnmatchcase(key, pattern) for pattern in self.keys):
                yield from ((key, edition, root) for root in roots)


class Verify(Entry):
    effort: Literal["quick", "full"] = "quick"
    roots: Annotated[int, Meta(ge=1, le=10**9)] = 1

    def cells(self, root: int) -> Iterator[Cell]:
        """One cell for each claim and root."""
        for key, edition, one in self.each(range(root, root + self.roots)):
            yield dict(kind="verify", key=key, edition=edition, effort=self.effort, root=one)


class Sharpness(Entry):
    instances: Annotated[int, Meta(ge=1, le=10**9)]
    block: Annotated[int, Meta(ge=1, le=10_000)] = 500

    def cells(self, root: int) -> Iterator[Cell]:
        """One cell for each claim and block of instances."""
        end = root + self.instances
        for key, edition, one in self.each(range(root, end, self.block)):
            yield dict(kind="sharpness", key=key, edition=edition, root=one, instances=min(self.block, end - one))


class CampaignFile(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    name: str
    out: Annotated[str, Meta(min_length=1)]
    root: Annotated[int, Meta(ge=0, le=2**31)] = 0
    verify: list[Verify] = []
    sharpness: list[Sharpness] = []


class Campaign(msgspec.Struct, frozen=True, kw_only=True):
    """Cells in order, and the folder for their results."""

    name: str
    out: Path
    cells: tuple[Cell, ...]


def read_campaign(path: str | Path, *, out: str | Path | None = None) -> Campaign:
    """Read and check a campaign file. `out` replaces its folder, which is relative to it. Raises `InputError`."""
    path = as_path("campaign", path)
    try:
        table = msgspec.convert(read_toml("campaign", path), CampaignFile)
    except msgspec.ValidationError as error:
        raise InputError("campaign", path.name, str(error).replace("$.", "").replace("`", "")) from None
    every = (cell for entry in (*table.verify, *table.sharpness) for cell in entry.cells(table.root))
    cells = {identity(cell): cell for cell in islice(every, MOST_CELLS + 1)}
    if not 0 < len(cells) <= MOST_CELLS:
        raise InputError("cells", f"over {MOST_CELLS}" if cells else 0, "give some entries; split a large campaign")
    folder = path.parent / table.out if out is None else Path(out)
    return Campaign(name=table.name, out=folder, cells=tuple(cells.values()))


def identity(cell: Cell) -> str:
    """The name of a cell's file: a hash of its description."""
    return hashlib.sha256(json.dumps(cell, sort_keys=True).encode()).hexdigest()[:24]


def verify(*, key: str, edition: str, effort: str, root: int) -> dict[str, Any]:
    answer = claim_of(key, edition).verify(effort=effort, root=root).to_dict()
    if answer["worst_ratio"] == -np.inf:  # no instance counted, and JSON has no such number
        answer["worst_ratio"] = None
    names = ("verdict", "instances", "worst_ratio", "refuted_mutants", "mutants")
    return {name: answer[name] for name in names} | {"instance": plain(answer["worst_instance"])}


def sharpness(*, key: str, edition: str = "corrected", instances: int, root: int) -> dict[str, Any]:
    """Worst and median measured/bound over so many random instances of each family, without the sharp instances and
    searches of `verify`, among those that meet the hypotheses; None where none does."""
    claim = claim_of(key, edition)
    pieces = [family.evidence(family.draw(instances, seed=root)) for family in claim.families]
    ratios = [np.where(piece.counted(claim.theorem), piece.ratio(claim.theorem), -np.inf) for piece in pieces]
    every = np.concatenate([np.empty(0), *(ratio[ratio > -np.inf] for ratio in ratios)])
    if not len(every):
        return {"instances": 0, "worst_ratio": None, "median_ratio": None, "instance": {}}
    ratio, piece = max(zip(ratios, pieces), key=lambda pair: pair[0].max())
    ends = {"worst_ratio": float(every.max()), "median_ratio": float(np.median(every))}
    return {"instances": len(every), **ends, "instance": plain(piece.instance(int(ratio.argmax())))}


def compute(cell: Cell) -> dict[str, Any]:
    """The result of one cell, JSON-ready, on one thread, as cells are spread over processes. Raises what goes wrong."""
    about = {name: value for name, value in cell.items() if name != "kind"}
    with one_thread(), _libraries().limit(limits=1):
        return {"verify": verify, "sharpness": sharpness}[cell["kind"]](**about)
