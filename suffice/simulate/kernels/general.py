"""Whole runs in compiled code, for every problem whose samples the kernel can draw.

Quadratics with additive noise, least squares on rows and on streams, logistic regression on rows; each client alone,
FedAvg and what goes along with its rounds, Scaffnew, CoBo, fixed weights, All-for-all in one stage or two, and
All-for-one with exact, sampled, debiased or released similarities and the three criteria. Random numbers are those of
`Randomness`, so float64 paths agree with the reference to 1e-11 as long as no similarity falls within rounding of a
threshold. Seeds are independent of each other, of their number and of threads, bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from .task import ALONE, CRITERIA, PAIRS, POINTERS, PROBLEMS, ROUNDS, RULES, SIMILARITIES, Task, as_declared, numbers
from .threads import Progress, in_threads

_MOST_OF_PAIRS = 2_000_000
"""Numbers in one iteration's samples of all pairs, of which a thread holds those of a block of seeds."""
_MOST_STEPS = 20_000_000
"""Iterations of which the step sizes of two stages are held (320 MB)."""


def general_refusal(problem: Oracle, algorithm: Algorithm) -> str | None:
    """The reason why the compiled kernel does not run this pair, or None where it does."""
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
    """Whether the algorithm weighs no clients: models are trained alone, and averaged by a server if at all."""
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
) -> dict[str, np.ndarray]:
    """Run a pair that `general_refusal` allows, on torch's number of threads. `Unavailable` without a compiler.

    problem       one, or one for each seed, which then differ in numbers alone
    eta           (N,), or (T, N) for a step size that changes
    level         (N,) record stopping times min{t: e_t < level}; with `early` a block of seeds ends when it is complete
    relative      models are kept as theta_i - theta_i*, so that excesses are right far below the rounding of theta_i:
                  for streams and quadratics, and rules that move along gradients alone
    chosen        record the weights of these seeds; NaN at t = 0

    Returns what is asked for: excess (S, G, N), stopping_times (S, N), weights (K, G, N, N), last models (S, N, d), and
    how many pairs or coins came up as `events` (S, G).
    """
    problems = problem if isinstance(problem, Sequence) else [problem]
    problem = problems[0]
    if relative and (isinstance(problem, RowModel) or isinstance(algorithm, (*ROUNDS, *PAIRS, Scaffnew))):
        raise InputError("relative", True, "give a stream or quadratics, and a rule that averages no models")
    code, S, G, N = library(problem.dtype), len(seeds), len(grid), problem.clients
    arrays, choice = _given(problems, algorithm, relative)
    more: dict[str, Any] = {"seed": seeds, "points": grid, "eta": eta, "zero": np.zeros(problem.features)}
    if level is not None:
        more["level"] = level
    if len(chosen):
        place = {int(seed): at for at, seed in enumerate(chosen)}
        more["chosen"] = [place.get(int(seed), -1) for seed in seeds]
    if isinstance(algorithm, TwoStageAllForAll):
        if iterations > _MOST_STEPS:
            raise Unavailable("the step sizes of all iterations would fill the memory")
        more |= zip(("pace", "share"), algorithm.schedule(np.arange(1, iterations + 1)))
    found: dict[str, np.ndarray] = {"excess": np.empty((S, G, N))}
    found |= {"stopping_times": np.full((S, N), np.inf)} if level is not None else {}
    found |= {"events": np.zeros((S, G))} if isinstance(algorithm, (CoBo, Scaffnew)) else {}
    found |= {"models": np.empty((S, N, problem.features))} if models else {}
    found |= {"weights": np.full((len(chosen), G, N, N), np.nan)} if len(chosen) else {}
    plain = len(problems) == 1 and level is None and not (len(chosen) or relative)
    choice |= {"seeds": S, "grid": G, "iterations": iterations, "root_key": root, "early": early, "relative": relative}
    choice |= {"eta_stride": N if np.ndim(eta) > 1 else 0, "tiled": plain and tiled(problem, algorithm)}
    arrays |= as_declared(more, problem.dtype) | found
    task = Task(**choice, **{name: array.ctypes.data for name, array in arrays.items()})
    in_threads(code.general, task, (0, S), S if len(problems) > 1 else -(-S // code.lanes()), progress)
    return found


def _given(
    problems: Sequence[Oracle], algorithm: Algorithm, relative: bool
) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """Arrays and choices of the problems; where each seed has its own, one after the other with the bytes between."""
    algorithm.init(problems[0], problems[0].start[None])
    with one_thread():  # torch's other threads wait for more at full speed, on cores that blocks of seeds would use
        own = [numbers(each, algorithm) for each in problems]
    for each, _ in own if relative else ():
        each["start"] = each["start"] - each["optimum"]
    arrays, choice = own[0]
    if len(own) > 1:
        choice = {name: min(choice[name] for _, choice in own) for name in choice}
        bytes_apart = np.array([arrays[name].nbytes if name in arrays else 0 for name in POINTERS])
        arrays = {name: np.stack([each[name] for each, _ in own]) for name in arrays} | {"apart": bytes_apart}
    return arrays, choice
