"""What rounding may do to a quantity on paths is how it changes when the models move, not its size at rest."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf
from suffice.simulate.algorithms import FedAMP
from suffice.verification import Domain, Outcome, check
from suffice.verification.families import FamilyInstance, ProblemFamily, quadratics

pytestmark = pytest.mark.usefixtures("brief")

DISTANCES = pytest.mark.parametrize(
    "distance", [1.0, *(pytest.param(scale, marks=pytest.mark.slow) for scale in (1e-3, 1e3))]
)


def apart(distance):
    """Two clients with minimisers at +-distance, both of curvature 1, from distance/2, without noise."""

    def build(values):
        minimisers = distance * np.array([[-1.0], [1.0]])
        problem = sf.Quadratics.of(np.ones((2, 1, 1)) / 2, -minimisers, sigma2=0.0, start=[distance / 2])
        return FamilyInstance(problem=problem, eta=0.3, iterations=int(values["T"]))

    return ProblemFamily(name="two", domains={"T": Domain(low=1, high=10, integer=True)}, build=build)


def largest(distance):
    """FedAMP with its default options on `apart`, in loops: (1/N^2) sum_ij |x_i - x_j|^2, the largest of ten."""
    x, found = np.full(2, distance / 2), []
    for _ in range(10):
        share = 0.5 * np.exp(-((x[0] - x[1]) ** 2))
        cloud = x + share * (x[::-1] - x)
        x = x - 0.3 * (x - distance * np.array([-1.0, 1.0]) + x - cloud)
        found.append((x[0] - x[1]) ** 2 / 2)
    return max(found)


@DISTANCES
def test_consensus_of_clients_that_differ_is_measured(distance):
    def judged(size, **options):
        bound = lambda *, T: size + 0 * T  # noqa: E731
        return check(bound, quantity="last_consensus", algorithm=FedAMP(), family=apart(distance), **options)

    truth = largest(distance)
    assert judged(0.999 * truth).outcome is Outcome.VIOLATED
    assert judged(1.001 * truth).valid
    assert judged(1.001 * truth).worst_ratio > 0.99
    assert judged(1.001 * truth, direction="lower").outcome is Outcome.VIOLATED


@pytest.mark.share(2)
@pytest.mark.parametrize("size", [1e-9, 1.0])
def test_nothing_is_concluded_where_nothing_is_measured(size):
    def no_noise(*, sigma2, eta, beta):
        return {"sigma2 = 0": (sigma2, 0 * sigma2), "eta <= 1/beta": (eta, 1 / beta)}

    verdict = check(
        lambda *, T: size + 0 * T, conditions=no_noise, quantity="last_consensus", algorithm=FedAMP(),
        family=quadratics(clients=2, features=1, identical=True, longest=5),
    )  # fmt: skip
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "no positive bound of it could fail" in str(verdict)
    assert verdict.tried
