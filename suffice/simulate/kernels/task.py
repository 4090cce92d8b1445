"""The task of a compiled run: the kernel's structure, and what a problem and an algorithm fill it with."""

from __future__ import annotations

import ctypes
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import torch

from suffice.bounds import Binary, Continuous, Sharp
from suffice.bounds.collaboration_criteria import TOLERANCE

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


def _declared() -> dict[str, tuple[str, bool]]:
    """Each member of `Task` in task.h, in order: its type, and whether it is a pointer."""
    source = re.sub(r"/\*.*?\*/", "", Path(__file__).with_name("task.h").read_text(), flags=re.S)
    members = source[source.index("typedef struct {") + 16 : source.index("} Task;")].split(";")[:-1]
    kinds = [(re.findall(r"\w+_t|double|REAL", each)[0], re.findall(r"(\*?)(\w+) *(?:,|$)", each)) for each in members]
    return {name: (kind, star == "*") for kind, names in kinds for star, name in names}


_MEMBERS = _declared()
POINTERS = [name for name, (_, pointer) in _MEMBERS.items() if pointer and name != "apart"]


class Task(ctypes.Structure):
    """`Task` of task.h."""

    _fields_ = tuple((name, ctypes.c_void_p if pointer else ctypes.c_int64) for name, (_, pointer) in _MEMBERS.items())


def as_declared(given: dict[str, Any], dtype: torch.dtype) -> dict[str, np.ndarray]:
    """Arrays of the members' types, where REAL is `dtype`; contiguous."""
    known = {"int64_t": np.int64, "uint32_t": np.uint32, "double": np.float64}
    real = np.float32 if dtype == torch.float32 else np.float64
    return {name: np.ascontiguousarray(value, known.get(_MEMBERS[name][0], real)) for name, value in given.items()}


def numbers(problem: Any, algorithm: Any) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """Arrays and choices of one problem."""
    given = {
        "problem": PROBLEMS.index(type(problem)),
        "rule": RULES[type(algorithm)],
        "clients": problem.clients,
        "features": problem.features,
        "batch": problem.batch,
        "start": problem.start,
        "optimum": known(problem, "the kernel").optimum,
        **_of_problem(problem),
        **_of_rule(problem, algorithm),
    }
    choice = {name: int(value) for name, value in given.items() if not _MEMBERS[name][1]}
    return as_declared({name: given[name] for name in given.keys() - choice.keys()}, problem.dtype), choice


def _diagonal(matrices: torch.Tensor) -> bool:
    return bool(matrices.count_nonzero() == matrices.diagonal(dim1=-2, dim2=-1).count_nonzero())


def _of_problem(problem: Any) -> dict[str, Any]:
    quadratic = {} if isinstance(problem, Logistic) else {"A": problem.A, "diagonal": _diagonal(problem.A)}
    if isinstance(problem, RowModel):
        data = problem.data
        owner = torch.repeat_interleave(torch.arange(problem.clients), data.counts)
        x = data.X * data.y[:, None] if isinstance(problem, Logistic) else data.X
        margin = (x.double() * problem.optimum.double()[owner]).sum(-1)
        right = {"right": torch.sigmoid(margin), "wrong": torch.sigmoid(-margin), "ridge": problem.ridge}
        return quadratic | right | {"from": data.first, "rows": data.counts, "x": x, "y": data.y}
    matrix = problem.noise.factor if isinstance(problem, Quadratics) else problem.root
    noise = {"root": matrix, "inner": matrix.shape[-1], "root_diagonal": _diagonal(matrix)}
    if isinstance(problem, StreamingLeastSquares):
        noise |= {"pairwise": problem.pairwise, "mean": problem.mean, "label_noise": problem.label_noise}
    return quadratic | noise


def _of_rule(problem: Any, algorithm: Any) -> dict[str, Any]:
    if isinstance(algorithm, FixedWeights):
        return _of_fixed_weights(problem, algorithm)
    if isinstance(algorithm, AllForAll):
        return {"filter": algorithm.W.double()}
    if isinstance(algorithm, ROUNDS):
        return _of_rounds(problem, algorithm)
    if isinstance(algorithm, PAIRS):
        return _of_pairs(problem, algorithm)
    if isinstance(algorithm, Scaffnew):
        state, alpha = algorithm.init(problem, problem.start[None]), mixture(algorithm.alpha, problem)
        offset = (1 - alpha) * algorithm.fixed(problem)
        return {"start": state["models"][0], "control": state["control"][0], "mixture": alpha, "offset": offset,
                "odds": algorithm.p, "population": algorithm.population}  # fmt: skip
    return _of_ratios(problem, algorithm) if isinstance(algorithm, AllForOne) else {}


def _of_fixed_weights(problem: Any, algorithm: FixedWeights) -> dict[str, Any]:
    alpha = algorithm.alpha.double().numpy()
    given: dict[str, Any] = {"alpha": alpha}
    if isinstance(algorithm, PreconditionedWeights):
        given["precondition"] = algorithm.preconditioners
    if isinstance(problem, Quadratics):
        # sum_k alpha_ik A_k (theta - x_k) = M_i (theta - x_i) + (M_i x_i - sum_k alpha_ik A_k x_k), M_i = sum_k
        # alpha_ik A_k, where optima x are counted from the first one: exactly 0 where all are the same.
        A, x = problem.A.double().numpy(), (problem.optimum - problem.optimum[0]).double().numpy()
        mixed = np.tensordot(alpha, A, 1)
        pull = 2 * (np.einsum("ide,ie->id", mixed, x) - alpha @ np.einsum("kde,ke->kd", A, x))
        given |= {"mixed": mixed, "pull": pull}
    return given


def _of_rounds(problem: Any, algorithm: Any) -> dict[str, Any]:
    n, server = problem.clients, algorithm.server if isinstance(algorithm, Ditto) else algorithm
    state = algorithm.init(problem, problem.start[None])
    given = {
        "start": state["models"][0],
        "cluster": np.zeros(n) if server.clusters is None else server.clusters.cpu(),
        "size": np.ones(n),
        "period": server.period,
        "until": 2**62,
        "personal": isinstance(algorithm, Ditto),
    }
    if isinstance(server, FedAvg):
        given |= {"server": server.received(state["server"], n)[0], "participants": server.participants or 0}
        given |= {} if server.fine_tune_after is None else {"until": server.fine_tune_after}
        given |= {} if server.sizes is None else {"size": server.sizes}
    return given | ({"proximal": algorithm.pull} if isinstance(algorithm, (FedProx, Ditto)) else {})


def _of_pairs(problem: Any, algorithm: Any) -> dict[str, Any]:
    given = {"proximal": algorithm.rho, "until": 2**62}
    if isinstance(algorithm, FixedCoBo):
        return given | {"link": algorithm.w}
    ends = {"time": 0, "mixed": math.ceil(0.002 * (algorithm.horizon or 0)), "released": 800}  # of the first odds
    return given | {
        "link": algorithm.init(problem, problem.start[None])["w"][0],
        "gain": algorithm.weight_step,
        "odds": algorithm.chance(problem.clients, 1),
        "learned": True,
        "samples": problem.batch,
        "symmetric": algorithm.symmetric,
        "models_first": algorithm.models_first,
        "early_pairs": ends.get(algorithm.sampling, 2**62),
        "root_odds": algorithm.sampling == "released",
    }


def _of_ratios(problem: Oracle, algorithm: AllForOne) -> dict[str, Any]:
    variances = known(problem, "the kernel").sigma2 if algorithm.sigma2 is None else algorithm.sigma2
    threshold = algorithm.criterion.threshold if isinstance(algorithm.criterion, Binary) else 1.0
    least = np.asarray(threshold, dtype=float) * (1 - TOLERANCE)
    return {
        "precision": 1 / per_client("sigma2", variances, problem).double(),
        "threshold": np.broadcast_to(least, (problem.clients, 1)),
        "similarity": SIMILARITIES.index(type(algorithm.similarity)),
        "samples": algorithm.similarity.samples,
        "criterion": CRITERIA.index(type(algorithm.criterion)),
        "normalised": algorithm.normalised,
    }
