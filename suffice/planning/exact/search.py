"""The constant rates that bring one client's expected excess below a precision in the fewest steps.

The variables are the rates v_k = eta w_k >= 0 alone: sets of peers, weights and steps are supports, directions and
lengths of v. E e_T is not convex in v, so that two kinds of work follow one another:
1. starts: nested families of peers by the distance of their minimisers, equal weights or half of it the client's own,
   at several shares of the step limit, in all coordinates that a client may choose: the first to arrive counts;
2. polish: from the best few of these, arriving or not, SciPy's L-BFGS-B minimises E e_g at a time g below the best one;
   where this reaches the precision, g falls again.
Whether one step is enough is asked before, of the minimum of E e_1, which is convex. What comes out is never slower
than any start, and a local optimum: no proof that nothing is faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from suffice.simulate.moments.gradient_moments import moments_at
from suffice.simulate.moments.recursion import ExactRecursion, share_of_step

from .arrivals import arrival, arrivals

HORIZON = 100_000
"""Steps after which a plan counts as never arriving, unless told otherwise."""
STEADY = 0.999
"""Of the step limit: rates that are best beyond it go so far."""
SHARES = np.array([0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])
"""Of the step limit, at which every start is tried."""
SMALLER = np.geomspace(1e-6, 0.015, 12)
"""Shares tried where none of the others arrives."""
SINGLE_SHARES = np.geomspace(0.02, 0.95, 12)
"""Of single rates."""
CLOSER = (0.86, 0.86, 0.93, 0.98)
"""Factors on either side of the best single rate, one after the other; the first two are repeated up to AGAIN times."""
SAFE = 0.97
"""Of the limit: no single rate beyond is tried."""
FINALISTS, RACING = 2, 3
"""Coordinates, and directions beside the best start, from which rates are polished."""
ROUNDS, FIRST = 60, 8
"""Iterations of a polish, and of the race that decides which start is worth it."""
NEGLIGIBLE = 0.02
"""Of the largest rate: a smaller one is dropped if this costs nothing."""
LEGS = 5
EARLY = float(__import__('os').environ.get('EARLY', 0)); FINER = float(__import__('os').environ.get('FINER', .07))
PATIENCE = float(__import__('os').environ.get('PAT', 40))
"""Iterations at the present pace within which the precision has to be in reach."""


class Curve(Protocol):
    """What tells the excess of rates: the exact recursion, or a model of it."""

    def derivatives(self, v: np.ndarray, steps: int) -> tuple[float, np.ndarray]: ...


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Constant rates v (N,) [theta^2 / loss] and the time they take.

    time    steps until E e_t <= epsilon, to a fraction of a step; inf where it never is
    choice  which of the client's recursions (coordinates) they are for
    lowest  least E e_t before the first start of the client arrives, where the rates are a start, and `when` it is
    """

    v: np.ndarray
    time: float = np.inf
    choice: str = ""
    lowest: float = np.inf
    when: int = 0

    @property
    def steps(self) -> int | None:
        return None if not np.isfinite(self.time) else int(np.ceil(self.time))


def fastest(choices: dict[str, ExactRecursion], epsilon: float, most: int) -> Rates:
    """The fastest constant rates found of one client, in the best of its coordinates and below the step limit.

    most  steps that are of interest
    """
    first = next(iter(choices.values()))
    N = first.moments.clients
    if first.excess <= epsilon or most <= 0:
        return Rates(v=np.zeros(N), time=0.0 if first.excess <= epsilon else np.inf)
    families = start_directions(first.moments.optimum, first.moments.A[first.client], first.client)
    spread = {}
    for name, recursion in choices.items():
        v, excess = one_step(recursion)
        if excess <= epsilon and (at_once := _arrives_at_once(recursion, v, epsilon)):
            return Rates(v=at_once[0], time=at_once[1], choice=name)
        V = np.vstack((families, v / v.sum())) if v.any() else families
        M1, M2 = recursion.expansion(V)
        limits = step_limits(M1, M2, 1 + recursion.features)
        M1, M2 = limits[:, None, None] * M1, limits[:, None, None] ** 2 * M2
        spread[name] = limits[:, None] * V, (M1, M2, recursion.start, recursion.loss)
    tried, best, goal = [], Rates(v=np.zeros(N)), most
    for shares in (SHARES, SMALLER) if most >= HORIZON / 10 else (SHARES,):
        for name, known in spread.items():
            tried.append(tried_starts(name, known, shares, epsilon, goal))
            best = min((best, *tried[-1]), key=lambda one: one.time)
            goal = most if best.steps is None else best.steps
        if best.steps is not None:
            break
    for _ in range(LEGS):
        if best.time <= 1:
            break
        before = best
        best = polished(choices, best, racers(tried), epsilon, most)
        if best is before or best.time <= 1:
            break
        tried = [tried_starts(name, known, SHARES, epsilon, best.steps - 1) for name, known in spread.items()]
    return best if best.steps is None or best.time <= 1 else tidied(choices[best.choice], best, epsilon)


def tried_starts(name, known, shares, epsilon: float, most: int) -> list[Rates]:
    """Of every direction (F, N) its best length: the first to arrive, or the nearest to it."""
    V, at = known
    found = []
    for v, time, lowest, when in zip(V, *arrivals(*at, shares, epsilon, most)):
        s = int(np.argmin(time) if np.isfinite(time).any() else np.argmin(lowest))
        found.append(Rates(v=shares[s] * v, time=time[s], lowest=lowest[s], when=int(when[s]), choice=name))
    return found


def step_limits(M1: np.ndarray, M2: np.ndarray, seen: int) -> np.ndarray:
    """About the factors c below which M(c v) contracts, (F,): 1 / rho(P^-1 Q), -P and Q being what M1 and M2 do to second
    moments. By power iteration, from below in rho: if anything a few percent too large, a scale and no promise."""
    P, Q = -M1[:, seen:, seen:], M2[:, seen:, seen:]
    scale = np.einsum("fnn->f", P)[:, None, None] / P.shape[-1]
    x, size = np.ones((len(P), P.shape[-1], 1)), np.ones(len(P))
    T = np.linalg.solve(P + 1e-9 * scale * np.eye(P.shape[-1]), Q)
    for _ in range(20):
        x = T @ x
        size = np.linalg.norm(x, axis=1)[:, 0]
        x = x / np.maximum(size, 1e-300)[:, None, None]
    return 1 / np.maximum(size, 1e-300)


def racers(tried: Sequence[Sequence[Rates]]) -> list[Rates]:
    """Of the coordinates whose starts are best, the best of each and the first few directions."""
    def rank(one: Rates) -> tuple[float, float]:
        return one.time, one.lowest

    leading = sorted(tried, key=lambda starts: min(map(rank, starts)))[:FINALISTS]
    return [one for starts in leading for one in (min(starts, key=rank), *starts[:RACING])]


def polished(
    choices: dict[str, ExactRecursion], best: Rates, starts: Sequence[Rates], epsilon: float, most: int
) -> Rates:
    """The fastest rates that are found from the starts, or the best of these."""
    goal, raced = most if best.steps is None else best.steps - 1, []
    for one in starts:
        at = min(one.when, goal) if np.isinf(one.time) and one.when else goal
        v, level = lowered(choices[one.choice], one.v, at, epsilon, FIRST)
        raced.append((level, Rates(v=v, choice=one.choice, when=at)))
    raced.sort(key=lambda pair: pair[0])
    for _, one in raced[:FINALISTS]:
        best = hunted(choices[one.choice], one, best, epsilon, most)
    return best


def hunted(recursion: ExactRecursion, one: Rates, best: Rates, epsilon: float, most: int) -> Rates:
    """From rates that may not arrive: as long as goals below the best time are reached, the best moves on."""
    v, last = one.v, most if best.steps is None else best.steps - 1
    goal = min(one.when, last - int(FINER * last))
    while last > 0:
        v, level = lowered(recursion, v, goal, epsilon, ROUNDS)
        time = arrival(recursion, v, epsilon, last) if level < 1 else np.inf
        if np.isfinite(time) and recursion.limit(v) > 1:
            best = Rates(v=v, time=time, choice=one.choice)
            last = int(np.ceil(time)) - 1
            goal = last - int(FINER * last)
        elif goal < last:
            goal = last
        else:
            break
    return best


def lowered(recursion: Curve, v: np.ndarray, goal: int, epsilon: float, iterations: int) -> tuple[np.ndarray, float]:
    """Rates from v on at which the excess after `goal` steps is about the least, and its logarithm over epsilon there."""
    from scipy.optimize import Bounds, minimize

    v = v if recursion.stable(v / STEADY) else 0.9 * v
    scale, history = 0.1 * np.linalg.norm(v), []

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        with np.errstate(all="ignore"):
            e, gradient = recursion.derivatives(scale * x, goal)
            gradient = scale * gradient / e
        if not (0 < e < np.inf and np.isfinite(gradient).all()) or (e <= epsilon and not recursion.stable(scale * x / STEADY)):
            return 1e3, np.zeros(len(x))
        return float(np.log(e / epsilon)), gradient

    def hopeless(intermediate_result: object) -> None:
        history.append(intermediate_result.fun)
        if EARLY and history[-1] <= -EARLY:
            raise StopIteration
        if len(history) > 4 and PATIENCE * (history[-5] - history[-1]) / 4 < history[-1]:
            raise StopIteration

    found = minimize(
        value, v / scale, jac=True, method="L-BFGS-B", bounds=Bounds(0, np.where(v > -1, np.inf, 0)), callback=hopeless,
        options={"maxiter": iterations, "ftol": 3e-5, "gtol": 1e-6},
    )
    return scale * np.maximum(found.x, 0), float(found.fun)


def tidied(recursion: ExactRecursion, best: Rates, epsilon: float) -> Rates:
    """Minimised at the final time, without rates that are trifles if that costs no step."""
    assert best.steps is not None
    for v in (without_small(best.v), best.v):
        kept = np.flatnonzero(v)
        new, level = lowered(Some(recursion, kept), v[kept], best.steps, epsilon, 40)
        whole = np.zeros(len(v))
        whole[kept] = new
        time = arrival(recursion, whole, epsilon, best.steps)
        if time <= best.steps and recursion.limit(whole) > 1:
            return Rates(v=whole, time=time, choice=best.choice)
    return best


@dataclass(frozen=True)
class Some:
    """Rates of some peers alone."""

    whole: ExactRecursion
    kept: np.ndarray

    def derivatives(self, v: np.ndarray, steps: int) -> tuple[float, np.ndarray]:
        rates = np.zeros(self.whole.moments.clients)
        rates[self.kept] = v
        e, gradient = self.whole.derivatives(rates, steps)
        return e, gradient[self.kept]

    def stable(self, v):
        rates = np.zeros(self.whole.moments.clients)
        rates[self.kept] = v
        return self.whole.stable(rates)


def without_small(v: np.ndarray, share: float = NEGLIGIBLE) -> np.ndarray:
    """Rates (..., N) without those below a share of the largest, the others so much larger that their sum stays."""
    large = np.where(v < share * v.max(-1, keepdims=True), 0, v)
    return large * (v.sum(-1) / np.maximum(large.sum(-1), 1e-300))[..., None]


def start_directions(optimum: np.ndarray, A: np.ndarray, i: int) -> np.ndarray:
    """Starts of sum 1, (F, N): equal weights, nearest half and nine tenths its own first, then families."""
    gap = optimum - optimum[i]
    distance = np.einsum("kd,de,ke->k", gap, A, gap)
    distance[i] = -1
    order, n = np.argsort(distance, kind="stable"), len(optimum)
    own, rank = np.eye(n)[i], np.argsort(order)

    def nearest(size: int) -> np.ndarray:
        return (rank < size) / size

    if n == 1:
        return nearest(1)[None]
    half = -(-n // 2)
    sizes = sorted({2**j for j in range(20) if 2**j < n} - {half})
    halved = [own / 2 + nearest(size) / 2 for size in (*sizes[2:], n)]
    return np.stack([nearest(n), nearest(half), 0.9 * own + 0.1 * nearest(n), *halved, *map(nearest, sizes)])


def one_step(recursion: ExactRecursion) -> tuple[np.ndarray, float]:
    """The rates (N,) with the least E e_1, and that [loss].

    It is a convex quadratic of the rates, with m = E delta_0: the square of A_i^1/2 (m - 2 sum v_k (A_k m - h_k)), and
    what the clients' noises add, 4 v_k^2 <A_i, C_k> / batch each. Non-negative least squares minimise it.
    """
    from scipy.optimize import nnls

    moments, i, d = recursion.moments, recursion.client, recursion.features
    m, (values, U) = recursion.start[1 : 1 + d], np.linalg.eigh(moments.A[i])
    root = np.sqrt(np.maximum(values, 0))[:, None] * U.T
    noises = 4 / moments.batch * (moments.noise @ moments_at(moments.start[i])) @ recursion.loss[1 + d :]
    along = 2 * root @ (moments.A @ m - recursion.h).T
    system = np.vstack((along, np.diag(np.sqrt(np.maximum(noises, 0)))))
    v, rest = nnls(system, np.concatenate((root @ m, np.zeros(moments.clients))))
    return v, rest**2


def _arrives_at_once(recursion: ExactRecursion, v: np.ndarray, epsilon: float) -> tuple[np.ndarray, float] | None:
    safe = min(1.0, STEADY * recursion.limit(v)) * v
    before, after = recursion.curve(safe, 1)
    return (safe, float(share_of_step(before, after, epsilon))) if after <= epsilon else None


def fastest_single(choices: dict[str, ExactRecursion], epsilon: float, most: int) -> Rates:
    """The same of a client alone, whose one rate is searched on a grid in all coordinates, then about the best."""
    best, soonest = Rates(v=np.zeros(1)), most
    if next(iter(choices.values())).excess <= epsilon:
        return Rates(v=np.zeros(1), time=0.0)
    known = {}
    for name, recursion in choices.items():
        M1, M2 = recursion.expansion(np.ones((1, 1)))
        limit = recursion.limit(np.ones(1))
        known[name] = limit, (limit * M1, limit**2 * M2, recursion.start, recursion.loss)
    for shares in (SINGLE_SHARES, SMALLER):
        for name, (limit, at) in known.items():
            times, *_ = arrivals(*at, shares, epsilon, soonest)
            j = int(np.argmin(times))
            if times[0, j] < best.time:
                best = Rates(v=shares[[j]] * limit, time=float(times[0, j]), choice=name)
                soonest = int(np.ceil(best.time))
        if best.steps is not None:
            break
    if best.steps is None:
        return best
    limit, at = known[best.choice]
    for factor in CLOSER:
        centre = best.v[0] / limit
        shares = centre * np.geomspace(factor, 1 / factor, 5)
        shares = shares[shares < SAFE]
        times, *_ = arrivals(*at, shares, epsilon, int(np.ceil(best.time)))
        j = int(np.argmin(times)) if times.size else 0
        if times.size and times[0, j] < best.time:
            best = Rates(v=shares[[j]] * limit, time=float(times[0, j]), choice=best.choice)
    return best
