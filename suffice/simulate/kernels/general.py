"""Whole runs in compiled code, for every problem whose samples the kernel can draw.

Quadratics with additive noise, least squares on rows and on streams, logistic regression on rows; each client alone,
FedAvg and what goes along with its rounds, Scaffnew, CoBo, fixed weights, All-for-all in one stage or two, and
All-for-one with exact, sampled, debiased or released similarities and the three criteria. Random numbers are those of
`Randomness`, so float64 paths agree with the reference to 1e-11 as long as no similarity falls within rounding of a
threshold. Where `paths` runs a pair too, it is the faster.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from suffice.bounds import Binary, Continuous, Sharp
from suffice.support.errors import InputError

from ..algorithms.all_for_all import AllForAll
from ..algorithms.all_for_all_two_stage import TwoStageAllForAll
from ..algorithms.all_for_one import AllForOne
from ..algorithms.base import Algorithm
from ..algorithms.cobo import CoBo
from ..algorithms.cobo_fixed import FixedCoBo
from ..algorithms.ditto import Ditto
from ..algorithms.fedavg import FedAvg
from ..algorithms.fedprox import FedProx
from ..algorithms.fixed_weights import FixedWeights, PreconditionedWeights
from ..algorithms.flix import mixture
from ..algorithms.local import Local
from ..algorithms.local_sgd import LocalSGD
from ..algorithms.scafflix import Scaffnew
from ..oracle import Oracle
from ..problem import known
from ..problems.least_squares import LeastSquares
from ..problems.logistic import Logistic
from ..problems.quadratic import Quadratics
from ..problems.row_model import RowModel
from ..problems.streaming import StreamingLeastSquares
from ..similarity import DebiasedSimilarity, ExactSimilarity, ReleasedSimilarity, SampledSimilarity
from ..threads import one_thread
from .library import Unavailable, library
from .paths import ratio_arrays, ratios_refusal
from .threads import Progress, in_threads

_PROBLEMS = (Quadratics, StreamingLeastSquares, LeastSquares, Logistic)
_ROUNDS = (LocalSGD, FedAvg, FedProx, Ditto)
_PAIRS = (CoBo, FixedCoBo)
_ALONE = (Local, *_ROUNDS, Scaffnew)
_RULES: dict[type, int] = {
    **dict.fromkeys((*_ALONE, *_PAIRS, AllForAll, TwoStageAllForAll), 0),
    **dict.fromkeys((FixedWeights, PreconditionedWeights), 1),
    AllForOne: 2,
}
_SIMILARITIES = (ExactSimilarity, SampledSimilarity, ReleasedSimilarity, DebiasedSimilarity)
_CRITERIA = (Binary, Continuous, Sharp)
_MOST_OF_PAIRS = 2_000_000
"""Numbers in one iteration's samples of all pairs, of which a thread holds those of a block of seeds."""
_LARGEST_SUMS = 20_000_000
"""Numbers in the sums of weights of all blocks of seeds (160 MB)."""


_POINTERS = (
    "seed", "points", "chosen", "from", "rows", "start", "eta", "A", "optimum", "root", "mean", "label_noise", "x", "y",
    "wrong", "right", "ridge", "precision", "threshold", "alpha", "mixed", "pull", "precondition", "zero", "cluster",
    "size", "server", "proximal", "link", "gain", "filter", "pace", "share", "control", "mixture", "offset", "odds",
    "level", "excess", "stopping", "weights", "sum", "sizes", "events", "final",
)  # fmt: skip


class _Task(ctypes.Structure):
    """`Task` of task.h."""

    _fields_ = tuple(
        [(name, ctypes.c_int64) for name in ("seeds", "iterations", "grid", "clients", "features", "batch", "problem",
                                             "rule", "similarity", "samples", "criterion", "normalised", "diagonal",
                                             "root_diagonal", "inner", "eta_stride", "root_key", "early", "period",
                                             "until", "participants", "personal", "learned", "symmetric",
                                             "models_first", "early_pairs", "root_odds", "population", "relative",
                                             "pairwise")]
        + [(name, ctypes.c_void_p) for name in (*_POINTERS, "apart")]
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What was asked for: excess (S, G, N), stopping times (S, N), weights (G, N, N) summed over seeds or (K, G, N, N)
    of those chosen, sizes (G, N) summed over seeds, last models (S, N, d), and what pairs or coins came up (S, G)."""

    excess: np.ndarray
    stopping: np.ndarray | None
    sum: np.ndarray | None
    weights: np.ndarray | None
    sizes: np.ndarray | None
    models: np.ndarray | None
    events: np.ndarray | None


def general_refusal(problem: Oracle, algorithm: Algorithm) -> str | None:
    """Why the compiled kernel does not run this pair, or None where it does."""
    if type(problem) not in _PROBLEMS:
        return f"the problem is {type(problem).__name__}"
    if isinstance(problem, Quadratics) and problem.shared_noise:
        return "all clients share their noise"
    if isinstance(problem, StreamingLeastSquares) and problem.pairwise:
        samples = max(problem.batch, algorithm.similarity.samples if isinstance(algorithm, AllForOne) else 0)
        if problem.clients**2 * problem.features * samples > _MOST_OF_PAIRS:
            return "pairwise samples would fill the memory"
    if problem.device.type != "cpu" or problem.dtype not in (torch.float32, torch.float64):
        return f"the problem lives on {problem.device} in {problem.dtype}"
    if type(algorithm) not in _RULES:
        return f"the algorithm is {type(algorithm).__name__}"
    if isinstance(algorithm, Ditto) and type(algorithm.server) is not FedAvg:
        return f"its server is {type(algorithm.server).__name__}"
    if isinstance(algorithm, CoBo) and (algorithm.simplex or getattr(problem, "pairwise", False)):
        return "its weights sum to 1, or midpoints take samples of pairs"
    if not isinstance(algorithm, AllForOne):
        return None
    return ratios_refusal(problem, algorithm, _SIMILARITIES, _CRITERIA)


def weighs_none(algorithm: Algorithm) -> bool:
    """Whether models are trained alone and averaged by a server, if at all: it weighs no clients."""
    return isinstance(algorithm, _ALONE)


def room_for_weights(seeds: int, points: int, clients: int) -> bool:
    """Whether the sums of weights of all blocks fit: `general_paths` has one for each, whatever the threads."""
    return -(-seeds // 8) * points * clients**2 <= _LARGEST_SUMS


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
    mean_weights: bool = False,
    chosen: Sequence[int] = (),
    sizes: bool = False,
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
    mean_weights  sum the weights over seeds; chosen: record those of these seeds; sizes: sum how many are positive
    """
    problems = problem if isinstance(problem, Sequence) else [problem]
    problem = problems[0]
    if relative and (isinstance(problem, RowModel) or isinstance(algorithm, (*_ROUNDS, *_PAIRS, Scaffnew))):
        raise InputError("relative", True, "give a stream or quadratics, and a rule that averages no models")
    code = library(problem.dtype, "general")
    n, d, number, points = problem.clients, problem.features, len(seeds), np.ascontiguousarray(grid, dtype=np.int64)
    real = np.dtype("float32" if problem.dtype == torch.float32 else "float64")
    algorithm.init(problem, problem.start[None])

    def reals(values: Any, *shape: int) -> np.ndarray:
        return np.ascontiguousarray(np.broadcast_to(np.asarray(values), shape), dtype=real)

    blocks, g = -(-number // code.lanes()), len(points)
    with one_thread():  # torch's other threads wait for more at full speed, on cores that blocks of seeds would use
        own = [_numbers(each, algorithm, reals) for each in problems]
    if relative:
        for each, _ in own:
            each["start"] = each["start"] - each["optimum"]
    choice = {name: min(choice[name] for _, choice in own) for name in own[0][1]}
    arrays = {name: np.stack([each[name] for each, _ in own]) for name in own[0][0]}
    apart = {name: array[0].nbytes for name, array in arrays.items()}
    arrays |= {
        "seed": np.ascontiguousarray(seeds, dtype=np.uint32),
        "points": points,
        "eta": reals(eta, *np.shape(eta)),
        "zero": reals(0.0, d),
        "excess": np.empty((number, g, n)),
    }
    if np.ndim(eta) == 3:
        apart["eta"] = arrays["eta"][0].nbytes
    if len(problems) > 1:
        arrays["apart"] = np.array([apart.get(name, 0) for name in _POINTERS], dtype=np.int64)
    if isinstance(algorithm, TwoStageAllForAll):
        if iterations > _LARGEST_SUMS:
            raise Unavailable("the step sizes of all iterations would fill the memory")
        schedule = zip(("pace", "share"), algorithm.schedule(np.arange(1, iterations + 1)))
        arrays |= {name: reals(each, iterations) for name, each in schedule}
    if level is not None:
        arrays |= {"level": np.ascontiguousarray(level, dtype=float), "stopping": np.full((number, n), np.inf)}
    if mean_weights:
        arrays["sum"] = np.zeros((blocks, g, n, n))
    if sizes:
        arrays["sizes"] = np.zeros((blocks, g, n))
    if chosen:
        place = {int(seed): at for at, seed in enumerate(chosen)}
        arrays["chosen"] = np.array([place.get(int(seed), -1) for seed in seeds], dtype=np.int64)
        arrays["weights"] = np.zeros((len(chosen), g, n, n))
    if isinstance(algorithm, (CoBo, Scaffnew)):
        arrays["events"] = np.zeros((number, g))
    if models:
        arrays["final"] = np.empty((number, n, d))
    task = _Task(
        seeds=number,
        iterations=iterations,
        grid=g,
        clients=n,
        features=d,
        batch=problem.batch,
        eta_stride=n if np.ndim(eta) > 1 and np.shape(eta)[-2] > 1 else 0,
        root_key=root,
        early=int(early),
        relative=int(relative),
        **choice,
        **{name: array.ctypes.data for name, array in arrays.items()},
    )
    in_threads(code.general, task, (0, number), number if len(problems) > 1 else blocks, progress)
    return Recorded(
        excess=arrays["excess"],
        stopping=arrays.get("stopping"),
        sum=arrays["sum"].sum(0) if mean_weights else None,  # block by block, whatever the threads
        weights=arrays.get("weights"),
        sizes=arrays["sizes"].sum(0) if sizes else None,
        models=arrays.get("final"),
        events=arrays.get("events"),
    )


def _numbers(problem: Oracle, algorithm: Algorithm, reals: Any) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """Arrays and choices of one problem."""
    n, d = problem.clients, problem.features
    choice = {"problem": _PROBLEMS.index(type(problem)), "rule": _RULES[type(algorithm)]}
    arrays = {"start": reals(problem.start, n, d), "optimum": reals(known(problem, "the kernel").optimum, n, d)}
    _problem(problem, arrays, choice, reals)
    _rule(problem, algorithm, arrays, choice, reals)
    return arrays, choice


def _diagonal(matrices: torch.Tensor) -> int:
    return int(matrices.count_nonzero() == matrices.diagonal(dim1=-2, dim2=-1).count_nonzero())


def _problem(problem: Any, arrays: dict[str, np.ndarray], choice: dict[str, int], reals: Any) -> None:
    n, d, optimum = problem.clients, problem.features, problem.optimum.double()
    if not isinstance(problem, Logistic):
        arrays["A"], choice["diagonal"] = reals(problem.A, n, d, d), _diagonal(problem.A)
    if isinstance(problem, RowModel):
        data = problem.data
        x = data.X * data.y[:, None] if isinstance(problem, Logistic) else data.X
        owner = torch.repeat_interleave(torch.arange(n), data.counts)
        margin = (x.double() * optimum[owner]).sum(-1)
        arrays |= {
            "from": data.first.numpy().astype(np.int64),
            "rows": data.counts.numpy().astype(np.int64),
            "x": reals(x, *x.shape),
            "y": reals(data.y, len(x)),
            "wrong": reals(torch.sigmoid(-margin), len(x)),
            "right": reals(torch.sigmoid(margin), len(x)),
            "ridge": reals(problem.ridge, 1),
        }
        return
    matrix = problem.noise.factor if isinstance(problem, Quadratics) else problem.root
    arrays["root"], choice["inner"] = reals(matrix, *matrix.shape), matrix.shape[-1]
    choice["root_diagonal"] = _diagonal(matrix)
    if isinstance(problem, StreamingLeastSquares):
        choice["pairwise"] = int(problem.pairwise)
        arrays |= {"mean": reals(problem.mean, n, d), "label_noise": reals(problem.label_noise, n)}


def _rule(
    problem: Any, algorithm: Algorithm, arrays: dict[str, np.ndarray], choice: dict[str, int], reals: Any
) -> None:
    n, d = problem.clients, problem.features
    if isinstance(algorithm, FixedWeights):
        alpha = algorithm.alpha.double().numpy()
        arrays["alpha"] = reals(alpha, n, n)
        if isinstance(algorithm, PreconditionedWeights):
            arrays["precondition"] = reals(algorithm.preconditioners, n, d, d)
        if isinstance(problem, Quadratics):
            # sum_k alpha_ik A_k (theta - x_k) = M_i (theta - x_i) + (M_i x_i - sum_k alpha_ik A_k x_k), M_i = sum_k
            # alpha_ik A_k, where optima x are counted from the first one: exactly 0 where all are the same.
            A, x = problem.A.double().numpy(), (problem.optimum - problem.optimum[0]).double().numpy()
            mixed = np.tensordot(alpha, A, 1)
            pull = 2 * (np.einsum("ide,ie->id", mixed, x) - alpha @ np.einsum("kde,ke->kd", A, x))
            arrays |= {"mixed": reals(mixed, n, d, d), "pull": reals(pull, n, d)}
    if isinstance(algorithm, AllForAll):
        arrays["filter"] = reals(algorithm.W.double(), n, n)
    if isinstance(algorithm, _ROUNDS):
        _rounds(problem, algorithm, arrays, choice, reals)
    if isinstance(algorithm, _PAIRS):
        _pairs(problem, algorithm, arrays, choice, reals)
    if isinstance(algorithm, Scaffnew):
        state, alpha = algorithm.init(problem, problem.start[None]), mixture(algorithm.alpha, problem)
        arrays |= {
            "start": reals(state["models"][0], n, d),
            "control": reals(state["control"][0], n, d),
            "mixture": reals(alpha[:, 0], n),
            "offset": reals((1 - alpha) * algorithm.fixed(problem), n, d),
            "odds": np.array([algorithm.p]),
        }
        choice["population"] = int(algorithm.population)
    if isinstance(algorithm, AllForOne):
        arrays |= ratio_arrays(problem, algorithm, reals)
        choice |= {
            "similarity": _SIMILARITIES.index(type(algorithm.similarity)),
            "samples": algorithm.similarity.samples,
            "criterion": _CRITERIA.index(type(algorithm.criterion)),
            "normalised": int(algorithm.normalised),
        }


def _rounds(problem: Any, algorithm: Any, arrays: dict[str, np.ndarray], choice: dict[str, int], reals: Any) -> None:
    n, d, server = problem.clients, problem.features, algorithm.server if isinstance(algorithm, Ditto) else algorithm
    state = algorithm.init(problem, problem.start[None])
    labels, until, drawn, sizes = server.clusters, None, None, None
    if isinstance(server, FedAvg):
        until, drawn, sizes = server.fine_tune_after, server.participants, server.sizes
        arrays["server"] = reals(server.received(state["server"], n)[0], n, d)
    arrays |= {
        "start": reals(state["models"][0], n, d),
        "cluster": np.zeros(n, dtype=np.int64) if labels is None else labels.cpu().numpy(),
        "size": reals(1.0 if sizes is None else sizes, n),
    }
    if isinstance(algorithm, (FedProx, Ditto)):
        arrays["proximal"] = reals(algorithm.pull, 1)
    choice |= {
        "period": server.period,
        "until": 2**62 if until is None else until,
        "participants": drawn or 0,
        "personal": int(isinstance(algorithm, Ditto)),
    }


def _pairs(problem: Any, algorithm: Any, arrays: dict[str, np.ndarray], choice: dict[str, int], reals: Any) -> None:
    n = problem.clients
    weights = algorithm.w if isinstance(algorithm, FixedCoBo) else algorithm.init(problem, problem.start[None])["w"][0]
    arrays |= {"link": reals(weights, n, n), "proximal": reals(algorithm.rho, 1)}
    choice["until"] = 2**62
    if isinstance(algorithm, CoBo):
        ends = {"time": 0, "mixed": math.ceil(0.002 * (algorithm.horizon or 0)), "released": 800}  # of the first odds
        arrays |= {"gain": reals(algorithm.weight_step, 1), "odds": np.array([algorithm.chance(n, 1)])}
        choice |= {
            "learned": 1,
            "samples": problem.batch,
            "symmetric": int(algorithm.symmetric),
            "models_first": int(algorithm.models_first),
            "early_pairs": ends.get(algorithm.sampling, 2**62),
            "root_odds": int(algorithm.sampling == "released"),
        }
