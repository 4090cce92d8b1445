"""A `Trace` has the values that a run recorded; `Algorithm` counts what is sent."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.files import check_regular, write_whole

from .oracle import Measure

_METRIC = "metric "
"""The prefix of the names of metrics in a file."""


@dataclass(frozen=True, kw_only=True)
class Trace:
    """A run has excess losses, or of a network its losses, on a grid of iterations.

    values (S, G, N) [loss], iterations (G,), seeds (S,); measure says what the values are, and `excess` or `loss` is
    their name; oracle_calls and vectors_sent (G,) are the
    totals over all clients up to each grid point, averaged over seeds. Optional:

    stopping_times  (S, N) min{t: e_t < epsilon}, inf if later than the last iteration
    weights         [s, g, i, k] (K, G, N, N) on `weight_seeds` (K,): those with which iteration t took the models to
                    the recorded ones; NaN at t = 0
    models          (S, N, d) after the last iteration run
    metrics         what else the problem measures, (S, G, N) each: of a network "test loss" and "test accuracy"

    kernel  what ran: "reference", or "c" with the hash of the compiled program; paths are bitwise those of one kernel
    """

    algorithm: str
    values: np.ndarray
    iterations: np.ndarray
    seeds: np.ndarray
    oracle_calls: np.ndarray
    vectors_sent: np.ndarray
    stopping_times: np.ndarray | None = None
    weights: np.ndarray | None = None
    weight_seeds: np.ndarray | None = None
    models: np.ndarray | None = None
    kernel: str = "reference"
    measure: Measure = "excess"
    metrics: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def excess(self) -> np.ndarray:
        """R_i - min R_i, (S, G, N); `InputError` where the minimum is unknown."""
        return self._named("excess")

    @property
    def loss(self) -> np.ndarray:
        """R_i on the clients' training rows, (S, G, N); `InputError` where excess losses were recorded."""
        return self._named("loss")

    def _named(self, measure: Measure) -> np.ndarray:
        if self.measure != measure:
            raise InputError("trace", self.algorithm, f"it recorded no {measure}: read trace.{self.measure}")
        return self.values

    def mean(self) -> np.ndarray:
        """Mean over seeds of the excess or loss, (G, N); infinite or NaN where a client diverged."""
        with np.errstate(all="ignore"):
            return self.values.mean(0)

    def standard_error(self) -> np.ndarray:
        """Standard error of `mean`, (G, N); NaN for a single seed."""
        if len(self.seeds) < 2:
            return np.full(self.values.shape[1:], np.nan)
        with np.errstate(all="ignore"):
            return self.values.std(0, ddof=1) / np.sqrt(len(self.seeds))

    def save(self, path: str | Path) -> None:
        """Write as .npz (arrays only), whole and then renamed."""
        buffer = io.BytesIO()
        arrays: dict[str, Any] = dict(arrays_of(self))
        np.savez(buffer, **arrays)
        write_whole(path, buffer.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """Read what `save` wrote; object arrays are refused."""
        check_regular(path, "path")
        with np.load(path, allow_pickle=False) as stored:
            return of_arrays({name: stored[name] for name in stored.files})


def arrays_of(trace: Trace) -> dict[str, np.ndarray]:
    """All arrays that a file keeps, by name."""
    own = {name: value for name, value in vars(trace).items() if name not in ("values", "metrics", "measure")}
    own |= {trace.measure: trace.values} | {_METRIC + name: value for name, value in trace.metrics.items()}
    return {name: np.asarray(value) for name, value in own.items() if value is not None}


def of_arrays(arrays: dict[str, np.ndarray]) -> Trace:
    """The trace of the arrays that `arrays_of` returned."""
    own: dict[str, Any] = dict(arrays)
    metrics = {name.removeprefix(_METRIC): own.pop(name) for name in arrays if name.startswith(_METRIC)}
    words: dict[str, Any] = {name: str(own.pop(name)) for name in ("algorithm", "kernel") if name in own}
    measure: Measure = "loss" if "loss" in own else "excess"
    return Trace(**words, measure=measure, values=own.pop(measure), metrics=metrics, **own)
