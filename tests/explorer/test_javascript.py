"""What the page computes, in Node: never on the wrong side of 50 digits, and at most 1e-9 beyond them."""

from __future__ import annotations

import math
from dataclasses import replace

import mpmath
import pytest
from node import needs_node, run
from papers import SLOW, VACUOUS
from typical import typical_points

from suffice.bounds import THEOREMS, digits, find
from suffice.explorer import javascript
from suffice.explorer.content import formulas

EVALUATED = [record for record in THEOREMS if record.bound is not None]
IN_THE_LIBRARY = {"sample-optimal/theorem-1-optimised", "sample-optimal/theorem-1-excess"}
"""Bounds with a special function."""
BEYOND = 1e-9
LEAST = 1e-290
"""Below, floats lose their relative precision."""


def points_of(record, count):
    """Typical points as dictionaries; of statements that nothing meets, points that miss the conditions."""
    vacuous = (record.key, record.edition) in VACUOUS
    drawn = typical_points(record, count, unmet=vacuous)
    assert all(len(value) == count for value in drawn.values()), f"{record.key}: the conditions are hardly ever met"
    return [dict(zip(drawn, map(float, row))) for row in zip(*drawn.values())]


def assert_outward(folder, records, count):
    asked = {THEOREMS.index(record): points_of(record, count) for record in records}
    body = """return given.map(([index, direction, points]) => points.map((point) =>
        solve.boundAt({ formula: FORMULAS[index], direction }, point)));"""
    given = [[index, THEOREMS[index].direction, points] for index, points in asked.items()]
    compared = 0
    for (index, points), values in zip(asked.items(), run(folder, body, given, formulas=formulas())):
        record = THEOREMS[index]
        for point, value in zip(points, values):
            exact = digits(record, **point)
            with mpmath.workdps(50):
                if not abs(exact) < mpmath.mpf(10) ** 308:
                    continue
                safe = mpmath.mpf(value) - exact if record.direction == "upper" else exact - mpmath.mpf(value)
                assert safe >= 0, f"{record} at {point}: {value!r} is on the wrong side"
                if abs(exact) > LEAST:
                    # a lower bound such as 1 - b^2/(2 mu eps) - c cancels: absolute 1e-14, as in Python
                    slack = 1e-14 if record.direction == "lower" else 0
                    assert safe <= BEYOND * abs(exact) + slack, f"{record} at {point}: {value!r}"
                compared += 1
    assert compared > 0.9 * count * len(records)


@needs_node
def test_a_point_of_every_bound_is_outward_of_fifty_digits(tmp_path):
    quick = [record for record in EVALUATED if record.key not in IN_THE_LIBRARY | set(SLOW)]
    assert_outward(tmp_path, quick, 2)


@pytest.mark.slow
@needs_node
def test_a_hundred_points_of_every_bound_are_outward_of_fifty_digits(tmp_path):
    assert_outward(tmp_path, [record for record in EVALUATED if record.key not in IN_THE_LIBRARY], 100)


@needs_node
def test_long_horizons_lose_nothing(tmp_path):
    # as printed, 1 - (1 - x)^T loses 3e-8 at x T = 1e-8
    record = find("adaptive/theorem-2-constant")
    point = {"eta": 1e-9, "mu": 1e-3, "beta": 1.0, "e0": 0.0, "s2": 1.0, "T": 10_000.0, "q": 1.0}
    formula = f"const FORMULAS = [{javascript.formula(record)}];"
    body = "return solve.boundAt({ formula: FORMULAS[0], direction: 'upper' }, given);"
    value, exact = run(tmp_path, body, point, formulas=formula), digits(record, **point)
    assert 0 <= value / exact - 1 <= 1e-10


def test_only_special_functions_are_left_to_the_library():
    assert {record.key for record in EVALUATED if javascript.formula(record) == javascript.NOTHING} == IN_THE_LIBRARY


def test_a_bound_of_numbers_alone_is_left_to_the_library():
    def of_numbers(*, eta, T):
        return eta if T > 3 else 2 * float(eta)

    def steps(*, eta):
        return {"step eta <= 1": (math.sqrt(eta), 1)}

    record = find("adaptive/theorem-2-offset")
    assert javascript.formula(replace(record, bound=of_numbers)) == javascript.NOTHING
    assert javascript.formula(replace(record, conditions=steps)) == javascript.NOTHING


@needs_node
def test_conditions_agree_with_the_library(tmp_path):
    index = next(at for at, record in enumerate(THEOREMS) if record.key == "adaptive/theorem-2-constant-running")
    record = THEOREMS[index]
    points = points_of(record, 20)
    points += [{**point, "eta": 2 * point["q"] / point["beta"]} for point in points]
    sides = run(tmp_path, f"return given.map((point) => solve.sidesAt({{ formula: FORMULAS[{index}] }}, point));",
                points, formulas=formulas())  # fmt: skip
    for point, got in zip(points, sides):
        expected = record.conditions(**{name: point[name] for name in record.condition_keywords}).values()
        assert [tuple(pair) for pair in got] == [pytest.approx(pair, rel=1e-14) for pair in expected]
