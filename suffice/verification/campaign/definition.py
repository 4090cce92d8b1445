"""A campaign file (strict TOML) and the cells it names.

name = "sharpness"
out = "sharpness-out"            # relative to the file; nothing is written elsewhere
root = 0

[[verify]]                       # a cell per claim and root
keys = ["adaptive/*"]
editions = ["corrected"]
effort = "quick"
roots = 3

[[sharpness]]                    # worst ratio over random instances, in cells of `block`
keys = ["*"]
instances = 10000
block = 500

[[simulate]]                     # a cell per point of the grid and root
problem = "clustered"            # a generator of `simulate.generators`, or "continuum", "conditioned"
algorithms = ["local", "all-for-one"]
iterations = 100
seeds = 64
roots = 2
sample = 20                      # optional: that many points of the grid, at random
[simulate.grid]
clients = [8, 16]
features = [2]
eta = [0.1]
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

import msgspec
import torch

from suffice.simulate import ALGORITHMS, Randomness, Stream
from suffice.simulate.data.memory import Memory, as_path
from suffice.simulate.data.toml_file import read_toml
from suffice.support.errors import InputError

from ..claim import EFFORTS, FALSE_ALARMS
from .limits import ARRAYS, GIB, footprint

MOST_CELLS = 100_000
_LARGEST = {
    "clients": 10_000,
    "features": 10_000,
    "clusters": 10_000,
    "iterations": 10**7,
    "seeds": 10**7,
    "instances": 10**7,
    "block": 10_000,
}
_GRID = {"clients", "features", "sigma", "start", "eta"}
_GRIDS = {
    "clustered": _GRID | {"clusters", "separation"},
    "continuum": _GRID | {"length"},
    "conditioned": _GRID | {"condition"},
}
Cell = dict[str, Any]


class VerifyCells(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    keys: list[str]
    editions: tuple[Literal["printed", "corrected"], ...] = ("corrected",)
    effort: str = "quick"
    roots: int = 1


class SharpnessCells(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    keys: list[str]
    instances: int
    block: int = 500


class SimulateCells(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    problem: Literal["clustered", "continuum", "conditioned"]
    algorithms: list[str]
    iterations: int
    seeds: int = 64
    roots: int = 1
    sample: int | None = None
    grid: dict[str, list[float]] = {}


class CampaignFile(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    name: str
    out: str
    root: int = 0
    verify: list[VerifyCells] = []
    sharpness: list[SharpnessCells] = []
    simulate: list[SimulateCells] = []


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """What a file says: its cells in order, the folder for results, and a hash of the definition."""

    name: str
    out: Path
    cells: tuple[Cell, ...]
    digest: str


def read_campaign(path: str | Path, *, out: str | Path | None = None) -> Campaign:
    """Read and check a campaign file. `out` replaces its folder. Raises `InputError`."""
    path = as_path("campaign", path)
    try:
        table = msgspec.convert(read_toml("campaign", path, Memory()), CampaignFile)
    except (msgspec.ValidationError, OverflowError) as error:
        raise InputError("campaign", path.name, str(error).replace("$.", "").replace("`", "")) from None
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", table.name):
        raise InputError("name", table.name[:80], "give up to 80 letters, digits and . _ -: files are named after it")
    if not table.out and out is None:
        raise InputError("out", "", "name a folder for the results")
    if not 0 <= table.root < 2**31:
        raise InputError("root", table.root, "give a whole number within 0..2^31 - 1")
    cells = []
    for cell in _cells(table):
        cells.append(cell)
        if len(cells) > MOST_CELLS:
            raise InputError("cells", f"over {MOST_CELLS}", "split the campaign")
    if not cells:
        raise InputError("cells", 0, "give at least one of [[verify]], [[sharpness]] and [[simulate]]")
    unique = {identity(cell): cell for cell in cells}
    digest = hashlib.sha256("\n".join(unique).encode()).hexdigest()[:16]
    folder = path.parent / table.out if out is None else Path(out)
    return Campaign(name=table.name, out=folder, cells=tuple(unique.values()), digest=digest)


def identity(cell: Cell) -> str:
    """The name of a cell's file: a hash of its description."""
    return hashlib.sha256(json.dumps(cell, sort_keys=True).encode()).hexdigest()[:24]


def _cells(table: CampaignFile) -> Iterator[Cell]:
    yield from _verifications(table)
    for entry in table.sharpness:
        _size("instances", entry.instances)
        _size("block", entry.block)
        for key, edition in _claims(entry.keys, ("corrected",)):
            for first in range(0, entry.instances, entry.block):
                count = min(entry.block, entry.instances - first)
                yield {
                    "kind": "sharpness",
                    "key": key,
                    "edition": edition,
                    "instances": count,
                    "root": table.root + first,
                }
    for entry in table.simulate:
        yield from _simulations(table, entry)


def _verifications(table: CampaignFile) -> Iterator[Cell]:
    """The false-alarm probability of the whole campaign is at most `FALSE_ALARMS`, split evenly over its cells."""
    asked = []
    for entry in table.verify:
        if entry.effort not in EFFORTS:
            raise InputError("effort", entry.effort, f"use {' or '.join(EFFORTS)}")
        roots = _roots(table, entry.roots)
        asked += [(claim, entry.effort, root) for claim in _claims(entry.keys, entry.editions) for root in roots]
        if len(asked) > MOST_CELLS:
            raise InputError("cells", f"over {MOST_CELLS}", "split the campaign")
    for (key, edition), effort, root in asked:
        yield {
            "kind": "verify",
            "key": key,
            "edition": edition,
            "effort": effort,
            "root": root,
            "false_alarm": FALSE_ALARMS / len(asked),
        }


def _simulations(table: CampaignFile, entry: SimulateCells) -> Iterator[Cell]:
    for name in entry.algorithms:
        if name not in ALGORITHMS:
            raise InputError("algorithm", name, f"use {', '.join(ALGORITHMS)}")
    _size("iterations", entry.iterations)
    _size("seeds", entry.seeds)
    points, known = 1, _GRIDS[entry.problem]
    for name, values in entry.grid.items():
        if name not in known:
            raise InputError("grid", name, f"{entry.problem} takes {', '.join(sorted(known))}")
        points *= max(len(values), 1)
        if not values or points > MOST_CELLS:
            raise InputError(name, len(values), f"give at least one value, and at most {MOST_CELLS} points in all")
        for value in values:
            if name in ("clients", "features", "clusters"):
                _size(name, value)
            elif not 0 < value < 1e30:
                raise InputError(name, value, "give finite numbers > 0")
    grid = list(itertools.product(*entry.grid.values()))
    for point in _chosen(grid, entry.sample, table.root):
        for algorithm in entry.algorithms:
            for root in _roots(table, entry.roots):
                cell = {
                    "kind": "simulate",
                    "problem": entry.problem,
                    **dict(zip(entry.grid, point)),
                    "algorithm": algorithm,
                    "iterations": entry.iterations,
                    "seeds": entry.seeds,
                    "root": root,
                }
                if footprint(cell) > ARRAYS:
                    remedy = f"at most {ARRAYS / GIB:g} GiB per cell: fewer clients, features or seeds"
                    raise InputError("cell", f"{footprint(cell) / GIB:.1f} GiB for {algorithm}", remedy)
                yield cell


def _chosen(grid: list[Any], sample: int | None, root: int) -> list[Any]:
    """The whole grid, or `sample` distinct points of it at random."""
    if sample is None or sample >= len(grid):
        return grid
    if sample < 1:
        raise InputError("sample", sample, "give at least 1, or leave it out")
    randomness = Randomness(seeds=torch.tensor([root]), root=0xCA11)
    order = randomness.uniform(iteration=0, stream=Stream.DATA, clients=1, features=len(grid))[0, 0].argsort()
    return [grid[at] for at in sorted(order[:sample].tolist())]


def _claims(patterns: list[str], editions: Sequence[str]) -> list[tuple[str, str]]:
    from ..claims import all_claims

    known = [(claim.theorem.key, claim.theorem.edition) for claim in all_claims()]
    for pattern in patterns:
        if not any(fnmatchcase(key, pattern) for key, _ in known):
            raise InputError("keys", pattern, "no claim has such a key; * stands for anything")
    return [(key, edition) for key, edition in known
            if edition in editions and any(fnmatchcase(key, pattern) for pattern in patterns)]  # fmt: skip


def _roots(table: CampaignFile, count: int) -> range:
    if not 1 <= count <= MOST_CELLS:
        raise InputError("roots", count, f"give 1 to {MOST_CELLS}")
    return range(table.root, table.root + count)


def _size(name: str, value: float) -> None:
    largest = _LARGEST[name]
    if not 1 <= value <= largest or value != int(value):
        raise InputError(name, value, f"give a whole number from 1 to {largest}")
