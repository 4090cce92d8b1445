"""The exact plan of one client: rates, the time they take, where they end, and what is certain about single paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .exact_recursion import ExactRecursion
from .exact_search import HORIZON, Rates, Search
from .gradient_moments import GradientMoments
from .hitting_certificate import certified_rates
from .preconditioning import own_coordinates, shared_coordinates

FINALISTS = 2
"""Coordinates in which the rates are polished, those whose unpolished ones are fastest."""
ROUNDING = 1e-13
"""Of the starting excess: no smaller one can be told from rounding."""
SETTLE = 5.0
"""Time constants of the slowest mode for which a curve is followed after it has arrived."""


@dataclass(frozen=True, kw_only=True)
class ExactPlan:
    """Constant weights and step of one client at one precision, theta+ = theta - eta P sum_k w_k g_k.

    weights         (N,), of sum 1; all 0 where no step is needed or none is known
    eta             sum of the rates [theta^2 / loss]; in the coordinates of the preconditioner, where there is one
    iterations      the first T with E e_T <= epsilon, exactly; None: none was found (`note` says why)
    excess          E e_T there [loss]
    start           excess of the start [loss]
    step_limit      eta from which on the second moment does not contract
    floor           lim E e_t if the rates are kept up [loss]
    holds           E e_t <= epsilon for all t >= T too; otherwise the client stops at T
    hitting         {"eta", "expected_iterations"}: with this step, perhaps a smaller one, E[tau] is at most that many,
                    tau = min{t: e_t < epsilon} on single paths; None where that is not certain at any step
    preconditioner  name of P's coordinates; matrix (d, d) is P, None for the identity
    """

    epsilon: float
    weights: np.ndarray
    eta: float
    iterations: int | None
    start: float
    excess: float | None = None
    step_limit: float | None = None
    floor: float | None = None
    holds: bool | None = None
    hitting: dict[str, float] | None = None
    preconditioner: str = "none"
    matrix: np.ndarray | None = None
    note: str = ""
    recursion: ExactRecursion | None = None

    @property
    def rates(self) -> np.ndarray:
        return self.eta * self.weights

    def curve(self, steps: int) -> np.ndarray:
        """E e_t for t = 0..steps with these rates throughout [loss]."""
        if self.recursion is None or not self.rates.any():
            return np.full(steps + 1, self.start)
        return self.recursion.curve(self.rates, steps)

    def to_dict(self) -> dict[str, Any]:
        """The object `exact` of `suffice plan --json`."""
        stage = {"iterations": self.iterations, "weights": self.weights.tolist(), "eta": self.eta}
        return {
            "weights": self.weights.tolist(),
            "eta": self.eta,
            "iterations": self.iterations,
            "step_limit": self.step_limit,
            "schedule": [] if self.iterations is None else [stage],
            "excess": self.excess,
            "floor": self.floor,
            "holds": self.holds,
            "hitting": self.hitting,
            "preconditioner": self.preconditioner,
            "matrix": None if self.matrix is None else self.matrix.tolist(),
            "note": self.note,
        }


def exact_plans(
    moments: GradientMoments,
    epsilon: np.ndarray,
    *,
    precondition: bool = True,
    horizon: int = HORIZON,
    progress: Callable[[int, int], None] | None = None,
) -> list[tuple[ExactPlan, ExactPlan]]:
    """Of every client together with peers and alone, at precisions (N,) of its own [loss].

    precondition  let every client choose its coordinates, the same choice for both; else all take those of the problem
    horizon       steps after which a plan counts as never arriving
    """
    from threadpoolctl import threadpool_limits

    found = []
    with threadpool_limits(1):  # matrices are small: threads that wait for one another cost more than they bring
        shared = shared_coordinates(moments) if precondition else {"none": moments}
        for i, precision in enumerate(epsilon.tolist()):
            found.append(_client(moments, shared, i, precision, precondition, horizon))
            if progress is not None:
                progress(i + 1, moments.clients)
    return found


def _client(
    moments: GradientMoments,
    shared: dict[str, GradientMoments],
    i: int,
    epsilon: float,
    precondition: bool,
    horizon: int,
) -> tuple[ExactPlan, ExactPlan]:
    start = max(ExactRecursion(moments=moments, client=i).excess, 0.0)
    nothing = ExactPlan(epsilon=epsilon, weights=np.zeros(moments.clients), eta=0.0, iterations=None, start=start)
    if start <= epsilon:
        there = _stay(nothing, "the start is already below this precision: 0 iterations, alone or together")
        return there, there
    if epsilon < ROUNDING * start:
        lost = replace(
            nothing, note=f"this precision is below rounding, {ROUNDING:g} of the starting excess {start:.3g}"
        )
        return lost, lost
    choices = shared | (own_coordinates(moments, i) if precondition else {})
    recursions = {name: ExactRecursion(moments=there, client=i) for name, there in choices.items()}
    only = np.eye(moments.clients, dtype=bool)[i]
    alone_name, alone = _best(recursions, epsilon, horizon, only, {})
    together_name, together = _best(recursions, epsilon, horizon, np.ones_like(only), {alone_name: alone})
    return (
        _described(nothing, recursions[together_name], together, together_name, horizon),
        _described(nothing, recursions[alone_name], alone, alone_name, horizon),
    )


def _best(
    recursions: dict[str, ExactRecursion],
    epsilon: float,
    horizon: int,
    allowed: np.ndarray,
    known: dict[str, Rates],
) -> tuple[str, Rates]:
    """The fastest rates over all coordinates, never slower than those `known`."""
    searches = {name: Search(one, epsilon, allowed, horizon) for name, one in recursions.items()}
    rough = {name: search.started(known.get(name)) for name, search in searches.items()}
    names = sorted(rough, key=lambda name: rough[name].time)
    best_name, best = names[0], rough[names[0]]
    for name in names[:FINALISTS]:
        found = searches[name].finished(rough[name])
        if found.time < best.time:
            best_name, best = name, found
    return best_name, best


def _stay(plan: ExactPlan, note: str) -> ExactPlan:
    return replace(
        plan,
        iterations=0,
        excess=plan.start,
        floor=plan.start,
        holds=True,
        hitting={"eta": 0.0, "expected_iterations": 0.0},
        note=note,
    )


def _described(plan: ExactPlan, recursion: ExactRecursion, rates: Rates, name: str, horizon: int) -> ExactPlan:
    if rates.steps is None:
        return replace(plan, note=f"no constant weights and step tried arrive within {horizon:,} iterations")
    v, steps, eta = rates.v, rates.steps, float(rates.v.sum())
    basis = recursion.moments.basis
    floor = recursion.floor(v)
    certified = certified_rates(recursion, v, plan.epsilon, steps)
    return replace(
        plan,
        weights=v / eta,
        eta=eta,
        iterations=steps,
        excess=float(recursion.curve(v, steps)[-1]),
        step_limit=eta * recursion.limit(v),
        floor=floor,
        holds=floor <= plan.epsilon and _stays(recursion, v, plan.epsilon, steps),
        hitting=None if certified is None else {"eta": float(certified[1].sum()), "expected_iterations": certified[0]},
        preconditioner=name,
        matrix=None if name == "none" else basis @ basis.T,
        recursion=recursion,
    )


def _stays(recursion: ExactRecursion, v: np.ndarray, epsilon: float, steps: int) -> bool:
    """Followed until the slowest mode has died down, or for as long again as ten times the plan."""
    slow = SETTLE / max(1 - recursion.radius(v), 1e-12)
    looks = _looks(recursion, v, steps, int(min(slow, 10 * steps + 1000)))
    return all(bool((part <= epsilon).all()) for part in looks)


def _looks(recursion: ExactRecursion, v: np.ndarray, steps: int, more: int) -> Iterator[np.ndarray]:
    z, part = recursion.after(v, steps), 4096
    for done in range(0, more, part):
        count = min(part, more - done)
        yield recursion.curve(v, count, start=z)[1:]
        z = recursion.after(v, count, start=z)
