"""The check of one's own bound where second moments do not determine what it bounds: by paths.

Instances are drawn and searched on few paths; those where the bound is nearly or more than attained are certified on
fresh ones. Only what draws nothing, and what is certified, counts against the bound or its wrong variants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from suffice.bounds import Theorem
from suffice.simulate import Algorithm
from suffice.simulate.outcome_sequences import MOST_SEQUENCES

from .assumptions import listed, paths_only
from .claim import Claim, Effort
from .confidence_interval import FALSE_ALARMS
from .counterexample import at_worst, described
from .dimension_sweep import Sweep
from .evidence import AGREEMENT, Evidence
from .families import ProblemFamily, quadratics
from .family import Values
from .path_measure import PathMeasure, untested
from .problem_measure import (
    alike,
    constants,
    of_shapes,
    reach_on,
    typical,
    with_forms,
)
from .quantity import form_of
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
    forms = form_of(theorem)
    scalars = constants(theorem, algorithm, family, delta)
    reasons: list[str] = []

    def measure(given: ProblemFamily) -> PathMeasure:
        problems = with_forms(forms, given, scalars)
        problem, _, eta = typical(problems, algorithm)
        reasons.append(reason := paths_only(problem, algorithm, eta))
        held = () if reason else listed(problem, algorithm)
        return PathMeasure(
            problems=problems, algorithm=algorithm, client=client, tested=untested(), forms=forms, scan=not held,
            paths=LOOKED_AT[effort], root=root, delta=delta, held=held, reach=reach_on(problems, algorithm),
        )  # fmt: skip

    given = {"identical": alike(theorem), "longest": LONGEST[effort]}
    found = [measure(family)] if family is not None else of_shapes(
        SHAPES[effort], client, lambda N, d: measure(quadratics(clients=N, features=d, **cast(Any, given)))
    )  # fmt: skip
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
    nothing = _nothing(theorem)
    evidence = [replace(piece, measured=np.where(piece.exact, piece.measured, nothing)) for piece in pieces]
    refuted = any((each.counted(theorem) & (each.ratio(theorem) > 1 + AGREEMENT)).any() for each in evidence)
    by_name = {each.problems.name: each for each in (*measured, *(others.found if others else []))}
    # what draws nothing refutes: samples add nothing
    certified = [] if refuted else _certified(theorem, [(by_name[piece.label], piece) for piece in pieces])
    verdict = Claim(theorem=theorem, exact=lambda *_: [*evidence, *certified]).verify(effort=spend, root=root)
    count = len(certified)
    return replace(verdict, error_probability=FALSE_ALARMS if count else 0.0), count


def _nothing(theorem: Theorem) -> float:
    return 0.0 if theorem.direction == "upper" else np.inf


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
        assert piece.values is not None
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
    """What a verdict by paths leaves open."""
    few = f"; with up to {MOST_SEQUENCES:,} sequences of outcomes and no noise all were followed"
    few = few if measured[0].held and measured[0].delta is None else ""
    if theorem.direction == "lower" and measured[0].delta is None:
        return f"instances with noise or coins: samples cannot refute a lower bound of an expectation{few}"
    kind = "expected values" if measured[0].delta is None else "quantiles"
    return (
        f"exact {kind}: they were sampled, on {LOOKED_AT[effort]} paths where an instance is only looked at and on up "
        f"to {_CERTIFIED[1]:,} for the {certified} nearest to the bound; an excess of a few percent is not seen{few}"
    )
