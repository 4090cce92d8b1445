"""Models in a file: JSON of the dataclasses themselves, written whole, read back without unpickling anything.

The SHA-256 in it is that of the models as they are spelt: it finds damage, not malice, since whoever changes a file on
purpose can change that too. Hence what is read is checked as if there were none.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from suffice.simulate.data.memory import as_path, whole
from suffice.support.errors import InputError
from suffice.support.files import make_folder, write_whole
from suffice.support.numbers import as_numbers, check_numbers

from .site_models import SiteModels

KIND = "suffice models, version 3"
LARGEST = 1_000_000_000
"""A file of more bytes is refused."""
CLASSES = {"least-squares": range(1), "logistic": range(2, 3), "multinomial": range(3, 1 << 30)}
"""A loss has so many classes."""
Models = TypeVar("Models", bound=SiteModels)


class ModelsFile(msgspec.Struct, forbid_unknown_fields=True):
    kind: str
    sha256: str
    models: msgspec.Raw


def write_models(fit: SiteModels, path: str | Path) -> Path:
    """Write a .json file; `InputError` where a number is too large to be read again."""
    path = Path(path)
    if path.suffix.lower() != ".json":
        raise InputError("out", str(path), "name a .json file")
    make_folder(path.parent, "out")
    record = msgspec.to_builtins(replace(fit, expected=None), enc_hook=np.ndarray.tolist)
    check_numbers(path.name, record)
    return write_whole(path, models_file_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1)))


def models_file_bytes(models: bytes) -> bytes:
    """The file of these models."""
    return msgspec.json.encode(ModelsFile(KIND, hashlib.sha256(models).hexdigest(), msgspec.Raw(models)))


def read_models(path: str | Path, kind: type[Models]) -> Models:
    """Models that `suffice fit --out` or `Fit.save` wrote; `InputError` where the file holds none."""
    path = as_path("model", path)
    try:
        stored = msgspec.json.decode(whole(path, field="model", most=LARGEST), type=ModelsFile)
        if stored.kind != KIND:
            raise InputError("model", str(path), f"this is {stored.kind!r}, not {KIND!r}; fit again")
        if stored.sha256 != hashlib.sha256(stored.models).hexdigest():
            remedy = "damaged: not what was saved, by its SHA-256; restore it, or fit again"
            raise InputError("model", str(path), remedy)
        found = msgspec.json.decode(stored.models, type=kind, dec_hook=_array)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError("model", str(path), f"no models of suffice fit: {error}") from None
    check_numbers(path.name, msgspec.to_builtins(found, enc_hook=np.ndarray.tolist))
    wrong = _wrong(found)
    if wrong:
        raise InputError("model", str(path), wrong)
    return replace(found, expected=None)


def _array(kind: type, value: Any) -> np.ndarray:
    return as_numbers("matrix", value, ("p", "q"))


def _wrong(fit: SiteModels) -> str:
    """Why these are no models that could have been saved, or ""."""
    design, encoding, names, decisive = fit.design, fit.encoding, fit.by_name, fit.rule["network_gain_decided_by"]
    columns, dropped = [name for name in design.names if name not in encoding.references.values()], encoding.references
    gaps = encoding.gaps.keys() == design.categories[1].keys() and {*dropped.values()} <= {*design.names}
    if fit.loss not in CLASSES or len(set(fit.classes)) not in CLASSES[fit.loss]:
        return f"{len(set(fit.classes))} classes and the loss {fit.loss!r} do not fit together"
    if len(names) != len(fit) or not names:
        return "give every site one model, and at least one"
    if (decisive is None) != (fit.rule["network_gain_without"] is None) or decisive not in {None, *names}:
        return "its rule does not say of a site what it decides"
    if any(entry["site"] not in names for entry in fit.rule["suspects"]):
        return "its rule speaks of sites that have no model"
    shape = (len(columns),) * 2 if encoding.matrix is None else encoding.matrix.shape
    alike = list(encoding.columns) == list(encoding.means) == columns and shape == (len(design.names), len(columns))
    if not (gaps and alike and design.ranges.keys() <= fit.needed):
        return "its columns do not fit together"
    for name in (None, *names):
        model = fit.population if name is None else fit[name]
        each = model.coefficients.values() if len(fit.classes) > 2 else [model.coefficients]
        try:
            as_numbers("intercepts", fit.arrays(name)[1], (max(len(fit.classes), 1) if len(fit.classes) != 2 else 1,))
            as_numbers("coefficients", fit.arrays(name)[0], (len(columns), "K"))
        except (KeyError, TypeError, ValueError):
            return "a model does not have a number for every column"
        if any(len(one) != len(columns) for one in each):
            return "a model does not have a number for every column"
    return ""
