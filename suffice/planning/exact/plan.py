"""The exact plan of one client: rates, the time they take, and where they end.

From second moments the rates are searched for. Clients with too many coefficients for these are followed by passes over
rows: their rates are those of a model, at a few lengths, and their times exact; floors would take many times as long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from suffice.simulate.moments.by_rows import GradientRows, RowRecursion
from suffice.simulate.moments.gradient_moments import GradientMoments
from suffice.simulate.moments.orbits import orbit
from suffice.simulate.moments.preconditioning import own_bases, shared_bases
from suffice.simulate.moments.recursion import ExactRecursion

from ..constant_plan import ConstantPlan
from .stages import in_stages
from .weights import HORIZON, POOLED, STEADY, Rates, fastest, fastest_alone, fastest_of_many, modelled, start_directions

WORK = 1e9
"""Multiplications of all clients' moments in one client's coordinates each, up to which every client has its own."""
SETTLED = 1e-3
"""A curve is taken to be at its floor once its distance is at most this share of the precision for half of a part."""
TOGETHER = 64
"""Clients whose noises are added up at a time where there are many."""
PILOTS = 4
"""Clients that try all coordinates by themselves where there are many; the others take what most of these choose."""
LENGTHS, HALVED = (1.0, 0.8), 0.5 ** np.arange(1, 5)
"""Multiples of the rates of a model that are tried, and fractions of the first where none of these arrives in time."""
BY_ROWS = "rates of a model with identity Hessians, their times exact by passes over rows; floor not looked for"
NEVER = "no constant weights and step tried arrive within {:,} iterations"


def exact_plans(
    moments: GradientMoments | GradientRows,
    epsilon: np.ndarray,
    *,
    precondition: bool = True,
    schedule: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> list[tuple[ConstantPlan, ConstantPlan]]:
    """The plans of every client, together with peers and alone, at precisions (N,) of its own [loss].

    precondition  let every client choose its coordinates, the same choice for both; else all take those of the problem
    schedule      look for three stages that are faster than constant rates, too; not by rows
    """
    from threadpoolctl import threadpool_limits

    N, excess = moments.clients, np.maximum(moments.excess, 0.0)
    plans = [ConstantPlan.begun(N, float(e), float(of)) for e, of in zip(epsilon, excess)]
    pairs, todo = [(plan, plan) for plan in plans], [i for i, plan in enumerate(plans) if not plan.note]
    with threadpool_limits(1):  # matrices are small: threads that wait for one another cost more than they bring
        if isinstance(moments, GradientRows):
            found = _pairs_by_rows(moments, todo, plans)
        else:
            found = _pairs(_Coordinates(moments, plans, precondition), todo, schedule)
        for i, pair in zip(todo, found):
            pairs[i] = pair
            if progress is not None:
                progress(i + 1, N)
    return pairs


class _Coordinates:
    """The coordinates that the clients may choose from to complete their `plans`."""

    def __init__(self, moments: GradientMoments, plans: Sequence[ConstantPlan], precondition: bool) -> None:
        self.moments, self.plans, self.precondition = moments, plans, precondition
        self.shared = shared_bases(moments) if precondition else {"none": np.eye(moments.features)}
        N, D, n = moments.noise.shape
        self.many = float(N) ** 2 * D * n * (D + n) > WORK
        self.suited: list[str] = []

    @cached_property
    def everybody(self) -> dict[str, GradientMoments]:
        """The moments in common coordinates; of many clients in those of a pooled second moment alone."""
        names = [POOLED] if self.many and self.precondition else list(self.shared)
        return {name: self.moments if name == "none" else self.moments.in_basis(self.shared[name]) for name in names}

    def joint(self, i: int) -> dict[str, ExactRecursion]:
        """The recursions of client i with all its peers, by the names of their coordinates."""
        bases = own_bases(self.moments, i) if self.precondition and not self.many else {}
        own, unit = {name: self.moments.in_basis(basis) for name, basis in bases.items()}, self.plans[i].epsilon
        everybody = self.everybody | own
        return {name: ExactRecursion(moments=there, client=i, unit=unit) for name, there in everybody.items()}

    def alone(self, i: int) -> tuple[dict[str, ExactRecursion], Rates]:
        """The recursions of client i by itself, in all coordinates turned to the eigenvectors of its own second moment,
        and its best rate; of many clients the first few try all, and the others the two that suit most of these."""
        only, unit = self.moments.only([i]), self.plans[i].epsilon
        bases = self.shared | (own_bases(only, 0) if self.precondition else {})
        if self.many and len(self.suited) >= PILOTS:
            bases = {name: bases[name] for name, _ in Counter(self.suited[:PILOTS]).most_common(2)}
        turned = {one: basis @ np.linalg.eigh(basis.T @ only.A[0] @ basis)[1] for one, basis in bases.items()}
        choices = {one: ExactRecursion(moments=only.in_basis(U), client=0, unit=unit) for one, U in turned.items()}
        found = fastest_alone(choices, HORIZON)
        self.suited.append(found.choice)
        return choices, found


def _pairs(given: _Coordinates, clients: Sequence[int], schedule: bool) -> Iterator[tuple[ConstantPlan, ConstantPlan]]:
    """The plans, with peers and alone, of clients that need a plan; they are made for `TOGETHER` clients at a time."""
    plans, everybody = given.plans, np.eye(len(given.plans))
    for part in (clients[first : first + TOGETHER] for first in range(0, len(clients), TOGETHER)):
        singles = [given.alone(i) for i in part]
        faster = [HORIZON if one.steps is None else one.steps - 1 for _, one in singles]
        joint = fastest_of_many([next(iter(given.joint(i).values())) for i in part], faster) if given.many else None
        for at, (i, (single, alone)) in enumerate(zip(part, singles)):
            choices, only = given.joint(i), everybody[[i]]
            own = _described(plans[i], single, alone, only)
            rates = joint[at] if joint else fastest(choices, faster[at], alone)
            together = _described(plans[i], choices, rates, everybody)
            # peers are followed only where this saves a step
            followed = (together.iterations or HORIZON) < (own.iterations or HORIZON + 1)
            if schedule and own.iterations:
                own = in_stages(own, single[own.preconditioner], only)
            if schedule and followed:
                together = in_stages(together, choices[together.preconditioner], everybody)
            yield together if followed else own, own


def _described(plan: ConstantPlan, choices: dict[str, ExactRecursion], rates: Rates, peers: np.ndarray) -> ConstantPlan:
    """choices  by the name of their coordinates; peers  (n, N), which of all clients the n rates are of"""
    if rates.steps is None:
        return plan.noted(NEVER.format(HORIZON))
    name, v, eta = rates.choice, rates.v, float(rates.v.sum())
    basis, merged, one = choices[name].moments.basis, rates.merged or choices[name].merged(v), np.array([0.0, 1.0])
    limit = merged.limit(one)
    if limit <= 1:  # a hair beyond it: the search knows limits to a few percent
        return _described(plan, choices, replace(rates, v=(1 - 1e-3) * limit * v, merged=None), peers)
    M = merged.matrix(one)
    Z = orbit(M, merged.start, rates.steps)
    if not (merged.loss @ Z <= 1).any():  # a search in single precision knows times to about one in a million
        time = merged.arrival(one, HORIZON)
        if not np.isfinite(time):
            return plan.noted(NEVER.format(HORIZON))
        Z = orbit(M, merged.start, int(np.ceil(time)))
    floor, steps = merged.floor(one, M), int(np.argmax(merged.loss @ Z <= 1))
    end = Z[:, steps]
    return replace(
        plan,
        note=rates.note,
        weights=v / eta @ peers,
        eta=eta,
        iterations=steps,
        excess=plan.epsilon * float(merged.loss @ end),
        step_limit=eta * limit,
        floor=plan.epsilon * floor,
        holds=floor <= 1 and _stays(M, end, merged.loss, floor, steps),
        preconditioner=name,
        matrix=None if name == "none" else basis @ basis.T,
        follow=merged.curve,
    )


def _stays(M: np.ndarray, z: np.ndarray, loss: np.ndarray, floor: float, steps: int) -> bool:
    """Whether E e_t <= epsilon from z = z_T on, followed until the curve is at its floor, or for 10 T + 1000 steps."""
    done, part = 0, max(steps, 16)
    while done < 10 * steps + 1000:
        Z = orbit(M, z, part)
        curve, z = loss @ Z[:, 1:], Z[:, -1]
        if (curve > 1).any():
            return False
        if np.abs(curve[len(curve) // 2 :] - floor).max() <= SETTLED:
            return True
        done, part = done + part, min(2 * part, 4096)
    return True


def _pairs_by_rows(
    rows: GradientRows, clients: Sequence[int], plans: Sequence[ConstantPlan]
) -> Iterator[tuple[ConstantPlan, ConstantPlan]]:
    """The same as `_pairs` for large models; no descent on the exact curve, which would take many times as long."""
    models, A = rows.models(), rows.A
    for i in clients:
        model, own = models[i].over(plans[i].epsilon), np.eye(len(plans))[i]
        single = modelled(model.only(i), np.ones((1, 1)))
        joint = modelled(model, start_directions(rows.optimum, A[i], i))
        likely = HORIZON if single.steps is None else min(HORIZON, 4 * single.steps + 10)
        alone = _by_rows(plans[i], rows, i, single.v * own, likely)
        together = _by_rows(plans[i], rows, i, joint.v, (alone.iterations or likely + 1) - 1)
        yield alone if together.iterations is None else together, alone


def _by_rows(plan: ConstantPlan, rows: GradientRows, i: int, v: np.ndarray, most: int) -> ConstantPlan:
    """The plan at the fastest of some lengths of v that are below the step limit."""
    along, best = RowRecursion(rows, i, v, unit=plan.epsilon), (np.inf, np.inf, 0.0)
    limit = along.limit()
    lengths = [c for c in LENGTHS if c < STEADY * limit] or [0.9 * limit]
    for c in (*lengths, *lengths[0] * HALVED):
        if most <= 0 or (c < min(lengths) and best[2]):
            break
        time, excess = along.first(c, most, rough=bool(best[2]))
        if best[2] and time < best[0]:
            time, excess = along.first(c, most)
        if time < best[0]:
            best, most = (time, excess, c), int(np.ceil(time))
    if not best[2]:
        return plan.noted(NEVER.format(most))
    time, excess, c = best
    return replace(
        plan,
        weights=v / v.sum(),
        eta=c * float(v.sum()) * (rows.scale or 1.0),
        iterations=int(np.ceil(time)),
        note=BY_ROWS,
        excess=plan.epsilon * excess,
        step_limit=limit * float(v.sum()) * (rows.scale or 1.0),
        preconditioner="none" if rows.scale else POOLED,
        matrix=None if rows.scale else rows.basis @ rows.basis.T,
        follow=partial(rows.curve, i, c * v, plan.epsilon),
    )
