"""Models in a file: JSON, or arrays in NPZ; written whole, read back without unpickling anything.

The SHA-256 in it is that of all that it holds: it finds damage, not malice, since whoever changes a file on purpose can
change that too. Hence what is read is checked as if there were none.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from suffice.simulate.data.design import Column, Design
from suffice.simulate.data.encoding import Encoding
from suffice.simulate.data.memory import as_path, whole
from suffice.simulate.data.npz import read_arrays
from suffice.support.errors import InputError
from suffice.support.files import make_folder, write_whole
from suffice.support.memory import Memory
from suffice.support.numbers import as_numbers, check_numbers

from .site_models import Loss, SiteModel, SiteModels, Whole

KIND = "suffice models, version 2"
LARGEST = 1_000_000_000
"""A file of more bytes is refused."""
ARRAYS = ("coefficients", "intercepts", "weights")
CLASSES = {"least-squares": range(1), "logistic": range(2, 3), "multinomial": range(3, 1 << 30)}
"""A loss has so many classes."""


class CandidateRecord(msgspec.Struct, forbid_unknown_fields=True):
    family: str
    setting: str
    weight: float
    score: float


class SuspectRecord(msgspec.Struct, forbid_unknown_fields=True):
    site: str
    left_out: Literal["site", "fold"] | None
    folds: list[int]
    times: float | None
    share: float
    row: str | None
    row_share: float | None
    slip: bool = False
    units: Loss = 1.0


class GroupRecord(msgspec.Struct, forbid_unknown_fields=True):
    sites: list[str]
    column: str
    own: float
    others: float
    gain: float | None
    gain_se: Loss | None


class DistancesRecord(msgspec.Struct, forbid_unknown_fields=True):
    compared: list[str]
    distances: list[list[Loss]]


class RuleRecord(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    name: str
    candidates: list[CandidateRecord]
    families: dict[str, float]
    network_gain: float | None
    network_gain_se: Loss | None
    network_gain_sites: Whole | None = None
    network_gain_decided_by: str | None = None
    network_gain_without: float | None = None
    suspects: list[SuspectRecord] = []
    groups: list[GroupRecord] = []
    distances: DistancesRecord | None = None
    spread_power: float | None = None
    rounds: Whole
    numbers_per_site: Whole
    fewest_numbers: Whole | None = None


class FileRecord(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    kind: str
    loss: str
    client: str
    target: str
    classes: list[str]
    clients: list[SiteModel]
    population: SiteModel
    rule: dict[str, Any]
    left_out: list[str]
    notes: list[str]
    design: list[Column]
    columns: list[str]
    gaps: dict[str, float]
    references: dict[str, str]
    means: dict[str, float]
    ranges: dict[str, tuple[float, float]]
    sha256: str


def write_models(fit: SiteModels, path: str | Path) -> Path:
    """Write a .json or .npz file; `InputError` where a number is too large to be read again."""
    path = Path(path)
    if path.suffix.lower() not in (".json", ".npz"):
        raise InputError("out", str(path), "name a .json or .npz file")
    make_folder(path.parent, "out")
    record = _record(fit)
    check_numbers(path.name, record)
    if path.suffix.lower() == ".json":
        return write_whole(path, json.dumps({"sha256": _digest(record, {})} | record, indent=1).encode())
    stream = io.BytesIO()
    # arrays beside the record, which keeps what is no array; texts are arrays of characters
    names = [None, *(model.name for model in fit)]
    pairs = [fit.arrays(name) for name in names]
    weights = np.array([[model.weights.get(name, 0.0) for name in fit.by_name] for model in fit])
    for model in (record["population"], *record["clients"]):
        model.update(weights={}, coefficients={}, intercept=0.0)
    found = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs]), weights
    arrays = dict(zip(ARRAYS, found))
    content = json.dumps({"sha256": _digest(record, arrays)} | record).encode()
    np.savez_compressed(stream, allow_pickle=False, **arrays, record=np.frombuffer(content, np.uint8))
    return write_whole(path, stream.getvalue())


def read_models(path: str | Path) -> SiteModels:
    """Models that `suffice fit --out` or `Fit.save` wrote; `InputError` where the file holds none."""
    path = as_path("model", path)
    arrays: dict[str, np.ndarray] = {}
    if path.suffix.lower() == ".npz":
        arrays = read_arrays("model", path, Memory())
        if set(arrays) != {*ARRAYS, "record"} or arrays["record"].dtype != np.uint8:
            raise InputError("model", str(path), "these are no models of suffice fit")
        content = arrays.pop("record").tobytes()
    else:
        content = whole(path, field="model", most=LARGEST)
    try:
        record = msgspec.json.decode(content, type=FileRecord)
        msgspec.convert(record.rule, RuleRecord)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError("model", str(path), f"no models of suffice fit: {error}") from None
    if record.kind != KIND:
        raise InputError("model", str(path), f"this is {record.kind!r}, not {KIND!r}; fit again")
    if record.sha256 != _digest(content, arrays):
        raise InputError("model", str(path), "damaged: not what was saved, by its SHA-256; restore it, or fit again")
    return _checked(record, arrays, path)


def _digest(record: dict[str, Any] | bytes, arrays: dict[str, np.ndarray]) -> str:
    """SHA-256 of what a file holds beside it: the record, its numbers as they are spelt, and the arrays."""
    content = record if isinstance(record, bytes) else json.dumps(record)
    spelt = json.loads(content, parse_float=str, parse_int=str)
    spelt.pop("sha256", None)
    found = hashlib.sha256(json.dumps(spelt, sort_keys=True).encode())
    for name in sorted(arrays):
        found.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode() + arrays[name].tobytes())
    return found.hexdigest()


def _record(fit: SiteModels) -> dict[str, Any]:
    return {
        "kind": KIND,
        "loss": fit.loss,
        "client": fit.client,
        "target": fit.target,
        "classes": list(fit.classes),
        "clients": [model.to_dict() for model in fit],
        "population": fit.population.to_dict(),
        "rule": dict(fit.rule),
        "left_out": list(fit.left_out),
        "notes": list(fit.notes),
        "design": [asdict(column) for column in fit.design.columns],
        "columns": list(fit.encoding.columns),
        "gaps": dict(fit.encoding.gaps),
        "references": dict(fit.encoding.references),
        "means": dict(fit.encoding.means),
        "ranges": {name: list(ends) for name, ends in fit.design.ranges.items()},
    }


def _checked(record: FileRecord, arrays: dict[str, np.ndarray], path: Path) -> SiteModels:
    """The models of a record and arrays, or `InputError`."""
    check_numbers(path.name, msgspec.to_builtins(record))
    for name, values in arrays.items():
        as_numbers(f"{name} of {path.name}", values, tuple("nqk"[: values.ndim]))
    found = _fit_of(record, path)
    found = _with_arrays(found, arrays, path) if arrays else found
    names, decisive = found.by_name, record.rule.get("network_gain_decided_by")
    outputs = max(len(found.classes), 1) if len(found.classes) != 2 else 1
    wrong = None
    if record.loss not in CLASSES or len(set(record.classes)) not in CLASSES[record.loss]:
        wrong = f"{len(set(record.classes))} classes and the loss {record.loss!r} do not fit together"
    elif len(names) != len(found) or not names:
        wrong = "give every site one model, and at least one"
    elif (decisive is None) != (record.rule.get("network_gain_without") is None) or decisive not in {None, *names}:
        wrong = "its rule does not say of a site what it decides"
    if wrong is not None:
        raise InputError("model", str(path), wrong)
    for name in (None, *names):
        try:
            coefficients, intercepts = found.arrays(name)
            model = found.population if name is None else found[name]
            each = [model.coefficients] if outputs == 1 else model.coefficients.values()
            if any(len(one) != len(coefficients) for one in each) or (outputs > 1 and len(each) != outputs):
                raise ValueError
            as_numbers("coefficients", coefficients, (len(found.encoding.columns), outputs))
            as_numbers("intercept", intercepts, (outputs,))
        except (KeyError, TypeError, ValueError):
            raise InputError("model", str(path), "a model does not have a number for every column") from None
    return found


def _fit_of(record: FileRecord, path: Path) -> SiteModels:
    try:
        design = Design(columns=tuple(record.design), ranges=record.ranges)
    except InputError as error:
        raise InputError("model", str(path), f"its columns do not fit together: {error}") from None
    names, dropped, (_, gaps) = design.names, set(record.references.values()), design.categories
    kept = [name for name in names if name not in dropped]
    fit = record.columns == kept and record.gaps.keys() == gaps.keys() and dropped <= set(names)
    fit = fit and record.ranges.keys() <= {column.source for column in design.columns}
    if not fit or list(record.means) != kept:
        raise InputError("model", str(path), "its columns do not fit together")
    matrix = np.eye(len(names))[:, [names.index(name) for name in kept]]
    for name, value in record.gaps.items():
        matrix[names.index(gaps[name]), kept.index(name)] = value
    encoding = Encoding(
        columns=tuple(kept), matrix=matrix, gaps=record.gaps, references=record.references, means=record.means
    )
    return SiteModels(
        loss=record.loss, client=record.client, target=record.target, classes=tuple(record.classes),
        clients=tuple(record.clients), population=record.population, rule=record.rule,
        left_out=tuple(record.left_out), notes=tuple(record.notes), design=design, encoding=encoding,
    )  # fmt: skip


def _with_arrays(found: SiteModels, arrays: dict[str, np.ndarray], path: Path) -> SiteModels:
    from dataclasses import replace

    outputs, count = max(len(found.classes), 1) if len(found.classes) > 2 else 1, len(found)
    shapes = ((count + 1, len(found.encoding.columns), outputs), (count + 1, outputs), (count, count))
    if any(arrays[name].shape != shape or arrays[name].dtype.kind != "f" for name, shape in zip(ARRAYS, shapes)):
        raise InputError("model", str(path), "its arrays do not have the shapes that it says")
    coefficients, intercepts, weights = (arrays[name] for name in ARRAYS)

    def model(old: SiteModel, at: int, shares: dict[str, float]) -> SiteModel:
        each = [dict(zip(found.encoding.columns, column.tolist())) for column in coefficients[at].T]
        if outputs == 1:
            return replace(old, coefficients=each[0], intercept=float(intercepts[at, 0]), weights=shares)
        by_class = dict(zip(found.classes, each)), dict(zip(found.classes, intercepts[at].tolist()))
        return replace(old, coefficients=by_class[0], intercept=by_class[1], weights=shares)

    names = [entry.name for entry in found]
    clients = [model(old, at + 1, dict(zip(names, weights[at].tolist()))) for at, old in enumerate(found.clients)]
    return replace(found, clients=tuple(clients), population=model(found.population, 0, {}))
