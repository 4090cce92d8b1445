"""The exact plan of one client: rates, the time they take, where they end, and what is certain about single paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from suffice.simulate.moments.gradient_moments import GradientMoments
from suffice.simulate.moments.orbits import orbit
from suffice.simulate.moments.preconditioning import own_bases, own_coordinates, shared_bases
from suffice.simulate.moments.recursion import DENSE, ExactRecursion
from suffice.simulate.moments.reduced import subspaces

from ..constant_plan import ConstantPlan
from .hitting_certificate import certified_rates
from .search import HORIZON, POOLED, Rates, fastest, fastest_of_many, fastest_single
from .stages import in_stages

WORK = 1e9
"""Multiplications of all clients' moments in one client's coordinates each, up to which every client has its own."""
ROUNDING = 1e-13
"""Of the starting excess: no smaller one can be told from rounding."""
SETTLED = 1e-3
"""Of the precision: a curve that stays so close to its floor for half of what is followed is taken to be there."""


CERTIFICATES = 5e8
"""Multiplications spent on bounds of E[tau], of all clients alone, and of all together."""
TOGETHER = 64
"""Clients whose noises are added up at a time where there are many."""
SAMPLED = 20
"""Clients of many whose plans with plain gradients are found."""
PILOTS = 4
"""Clients that try all coordinates by themselves where there are many; the others take what most of these choose."""


Choices = dict[str, ExactRecursion]
"""One client's recursions by the name of their coordinates."""


def exact_plans(
    moments: GradientMoments,
    epsilon: np.ndarray,
    *,
    precondition: bool = True,
    schedule: bool = False,
    horizon: int = HORIZON,
    progress: Callable[[int, int], None] | None = None,
) -> list[tuple[ConstantPlan, ConstantPlan]]:
    """Of every client together with peers and alone, at precisions (N,) of its own [loss].

    precondition  let every client choose its coordinates, the same choice for both; else all take those of the problem
    schedule      look for three stages that are faster than constant rates, too
    horizon       steps after which a plan counts as never arriving
    """
    from threadpoolctl import threadpool_limits

    N, excess = moments.clients, np.maximum(moments.excess, 0.0)
    plans = [start_of_plan(N, float(e), float(of)) for e, of in zip(epsilon, excess)]
    pairs, todo = [(plan, plan) for plan in plans], [i for i, plan in enumerate(plans) if not plan.note]
    with threadpool_limits(1):  # matrices are small: threads that wait for one another cost more than they bring
        given = _Coordinates(moments, precondition=precondition)
        for first in range(0, len(todo), TOGETHER):
            part = todo[first : first + TOGETHER]
            for i, pair in zip(part, _pairs(given, part, [plans[i] for i in part], horizon, schedule)):
                pairs[i] = pair
                if progress is not None:
                    progress(i + 1, N)
    return pairs


def plain_plans(
    moments: GradientMoments, alone: Sequence[ConstantPlan], *, horizon: int = HORIZON
) -> list[ConstantPlan | None]:
    """Of every client its plan alone with gradients as they are, beside the one that `exact_plans` found: what its
    matrix is worth. Where there are more than `SAMPLED`, so many have one, which is enough for a median, and the others
    None."""
    from threadpoolctl import threadpool_limits

    N = moments.clients
    some = range(N) if N <= SAMPLED else np.linspace(0, N - 1, SAMPLED).astype(int).tolist()
    plans = [plan if i in some else None for i, plan in enumerate(alone)]
    with threadpool_limits(1):
        given = _Coordinates(moments, precondition=False)
        for i in [i for i in some if alone[i].matrix is not None]:
            found = fastest_single(given.own(i), alone[i].epsilon, horizon)
            plan = start_of_plan(N, alone[i].epsilon, alone[i].start)
            if found.steps is not None:
                plan = replace(plan, weights=np.eye(N)[i], eta=float(found.v[0]), iterations=found.steps)
            plans[i] = plan
    return plans


class _Coordinates:
    """What the clients may choose from."""

    def __init__(self, moments: GradientMoments, *, precondition: bool) -> None:
        self.moments, self.precondition = moments, precondition
        self.shared = shared_bases(moments) if precondition else {"none": np.eye(moments.features)}
        self.many = _cost(moments) > WORK
        self.suited: list[str] = []

    @cached_property
    def everybody(self) -> dict[str, GradientMoments]:
        """The moments in common coordinates; of many clients in those of a pooled second moment alone."""
        names = [POOLED] if self.many and self.precondition else list(self.shared)
        return {name: _in_coordinates(self.moments, name, self.shared[name]) for name in names}

    def joint(self, i: int) -> Choices:
        """Of client i with all its peers."""
        own = own_coordinates(self.moments, i) if self.precondition and not self.many else {}
        return {name: ExactRecursion(moments=there, client=i) for name, there in (self.everybody | own).items()}

    def own(self, i: int) -> Choices:
        """Of client i by itself, in all coordinates, turned to the eigenvectors of its own second moment; of many, only
        the first few try all, and the others the two that suit most of these."""
        only = self.moments.only([i])
        bases = self.shared | (own_bases(only, 0) if self.precondition else {})
        if self.many and len(self.suited) >= PILOTS:
            bases = {name: bases[name] for name, _ in Counter(self.suited[:PILOTS]).most_common(2)}
        turned = {one: basis @ np.linalg.eigh(basis.T @ only.A[0] @ basis)[1] for one, basis in bases.items()}
        return {one: ExactRecursion(moments=only.in_basis(basis), client=0) for one, basis in turned.items()}


def _in_coordinates(moments: GradientMoments, name: str, basis: np.ndarray) -> GradientMoments:
    return moments if name == "none" else moments.in_basis(basis)


def _pairs(
    given: _Coordinates, clients: Sequence[int], plans: Sequence[ConstantPlan], horizon: int, schedule: bool
) -> Iterator[tuple[ConstantPlan, ConstantPlan]]:
    """Of clients that need a plan, which is to be completed."""
    epsilon, singles, alone = [plan.epsilon for plan in plans], [], []
    for i, e in zip(clients, epsilon):
        singles.append(given.own(i))
        alone.append(fastest_single(singles[-1], e, horizon))
        given.suited.append(alone[-1].choice)
    faster, joint = [horizon if one.steps is None else one.steps - 1 for one in alone], None
    if given.many:
        (there,) = given.everybody.values()
        joint = fastest_of_many(there, clients, epsilon, faster)
    for at, (i, plan, single) in enumerate(zip(clients, plans, singles)):
        choices, only, everybody = given.joint(i), np.eye(len(plan.weights))[[i]], np.eye(len(plan.weights))
        own = _described(plan, single, alone[at], horizon, only)
        rates, noise = joint[at] if joint else (fastest(choices, epsilon[at], faster[at], alone[at]), None)
        together = own if rates.steps is None else _described(plan, choices, rates, horizon, everybody, noise=noise)
        # peers are followed only where this saves a step
        followed = (together.iterations or horizon) < (own.iterations or horizon + 1)
        if schedule and own.iterations:
            own = in_stages(own, single[own.preconditioner], only)
        if not followed:
            yield own, own
        elif schedule:
            yield in_stages(together, choices[together.preconditioner], everybody), own
        else:
            yield together, own


def _cost(moments: GradientMoments) -> float:
    """Multiplications that all clients' moments in one client's coordinates take, for every client."""
    N, D, n = moments.noise.shape
    return float(N) ** 2 * D * n * (D + n)


def start_of_plan(clients: int, epsilon: float, start: float) -> ConstantPlan:
    """A plan to be made from an excess of `start`, or one that says why there is none to make."""
    plan = ConstantPlan(epsilon=epsilon, start=start, weights=np.zeros(clients))
    if start <= epsilon:
        note = "the start is already below this precision: 0 iterations, alone or together"
        return replace(
            plan,
            iterations=0,
            note=note,
            excess=start,
            floor=start,
            holds=True,
            hitting={"eta": 0.0, "expected_iterations": 0.0},
        )
    if epsilon < ROUNDING * start:
        return plan.noted(f"this precision is below rounding, {ROUNDING:g} of the starting excess {start:.3g}")
    return plan


def _described(
    plan: ConstantPlan,
    choices: Choices,
    rates: Rates,
    horizon: int,
    peers: np.ndarray,
    *,
    noise: np.ndarray | None = None,
) -> ConstantPlan:
    """peers  (n, N), which of all clients the n rates are of; noise  as `merged` takes it"""
    if rates.steps is None:
        return plan.noted(f"no constant weights and step tried arrive within {horizon:,} iterations")
    name = rates.choice
    recursion, v, steps, eta = choices[name], rates.v, rates.steps, float(rates.v.sum())
    basis, merged, one = recursion.moments.basis, recursion.merged(v, noise), np.array([0.0, 1.0])
    limit = merged.limit(one)
    if limit <= 1:  # a hair beyond it: the search knows limits to a few percent
        slower = (1 - 1e-3) * limit
        time = merged.arrival(slower * one, plan.epsilon, horizon)
        return _described(plan, choices, replace(rates, v=slower * v, time=time), horizon, peers)
    M, floor = merged.matrix(one), merged.floor(one, limit)
    # a search in single precision knows times to about one in a million
    path = orbit(M, merged.start, steps + 1 + steps // 50)[:, 1:]
    below = np.flatnonzero(merged.loss @ path <= plan.epsilon)
    if not below.size:
        time = merged.arrival(one, plan.epsilon, horizon)
        later = replace(rates, time=time if time > path.shape[1] else np.inf)
        return _described(plan, choices, later, horizon, peers, noise=noise)
    steps, end = int(below[0]) + 1, path[:, below[0]]
    certified = certified_rates(merged, one, plan.epsilon, steps, CERTIFICATES / len(plan.weights))
    return replace(
        plan,
        note=rates.note,
        weights=v / eta @ peers,
        eta=eta,
        iterations=steps,
        excess=float(merged.loss @ end),
        step_limit=eta * limit,
        floor=floor,
        holds=floor <= plan.epsilon and _stays(M, end, merged, plan.epsilon, floor, steps),
        hitting=None
        if certified is None
        else {"eta": eta * float(certified[1].sum()), "expected_iterations": certified[0]},
        preconditioner=name,
        matrix=None if name == "none" else basis @ basis.T,
        recursion=merged,
    )


def _stays(M: np.ndarray, z: np.ndarray, of: ExactRecursion, epsilon: float, floor: float, steps: int) -> bool:
    """From z = z_T on, followed until it has settled at its floor, or for ten times the plan and 1000 steps; a large
    map on a subspace, on which the next excess is exact."""
    loss = of.loss
    if len(z) > DENSE:
        W = subspaces(M[None], z, loss, of.features)
        M, z, loss = W.T @ M @ W, z @ W, loss @ W
    done, part = 0, max(steps, 16)
    while done < 10 * steps + 1000:
        Z = orbit(M, z, part)
        curve, z = loss @ Z[:, 1:], Z[:, -1]
        if (curve > epsilon).any():
            return False
        if np.abs(curve[len(curve) // 2 :] - floor).max() <= SETTLED * epsilon:
            return True
        done, part = done + part, min(2 * part, 4096)
    return True
