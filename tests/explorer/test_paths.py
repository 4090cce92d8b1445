"""The paths that the page draws: their mean is near the exact one, and they stand at the counterexample alone."""

from __future__ import annotations

import math

import numpy as np
from node import needs_node, run

from suffice.explorer.exact_values import exact_values, paths
from suffice.figures import figure
from suffice.figures.theorem_2_truth import RUNNING, TRUTH

MANY = 40_000


def test_the_paths_are_kept_as_they_are_simulated():
    kept, now = exact_values()["paths"], paths()
    np.testing.assert_allclose(kept.pop("excess"), now.pop("excess"), rtol=2e-5)  # five digits
    assert kept == now


def test_the_mean_of_many_paths_is_the_exact_one_with_and_without_the_indicator():
    many = paths(MANY)
    excess = np.array(many["excess"])
    stopped = np.cumsum(excess < many["eps"], axis=1) > 0
    running = np.where(np.column_stack((np.zeros(MANY, bool), stopped[:, :-1])), 0, excess)
    exact = figure("theorem-2-truth").data
    for found, name in ((excess, TRUTH), (running, RUNNING)):
        error = found.std(0) / math.sqrt(MANY)
        away = np.abs(found.mean(0) - exact[name]["excess"])
        assert (away <= 4 * error + MANY * 2**-53 * found.mean(0)).all(), (name, away / error)  # roundings of the sum
        assert (error[1:5] < 0.1 * exact[name]["excess"][1:5]).all()


@needs_node
def test_the_paths_that_are_drawn_stand_at_the_counterexample_alone(tmp_path):
    body = """const lines = (key, edition, along, eta) =>
          curves.pathLines({ record: { key, edition }, along, values: { ...given.at, eta, T: 2 } }, given);
        const all = lines(given.key, "printed", "T", given.at.eta);
        return { all, less: [lines("adaptive/lemma-1", "printed", "T", 0.9), lines(given.key, "printed", "eta", 0.9),
          lines(given.key, "printed", "T", 0.5)], stopped: lines(given.key, "corrected", "T", given.at.eta) };"""
    found = run(tmp_path, body, paths())
    assert found["less"] == [[], [], []]
    running, gone = ([one for one in found["all"] if one["look"] == look] for look in ("path", "path gone"))
    assert len(running) == len(found["stopped"]) == 30
    eps = paths()["eps"]
    for line, rest in zip(running, gone):
        *before, (last, end) = line["points"]
        assert all(excess >= eps for _, excess in before)  # the first below eps is tau, and is the last that runs
        assert line["ends"] == (end < eps)
        assert last == 8 or end < eps
        assert math.isclose(before[0][1] if before else end, paths()["at"]["e0"])
        if line["ends"]:
            assert rest["points"][0] == [last, end]
    assert sum(line["ends"] for line in running) > 25
