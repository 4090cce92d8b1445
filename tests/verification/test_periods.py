"""Bounds of R rounds, K local steps and P participants: about whole rounds alone, T = R K."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import InputError
from suffice.simulate import FedAvg, Local, LocalSGD, Quadratics, Scaffnew, expected_excess
from suffice.simulate.algorithms import Ditto
from suffice.verification import Domain, Outcome, check, families
from suffice.verification.families import FamilyInstance, ProblemFamily

pytestmark = pytest.mark.usefixtures("brief")


def problem():
    return Quadratics.of(np.array([[[1.0]], [[0.25]]]), [[0.0], [1.0]], sigma2=0.5, start=[2.0])


def alike(**options) -> ProblemFamily:
    return families.quadratics(identical=True, **options)


def seven() -> ProblemFamily:
    """One instance of seven iterations."""
    return ProblemFamily(
        name="seven", domains={"none": Domain(low=0, high=0, integer=True)},
        build=lambda values: FamilyInstance(problem=problem(), eta=0.1, iterations=7),
    )  # fmt: skip


@pytest.mark.share(2)
@pytest.mark.parametrize(
    "algorithm", [LocalSGD(period=3), FedAvg(period=3, participants=2), Ditto(pull=0.0, server=FedAvg(period=3))]
)
def test_every_instance_has_whole_rounds(algorithm):
    def bound(*, R, K, T, e0, sigma2, participants=None):
        return 1e9 * (e0 + sigma2) * np.where((T == R * K) & (R >= 1) & (K == 3), 1, -1)

    def small(*, eta, beta, R):
        return {"step": (eta, 0.1 / beta), "rounds": (R, 50)}

    wanted = (
        bound
        if isinstance(algorithm, FedAvg)
        else lambda *, R, K, T, e0, sigma2: bound(R=R, K=K, T=T, e0=e0, sigma2=sigma2)
    )
    verdict = check(wanted, conditions=small, algorithm=algorithm, family=alike(clients=2, longest=160))
    assert verdict.valid, str(verdict)
    assert verdict.ranges["T"][0] == 3
    assert verdict.ranges["R"][1] <= 50


def test_an_own_family_is_followed_to_the_end_of_its_last_whole_round():
    truth = expected_excess(problem(), LocalSGD(period=2), iterations=7, eta=0.1)[:, 0]
    assert abs(truth[7] / truth[6] - 1) > 0.01
    for factor, stands in ((1 + 1e-6, True), (1 - 1e-6, False)):
        verdict = check(lambda *, R, c=factor: c * truth[6] + 0 * R, algorithm=LocalSGD(period=2), family=seven())
        assert verdict.valid == stands, str(verdict)
    every = check(lambda *, T: truth[7] * (1 + 1e-6) + 0 * T, algorithm=LocalSGD(period=2), family=seven())
    assert every.valid
    assert "T counting iterations, 2 to a round" in every.tried


@pytest.mark.slow
def test_no_more_participate_than_there_are():
    def bound(*, participants, N, e0):
        return np.where(participants == np.minimum(2, N), 1e9 * e0, -1.0)

    conditions = lambda *, eta, beta, sigma2: {"step": (eta, 0.1 / beta), "quiet": (sigma2, 0)}  # noqa: E731
    few = {"algorithm": FedAvg(participants=2), "conditions": conditions}
    assert check(bound, family=alike(clients=3, longest=20), **few).valid


def test_an_interval_of_periods_is_tried():
    def bound(*, K, e0, sigma2, eta, beta, T):
        return (e0 + T * eta**2 * beta * sigma2) * np.where(K == 8, 1e-6, 1e6)

    def small(*, eta, beta):
        return {"step": (eta, 0.1 / beta)}

    given = {"conditions": small, "algorithm": LocalSGD(), "family": alike(features=1, longest=20)}
    found = {top: check(bound, period=(1, top), **given) for top in (7, 8)}
    assert found[7].valid
    assert "periods 1, 2, 4, 7" in found[7].tried
    assert found[8].outcome is Outcome.VIOLATED
    assert found[8].counterexample["arguments"]["K"] == 8


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("R", {"algorithm": Local()}, r"^R = 'local': it has no rounds: give LocalSGD\(period=5\)"),
        ("K", {"algorithm": Scaffnew(p=0.5)}, "^K = 'scaffnew': it has no rounds"),
        ("participants", {"algorithm": LocalSGD(period=2)}, "^participants = 'local-sgd': it has no rounds"),
        ("e0", {"algorithm": LocalSGD(), "period": 3}, r"^period = '3': give an interval \(low, high\)"),
        ("e0", {"algorithm": LocalSGD(), "period": (3, 2)}, r"^period = '\(3, 2\)': give an interval"),
        ("e0", {"algorithm": Local(), "period": (1, 2)}, r"^period = '\(1, 2\)': .* an algorithm with a period"),
    ],
)  # fmt: skip
def test_rounds_that_are_none_are_refused(name, options, message):
    bound = {"R": lambda *, R: R, "K": lambda *, K: K, "participants": lambda *, participants: participants,
             "e0": lambda *, e0: e0}[name]  # fmt: skip
    with pytest.raises(InputError, match=message):
        check(bound, family=families.quadratics(clients=2), **options)
