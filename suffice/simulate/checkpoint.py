"""A run that was killed goes on from a file, bitwise: random numbers are counted, so that the state is all there is.

Trained networks are saved by `suffice.training.saved_networks`."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

from suffice.support.errors import InputError
from suffice.support.files import check_regular, write_whole
from suffice.support.memory import Memory
from suffice.support.versions import VERSION

from .algorithms.algorithm import Algorithm, State
from .data.npz import read_arrays
from .oracle import Oracle
from .problems.module_requirements import as_bytes
from .randomness import Randomness
from .recorder import Recorder
from .threads import one_thread
from .trace import arrays_of, of_arrays

_STATE = "state "
DAMAGED = "damaged, or not of this program: remove it, and the run begins anew"


def fingerprint(problems: Sequence[Oracle], algorithm: Algorithm, *setting: Any) -> str:
    """A hash of what decides a run: whatever differs in it, the run is another one.

    That is all data, options and code of one's own, this program and torch, and what code answers beside the start.
    """
    found = hashlib.sha256()
    with one_thread(), torch.no_grad():
        for problem in problems:
            noise = torch.randn(problem.start.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
            beside = problem.start + (noise / problem.features**0.5).to(problem.start)
            if problem.device.type == "cpu":
                draw = problem.draw(Randomness(seeds=torch.tensor([0])), 1)
                answer = problem.stochastic_gradient(beside[None], None, draw)
            else:  # a card adds a gradient in any order
                answer = problem.value(beside[None])
            _feed(found, [problem, answer], set())
    _feed(found, [VERSION, torch.__version__, algorithm, setting], set())
    return found.hexdigest()


def _feed(found: Any, part: Any, seen: set[int]) -> None:
    """Hash a part with all that it is made of, and the code of functions and classes that are of neither this program
    nor torch, whose versions stand for theirs."""
    found.update(f"{type(part).__qualname__} ".encode())
    if isinstance(part, (torch.Tensor, np.ndarray)):
        tensor = torch.as_tensor(part)
        found.update(f"{tensor.dtype} {tuple(tensor.shape)} {tensor.device}".encode() + as_bytes(tensor))
    elif isinstance(part, (int, float, complex, str, bytes, range, torch.dtype, torch.device, type(None))):
        found.update(f"{part!r} ".encode())
    elif isinstance(part, (set, frozenset)):
        found.update(repr(sorted(map(repr, part))).encode())
    elif id(part) not in seen:
        seen.add(id(part))
        for each in _parts(part):
            _feed(found, each, seen)


def _parts(part: Any) -> list[Any]:
    if isinstance(part, Mapping):
        return [*part.keys(), *part.values()]
    if isinstance(part, (list, tuple)):
        return list(part)
    if is_dataclass(part) and not isinstance(part, type):
        return [type(part), *(getattr(part, each.name) for each in fields(part))]
    known = str(getattr(part, "__module__", "builtins")).partition(".")[0] in _KNOWN
    if isinstance(part, ModuleType) or (known and callable(part) and not isinstance(part, (torch.nn.Module, partial))):
        return [getattr(part, "__qualname__", ""), getattr(part, "__name__", "")]
    return [type(part), *(getattr(part, name, None) for name in _MADE_OF)]


_KNOWN = ("suffice", "torch", "numpy", "builtins", "typing", "abc", "enum")
_MADE_OF = (
    *("__qualname__", "__dict__", "__bases__", "__func__", "__self__", "fget", "func", "args", "keywords"),
    *("__code__", "co_code", "co_consts", "co_names", "__defaults__", "__kwdefaults__", "__closure__", "cell_contents"),
)
"""Attributes of objects, classes, methods, properties, partial functions, functions, their code, and variables they
keep."""


class Checkpoint:
    """The file, written whole after every `every` iterations: blocks done, iterations of the next one, its state."""

    def __init__(self, path: str | Path, every: int, run: str) -> None:
        self.path, self.every, self.run = Path(path), every, run
        if not self.path.parent.is_dir():
            raise InputError("checkpoint", str(path), "no such folder; make it first")

    def save(self, done: int, iteration: int, state: State | None, recorder: Recorder) -> None:
        arrays: dict[str, Any] = {_STATE + name: value.cpu().numpy() for name, value in (state or {}).items()}
        arrays |= arrays_of(recorder.trace) | {"spent": recorder.spent}
        arrays |= {"run": self.run, "done": done, "iteration": iteration}
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        write_whole(self.path, buffer.getvalue(), "checkpoint")

    def load(self, recorder: Recorder, problem: Oracle) -> tuple[int, int, State]:
        """Blocks done, and the iteration and state of the block after them (0 and nothing between two)."""
        if not self.path.exists():
            return 0, 0, {}
        check_regular(self.path, "checkpoint")
        try:
            arrays = read_arrays("checkpoint", self.path, Memory(2**60))
        except InputError:
            raise InputError("checkpoint", str(self.path), DAMAGED) from None
        if str(arrays.pop("run", "")) != self.run:
            raise InputError("checkpoint", str(self.path), "it belongs to another run: name another file or remove it")
        done, iteration = int(arrays.pop("done")), int(arrays.pop("iteration"))
        kept = [name for name in arrays if name.startswith(_STATE)]
        state = {name.removeprefix(_STATE): torch.from_numpy(arrays.pop(name)).to(problem.device) for name in kept}
        recorder.spent, recorder.trace = arrays.pop("spent"), of_arrays(arrays)
        return done, iteration, state
