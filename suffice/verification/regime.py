"""The regime in which the sharpness of every record is compared: where learners use bounds.

Most bounds are attained somewhere, often where little happens: at mu = beta, without noise, at T = 0. In the regime
kappa = 100, noise dominates the bound, and the path has come far and forgotten its start. Which parts of it concern a
record is read from its parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from suffice.bounds import Theorem
from suffice.support.tables import ratio_text

from .evidence import CLEAR, Evidence, sides

KAPPA, NEAR = 100.0, 1.1
"""kappa is within this factor of 100: curvatures that a family draws one by one do not meet a number exactly."""
REST = 0.2
"""The largest part of the bound that stays without noise."""
USED = 0.5
"""The least part of the limit of a given step that noise takes up, in a bound of a number of steps."""
FORGOTTEN = 5e-3
"""The largest part by which the bound grows when start and bias are doubled, unless as little stays without noise."""
AHEAD = 10.0
"""The least ratio of the start to the bound, and to the precision."""
TELLING = 0.5
"""The largest bound of a probability: near 1 it is attained by saying nothing."""
STEP = 0.2
"""The largest step in units of 1/beta: noise is what steps are lowered for."""
LONG, LONGEST = 1000, 30000
"""The least number of iterations in the regime, and the largest."""
FACTOR = 2.0
"""C of the decreasing steps C/(mu (t + gamma))."""

NOISE = (
    "sigma2", "s2", "V", "V_max", "noise", "noise2", "noise_max", "noise_mean", "label_variance", "peer_sigma2",
    "sigma2_star", "continuous_variance",
)  # fmt: skip
STARTS = ("e0", "distance2", "mean_distance2", "Psi0", "V0")
BIASES = ("bias", "bias2", "peer_excess", "b_max", "dissimilarity", "spread")
PRECISIONS = ("eps", "G", "eps_Psi", "eps_mu")
ALONE = ("N", "size", "near")
_SILENT, _FAR = 1e-9, 300.0


@dataclass(frozen=True, kw_only=True)
class Sharpness:
    """The simple cases in which alone a record's worst ratio is reached (`attained`, see `where_attained`), and the
    largest measured/bound in the regime, None where no instance was found there.

    `parts` are the parts of the regime that the record's parameters have, `lacks` says which it does not have (both are
    empty where nothing was searched), and `at` are the arguments where the ratio is reached.
    """

    attained: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    ratio: float | None = None
    at: Mapping[str, float] | None = None

    def to_dict(self) -> dict[str, Any] | None:
        """The entry `regime` of a kept verdict, six digits; None where nothing was searched."""
        if not self.parts and not self.lacks:
            return None
        at = None if self.at is None else {name: float(f"{value:.6g}") for name, value in self.at.items()}
        ratio = None if self.ratio is None else float(ratio_text(self.ratio, 6))
        return {"parts": list(self.parts), "lacks": list(self.lacks), "ratio": ratio, "at": at}


def outside(theorem: Theorem, found: Evidence) -> np.ndarray:
    """The distance of each instance from the regime, (n,): the sum of the logarithms of what it misses; 0 inside."""
    bound = np.abs(found.bound(theorem))
    with np.errstate(all="ignore"):
        there = [part for part in RegimeParts(theorem).parts() if part.there]
        missed = [np.log(value / limit) for part in there for value, limit in part.far(found, bound)]
        far = sum([np.maximum(each, 0) for each in missed], start=np.zeros(found.measured.shape))
    return np.minimum(np.nan_to_num(far, nan=_FAR, posinf=_FAR), _FAR)


def parts_of(theorem: Theorem) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parts of the regime that concern a record, and those that do not."""
    parts = RegimeParts(theorem).parts()
    there = tuple(each.words for each in parts if each.there)
    return there, tuple(each.lack for each in parts if each.lack and not each.there)


class Part(NamedTuple):
    """A part of the regime in words, what a record lacks if the part does not concern it ("" where that goes without
    saying), whether it does, and pairs (value, limit) from evidence and bounds: inside no value is above its limit."""

    words: str
    lack: str
    there: bool
    far: Callable[[Evidence, np.ndarray], Iterable[tuple[Any, Any]]]


class RegimeParts:
    """The parts of the regime that a record has parameters for."""

    def __init__(self, theorem: Theorem) -> None:
        def first(names: tuple[str, ...]) -> str:
            return next((name for name in names if name in theorem.bound_keywords), "")

        self.theorem, self.names = theorem, {parameter.name for parameter in theorem.parameters}
        self.noise = [name for name in NOISE if name in theorem.bound_keywords]
        self.precision, self.start = first(PRECISIONS), first(STARTS)
        pairs = {"mu", "beta"}, {"reach", "contraction"}, {"kappa_max"}
        self.kappa = any(pair <= self.names for pair in pairs)
        self.long = bool(self.noise) and "T" in theorem.bound_keywords

    def parts(self) -> tuple[Part, ...]:
        """All parts of the regime, also those that do not concern the record."""
        noise = f"noise takes up {USED:.0%} or more of the step's limit"
        # noise limits a step of given size, and is in a number of such steps through it
        given_step = bool(self.precision) and "eta" in self.names and not self.long
        noise = noise if given_step else f"noise gives {1 - REST:.0%} or more of the bound"
        descends = bool(self._descents(dict.fromkeys(self.names, 1.0), 1.0))
        sized = bool(self.noise) and ({"eta", "beta"} <= self.names or "reach" in self.names)
        return (
            Part(f"kappa = {KAPPA:g}", "no condition number", self.kappa,
                 lambda found, _: [(ratio := self.condition_number(found.arguments) / KAPPA, NEAR), (1 / ratio, NEAR)]),
            Part(noise, "no noise", bool(self.noise), self._limited if given_step else self._silent),
            Part(f"step at most {STEP:g}/beta", "no step size", sized, lambda found, _: [(self._step(found), STEP)]),
            Part(f"T >= {LONG}", "" if self.precision else "no iterations in noise", self.long,
                 lambda found, _: [(LONG, np.asarray(found.arguments["T"], dtype=float))]),
            Part(f"start at least {AHEAD:g} times the {'precision' if self.precision else 'bound'}",
                 "no start to descend from", descends,
                 lambda found, bound: [(AHEAD * level, at) for level, at in self._descents(found.arguments, bound)]),
            Part(f"probability at most {TELLING:g}", "", self.theorem.quantity.name.endswith("STILL_RUNNING"),
                 lambda _, bound: [(bound, TELLING)]),
        )  # fmt: skip

    def condition_number(self, given: Mapping[str, Any]) -> Any:
        """beta/mu; of Scafflix, max_i gamma_i A_i / min_i gamma_i mu_i or the largest A_i/mu_i."""
        if {"mu", "beta"} <= self.names:
            return given["beta"] / given["mu"]
        return given["kappa_max"] if "kappa_max" in self.names else given["reach"] / given["contraction"]

    def silenced(self, found: Evidence) -> Evidence:
        """The instances with next to no noise."""
        given = found.arguments
        return replace(found, arguments={**given, **{name: _SILENT * np.asarray(given[name]) for name in self.noise}})

    def _step(self, found: Evidence) -> Any:
        """The step in units of its limit without noise."""
        given = found.arguments
        if "reach" in self.names:
            return given["reach"]
        return given["eta"] * given["beta"] * (given["smax"] if "smax" in self.names else 1.0)

    def _limited(self, found: Evidence, _: np.ndarray) -> Iterable[tuple[Any, Any]]:
        """The largest part of a limit that noise alone takes up."""
        loud, quiet = (sides(self.theorem, each.arguments) for each in (found, self.silenced(found)))
        used = [np.where(np.asarray(quiet[name][0]) < CLEAR * left, left / right, 0.0)
                for name, (left, right) in loud.items()]  # fmt: skip
        return [(USED, np.maximum(np.max(np.broadcast_arrays(0.0, *used), axis=0), 1e-300))]

    def _silent(self, found: Evidence, bound: np.ndarray) -> Iterator[tuple[Any, Any]]:
        """The share of the bound that stays without noise, and the one that start and bias add, each with its limit."""
        given, theorem = found.arguments, self.theorem
        rest = np.nan_to_num(np.abs(self.silenced(found).bound(theorem)) / bound, nan=1.0)
        yield rest, REST
        if self.kappa and self.long:
            more = {name: 2 * np.asarray(given[name]) for name in (*STARTS, *BIASES) if name in given}
            grown = np.abs(np.abs(replace(found, arguments={**given, **more}).bound(theorem)) / bound - 1)
            yield np.minimum(rest, grown), FORGOTTEN

    def _descents(self, given: Mapping[str, Any], bound: Any) -> list[tuple[Any, Any]]:
        """Pairs of a level and the start in its unit, converted by a power of the least curvature."""
        goals = [(self.theorem.quantity.unit, bound)] if self.long else []
        goals += [(self.theorem.parameter(self.precision).unit, given[self.precision])] if self.precision else []
        curvature = next((name for name in ("mu", "beta", "mu_min", "mu_max") if name in self.names), "")
        found = []
        for unit, level in goals if self.start else ():
            own = self.theorem.parameter(self.start).unit
            power = unit.loss - own.loss  # a curvature is loss/theta^2
            if unit.theta - own.theta == -2 * power and (curvature or not power):
                found.append((level, given[self.start] * (given[curvature] ** power if power else 1.0)))
        return found


def where_attained(theorem: Theorem, whole: Evidence) -> tuple[str, ...]:
    """The simple cases in which all instances of the largest ratio lie, () where one of them lies in none."""
    ratio = np.where(whole.counted(theorem), whole.ratio(theorem), -np.inf)
    best = ratio >= ratio.max(initial=-np.inf) - CLEAR
    if theorem.key.startswith("own/") or not best.any() or not np.isfinite(ratio[best]).all():
        return ()  # a stranger's bound may refuse next to no noise
    has, rows = RegimeParts(theorem), whole.rows(np.flatnonzero(best))
    given, cases = rows.arguments, dict[str, np.ndarray]()
    if "T" in has.names:
        cases["T = 0"] = given["T"] == 0
    if has.noise:
        with np.errstate(all="ignore"):
            same = np.abs(has.silenced(rows).bound(theorem) - rows.bound(theorem))
            cases["zero noise"] = same <= CLEAR * np.abs(rows.bound(theorem))
    cases |= {f"{name} = 1": given[name] == 1 for name in ALONE if name in has.names}
    if has.kappa:
        cases["kappa = 1"] = has.condition_number(given) <= 1 + CLEAR
    needed, left = list[str](), np.ones(int(best.sum()), dtype=bool)
    for name, there in cases.items():  # at T = 0 there is no noise either: one case is enough
        if (left & there).any():
            needed, left = [*needed, name], left & ~there
    return () if left.any() else tuple(needed)
