"""Search for instances that violate a bound: ascent on measured/bound over a family's parameters.

An instance is a point u of the unit cube (`Family.at`). Random draws rarely come close to the edge of a theorem;
ascent does. Gradients are finite differences, evaluated as one batch together with several step lengths and with
moves of one parameter to an end of its interval: bounds break at corners, which a gradient alone may pass by.
An instance outside the hypotheses counts as ratio 0, so ascent stays within them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from suffice.bounds import Theorem

from .evidence import CLEAR, Evidence
from .family import Family, Values
from .generated_instances import on_boundaries

_DIFFERENCE = 1e-4
_LENGTHS = 4.0 ** -np.arange(1, 9)
_ENDS = 16
"""Parameters that one ascent tries at both ends; a family of more takes turns."""
_SPREAD = 8.0
"""beta/mu from which an instance counts as ill-conditioned."""


def search(
    theorem: Theorem, family: Family, *, draws: int, restarts: int, ascents: int, root: int, corners: int = 0
) -> Iterator[Evidence]:
    """`draws` random instances and `corners`, then those reached from `restarts` of them by `ascents` improvements
    each.

    Half of the starts are the best draws, half are spread over the ranks: the best ones often share a ridge where a
    bound is nearly attained without being wrong. With `corners` twice as many more are the best at the
    longest T (a rate that is a little too good is seen late, and by then far from where bounds are attained), and the
    best ill-conditioned ones, at the longest T and at any. Of a family that has few instances all are returned.
    """
    if (whole := family.whole()) is not None:
        yield family.evidence(whole)
        return
    u = family.quantiles(draws, seed=root)
    if corners:
        u = np.concatenate((u, family.corners(corners, seed=root)))
    if family.arguments is not None and theorem.condition_keywords:
        values = on_boundaries(theorem, family, seed=root)
        if len(next(iter(values.values()))):
            yield family.evidence(values)
    climb = _Climb(theorem, family)
    tried = climb.scored(u)
    yield climb.last
    best, half = [tried.rows(_starts(tried.score, restarts))], (restarts + 1) // 2
    if corners:
        best += [tried.best(half, tried.apart)]
    if corners and "T" in family.places:
        late = tried.u.copy()
        late[:, family.places["T"][1]] = 1
        last = climb.scored(np.unique(late, axis=0))
        best += [last.best(half, ~last.apart), last.best(2 * half, last.apart)]
    # anew: where paths are sampled, those that led here were lucky
    yield family.evidence(family.at(climb.ascended(_Points(*map(np.concatenate, zip(*best))), ascents).u))


class _Points(NamedTuple):
    """Points of the unit cube (m, k), measured/bound there (m,), and whether mu is far below beta: where both are equal
    most bounds are attained, and those that take one for the other are right."""

    u: np.ndarray
    score: np.ndarray
    apart: np.ndarray

    def rows(self, index: Any) -> _Points:
        return _Points(*(each[index] for each in self))

    def best(self, count: int, some: np.ndarray) -> _Points:
        """The `count` best points, first those where `some` is true."""
        return self.rows(np.argsort(np.where(some, -self.score, 1.0), kind="stable")[:count])


def _starts(scores: np.ndarray, restarts: int) -> np.ndarray:
    """The best half, and as many that are spread over the ranks."""
    ranked, half = np.argsort(-scores, kind="stable"), (restarts + 1) // 2
    last = max(int((scores > 0).sum()), restarts) - 1
    return np.concatenate((ranked[:half], ranked[np.linspace(half, last, restarts - half).astype(int)]))


class _Climb:
    """A search on one family; `last` is what it measured last."""

    last: Evidence

    def __init__(self, theorem: Theorem, family: Family) -> None:
        self.theorem, self.family = theorem, family

    def scored(self, u: np.ndarray, values: Values | None = None) -> _Points:
        """Points with measured/bound, 0 outside the hypotheses; `values` are theirs, where they are known."""
        self.last = self.family.evidence(self.family.at(u) if values is None else values)
        ratio = np.where(self.last.counted(self.theorem), self.last.ratio(self.theorem), 0.0)
        mu, beta = (np.asarray(self.last.arguments.get(name, 1.0), dtype=float) for name in ("mu", "beta"))
        apart = np.broadcast_to(_SPREAD * mu <= beta, self.last.measured.shape)
        return _Points(u, np.nan_to_num(ratio, posinf=1e6).reshape(len(u), -1).max(1), apart.reshape(len(u), -1).max(1))

    def ascended(self, points: _Points, ascents: int) -> _Points:
        """Climb `ascents` steps from the points; of equal points only one climbs."""
        _, first, again = np.unique(points.u, axis=0, return_index=True, return_inverse=True)
        best = points.rows(first)
        idle = np.zeros(len(first), dtype=int)
        for turn in range(ascents):
            going = np.flatnonzero(idle * _ENDS < best.u.shape[1])  # what no move improves is where it was next time
            if not len(going):
                break
            before = best.score[going]
            for each, step in zip(best, self._ascend(best.rows(going), turn)):
                each[going] = step
            idle[going] = np.where(best.score[going] > before, 0, idle[going] + 1)
        return best.rows(again.ravel())

    def _ascend(self, best: _Points, turn: int) -> tuple[np.ndarray, np.ndarray]:
        """One step of every point: along its own gradient at several lengths, or of one parameter to an end."""
        u, size = best.u, best.u.shape[1]
        side = np.where(u < 0.5, 1.0, -1.0)  # stay inside the cube
        slope = self._around(best, u[:, None] + _DIFFERENCE * side[:, None] * np.eye(size))
        slope = (slope - best.score[:, None]) * side
        slope = np.where((u <= 0) & (slope < 0) | (u >= 1) & (slope > 0), 0, slope)
        length = np.abs(slope).max(1, keepdims=True)
        direction = np.divide(slope, length, out=np.zeros_like(slope), where=length > 0)
        along = np.clip(u[:, None] + _LENGTHS[:, None] * direction[:, None], 0, 1)
        chosen = np.unique(np.arange(turn * _ENDS, (turn + 1) * _ENDS) % size)
        ends = np.repeat(u[:, None], 2 * len(chosen), axis=1)
        for at, coordinate in enumerate(chosen):
            ends[:, 2 * at, coordinate], ends[:, 2 * at + 1, coordinate] = 0, 1
        tried = np.concatenate((along, ends), axis=1)
        scores = self._around(best, tried)
        at = np.arange(len(u)), scores.argmax(1)
        better = scores[at] > best.score
        return np.where(better[:, None], tried[at], u), np.where(better, scores[at], best.score)

    def _around(self, best: _Points, tried: np.ndarray) -> np.ndarray:
        """Scores of points around each of the best ones, (count, tries).

        An end where a number is already, or a small move of an integer, is the instance that is known.
        """
        count, tries, size = tried.shape
        u = tried.reshape(-1, size)
        known, numbers = np.split(self.family.numbers(np.concatenate((best.u, u))), [count])
        new = (numbers.reshape(tried.shape) != known[:, None]).any(2).ravel()
        scores = np.repeat(best.score, tries)
        if new.any():
            scores[new] = self.scored(u[new], self.family.split(numbers[new])).score
        return scores.reshape(count, tries)


def shrink(theorem: Theorem, family: Family, values: Values, *, margin: float = CLEAR) -> Values:
    """A simpler instance that still violates `theorem`: whole numbers lowered, the rest rounded to few bits.

    `values` hold one instance (leading axis 1) with measured/bound above 1 + margin. Where the bound is a number there,
    it stays one.
    """

    def violates(values: Values, undefined: bool) -> bool:
        """Whether the values violate the theorem, by numbers or, if `undefined`, as the bound is no number there."""
        evidence = family.evidence(values)
        with np.errstate(all="ignore"):
            ratio = np.where(evidence.counted(theorem), evidence.ratio(theorem), 0.0)
            nothing = np.isnan(evidence.bound(theorem))
        return bool(((nothing == undefined) & (ratio > 1 + margin)).any())

    undefined = not violates(values, False)
    if undefined and not violates(values, True):
        raise ValueError("the instance does not violate the theorem")
    known: dict[bytes, bool] = {}  # what was tried comes again
    for _ in range(2):  # what could not be simplified may be so once the rest is simple
        # a T beyond the family's comes first: until it is small each trial takes long
        for name, domain in sorted(
            family.domains.items(), key=lambda item: not (item[1].integer and (values[item[0]] > item[1].high).any())
        ):
            for candidate in domain.simpler(values[name]):
                trial = {**values, name: candidate}
                key = b"".join(value.tobytes() for value in trial.values())
                if key not in known:
                    known[key] = violates(trial, undefined)
                if known[key]:
                    values = trial
                    break
    return values
