"""The worst instances of a check on moments, at the other pairs of clients and features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from suffice.bounds import Theorem
from suffice.simulate.moment_maps import origin
from suffice.simulate.moment_powers import MOST_ENTRIES
from suffice.simulate.problem import QuadraticProblem
from suffice.support.errors import InputError

from .assumptions import steps_once
from .families import quadratics, with_scalars
from .problem_measure import Measure, alike, constants, plain_setting, seen_by, shape_of
from .shapes import Sweep

_NUMBERS = {"quick": 2e5, "full": 4e6}
"""Numbers that the steps of the instances of one pair may hold, about 0.1 microseconds each."""
_ALL = 60
"""How many times as many those of all pairs may hold."""
_FEWEST, _MOST = 4, 20
"""Instances of a pair: fewer than these are none."""
_STEPS = 40
"""Iterations that are taken one by one on a pair, times outcomes of the coins."""
_PROBED = 5
"""Iterations where each takes a step of its own."""


def sweep(theorem: Theorem, measured: Sequence[Measure], client: int, *, effort: str) -> Sweep:
    """What brings the worst instances of `measured` to the other pairs of clients and features."""
    first, left = measured[0], _ALL * _NUMBERS[effort]
    tested, scalars = first.tested, constants(theorem, first.algorithm, None)
    probed = tested.cycle.length if first.periodic else _PROBED

    def measure(pair: tuple[int, int]) -> tuple[Measure, int] | None:
        nonlocal left
        clients, features = pair
        given: dict[str, Any] = {"clients": clients, "features": features, "identical": alike(theorem)}
        setting, algorithm = plain_setting(quadratics(**given)), first.algorithm
        problem = cast(QuadraticProblem, setting.problem)
        try:
            if client >= clients:
                return None
            steps_once(problem, algorithm, setting.eta)
        except InputError:  # this algorithm is not for so many clients
            return None
        size = origin(problem, algorithm)[2].numel()
        coins = max(len(algorithm.outcomes(problem, block.iterations[0])) for block in tested.cycle.blocks)
        longest = 10_000
        if first.forms.average or (coins > 1 and size * (size + 1) // 2 > MOST_ENTRIES):
            longest = max(2 * _STEPS // coins, _PROBED)
        longest = longest if first.periodic else _PROBED
        problems = with_scalars(seen_by(first.forms, quadratics(**given, longest=longest)), scalars)
        # one step is probed at unit states and, twice, at every client's draws: +-1 in each feature
        numbers = size * (size + 4 * clients * features) * coins * probed
        most = min(_MOST, max(int(_NUMBERS[effort] / numbers), _FEWEST))
        most = most if numbers * most <= min(10 * _NUMBERS[effort], left) else 0
        left -= numbers * most
        return replace(first, problems=problems, scan=False, late=False), most

    return Sweep(theorem=theorem, tried=[shape_of(each.problems) for each in measured], measure=measure)
