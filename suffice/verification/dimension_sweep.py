"""Every pair of clients and features up to 8 x 8: the worst instances of a few shapes, brought to all the others.

A few shapes are drawn from and searched. That a bound is false at N = 5 alone none of them shows. So the instances of
the largest measured/bound, one of each regime (noise or start, few iterations or many, one curvature or several, a
step far below the limit or near it), are rebuilt with N clients in R^d for every other pair, beside a few random ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, cast

import numpy as np

from suffice.bounds import Theorem
from suffice.simulate.moment_maps import origin
from suffice.simulate.problem import QuadraticProblem
from suffice.support.errors import InputError

from .assumptions import steps_once
from .evidence import Evidence
from .family import Family, Values
from .problem_measure import Measure, shape_of, shaped, squares, typical_setting

LARGEST = 8
PAIRS = tuple(sorted(((N, d) for N in range(1, LARGEST + 1) for d in range(1, LARGEST + 1)), key=lambda p: p[0] * p[1]))
"""All pairs (clients, features), the smallest problems first."""
_DRAWN = 4
"""Random instances of a pair."""
_NUMBERS = {"quick": 2e5, "full": 4e6}
"""Numbers that the steps of the instances of one pair may hold, about 0.1 microseconds each."""
_ALL = 60
"""The same for all pairs together, in multiples of the numbers for one pair."""
_FEWEST, _MOST = 4, 20
"""The fewest and the most instances that are brought to a pair, unless they are too expensive."""
_STEPS = 40
"""Iterations that are taken one by one on a pair, times outcomes of the coins."""
_PATHS = {"quick": (20, 6), "full": (200, 16)}
"""Where paths are sampled: the largest T, and the instances that are brought to a pair."""
_PROBED = 5
"""Iterations where each takes a step of its own."""
_CLIENTS = ("curvature", "minimiser", "turn")
_FEATURES = ("curvature", "minimiser", "direction")


@dataclass
class Sweep:
    """Brings the worst instances of `measured` to the other pairs of clients and features.

    `found` are the measures of the pairs that were tried, `left_out` the pairs that were too expensive, `spent` the
    numbers that the steps of the instances hold.
    """

    theorem: Theorem
    measured: Sequence[Measure]
    client: int
    effort: str
    found: list[Any] = field(default_factory=list)
    left_out: list[tuple[int, int]] = field(default_factory=list)
    spent: float = 0.0

    def evidence(self, known: Sequence[Evidence], root: int) -> Iterator[Evidence]:
        """The instances of each pair, after `known` those of the shapes tried."""
        worst = _worst(self.theorem, [piece for piece in known if piece.values])
        tried = [shape_of(each.problems) for each in self.measured]
        for turn, pair in enumerate(pair for pair in PAIRS if pair not in tried):
            measure, most = self._measure(pair)
            if measure is None:
                continue
            if most < 1:
                self.left_out.append(pair)
                continue
            # half of them the very worst, the others in turn from pair to pair
            family, first, rest = measure.family(self.theorem), worst[: (most + 1) // 2], worst[(most + 1) // 2 :]
            start = turn * (most // 2) % max(len(rest), 1)
            chosen = first + (rest[start:] + rest[:start])[: most // 2]
            parts = [embedded(each, family, pair, turn + at) for at, each in enumerate(chosen)]
            parts.append(family.draw(min(_DRAWN, most // 2), seed=root + turn))
            self.found.append(measure)
            yield family.evidence({name: np.concatenate([part[name] for part in parts]) for name in family.domains})

    def _measure(self, pair: tuple[int, int]) -> tuple[Measure | None, int]:
        """The measure of a pair, None where it lacks `client` or the algorithm is not for so many clients, and how many
        of its instances may be measured: 0 where that is too expensive."""
        first, numbers = self.measured[0], _NUMBERS[self.effort]
        given = self.theorem, first.algorithm, pair, first.delta
        if self.client >= pair[0]:
            return None, 0
        setting = typical_setting(shaped(*given))
        problem = cast(QuadraticProblem, setting.problem)
        try:
            steps_once(problem, first.algorithm, setting.eta)
        except InputError:
            return None, 0
        longest, most = _PATHS[self.effort]
        if not first.samples:
            squared, coins = squares(problem, first.algorithm, first.tested, first.forms)
            longest = 10_000 if squared else max(2 * _STEPS // coins, _PROBED) if first.periodic else _PROBED
            # one step is probed at unit states and, twice, at every client's draws: +-1 in each feature
            size = origin(problem, first.algorithm)[2].numel()
            probed = first.tested.cycle.length if first.periodic else _PROBED
            each = size * (size + 4 * pair[0] * pair[1]) * coins * probed
            most = min(_MOST, max(int(numbers / each), _FEWEST))
            most = most if each * most <= min(10 * numbers, _ALL * numbers - self.spent) else 0
            self.spent += each * most
        rest: dict[str, Any] = {"held": ()} if first.samples else {"scan": False, "late": 0}
        return replace(first, problems=shaped(*given, longest=longest), **rest), most


def _worst(theorem: Theorem, pieces: Sequence[Evidence]) -> list[Values]:
    """One instance of each regime, that of the largest ratio: those of larger ratios first."""
    best: dict[tuple[bool, ...], tuple[float, Values]] = {}
    for piece in pieces:
        ratio = np.where(piece.counted(theorem), piece.ratio(theorem), -np.inf)
        regimes = _regimes(piece)
        for at in np.argsort(-ratio, kind="stable"):
            score, key = float(ratio[at]), tuple(regimes[at].tolist())
            if score > -np.inf and score > best.get(key, (-np.inf,))[0]:
                best[key] = score, {name: value[at : at + 1] for name, value in piece.values.items()}
    return [values for _, values in sorted(best.values(), key=lambda each: -each[0])]


def _regimes(piece: Evidence) -> np.ndarray:
    given = {name: np.broadcast_to(value, piece.measured.shape) for name, value in piece.arguments.items()}
    noise, start = given["eta"] * given["sigma2"], given["e0"]
    parts = (
        noise == 0, start == 0, noise < start, given["T"] > 1, given["T"] > 20, 2 * given["mu"] < given["beta"],
        given["eta"] * given["beta"] > 0.5,
    )  # fmt: skip
    return np.stack(parts, axis=1)


def embedded(values: Values, family: Family, pair: tuple[int, int], turn: int) -> Values:
    """The instance of another shape, brought to the family's numbers of clients and features: of too many clients the
    last are left out, of too many features those in between; too few are repeated. In added features the start is the
    minimiser, and the curvatures are by turns those of the others, the steepest and the flattest."""
    found: Values = {}
    had = np.shape(values["direction"])[1]
    # both ends of a spectrum stay
    kept = np.arange(pair[1]) % had if pair[1] >= had else np.linspace(0, had - 1, pair[1]).round().astype(int)
    for name, domain in family.domains.items():
        if name not in values:  # what the larger family has besides, as clients that differ have minimisers
            found[name] = np.zeros((1, *domain.shape))
            continue
        value = np.asarray(values[name], dtype=float)
        if name in _CLIENTS and value.ndim > 1:
            value = value[:, np.arange(domain.shape[0]) % value.shape[1]]
        if name in _FEATURES:
            value = value[..., kept]
            if pair[1] > had and name == "direction":
                value[..., had:] = 0
            if pair[1] > had and name == "curvature" and turn % 3:
                ends = value.max(-1, keepdims=True) if turn % 3 == 1 else value.min(-1, keepdims=True)
                value = np.concatenate((value[..., :had], np.repeat(ends, pair[1] - had, -1)), -1)
        if name == "T":
            value = np.minimum(value, domain.high)
        found[name] = value
    return found


def in_words(pairs: Sequence[tuple[int, int]]) -> str:
    """`all pairs (N, d) up to 8 x 8`, or which: numbers of clients with the same numbers of features together."""
    if set(pairs) == set(PAIRS):
        return f"all pairs (N, d) up to {LARGEST} x {LARGEST}"
    alike: dict[tuple[int, ...], list[int]] = {}
    for N in sorted({N for N, _ in pairs}):
        alike.setdefault(tuple(sorted({d for n, d in pairs if n == N})), []).append(N)
    return " and ".join(f"N = {_listed(Ns)} with d = {_listed(ds)}" for ds, Ns in alike.items())


def _listed(numbers: Sequence[int]) -> str:
    """`1 to 3, 8`"""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda each: each[1] - each[0])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)
