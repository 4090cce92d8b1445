"""Algorithms by name, with options that are numbers or words: what the command line and setup files can ask for."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.bounds import Binary, QuadraticCertificate, named
from suffice.support.errors import InputError
from suffice.support.numbers import as_whole

from .algorithms import (
    APFL,
    IFCA,
    WGABC,
    Algorithm,
    AllForAll,
    AllForOne,
    CoBo,
    Ditto,
    FedAMP,
    FedAvg,
    FederatedClustering,
    FedFomo,
    FedProx,
    FixedWeights,
    Flix,
    GradientTracking,
    Local,
    LocalSGD,
    MinibatchSGD,
    Momentum,
    Scaffnew,
    Scaffold,
    TwoStageAllForAll,
    ValidationBased,
)
from .oracle import Oracle
from .problem import known
from .randomness import Stream, single
from .scouts import LONGEST, collaborators
from .similarity_ratio import DebiasedSimilarity, ExactSimilarity, ReleasedSimilarity, SampledSimilarity, Similarity

Options = Mapping[str, float | str]


def _all_for_one(
    problem: Oracle,
    eta: Any,
    *,
    criterion: str = "binary",
    threshold: float = 0.5,
    similarity: str = "exact",
    samples: int = 16,
    normalised: int = 0,
) -> AllForOne:
    chosen = named(criterion) or Binary(threshold=threshold)
    sources: dict[str, Callable[[], Similarity]] = {
        "exact": ExactSimilarity,
        "sampled": lambda: SampledSimilarity(samples=samples),
        "debiased": lambda: DebiasedSimilarity(samples=samples),
        "released": ReleasedSimilarity,
    }
    if similarity not in sources:
        raise InputError("similarity", similarity, f"use {', '.join(sources)}")
    sigma2 = None if hasattr(problem, "sigma2") else 1.0  # a network's are unknown: its weights ignore them
    source = sources[similarity]()
    return AllForOne(criterion=chosen, similarity=source, normalised=bool(normalised), sigma2=sigma2)


def _dissimilarity(problem: Oracle) -> tuple[np.ndarray, np.ndarray]:
    """b (N, N) with |grad R_i - grad R_k| <= b_ik everywhere, infinite where two Hessians differ; and the mu_i."""
    constants = known(problem, "the choice of these weights").constants()
    if not isinstance(constants.heterogeneity, QuadraticCertificate):
        raise InputError("problem", type(problem).__name__, "these weights are built for quadratics: use all-for-one")
    return constants.heterogeneity.uniform, constants.mu


def _fixed(problem: Oracle, eta: Any, *, epsilon: float = 0.1) -> FixedWeights:
    b, mu = _dissimilarity(problem)
    return FixedWeights.threshold(b, mu=mu, epsilon=epsilon)


def _all_for_all(problem: Oracle, eta: Any, *, epsilon: float = 0.1) -> AllForAll:
    b, mu = _dissimilarity(problem)
    b = np.maximum(b, b.T)
    return AllForAll.threshold(b, mu=np.full(len(b), mu.min()), epsilon=epsilon)


def _two_stages(problem: Oracle, eta: Any, *, epsilon: float = 0.1, first: int = 0) -> TwoStageAllForAll:
    """On the components of the threshold, so that smin = smax = 1."""
    Lambda = _all_for_all(problem, eta, epsilon=epsilon).Lambda
    constants = known(problem, "the choice of these weights").constants()
    return TwoStageAllForAll(Lambda=Lambda, first=first, kappa=float(constants.beta.max() / constants.mu.min()))


def _cobo(
    problem: Oracle,
    eta: Any,
    *,
    rho: float = 0.1,
    weight_step: float = 0.1,
    sampling: Any = "constant",
    horizon: int = 0,
    simplex: int = 0,
) -> CoBo:
    return CoBo(rho=rho, weight_step=weight_step, sampling=sampling, horizon=horizon or None, simplex=bool(simplex))


def _ifca(problem: Any, eta: Any, *, clusters: int = 2, spread: float = 1.0) -> IFCA:
    """Centres at the start plus the corners that the optima's largest principal directions point to.

    Where no optima are known the centres are the start and, beside it, normal numbers of the start's mean square.
    """
    as_whole("clusters", clusters)
    if not hasattr(problem, "optimum"):
        z = single(0).normal(iteration=0, stream=Stream.START, clients=clusters, features=problem.features)[0]
        z[0] = 0
        return IFCA(offsets=spread * problem.start.square().mean().sqrt() * z.to(problem.start))
    centred = problem.optimum - problem.optimum.mean(0)
    directions = torch.linalg.svd(centred, full_matrices=False).Vh
    size = spread * centred.norm(dim=-1).max().clamp_min(1e-3)
    rows = [(-1.0) ** m * (1 + m // 2) * size * directions[(m // 2) % len(directions)] for m in range(clusters)]
    return IFCA(offsets=torch.stack(rows))


def _scafflix(problem: Oracle, eta: Any, *, p: float = 0.2, alpha: float = 0.5) -> Scaffnew:
    return Scaffnew.scafflix(problem, p=p, alpha=alpha, eta=torch.as_tensor(eta, dtype=problem.dtype))


def _sizes(problem: Oracle, sizes: str) -> Tensor | None:
    """What FedAvg weighs clients by."""
    if sizes == "equal":
        return None
    if sizes != "rows" or problem.row_counts is None:
        raise InputError("sizes", sizes, "use equal or, where clients have rows, rows")
    return torch.tensor(problem.row_counts, dtype=problem.dtype)


_FACTORIES: dict[str, Callable[..., Algorithm]] = {
    "local": lambda problem, eta: Local(),
    "all-for-one": _all_for_one,
    "all-for-one-fixed": _fixed,
    "all-for-all": _all_for_all,
    "all-for-all-two-stage": _two_stages,
    "cobo": _cobo,
    "flix": lambda problem, eta, *, alpha=0.5: Flix(alpha=alpha),
    "scaffnew": lambda problem, eta, *, p=0.2: Scaffnew(p=p),
    "scafflix": _scafflix,
    "local-sgd": lambda problem, eta, *, period=1: LocalSGD(period=period),
    "fedavg": lambda problem, eta, *, period=1, participants=0, fine_tune_after=0, sizes="equal": FedAvg(
        period=period,
        participants=participants or None,
        fine_tune_after=fine_tune_after or None,
        sizes=_sizes(problem, sizes),
    ),
    "fedprox": lambda problem, eta, *, pull=1.0, period=5, participants=0: FedProx(
        pull=pull, period=period, participants=participants or None
    ),
    "minibatch-sgd": lambda problem, eta, *, period=5, participants=0: MinibatchSGD(
        period=period, participants=participants or None
    ),
    "scaffold": lambda problem, eta, *, period=5, participants=0, server_step=1.0: Scaffold(
        period=period, participants=participants or None, server_step=server_step
    ),
    "heavy-ball": lambda problem, eta, *, weight=0.9: Momentum(weight=weight),
    "nesterov": lambda problem, eta, *, weight=0.9: Momentum.nesterov(weight=weight),
    "gradient-tracking": lambda problem, eta: GradientTracking.ring(problem.clients),
    "ditto": lambda problem, eta, *, pull=1.0, period=1: Ditto(pull=pull, server=FedAvg(period=period)),
    "apfl": lambda problem, eta, *, mixture=0.5, adaptive=0, period=1: APFL(
        mixture=mixture, adaptive=bool(adaptive), server=FedAvg(period=period)
    ),
    "wga-bc": lambda problem, eta, *, mixture=0.5, memory=0.1: WGABC(mixture=mixture, memory=memory),
    "fedamp": lambda problem, eta, *, share=0.5, sigma=1.0, pull=1.0, period=1: FedAMP(
        share=share, sigma=sigma, pull=pull, period=period
    ),
    "fedfomo": lambda problem, eta, *, period=5: FedFomo(period=period),
    "validation-based": lambda problem, eta, *, temperature=1.0, period=5: ValidationBased(
        temperature=temperature, period=period
    ),
    "ifca": _ifca,
    "federated-clustering": lambda problem, eta, *, fraction=0.2, rounds=10: FederatedClustering(
        fraction=fraction, rounds=rounds
    ),
    "scouts": lambda problem, eta, *, folds=0, iterations=LONGEST, together=0, seed=0: collaborators(
        problem, eta=eta, iterations=iterations, folds=folds or None, seed=seed
    ).algorithm(together=together),
}
ALGORITHMS = tuple(name for name in _FACTORIES if name != "scouts")
"""Those that any problem can be given to; "scouts" takes networks."""
_ONLY_WITH: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = {
    "all-for-one": {"threshold": ("criterion", ("binary",)), "samples": ("similarity", ("sampled", "debiased"))},
    "cobo": {"horizon": ("sampling", ("mixed",))},
}
"""Options that another one makes meaningless, which would be read by nobody."""


def algorithm(name: str, problem: Oracle, *, eta: Any, **options: float | str) -> Algorithm:
    """The algorithm of a name for `problem` with step sizes `eta` (a scalar or (N,)); `options` as `options_of` lists.

    Raises `InputError` for an unknown name or option, with the nearest one.
    """
    chosen = checked_options(name, options)
    return _FACTORIES[name](problem, eta, **chosen)


def checked_options(name: str, options: Options) -> dict[str, Any]:
    """Those of the algorithm of a name that are given, each of its own type; `InputError`."""
    known = options_of(name)
    chosen: dict[str, Any] = {}
    for option, value in options.items():
        if option not in known:
            raise InputError(option, value, f"{name} takes {', '.join(known) or 'no options'}")
        default = known[option]
        if isinstance(default, str) != isinstance(value, str):
            raise InputError(option, value, f"give a {'word' if isinstance(default, str) else 'number'}")
        if isinstance(default, int):
            if not float(value).is_integer():  # neither infinity nor NaN is
                raise InputError(option, value, "give a whole number")
            value = int(value)
        chosen[option] = value
    for option, (other, words) in _ONLY_WITH.get(name, {}).items():
        if option in chosen and (known | chosen)[other] not in words:
            raise InputError(option, chosen[option], f"only {other} = {' or '.join(words)} has it; drop it")
    return chosen


def options_of(name: str) -> dict[str, float | str]:
    """Options of an algorithm with their defaults."""
    if name not in _FACTORIES:
        near = difflib.get_close_matches(name, _FACTORIES, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InputError("algorithm", name, f"{hint}There are {', '.join(_FACTORIES)}")
    parameters = inspect.signature(_FACTORIES[name]).parameters.values()
    return {entry.name: entry.default for entry in parameters if entry.kind is entry.KEYWORD_ONLY}
