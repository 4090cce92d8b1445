"""The constant rates that bring one client's expected excess below a precision in the fewest steps.

Excesses are in units of the precision, so that the first at most 1 is looked for. The variables are the rates
v_k = eta w_k >= 0 alone: sets of peers, weights and steps are supports, directions and lengths of v. E e_T is not
convex in v, so that two kinds of work follow one another:
1. starts: nested families of peers by the distance of their minimisers, equal weights or half of it the client's own,
   at several shares of the step limit, in all coordinates that a client may choose: the first to arrive counts;
2. polish: from the best few of these, arriving or not, SciPy's L-BFGS-B minimises E e_g at a time g below the best one;
   where this reaches the precision, g falls again. What is found allows for other starts, good for its shorter time.
Whether one step is enough is asked before, of the minimum of E e_1, which is convex. What comes out is never slower
than any start, and a local optimum: no proof that nothing is faster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.simulate.moments.gradient_moments import moments_at
from suffice.simulate.moments.gram_model import GramModel
from suffice.simulate.moments.orbits import arrivals
from suffice.simulate.moments.recursion import ExactRecursion
from suffice.simulate.moments.reduced import subspaces

HORIZON = 100_000
"""Steps after which a plan counts as never arriving."""
STEADY = 0.999
"""The largest share of the step limit: rates that would be best beyond it go so far."""
SHARES = np.array([0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])
"""Shares of the step limit at which every start is tried."""
SMALLER = np.geomspace(1e-6, 0.015, 12)
"""Shares tried where none of the others arrives within so many steps that these may."""
SINGLE_SHARES = np.geomspace(0.02, 0.95, 20)
"""Shares of the step limit at which single rates are tried."""
CLOSER, AGAIN = (0.86, 0.93, 0.98), 16
"""Factors on either side of the best single rate, the first as often as it leads to an end of what is tried."""
LARGE = 150
"""Numbers of moments from which on starts are followed in single precision, and single rates on subspaces."""
SPANNED, SPANNED_MORE = np.array([0.15, 0.6]), np.array([0.6, 1.2])
"""Subspaces for large maps are found at these shares of the limit, and at these multiples of a model's rates."""
DIRECTIONS = 3
"""So many first starts in the best coordinates are polished, beside the best start in each of the coordinates."""
ROUNDS = 60
"""Iterations of a polish."""
LEAST = 4
"""The fewest iterations for which a polish is begun."""
WORK = 4e8
"""Multiplications of the polishes of all clients, where they are too many for a search each."""
SEARCHES = 5
"""The most rounds of a search: each polishes starts, then looks for others."""
FINER = 0.07
"""A goal is below the best time by this share of the time, and by at least one step."""
FINEST = 0.01
"""Between a missed goal and the latest goal none is tried where they are within this share of the latest."""
PACE = 0.7
"""A polish ends where ln E e_g is above this share of its last miss: goals go half of the way, and so must misses."""
BETTER = 0.97
"""A polish ends where its miss is above this share of another's at the same goal: it leads to no better rates."""
SHORTER = 0.9
"""Starts are looked for anew where polishing brings the time to this share of what it was, or below."""
NEGLIGIBLE = 0.02
"""Share of the largest rate: a smaller rate is dropped if this costs nothing."""
MODELLED = 20
"""Iterations of a polish of a model, which only tells where to start."""
LENGTHS = np.geomspace(0.5, 1.6, 12)
"""Multiples of the model's rates that are followed exactly."""
UNPOLISHED = "these rates are the best simple start found, not polished: clients are too many for a search each"
POOLED = "pooled"
"""Coordinates of clients too many for a search each."""
PATIENCE = 80
"""Iterations at the present pace within which the precision has to be in reach."""
STALLED = 1e-4
"""Decrease of ln E e_g that counts as none, once the precision is reached."""
UNKNOWN = 1e3
"""ln E e_T of rates that see next to nothing, or arrive beyond their step limit: their trials fail."""
Lines = dict[str, tuple[np.ndarray, tuple[np.ndarray, ...]]]
"""By the names of coordinates: directions (F, N), each at its step limit, and the arguments of `arrivals` for these."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rates:
    """Constant rates v (N,) [theta^2 / loss] and the time they take.

    time    steps until E e_t <= epsilon, to a fraction of a step; inf where it never is
    choice  the name of the coordinates that they are for
    lowest  of a start, the least E e_t before any start arrives, and when that is
    note    what has not been done for them
    merged  the recursion merged at these rates, where it is known
    """

    v: np.ndarray
    time: float = np.inf
    choice: str = ""
    lowest: float = np.inf
    when: int = 0
    note: str = ""
    merged: ExactRecursion | None = None

    steps = property(lambda self: int(np.ceil(self.time)) if np.isfinite(self.time) else None)

    @property
    def rank(self) -> tuple[float, float]:
        """A key that sorts rates by time, those that do not arrive by `lowest`; equal but for rounding are equal."""
        return float(f"{self.time:.6g}"), float(f"{self.lowest:.6g}")


def fastest(choices: Mapping[str, ExactRecursion], most: int, alone: Rates | None = None) -> Rates:
    """The fastest constant rates found of one client, in the best of its coordinates and below the step limit.

    most   steps that are of interest
    alone  the client's own single rate, a start where no other arrives
    """
    one = next(iter(choices.values()))
    best, known, tried = Rates(v=np.zeros(one.moments.clients)), Lines(), list[list[Rates]]()
    if most <= 0:
        return best
    families = start_directions(one.moments.optimum, one.moments.A[one.client], one.client)
    for name, recursion in choices.items():
        v, excess = one_step(recursion)
        if excess <= 1:
            safe = min(1.0, STEADY * recursion.limit(v)) * v
            time = recursion.arrival(safe, 1)
            if time <= 1:
                return Rates(v=safe, time=time, choice=name)
        V = np.vstack((families, v / v.sum())) if v.any() else families
        M1, M2 = recursion.expansion(V)
        limits = step_limits(M1, M2, 1 + recursion.features)[:, None]
        M1, M2 = limits[..., None] * M1, limits[..., None] ** 2 * M2
        if len(recursion.start) > LARGE:  # starts of large maps are told apart well enough in single precision
            M1, M2 = M1.astype(np.float32), M2.astype(np.float32)
        known[name] = limits * V, (M1, M2, recursion.start, recursion.loss)
    for shares in (SHARES, SMALLER) if most > HORIZON / 10 else (SHARES,):
        tried, best = _starts(known, shares, most, best)
        if best.steps is not None:
            break
    if best.steps is None and alone is not None and alone.choice in known:
        own = alone.v * np.eye(one.moments.clients)[one.client]
        tried[list(known).index(alone.choice)].append(Rates(v=own, choice=alone.choice, lowest=1, when=most))
    missed: dict[int, float] = {}
    for _ in range(SEARCHES):
        before = best
        # the best in each of the coordinates, which differ more than starts in one of them do, then directions in these
        ranked = sorted(tried, key=lambda starts: min(one.rank for one in starts))
        promising = [min(starts, key=lambda one: one.rank) for starts in ranked]
        for start in (*promising, *(one for one in ranked[0][:DIRECTIONS] if one is not promising[0])):
            best = polished(choices[start.choice], start, best, most, missed)
        if best.time > SHORTER * min(before.time, most):
            break
        tried, _ = _starts(known, SHARES, int(np.ceil(best.time)) - 1, best)
    return best if best.steps is None else _tidied(choices[best.choice], best)


def _starts(known: Lines, shares: np.ndarray, most: int, best: Rates) -> tuple[list[list[Rates]], Rates]:
    """The best length of every direction in each of the coordinates, and the soonest to arrive of these and `best`."""
    tried = []
    for name, (V, scaled) in known.items():
        tried.append([])
        for v, times, lowest, when in zip(V, *arrivals(*scaled, shares, most)):
            s = int(np.argmin(times) if np.isfinite(times).any() else np.argmin(lowest))
            one = Rates(v=shares[s] * v, time=times[s], choice=name, lowest=lowest[s], when=int(when[s]))
            tried[-1].append(one)
            best = one if one.time < (1 - 1e-9) * best.time else best  # equal but for rounding: the first counts
        most = min(most, best.steps or most)
    return tried, best


def step_limits(M1: np.ndarray, M2: np.ndarray, seen: int) -> np.ndarray:
    """About the factors c below which I + c M1 + c^2 M2 contracts, (F,): 1 / rho(P^-1 Q), -P and Q being what M1 and M2
    do to second moments, which come after the first `seen` numbers.

    By power iteration, from below in rho: if anything a few percent too large, a scale and no promise.
    """
    P, Q = -M1[:, seen:, seen:], M2[:, seen:, seen:]
    ridge = 1e-9 * np.einsum("fnn->f", P)[:, None, None] / P.shape[-1] * np.eye(P.shape[-1])
    T, x, size = np.linalg.solve(P + ridge, Q), np.ones((len(P), P.shape[-1], 1)), np.ones((len(P), 1, 1))
    for _ in range(20):
        x = T @ x
        size = np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300)
        x = x / size
    return 1 / size[:, 0, 0]


def polished(curve: Any, one: Rates, best: Rates, most: int, missed: dict[int, float], rounds: int = ROUNDS) -> Rates:
    """Polish rates `one`, which may not arrive: as long as goals below the best time are reached, `best` moves on.

    curve   of one client the exact recursion, with rates in stages or not, or a model of it
    missed  ln E e_g of goals g that were missed, by this polish and those before it: one that misses by more has lost
    """
    v, last, before = one.v, most if best.steps is None else best.steps - 1, np.inf
    goal = min(one.when or last, last - int(FINER * last))
    while last > 0:
        v, level = lowered(curve, v, goal, rounds)
        time = curve.arrival(v, last) if level < 1 else np.inf
        if np.isfinite(time) and curve.stable(v):
            best, last, before = Rates(v=v, time=time, choice=one.choice), int(np.ceil(time)) - 1, np.inf
            below = max((g for g in missed if g < last), default=0)
            goal = max(last - int(FINER * last), _between(below, last))
            continue
        known = sorted(missed)
        others = np.interp(goal, known, [missed[g] for g in known], left=np.inf) if known else np.inf
        bar = min(BETTER * others, PACE * before)
        missed[goal] = min(level, missed.get(goal, np.inf))
        if goal >= last or level > bar:
            break
        before, goal = level, _between(goal, last)
    return best


def _between(goal: int, last: int) -> int:
    """The next goal after one that was missed."""
    return int(np.ceil(np.sqrt(goal * last))) if last - goal > FINEST * last else last


def lowered(curve: Any, v: np.ndarray, goal: int, rounds: int) -> tuple[np.ndarray, float]:
    """Rates from v on at which the excess after `goal` steps is about the least, and its logarithm there.

    Rates that arrive beyond their step limit fail, so that none that arrives is to be given up later.
    """
    from scipy.optimize import Bounds, minimize

    v = v if curve.stable(v / STEADY) else 0.9 * v
    # where one client's rate may be far larger than another's, L-BFGS starts from a poor metric in equal units
    scale, history, best = 0.1 * np.linalg.norm(v / curve.sizes) * curve.sizes, [], (UNKNOWN, v)

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best
        with np.errstate(all="ignore"):
            e, gradient = curve.derivatives(scale * x, goal)
            gradient = scale * gradient / e
        known = 0 < e < np.inf and np.isfinite(gradient).all()
        if not known or (e <= 1 and not curve.stable(scale * x / STEADY)):
            return UNKNOWN, np.zeros(len(x))
        level = float(np.log(e))
        best = min(best, (level, scale * x), key=lambda pair: pair[0])  # SciPy may end at another trial
        return level, gradient

    def watch(intermediate_result: Any) -> None:
        history.append(intermediate_result.fun)
        pace = history[-1] / PATIENCE if history[-1] > 0 else STALLED
        if len(history) > 4 and (history[-5] - history[-1]) / 4 < pace:
            raise StopIteration

    options = {"maxiter": rounds, "ftol": 1e-9, "gtol": 1e-6}
    minimize(value, v / scale, jac=True, method="L-BFGS-B", bounds=Bounds(0, np.inf), callback=watch, options=options)
    return np.maximum(best[1], 0), best[0]


def _tidied(recursion: ExactRecursion, best: Rates) -> Rates:
    """The best rates, minimised at their time without those that are trifles, if this costs no step."""
    assert best.steps is not None
    kept = np.flatnonzero((best.v >= NEGLIGIBLE * best.v.max()) | (np.arange(len(best.v)) == recursion.client))
    few = recursion.only(kept.tolist())
    v = np.zeros(len(best.v))
    v[kept], _ = lowered(few, best.v[kept], best.steps, ROUNDS)
    time = recursion.arrival(v, best.steps)
    return replace(best, v=v, time=time) if time <= best.steps and recursion.stable(v / STEADY) else best


def start_directions(optimum: np.ndarray, A: np.ndarray, i: int) -> np.ndarray:
    """Starts of sum 1, (F, N): the simplest first (equal, nearest half, nine tenths its own), then families."""
    gap, n = optimum - optimum[i], len(optimum)
    distance = np.einsum("kd,de,ke->k", gap, A, gap)
    distance[i] = -1
    own, rank = np.eye(n)[i], np.argsort(np.argsort(distance, kind="stable"))

    def nearest(size: int) -> np.ndarray:
        return (rank < size) / size

    if n == 1:
        return nearest(1)[None]
    half = -(-n // 2)
    sizes = sorted({2**j for j in range(20) if 2**j < n} - {half})
    halved = [own / 2 + nearest(size) / 2 for size in (*sizes[2:], n)]
    return np.stack([nearest(n), nearest(half), 0.9 * own + 0.1 * nearest(n), *halved, *map(nearest, sizes)])


def one_step(recursion: ExactRecursion) -> tuple[np.ndarray, float]:
    """The rates (N,) with the least E e_1, and this E e_1.

    It is a convex quadratic of the rates, with m = E delta_0: the square of A_i^1/2 (m - 2 sum v_k G_k (1, m)), and
    what the clients' noises add, 4 v_k^2 <A_i, C_k> / batch each. Non-negative least squares minimise it.
    """
    from scipy.optimize import nnls

    moments, i, d = recursion.moments, recursion.client, recursion.features
    m, (values, U) = recursion.delta, np.linalg.eigh(moments.A[i])
    root = np.sqrt(np.maximum(values, 0) / recursion.unit)[:, None] * U.T
    noises = 4 / moments.batch * (moments.noise @ moments_at(moments.start[i])) @ recursion.loss[1 + d :]
    along = 2 * root @ (recursion.gradients @ np.append(1, m)).T
    system = np.vstack((along, np.diag(np.sqrt(np.maximum(noises, 0)))))
    v, rest = nnls(system, np.concatenate((root @ m, np.zeros(moments.clients))))
    return v, rest**2


def fastest_alone(choices: Mapping[str, ExactRecursion], most: int) -> Rates:
    """The fastest single rate of a client alone, tried on a grid in all coordinates, then about the best."""
    best, known = Rates(v=np.zeros(1)), Lines()
    for name, recursion in choices.items():
        limit = recursion.limit(np.ones(1)) * np.ones((1, 1))
        known[name] = limit, scaled(recursion, limit[0], SPANNED, most)
    # the last coordinates, a client's own, are about the soonest: the others are followed as long; the first counts
    *others, last = known.items()
    own = _starts(dict([last]), SINGLE_SHARES, most, best)[1]
    best = _starts(dict(others), SINGLE_SHARES, own.steps or most, best)[1]
    best = own if own.time < (1 - 1e-9) * best.time else best
    best = _starts(known, SMALLER, most, best)[1] if best.steps is None else best
    for factor in CLOSER if best.steps else ():
        for _ in range(AGAIN if factor == CLOSER[0] else 1):
            limit, before = known[best.choice][0][0, 0], best
            shares = best.v[0] / limit * np.geomspace(factor, 1 / factor, 5)
            best = _starts({best.choice: known[best.choice]}, shares, best.steps or most, best)[1]
            if best is before or best.v[0] not in (limit * shares[[0, -1]]):
                break
    return best


def fastest_of_many(recursions: Sequence[ExactRecursion], most: Sequence[int]) -> list[Rates]:
    """The fastest constant rates found of clients too many for a search each, all in the same coordinates.

    A model with identity Hessians tells where to start. That direction is followed exactly at several lengths, and
    polished as far as WORK allows: what is found is exact; that nothing is faster has been looked for less.
    """
    moments, directions, found = recursions[0].moments, [], []
    models = GramModel.of(moments)
    for one, T in zip(recursions, most):
        V = start_directions(moments.optimum, moments.A[one.client], one.client)
        directions.append(modelled(models[one.client].over(one.unit), V, T).v)
    totals = recursions[0].totals(np.stack(directions))  # one product for all
    for recursion, T, v, total in zip(recursions, most, directions, totals):
        merged = recursion.merged(v, total)
        (times,), *_ = arrivals(*scaled(merged, np.array([0.0, 1.0]), SPANNED_MORE, T), LENGTHS, T)
        c = LENGTHS[np.argmin(times)]
        merged = merged.merged(np.array([0.0, c]))
        best = Rates(v=c * v, time=float(times.min()), choice=POOLED, merged=merged)
        each = 8.0 * moments.noise.size + 4.0 * min(T, best.time) * len(merged.loss) ** 2  # of one gradient
        rounds = min(ROUNDS, int(WORK / (each * moments.clients)))
        if best.time > 1:
            best = polished(recursion, best, best, T, {}, rounds) if rounds >= LEAST else replace(best, note=UNPOLISHED)
        found.append(best)
    return found


def scaled(
    recursion: ExactRecursion, v: np.ndarray, spanned: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The expansion, start and loss along rates v as `arrivals` takes them; of large maps that may be followed for long
    on a subspace about the lengths `spanned`."""
    (M1, M2), start, loss = recursion.expansion(v[None]), recursion.start, recursion.loss
    if len(start) <= LARGE or most <= len(start):
        return M1, M2, start, loss
    c = spanned[:, None, None]
    W = subspaces(np.eye(len(start)) + c * M1 + c**2 * M2, start, loss, recursion.features)
    return W.T @ M1 @ W, W.T @ M2 @ W, start @ W, loss @ W


def modelled(model: GramModel, V: np.ndarray, most: int = HORIZON) -> Rates:
    """The fastest rates found of a model, from directions V (F, N); if nothing arrives, the nearest to it."""
    V = model.limits(V)[:, None] * V
    (tried,), _ = _starts({"": (V, (*model.expansion(V), model.start, model.loss))}, SHARES, most, Rates(v=V[0]))
    best = min(tried, key=lambda one: one.rank)
    return polished(model, best, best, most, {}, MODELLED)
