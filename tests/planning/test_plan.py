"""Plans from problems: names, collaborators, and predictions that simulation does not exceed."""

from __future__ import annotations

import json
import re
import runpy
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import torch
from blocks import ROOT

import suffice as sf
from suffice.cli.demo import PRECISIONS, diabetes
from suffice.planning.tables.plans import weights_tables


@pytest.fixture(scope="module")
def demo():
    return sf.plan(diabetes(), epsilon=PRECISIONS, start="zero")


@pytest.mark.slow
def test_measured_excesses_are_the_exact_ones_and_plans_with_peers_mostly_faster(demo):
    measured = demo.simulate(seeds=4096)
    # 24 rows, alone and together: 48 comparisons at 5 standard errors; excesses have heavy tails, not these means
    for row, entry in zip(demo, measured, strict=True):
        for how, plan in (("alone", row.exact_local), ("together", row.exact)):
            run = getattr(entry, how)
            assert 0 < run.excess_se < 0.05 * plan.excess
            assert abs(run.excess - plan.excess) < 5 * run.excess_se
            assert plan.excess <= row.epsilon
            assert run.time is run.predicted is None  # bounds are those of schedules
    text = repr(measured[0])
    assert text.startswith(f"Measured({demo.rows[0].name} at {demo.rows[0].epsilon:g}: alone excess ")
    assert text.endswith("4096 seeds)")
    assert len(text) < 120
    gains = [row.exact_speedup for row in demo]
    assert min(gains) >= 1
    assert sum(gain > 1 for gain in gains) >= 22


def test_no_schedule_of_least_squares_is_promised(demo):
    """Its noise has no bound: the papers' schedules are null and the reason stands beside."""
    for row in demo:
        told = row.to_dict()
        assert told["schedules"] is told["step_limit"] is None
        assert told["guaranteed"] == {"holds": False, "reason": row.refusal}
        assert "no one sigma bounds it" in row.refusal
        assert told["speedup"] == told["exact"]["speedup"] == row.exact_speedup


def test_where_there_are_no_second_moments_schedules_stand_as_estimates_and_say_so(monkeypatch):
    monkeypatch.setattr("suffice.simulate.moments.by_rows.MOST_WORK", 1e6)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2, 240, 120)), rng.normal(size=(2, 240))
    plan = sf.plan(sf.from_arrays(list(X), list(y), standardise="none"), epsilon="50%")
    for row in plan:
        told = row.to_dict()
        assert told["exact"] is None
        assert told["schedules"]["hitting"]["expected_iterations"] > 0
        assert not told["guaranteed"]["holds"]
        assert any(warning.startswith("no exact plan: 7.0e+06 products a step") for warning in row.warnings)
    assert "Estimated: expected iterations" in str(plan)
    assert "not guaranteed: the noise" in str(plan)
    assert max(map(len, str(plan).splitlines())) <= 80


def test_of_more_than_twenty_clients_the_first_have_a_line():
    rng = np.random.default_rng(0)
    X = [np.array([1, 2, 4]) * rng.normal(size=(30, 3)) for _ in range(24)]
    y = [x @ (np.array([1.0, -0.5, 0.2]) + 0.1 * rng.normal(size=3)) + rng.normal(size=30) for x in X]
    noisy = sf.Quadratics.of(np.ones((22, 1, 1)), 0.1 * rng.normal(size=(22, 1)), sigma2=1.0, start=[2.0])
    for problem, precision in ((sf.from_arrays(X, y), "30%"), (noisy, 0.3)):
        plan = sf.plan(problem, precision)
        table = plan.table()
        together = table.columns.index("together")
        assert [row[together] for row in table.rows] == [str(row.exact.iterations) for row in plan.rows[:20]]
        median = np.median([row.exact.iterations for row in plan])
        assert re.search(f" {median:g} iterations? in the median", plan.answer)
        assert max(map(len, str(plan).splitlines())) <= 80
        assert f"{len(plan) - 20} more rows are in --csv FILE and --json." in str(plan)


def test_a_step_for_multiplied_gradients_is_said_to_be_one(demo):
    name = next(row.name for row in demo if row.exact.matrix is not None)
    shown = " ".join(str(demo).split())
    assert "Multiply the averaged gradient by the client's matrix, which is in `matrices` of --json" in shown
    assert "averaged gradient by the client&#x27;s matrix" in demo._repr_html_()
    told = demo.to_dict()
    row = next(row for row in told["clients"] if row["name"] == name)
    # one name, one matrix; a client alone makes it from turned coordinates, which are rounded
    np.testing.assert_allclose(told["matrices"][row["exact"]["matrix"]], demo[name][0].exact.matrix, atol=1e-14)
    without = sf.plan(sf.Quadratics.of(np.ones((3, 1, 1)), [[0.0], [0.1], [0.2]], sigma2=1.0, start=[2.0]), 0.3)
    assert {row.exact.preconditioner for row in without} == {"none"}
    assert "matrices" not in str(without) + without._repr_html_()


def test_long_names_leave_the_weights_numbered(demo):
    names = [f"{name} years of age" for name in demo.rows[0].names]
    rows = [replace(row, name=names[row.client], names=tuple(names)) for row in demo]
    (short,), (long,) = (weights_tables({0.1: part[:8]}) for part in (demo.rows, rows))
    assert long.columns[1:-1] == tuple("12345678")
    assert short.columns[1:-1] == demo.rows[0].names
    assert long.rows[2][0] == f"3 {names[2]}"
    assert [row[1:] for row in long.rows] == [row[1:] for row in short.rows]


def test_rows_are_found_by_name(demo):
    rows = demo["59-64"]
    assert [row.epsilon for row in rows] == list(PRECISIONS)
    assert rows[1].collaborators == tuple(name for name in rows[1].names if name != "59-64")
    with pytest.raises(sf.InputError, match="did you mean 59-64"):
        demo["59-65"]


def test_what_is_printed_is_short(demo):
    assert repr(demo) == "Plan(8 clients at 0.2, 0.1, 0.03; from LeastSquares; print it for the table)"
    row = repr(demo["59-64"][1])
    assert row.startswith("ClientPlan(59-64 at 0.1: with 19-32, 32-39, 39-46, 46-50, 50-54, 54-59, ...; step 0.2")
    assert row.endswith("together 2, alone 12, speed-up 6)")
    assert len(row) < 140
    assert len(repr(demo["59-64"][1].exact)) < 700
    lines = str(demo).splitlines()
    assert len(lines) < 42
    assert max(map(len, lines)) <= 80
    assert next(line for line in lines if line.startswith("59-64    0.1")).split()[2:5] == ["7", "of", "7"]


def test_a_plan_of_two_keeps_rows_by_precision_draws_itself_and_is_simulated_in_single_precision(tmp_path):
    problem = sf.Quadratics.of(np.ones((2, 1, 1)), [[0.0], [0.05]], sigma2=1.0, start=[2.0])
    plan = sf.plan(problem, epsilon=[0.3, 0.5, 0.3])
    assert list(plan.precisions) == [0.3, 0.5]
    assert [(row.epsilon, row.client) for row in plan] == [(0.3, 0), (0.3, 1), (0.5, 0), (0.5, 1)]
    assert plan.rows == (*plan.precisions[0.3], *plan.precisions[0.5])
    figure = plan.plot(tmp_path / "plan.png")
    shown = figure._repr_png_()
    assert (tmp_path / "plan.png").read_bytes() == shown
    assert shown[1:4] == b"PNG"
    assert len(repr(figure)) < 150
    with pytest.raises(sf.InputError, match="name a"):
        plan.plot(tmp_path / "plan.docx")
    measured = sf.plan(problem.to(torch.float32), epsilon=0.3).simulate(seeds=64)
    assert [entry.together.arrived for entry in measured] == [1, 1]


def test_the_example_of_ten_predictors_is_planned_where_no_bound_of_the_papers_holds(capsys):
    plan = runpy.run_path(str(ROOT / "examples" / "ten_predictors.py"), run_name="__main__")["plan"]
    printed = re.findall(r"(\d+) iterations alone, (\d+) together", capsys.readouterr().out)
    times = [(row.exact_local.iterations, row.exact.iterations) for row in plan]
    assert printed == [(str(alone), str(together)) for alone, together in times]
    assert all(0 < together <= alone for alone, together in times)
    assert [row.cluster for row in plan] == [(row.client,) for row in plan]
    assert sum(row.exact_speedup > 1.02 for row in plan) >= 6


def test_second_moments_beyond_the_memory_are_refused_before_they_are_built():
    rng = np.random.default_rng(0)
    X, y = list(rng.normal(size=(4, 90, 25))), list(rng.normal(size=(4, 90)))
    problem = sf.from_arrays(X, y, standardise="none", intercept=False)
    with pytest.raises(sf.InputError, match=r"^memory for second moments of 4 clients with 25 coeff.*--max-memory"):
        sf.plan(problem, 0.1, max_memory=1e7)


class AsRegressionsAre(sf.Quadratics):
    """A problem of one's own that has what least squares and logistic regression have, but no rows."""

    with_start = quadratic_model = None


def test_a_problem_of_ones_own_may_have_the_names_that_problems_of_rows_have():
    A, xi, how = np.tile(np.eye(2), (2, 1, 1)), np.eye(2), {"sigma2": 1.0, "start": np.full(2, 3.0)}
    assert str(sf.plan(AsRegressionsAre.of(A, xi, **how), "10%")) == str(sf.plan(sf.Quadratics.of(A, xi, **how), "10%"))


class WithoutMoments(sf.Quadratics):
    """They have no exact plan, whose search takes its time and no such matrices."""

    def gradient_moments(self, memory=None):
        return None


@pytest.mark.share(2)
@pytest.mark.parametrize("kind", ["quadratics", "constants"])
def test_a_plan_beyond_the_memory_is_refused_before_its_matrices_are_allocated(kind):
    """What is counted is what it takes: not less, and for quadratics not more than twice."""

    def made(clients):
        if kind == "quadratics":
            A, xi = np.tile(np.eye(8), (clients, 1, 1)), np.random.default_rng(5).normal(size=(clients, 8))
            return WithoutMoments.of(A, xi, sigma2=1.0, start=np.ones(8))
        b = np.subtract.outer(np.arange(clients), np.arange(clients)) ** 2 / 1e5
        pairs = sf.bounds.GradientDissimilarity(b2=b, c=0 * b)
        return sf.Constants(mu=0.5, beta=1.0, sigma2=1.0, excess=5.0, heterogeneity=pairs)

    sf.plan(made(9), [0.1, 1.0])  # whatever is loaded at the first time
    source = made(40 if kind == "quadratics" else 300)
    tracemalloc.start()
    try:
        with pytest.raises(sf.InputError, match=r"^memory for a plan of .* \(--max-memory\)$") as caught:
            sf.plan(source, [0.1, 1.0], max_memory=1e6)
        refused = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        counted = 1.01 * float(caught.value.value.split()[0])  # two digits are shown
        sf.plan(source, [0.1, 1.0], max_memory=1.05 * counted)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert refused < 1e6
    assert counted / 2 < taken < counted


def test_the_dictionary_of_a_plan_is_the_json_of_the_command(tmp_path, command):
    """Five rows for eight columns: sites without constants, whose variances are not known; null, in both."""
    rng, path = np.random.default_rng(0), tmp_path / "t.csv"
    rows = [",".join(map(str, [f"s{k % 3}", *rng.normal(size=9)])) for k in range(15)]
    path.write_text("\n".join([",".join(["client", *(f"x{j}" for j in range(8)), "target"]), *rows]))
    plan = sf.plan(sf.read(path), "10%")
    answer = plan.to_dict()
    assert answer["clients"][0]["step_ratio"] is None
    printed = json.loads(command("plan", path, "--epsilon", "10%", "--json").stdout)
    assert json.loads(json.dumps(answer, allow_nan=False)) == {name: printed[name] for name in answer}
    statistics = sf.statistics(plan.problem).to_dict()
    assert json.loads(json.dumps(statistics, allow_nan=False)) == statistics
