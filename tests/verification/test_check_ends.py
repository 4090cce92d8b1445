"""Families of one's own are tried at the ends of their intervals and where conditions hold with equality."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.simulate import Quadratics
from suffice.simulate.algorithms import Scaffold
from suffice.verification import Outcome, check
from suffice.verification.check import record
from suffice.verification.families import FamilyInstance, ProblemFamily
from suffice.verification.family import Domain, Family
from suffice.verification.generated_instances import on_boundaries

pytestmark = pytest.mark.usefixtures("brief")

N = 3


def build(values):
    h, m = float(values["h"]), values["minimiser"]
    problem = Quadratics.of(np.full((N, 1, 1), h / 2), -m[:, None], sigma2=values["sigma2"], start=[values["start"]])
    own = {"far": abs(values["start"] - m.mean()), "spread": np.ptp(m), "apart": abs(m.mean() - m[0])}
    return FamilyInstance(problem=problem, eta=values["step"] / h, iterations=2 * int(values["rounds"]), arguments=own)


FAMILY = ProblemFamily(
    name="three clients of one curvature",
    build=build,
    parameters={"far": None, "spread": None, "apart": None},
    domains={
        "h": Domain(low=0.1, high=4, log=True),
        "minimiser": Domain(low=-1, high=1, shape=(N,)),
        "start": Domain(low=-4, high=4),
        "sigma2": Domain(low=0, high=4),
        "step": Domain(low=0.05, high=1),
        "rounds": Domain(low=1, high=10, integer=True),
    },
)


def scaffold(share):
    def bound(*, eta, mu, T, far, apart):
        """The corrections cancel in the mean; without noise nothing else is left."""
        return (share * (1 - eta * mu) ** T * far + apart) ** 2

    return bound


def one_point(*, spread, sigma2, eta, mu):
    return {"equal": (spread, 0), "no noise": (sigma2, 0), "at most": (eta * mu, 0.37), "at least": (0.37, eta * mu)}


@pytest.mark.parametrize(("share", "true"), [pytest.param(1, True, marks=pytest.mark.slow), (0.98, False)])
def test_conditions_that_hold_with_equality_are_met(share, true):
    """Equal minimisers, no noise and one step size: no random instance meets all three."""
    verdict = check(scaffold(share), conditions=one_point, quantity="last_distance", algorithm=Scaffold(period=2),
                    family=FAMILY)  # fmt: skip
    assert verdict.valid if true else verdict.outcome is Outcome.VIOLATED, str(verdict)
    assert verdict.met[FAMILY.name] == verdict.instances >= 10


def family_of(settings) -> Family:
    def arguments(values):
        given = settings.settings(values)
        return {name: np.array([each.arguments[name] for each in given]) for name in given[0].arguments}

    return Family(name=settings.name, domains=settings.domains, arguments=arguments)


def test_every_two_ends_are_combined():
    family = family_of(FAMILY)
    values = family.at(family.corners(600, seed=0))
    alike = np.ptp(values["minimiser"], axis=1) == 0
    for name, end in (
        ("sigma2", 0),
        ("sigma2", 4),
        ("start", -4),
        ("start", 0),
        ("start", 4),
        ("step", 1),
        ("rounds", 1),
    ):
        assert (alike & (values[name] == end)).any(), (name, end)
    inner = np.abs(values["minimiser"][:, 0]) % 1 > 0
    assert (alike & inner & (values["sigma2"] == 4)).any()  # alike at any number
    assert ((values["sigma2"] == 0) & (values["step"] == 1)).any()
    assert ((values["h"] == 4) & (values["rounds"] == 10)).any()


def test_minimisers_are_alike_whether_they_are_rows_of_an_array_or_numbers_of_their_own():
    apart = {f"m{client}": Domain(low=-1, high=1) for client in range(3)}
    family = Family(
        name="", domains={"rows": Domain(low=-2, high=2, shape=(3, 2)), "s": Domain(low=0, high=1), **apart}
    )
    values = family.at(family.corners(600, seed=0))
    rows = (values["rows"] == values["rows"][:, :1]).all((1, 2)) & (np.ptp(values["rows"][:, 0], axis=1) > 0)
    numbers = (values["m0"] == values["m1"]) & (values["m1"] == values["m2"])
    for alike in (rows, numbers):
        for end in (0, 1):
            assert (alike & (values["s"] == end)).any()


def test_scalars_are_moved_to_where_conditions_turn():
    def turning(*, sigma2, eta, mu):
        return {"from": (1.3, sigma2), "to": (sigma2, 1.3), "step": (eta * mu, 0.37), "at least": (0.37, eta * mu)}

    family = family_of(FAMILY)
    values = on_boundaries(record(lambda *, e0: e0, turning), family, seed=1)
    assert len(values["h"]) >= 10
    np.testing.assert_allclose(values["sigma2"], 1.3, rtol=1e-14)
    np.testing.assert_allclose(values["step"], 0.37, rtol=1e-13)
    assert len(set(values["rounds"])) > 1


@pytest.mark.parametrize(("least", "true"), [(1e-5, False), (0.0, True)])
def test_the_worst_condition_number_and_the_longest_time_are_tried_together(least, true):
    def late(*, eta, mu, beta, e0, sigma2, T):
        kept = (1 - eta * np.maximum(mu, least * beta)) ** (2 * T)
        return kept * e0 + eta * sigma2 * beta / (2 * mu * (2 - eta * mu))

    verdict = check(late, conditions=lambda *, eta, beta: {"step": (eta, 1 / beta)})
    assert verdict.valid if true else verdict.outcome is Outcome.VIOLATED, str(verdict)
