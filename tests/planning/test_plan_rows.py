"""Plans of sites whose constants nobody knows: exact rows, and why nothing more is promised."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy.stats import norm
from site_data import site_file

import suffice as sf
from suffice.bounds import InputError
from suffice.planning.simulated import excesses, weights_of
from suffice.simulate import run

FEW = "client,a,target\nA,1,1\nA,2,5\nA,4,4\nB,1,1\nB,3,2\nB,4,0\nB,6,3\n"
TABLES = {
    "one row": (FEW + "C,3,3\n", "its 1 rows do not determine 2 coefficients"),
    "constant column at one site": (FEW + "C,3,3\nC,3,4\n", "its 2 rows do not determine 2 coefficients"),
    "duplicated columns": (
        "client,a,b,target\nA,1,1,1\nA,2,2,5\nA,4,4,2\nB,1,1,1\nB,3,3,2\nB,4,4,0\n",
        "do not determine 3 coefficients; likewise B: drop",
    ),
    "exact fit": ("client,a,target\nA,3,0\nA,4,2\nA,9,12\nB,3,0\nB,5,1\nB,6,0\n", ""),
}


@pytest.mark.share(2)
@pytest.mark.parametrize("name", TABLES)
def test_a_site_that_has_no_constants_is_planned_all_the_same(command, tmp_path, name):
    text, reason = TABLES[name]
    (tmp_path / "t.csv").write_text(text)
    asked = ("--numbers", "--simulate", "--seeds", "8")
    done = command("plan", tmp_path / "t.csv", "--epsilon", "10%", "--json", *asked)
    assert (done.returncode, done.stderr) == (0, "")
    everything = json.loads(done.stdout)
    rows = everything["clients"]
    problem = sf.read(tmp_path / "t.csv")
    # over the mean, by least squares; 1e-12: what rounding leaves of targets of about 5
    blocks = [(x, y, np.linalg.lstsq(x, y, rcond=None)[0]) for x, y in problem.data.blocks()]
    excess = np.array([y.var() - ((x @ fit - y) ** 2).mean() for x, y, fit in blocks])
    np.testing.assert_allclose([row["epsilon"] for row in rows], 0.1 * excess, rtol=1e-9, atol=1e-12)
    for row in rows:
        assert (row["epsilon_given"], row["epsilon_of"]) == ("10%", "constant")
        assert (row["schedules"], row["step_limit"]) == (None, None)
        assert row["guaranteed"]["holds"] is False
        assert reason in row["guaranteed"]["reason"]
        assert row["guaranteed"]["reason"]
        assert not re.search(r"\d{5}", row["guaranteed"]["reason"])
        alone, together = row["local"]["exact"], row["exact"]
        assert together["iterations"] <= alone["iterations"]
        if excess[row["client"]] < 1e-12:  # its mean is its optimum
            assert (alone["iterations"], together["iterations"]) == (0, 0)
            continue
        assert row["speedup"] == alone["iterations"] / together["iterations"]
        np.testing.assert_allclose(sum(together["weights"]), 1, rtol=1e-12)
        assert together["excess"] <= row["epsilon"]
    assert len(everything["measured"]) == len(rows)
    seen = [np.linalg.svd(x)[1] ** 2 * 2 / len(x) for x, _ in problem.data.blocks()]
    expected = np.array([[one[one > 1e-9 * one[0]].min(), one.max()] for one in seen]).T
    for field, value in zip(("mu", "beta"), expected):
        np.testing.assert_allclose(everything["numbers"][field]["value"], value, rtol=1e-9)
    shown = command("plan", tmp_path / "t.csv", "--epsilon", "10%", "--numbers").stdout
    assert ("similar is not known" in shown) == bool(reason)
    assert max(len(line) for line in shown.splitlines() if not line.startswith("Next: ")) <= 80


SEEDS, GRID = 8192, (1, 2, 4, 8, 12)


def assert_simulation_is_exact(problem, plans, seeds=SEEDS, quantile=None, root=0):
    """Means over paths at several t within the deviation that the largest of so many normal ones exceeds once in 1000.

    Steps are at most half the limit: beyond, the excess has too heavy tails for a sampled standard error.
    """
    eta = np.array([min(one.eta, one.step_limit / 2) for one in plans])
    trace = run(
        problem, weights_of(problem, plans), iterations=GRID[-1], eta=eta, seeds=seeds, root=root, grid=list(GRID)
    )
    excess = trace.excess.astype(float)  # (seeds, t, clients)
    error = excess.std(0, ddof=1) / np.sqrt(seeds)
    exact = np.stack(
        [
            one.epsilon * one.follow(np.array([0.0, step]) / one.eta, GRID[-1])[list(GRID)]
            for one, step in zip(plans, eta)
        ],
        axis=1,
    )
    deviation = np.abs(excess.mean(0) - exact) / error
    assert deviation.max() < (norm.isf(0.5e-3 / exact.size) if quantile is None else quantile)
    # the same check tells a curve that is 10 % off
    assert (np.abs(excess.mean(0) - 1.1 * exact) / error).max() > norm.isf(0.5e-3 / exact.size)
    return deviation


@pytest.mark.parametrize("name", ["subjects-sleep", "countries-gasoline", "states-output"])
def test_simulated_tables_follow_the_exact_curves(tmp_path, name):
    header, *lines = site_file(name).read_text().splitlines()
    kept = list(dict.fromkeys(line.split(",")[0] for line in lines))[:5]
    (tmp_path / "few.csv").write_text("\n".join([header, *(line for line in lines if line.split(",")[0] in kept)]))
    problem = sf.read(tmp_path / "few.csv", client="site", target="target", standardise_target=True)
    plan = sf.plan(problem, "10%")
    assert_simulation_is_exact(plan.problem, [row.exact for row in plan])
    assert_simulation_is_exact(plan.problem, [row.exact_local for row in plan])


def test_a_schedule_that_is_printed_is_run(tmp_path):
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(n, 2)) for n in (6, 30, 12)]
    lines = [f"{k},{a},{b},{a + b + rng.normal()}" for k, x in enumerate(X) for a, b in x]
    (tmp_path / "t.csv").write_text("client,a,b,target\n" + "\n".join(lines))
    problem = sf.read(tmp_path / "t.csv")
    plan = sf.plan(problem, "5%", schedule=True)
    measured = excesses(problem, plan.rows, "scheduled", seeds=4096, root=0)
    staged = [(row, entry) for row, entry in zip(plan, measured) if row.exact.stages]
    assert staged
    for row, entry in staged:
        assert entry["iterations"] == row.exact.scheduled < row.exact.iterations
        assert entry["exact"] <= row.epsilon
        # 5 standard errors: once in a million for a normal mean
        assert abs(entry["excess"] - entry["exact"]) < 5 * entry["excess_se"]
        assert len(row.to_dict()["exact"]["schedule"]) > 1
    assert "In three stages" in str(plan)
    assert max(map(len, str(plan).splitlines())) <= 80
    with pytest.raises(InputError, match="second moments"):
        sf.plan(problem.constants(), 0.1, schedule=True)


def test_a_precision_that_the_mean_alone_reaches_is_said():
    """Against the variance that least squares explains, client by client; silent where the start is the mean."""
    rng = np.random.default_rng(5)
    X = [rng.normal(size=(30, 2)) for _ in range(3)]
    y = [level + x @ [1.0, 0.5] + 0.3 * rng.normal(size=30) for level, x in zip((9.0, 5.0, 1.0), X)]
    designs = [np.column_stack((np.ones(30), x)) for x in X]
    fits = [np.linalg.lstsq(design, target, rcond=None)[0] for design, target in zip(designs, y)]
    explained = [np.var(design @ fit) for design, fit in zip(designs, fits)]
    columns = {"x": np.concatenate(X)[:, 0], "z": np.concatenate(X)[:, 1], "target": np.concatenate(y)}
    rows = {"client": np.repeat(["a", "b", "c"], 30)} | columns
    for eps in (share * level for level in explained for share in (0.999, 1.001)):
        coarse = sum(level <= eps for level in explained)
        said = [note for note in sf.plan(sf.read(rows), eps).notes if "a constant model reaches" in note]
        assert [note.partition(" clients")[0] for note in said] == ([f"At {coarse} of 3"] if coarse else [])
    from_the_mean = sf.plan(sf.read(rows, standardise_target=True), "1%")
    assert not any("a constant reaches" in note for note in from_the_mean.notes)
