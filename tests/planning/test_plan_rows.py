"""Plans of sites whose constants nobody knows: exact rows, and why nothing more is promised."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import suffice as sf
from suffice.bounds import InputError

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
    asked = ("--simulate", "--seeds", "8")
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
    numbers = sf.statistics(problem)
    np.testing.assert_allclose([numbers.mu.value, numbers.beta.value], expected, rtol=1e-9)
    assert ("similar is not known" in " ".join(str(numbers).split())) == bool(reason)
    assert max(map(len, str(numbers).splitlines())) <= 80


def test_a_schedule_is_printed_and_needs_second_moments():
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(n, 2)) for n in (6, 30, 12)]
    problem = sf.from_arrays(X, [x.sum(1) + rng.normal(size=len(x)) for x in X])
    plan = sf.plan(problem, "5%", schedule=True)
    staged = [row for row in plan if row.exact.stages]
    assert staged
    for row in staged:
        assert len(row.to_dict()["exact"]["schedule"]) == len(row.exact.stages) > 1
        assert f"{row.exact.scheduled} = " in str(plan)
    assert "In three stages" in str(plan)
    assert max(map(len, str(plan).splitlines())) <= 80
    with pytest.raises(InputError, match="second moments"):
        sf.plan(problem.constants(), 0.1, schedule=True)
