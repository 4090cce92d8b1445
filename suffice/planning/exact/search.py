"""The constant rates that bring one client's expected excess below a precision in the fewest steps.

The variables are the rates v_k = eta w_k >= 0 alone: sets of peers, weights and steps are supports, directions and
lengths of v. E e_T is not convex in v, so that two kinds of work follow one another:
1. starts: nested families of peers by the distance of their minimisers, equal weights or half of it the client's own,
   at several shares of the step limit, in all coordinates that a client may choose: the first to arrive counts;
2. race: in the most promising coordinates the best of them, equal weights, nine tenths its own, and the nearer half
   descend on E e_g, g below the best time, even if they never arrive by themselves (`descent`); what wins allows for
   another race, from lengths of the starts that are good for its shorter time;
3. polish: E e_T is minimised at the time T that was found, and descents go on from there as long as they save a step.
Whether one step is enough is asked before, of the minimum of E e_1, which is convex. What comes out is never slower
than any start, and a local optimum: no proof that nothing is faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from suffice.simulate.moments.batched import POWERS, MomentMaps
from suffice.simulate.moments.recursion import DENSE, ExactRecursion, share_of_step
from suffice.simulate.moments.reduced import ReducedMaps

from .arrivals import arrival, arrivals
from .descent import Descent, Found, next_goal, parts
from .single_rates import SINGLE_RATES, SingleRates
from .starts import one_step, start_directions, with_direction

STEADY = 0.999
"""Of the step limit: rates that are best beyond it go so far."""
HORIZON = 100_000
"""Steps after which a plan counts as never arriving, unless told otherwise."""
WORK = 3e8
"""Multiplications of one gradient up to which plans are polished."""
NUMBERS = 1e6
"""In the matrices that are stepped at a time."""
SHARES = np.array([0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])
"""Of the step limit, at which every start is tried."""
SMALLER = np.geomspace(1e-6, 0.015, 12)
"""Shares tried where none of the others arrives."""
MOVING = 0.02
"""Times the logarithm of what is to be gained over it: shares times steps below move nowhere."""
SPANNED = np.array([0.15, 0.6])
"""Of the step limit, at which subspaces are found on which single rates of large maps are searched."""
ROOM = 16
"""Times as many clients at once on subspaces."""
FINER = np.geomspace(0.6, 3, 14)
"""Times the lengths of the best start and of PROMISING more: tried too."""
PROMISING = 4
RACING = 3
"""Directions beside the best."""
LEGS = 5
"""Races at most, as long as the last one found something faster."""
FINALISTS = 2
"""Coordinates in which rates descend, those whose starts are fastest."""
NEGLIGIBLE = 0.02
"""Of the largest rate: a smaller one is dropped if this costs nothing."""
FINEST = 400
"""Of a time: goals of the last races are as much below."""
FINISH = 40
"""Rounds of descent at the final time."""


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Constant rates v (N,) [theta^2 / loss] and the time they take.

    time    steps until E e_t <= epsilon, to a fraction of a step; inf where it never is
    choice  which of the client's recursions (coordinates) they are for
    """

    v: np.ndarray
    time: float
    choice: int = 0

    @property
    def steps(self) -> int | None:
        return None if not np.isfinite(self.time) else int(np.ceil(self.time))


def fastest(
    choices: Sequence[Sequence[ExactRecursion]],
    epsilon: np.ndarray,
    allowed: np.ndarray,
    most: Sequence[int],
    single_rates: np.ndarray = SINGLE_RATES,
    *,
    single_precision: bool = False,
) -> list[Rates]:
    """The fastest constant rates found of C clients, in the best of their coordinates and below the step limit.

    choices  of each client, equally many: its recursion in each
    epsilon  (C,); allowed (C, N) peers
    most     steps that are of interest, by client
    single_rates      lengths tried first where N = 1
    single_precision  search in single precision, which knows times to about one in a million, and for single rates
                      only once about the best of `single_rates`
    """
    n, N = len(choices[0][0].loss), len(allowed[0])
    found = [Rates(v=np.zeros(N), time=0.0 if of[0].excess <= e else np.inf) for of, e in zip(choices, epsilon)]
    directions = {}
    for c in [c for c, one in enumerate(found) if one.time > 0 and most[c] > 0]:
        # one rate is searched finely anyway
        steps = [one_step(recursion, allowed[c]) if N > 1 else (np.zeros(1), np.inf) for recursion in choices[c]]
        at_once = _arrives_at_once(choices[c], steps, float(epsilon[c]))
        if at_once is not None:
            found[c] = at_once
            continue
        moments, i = choices[c][0].moments, choices[c][0].client
        families = start_directions(moments.optimum, moments.A[i], i, allowed[c])
        directions[c] = np.stack([with_direction(families, v) for v, _ in steps])
    todo = list(directions)
    kept = 3 * max((one.shape[1] for one in directions.values()), default=1) if N > 1 else 3
    room = NUMBERS * (ROOM if N == 1 and n > DENSE else 1)
    at_once = max(1, int(room / (len(choices[0]) * (kept + N) * n**2)))
    for first in range(0, len(todo), at_once):
        part = todo[first : first + at_once]
        descent = _Search(
            [choices[c] for c in part], epsilon[part], allowed[part], [most[c] for c in part],
            np.concatenate([directions[c] for c in part]), single_rates, single_precision=single_precision,
        )  # fmt: skip
        for c, one in zip(part, descent.run()):
            found[c] = one
    return found


def _arrives_at_once(
    recursions: Sequence[ExactRecursion], steps: Sequence[tuple[np.ndarray, float]], epsilon: float
) -> Rates | None:
    """Of the rates that are best for one step in each of the coordinates, the first for which one is enough."""
    for choice, (recursion, (v, excess)) in enumerate(zip(recursions, steps)):
        if excess <= epsilon:
            safe = min(1.0, STEADY * recursion.limit(v)) * v
            before, after = recursion.curve(safe, 1)
            if after <= epsilon:
                return Rates(v=safe, time=float(share_of_step(before, after, epsilon)), choice=choice)
    return None


def without_small(v: np.ndarray, share: float = NEGLIGIBLE) -> np.ndarray:
    """Rates (..., N) without those below a share of the largest, the others so much larger that their sum stays."""
    large = np.where(v < share * v.max(-1, keepdims=True), 0, v)
    return large * (v.sum(-1) / np.maximum(large.sum(-1), 1e-300))[..., None]


class Tried(NamedTuple):
    """Rates V (G, F, S, N), their times (G, F, S), inf where another of the client arrives before or none does, and the
    excess one step before the first of the client arrives."""

    V: np.ndarray
    times: np.ndarray
    ahead: np.ndarray

    def joined(self, more: Tried, groups: np.ndarray) -> Tried:
        """With more rates, which count in these groups (G,) bool alone."""
        V, *numbers = (np.concatenate(pair, axis=2) for pair in zip(self, more))
        new = np.arange(V.shape[2]) >= self.V.shape[2]
        return Tried(V, *(np.where(new & ~groups[:, None, None], np.inf, one) for one in numbers))


class _Search:
    """Several clients at once, each in several coordinates: a group is one client in one of them.

    each    coordinates of every client, whose groups follow one another; client (G,)  whose group it is
    search  the maps by which starts are tried, perhaps in single precision; `maps` tell what is found
    """

    def __init__(
        self,
        choices: list[Sequence[ExactRecursion]],
        epsilon: np.ndarray,
        allowed: np.ndarray,
        most: list[int],
        directions: np.ndarray,
        single_rates: np.ndarray,
        *,
        single_precision: bool,
    ) -> None:
        self.single_rates, self.single_precision = single_rates, single_precision
        self.choices, self.each = choices, len(choices[0])
        self.client = np.repeat(np.arange(len(choices)), self.each)
        self.epsilon, self.allowed, self.most = epsilon, allowed, most
        maps = MomentMaps.of([one for of in choices for one in of])
        self.maps = maps.in_single_precision() if single_precision else maps
        self.directions = directions
        # starts are searched in single precision; what was found is then timed in double
        several = directions.shape[-1] > 1
        self.search: MomentMaps | ReducedMaps = self.maps.in_single_precision() if several else self.maps

    def run(self) -> list[Rates]:
        one_peer = self.directions.shape[-1] == 1
        powers = POWERS * (1 + (one_peer and not self.single_precision))
        limits = np.minimum(self.maps.limits(self.directions, powers), 1e300)
        reduced = one_peer and self.maps.start.shape[-1] > DENSE
        V = limits[..., None] * self.directions
        if reduced:
            self.search, self.expansion = ReducedMaps.along(self.maps, V, SPANNED)
        else:
            self.expansion = self.search.expansion(V)
        tried = self._tried(limits, self.single_rates if one_peer else SHARES)
        lost = np.array(np.isinf(tried.times.reshape(len(self.choices), -1).min(1)))
        if lost.any() and (smaller := self._smaller(lost)).size:
            tried = tried.joined(self._tried(limits, smaller), lost[self.client])
        found = self._starts(tried)
        if not reduced and self.search is not self.maps and not all(map(self._timed, found, found.values())):
            self.search = self.maps
            return self.run()
        if one_peer:
            single = SingleRates(
                maps=self.search, expansion=self.expansion, limits=limits[:, 0], epsilon=self.epsilon,
                single_precision=self.single_precision and not reduced,
            )  # fmt: skip
            single.improve(found, tried.V[:, 0, :, 0], tried.times[:, 0], tried.ahead[:, 0])
            return [
                Rates(v=np.zeros(1) if one.v is None else one.v, time=one.time, choice=one.group - c * self.each)
                for c, one in found.items()
            ]
        self._refine(found, tried)
        self._descend(found, tried, limits)
        done = self._polished(found)
        return [done.get(c, Rates(v=np.zeros(self.directions.shape[-1]), time=np.inf)) for c in found]

    def _tried(self, limits: np.ndarray, shares: np.ndarray, most: list[int] | None = None) -> Tried:
        """Every direction at shares of its limit (G, F); for `most` steps by client those that race, and the last."""
        last = self.directions.shape[1] - 1
        some = list(range(last + 1) if most is None else (*range(min(RACING, last)), last))
        V = (limits[..., None] * self.directions)[:, some]
        M1, M2 = (M.reshape(*limits.shape, *M.shape[-2:])[:, some] for M in self.expansion)
        epsilon = self.epsilon[self.client]
        times, ahead = arrivals(self.search, V, shares, epsilon, self.client, most or self.most, (M1, M2))
        return Tried(shares[:, None] * V[:, :, None], times, ahead)

    def _smaller(self, lost: np.ndarray) -> np.ndarray:
        """Shares to be tried for clients (C,) who are lost, without those that hardly move within their time."""
        excess = (self.maps.start * self.maps.loss).sum(1)[:: self.each]
        gap = float(np.log(excess / self.epsilon)[lost].min())
        return SMALLER[SMALLER * max(np.array(self.most)[lost]) > MOVING * gap]

    def _starts(self, tried: Tried) -> dict[int, Found]:
        """The first rates of each client to arrive, in any of its groups."""
        found = {}
        for c in range(len(self.choices)):
            mine = np.where((self.client == c)[:, None, None], tried.times, np.inf)
            found[c] = Found(time=np.inf)
            for flat in np.argsort(mine, axis=None, kind="stable"):
                g, f, s = np.unravel_index(flat, mine.shape)
                if not np.isfinite(mine[g, f, s]):  # no time says which of the starts is good
                    break
                if self._steady(int(g), tried.V[g, f, s]):
                    found[c] = Found(time=float(mine[g, f, s]), group=int(g), v=tried.V[g, f, s])
                    break
        return found

    def _steady(self, group: int, v: np.ndarray) -> bool:
        """Whether rates are below the step limit; what a client alone tries is, but for a hair."""
        return len(v) == 1 or self.choices[self.client[group]][group % self.each].limit(v) > 1

    def _timed(self, c: int, one: Found) -> bool:
        """The time of a start in double precision; whether it arrives, as it does in single."""
        if one.v is None or not np.isfinite(one.time):
            return True
        maps, v, level, most = self.maps[[one.group]], one.v[None, None], self.epsilon[[c]], [self.most[c]]
        one.time = float(arrivals(maps, v, np.ones(1), level, np.zeros(1, dtype=int), most)[0][0, 0, 0])
        return bool(np.isfinite(one.time))

    def _refine(self, found: dict[int, Found], tried: Tried) -> None:
        """Finer lengths of the most promising directions: where the floor is close to the precision few will do."""
        some = [c for c, one in found.items() if np.isfinite(one.time) and one.time > 1]
        if not some:
            return
        ahead, rank = tried.ahead.min(-1), np.argmin(tried.ahead, axis=-1)  # (G, F)
        groups, V = [], []
        for c in some:
            one, mine = found[c], np.flatnonzero(self.client == c)
            order = np.argsort(ahead[mine], axis=None)[:PROMISING]
            at = [(mine[g], f) for g, f in zip(*np.unravel_index(order, ahead[mine].shape))]
            groups += [one.group, *(g for g, _ in at)]
            V += [one.v, *(tried.V[g, f, rank[g, f]] for g, f in at)]
        who = np.repeat(np.arange(len(some)), len(groups) // len(some))
        most = [int(np.ceil(found[c].time)) for c in some]
        rates = np.stack(V)[:, None]
        times = arrivals(self.maps[np.array(groups)], rates, FINER, self.epsilon[some][who], who, most)[0][:, 0]
        for j, k in np.argwhere(np.isfinite(times)):
            c, v = some[who[j]], FINER[k] * V[j]
            if times[j, k] < found[c].time and self._steady(int(groups[j]), v):
                found[c] = Found(time=float(times[j, k]), group=int(groups[j]), v=v)

    def _descend(self, found: dict[int, Found], tried: Tried, limits: np.ndarray) -> None:
        """Races for every client whose plan is short enough, until one brings nothing; improves `found`."""
        goal = {c: next_goal(one.time) if np.isfinite(one.time) else self.most[c] for c, one in found.items()}
        for leg in range(LEGS):
            if leg:
                tried = self._tried(limits, SHARES, [goal.get(c, 0) for c in found])
            times = {c: one.time for c, one in found.items()}
            self._race(found, tried, goal)
            goal = {c: next_goal(one.time) for c, one in found.items() if one.time < times[c]}
            if not any(goal.values()):
                return

    def _race(self, found: dict[int, Found], tried: Tried, goal: dict[int, int]) -> None:
        """In the finalists of every client that has a goal."""
        n = self.maps.start.shape[-1]
        kept = [c for c, steps in goal.items() if steps > 0 and 3.0 * steps * n**2 <= WORK]
        groups = []
        for c in kept:
            mine = np.flatnonzero(self.client == c)
            lead = [(tried.times[g].min(), tried.ahead[g].min()) for g in mine]
            first = [mine[j] for j in sorted(range(len(mine)), key=lambda j, lead=lead: lead[j])[:FINALISTS]]
            groups += first if found[c].v is None or found[c].group in first else [*first[:-1], found[c].group]
        starts = {g: self._racers(tried.V[g], tried.times[g], tried.ahead[g]) for g in groups}
        for g, racing in starts.items():
            best = found[int(self.client[g])]
            if best.group == g and best.v is not None:
                racing[0] = best.v
        self._hunt(found, starts, goal)

    def _hunt(self, found: dict[int, Found], starts: dict[int, np.ndarray], goal: dict[int, int]) -> None:
        """Descents from starts (K, N) by group, whose clients have goals; improves `found`."""
        n = self.maps.start.shape[-1]
        possible = [g for g in starts if 0 < 3.0 * goal[int(self.client[g])] * n**2 <= WORK]
        longest = sorted(possible, key=lambda g: goal[int(self.client[g])])
        for part in parts(longest, lambda g: 2 * 5 * n * (goal[int(self.client[g])] + n), NUMBERS):
            chosen = np.array(part)
            first = np.stack([starts[g] for g in part])
            descent = Descent(
                maps=self.maps[chosen], client=self.client[chosen], epsilon=self.epsilon[self.client[chosen]], V=first,
                allowed=np.broadcast_to(self.allowed[self.client[chosen]][:, None], first.shape), goal=goal,
                found={c: Found(time=one.time) for c, one in found.items()},
            )  # fmt: skip
            descent.run()
            for c, one in descent.found.items():
                if one.v is not None and one.time < found[c].time:
                    found[c] = Found(time=one.time, group=int(chosen[one.group]), v=one.v)

    @staticmethod
    def _racers(V: np.ndarray, times: np.ndarray, ahead: np.ndarray) -> np.ndarray:
        """The best start of all families, and the best lengths of the first three directions, (4, N); of one direction
        one. What is best for one step comes last, and is none of them: its lead says little of many steps."""
        families = max(1, len(V) - 1)
        score = np.where(np.isfinite(times), times, 1e9) + 1e-3 * ahead / max(float(ahead.min()), 1e-300)
        best = V[np.unravel_index(int(np.argmin(score[:families])), score.shape)]
        if len(V) == 1:
            return best[None]
        lengths = np.argmin(np.where(np.isfinite(ahead), ahead, np.inf), axis=1)
        rest = [V[f, lengths[f]] for f in range(min(RACING, families))]
        return np.stack([best, *rest, *[best] * (RACING - len(rest))])

    def _polished(self, found: dict[int, Found]) -> dict[int, Rates]:
        """Of those that arrived: minimised at the final time, and raced on from there as long as this saves a step."""
        done = going = self._finished(found)
        for _ in range(LEGS):
            going = {c: one for c, one in going.items() if np.isfinite(one.time)}
            before = {c: np.ceil(found[c].time) for c in going}
            for c, one in going.items():
                found[c] = Found(time=one.time, group=c * self.each + one.choice, v=one.v)
            goal = {c: next_goal(one.time, FINEST) for c, one in going.items()}
            self._hunt(found, {found[c].group: one.v[None] for c, one in going.items()}, goal)
            saved = [c for c, steps in before.items() if found[c].time <= steps - 1]
            if not saved:
                break
            going = self._finished({c: found[c] for c in saved})
            done |= {c: one for c, one in going.items() if one.time <= done[c].time}
        return done

    def _finished(self, found: dict[int, Found]) -> dict[int, Rates]:
        """Minimised at the final time, without rates that are trifles if that costs no step; of those that arrived."""
        n = self.maps.start.shape[-1]
        arrived = [c for c, one in found.items() if np.isfinite(one.time) and one.v is not None]
        goal = {c: int(np.ceil(found[c].time)) for c in arrived}
        short = [c for c in arrived if 3.0 * goal[c] * n**2 <= WORK]
        ends: dict[int, list[np.ndarray]] = {c: [] for c in arrived}
        for part in parts(sorted(short, key=lambda c: goal[c]), lambda c: 2 * 2 * n * (goal[c] + n), NUMBERS):
            v = np.array([found[c].v for c in part])
            V = np.stack((without_small(v), v), axis=1)
            chosen = np.array([found[c].group for c in part])
            finish = Descent(
                maps=self.maps[chosen], client=self.client[chosen], epsilon=self.epsilon[part], V=V, allowed=V > 0,
                goal=goal, hunt=False,
            )  # fmt: skip
            for c, end in zip(part, finish.run(FINISH)):
                ends[c] = list(end)
        return {c: self._surest(c, found[c], ends[c], goal[c]) for c in arrived}

    def _surest(self, c: int, one: Found, ends: list[np.ndarray], steps: int) -> Rates:
        """The first of the ends that is stable and as fast as what was found."""
        choice = one.group - c * self.each
        recursion = self.choices[c][choice]
        assert one.v is not None
        for v in (*ends, one.v):
            time = arrival(recursion, v, float(self.epsilon[c]), steps)
            if time <= steps and recursion.limit(v) > 1:
                return Rates(v=v, time=time, choice=choice)
        return Rates(v=np.zeros(len(one.v)), time=np.inf)
