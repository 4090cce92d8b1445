"""Instances put where a condition of a record holds with equality, their measured numbers beside the bound.

A condition that is multiplied by what can vanish reads 0 <= 0 there, and no comparison of formulas sees it: each
record meets the exact engines of its own claim instead. Instances are drawn at corners, sharp ones are added, and some
of their numbers are set to 0; then one number of each is moved until a condition turns, by bisection to neighbouring
floats. What describes no run is moved without measuring again: `FREE` numbers anywhere, `LOOSER` ones to where a
hypothesis says less.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from suffice.bounds import Theorem
from suffice.verification import Claim, Evidence, Family
from suffice.verification.claim import Effort
from suffice.verification.evidence import sides
from suffice.verification.instances.rows import plain
from suffice.verification.instances.rows import rows as rows_of

FREE = {"kept": (1e-9, 1e9), "tilt": (1.0, 1e9), "split": (0.0, 1.0)}
"""Numbers that a proof may choose, and the interval in which they are tried."""
LOOSER = {"beta": 1e3, "mu": 1e-3, "q": 1e-3, "Q": 1e3, "M": 1e3, "dissimilarity": 1e3, "least_weight": 1e-3}
"""Constants of the losses: times a number between 1 and this one they say less, and are as true."""
VANISHING = (
    *("T", "V", "apart", "b", "c", "e0", "far", "floor", "gap2", "M", "moment_gap", "noise", "push", "separation"),
    *("sigma2", "spread", "start", "tau2", "theta0", "together"),
)
"""Numbers of families that may be 0, whatever the interval from which a claim draws them."""
CLOSED = (
    *("any Lambda", "averaged", "common Hessian", "curvatures in dimension one", "equal rows", "flat losses"),
    *("one client", "one quadratic in R^2", "three clients", "three kinds of clients", "two clusters"),
)
HUGE = dict.fromkeys(CLOSED, 1e5) | {"any Lambda, growing noise": 1e3}
"""The T of some instances of families whose engine takes any T at the same cost, or many steps at little."""
SHARES = ("fill", "fraction", "ratio")
"""Shares of a condition's limit: doubled in some instances, which count only where the condition lets them."""
WIDER = {"rise": (5e-4, 3.0), "part": (0.05, 1.2), "u": (0.05, 12.0)}
"""Intervals of families that stop short of a condition's limit, where numbers are moved to it."""
EQUAL = 3e-12
"""Relative distance of two sides that are the same number: families keep 1e-12 back where a step is made of them."""
ROUNDING = 1e-15
"""What is measured where numbers of size 1 cancel."""
_SPEND = Effort(instances=8, restarts=1, ascents=1)
_ERRORS = (ArithmeticError, AssertionError, IndexError, ValueError, np.linalg.LinAlgError)

Values = dict[str, np.ndarray]


@dataclass
class Found:
    """How many instances met all conditions and one of them with equality, by its name; what exceeds the bound."""

    theorem: Theorem
    equal: dict[str, int] = field(default_factory=dict)
    counted: int = 0
    worst: float = 0.0
    at: dict[str, Any] = field(default_factory=dict)

    def add(self, evidence: Evidence) -> None:
        fine = ~np.isnan(evidence.measured)
        for parameter in self.theorem.parameters:
            fine = fine & np.isfinite(evidence.arguments[parameter.name])
        known = replace(evidence, measured=np.where(fine, evidence.measured, 0.0))
        counted = known.counted(self.theorem) & fine
        self.counted += int(counted.sum())
        for name, margin in _margins(self.theorem, known.arguments, fine.shape).items():
            self.equal[name] = self.equal.get(name, 0) + int((counted & (np.abs(margin) <= EQUAL)).sum())
        with np.errstate(all="ignore"):
            ratio = np.where(counted & (np.abs(known.measured) > ROUNDING), known.ratio(self.theorem), 0.0)
        if ratio.max(initial=0.0) > self.worst:
            row = int(ratio.argmax())
            self.worst = float(ratio[row])
            self.at = {p.name: float(np.broadcast_to(known.arguments[p.name], fine.shape)[row])
                       for p in self.theorem.parameters} | {"measured": float(known.measured[row])}  # fmt: skip

    def missing(self) -> list[str]:
        """The conditions that no instance has met with equality."""
        return [name for name in self.theorem.condition_names() if not self.equal.get(name)]


def _margins(theorem: Theorem, arguments: Values, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """(rhs - lhs)/max(|rhs|, |lhs|) of each condition, 0 where both are equal and -1 where that is no number."""
    found = {}
    for name, pair in sides(theorem, arguments).items():
        left, right = (np.broadcast_to(np.asarray(side, dtype=float), shape) for side in pair)
        with np.errstate(all="ignore"):
            margin = (right - left) / np.maximum(np.abs(left), np.abs(right))
        found[name] = np.where(left == right, 0.0, np.nan_to_num(margin, nan=-1.0))
    return found


def _held(theorem: Theorem, arguments: Values, shape: tuple[int, ...]) -> np.ndarray:
    """Which conditions hold (c, *shape)."""
    return np.stack([margin >= 0 for margin in _margins(theorem, arguments, shape).values()])


def at_limits(
    claim: Claim, *, rows: int, seed: int = 0, always: bool = False, tries: int = 1, unreached: Collection[str] = ()
) -> Found:
    """What `rows` instances of each family of the claim show at limits.

    Unless `always`, nothing is moved to a condition that has been met with equality anyway; where one has not and is
    not known as `unreached`, there are more instances, in at most `tries` turns.
    """
    found = Found(claim.theorem)
    for turn in range(tries):
        _explore(claim, found, rows << turn, np.random.default_rng((seed, turn)), always)
        if set(found.missing()) <= set(unreached):
            break
    return found


def _explore(claim: Claim, found: Found, rows: int, rng: np.random.Generator, always: bool) -> None:
    theorem = claim.theorem
    if claim.exact is not None and not any(family.sharp for family in claim.families):
        for piece in claim.exact(_SPEND, int(rng.integers(1 << 30))):
            _add(found, piece, rng)
    for family in claim.families:
        for drawn in _drawn(family, rows, rng, beyond="eta" in theorem.condition_keywords):
            for piece in _measured(family, drawn):
                _add(found, piece, rng)
            wanted = [name for name in theorem.condition_names() if always or not found.equal.get(name)]
            for values in _turning(theorem, family, drawn, rng, wanted):
                for piece in _measured(family, values):
                    _add(found, piece, rng)


def _add(found: Found, piece: Evidence, rng: np.random.Generator) -> None:
    if {p.name for p in found.theorem.parameters} <= set(piece.arguments):
        found.add(piece)
        for moved in _rearranged(found.theorem, piece, rng):
            found.add(moved)


def _measured(family: Family, values: Values) -> list[Evidence]:
    try:
        with np.errstate(all="ignore"):
            return [family.evidence(values)]
    except _ERRORS:
        return []


def _drawn(family: Family, rows: int, rng: np.random.Generator, *, beyond: bool) -> Iterator[Values]:
    """Corners and random instances, and sharp ones; none, some or half of their numbers are 0, where that measures."""
    seeds = rng.integers(1 << 30, size=2)
    u = [family.corners(rows // 2, seed=int(seeds[0])), family.quantiles(rows - rows // 2, seed=int(seeds[1]))]
    u += [np.full((1, u[0].shape[1]), end) for end in (0.0, 1.0)]
    simple = rows_of(plain(family.domains), {})
    batches = [{name: np.concatenate((value, simple[name])) for name, value in family.at(np.concatenate(u)).items()}]
    if family.sharp is not None:
        sharp = family.sharp()
        chosen = rng.integers(len(next(iter(sharp.values()))), size=rows)
        batches.append({name: value[chosen] for name, value in sharp.items()})
    for values in batches:
        rate = rng.choice([0.0, 0.15, 0.5], size=len(next(iter(values.values()))))
        made = {"T"} if "u" in values else set()  # sigma2 is made of T and the separation u: 0/0
        for name in [each for each in VANISHING if each in values and each not in made]:
            value = values[name]
            tried = _measured(family, {key: each[:4] for key, each in (values | {name: np.zeros_like(value)}).items()})
            if tried and not np.isnan(tried[0].measured).all():
                values[name] = np.where(_like(rng.uniform(size=len(rate)) < rate, value), 0.0, value)
        for name in [each for each in SHARES if each in values and beyond]:
            doubled = _like(rng.uniform(size=len(rate)) < 0.25, values[name])
            values[name] = np.where(doubled, 2.0, values[name])
        if "T" in values and family.name in HUGE:
            values["T"] = np.where(rng.uniform(size=len(rate)) < 0.125, HUGE[family.name], values["T"])
        yield values


def _turning(
    theorem: Theorem, family: Family, values: Values, rng: np.random.Generator, wanted: Collection[str]
) -> Iterator[Values]:
    """Both sides of where some condition turns as one number of each instance goes to an end of its interval or 0."""
    count = len(next(iter(values.values())))
    names = [name for name, domain in family.domains.items() if name in values and not domain.integer]
    ends = {name: values[name].copy() for name in values}
    if not names or not wanted:
        return
    for row in range(count):
        name = names[rng.integers(len(names))]
        low, high = WIDER.get(name, (family.domains[name].low, family.domains[name].high))
        entry = tuple(rng.integers(size) for size in values[name].shape[1:])
        ends[name][(row, *entry)] = [low, high, 0.0 if name in VANISHING else low][rng.integers(3)]
    first, last = (_signs(theorem, family, each) for each in (values, ends))
    if first is None or last is None:
        return
    turns = (first != last) & np.isin(list(theorem.condition_names()), list(wanted))[:, None]
    rows = np.flatnonzero(turns.any(0))
    if not len(rows):
        return
    which = (turns[:, rows] * rng.uniform(size=(len(turns), len(rows)))).argmax(0)
    one, two = ({name: value[rows] for name, value in each.items()} for each in (values, ends))
    yield from _bisected(lambda at: _signs(theorem, family, at), one, two, which, first[which, rows])


def _bisected(
    signs: Callable[[Values], np.ndarray | None], one: Values, two: Values, which: np.ndarray, sign: np.ndarray
) -> tuple[Values, ...]:
    """Neighbours between `one`, where condition `which` of each row has this `sign`, and `two`, where it has not."""
    for _ in range(70):
        middle = {name: _between(one[name], two[name]) for name in one}
        if all(((middle[name] == one[name]) | (middle[name] == two[name])).all() for name in one):
            break
        found = signs(middle)
        if found is None:
            return ()
        same = found[which, np.arange(len(which))] == sign
        one = {name: np.where(_like(same, value), middle[name], value) for name, value in one.items()}
        two = {name: np.where(_like(same, value), value, middle[name]) for name, value in two.items()}
    return one, two


def _like(mask: np.ndarray, value: np.ndarray) -> np.ndarray:
    return mask.reshape(-1, *[1] * (value.ndim - 1))


def _between(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The middle, on a scale that suits both; what is alike stays."""
    with np.errstate(all="ignore"):
        far = (x > 0) & (y > 0) & ((x > 2 * y) | (y > 2 * x))
        return np.where(x == y, x, np.where(far, np.sqrt(x) * np.sqrt(y), (x + y) / 2))


def _signs(theorem: Theorem, family: Family, values: Values) -> np.ndarray | None:
    """Which conditions (c, n) hold; None where the family cannot be asked."""
    for piece in _measured(family, values):
        count = len(next(iter(values.values())))
        if not set(theorem.condition_keywords) <= set(piece.arguments):
            return None
        held = _held(theorem, piece.arguments, piece.measured.shape)
        return held.reshape(len(held), count, -1)[..., 0]
    return None


def _rearranged(theorem: Theorem, piece: Evidence, rng: np.random.Generator) -> Iterator[Evidence]:
    """The same measurements with other free numbers, and with looser constants where the step is an argument."""
    known = {p.name for p in theorem.parameters}
    shape = piece.measured.shape
    if "eta" not in known:  # the step is made of the constants: other ones are another run
        return
    free, looser = ([name for name in names if name in known] for names in (FREE, LOOSER))
    if "two-stage" in theorem.key:  # its runs take steps made of mu and beta: looser ones would be of other runs
        looser = [name for name in looser if name not in ("mu", "beta")]
    for name in free:
        start = dict(piece.arguments)
        for other in free:  # the others anywhere, their ends included
            low, high = FREE[other]
            share = rng.uniform(size=shape)
            drawn = low + (high - low) * share if high <= 1 else max(low, 1e-2) * 10 ** (4 * share)
            start[other] = np.where(rng.uniform(size=shape) < 0.3, low, drawn)
        low, high = FREE[name]
        grid = np.linspace(low, high, 33) if high <= 1 else low * (high / low) ** np.linspace(0, 1, 65)
        yield from _solved(
            theorem, replace(piece, arguments=start), name, np.broadcast_to(grid[:, None], (len(grid), *shape))
        )
    for name in looser:
        factor = np.append(1.0, LOOSER[name] ** np.linspace(0, 1, 9)[1:])
        own = np.broadcast_to(piece.arguments[name], shape)
        yield from _solved(theorem, piece, name, factor[:, None] * own)


def _solved(theorem: Theorem, piece: Evidence, name: str, grid: np.ndarray) -> Iterator[Evidence]:
    """Both sides of every turn of every condition as the argument `name` runs through the `grid` (m, n)."""
    if name not in theorem.condition_keywords:
        return

    def holds(at: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Which conditions hold with a number at each of these rows."""
        known = {key: piece.arguments[key] for key in theorem.condition_keywords if key != name}
        given = {key: np.broadcast_to(value, grid.shape[1:])[at] for key, value in known.items()}
        return _held(theorem, given | {name: values}, (len(at),))

    rows = np.broadcast_to(np.arange(grid.shape[1]), grid.shape)
    fits = np.moveaxis(holds(rows.ravel(), grid.ravel()).reshape(-1, *grid.shape), 1, 0)  # (m, c, n)
    step, condition, row = np.nonzero(fits[:-1] != fits[1:])
    if not len(step):
        return
    ends = ({name: grid[at, row]} for at in (step, step + 1))
    wide = {key: np.broadcast_to(value, piece.measured.shape)[row] for key, value in piece.arguments.items()}
    hypothesis = np.broadcast_to(piece.hypothesis, piece.measured.shape)[row]
    rounding = np.broadcast_to(piece.rounding, piece.measured.shape)[row]
    for values in _bisected(lambda at: holds(row, at[name]), *ends, condition, fits[step, condition, row]):
        yield replace(piece, measured=piece.measured[row], arguments=wide | values, hypothesis=hypothesis,
                      rounding=rounding, values={})  # fmt: skip
