"""Ten faults in what guards the judge, each seen by the property: a part of it that is right without the fault."""

from __future__ import annotations

import importlib

import mpmath
import numpy as np
import pytest

from suffice.simulate import moment_powers
from suffice.verification import (
    admissible,
    assumptions,
    claim,
    counterexample,
    high_precision,
    measurement_cache,
    path_measure,
    problem_measure,
)

from .cells import Cell
from .edges import edges

check = importlib.import_module("suffice.verification.check")  # the module: its function has the same name
EDGES = {each.name: each for each in edges()}


def exact(name: str, quantity: str = "excess") -> Cell:
    return Cell(algorithm=name, quantity=quantity, kind="differing", N=3, route="exact", dimensions=(1, 2))


def changed(module, name: str, made):
    """A fault: `module.name` becomes made(what it was)."""
    return lambda patch: patch.setattr(module, name, made(getattr(module, name)))


def wide_allowance(patch):
    patch.setattr(moment_powers, "rounding", lambda T, was=moment_powers.rounding: 1e13 * was(T))


def low_cap(patch):
    for name in ("_GRID", "_COARSE"):
        patch.setattr(admissible, name, getattr(admissible, name) / 4)


def coins_not_held(patch):
    patch.setattr(assumptions, "_held", lambda problem, algorithm: [False] * assumptions.APERIODIC)
    patch.setattr(measurement_cache, "known", {})


def no_mutants(patch):
    for name in ("mutants", "numeric_mutants"):
        patch.setattr(claim, name, lambda theorem, worst_ratio: [])


def two_shapes(patch):
    """Neither drawn from nor swept."""
    patch.setattr(problem_measure, "SHAPES", {effort: ((1, 1), (1, 2)) for effort in ("quick", "full")})
    patch.setattr(check, "sweep", lambda *given, **options: None)


def few_digits(measured):
    """Two of the measured number, rounded down."""

    def cut(*args, **options):
        value, good = measured(*args, **options)
        return mpmath.mpf(mpmath.nstr(value * mpmath.mpf("0.99"), 2)), good

    return cut


def as_drawn(theorem, movable, values, reach):
    return values, 4 * values["step"] / movable.scalars(values)["beta"]


FAULTS = {
    "rounding allowance": (wide_allowance, exact("local")),
    "confirmation": (
        changed(counterexample, "_counterexample", lambda was: lambda *given: {**was(*given), "margin": 0}),
        EDGES["tight from above, one"],
    ),
    "digits": (changed(high_precision, "measured", few_digits), EDGES["rounding, low average to 0.01"]),
    "shapes": (two_shapes, EDGES["false for N, d = (2, 3)"]),
    "caps": (low_cap, EDGES["unstable, one"]),
    "shares": (
        changed(admissible.Steps, "at", lambda was: lambda steps, share: was(steps, np.minimum(share, 0.5))),
        EDGES["unstable, one"],
    ),
    "move to the limit": (changed(problem_measure, "moved_inside", lambda was: as_drawn), EDGES["unstable, one"]),
    "sampling error": (
        changed(path_measure, "mean_bound", lambda was: lambda paths, alpha: float(paths.mean())),
        EDGES["a mean known x 1.0"],
    ),
    "coins that are held": (coins_not_held, exact("fedavg")),
    "mutants": (no_mutants, EDGES["a loose term, one"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_seen(name, monkeypatch):
    plant, part = FAULTS[name]

    def wrong():
        return bool(part.faults()) if isinstance(part, Cell) else part.wrong() != ""

    assert not wrong()
    plant(monkeypatch)
    assert wrong()
