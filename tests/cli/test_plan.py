"""Stability, files and arrivals through `suffice.plan` and the command."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from client_data import near_and_far

import suffice as sf
from suffice.cli.demo import diabetes
from suffice.planning.tables.columns import write_csv
from suffice.planning.tables.plans import weights_tables
from suffice.support.text import csv_text

EXAMPLES = Path(__file__).parents[2] / "examples"


def random_quadratics(seed):
    """A few clients near one another, noise from weak to strong, a precision below the smallest start."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    Q = np.linalg.qr(rng.normal(size=(n, d, d)))[0]
    A = Q @ (np.exp(rng.uniform(-0.7, 0.2, (n, d)))[..., None] * Q.swapaxes(1, 2))
    if seed % 3 == 0:
        A = np.broadcast_to(A[:1], A.shape).copy()
    optimum = rng.normal(size=(n, d)) * np.exp(rng.uniform(-4, -1))
    sigma2 = np.exp(rng.uniform(-4, -1, n))
    direction = rng.normal(size=d)
    start = rng.uniform(1, 2) * direction / np.linalg.norm(direction)  # far from every optimum
    problem = sf.Quadratics.of((A + A.swapaxes(1, 2)) / 2, -optimum, sigma2=sigma2, start=start)
    excess = problem.constants().excess
    return problem, float(excess.min() * np.exp(rng.uniform(-2, -0.5)))


def ratios(instances):
    """Measured over predicted, alone and together, of every client."""
    alone, together = [], []
    for seed in instances:
        problem, epsilon = random_quadratics(seed)
        for entry in sf.plan(problem, epsilon).simulate(seeds=256):
            assert entry.together.arrived == entry.alone.arrived == 1
            # the bound is 2 or more above the mean; the standard error of 256 paths is 3 % of it
            assert entry.together.time + 5 * entry.together.time_se <= entry.together.predicted
            assert entry.alone.time + 5 * entry.alone.time_se <= entry.alone.predicted
            alone.append(entry.alone.ratio)
            together.append(entry.together.ratio)
    return np.array(alone), np.array(together)


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_planned_all_for_one_arrives_within_the_predicted_mean_on_random_quadratics(count):
    alone, together = ratios(range(count))
    assert len(together) > 2.5 * count
    assert np.median(together) > 0.02
    assert max(alone.max(), together.max()) < 0.9


def test_a_row_carries_the_weights_of_definition_1():
    plan = sf.plan(near_and_far(300), 0.3)
    sigma2 = plan.constants.sigma2
    assert len(plan) == 3
    for row in plan:
        member = row.similarity >= row.criterion.threshold * (1 - 1e-14)
        expected = member / sigma2 / (member * row.similarity / sigma2).sum()
        np.testing.assert_allclose(row.weights, expected, rtol=1e-12)
        np.testing.assert_allclose(row.weights @ row.similarity, 1, rtol=1e-12)
        assert tuple(np.flatnonzero(row.weights)) == row.cluster


def test_the_table_and_the_figure_carry_the_plan(tmp_path):
    plan = sf.plan(diabetes(), 0.2)
    measured = plan.simulate(seeds=16)
    saved = write_csv(tmp_path / "new" / "plan.csv", plan.rows, measured=measured)
    rows = list(csv.reader(saved.read_text().splitlines()))
    header, body = rows[0], [dict(zip(rows[0], row)) for row in rows[1:]]
    assert all(len(row) == len(header) for row in rows)
    first = next(row for row in body if row["client"] == "59-64" and row["method"] == "exact")
    assert first["collaborators"] == "; ".join(plan["59-64"].collaborators)
    assert float(first["iterations <= [1]"]) == plan["59-64"].exact.iterations
    assert first["measured [1]"] == ""
    quadratics, epsilon = random_quadratics(0)
    bounded = sf.plan(quadratics, epsilon)
    (run, *_) = runs = bounded.simulate(seeds=16)
    told = list(csv.DictReader(write_csv(tmp_path / "b.csv", bounded.rows, measured=runs).read_text().splitlines()))
    (first,) = (row for row in told if row["client"] == run.name and row["method"] == "all-for-one")
    assert float(first["measured [1]"]) == run.together.time
    assert not any(row["method"] in ("all-for-one", "local") and row["client"] for row in body)

    drawn = plan.plot()
    curves = list(csv.DictReader(csv_text(drawn._rows()).splitlines()))
    row = plan["59-64"]
    mine = [c for c in curves if (c["epsilon"], c["client"], c["how"]) == ("0.2", "59-64", "together")]
    assert float(mine[0]["excess"]) == pytest.approx(row.exact.start, rel=1e-12)
    (last,) = (c for c in mine if float(c["iteration"]) == row.exact.iterations)
    assert float(last["excess"]) == pytest.approx(row.exact.excess, rel=1e-12)
    panels = json.loads(drawn._json())["setup"]["panels"]
    (mine,) = (panel for panel in panels if panel["name"] == "59-64")
    np.testing.assert_array_equal(mine["weights"], row.exact.weights)
    assert (mine["iterations"], mine["alone"]) == (row.exact.iterations, row.exact_local.iterations)
    with pytest.raises(sf.InputError, match=r"^plot = "):
        drawn.write(tmp_path / "matrix.docx")


def test_constants_without_a_start_are_drawn_without_curves_and_written(tmp_path):
    pair = sf.GradientDissimilarity(b2=np.zeros((2, 2)), c=np.zeros((2, 2)))
    plan = sf.plan(sf.Constants(mu=1.0, beta=1.0, sigma2=1.0, heterogeneity=pair), 0.1)
    drawn = plan.plot()
    folder = drawn.write(tmp_path / "figures")
    assert [path.name for path in folder] == ["plan.pdf", "plan.png", "plan.csv", "plan.json"]
    assert folder[1].stat().st_size > 5000
    (one,) = drawn.write(tmp_path / "matrix.svg")
    assert one.read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize("more", [{}, {"horizon": 30, "confidence": 0.2}])
def test_horizon_and_confidence_reach_the_plan_and_the_command_adds_keys(command, tmp_path, more):
    given = ("plan", EXAMPLES / "constants.toml", *(word for name in more for word in (f"--{name}", more[name])))
    done = command(*given, "--json", "--csv", tmp_path / "p.csv")
    answer = json.loads(done.stdout)
    setup = sf.read_setup(EXAMPLES / "constants.toml")
    asked = {"horizon": setup.horizon, "confidence": setup.confidence} | more
    plan = sf.plan(setup.source, setup.epsilon, **asked)
    assert (done.returncode, set(answer)) == (0, {"all_for_all", "break_even", "clients", "notes"})
    assert answer["clients"] == json.loads(json.dumps(plan.to_dict()["clients"]))
    assert [entry["name"] for entry in answer["break_even"]] == ["0", "1", "2"]
    assert (tmp_path / "p.csv").read_text().startswith("epsilon [loss],method,client")
    shown = command(*given).stdout
    for text in ("decreasing", "2/(mu (t + ", "Collaboration matrix at 0.5") if more else ():
        assert text in shown


def test_methods_are_compared_by_the_command(command, refused, tmp_path):
    rows = [f"{site},{x},{2 * x + (-1) ** x}" for site in "AB" for x in range(-9, 9)]
    (tmp_path / "t.csv").write_text("\n".join(("client,x,target", *rows)))
    asked = ("plan", tmp_path / "t.csv", "--epsilon", "10%", "--methods", "--seeds", 4)
    answer = json.loads(command(*asked, "--json").stdout)
    first, *others = answer["methods"]
    assert first["name"] == "this plan"
    assert first["iterations"] == max(row["exact"]["iterations"] for row in answer["clients"])
    assert {"local", "fedavg", "all-for-one"} <= {one["name"] for one in others}
    assert "Methods at their best steps" in command(*asked).stdout
    line = refused("plan", EXAMPLES / "constants.toml", "--methods")
    assert line.startswith("suffice: methods = 'constants': constants alone run nothing")


def test_the_root_is_that_of_the_simulation(command, refused, tmp_path):
    path = tmp_path / "t.csv"
    rows = [
        f"{site},{x / 9},{slope * x / 9 + (-1) ** x / 9}" for site, slope in (("A", 2), ("B", 3)) for x in range(-9, 9)
    ]
    path.write_text("\n".join(("client,x,target", *rows)))
    plan = sf.plan(sf.read(path, standardise="none"), 1.0)
    asked = ("--standardise", "none", "--epsilon", 1.0, "--simulate", "--seeds", 4, "--json")
    answers = {}
    for root in (None, 0, 5):
        more = () if root is None else ("--root", root)
        done = command("plan", path, *asked, *more)
        assert (done.returncode, done.stderr) == (0, "")
        answers[root] = json.loads(done.stdout)
    assert answers[None] == answers[0] != answers[5]
    measured = plan.simulate(seeds=4, root=5)
    assert [entry["excess_together"] for entry in answers[5]["measured"]] == [one.together.excess for one in measured]
    assert [entry["iterations_together"] for entry in answers[5]["measured"]] == [row.exact.iterations for row in plan]
    assert "measured/exact" in command("plan", path, *asked[:-1]).stdout
    line = refused("plan", path, "--epsilon", 0.5, "--simulate", "--root", -1)
    assert line == "suffice: root = -1: give a whole number within 0..2^32 - 1"


@pytest.mark.parametrize("epsilon", [("200%",), ("150%", "300%")])
def test_a_precision_that_every_start_has_takes_one_line(command, tmp_path, epsilon):
    path = tmp_path / "t.csv"
    rng = np.random.default_rng(1)
    rows = [f"s{k % 3},{x},{x + e}\n" for k, (x, e) in enumerate(rng.normal(size=(60, 2)))]
    path.write_text("site,x,target\n" + "".join(rows))
    done = command("plan", path, "--client", "site", *(part for one in epsilon for part in ("--epsilon", one)))
    assert (done.returncode, done.stderr) == (0, "")
    first, then = done.stdout.splitlines()
    assert first == "Nothing to plan: every start is there already (0 iterations)."
    assert then.startswith("Next: suffice fit ")
    some = command("plan", path, "--client", "site", "--epsilon", "200%", "--epsilon", "10%")
    assert "Nothing to plan" not in some.stdout


def test_a_plan_of_a_table_says_what_it_counts_and_where_the_names_of_many_are():
    rng = np.random.default_rng(0)
    X, clients = rng.normal(size=(13 * 20, 2)), np.repeat(np.arange(13), 20)
    y = X @ rng.normal(size=2) + 0.5 * rng.normal(size=len(X))
    where = "Who learns from whom, by name and weight, is in weights.csv of --out DIR and in --json."
    for many in (3, 13):
        rows = clients < many
        data = {"client": clients[rows], "x": X[rows, 0], "z": X[rows, 1], "target": y[rows]}
        result = sf.plan(sf.read(data, client="client", target="target"), "10%")
        assert any(row.collaborators for row in result)
        assert "A plan counts iterations to the optimum of the given rows" in " ".join(str(result).split())
        shown = weights_tables(result.precisions)
        assert [table.lines for table in shown] == ([[where]] if many > 12 else [()])
    quadratics, epsilon = random_quadratics(1)
    assert "optimum of the given rows" not in " ".join(sf.plan(quadratics, epsilon).notes)
