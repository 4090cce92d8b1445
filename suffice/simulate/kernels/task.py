"""The task of a compiled run: the kernel's structure, and what a problem and an algorithm fill it with."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from suffice.bounds import Binary, Continuous, Sharp
from suffice.bounds.collaboration_criteria import TOLERANCE

from ..algorithms.algorithm import Algorithm
from ..algorithms.all_for_all import AllForAll
from ..algorithms.all_for_all_two_stage import TwoStageAllForAll
from ..algorithms.all_for_one import AllForOne
from ..algorithms.arguments import per_client
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
from ..similarity_ratio import DebiasedSimilarity, ExactSimilarity, ReleasedSimilarity, SampledSimilarity

PROBLEMS = (Quadratics, StreamingLeastSquares, LeastSquares, Logistic)
ROUNDS = (LocalSGD, FedAvg, FedProx, Ditto)
PAIRS = (CoBo, FixedCoBo)
ALONE = (Local, *ROUNDS, Scaffnew)
RULES: dict[type, int] = {
    **dict.fromkeys((*ALONE, *PAIRS, AllForAll, TwoStageAllForAll), 0),
    **dict.fromkeys((FixedWeights, PreconditionedWeights), 1),
    AllForOne: 2,
}
SIMILARITIES = (ExactSimilarity, SampledSimilarity, ReleasedSimilarity, DebiasedSimilarity)
CRITERIA = (Binary, Continuous, Sharp)

POINTERS = (
    "seed", "points", "chosen", "from", "rows", "start", "eta", "A", "optimum", "root", "mean", "label_noise", "x", "y",
    "wrong", "right", "ridge", "precision", "threshold", "alpha", "mixed", "pull", "precondition", "zero", "cluster",
    "size", "server", "proximal", "link", "gain", "filter", "pace", "share", "control", "mixture", "offset", "odds",
    "level", "excess", "stopping", "weights", "events", "final",
)  # fmt: skip


class Task(ctypes.Structure):
    """`Task` of task.h."""

    _fields_ = tuple(
        [(name, ctypes.c_int64) for name in ("seeds", "iterations", "grid", "clients", "features", "batch", "problem",
                                             "rule", "similarity", "samples", "criterion", "normalised", "diagonal",
                                             "root_diagonal", "inner", "eta_stride", "root_key", "early", "period",
                                             "until", "participants", "personal", "learned", "symmetric",
                                             "models_first", "early_pairs", "root_odds", "population", "tiled",
                                             "relative", "pairwise")]
        + [(name, ctypes.c_void_p) for name in (*POINTERS, "apart")]
    )  # fmt: skip


def numbers(problem: Oracle, algorithm: Algorithm, reals: Any) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """Arrays and choices of one problem."""
    n, d = problem.clients, problem.features
    choice = {"problem": PROBLEMS.index(type(problem)), "rule": RULES[type(algorithm)]}
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
    if isinstance(algorithm, ROUNDS):
        _rounds(problem, algorithm, arrays, choice, reals)
    if isinstance(algorithm, PAIRS):
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
        arrays |= _ratios(problem, algorithm, reals)
        choice |= {
            "similarity": SIMILARITIES.index(type(algorithm.similarity)),
            "samples": algorithm.similarity.samples,
            "criterion": CRITERIA.index(type(algorithm.criterion)),
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


def _ratios(problem: Oracle, algorithm: AllForOne, reals: Callable[..., np.ndarray]) -> dict[str, np.ndarray]:
    """What weights of All-for-one are made of besides the ratios."""
    variances = known(problem, "the kernel").sigma2 if algorithm.sigma2 is None else algorithm.sigma2
    threshold = algorithm.criterion.threshold if isinstance(algorithm.criterion, Binary) else 1.0
    n = problem.clients
    return {
        "precision": reals(1 / per_client("sigma2", variances, problem).double(), n),
        "threshold": reals(np.asarray(threshold, dtype=float) * (1 - TOLERANCE), n, 1),
    }
