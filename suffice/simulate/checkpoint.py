"""A run that was killed goes on from a file, bitwise: random numbers are counted, so that the state is all there is."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from suffice.support.errors import InputError
from suffice.support.files import check_regular, write_whole

from .algorithms.base import Algorithm, State
from .oracle import Oracle
from .problem_batches import tensors
from .recorder import Recorder

_STATE = "state "


def fingerprint(problems: Sequence[Oracle], algorithm: Algorithm, *setting: Any) -> str:
    """A hash of what decides a run: whatever differs in it, the run is another one."""
    found = hashlib.sha256(repr((*map(repr, problems), repr(algorithm), *setting)).encode())
    parts = tensors(algorithm)
    for problem in problems:
        parts += [*tensors(problem), problem.start, problem.value(problem.start[None])]
    for each in parts:
        found.update(each.detach().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()


class Checkpoint:
    """The file, written whole after every `every` iterations: blocks done, iterations of the next one, its state."""

    def __init__(self, path: str | Path, every: int, run: str) -> None:
        self.path, self.every, self.run = Path(path), every, run

    def save(self, done: int, iteration: int, state: State | None, recorder: Recorder) -> None:
        arrays: dict[str, Any] = {_STATE + name: value.cpu().numpy() for name, value in (state or {}).items()}
        arrays |= recorder.kept_arrays() | {"run": self.run, "done": done, "iteration": iteration}
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        write_whole(self.path, buffer.getvalue())

    def load(self, recorder: Recorder, problem: Oracle) -> tuple[int, int, State]:
        """Blocks done, and the iteration and state of the block after them (0 and nothing between two)."""
        if not self.path.exists():
            return 0, 0, {}
        check_regular(self.path, "checkpoint")
        with np.load(self.path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        if str(arrays.pop("run", "")) != self.run:
            raise InputError("checkpoint", str(self.path), "it belongs to another run: name another file or remove it")
        done, iteration = int(arrays.pop("done")), int(arrays.pop("iteration"))
        kept = [name for name in arrays if name.startswith(_STATE)]
        state = {name.removeprefix(_STATE): torch.from_numpy(arrays.pop(name)).to(problem.device) for name in kept}
        recorder.restore(arrays)
        return done, iteration, state
