"""Whole runs in compiled code: All-for-one and its simpler relatives on streaming least squares.

The random numbers are those of `Randomness`, so paths are those of the reference up to rounding: 1e-12 relative in
float64 as long as no similarity falls within rounding of a threshold. Seeds are independent of each other, of
their number and of threads, bit by bit.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from suffice.bounds import Binary, Continuous
from suffice.bounds.criteria import TOLERANCE

from ..algorithms.all_for_one import AllForOne
from ..algorithms.arguments import per_client
from ..algorithms.base import Algorithm
from ..algorithms.fixed_weights import FixedWeights
from ..algorithms.local import Local
from ..oracle import Oracle
from ..problem import known
from ..problems.streaming import StreamingLeastSquares
from ..randomness import Stream
from ..refresh_schedule import Every
from ..similarity import ReleasedSimilarity, SampledSimilarity
from .library import library
from .threads import Progress, in_threads

_LOCAL, _FIXED, _ADAPTIVE = range(3)


class _Run(ctypes.Structure):
    """`Run` of paths.c."""

    _fields_ = tuple(
        [(name, ctypes.c_int64) for name in ("seeds", "iterations", "first", "grid", "clients", "features", "batch",
                                             "rule", "similarity", "criterion", "normalised", "diagonal",
                                             "eta_stride", "start_stride", "root_key")]
        + [(name, ctypes.c_void_p) for name in ("seed", "points", "start", "eta", "root", "packed_seeds",
                                                "packed_clients", "half_hessian", "optimum", "label_noise",
                                                "precision", "threshold", "alpha", "excess", "final")]
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Paths:
    """Excess losses (S, G, N) on a grid of iterations, and the last models (S, N, d) if they were asked for."""

    excess: np.ndarray
    models: np.ndarray | None


def refusal(problem: Oracle, algorithm: Algorithm) -> str | None:
    """Why the compiled kernel does not run this pair, or None where it does.

    Problems: streaming least squares on the CPU, features of mean 0, one sample per client serving all models.
    Algorithms: Local, FixedWeights, and AllForOne with SampledSimilarity or ReleasedSimilarity of one sample, a
    binary or continuous criterion, ratios anew in every iteration, all clients active.
    """
    if type(problem) is not StreamingLeastSquares:
        return f"the problem is {type(problem).__name__}, not StreamingLeastSquares"
    if problem.pairwise or bool(problem.mean.any()):
        return "the stream has pairwise samples" if problem.pairwise else "the stream has features of mean other than 0"
    if problem.device.type != "cpu" or problem.dtype not in (torch.float32, torch.float64):
        return f"the problem lives on {problem.device} in {problem.dtype}"
    if type(algorithm) in (Local, FixedWeights):
        return None
    if type(algorithm) is not AllForOne:
        return f"the algorithm is {type(algorithm).__name__}"
    if algorithm.similarity.samples != 1:
        return f"its similarities are {algorithm.similarity}"
    return ratios_refusal(problem, algorithm, (SampledSimilarity, ReleasedSimilarity), (Binary, Continuous))


def ratios_refusal(
    problem: Oracle, algorithm: AllForOne, similarities: tuple[type, ...], criteria: tuple[type, ...]
) -> str | None:
    """Why a kernel that knows these similarities and criteria does not run All-for-one, or None where it does."""
    similarity, criterion = algorithm.similarity, algorithm.criterion
    if type(similarity) not in similarities:
        return f"its similarities are {similarity}"
    if type(criterion) not in criteria:
        return f"its criterion is {criterion.kind}"
    if isinstance(criterion, Binary) and np.shape(criterion.threshold) not in ((), (problem.clients, 1)):
        return "its thresholds are neither one number nor (N, 1)"
    if algorithm.refresh != Every() or isinstance(algorithm.participation, torch.Tensor) or algorithm.participation < 1:
        return "it keeps ratios between iterations, or clients are inactive at times"
    return None


def ratio_arrays(problem: Oracle, algorithm: AllForOne, reals: Callable[..., np.ndarray]) -> dict[str, np.ndarray]:
    """What weights of All-for-one are made of besides the ratios."""
    variances = known(problem, "the kernel").sigma2 if algorithm.sigma2 is None else algorithm.sigma2
    threshold = algorithm.criterion.threshold if isinstance(algorithm.criterion, Binary) else 1.0
    n = problem.clients
    return {
        "precision": reals(1 / per_client("sigma2", variances, problem).double(), n),
        "threshold": reals(np.asarray(threshold, dtype=float) * (1 - TOLERANCE), n, 1),
    }


def compiled_paths(
    problem: StreamingLeastSquares,
    algorithm: Algorithm,
    *,
    seeds: Sequence[int] | np.ndarray,
    iterations: int,
    grid: Sequence[int] | np.ndarray,
    eta: np.ndarray,
    root: int = 0,
    start: np.ndarray | None = None,
    first: int = 0,
    models: bool = False,
    lanes: Literal["seeds", "clients"] | None = None,
    progress: Progress | None = None,
) -> Paths:
    """Run a pair that `refusal` does not refuse, on torch's number of threads. `Unavailable` without a compiler.

    eta     (N,), or (T, N) for a step size that changes
    start   models (S, N, d) instead of the problem's own
    first   iterations done before: the first step draws the numbers of iteration first + 1
    models  return the last models too
    lanes   "seeds" or "clients" side by side in a register; the results are the same bits, and the faster is taken
            unless one is named (Local knows seeds only)
    """
    code = library(problem.dtype)
    n, d = problem.clients, problem.features
    real = np.dtype("float32" if problem.dtype == torch.float32 else "float64")
    algorithm.init(problem, problem.start[None])

    def reals(values: Any, *shape: int) -> np.ndarray:
        return np.ascontiguousarray(np.broadcast_to(np.asarray(values), shape), dtype=real)

    number, points = len(seeds), np.ascontiguousarray(grid, dtype=np.int64)
    choice: dict[str, int] = {"rule": _LOCAL if isinstance(algorithm, Local) else _FIXED}
    arrays = {
        "seed": np.ascontiguousarray(seeds, dtype=np.uint32),
        "points": points,
        "start": reals(problem.start, n, d) if start is None else reals(start, number, n, d),
        "eta": reals(eta, *np.shape(eta)),
        "root": reals(problem.root, n, d, d),
        "half_hessian": reals(problem.A, n, d, d),
        "optimum": reals(problem.optimum, n, d),
        "label_noise": reals(problem.label_noise, n),
        "excess": np.empty((number, len(points), n)),
    }
    if isinstance(algorithm, FixedWeights):
        arrays["alpha"] = reals(algorithm.alpha, n, n)
    if isinstance(algorithm, AllForOne):
        arrays |= ratio_arrays(problem, algorithm, reals)
        choice = {
            "rule": _ADAPTIVE,
            "similarity": int(isinstance(algorithm.similarity, ReleasedSimilarity)),
            "criterion": int(isinstance(algorithm.criterion, Continuous)),
            "normalised": int(algorithm.normalised),
        }
    if models:
        arrays["final"] = np.empty((number, n, d), dtype=real)
    diagonal = problem.A.count_nonzero() == problem.A.diagonal(dim1=-2, dim2=-1).count_nonzero()
    run = _Run(
        seeds=number,
        iterations=iterations,
        first=first,
        grid=len(points),
        clients=n,
        features=d,
        batch=problem.batch,
        diagonal=int(diagonal),
        eta_stride=n if np.ndim(eta) == 2 else 0,
        start_stride=0 if start is None else n * d,
        root_key=root,
        **choice,
        **{name: array.ctypes.data for name, array in arrays.items()},
    )
    stretches = stretches_of(number, code.lanes(), "seeds" if isinstance(algorithm, Local) else lanes)
    for in_clients in {kind for *_, kind in stretches}:
        kind = ctypes.c_int64(in_clients)
        packed = np.zeros(code.arrange(ctypes.byref(run), kind, None), dtype=real)
        code.arrange(ctypes.byref(run), kind, ctypes.c_void_p(packed.ctypes.data))
        name = "packed_clients" if in_clients else "packed_seeds"
        arrays[name] = packed  # kept alive
        setattr(run, name, packed.ctypes.data)
    for begin, end, in_clients in stretches:
        in_threads(code.paths, run, (begin, end, in_clients), -(-(end - begin) // code.lanes()), progress)
    return Paths(excess=arrays["excess"], models=arrays.get("final"))


def stretches_of(number: int, width: int, lanes: str | None) -> list[tuple[int, int, bool]]:
    """Seeds begin .. end - 1 and whether their lanes are clients.

    Lanes of seeds are the faster where all are used; for half a register of seeds or less, lanes of clients are.
    """
    rest = number % width if lanes is None else number * (lanes == "clients")
    whole = number - rest if lanes or 2 * rest <= width else number
    return [part for part in ((0, whole, False), (whole, number, True)) if part[0] < part[1]]


def fill(
    seeds: Sequence[int] | np.ndarray,
    *,
    clients: int,
    features: int,
    iteration: int,
    stream: Stream,
    root: int = 0,
    dtype: torch.dtype = torch.float64,
) -> np.ndarray:
    """The kernel's standard normals (S, clients, features): those of `Randomness.normal` up to rounding."""
    own = np.ascontiguousarray(seeds, dtype=np.uint32)
    out = np.empty((len(own), clients, features), dtype="float32" if dtype == torch.float32 else "float64")
    sizes = [ctypes.c_int64(value) for value in (root, clients, features, iteration, int(stream))]
    library(dtype).fill(ctypes.c_int64(len(own)), ctypes.c_void_p(own.ctypes.data), *sizes,
                        ctypes.c_void_p(out.ctypes.data))  # fmt: skip
    return out
