"""Whole runs in compiled code, for every problem whose samples the kernel can draw.

Quadratics with additive noise, least squares on rows and on streams, logistic regression on rows; each client alone,
FedAvg and what goes along with its rounds, Scaffnew, CoBo, fixed weights, All-for-all in one stage or two, and
All-for-one with exact, sampled, debiased or released similarities and the three criteria. Random numbers are those of
`Randomness`, so float64 paths agree with the reference to 1e-11 as long as no similarity falls within rounding of a
threshold. Seeds are independent of each other, of their number and of threads, bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from suffice.bounds import Binary, Continuous
from suffice.support.errors import InputError

from ..algorithms.algorithm import Algorithm
from ..algorithms.all_for_all_two_stage import TwoStageAllForAll
from ..algorithms.all_for_one import AllForOne
from ..algorithms.cobo import CoBo
from ..algorithms.ditto import Ditto
from ..algorithms.fedavg import FedAvg
from ..algorithms.fixed_weights import FixedWeights
from ..algorithms.local import Local
from ..algorithms.scafflix import Scaffnew
from ..oracle import Oracle
from ..problems.row_model import RowModel
from ..problems.streaming import StreamingLeastSquares
from ..similarity_ratio import SampledSimilarity
from ..threads import one_thread
from .library import Unavailable, library
from .task import ALONE, CRITERIA, PAIRS, POINTERS, PROBLEMS, ROUNDS, RULES, SIMILARITIES, Task, numbers
from .threads import Progress, in_threads

_MOST_OF_PAIRS = 2_000_000
"""Numbers in one iteration's samples of all pairs, of which a thread holds those of a block of seeds."""
_MOST_STEPS = 20_000_000
"""Iterations of which the step sizes of two stages are held (320 MB)."""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What was asked for: excess (S, G, N), stopping times (S, N), weights (K, G, N, N) of chosen seeds, last models
    (S, N, d), and what pairs or coins came up (S, G)."""

    excess: np.ndarray
    stopping: np.ndarray | None
    weights: np.ndarray | None
    models: np.ndarray | None
    events: np.ndarray | None


def general_refusal(problem: Oracle, algorithm: Algorithm) -> str | None:
    """Why the compiled kernel does not run this pair, or None where it does."""
    if type(problem) not in PROBLEMS:
        return f"the problem is {type(problem).__name__}"
    if isinstance(problem, StreamingLeastSquares) and problem.pairwise:
        samples = max(problem.batch, algorithm.similarity.samples if isinstance(algorithm, AllForOne) else 0)
        if problem.clients**2 * problem.features * samples > _MOST_OF_PAIRS:
            return "pairwise samples would fill the memory"
    if problem.device.type != "cpu" or problem.dtype not in (torch.float32, torch.float64):
        return f"the problem lives on {problem.device} in {problem.dtype}"
    if type(algorithm) not in RULES:
        return f"the algorithm is {type(algorithm).__name__}"
    if isinstance(algorithm, Ditto) and type(algorithm.server) is not FedAvg:
        return f"its server is {type(algorithm.server).__name__}"
    if isinstance(algorithm, CoBo) and (algorithm.simplex or getattr(problem, "pairwise", False)):
        return "its weights sum to 1, or midpoints take samples of pairs"
    return _ratios_refusal(problem, algorithm) if isinstance(algorithm, AllForOne) else None


def _ratios_refusal(problem: Oracle, algorithm: AllForOne) -> str | None:
    similarity, criterion = algorithm.similarity, algorithm.criterion
    if type(similarity) not in SIMILARITIES:
        return f"its similarities are {similarity}"
    if type(criterion) not in CRITERIA:
        return f"its criterion is {criterion.kind}"
    if isinstance(criterion, Binary) and np.shape(criterion.threshold) not in ((), (problem.clients, 1)):
        return "its thresholds are neither one number nor (N, 1)"
    return "it keeps ratios between iterations" if algorithm.refresh > 1 else None


def tiled(problem: Oracle, algorithm: Algorithm) -> bool:
    """Whether streams.h runs a pair that `general_refusal` allows, where losses and models alone are recorded.

    It is 2.6 to 4 times as fast on All-for-one with sampled similarities.
    """
    if not isinstance(problem, StreamingLeastSquares) or problem.pairwise or bool(problem.mean.any()):
        return False
    if not isinstance(algorithm, AllForOne):
        return type(algorithm) in (Local, FixedWeights)
    known = isinstance(algorithm.similarity, SampledSimilarity)
    return known and algorithm.similarity.samples == 1 and isinstance(algorithm.criterion, (Binary, Continuous))


def weighs_none(algorithm: Algorithm) -> bool:
    """Whether models are trained alone and averaged by a server, if at all: it weighs no clients."""
    return isinstance(algorithm, ALONE)


def general_paths(
    problem: Oracle | Sequence[Oracle],
    algorithm: Algorithm,
    *,
    seeds: Sequence[int] | np.ndarray,
    iterations: int,
    grid: Sequence[int] | np.ndarray,
    eta: np.ndarray,
    root: int = 0,
    level: np.ndarray | None = None,
    early: bool = False,
    chosen: Sequence[int] = (),
    models: bool = False,
    relative: bool = False,
    progress: Progress | None = None,
) -> Recorded:
    """Run a pair that `general_refusal` allows, on torch's number of threads. `Unavailable` without a compiler.

    problem       one, or one for each seed, which then differ in numbers alone
    eta           (N,), or (T, N) for a step size that changes; with a further first axis where seeds differ in it
    level         (N,) record stopping times min{t: e_t < level}; with `early` a block of seeds ends when it is complete
    relative      models are kept as theta_i - theta_i*, so that excesses are right far below the rounding of theta_i:
                  for streams and quadratics, and rules that move along gradients alone
    chosen        record the weights of these seeds; NaN at t = 0
    """
    problems = problem if isinstance(problem, Sequence) else [problem]
    problem = problems[0]
    if relative and (isinstance(problem, RowModel) or isinstance(algorithm, (*ROUNDS, *PAIRS, Scaffnew))):
        raise InputError("relative", True, "give a stream or quadratics, and a rule that averages no models")
    code, number, points = library(problem.dtype), len(seeds), np.ascontiguousarray(grid, dtype=np.int64)
    blocks, n, g = -(-number // code.lanes()), problem.clients, len(points)
    arrays, choice, apart = _given(problems, algorithm, eta, iterations, relative)
    arrays |= {"seed": np.ascontiguousarray(seeds, dtype=np.uint32), "points": points}
    arrays |= _room(algorithm, (number, g, n, problem.features), level, models)
    arrays |= _weights(seeds, (g, n), chosen)
    plain = len(problems) == 1 and level is None and not (len(chosen) or relative)
    task = Task(
        seeds=number,
        grid=g,
        root_key=root,
        early=int(early),
        relative=int(relative),
        tiled=int(plain and tiled(problem, algorithm)),
        **choice,
        **{name: array.ctypes.data for name, array in (arrays | apart).items()},
    )
    in_threads(code.general, task, (0, number), number if len(problems) > 1 else blocks, progress)
    return Recorded(
        excess=arrays["excess"],
        stopping=arrays.get("stopping"),
        weights=arrays.get("weights"),
        models=arrays.get("final"),
        events=arrays.get("events"),
    )


def _room(
    algorithm: Algorithm, shape: tuple[int, int, int, int], level: np.ndarray | None, models: bool
) -> dict[str, np.ndarray]:
    """Arrays that are filled for each seed: shape is (S, G, N, d)."""
    number, g, n, d = shape
    arrays = {"excess": np.empty((number, g, n))}
    if level is not None:
        arrays |= {"level": np.ascontiguousarray(level, dtype=float), "stopping": np.full((number, n), np.inf)}
    if isinstance(algorithm, (CoBo, Scaffnew)):
        arrays["events"] = np.zeros((number, g))
    if models:
        arrays["final"] = np.empty((number, n, d))
    return arrays


def _weights(seeds: Sequence[int] | np.ndarray, shape: tuple[int, int], chosen: Sequence[int]) -> dict[str, np.ndarray]:
    """Arrays for weights: shape is (G, N)."""
    if not chosen:
        return {}
    place = {int(seed): at for at, seed in enumerate(chosen)}
    rows = np.array([place.get(int(seed), -1) for seed in seeds], dtype=np.int64)
    return {"chosen": rows, "weights": np.full((len(chosen), *shape, shape[-1]), np.nan)}


def _given(
    problems: Sequence[Oracle], algorithm: Algorithm, eta: np.ndarray, iterations: int, relative: bool
) -> tuple[dict[str, np.ndarray], dict[str, int], dict[str, np.ndarray]]:
    """Arrays and choices of the problems; the bytes between two seeds' arrays, where each has a problem of its own."""
    problem = problems[0]
    real = np.dtype("float32" if problem.dtype == torch.float32 else "float64")
    algorithm.init(problem, problem.start[None])

    def reals(values: Any, *shape: int) -> np.ndarray:
        return np.ascontiguousarray(np.broadcast_to(np.asarray(values), shape), dtype=real)

    with one_thread():  # torch's other threads wait for more at full speed, on cores that blocks of seeds would use
        own = [numbers(each, algorithm, reals) for each in problems]
    if relative:
        for each, _ in own:
            each["start"] = each["start"] - each["optimum"]
    choice = {name: min(choice[name] for _, choice in own) for name in own[0][1]}
    choice |= {
        "iterations": iterations,
        "clients": problem.clients,
        "features": problem.features,
        "batch": problem.batch,
        "eta_stride": problem.clients if np.ndim(eta) > 1 and np.shape(eta)[-2] > 1 else 0,
    }
    arrays, apart = own[0][0], {}
    if len(own) > 1:
        apart = {name: array.nbytes for name, array in arrays.items()}
        arrays = {name: np.stack([each[name] for each, _ in own]) for name in arrays}
    arrays |= {"eta": reals(eta, *np.shape(eta)), "zero": reals(0.0, problem.features)}
    if isinstance(algorithm, TwoStageAllForAll):
        if iterations > _MOST_STEPS:
            raise Unavailable("the step sizes of all iterations would fill the memory")
        schedule = zip(("pace", "share"), algorithm.schedule(np.arange(1, iterations + 1)))
        arrays |= {name: reals(each, iterations) for name, each in schedule}
    if np.ndim(eta) == 3:
        apart["eta"] = arrays["eta"][0].nbytes
    bytes_apart = np.array([apart.get(name, 0) for name in POINTERS], dtype=np.int64)
    return arrays, choice, {"apart": bytes_apart} if len(problems) > 1 else {}
