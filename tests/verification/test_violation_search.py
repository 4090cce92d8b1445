"""The search: starts at the edge of what a theorem covers, and late; ascent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

from suffice.verification.check import record
from suffice.verification.evidence import Evidence
from suffice.verification.family import Domain, Family
from suffice.verification.violation_search import search

DOMAINS = {
    "share": Domain(low=0.01, high=4, log=True),
    "beta": Domain(low=0.5, high=2, shape=(5,)),
    "T": Domain(low=1, high=60, integer=True),
}


def family(measured):
    """The step is `share`/beta, beta the largest of five curvatures."""

    def arguments(values):
        beta = values["beta"].max(1)
        return {"eta": values["share"] / beta, "beta": beta, "T": values["T"]}

    def measure(values):
        found = arguments(values)
        return Evidence(engine="formula", measured=measured(**found), arguments=found, values=values)

    return Family(name="formula", domains=DOMAINS, measure=measure, arguments=arguments)


def limit(*, eta, beta):
    return {"step": (eta, 1.9 / beta)}


def worst(given, bound, **effort):
    theorem = record(bound, limit)
    found = list(
        search(theorem, given, **{"draws": 40, "restarts": 4, "ascents": 4, "corners": 40, "root": 3} | effort)
    )
    assert found[-1].counted(theorem).any()
    return max(np.where(each.counted(theorem), each.ratio(theorem), 0).max() for each in found)


def test_a_bound_that_fails_only_at_the_limit_of_its_step_is_refuted():
    # 1 up to a step of 1.895/beta, 2 from there on: no slope leads to the last quarter of a per cent
    given = family(lambda eta, beta, T: np.where(eta * beta > 1.895, 2.0, 1.0))
    assert worst(given, lambda *, eta: 1.0 + 0 * eta) == 2
    assert worst(replace(given, arguments=None), lambda *, eta: 1.0 + 0 * eta, ascents=1) == 1


def test_a_rate_that_is_a_little_too_good_is_seen_late():
    # far below the bound until T = 40, where slopes lead to T = 1
    given = family(lambda eta, beta, T: 0.5 * 0.9 ** np.minimum(T, 20) * 1.01 ** np.maximum(T - 20, 0) * 0.9)
    late = lambda *, T: 0.9 ** np.minimum(T, 20) * 0.995 ** np.maximum(T - 20, 0)  # noqa: E731
    assert_allclose(worst(given, late), 0.45 * (1.01 / 0.995) ** 40, rtol=1e-9)


def test_ascent_finds_what_random_draws_miss():
    """Violated within .011 of one point of the unit square alone, and there by .05 % at most."""
    theorem = record(lambda *, e0: e0)

    def measure(values):
        distance = ((values["x"] - np.array([0.37, 0.71])) ** 2).sum(1)
        return Evidence(engine="", measured=1.0005 - 4 * distance, arguments={"e0": np.ones(len(distance))})

    hill = Family(name="a hill", domains={"x": Domain(low=0, high=1, shape=(2,))}, measure=measure)
    drawn = hill.evidence(hill.draw(200, seed=3))
    assert (drawn.ratio(theorem) <= 1).all()
    *_, found = search(theorem, hill, draws=24, restarts=4, ascents=8, root=3)
    assert found.ratio(theorem).max() > 1.0004


def test_what_no_move_improves_is_not_measured_again():
    measured = []
    for ascents in (5, 50):
        asked: list[int] = []
        given = family(lambda eta, beta, T, asked=asked: asked.append(len(T)) or np.ones(len(T)))
        assert worst(given, lambda *, eta: 1.0 + 0 * eta, ascents=ascents) == 1
        measured.append(sum(asked))
    assert measured[0] == measured[1]
