"""Methods that are measured on simulated paths, each at the best step and setting of those that few paths tried.

Small linear rules on quadratics are exact instead, by the probed moment map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from suffice.support.errors import InputError

from .number import Number
from .prices import Prices, Spent

if TYPE_CHECKING:
    from suffice.simulate import Algorithm, Problem
    from suffice.simulate.problem import QuadraticProblem

LOCAL_STEPS, PROX_STEPS, SCAFFOLD_STEPS = (1, 4, 16, 64), (4, 16), (1, 4, 16)
PULLS = (0.1, 1.0)
"""Of FedProx, times the largest beta."""
COINS = (0.5, 0.2, 0.1, 0.05)
MEASURED = ("Local", "FedAvg", "FedProx", "SCAFFOLD", "Scaffnew", "All-for-all", "All-for-one")
FACTORS, FURTHER = (0.1, 0.25, 0.5, 1.0, 2.0), (4.0, 8.0, 16.0)
"""Steps that are tried, times the one that suits sites alone, or 1/(2 beta); further ones as long as these gain."""
FEW = 32
"""Paths that each of them is tried on."""
PATIENCE, SHORTEST, LONGEST = 4, 64, 4096
"""Iterations that are followed: so many times what sites need alone, at least, at most."""
WORK = 2e9
"""Multiplications of one run, by a rough count."""
PROBED = 2e8
"""The same of exact moments."""


class Setting(NamedTuple):
    """What all methods of one table share; `epsilon` (N,)."""

    problem: Problem
    epsilon: np.ndarray
    share: float
    prices: Prices
    names: tuple[str, ...]
    seeds: int
    root: int

    @property
    def participants(self) -> int:
        return max(1, int(np.ceil(self.share * len(self.epsilon) - 1e-9)))


def local_steps(steps: int, pull: float = 0.0) -> str:
    return f"K={steps}" + (f", pull={pull:.3g}" if pull else "")


Choice = tuple[str, int, Callable[[float], "Algorithm"]]
"""A setting in words, the local steps of its rounds (0: a coin decides), and the rule at a step size."""


def measured_methods(
    setting: Setting, names: Sequence[str], alone: float | None, eta: float | None
) -> Iterator[dict[str, Any]]:
    """The fields of each method in each setting; `alone` is the time of sites alone, where known,
    and `eta` their step."""
    scale, most = eta or 0.5 / float(setting.problem.constants().beta.max()), SHORTEST
    if alone is not None:
        most = int(np.clip(PATIENCE * alone, SHORTEST, LONGEST))
    for name in names:
        for words, steps, make in _choices(name, setting):
            found = _best(setting, name, words, steps, make, scale, most)
            while name == "Local" and found["time"].value is None and found["excess"] is not None and most < LONGEST:
                most *= PATIENCE
                found = _best(setting, name, words, steps, make, scale, most)
            if name == "Local" and found["time"].value is not None:
                most = int(np.clip(PATIENCE * found["time"].value, SHORTEST, LONGEST))
            yield found


def _choices(name: str, setting: Setting) -> Iterator[Choice]:
    from suffice.bounds import Continuous
    from suffice.simulate.algorithms import AllForAll, AllForOne, FedAvg, FedProx, Local, Scaffnew, Scaffold
    from suffice.simulate.similarity import ExactSimilarity, SampledSimilarity

    problem, p = setting.problem, setting.participants
    N = problem.clients
    drawn = None if p == N else p

    if name == "Local":
        yield "one step", 0, lambda eta: Local()
    elif name == "FedAvg":
        for steps in LOCAL_STEPS:
            yield local_steps(steps), steps, lambda eta, steps=steps: FedAvg(period=steps, participants=drawn)
    elif name == "FedProx":
        beta = float(problem.constants().beta.max())
        for steps, pull in product(PROX_STEPS, (share * beta for share in PULLS)):
            rule = FedProx(period=steps, participants=drawn, pull=pull)
            yield local_steps(steps, pull), steps, lambda eta, rule=rule: rule
    elif name == "SCAFFOLD":
        for steps in SCAFFOLD_STEPS:
            yield local_steps(steps), steps, lambda eta, steps=steps: Scaffold(period=steps, participants=drawn)
    elif name == "Scaffnew":
        for chance in COINS:
            yield f"p={chance:g}", 0, lambda eta, chance=chance: Scaffnew(p=chance)
    elif name == "All-for-all":
        import torch

        Lambda = torch.full((N, N), 1 / N, dtype=problem.dtype)
        yield "1 group", 1, lambda eta: AllForAll(Lambda=Lambda)
    else:
        for kind, similarity in (("exact", ExactSimilarity()), ("sampled", SampledSimilarity(samples=16))):
            rule = AllForOne(
                criterion=Continuous(), similarity=similarity, normalised=True, participation=setting.share, sigma2=1.0
            )
            yield kind, 1, lambda eta, rule=rule: rule


def _best(
    setting: Setting, name: str, words: str, steps: int, make: Callable[[float], Algorithm], scale: float, most: int,
) -> dict[str, Any]:  # fmt: skip
    epsilon, known = float(setting.epsilon.mean()), {"name": name, "setting": words, "batch": setting.problem.batch}
    most = max(steps, most // max(steps, 1) * max(steps, 1))
    exact = _probed(setting.problem, make(scale), most)
    if not exact and _work(setting, name, FEW, most) > WORK:
        why = f"not measured: {_work(setting, name, FEW, most):.0e} multiplications a run"
        return known | {"time": Number(None, "measured", why_not=why), "excess": None}
    tried: list[tuple[float, float, float]] = []
    for factor in (*FACTORS, *FURTHER):
        if factor in FURTHER and min(tried) is not tried[-1]:
            break
        curve, _, _ = _curve(setting, make, scale * factor, most, FEW, exact)
        T = _first(curve, epsilon)
        tried.append((np.inf if T is None else T, float(np.min(curve)), scale * factor))
    soonest, least, eta = min(tried)
    first = int(soonest) if np.isfinite(soonest) else None
    kind = "exact" if exact else "measured"
    if first is None:
        why = f"not within {most:,} iterations at any step tried"
        return known | {"time": Number(None, kind, why_not=why), "excess": least, "eta": eta}
    longest = most if exact else min(most, max(2 * first, first + max(steps, 1)))
    seeds = 0 if exact else max(2, min(setting.seeds, int(WORK / max(_work(setting, name, 1, longest), 1.0))))
    curve, error, trace = _curve(setting, make, eta, longest, seeds, exact, fresh=True)
    mean = curve
    T = _first(mean, epsilon)
    if T is None:
        T = longest
    low, high = _first(mean - 2 * error, epsilon), _first(mean + 2 * error, epsilon)
    per_site = trace["excess"][T]
    rounds = T if steps == 1 else T / steps if steps else None
    down = trace["vectors"][T] / 2
    if rounds is None:  # a coin: vectors tell
        rounds = down / setting.problem.clients
    if name == "All-for-all":  # through a server
        down = float(T * setting.problem.clients)
    spent = Spent(T, float(rounds), float(down), float(down), float(trace["calls"][T]) * setting.problem.batch,
                  setting.problem.features)  # fmt: skip
    return known | {
        "time": Number(T, kind) if exact else Number(T, kind, (low, high)),
        "eta": eta,
        "excess": float(mean[T]),
        "sites": int((per_site <= setting.epsilon).sum()),
        "spent": spent,
    }


def _first(curve: np.ndarray, epsilon: float) -> int | None:
    below = np.flatnonzero(curve <= epsilon)
    return int(below[0]) if below.size else None


def _probed(problem: Problem, algorithm: Algorithm, most: int) -> bool:
    """Whether the exact moments of the whole state are few enough."""
    if not algorithm.linear or problem.gradient_moments() is None or problem.row_counts is not None:
        return False
    template = algorithm.init(problem, problem.start[None])
    state = 1 + sum(value.numel() for value in template.values())
    try:
        outcomes = len(algorithm.outcomes(problem, 1))
    except InputError:  # too many
        return False
    return most * outcomes * 2.0 * state**3 <= PROBED


def _work(setting: Setting, name: str, seeds: int, iterations: int) -> float:
    problem = setting.problem
    gradients = problem.clients**2 if name == "All-for-one" else problem.clients
    return float(seeds) * iterations * gradients * problem.gradient_cost


Told = dict[str, np.ndarray]
"""By iteration: the mean excess (T + 1, N), vectors sent and gradients computed."""


@np.errstate(all="ignore")
def _curve(
    setting: Setting,
    make: Callable[[float], Algorithm],
    eta: float,
    iterations: int,
    seeds: int,
    exact: bool,
    fresh: bool = False,
) -> tuple[np.ndarray, np.ndarray, Told]:
    """The mean excess over clients at t = 0, 1, ..., its standard error, and what was spent until then; not `fresh`,
    which is other seeds than those of a search, perhaps no further than to epsilon."""
    from suffice.simulate import run
    from suffice.simulate.kernel_choice import settled
    from suffice.simulate.probed_moments import expected_excess

    problem, rule = setting.problem, make(eta)
    wanted = range(FEW, FEW + seeds) if fresh else range(seeds)
    until = 0.0 if fresh else float(setting.epsilon.mean())
    if exact:
        values = expected_excess(cast("QuadraticProblem", problem), rule, iterations=iterations, eta=eta)
        error, told = np.zeros(len(values)), {}
        if fresh:
            _, _, told = _followed(setting, rule, eta, iterations, range(FEW), until)
        told["excess"] = values
        return values.mean(1), error, told
    if settled(problem, rule) == "reference":
        return _followed(setting, rule, eta, iterations, wanted, until)
    trace = run(problem, rule, iterations=iterations, eta=eta, seeds=wanted, root=setting.root)
    excess = trace.excess.astype(float)
    told = {"vectors": trace.vectors_sent, "calls": trace.oracle_calls, "excess": excess.mean(0)}
    return *_summary(excess.mean(2)), told


def _followed(
    setting: Setting, rule: Algorithm, eta: float, iterations: int, seeds: range, until: float
) -> tuple[np.ndarray, np.ndarray, Told]:
    """The same where no compiled kernel runs it, whose whole blocks of seeds would be many, as far as to `until`."""
    import torch

    from suffice.simulate import iterate

    problem = setting.problem
    step = torch.full((problem.clients,), eta, dtype=problem.dtype)
    excess, sent, calls = [], [0.0], [0.0]
    paths = iterate(problem, rule, seeds=torch.tensor(list(seeds)), iterations=iterations, eta=lambda t: step,
                    root=setting.root)  # fmt: skip
    for _, _, draw, state in paths:
        excess.append(problem.excess(state["models"]).double().numpy())
        if draw is not None:
            for spent, cost in ((sent, rule.vectors_sent), (calls, rule.oracle_calls)):
                spent.append(spent[-1] + float(np.mean(np.asarray(cost(problem, draw), dtype=float))))
        if not excess[-1].mean() > until:
            break
    found = np.stack(excess, 1)
    told = {"vectors": np.array(sent), "calls": np.array(calls), "excess": found.mean(0)}
    return *_summary(found.mean(2)), told


def _summary(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean over seeds (S, T + 1) and its standard error; infinite where paths left."""
    mean, error = values.mean(0), values.std(0, ddof=1) / np.sqrt(len(values))
    return np.where(np.isfinite(mean), mean, np.inf), np.nan_to_num(error, nan=0.0)
