"""The check of one's own bound where second moments do not determine what it bounds: by paths.

Instances are drawn and searched on few paths; those where the bound is nearly or more than attained are certified on
fresh ones. Only what draws nothing, and what is certified, counts against the bound or its wrong variants.

An instance that draws nothing, or nothing but few listed outcomes, is followed exactly. Elsewhere, for independent
Y >= 0 and any m, log_evidence(Y, m) exceeds ln(1/alpha) with probability at most alpha where E[Y] <= m, and falls as m
grows: the largest m at which it does exceed is a lower confidence bound of E[Y], at any time and whatever the
distribution of Y. In place of an expectation the quantile: the k-th smallest of n draws exceeds the
(1 - delta)-quantile with probability at most P(Binomial(n, 1 - delta) <= k - 1), which is exact. Either stands in for
the measured number: an upper bound below it is false but for probability alpha.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import torch

from suffice.bounds import Theorem
from suffice.simulate import Algorithm
from suffice.simulate.moment_powers import Cycle
from suffice.simulate.outcome_sequences import MOST_SEQUENCES, expected_by_sequences
from suffice.simulate.path_values import NUDGE, noiseless, path_values
from suffice.simulate.problem_batches import instances
from suffice.support.errors import InputError

from .assumptions import Assumptions, listed, paths_only
from .claim import Claim, Effort
from .confidence_interval import FALSE_ALARMS, mean_bound, quantile_bound
from .counterexample import at_worst, described
from .dimension_sweep import Sweep
from .evidence import AGREEMENT, Evidence
from .families import ProblemFamily
from .family import Values
from .problem_measure import Measure, of_shapes, prepared, reach_on, shaped, typical
from .quantity import form_of, scalars_of
from .verdict import Verdict
from .violation_search import shrink

SHAPES = {
    "quick": ((1, 1), (1, 3), (2, 1), (3, 2)),
    "full": ((1, 1), (1, 2), (1, 3), (1, 8), (2, 1), (2, 3), (3, 2), (4, 1), (6, 1), (8, 4)),
}
"""(clients, features) of the families that are drawn from unless one is given."""
LONGEST = {"quick": 100, "full": 1000}
"""The largest T of these families."""
LOOKED_AT = {"quick": 128, "full": 1024}
"""Paths of each instance that is only looked at."""
_CERTIFIED = (2**13, 2**17)
"""Paths of each certified instance: of `_CHOSEN`, and of those whose bound may yet be exceeded."""
_CHOSEN = 12
_AGAIN = 3
_NEAR = 0.6
_NORMALS = 3e7
"""Numbers that the paths of one certified instance may draw."""
MOST_CERTIFIED = 4096
"""Instances that one check may certify: each may raise a false alarm with probability FALSE_ALARMS/MOST_CERTIFIED."""
_ROUNDING = 16.0
"""The largest rounding, in multiples of the disturbed path's deviation (256 units in the last place per iteration)."""


@dataclass(frozen=True, kw_only=True)
class PathMeasure(Measure):
    """The quantity of `client` on `paths` paths of each instance: its mean less one standard error, or with `certify`
    its lower confidence bound (the upper one of a lower bound). With `delta`: the quantile at 1 - delta (or delta).
    `held`: see `expected_by_sequences`; empty where something else than listed outcomes is drawn."""

    paths: int
    root: int
    held: tuple[bool, ...] = ()
    certify: bool = False

    @property
    def samples(self) -> bool:
        return True  # paths cost, and what is only looked at refutes nothing

    def certified(self, paths: int) -> PathMeasure:
        return replace(self, paths=paths, certify=True)

    def _measured(
        self, theorem: Theorem, problems: Any, eta: Any, T: np.ndarray, asked: Evidence
    ) -> tuple[np.ndarray, np.ndarray, bool | np.ndarray]:
        values, arguments = cast(Values, asked.values), asked.arguments
        # fresh paths for every batch, a pure function of its values: what led to a batch has not seen them
        key = zlib.crc32(np.concatenate([np.ravel(value) for value in values.values()]).astype(float).tobytes())
        drawing = key ^ (self.root * 2654435761) ^ (2 * self.paths + self.certify)
        # paths cost, and outside of the conditions they tell nothing
        rows = np.flatnonzero(asked.hypothesis)
        problems = problems if isinstance(problems, list) else instances(problems, len(T))
        problems, eta, T = [problems[at] for at in rows], eta[rows], T[rows]
        form = self.forms.form
        given = {name: value[rows] for name, value in scalars_of(form.scalars, arguments).items()}
        drawn, exact = path_values(
            problems, self.algorithm, eta=eta, iterations=T, client=self.client, form=form, seeds=self.paths,
            root=drawing % 2**32, scalars=given,
        )  # fmt: skip
        if self.held and self.delta is None:
            # exact values where coins alone are drawn and their sequences can be counted
            few = [at for at, one in enumerate(problems) if len(drawn[at]) and not exact[at] and noiseless(one)]
            rest, some = {name: value[few] for name, value in given.items()}, [problems[at] for at in few]
            asked_of = {"eta": eta[few], "iterations": T[few], "client": self.client, "form": form, "scalars": rest}
            known = expected_by_sequences(some, self.algorithm, self.held, **asked_of) if few else {}
            for at, value in known.items():
                drawn[few[at]], exact[few[at]] = value, True
        measured, rounding = np.full((2, len(asked.measured)), np.nan)
        certain = np.zeros(len(asked.measured), dtype=bool)
        for at, problem, paths, quiet in zip(rows, problems, drawn, exact):
            if len(paths) == 0 or not np.isfinite(paths).all():
                continue
            certain[at] = quiet
            scalars = {name: float(value[at]) for name, value in arguments.items()}
            floor = self._floor(problem, scalars)
            if quiet:
                _check_quiet(paths, self.algorithm.name)
                # a disturbance may cancel where the path ends at rest
                measured[at], rounding[at] = paths[0], _ROUNDING * max(abs(paths[2] - paths[0]), floor)
            else:
                _check_positive(paths, type(problem).__name__)
                rounding[at] = _ROUNDING * floor
                with np.errstate(over="ignore"):  # a square of what grows beyond all bounds
                    measured[at] = self._of_paths(np.maximum(paths, 0), theorem.direction == "upper")
        return measured, rounding, certain

    def _floor(self, problem: Any, scalars: Mapping[str, float]) -> float:
        """How far rounding of the models changes the quantity where it is least, for instances where coins are tossed
        and no disturbed path tells. Elsewhere rounding is a share of the quantity, which `AGREEMENT` covers.

        An excess is least at the clients' own optima, consensus where all models agree. The result is the largest
        change of the quantity there when the models move, all alike or each its own way.
        """
        optima = problem.optimum[None]
        size = NUDGE * torch.maximum(optima.abs().amax(), problem.start.abs().amax())
        place = torch.arange(optima.shape[1])[:, None] + torch.arange(optima.shape[2])
        agreed = optima.mean(1, keepdim=True).expand_as(optima)
        states = torch.cat([at + move for at in (optima, agreed) for move in (0 * size, size, size * (-1.0) ** place)])
        form = self.forms.form
        rest = self.algorithm.init(problem, states) if callable(form.of) else {}
        given = {name: scalars[name] for name in form.scalars}
        value = form.value(problem, {**rest, "models": states}, self.client, given).reshape(2, 3)
        at_rest = value[value[:, 0].argmin()]
        return float((at_rest - at_rest[0]).abs().max())

    def _of_paths(self, paths: np.ndarray, upper: bool) -> float:
        alpha = FALSE_ALARMS / MOST_CERTIFIED
        if self.delta is not None:
            if self.certify:
                return quantile_bound(paths, self.delta, alpha, upper=upper)
            return float(np.quantile(paths, 1 - self.delta if upper else self.delta))
        if self.certify:
            return mean_bound(paths, alpha) if upper else np.inf  # nothing bounds a mean from above
        error = paths.std() / len(paths) ** 0.5
        return max(float(paths.mean() - error), 0.0) if upper else np.inf


def _check_quiet(paths: np.ndarray, name: str) -> None:
    # vectors and their remainders may take other instructions, which differ in the last place
    if abs(paths[1] - paths[0]) > _ROUNDING * abs(paths[2] - paths[0]) + 1e-12 * abs(paths[0]):
        raise InputError("algorithm", name, "two paths differ on a problem without noise: draw in `draw`, into extra")


def _check_positive(paths: np.ndarray, name: str) -> None:
    if paths.min() < -1e-9 * np.abs(paths).max():
        remedy = (
            f"a quantity that is never negative is {paths.min():.3g} on a path: is `optimum` where the loss is least?"
        )
        raise InputError("problem", name, remedy)


def path_measures(
    theorem: Theorem,
    algorithm: Algorithm,
    family: ProblemFamily | None,
    client: int,
    *,
    effort: str,
    root: int,
    delta: float | None,
) -> tuple[list[PathMeasure], str]:
    """The families to draw from, and why nothing can be measured ("" where it can)."""
    reasons: list[str] = []

    def measure(problems: ProblemFamily) -> PathMeasure:
        problem, _, eta = typical(problems, algorithm)
        reasons.append(reason := paths_only(problem, algorithm, eta))
        held = () if reason else listed(problem, algorithm)
        return PathMeasure(
            problems=problems, algorithm=algorithm, client=client, forms=form_of(theorem), scan=not held,
            tested=Assumptions(cycle=Cycle(blocks=()), periodic=True),  # paths need none of what exact moments assume
            paths=LOOKED_AT[effort], root=root, delta=delta, held=held, reach=reach_on(problems, algorithm),
        )  # fmt: skip

    if family is not None:
        found = [measure(prepared(theorem, algorithm, family, family, delta))]
    else:
        asked, most = (theorem, algorithm), LONGEST[effort]
        found = of_shapes(SHAPES[effort], client, lambda shape: measure(shaped(*asked, shape, delta, longest=most)))
    reason = next(filter(None, reasons), "")
    return [] if reason else found, reason


def sampled_verdict(
    theorem: Theorem,
    measured: list[PathMeasure],
    *,
    spend: Effort,
    root: int,
    progress: Callable[[int, int], None] | None = None,
    others: Sweep | None = None,
) -> tuple[Verdict, int]:
    """The verdict, and how many instances were certified."""
    options = {"until_refuted": True, "progress": progress, "further": others.evidence if others else None}
    families = tuple(each.family(theorem) for each in measured)
    pieces = Claim(theorem=theorem, families=families, **cast(Any, options)).explored(spend, root)
    # Looked at only, an instance that draws says nothing: the number that no chance contradicts.
    nothing = 0.0 if theorem.direction == "upper" else np.inf
    evidence = [replace(piece, measured=np.where(piece.exact, piece.measured, nothing)) for piece in pieces]
    refuted = any((each.counted(theorem) & (each.ratio(theorem) > 1 + AGREEMENT)).any() for each in evidence)
    by_name = {each.problems.name: each for each in (*measured, *(others.found if others else []))}
    # what draws nothing refutes: samples add nothing
    certified = [] if refuted else _certified(theorem, [(by_name[piece.label], piece) for piece in pieces])
    verdict = Claim(theorem=theorem, exact=lambda *_: [*evidence, *certified]).verify(effort=spend, root=root)
    count = len(certified)
    return replace(verdict, error_probability=FALSE_ALARMS if count else 0.0), count


def _certified(theorem: Theorem, pieces: list[tuple[PathMeasure, Evidence]]) -> list[Evidence]:
    if theorem.direction == "lower" and pieces[0][0].delta is None:
        return []  # an expectation may be as large as one likes by what is rarely drawn
    ranked: list[tuple[float, int, int]] = []
    for index, (_, piece) in enumerate(pieces):
        score = np.where(piece.counted(theorem) & np.logical_not(piece.exact), piece.ratio(theorem), -np.inf)
        score = np.where(np.isnan(piece.bound(theorem)), -np.inf, score)  # no number needs no sample
        for place, row in enumerate(np.argsort(-score, kind="stable")[: 4 * _CHOSEN]):
            if score[row] > 0:  # the best of each family and of each way to find it come before the rest
                ranked.append((-float(score[row]) * (2.0 if place == 0 else 1.0), index, int(row)))
    found: list[tuple[float, PathMeasure, Evidence, Values]] = []
    known = set()
    for _, index, row in sorted(ranked):
        measure, piece = pieces[index]
        values = {name: value[row : row + 1] for name, value in piece.values.items()}
        key = measure.problems.name, *(value.tobytes() for value in values.values())
        if len(found) == _CHOSEN or key in known:  # an instance has the same paths each time
            continue
        known.add(key)
        one = _on_paths(theorem, measure, values, _CERTIFIED[0])
        found.append((float(one.ratio(theorem)[0]), measure, one, values))
    found.sort(key=lambda each: -each[0])
    again = [
        _on_paths(theorem, measure, values, _CERTIFIED[1])
        for ratio, measure, _, values in found[:_AGAIN]
        if ratio <= 0 or _NEAR < ratio <= 1 + AGREEMENT  # so few paths say nothing, or may hide a violation
    ]
    return [one for _, _, one, _ in found] + again


def _on_paths(theorem: Theorem, measure: PathMeasure, values: Values, most: int) -> Evidence:
    setting = measure.settings(theorem, values)[0]
    size = setting.problem.clients * setting.problem.features * max(setting.iterations, 1)
    paths = int(np.clip(_NORMALS / size, 64, most))
    return measure.certified(paths).family(theorem).evidence(values)


def path_counterexample(theorem: Theorem, verdict: Verdict, measured: list[PathMeasure]) -> dict[str, Any] | None:
    """The violation at a simpler instance where one is certified too: its values, arguments, both sides."""
    if "values" not in verdict.evidence.worst_instance:
        return None
    measure, values = at_worst(verdict, measured)
    measure = measure.certified(_CERTIFIED[0])
    try:
        values = shrink(theorem, measure.family(theorem), values, margin=10 * AGREEMENT)
    except ValueError:  # it takes more paths than these to see it
        return None
    piece = measure.family(theorem).evidence(values)
    value, bound = float(piece.measured[0]), float(piece.bound(theorem)[0])
    setting = measure.settings(theorem, values)[0]
    given, digits = {name: entry[0].tolist() for name, entry in values.items()}, 15 if np.all(piece.exact) else 0
    return described(theorem, given, setting.arguments, value, bound, setting.problem.clients, digits=digits)


def left_open(measured: list[PathMeasure], certified: int, theorem: Theorem, effort: str) -> str:
    """The questions that a verdict by paths leaves open, in words."""
    few = f"; with up to {MOST_SEQUENCES:,} sequences of outcomes and no noise all were followed"
    few = few if measured[0].held and measured[0].delta is None else ""
    if theorem.direction == "lower" and measured[0].delta is None:
        return f"instances with noise or coins: samples cannot refute a lower bound of an expectation{few}"
    kind = "expected values" if measured[0].delta is None else "quantiles"
    return (
        f"exact {kind}: they were sampled, on {LOOKED_AT[effort]} paths where an instance is only looked at and on up "
        f"to {_CERTIFIED[1]:,} for the {certified} nearest to the bound; an excess of a few percent is not seen{few}"
    )
