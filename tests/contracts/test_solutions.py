"""What is solved for meets every condition of its record at 50 digits, not by the grace of a rounding."""

from __future__ import annotations

import mpmath
import pytest
from typical import typical_points

from suffice.bounds import PARAMETERS, THEOREMS, ConditionError, InputError, evaluate, find, solve

EVALUABLE = [theorem for theorem in THEOREMS if theorem.bound is not None and theorem.guarantee]
SOLVED = [theorem for theorem in EVALUABLE if theorem.condition_names()]


def beyond(theorem, values):
    """The conditions that do not hold at 50 digits."""
    with mpmath.workdps(50):
        given = {name: mpmath.mpf(values[name]) for name in theorem.condition_keywords}
        return [name for name, (lhs, rhs) in theorem.conditions(**given).items() if lhs > rhs]


def solutions(theorem, seed=5):
    drawn = typical_points(theorem, 1, seed=seed)
    for point in [{name: float(value[0]) for name, value in drawn.items()}] if len(next(iter(drawn.values()))) else []:
        if beyond(theorem, point):
            continue
        bound = float(evaluate(theorem, **point))
        for name in point:
            if PARAMETERS[name].integer:
                continue
            others = {other: value for other, value in point.items() if other != name}
            for factor in (1.0, 30.0):
                target = bound * factor if theorem.direction == "upper" else bound / factor
                try:
                    found = solve(theorem, name, target=target, **others)
                except (InputError, ConditionError):
                    continue
                yield name, others | {name: found.value}


def test_the_solution_for_beta_of_the_clients_is_within_its_conditions():
    theorem = find("cobo/corollary-2-star")
    found = [(name, point) for seed in range(8) for name, point in solutions(theorem, seed) if name == "beta"]
    assert len(found) >= 8
    assert not [beyond(theorem, point) for _, point in found if beyond(theorem, point)]


@pytest.mark.share(6)
@pytest.mark.parametrize("theorem", SOLVED, ids=lambda theorem: theorem.key)
def test_what_is_solved_for_meets_all_conditions(theorem):
    outside = [(name, beyond(theorem, point)) for name, point in solutions(theorem) if beyond(theorem, point)]
    assert not outside
