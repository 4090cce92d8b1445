"""Models in a file: JSON of the dataclasses themselves, written whole, read back without unpickling anything.

The SHA-256 in it is that of the models as they are spelt, so that what is read is what was saved. It finds damage, not
malice: whoever changes a file on purpose can change that too, and has models of their own.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from suffice.simulate.data.memory import as_path, whole
from suffice.support.errors import InputError
from suffice.support.files import make_folder, write_whole
from suffice.support.numbers import check_numbers

from .site_models import SiteModels

KIND = "suffice models, version 3"
LARGEST = 1_000_000_000
"""A file of more bytes is refused."""
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
    models = msgspec.json.format(msgspec.json.encode(record), indent=1)
    stored = ModelsFile(KIND, hashlib.sha256(models).hexdigest(), msgspec.Raw(models))
    return write_whole(path, msgspec.json.encode(stored))


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
        found = msgspec.json.decode(stored.models, type=kind, dec_hook=lambda _, values: np.array(values))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError("model", str(path), f"no models of suffice fit: {error}") from None
    return replace(found, expected=None)
