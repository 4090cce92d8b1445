"""Models in a file: JSON, or arrays in NPZ; written whole, read back without unpickling anything."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from suffice.bounds import InputError, Memory, make_folder, write_whole
from suffice.bounds.population.encoding import Encoding
from suffice.simulate.data.design import Column, Design
from suffice.simulate.data.memory import as_path, whole
from suffice.simulate.data.npz import read_arrays

from .site_models import SiteModel, SiteModels

KIND = "suffice models, version 1"
LARGEST = 1_000_000_000
"""Bytes of a file that is read."""
ARRAYS = ("coefficients", "intercepts", "weights")


class ModelRecord(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    name: str
    rows: int
    collaborators: list[str]
    weights: dict[str, float]
    coefficients: dict[str, float | dict[str, float]]
    intercept: float | dict[str, float]
    expected_loss: float | None
    expected_loss_alone: float | None
    gain: float | None
    gain_se: float | None
    notes: list[str]


class ColumnRecord(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    source: str
    level: str | None = None
    gap: bool = False


class FileRecord(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    kind: str
    loss: str
    client: str
    target: str
    classes: list[str]
    clients: list[ModelRecord]
    population: ModelRecord
    rule: dict[str, Any]
    left_out: list[str]
    notes: list[str]
    design: list[ColumnRecord]
    columns: list[str]
    gaps: dict[str, float]
    references: dict[str, str]


def write_models(fit: SiteModels, path: str | Path) -> Path:
    """Write a .json or .npz file."""
    path = Path(path)
    if path.suffix.lower() not in (".json", ".npz"):
        raise InputError("out", str(path), "name a .json or .npz file")
    make_folder(path.parent, "out")
    record = _record(fit)
    if path.suffix.lower() == ".json":
        return write_whole(path, json.dumps(record, indent=1).encode())
    stream = io.BytesIO()
    # arrays beside the record, which keeps what is no array; texts are arrays of characters
    names = [None, *(model.name for model in fit)]
    pairs = [fit.arrays(name) for name in names]
    weights = np.array([[model.weights.get(name, 0.0) for name in fit.by_name] for model in fit])
    for model in (record["population"], *record["clients"]):
        model.update(weights={}, coefficients={}, intercept=0.0)
    np.savez_compressed(
        stream,
        coefficients=np.array([pair[0] for pair in pairs]),
        intercepts=np.array([pair[1] for pair in pairs]),
        weights=weights,
        record=np.frombuffer(json.dumps(record).encode(), np.uint8),
    )
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
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError("model", str(path), f"no models of suffice fit: {error}") from None
    if record.kind != KIND:
        raise InputError("model", str(path), f"this is {record.kind!r}, not {KIND!r}")
    found = _fit_of(record, path)
    return _with_arrays(found, arrays, path) if arrays else _checked(found, path)


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
        "design": [{"name": c.name, "source": c.source, "level": c.level, "gap": c.gap} for c in fit.design.columns],
        "columns": list(fit.encoding.columns),
        "gaps": dict(fit.encoding.gaps),
        "references": dict(fit.encoding.references),
    }


def _fit_of(record: FileRecord, path: Path) -> SiteModels:
    design = Design(
        columns=tuple(Column(name=c.name, source=c.source, level=c.level, gap=c.gap) for c in record.design)
    )
    names = design.names
    gaps = {c.source: c.name for c in design.columns if c.gap}
    matrix = np.zeros((len(names), len(record.columns)))
    try:
        for j, name in enumerate(record.columns):
            matrix[names.index(name), j] = 1.0
        for name, value in record.gaps.items():
            matrix[names.index(gaps[name]), record.columns.index(name)] = value
    except (ValueError, KeyError):
        raise InputError("model", str(path), "its columns do not fit together") from None
    encoding = Encoding(columns=tuple(record.columns), matrix=matrix, gaps=record.gaps, references=record.references)
    return SiteModels(
        loss=record.loss, client=record.client, target=record.target, classes=tuple(record.classes),
        clients=tuple(map(_model, record.clients)), population=_model(record.population), rule=record.rule,
        left_out=tuple(record.left_out), notes=tuple(record.notes), design=design, encoding=encoding,
    )  # fmt: skip


def _model(record: ModelRecord) -> SiteModel:
    values = msgspec.structs.asdict(record)
    values["collaborators"], values["notes"] = tuple(record.collaborators), tuple(record.notes)
    return SiteModel(**values)


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


def _checked(found: SiteModels, path: Path) -> SiteModels:
    try:
        for name in (None, *found.by_name):
            coefficients, intercepts = found.arrays(name)
            if not (np.isfinite(coefficients).all() and np.isfinite(intercepts).all()):
                raise ValueError
    except (KeyError, TypeError, ValueError):
        raise InputError("model", str(path), "a model does not have a number for every column") from None
    return found
