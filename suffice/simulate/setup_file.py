"""The setup file: strict TOML that names constants, a quadratic problem or data, and what to plan for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from statistics import mode
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from suffice.bounds import Binary, Constants, Criterion, GradientDissimilarity, named
from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers
from suffice.support.parse import nearest

from .data.memory import MAX_MEMORY, Memory, as_path
from .data.npz import read_arrays
from .data.table import PREFIX
from .data.toml_file import read_toml

if TYPE_CHECKING:
    from . import Problem

Numbers = float | list[float]
Matrix = list[list[float]]
LARGEST_TABLE = 4000
"""A setup file may list so many clients: N^2 numbers are kept."""


class ConstantsTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    b: Matrix
    c: Matrix | None = None
    names: list[str] = []
    mu: Numbers
    beta: Numbers
    sigma: Numbers
    excess: Numbers | None = None
    strongly_convex: bool = False


class ProblemTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    kind: Literal["quadratic", "least-squares"]
    file: str


class DataTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    path: str
    client: str = "client"
    target: str = "target"
    loss: str | None = None
    regularisation: float | None = None
    intercept: bool = True
    standardise: str = "pooled"
    standardise_target: bool = False
    split: str | None = None
    seed: int = 0
    positive: list[float | str] | float | str = []
    batch: int = 1
    drop: list[str] = []


class CriterionTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    kind: Literal["binary", "continuous", "sharp"] = "binary"
    threshold: float | None = None


class TargetTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    epsilon: Numbers
    horizon: int | None = None
    confidence: float | None = None


class SetupTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: TargetTable | None = None
    constants: ConstantsTable | None = None
    problem: ProblemTable | None = None
    data: DataTable | None = None
    criterion: CriterionTable = CriterionTable()


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The contents of a setup file, ready for `plan`."""

    source: Problem | Constants
    epsilon: list[float]
    criterion: Criterion | None
    horizon: int | None
    confidence: float | None


def read_setup(path: str | Path, *, target: bool = True, max_memory: float = MAX_MEMORY) -> Setup:
    """Read and check the setup file `path`; paths in it are relative to its folder. Raises `InputError`.

    Without `target` the file needs no [target] table. `max_memory` is that of `suffice.read`.
    """
    path, memory = as_path("setup file", path), Memory(max_memory)
    table = _table(path)
    given = [name for name in ("constants", "problem", "data") if getattr(table, name) is not None]
    if len(given) != 1:
        raise InputError("setup file", given or "no source", "give exactly one of [constants], [problem] and [data]")
    if table.target is None and target:
        raise InputError("setup file", path.name, "no [target] table; add it with epsilon = 0.1, or give --epsilon 0.1")
    kind, threshold = table.criterion.kind, table.criterion.threshold
    if threshold is not None and kind != "binary":
        raise InputError("criterion.threshold", threshold, f"{kind} has none; drop it")
    wanted = table.target or TargetTable(epsilon=[])
    epsilon = wanted.epsilon
    return Setup(
        source=_source(table, path.parent, memory),
        epsilon=epsilon if isinstance(epsilon, list) else [epsilon],
        criterion=named(kind) if threshold is None else Binary(threshold=threshold),
        horizon=wanted.horizon,
        confidence=wanted.confidence,
    )


def read_data_table(path: str | Path) -> tuple[str | Path, dict[str, Any]]:
    """Where the rows of a setup file's [data] are, and its options that `fit` takes; `InputError` without [data].

    What standardises, regularises or samples is about training and of no use to `fit`, which has no such knob.
    """
    path = as_path("setup file", path)
    table = _table(path)
    if table.data is None:
        raise InputError("setup file", path.name, "no [data] table: models are fitted to rows")
    source, given = _rows(table.data, path.parent)
    taken = ("client", "target", "loss", "split", "seed", "drop")
    return source, {name: value for name, value in given.items() if name in taken}


def _rows(table: DataTable, folder: Path) -> tuple[str | Path, dict[str, Any]]:
    """Where the rows are, and the options that are given or have a default."""
    given = {name: value for name, value in msgspec.structs.asdict(table).items() if value is not None}
    path = given.pop("path")
    if not path:
        raise InputError("data.path", "", "name a file or a folder")
    return path if path.startswith(PREFIX) else folder / path, given


def _table(path: Path) -> SetupTable:
    try:
        return msgspec.convert(read_toml("setup file", path), SetupTable)
    except (msgspec.ValidationError, OverflowError) as error:
        raise InputError("setup file", path.name, _readable(str(error))) from None


def _source(table: SetupTable, folder: Path, memory: Memory) -> Problem | Constants:
    if table.constants is not None:
        return _constants(table.constants)
    if table.problem is not None:
        return _problem(table.problem.kind, folder / table.problem.file, memory)
    assert table.data is not None
    path, given = _rows(table.data, folder)
    from .problems.read import read  # torch: constants need none

    return read(path, **given, max_memory=memory.limit)


def _constants(table: ConstantsTable) -> Constants:
    n = len(table.b)
    if not 1 <= n <= LARGEST_TABLE:
        raise InputError("constants.b", f"{n} rows", f"give 1 to {LARGEST_TABLE} rows, one per client")
    _check_clients(table)
    b = as_numbers("constants.b", table.b, (n, n), infinite=True)
    if np.diagonal(b).any():
        raise InputError("constants.b", np.diagonal(b).max().item(), "the diagonal (a client against itself) is 0")
    if (b < 0).any():
        raise InputError("constants.b", b.min().item(), "give numbers >= 0, unsquared gradient units (inf: no bound)")
    c = as_numbers("constants.c", np.zeros((n, n)) if table.c is None else table.c, (n, n), infinite=True)
    sigma = as_numbers("constants.sigma", table.sigma, (n,), one_for_all=True, positive=True)
    return Constants(
        mu=np.asarray(table.mu),
        beta=np.asarray(table.beta),
        sigma2=sigma**2,
        heterogeneity=GradientDissimilarity(b2=b**2, c=c),
        excess=None if table.excess is None else np.asarray(table.excess),
        names=tuple(table.names),
        strongly_convex=table.strongly_convex,
    )


def _check_clients(table: ConstantsTable) -> None:
    """Refuse lists of different lengths, naming one that most others disagree with."""
    given = msgspec.structs.asdict(table).items()
    lengths = {name: len(value) for name, value in given if isinstance(value, list) and (value or name != "names")}
    usual = mode(lengths.values())  # of several the first, which is that of b
    said = ", ".join(name for name, length in lengths.items() if length == usual)
    for name, length in lengths.items():
        if length != usual:
            remedy = f"{usual} in {said}; give one number of clients to all"
            raise InputError(f"constants.{name}", f"{length} clients", remedy)


def _problem(kind: str, path: Path, memory: Memory) -> Problem:
    from . import Quadratics, StreamingLeastSquares

    needed, optional = _ARRAYS[kind]
    known = f"arrays {', '.join(needed)} and, optionally, {', '.join(optional)}"
    if path.suffix != ".npz":
        raise InputError("problem.file", str(path), f"give an .npz file with {known}")
    arrays: dict[str, Any] = read_arrays("problem.file", path, memory)
    wrong = sorted(set(arrays) - {*needed, *optional}) or sorted(set(needed) - set(arrays))
    if wrong:
        raise InputError("problem.file", wrong, f"the file has {known}")
    start = arrays.pop("theta0", None)
    if kind == "quadratic":
        A, xi, sigma = (arrays[name] for name in needed)
        sigma = as_numbers("sigma", sigma, A.shape[:1], one_for_all=True, positive=True)
        return Quadratics.of(A, xi, sigma2=sigma**2, start=start)
    n, d = as_numbers("theta_star", arrays["theta_star"], ("N", "d")).shape
    memory.check(f"matrices of {n} clients with {d} features", 8.0 * n * max(arrays["H"].shape[-2:], default=0) ** 2)
    batch = arrays.pop("batch", np.array(1))[()]
    return StreamingLeastSquares.of(**arrays, batch=batch, start=start)


_ARRAYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "quadratic": (("A", "xi", "sigma"), ("theta0",)),
    "least-squares": (("H", "theta_star"), ("label_noise", "batch", "theta0")),
}
"""The arrays that a problem's file must have, and those that it may have."""
_REMEDIES = {
    "Object contains unknown field": "remove it or correct its spelling",
    "Object missing required field": "add it",
    "Expected `array": "write it in brackets, as [...]",
    "Expected": "give the kind that is expected",
    "Invalid enum value": "binary, continuous and sharp are criteria, quadratic and least-squares are problems",
    "Number out of range": "give a smaller number",
}


_TABLES: dict[str, type[msgspec.Struct]] = {
    "constants": ConstantsTable, "problem": ProblemTable, "data": DataTable, "criterion": CriterionTable,
    "target": TargetTable, "": SetupTable,
}  # fmt: skip
_SYNONYMS = {
    "eps": "epsilon", "precision": "epsilon", "T": "horizon", "delta": "confidence", "e0": "excess",
    "L": "beta", "file": "path", "folder": "path", "type": "kind", "sigma2": "sigma (the square root of sigma2)",
    "b2": "b (the square root of b2)",
}  # fmt: skip


def _readable(message: str) -> str:
    """msgspec's message with the path of the offending key in TOML's words, and what is likely to be meant."""
    remedy = next((remedy for start, remedy in _REMEDIES.items() if message.startswith(start)), "")
    found = re.match(r"Object contains unknown field `([^`]*)`(?: - at `\$\.(\w+)`)?", message)
    if found is not None and (found[2] or "") in _TABLES:
        known = _TABLES[found[2] or ""].__struct_fields__
        synonym = _SYNONYMS.get(found[1], "")
        meant = synonym if synonym.partition(" ")[0] in known else nearest(found[1], known)
        remedy = f"did you mean {meant}?" if meant else remedy
    message = message.replace("Object contains unknown field", "unknown key").replace("$.", "").replace("`", "")
    return f"{message}; {remedy}" if remedy else message
