"""The constant rates that bring one client's expected excess below a precision in the fewest steps.

The variables are the rates v_k = eta w_k >= 0 alone: sets of peers, weights and steps are supports, directions and
lengths of v. E e_T is not convex in v, so that three kinds of work follow one another:
1. starts: nested families of peers by the distance of their minimisers, equal weights or half of it the client's own,
   at several shares of the step limit;
2. polish: minimise E e_{T'} for smaller and smaller T', warm-started, with the exact gradient (bisection over T');
3. race: every other kind of start is optimised at T - 1, even if it never arrives by itself, and polished if it does.
What comes out is never slower than any start, and a local optimum: no proof that nothing is faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .exact_recursion import ExactRecursion

HORIZON = 100_000
"""Steps after which a plan counts as never arriving, unless told otherwise."""
WORK = 2e9
"""Multiplications of one gradient up to which plans are polished."""
SHARES = (0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""Of the step limit, at which every start is tried."""
SMALLEST = 1e-6
"""Share below which no smaller steps are tried."""
SAFE = 0.999
"""Share of the step limit that no plan exceeds."""
TRIFLE = 0.02
"""Of the largest rate: a smaller one is dropped if this costs nothing."""


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Constant rates v (N,) [theta^2 / loss] and the time they take.

    time  steps until E e_t <= epsilon, to a fraction of a step; inf where it never is
    """

    v: np.ndarray
    time: float

    @property
    def steps(self) -> int | None:
        return None if not np.isfinite(self.time) else int(np.ceil(self.time))


def best_rates(
    recursion: ExactRecursion,
    epsilon: float,
    *,
    allowed: np.ndarray | None = None,
    horizon: int = HORIZON,
    others: tuple[Rates, ...] = (),
) -> Rates:
    """The fastest constant rates found with peers `allowed` (N,) bool, none of which exceeds the step limit.

    others  plans that are known already: the result is never slower than they
    """
    search = Search(recursion, epsilon, allowed, horizon)
    return search.finished(search.started(*others))


class Search:
    """One client at one precision."""

    def __init__(
        self, recursion: ExactRecursion, epsilon: float, allowed: np.ndarray | None = None, horizon: int = HORIZON
    ) -> None:
        n = recursion.moments.clients
        self.recursion, self.epsilon, self.horizon = recursion, epsilon, horizon
        self.allowed = np.ones(n, dtype=bool) if allowed is None else allowed
        self.own = np.eye(n)[recursion.client]
        self.order = self._nearest()

    def started(self, *others: Rates | None) -> Rates:
        """The best of the nested families and `others`, and not yet polished."""
        best = Rates(v=np.zeros(len(self.own)), time=0.0 if self.recursion.excess <= self.epsilon else np.inf)
        if best.time == 0:
            return best
        for one in others:
            best = best if one is None or best.time <= one.time else one
        for direction in self._families():
            best = self._along(direction, best)
        return best

    def finished(self, best: Rates) -> Rates:
        """Polished, raced and tidied."""
        if best.time == 0:
            return best
        best = self.polish(best)
        for direction in self._race():
            best = self._challenge(direction, best)
        return self._tidy(best)

    # Families, steps

    def _nearest(self) -> np.ndarray:
        """Allowed peers, those with the nearest minimisers in this client's metric first; the client itself leads."""
        moments, i = self.recursion.moments, self.recursion.client
        gap = moments.optimum - moments.optimum[i]
        distance = np.einsum("kd,de,ke->k", gap, moments.A[i], gap)
        distance[i] = -1
        order = np.argsort(distance, kind="stable")
        return order[self.allowed[order]]

    def _sizes(self) -> list[int]:
        """By factors of about 1.4, and all."""
        n = len(self.order)
        sizes = {round(2 ** (k / 2)) for k in range(40)}
        return sorted({size for size in sizes if size < n} | {n})

    def _families(self) -> Iterator[np.ndarray]:
        for size in self._sizes():
            equal = np.zeros(len(self.own))
            equal[self.order[:size]] = 1 / size
            yield equal
            if size > 2 and self.allowed[self.recursion.client]:
                yield self.own / 2 + equal / 2

    def _race(self) -> Iterator[np.ndarray]:
        n = len(self.order)
        if n == 1:
            return
        equal, near = np.zeros(len(self.own)), np.zeros(len(self.own))
        equal[self.order] = 1 / n
        near[self.order[: -(-n // 2)]] = 1 / -(-n // 2)
        yield equal
        if self.allowed[self.recursion.client]:
            yield 0.9 * self.own + 0.1 * equal
        yield near

    def _time(self, v: np.ndarray, best: Rates) -> float:
        """Of v, looked for up to the best known time only."""
        most = self.horizon if best.steps is None else best.steps
        return self.recursion.first(v, self.epsilon, most)

    def _along(self, direction: np.ndarray, best: Rates) -> Rates:
        """The best of several steps along a direction, golden section in the best bracket where it is the best yet."""
        limit = self.recursion.limit(direction)
        shares = SHARES
        times = [self._time(share * limit * direction, best) for share in shares]
        while best.steps is None and min(times) == np.inf and shares[0] > SMALLEST:
            if self.recursion.bias(direction) >= self.epsilon:
                return best
            # the floor of small steps is proportional to them: what is above it at these may be below at smaller ones
            shares = (shares[0] / 8, shares[0] / 4, shares[0] / 2)
            times = [self._time(share * limit * direction, best) for share in shares]
        at = int(np.argmin(times))
        if not times[at] < best.time:
            return best
        best = Rates(v=shares[at] * limit * direction, time=times[at])
        low, high = shares[max(at - 1, 0)] / (2 if at == 0 else 1), (*shares, min(2 * shares[-1], SAFE))[at + 1]
        for _ in range(6):
            inner = low + (high - low) * np.array([0.382, 0.618])
            found = [self._time(share * limit * direction, best) for share in inner]
            if min(found) < best.time:
                best = Rates(v=inner[int(np.argmin(found))] * limit * direction, time=min(found))
            low, high = (low, inner[1]) if found[0] <= found[1] else (inner[0], high)
        return best

    # Descent

    def polish(self, best: Rates) -> Rates:
        """Bisect the time: each try minimises E e_{T'} from where the last one ended."""
        if best.steps is None or self._costs(best.steps) > WORK:
            return best
        low, high, warm = 0, best.steps, best.v
        while high - low > 1:
            goal = (low + high) // 2
            found = self._least(warm, goal)
            time = self._stable_time(found, best)
            if time <= goal:
                best, warm = Rates(v=found, time=time), found
                high = int(np.ceil(time))
            else:
                low = goal
                warm = min((found, best.v), key=lambda v, t=(low + high) // 2: self._value(v, t))
        found = self._least(best.v, high, stop=False)
        time = self._stable_time(found, best)
        return Rates(v=found, time=time) if time < best.time else best

    def _challenge(self, direction: np.ndarray, best: Rates) -> Rates:
        """Optimise another start at one step less than the best."""
        if best.steps is None or best.steps <= 1 or self._costs(best.steps) > WORK:
            return best
        goal = best.steps - 1
        limit = self.recursion.limit(direction)
        tried = [share * limit * direction for share in SHARES]
        found = self._least(min(tried, key=lambda v: self._value(v, goal)), goal)
        time = self._stable_time(found, best)
        return self.polish(Rates(v=found, time=time)) if time <= goal else best

    def _tidy(self, best: Rates) -> Rates:
        """Without rates that are trifles, if this costs no step."""
        small = (best.v > 0) & (best.v < TRIFLE * best.v.max())
        if best.steps is None or not small.any():
            return best
        v = np.where(small, 0, best.v) * (best.v.sum() / best.v[~small].sum())
        if self._costs(best.steps) <= WORK:
            v = self._least(v, best.steps, stop=False)
        time = self._stable_time(v, best)
        return Rates(v=v, time=time) if time <= best.steps else best

    def _costs(self, steps: int) -> float:
        return 3.0 * steps * len(self.recursion.loss) ** 2

    def _value(self, v: np.ndarray, steps: int) -> float:
        value = self.recursion.curve(v, steps)[-1]
        return value if np.isfinite(value) else np.inf

    def _stable_time(self, v: np.ndarray, best: Rates) -> float:
        """inf beyond the step limit, where the excess would explode after having arrived."""
        time = self._time(v, best)
        return time if np.isfinite(time) and self.recursion.limit(v) > 1 / SAFE else np.inf

    def _least(self, v: np.ndarray, steps: int, *, stop: bool = True) -> np.ndarray:
        """Minimise ln E e_steps over rates >= 0 on the support of the allowed, from v; with `stop` until <= epsilon."""
        from scipy.optimize import minimize

        free = self.allowed & (v > 0) if not stop else self.allowed
        scale = v.sum()
        found: list[np.ndarray] = []

        def value(x: np.ndarray) -> tuple[float, np.ndarray]:
            rates = np.zeros(len(v))
            rates[free] = np.maximum(x, 0) * scale
            with np.errstate(over="ignore", invalid="ignore"):
                e, gradient = self.recursion.value_and_gradient(rates, steps)
            if not (np.isfinite(e) and np.isfinite(gradient).all()):
                return 1e3, np.zeros(len(x))
            if stop and e <= self.epsilon:
                found.append(rates)
                raise StopIteration
            e = max(e, 1e-300)
            return float(np.log(e)), gradient[free] * (scale / e)

        try:
            result = minimize(
                value,
                v[free] / scale,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0, None)] * int(free.sum()),
                options={"maxiter": 200 if stop else 30},
            )
        except StopIteration:
            return found[0]
        rates = np.zeros(len(v))
        rates[free] = np.maximum(result.x, 0) * scale
        return rates
