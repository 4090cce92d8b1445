"""Algorithms by name, with options that are numbers or words: what the command line and setup files can ask for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from suffice.bounds import Binary, QuadraticCertificate, named
from suffice.support.errors import InputError
from suffice.support.numbers import as_whole
from suffice.support.parse import nearest

from . import algorithms as rules
from .algorithms import Algorithm
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
) -> rules.AllForOne:
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
    return rules.AllForOne(criterion=chosen, similarity=source, normalised=bool(normalised), sigma2=sigma2)


def _dissimilarity(problem: Oracle) -> tuple[np.ndarray, np.ndarray]:
    """b (N, N) with |grad R_i - grad R_k| <= b_ik everywhere, infinite where two Hessians differ; and the mu_i."""
    constants = known(problem, "the choice of these weights").constants()
    if not isinstance(constants.heterogeneity, QuadraticCertificate):
        raise InputError("problem", type(problem).__name__, "these weights are built for quadratics: use all-for-one")
    return constants.heterogeneity.uniform, constants.mu


def _fixed(problem: Oracle, eta: Any, *, epsilon: float = 0.1) -> rules.FixedWeights:
    b, mu = _dissimilarity(problem)
    return rules.FixedWeights.threshold(b, mu=mu, epsilon=epsilon)


def _all_for_all(problem: Oracle, eta: Any, *, epsilon: float = 0.1) -> rules.AllForAll:
    b, mu = _dissimilarity(problem)
    b = np.maximum(b, b.T)
    return rules.AllForAll.threshold(b, mu=np.full(len(b), mu.min()), epsilon=epsilon)


def _two_stages(problem: Oracle, eta: Any, *, epsilon: float = 0.1, first: int = 0) -> rules.TwoStageAllForAll:
    """Two stages on the components of the threshold, so that smin = smax = 1."""
    Lambda = _all_for_all(problem, eta, epsilon=epsilon).Lambda
    constants = known(problem, "the choice of these weights").constants()
    return rules.TwoStageAllForAll(Lambda=Lambda, first=first, kappa=float(constants.beta.max() / constants.mu.min()))


def _ifca(problem: Any, eta: Any, *, clusters: int = 2, spread: float = 1.0) -> rules.IFCA:
    """Centres at the start plus the corners that the optima's largest principal directions point to.

    Where no optima are known the centres are the start and, beside it, normal numbers of the start's mean square.
    """
    as_whole("clusters", clusters)
    if not hasattr(problem, "optimum"):
        z = single(0).normal(iteration=0, stream=Stream.START, clients=clusters, features=problem.features)[0]
        z[0] = 0
        return rules.IFCA(offsets=spread * problem.start.square().mean().sqrt() * z.to(problem.start))
    centred = problem.optimum - problem.optimum.mean(0)
    directions = torch.linalg.svd(centred, full_matrices=False).Vh
    size = spread * centred.norm(dim=-1).max().clamp_min(1e-3)
    rows = [(-1.0) ** m * (1 + m // 2) * size * directions[(m // 2) % len(directions)] for m in range(clusters)]
    return rules.IFCA(offsets=torch.stack(rows))


def _scafflix(problem: Oracle, eta: Any, *, p: float = 0.2, alpha: float = 0.5) -> rules.Scaffnew:
    return rules.Scaffnew.scafflix(problem, p=p, alpha=alpha, eta=torch.as_tensor(eta, dtype=problem.dtype))


def _fedavg(
    problem: Oracle, eta: Any, *, period: int = 1, participants: int = 0, fine_tune_after: int = 0, sizes: str = "equal"
) -> Algorithm:
    if sizes != "equal" and (sizes != "rows" or problem.row_counts is None):
        raise InputError("sizes", sizes, "use equal or, where clients have rows, rows")
    own = None if sizes == "equal" else torch.tensor(problem.row_counts, dtype=problem.dtype)
    after = fine_tune_after or None
    return rules.FedAvg(period=period, participants=participants or None, fine_tune_after=after, sizes=own)


_FACTORIES: dict[str, Any] = {
    "local": (rules.Local, {}),
    "all-for-one": _all_for_one,
    "all-for-one-fixed": _fixed,
    "all-for-all": _all_for_all,
    "all-for-all-two-stage": _two_stages,
    "cobo": (rules.CoBo, {"rho": 0.1, "weight_step": 0.1, "sampling": "constant", "horizon": 0, "simplex": 0}),
    "flix": (rules.Flix, {"alpha": 0.5}),
    "scaffnew": (rules.Scaffnew, {"p": 0.2}),
    "scafflix": _scafflix,
    "local-sgd": (rules.LocalSGD, {"period": 1}),
    "fedavg": _fedavg,
    "fedprox": (rules.FedProx, {"pull": 1.0, "period": 5, "participants": 0}),
    "minibatch-sgd": (rules.MinibatchSGD, {"period": 5, "participants": 0}),
    "scaffold": (rules.Scaffold, {"period": 5, "participants": 0, "server_step": 1.0}),
    "heavy-ball": (rules.Momentum, {"weight": 0.9}),
    "nesterov": (rules.Momentum.nesterov, {"weight": 0.9}),
    "gradient-tracking": lambda problem, eta: rules.GradientTracking.ring(problem.clients),
    "ditto": lambda problem, eta, *, pull=1.0, period=1: rules.Ditto(pull=pull, server=rules.FedAvg(period=period)),
    "apfl": lambda problem, eta, *, mixture=0.5, adaptive=0, period=1: rules.APFL(
        mixture=mixture, adaptive=bool(adaptive), server=rules.FedAvg(period=period)
    ),
    "wga-bc": (rules.WGABC, {"mixture": 0.5, "memory": 0.1}),
    "fedamp": (rules.FedAMP, {"share": 0.5, "sigma": 1.0, "pull": 1.0, "period": 1}),
    "fedfomo": (rules.FedFomo, {"period": 5}),
    "validation-based": (rules.ValidationBased, {"temperature": 1.0, "period": 5}),
    "ifca": _ifca,
    "federated-clustering": (rules.FederatedClustering, {"fraction": 0.2, "rounds": 10}),
    "scouts": lambda problem, eta, *, folds=0, iterations=LONGEST, together=0, seed=0: collaborators(
        problem, eta=eta, iterations=iterations, folds=folds or None, seed=seed
    ).algorithm(together=together),
}
"""For each name a function of problem and step size with options by keyword, or a rule and its options' defaults."""
ALGORITHMS = tuple(name for name in _FACTORIES if name != "scouts")
"""The names of algorithms for any problem; "scouts" takes networks alone."""
_ONLY_WITH: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = {
    "all-for-one": {"threshold": ("criterion", ("binary",)), "samples": ("similarity", ("sampled", "debiased"))},
    "cobo": {"horizon": ("sampling", ("mixed",))},
}
"""Options that count only where another option has one of these words; elsewhere nobody would read them."""


def algorithm(name: str, problem: Oracle, *, eta: Any, **options: float | str) -> Algorithm:
    """The algorithm of a name for `problem` with step sizes `eta` (a scalar or (N,)); `options` as `options_of` lists.

    Raises `InputError` for an unknown name or option, with the nearest one.
    """
    chosen = checked_options(name, options)
    made = _FACTORIES[name]
    if not isinstance(made, tuple):
        return made(problem, eta, **chosen)
    rule, defaults = made
    fields, given = inspect.signature(rule).parameters, defaults | chosen
    # 0 stands for None
    return rule(**{field: value for field, value in given.items() if value or fields[field].default is not None})


def checked_options(name: str, options: Options) -> dict[str, Any]:
    """The given options of the algorithm of a name, each in its own type; `InputError`."""
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
        near = nearest(name, _FACTORIES)
        hint = f"did you mean {near}? " if near else ""
        raise InputError("algorithm", name, f"{hint}There are {', '.join(_FACTORIES)}")
    made = _FACTORIES[name]
    if isinstance(made, tuple):
        return dict(made[1])
    parameters = inspect.signature(made).parameters.values()
    return {entry.name: entry.default for entry in parameters if entry.kind is entry.KEYWORD_ONLY}
