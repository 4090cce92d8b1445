"""Methods compared: exact times against simulated paths, prices, batches, theorems, what is refused."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import suffice as sf
from suffice.bounds import Constants, GradientDissimilarity
from suffice.planning import methods
from suffice.planning.guaranteed.records import promises
from suffice.planning.measured_methods import FEW
from suffice.planning.methods import compare_methods
from suffice.planning.prices import Prices, Spent
from suffice.planning.tables.methods import write_methods
from suffice.simulate.algorithms import AllForAll, FedAvg, FedProx

SEEDS = 2048
FAR = 4
"""Standard errors."""


def table(sites=4, rows=25, spread=0.2, **how):
    rng = np.random.default_rng(7)
    X, slope = [rng.normal(size=(rows, 2)) for _ in range(sites)], np.array([1.0, -2.0])
    y = [x @ (slope + spread * rng.normal(size=2)) + rng.normal(size=rows) for x in X]
    return sf.from_arrays(X, y, **how)


@pytest.fixture(scope="module")
def problem():
    return table()


@pytest.fixture(scope="module")
def compared(problem):
    return compare_methods(problem, "10%", seeds=64)


def rule_of(one, clients):
    options = dict(part.split("=") for part in one.setting.split(", ") if "=" in part)
    if one.name == "All-for-all":
        assert one.setting == "1 group"
        return AllForAll.clusters([0] * clients)
    period = int(options["K"])
    return FedProx(period=period, pull=float(options["pull"])) if "pull" in options else FedAvg(period=period)


def test_exact_methods_arrive_when_simulated_paths_do(problem, compared):
    (methods,) = compared.precisions.values()
    checked = 0
    for one in methods:
        if one.time.kind != "exact" or one.name not in ("FedAvg", "All-for-all") or one.time.value is None:
            continue
        trace = sf.run(
            problem, rule_of(one, 4), iterations=one.time.value, eta=one.eta, seeds=SEEDS, grid=[one.time.value]
        )
        means = trace.excess[:, 0].astype(float).mean(1)
        assert abs(means.mean() - one.excess) < FAR * means.std(ddof=1) / np.sqrt(SEEDS)
        np.testing.assert_allclose(one.spent.gradients, trace.oracle_calls[-1], rtol=1e-12)
        if one.name == "FedAvg":
            np.testing.assert_allclose(one.spent.down + one.spent.up, trace.vectors_sent[-1], rtol=1e-12)
        checked += 1
    assert checked >= 4


def test_sites_alone_and_fixed_weights_stop_at_their_own_precision(problem, compared):
    (methods,) = compared.precisions.values()
    plan = sf.plan(problem, "10%")
    (alone,) = (one for one in methods if one.key == "Local matrix")
    times = [row.exact_local.iterations for row in plan]
    assert alone.time.value <= max(times)
    assert alone.spent.gradients == sum(min(T, alone.time.value) for T in times)
    assert (alone.spent.rounds, alone.spent.down) == (0, 0)
    assert alone.excess <= np.mean([row.epsilon for row in plan]) * (1 + 1e-12)


def test_measured_methods_have_ends_and_are_sorted_by_cost(compared):
    (methods,) = compared.precisions.values()
    measured = {one.name: one for one in methods if one.time.kind == "measured"}
    assert {"SCAFFOLD", "Scaffnew", "All-for-one"} <= {*measured}
    for one in measured.values():
        low, high = one.time.error
        assert low <= one.time.value <= (high or np.inf)
    costs = [one.cost for one in methods]
    assert costs == sorted(costs)


def test_small_linear_rules_on_quadratics_are_exact():
    A = np.stack([np.diag([1.0, 0.5])] * 2)
    problem = sf.Quadratics.of(A, 0.01 * np.eye(2), sigma2=0.01, start=np.ones((2, 2)))
    (methods,) = compare_methods(
        problem, "10%", only=["SCAFFOLD", "Scaffnew", "All-for-one"], seeds=16
    ).precisions.values()
    kinds = {one.name: one.time.kind for one in methods}
    assert (kinds["SCAFFOLD"], kinds["Scaffnew"], kinds["All-for-one"]) == ("exact", "exact", "measured")


def test_fewer_participants_send_fewer_vectors(problem, compared):
    (methods,) = compare_methods(problem, "10%", participation=0.5, only=["FedAvg"]).precisions.values()
    half = {one.key: one for one in methods}["FedAvg K=1"]
    everybody = {one.key: one for one in compared.precisions["10%"]}["FedAvg K=1"]
    assert half.spent.down / half.spent.rounds == everybody.spent.down / everybody.spent.rounds / 2 == 2
    assert "drawn" in half.covered


def test_prices_choose_the_batch():
    problem = table(sites=3, spread=0.01)
    cheap = compare_methods(problem, "5%", cost="round=1 gradient=1e-6", only=["FedAvg"])
    one_each = compare_methods(problem, "5%", only=["FedAvg"])
    batches = {one.key: one for one in cheap.precisions["5%"]}
    before = {one.key: one for one in one_each.precisions["5%"]}
    assert batches["FedAvg K=1"].batch > 1 == before["FedAvg K=1"].batch
    assert batches["FedAvg K=1"].spent.rounds < before["FedAvg K=1"].spent.rounds


def test_prices_are_read_and_refused():
    spent = Spent(iterations=8, rounds=2, down=3, up=4, gradients=40, features=5)
    assert Prices.of("round=1, vector=.1 gradient=.01").of_all(spent) == pytest.approx(2 + 0.7 + 0.4, rel=1e-15)
    assert Prices.of("byte=1").of_all(spent) == 8 * 5 * 7
    assert Prices.of(None).of_all(spent) == 2
    for wrong, said in (("rond=1", "did you mean round"), ("round", "give prices as"), ("round=x", "give prices as"),
                        ("round=-1", ">= 0"), ("round=0", "above 0"), ("round=1 round=2", "once"), (3, "give prices"),
                        ("round=nan", "cost")):  # fmt: skip
        with pytest.raises(sf.InputError, match=said):
            Prices.of(wrong)


def test_unknown_methods_are_refused(problem):
    with pytest.raises(sf.InputError, match="there are Local, FedAvg"):
        compare_methods(problem, "10%", only=["FedSGD"])


@pytest.mark.parametrize("share", [0, -1, 1.5, "x", np.nan])
def test_shares_outside_are_refused(problem, share):
    with pytest.raises(sf.InputError, match="participation"):
        compare_methods(problem, "10%", participation=share)


def constants(**changes):
    off = 1 - np.eye(3)
    known = {"mu": 0.5, "beta": 2.0, "sigma2": 1.0, "excess": 5.0, "strongly_convex": True}
    return Constants(heterogeneity=GradientDissimilarity(b2=1e-4 * off, c=0 * off), **known | changes)


def test_records_of_constants_agree_with_the_plan_and_name_what_fails():
    known = constants()
    found = promises(known, 0.05)
    for row in sf.plan(known, 0.05):
        mine = [one.rounds for one in found if one.client == row.name]
        assert row.schedules.time.value == min(mine)
        assert row.local.time.value == min(
            one.rounds for one in found if one.client == row.name and "Local" in one.method
        )
    reasons = {one.method: one.why_not for one in promises(constants(strongly_convex=False), 0.05) if one.why_not}
    assert "strongly convex" in reasons["Local, two stages"]
    assert "strongly convex" in reasons["All-for-all"]
    assert {one.why_not for one in promises(constants(excess=None), 0.05) if one.client} == {
        "the starting excess is not known"
    }
    with pytest.raises(sf.InputError, match="constants alone run nothing"):
        compare_methods(known, 0.05, participation=0.5)
    assert "All-for-all" in str(compare_methods(known, 0.05))


def test_quadratics_are_covered_and_a_guaranteed_time_is_never_below_the_exact_one():
    A = np.stack([np.eye(2)] * 3)
    problem = sf.Quadratics.of(
        A, 0.01 * np.random.default_rng(0).normal(size=(3, 2)), sigma2=0.5, start=np.ones((3, 2))
    )
    (methods,) = compare_methods(
        problem, "5%", only=["Local", "Fixed weights", "FedAvg", "All-for-one"], seeds=16
    ).precisions.values()
    covered = {one.key: one for one in methods if one.promise is not None}
    assert {"Local ", "Fixed weights ", "FedAvg K=1", "All-for-one exact"} <= {*covered}
    for one in covered.values():
        assert one.promise.rounds >= one.time.value


def test_losses_without_moments_are_measured():
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(20, 1)) for _ in range(2)]
    y = [(x[:, 0] + rng.normal(size=20) > 0).astype(float) for x in X]
    problem = sf.from_arrays(X, y, loss="logistic", regularisation=0.1)
    (methods,) = compare_methods(problem, "30%", only=["Local", "FedAvg", "SCAFFOLD"], seeds=FEW).precisions.values()
    assert {one.time.kind for one in methods} == {"measured"}
    assert all(one.time.value is None or one.time.value > 0 for one in methods)
    assert any(one.time.value for one in methods)


def test_files_have_what_the_table_has(compared, tmp_path):
    told = json.loads(json.dumps(compared.to_dict()))
    path = write_methods(tmp_path / "m.csv", compared)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [row["method"] for row in rows] == [one["method"] for one in told["methods"]]
    assert [float(row["cost"] or "inf") for row in rows] == [
        np.inf if one["cost"] is None else one["cost"] for one in told["methods"]
    ]
    assert "Methods at their best steps, precision 10%" in str(compared)


def test_precisions_mean_what_they_mean_in_a_plan(problem):
    """The default on rows, shares of the excess over the best constant, and starts there; the words say so."""
    found = compare_methods(problem, only=["Local"])
    assert found.epsilon_of == {"noise": "noise"}
    for epsilon in ("noise", "10%"):
        plan = sf.plan(problem, epsilon)
        (methods,) = compare_methods(problem, epsilon, only=["Local"]).precisions.values()
        (alone,) = (one for one in methods if one.key == "Local matrix")
        times = [row.exact_local.iterations for row in plan]
        assert alone.spent.gradients == sum(min(T, alone.time.value) for T in times)
        assert alone.excess <= np.mean([row.epsilon for row in plan])
    (zero,) = compare_methods(problem, "10%", start="zero", only=["Local"]).precisions.values()
    assert zero[0].time.value != methods[0].time.value
    text = str(compare_methods(problem, "10%", only=["Local"]))
    assert "10% of the excess over the sites' best constants" in " ".join(text.split())
    assert "of the excess at the start" in " ".join(str(compare_methods(quadratics(), "10%", only=["Local"])).split())
    with pytest.raises(sf.InputError, match="there are no rows"):
        compare_methods(quadratics(), "noise", only=["Local"])


def quadratics(start=1.0):
    A = np.stack([np.diag([1.0, 0.5])] * 2)
    return sf.Quadratics.of(A, 0.01 * np.eye(2), sigma2=0.01, start=start * np.ones((2, 2)))


def test_the_start_of_a_server_is_what_its_guarantee_is_of():
    """Sites that start at their optima have nothing to do by themselves; the server's model is far from both."""
    apart = np.array([[3.0, 0.0], [-3.0, 0.0]])
    problem = sf.Quadratics.of(np.stack([np.eye(2)] * 2), 1e-3 * apart, sigma2=0.01, start=apart + 3)
    (methods,) = compare_methods(problem, "5%", only=["FedAvg", "All-for-all"]).precisions.values()
    first = {one.key: one for one in methods}["FedAvg K=1"]
    assert first.promise.rounds >= first.time.value
    reasons = {one.name: one.covered for one in methods if one.promise is None}
    assert reasons["All-for-all"] == "sites start apart"


def test_a_table_of_methods_fits_eighty_columns_with_whole_names(compared):
    lines = str(compared).splitlines()
    assert max(map(len, lines)) <= 80
    for one in compared.precisions["10%"]:
        name = ", ".join(filter(None, (one.name, one.setting)))
        assert any(line.startswith(name) for line in lines)
    paid = str(compare_methods(table(), "10%", only=["Local", "FedProx"], cost="round=1 gradient=.001"))
    assert "batch" in paid
    assert max(map(len, paid.splitlines())) <= 80


def test_a_method_that_its_bias_keeps_from_arriving_is_not_tried_in_every_batch(monkeypatch):
    batches = []
    follow = methods._server
    monkeypatch.setattr(methods, "_server", lambda *args: batches.append((args[1], args[3].batch)) or follow(*args))
    problem = table(sites=3, spread=3.0)
    (found,) = compare_methods(problem, "1%", cost="round=1 gradient=1e-6", only=["FedAvg"]).precisions.values()
    assert all(one.time.value is None for one in found)
    assert 4 <= len(batches) <= 12


def test_fewer_groups_are_tried_about_the_best_and_nothing_is_lost(monkeypatch):
    """With twice the batch about the best of the batch before; the cost is that of all numbers of groups."""
    problem = table(sites=8, spread=0.3)
    about = compare_methods(problem, "10%", cost="round=1 gradient=1e-4", only=["All-for-all"])
    tried = methods._all_for_all
    monkeypatch.setattr(methods, "_all_for_all", lambda *args: tried(*args[:3], ()))
    every = compare_methods(problem, "10%", cost="round=1 gradient=1e-4", only=["All-for-all"])
    assert about.to_dict() == every.to_dict()
