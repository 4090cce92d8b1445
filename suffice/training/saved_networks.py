"""Networks in `models.npz`, as `train` wrote them: read without unpickling anything, to predict the rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec
import numpy as np
import torch
from torch import Tensor, nn

from suffice.simulate.data.memory import as_path
from suffice.simulate.data.npz import read_arrays
from suffice.support.errors import InputError
from suffice.support.memory import MAX_MEMORY, Memory

from .architectures import MODELS, module_of
from .client_arrays import TableReading

RECORD, NAMES = "suffice", "client names"
"""Entries of the file beside those of the modules' `state_dict`."""


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The record that the file holds beside parameters."""

    model: str
    classes: tuple[str, ...]
    reading: TableReading


@dataclass(frozen=True, kw_only=True)
class Networks(TableReading):
    """A network for each client, `by_name` a state of one module; a client that was not trained gets the mean of
    everybody's predictions."""

    module: nn.Module
    by_name: Mapping[str, Mapping[str, Tensor]]
    classes: tuple[str, ...]

    @cached_property
    def needed(self) -> frozenset[str]:
        """The columns that predictions need."""
        return frozenset((self.client, *(column.source for column in self.design.columns)))

    def scores(self, X: np.ndarray, sites: np.ndarray) -> np.ndarray:
        """Numbers in the target's unit (n, 1), or logarithms of the classes' probabilities (n, K), of encoded rows X
        (n, q) and the client of each."""
        mean, scale = np.array([self.standardised[name] for name in self.encoding.columns]).reshape(-1, 2).T
        rows = torch.tensor((X - mean) / scale, dtype=next(iter(self.module.parameters())).dtype)
        answer = np.empty((len(X), max(1, len(self.classes))))
        for name in dict.fromkeys(sites.tolist()):
            of = torch.from_numpy(sites == name)
            chosen = self.by_name.values() if name not in self.by_name else [self.by_name[name]]
            with torch.no_grad():
                found = [torch.func.functional_call(self.module, dict(state), (rows[of],)).double() for state in chosen]
            each = [one.softmax(1) if self.classes else one.reshape(-1, 1) for one in found]
            answer[of.numpy()] = np.mean([one.numpy() for one in each], 0)
        if self.classes:
            return np.log(np.maximum(answer, 1e-300))
        mean, scale = self.standardised[self.target]
        return mean + scale * answer

    def labels(self, scores: np.ndarray) -> np.ndarray:
        return np.array(self.classes)[scores.argmax(1)] if self.classes else scores[:, 0]

    def shares(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities (n, K) of the classes; `InputError` for numbers."""
        if not self.classes:
            raise InputError("probabilities", "numbers", "only classes have probabilities; leave it out")
        return np.exp(scores)


def read_networks(path: str | Path, model: str | None = None) -> Networks:
    """The networks of `train`; `model` is the package.module:Factory of one's own, which is imported: a file names
    none to run. Raises `InputError`."""
    path = as_path("model", path)
    arrays = read_arrays("model", path, Memory(MAX_MEMORY))
    names, said = ([str(text) for text in arrays.pop(key, np.array([])).ravel()] for key in (NAMES, RECORD))
    if not names or not said:
        remedy = "no networks of a table, as suffice train writes them; of images load one by its state_dict"
        raise InputError("model", str(path), remedy)
    if len(set(names)) < len(names):
        raise InputError("model", str(path), f"its {NAMES} name a client twice")
    if any(len(own) != len(names) for own in arrays.values() if own.ndim):
        raise InputError("model", str(path), f"its arrays do not fit {len(names)} clients")
    try:
        record = msgspec.json.decode(said[0], type=Record, dec_hook=lambda kind, value: np.array(value, float))
    except (msgspec.MsgspecError, ValueError) as error:
        raise InputError("model", str(path), f"damaged: {error}; train again") from None
    if model is None and record.model not in MODELS:
        factory = record.model if ":" in record.model else "package.module:Factory"
        raise InputError("model", record.model, f"a module of one's own; name what builds it: --network {factory}")
    columns, outputs = record.reading.encoding.columns, max(1, len(record.classes))
    made = module_of(model or record.model, (len(columns),), outputs)
    states = {name: {key: torch.from_numpy(own[at]) for key, own in arrays.items()} for at, name in enumerate(names)}
    networks = Networks(module=made(), by_name=states, classes=record.classes, **vars(record.reading))
    try:
        networks.module.eval().load_state_dict(states[names[0]])
        networks.scores(np.zeros((1, len(columns))), np.array(names[:1], dtype=object))
    except (RuntimeError, ValueError, KeyError, IndexError) as error:
        wrong = f"its parameters do not fit {model or record.model}: {str(error).splitlines()[0].rstrip(':')}"
        raise InputError("model", str(path), wrong) from None
    return networks
