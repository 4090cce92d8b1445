"""Steps other than eta: tried up to what diverges, whatever part of eta they are, and over many iterations."""

from __future__ import annotations

import pytest
from shorter_steps import Steps

from suffice.simulate import Local
from suffice.simulate.algorithms import Momentum
from suffice.verification.check import record
from suffice.verification.generated_instances import late
from suffice.verification.problem_measure import measures, reach

from .bounds_of_strangers.cases import Averaged

pytestmark = pytest.mark.usefixtures("brief")

SLOW = Steps(size=lambda t: 1 / (t + 20))
WARM = Steps(size=lambda t: min(t, 10) / 50)
HALF = Steps(size=lambda t: 0.5)
HARMONIC = Steps(size=lambda t: 1 / t)


@pytest.mark.parametrize(
    ("algorithm", "times"), [(Local(), 1), (SLOW, 21), (WARM, 5), (HALF, 2), (HARMONIC, 1), (Momentum(weight=0.5), 1)]
)
def test_how_far_eta_is_from_the_step(algorithm, times):
    assert reach(algorithm, 2, 40) == times


def test_a_mean_that_hides_the_steps_is_no_reason_to_take_smaller_ones():
    assert reach(Averaged(), 1, 40) >= 1


def below(*, eta, beta):
    return {"eta <= 1/beta": (eta, 1 / beta)}


def test_what_fails_after_hundreds_of_iterations_is_refuted():
    """sum of 1/t^2 over t <= T exceeds 1.64 from T = 204 on, and is below pi^2/6."""

    def bound(*, eta, beta, e0, sigma2):
        return e0 + 1.64 * eta**2 * beta * sigma2 / 2

    theorem = record(bound, below)
    found, _ = measures(theorem, HARMONIC, None, 0, effort="quick")
    (chosen,) = [each for each in found if each.late]
    evidence = chosen.family(theorem).evidence(late(chosen.problems.domains, chosen.late))
    against = evidence.counted(theorem) & (evidence.ratio(theorem) > 1 + 1e-6)
    assert against.any()
    assert evidence.arguments["T"][against].min() > 203
