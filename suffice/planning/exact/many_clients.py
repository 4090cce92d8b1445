"""Exact rates of clients that are too many, or have too many coordinates, for a search client by client.

All take the pooled coordinates, in which second moments are about the identity. `GramModel` tells where to start, for
next to nothing; then all clients descend on the exact E e_T together, from one start each, for as many rounds as WORK
allows. What is found is exact; that nothing is faster has been looked for less than in `search`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.simulate.moments.batched import MomentMaps
from suffice.simulate.moments.gradient_moments import GradientMoments
from suffice.simulate.moments.gram_model import GramModel
from suffice.simulate.moments.recursion import DENSE
from suffice.simulate.moments.reduced import ReducedMaps

from .arrivals import arrivals
from .descent import Descent, Found, next_goal
from .search import SHARES, Rates, without_small
from .starts import start_directions

WORK = 4e10
"""Multiplications of all exact descents."""
LEAST, MOST = 4, 120
"""Rounds of exact descent."""
NUMBERS = 1.5e7
"""In the matrices of the clients that descend together."""
LENGTHS = np.array([0.5, 0.7, 0.85, 1.0, 1.2, 1.5])
"""Of the model's rates, at which the exact curve is followed first."""
SPANNED = np.array([0.6, 1.2])
"""Lengths at which subspaces are found on which large maps are followed."""
LEGS = 2
"""Descents, each on subspaces about the rates where the last one ended."""
LONGEST = 4096
"""Steps up to which the model's rates are polished."""
DROPPED = 0.03
"""Of the largest rate: smaller ones are left out of the model's rates."""
MODELLED, FINISHED = 20, 10
"""Rounds of descent on the model, which only tells where to start."""


def modelled_rates(
    model: GramModel, directions: np.ndarray, epsilon: np.ndarray, allowed: np.ndarray, horizon: int
) -> tuple[np.ndarray, np.ndarray]:
    """The model's fastest rates of its G clients, (G, N), and their times (G,), inf where it finds none.

    directions  (G, F, N), the first three of which race
    """
    V = (np.minimum(model.limits(directions), 1e300)[..., None] * SHARES)[..., None] * directions[:, :, None]
    G, F, S, N = V.shape
    times = model.times(V.reshape(G, -1, N), epsilon, horizon).reshape(G, F, S)
    lengths = np.argmin(times, axis=2)
    each = np.arange(G)[:, None], np.arange(F)[None], lengths
    V, times = V[each], times[each]  # (G, F, N), (G, F)
    first = np.argmin(times, axis=1)
    best = V[np.arange(G), first]
    soonest = times[np.arange(G), first]
    racing = np.flatnonzero(np.isfinite(soonest) & (soonest > 1) & (soonest <= LONGEST))
    if racing.size:
        starts = np.concatenate((best[racing, None], V[racing, : min(3, F)]), axis=1)
        mask = np.broadcast_to(allowed[racing, None], starts.shape)
        goal = {c: next_goal(soonest[c]) for c in racing.tolist()}
        descent = Descent(
            maps=model[racing], client=racing, epsilon=epsilon[racing], V=starts, allowed=mask, goal=goal,
            found={c: Found(time=float(soonest[c])) for c in racing.tolist()},
        )  # fmt: skip
        descent.run(MODELLED)
        for c, one in descent.found.items():
            if one.v is not None:
                best[c], soonest[c] = one.v, one.time
        best[racing] = _tidied(model[racing], racing, best[racing], soonest, epsilon[racing])
    return best, soonest


def _tidied(
    model: GramModel, racing: np.ndarray, v: np.ndarray, soonest: np.ndarray, epsilon: np.ndarray
) -> np.ndarray:
    """At the final time, without small rates."""
    large = without_small(v, DROPPED)
    goal = {c: int(np.ceil(soonest[c])) for c in racing.tolist()}
    finish = Descent(
        maps=model, client=racing, epsilon=epsilon, V=large[:, None], allowed=large[:, None] > 0, goal=goal, hunt=False
    )
    return finish.run(FINISHED)[:, 0]


def fastest_of_many(
    moments: GradientMoments, clients: np.ndarray, epsilon: np.ndarray, most: Sequence[int]
) -> list[Rates]:
    """The fastest rates found for several clients in the coordinates of `moments`, all peers being allowed.

    most  steps that are of interest, by client
    """
    N, n = moments.clients, moments.noise.shape[-1]
    found = [Rates(v=np.zeros(N), time=np.inf) for _ in clients]
    at_once = max(1, int(NUMBERS / (len(LENGTHS) * n**2)))
    # a round: noises and their adjoint, building M, and steps
    each = 4.0 * moments.noise.size + 20 * n**2
    rounds = int(np.clip(WORK / (each * len(clients)), LEAST, MOST))
    todo = [c for c in range(len(clients)) if most[c] > 0]
    maps = MomentMaps.sharing(moments, clients).in_single_precision()
    for first in range(0, len(todo), at_once):
        part = np.array(todo[first : first + at_once])
        limits = [most[c] for c in part]
        for c, one in zip(part, _part(moments, maps[part], clients[part], epsilon[part], limits, rounds)):
            found[c] = one
    return found


def _part(
    moments: GradientMoments, maps: MomentMaps, clients: np.ndarray, epsilon: np.ndarray, most: list[int], rounds: int
) -> list[Rates]:
    C, N = len(clients), moments.clients
    everybody = np.ones((C, N), dtype=bool)
    directions = np.stack([start_directions(moments.optimum, moments.A[i], i, everybody[0]) for i in clients.tolist()])
    model = GramModel.of(moments, clients)
    v, _ = modelled_rates(model, directions, epsilon, everybody, max(most))
    legs = LEGS if maps.start.shape[-1] > DENSE else 1
    found, going = [Rates(v=np.zeros(N), time=np.inf) for _ in clients], np.arange(C)
    for _ in range(legs):
        limits = [most[c] for c in going]
        there = _leg(maps[going], v[going], epsilon[going], limits, rounds, reduced=legs > 1)
        for c, one in zip(going.tolist(), there):
            if np.isfinite(one.time):
                found[c], v[c] = one, one.v
        going = going[[np.isfinite(one.time) for one in there]]  # the others find nothing by going on
        if not going.size:
            break
    return found


def _leg(
    maps: MomentMaps, v: np.ndarray, epsilon: np.ndarray, most: list[int], rounds: int, *, reduced: bool
) -> list[Rates]:
    """What descents find from rates v (C, N) at the best of their lengths, `reduced` on subspaces."""
    who, V = np.arange(len(v)), LENGTHS[:, None] * v[:, None]
    there, known = ReducedMaps.along(maps, v[:, None], SPANNED) if reduced else (maps, None)
    times, ahead = (one[:, 0] for one in arrivals(there, v[:, None], LENGTHS, epsilon, who, most, known))
    first = np.where(np.isfinite(times).any(1), np.argmin(times, axis=1), np.argmin(ahead, axis=1))
    start, soonest = V[who, first], times[who, first]
    goal = {c: int(np.ceil(soonest[c])) - 1 if np.isfinite(soonest[c]) else most[c] for c in who.tolist()}
    descent = Descent(
        maps=there, client=who, epsilon=epsilon, V=start[:, None], allowed=np.ones((len(v), 1, v.shape[1]), dtype=bool),
        goal=goal, found={c: Found(time=float(soonest[c]), v=start[c]) for c in who.tolist()},
    )  # fmt: skip
    descent.run(rounds)
    return _without_negligible(there, [descent.found[c] for c in who.tolist()], epsilon)


def _without_negligible(maps: MomentMaps | ReducedMaps, found: list[Found], epsilon: np.ndarray) -> list[Rates]:
    v = np.array([one.v for one in found])
    times = np.array([one.time for one in found])
    v[~np.isfinite(times)] = 0
    large = without_small(v)
    steps = np.where(np.isfinite(times), np.ceil(times), 0).astype(int)
    tried = np.flatnonzero((large > 0).sum(1) < (v > 0).sum(1))
    if tried.size:
        excess = maps[tried].trial(large[tried, None], int(steps[tried].max())).excess[:, 0]
        kept = tried[np.take_along_axis(excess, steps[tried, None], axis=1)[:, 0] <= epsilon[tried]]
        v[kept] = large[kept]
    return [Rates(v=one, time=float(time)) for one, time in zip(v, times)]
