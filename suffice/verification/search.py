"""Search for instances that violate a bound: ascent on measured/bound over a family's parameters.

An instance is a point u of the unit cube (`Family.at`). Random draws rarely come close to the edge of a theorem;
ascent does. Gradients are finite differences, evaluated as one batch together with several step lengths and with
moves of one parameter to an end of its interval: bounds break at corners, which a gradient alone may pass by. Where a
family says cheaply which instances the theorem covers, some starts are moved to the edge of what it covers.
An instance outside the hypotheses counts as ratio 0, so ascent stays within them.
"""

from __future__ import annotations

import numpy as np

from suffice.bounds import Theorem

from .evidence import CLEAR, Evidence
from .family import Family, Values
from .family_ends import pairs_of_ends

_DIFFERENCE = 1e-4
_LENGTHS = 4.0 ** -np.arange(1, 9)
_ENDS = 16
"""Parameters that one ascent tries at both ends; a family of more takes turns."""


_EDGES = 40
"""Starts that are moved to the edge of what the theorem covers."""
_HALVINGS = 12
_SPREAD = 8.0
"""beta/mu from which an instance counts as ill-conditioned."""


def search(
    theorem: Theorem, family: Family, *, draws: int, restarts: int, ascents: int, root: int, corners: int = 0
) -> Evidence:
    """Instances reached from `restarts` of `draws` random ones and `corners` by `ascents` improvements each.

    Half of the starts are the best draws, half are spread over the ranks: the best ones often share a ridge where a
    bound is nearly attained without being wrong. With `corners` twice as many more are the best at the
    longest T (a rate that is a little too good is seen late, and by then far from where bounds are attained), and the
    best ill-conditioned ones, at the longest T and at any. Of a family that has few instances all are returned.
    """
    if (whole := family.whole()) is not None:
        return family.evidence(whole)
    u = family.quantiles(draws, seed=root)
    if corners:
        u = np.concatenate((u, family.corners(corners, seed=root)))
        if family.arguments is not None:
            u = np.concatenate((u, pairs_of_ends(family, root)))
    u = np.concatenate((u, _edges(theorem, family, u)))
    scores, apart = _score_and_spread(theorem, family, u)
    ranked = np.argsort(-scores, kind="stable")
    half = (restarts + 1) // 2
    last = max(int((scores > 0).sum()), restarts) - 1
    chosen = np.concatenate((ranked[:half], ranked[np.linspace(half, last, restarts - half).astype(int)]))
    best, score = u[chosen], scores[chosen]
    choices = [(u, scores, apart, half)] if corners else []
    late = _at_last(family, u) if corners else u[:0]
    if len(late):
        late_scores, late_apart = _score_and_spread(theorem, family, late)
        choices += [(late, late_scores, ~late_apart, half), (late, late_scores, late_apart, 2 * half)]
    for points, found, some, count in choices:
        chosen = np.argsort(np.where(some, -found, 1.0), kind="stable")[:count]
        best, score = np.concatenate((best, points[chosen])), np.append(score, found[chosen])
    best, first, again = np.unique(best, axis=0, return_index=True, return_inverse=True)
    score, idle = score[first], np.zeros(len(best), dtype=int)
    for turn in range(ascents):
        going = idle * _ENDS < best.shape[1]  # what no move improves is where it was at the next turn
        if not going.any():
            break
        before = score[going]
        best[going], score[going] = _ascend(theorem, family, best[going], before, turn)
        idle[going] = np.where(score[going] > before, 0, idle[going] + 1)
    return family.evidence(family.at(best[again.ravel()]))


def _edges(theorem: Theorem, family: Family, u: np.ndarray) -> np.ndarray:
    """Covered points moved along one number, a scalar on a scale, until the theorem covers them only just."""
    if family.arguments is None:
        return u[:0]
    arguments, offset, scalars = family.arguments, 0, []
    for domain in family.domains.values():
        if domain.shape == () and not domain.integer:
            scalars.append(offset)
        offset += int(np.prod(domain.shape, dtype=int))

    def covered(points: np.ndarray) -> np.ndarray:
        if not len(points):
            return np.zeros(0, dtype=bool)
        found = arguments(family.at(points))
        return Evidence(engine="", measured=np.zeros(len(points)), arguments=found).counted(theorem)

    inside = u[covered(u)]
    inside = inside[np.unique(np.linspace(0, len(inside) - 1, min(_EDGES, len(inside))).astype(int))]
    moves = [(at, end) for at in scalars for end in (0.0, 1.0)]
    inside = np.repeat(inside, len(moves), axis=0)
    coordinate, end = (np.tile(column, len(inside) // max(len(moves), 1)) for column in zip(*moves or [(0, 0.0)]))
    rows, outside = np.arange(len(inside)), inside.copy()
    outside[rows, coordinate] = end[rows]
    leaves = ~covered(outside)
    low, high = inside[leaves], outside[leaves]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        good = covered(middle)[:, None]
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return low


def _at_last(family: Family, u: np.ndarray) -> np.ndarray:
    """The points with the longest T; none where the family has no T of its own."""
    offset = 0
    for name, domain in family.domains.items():
        if name == "T":
            late = u.copy()
            late[:, offset] = 1
            return np.unique(late, axis=0)
        offset += int(np.prod(domain.shape, dtype=int))
    return u[:0]


def _ascend(
    theorem: Theorem, family: Family, best: np.ndarray, score: np.ndarray, turn: int
) -> tuple[np.ndarray, np.ndarray]:
    """One step of every restart: along its own gradient at several lengths, or of one parameter to an end."""
    count, size = best.shape
    side = np.where(best < 0.5, 1.0, -1.0)  # stay inside the cube
    moved = best[:, None] + _DIFFERENCE * side[:, None] * np.eye(size)
    slope = (_scores(theorem, family, moved, best, score) - score[:, None]) * side
    slope = np.where((best <= 0) & (slope < 0) | (best >= 1) & (slope > 0), 0, slope)
    length = np.abs(slope).max(1, keepdims=True)
    direction = np.divide(slope, length, out=np.zeros_like(slope), where=length > 0)
    along = np.clip(best[:, None] + _LENGTHS[:, None] * direction[:, None], 0, 1)
    chosen = np.unique(np.arange(turn * _ENDS, (turn + 1) * _ENDS) % size)
    ends = np.repeat(best[:, None], 2 * len(chosen), axis=1)
    for at, coordinate in enumerate(chosen):
        ends[:, 2 * at, coordinate], ends[:, 2 * at + 1, coordinate] = 0, 1
    tried = np.concatenate((along, ends), axis=1)
    scores = _scores(theorem, family, tried, best, score)
    at = scores.argmax(1)
    better = scores[np.arange(count), at] > score
    best = np.where(better[:, None], tried[np.arange(count), at], best)
    return best, np.maximum(score, scores.max(1))


def _scores(theorem: Theorem, family: Family, tried: np.ndarray, best: np.ndarray, score: np.ndarray) -> np.ndarray:
    """measured/bound at points around each of the best ones, (count, tries), 0 outside the hypotheses.

    An end where a number is already, or a small move of an integer, is the instance that is known.
    """
    count, tries, size = tried.shape
    known, values = family.at(best), family.at(tried.reshape(-1, size))
    new = np.zeros(count * tries, dtype=bool)
    for name, value in values.items():
        new |= (value != np.repeat(known[name], tries, axis=0)).reshape(len(new), -1).any(1)
    scores = np.repeat(score, tries)
    if new.any():
        scores[new] = _score_and_spread(theorem, family, tried.reshape(-1, size)[new])[0]
    return scores.reshape(count, tries)


def _score_and_spread(theorem: Theorem, family: Family, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """measured/bound at every point, 0 outside the hypotheses, and whether mu is far below beta: where they are equal,
    most bounds are attained, and those that take one for the other are right."""
    evidence = family.evidence(family.at(u))
    ratio = np.where(evidence.counted(theorem), evidence.ratio(theorem), 0.0)
    mu, beta = (np.asarray(evidence.arguments.get(name, 1.0), dtype=float) for name in ("mu", "beta"))
    apart = np.any(np.broadcast_to(_SPREAD * mu <= beta, ratio.shape).reshape(len(u), -1), axis=1, keepdims=True)[:, 0]
    return np.nan_to_num(ratio, posinf=1e6).reshape(len(u), -1).max(1), apart


def shrink(theorem: Theorem, family: Family, values: Values, *, margin: float = CLEAR) -> Values:
    """A simpler instance that still violates `theorem`: whole numbers lowered, the rest rounded to few bits.

    `values` hold one instance (leading axis 1) with measured/bound above 1 + margin. Where the bound is a number there,
    it stays one.
    """
    undefined = not _violates(theorem, family, values, margin)
    if undefined and not _violates(theorem, family, values, margin, undefined=True):
        raise ValueError("the instance does not violate the theorem")
    for _ in range(2):  # what could not be simplified may be so once the rest is simple
        # a T beyond the family's comes first: until it is small each trial takes long
        for name, domain in sorted(
            family.domains.items(), key=lambda item: not (item[1].integer and (values[item[0]] > item[1].high).any())
        ):
            for candidate in domain.simpler(values[name]):
                trial = {**values, name: candidate}
                if _violates(theorem, family, trial, margin, undefined=undefined):
                    values = trial
                    break
    return values


def _violates(theorem: Theorem, family: Family, values: Values, margin: float, *, undefined: bool = False) -> bool:
    """By numbers, or because the bound is none."""
    evidence = family.evidence(values)
    with np.errstate(all="ignore"):
        ratio = np.where(evidence.counted(theorem), evidence.ratio(theorem), 0.0)
        nothing = np.isnan(evidence.bound(theorem))
    return bool((nothing & (ratio > 1 + margin) if undefined else ~nothing & (ratio > 1 + margin)).any())
