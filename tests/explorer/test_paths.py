"""The paths that the page simulates: the map is that of the counterexample, their mean is near the exact one."""

from __future__ import annotations

import math

import numpy as np
from node import needs_node, run

from suffice.explorer.exact_values import exact_values, paths
from suffice.figures import figure
from suffice.figures.theorem_2_truth import RUNNING, TRUTH
from suffice.verification.instances.quadrature_1d import counterexample

pytestmark = needs_node
MANY = 40_000


def test_the_rule_is_kept_as_the_counterexample_has_it():
    assert exact_values()["paths"] == paths()


def test_one_step_is_the_recursion_of_the_simulated_algorithm(tmp_path):
    line, _ = counterexample()
    rng = np.random.default_rng(3)
    theta = np.concatenate(
        (rng.normal(0, 0.3, 400), 0.0632455532 + np.array([-1e-6, 1e-6]))
    )  # on both sides of the jump
    z = rng.normal(size=len(theta))
    mean, variance = line.step(theta)
    body = "return given.points.map(([theta, z]) => paths.next(given.rule, theta, z));"
    points = list(map(list, zip(theta.tolist(), z.tolist())))
    found = run(tmp_path, body, {"rule": paths(), "points": points})
    np.testing.assert_allclose(found, mean + np.sqrt(variance) * z, rtol=1e-12, atol=1e-15)
    together = np.abs(theta) > 0.0633
    assert np.sqrt(variance[together]).max() < 0.1 < 0.9 * (1 - 1e-12) < np.sqrt(variance[~together][:-2]).min()


def test_the_mean_of_many_paths_is_the_exact_one_with_and_without_the_indicator(tmp_path):
    body = f"""const normal = paths.normals(5), sums = [];
        for (let k = 0; k < {MANY}; k++) {{
          const {{ points, stop }} = paths.pathOf(given, normal);
          points.forEach(([t, e], at) => {{
            if (t !== at) throw new Error("a step is missing");
            const row = (sums[t] ??= [0, 0, 0, 0]);
            const running = stop >= t ? e : 0;
            [e, e * e, running, running * running].forEach((x, i) => (row[i] += x));
          }});
        }}
        return sums;"""
    sums = np.array(run(tmp_path, body, paths())) / MANY
    exact = figure("theorem-2-truth").data
    for at, name in ((0, TRUTH), (2, RUNNING)):
        error = np.sqrt(np.maximum(sums[:, at + 1] - sums[:, at] ** 2, 0) / MANY)
        away = np.abs(sums[:, at] - exact[name]["excess"])
        assert (away <= 4 * error + 1e-15).all(), (name, away / error)
        assert (error[1:5] < 0.1 * exact[name]["excess"][1:5]).all()


def test_the_paths_that_are_drawn_stand_at_the_counterexample_alone(tmp_path):
    body = """const lines = (key, edition, along, eta) =>
          paths.pathLines({ record: { key, edition }, along, values: { ...given.at, eta, T: 2 } }, given);
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
