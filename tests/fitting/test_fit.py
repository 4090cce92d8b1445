"""`suffice.fit` from tables as people have them, from messages, and by the command."""

from __future__ import annotations

import csv
import io
import json
import sys

import numpy as np
import pytest
from blocks import ROOT, blocks
from populations import draw, table, written

import suffice as sf
from suffice import InputError


@pytest.fixture
def sites():
    return draw(0, np.random.default_rng(0).normal(size=(4, 2)) * 0.3 + [1.0, -1.0], 30)


def models(fit):
    return np.array([[*model.coefficients.values(), model.intercept] for model in fit])


def test_the_contract_of_the_answer(sites):
    fit = sf.fit(table(sites))
    answer = json.loads(json.dumps(fit.to_dict()))
    assert {"loss", "rule", "clients", "left_out"} <= set(answer)
    contract = {
        "name", "rows", "collaborators", "weights", "coefficients", "intercept", "expected_loss",
        "expected_loss_alone", "expected_loss_constant", "gain", "gain_se", "notes",
    }  # fmt: skip
    for client in answer["clients"]:
        assert set(client) == contract
        np.testing.assert_allclose(sum(client["weights"].values()), 1, rtol=1e-9)
        expected = {name for name, share in client["weights"].items() if share > 0.125 and name != client["name"]}
        assert set(client["collaborators"]) == expected
        np.testing.assert_allclose(client["gain"], client["expected_loss_alone"] - client["expected_loss"], rtol=1e-9)
    assert fit["s2"].rows == 30
    assert "collaboration pays off" in str(fit) or "not significant" in str(fit)
    with pytest.raises(InputError, match="did you mean s1"):
        fit["s11"]


def test_models_are_in_the_units_of_the_columns(sites):
    """Predictions from coefficients by hand, and on a table whose columns are scaled and shifted: the same."""
    fit, scaled = sf.fit(table(sites)), sf.fit(table([(1000 * X + 50, 3 * y) for X, y in sites]))
    X = np.array([[0.5, 2.0]])
    one, other = fit["s1"], scaled["s1"]
    by_hand = X[0] @ list(one.coefficients.values()) + one.intercept
    np.testing.assert_allclose(fit.predict({"x0": [0.5], "x1": [2.0]}, site="s1"), [by_hand], rtol=1e-12)
    given = {"x0": [550.0], "x1": [2050.0], "client": ["s1"]}
    np.testing.assert_allclose(scaled.predict(given), [3 * by_hand], rtol=1e-7)
    np.testing.assert_allclose(other.coefficients["x0"], 3 * one.coefficients["x0"] / 1000, rtol=1e-6)


def test_a_new_site_gets_the_population_s_model_and_it_is_said(sites, tmp_path, command, refused):
    fit = sf.fit(table(sites))
    fit.save(tmp_path / "models.json")
    by_population = fit.predict({"x0": [1.0], "x1": [0.0], "client": ["elsewhere"]})
    expected = fit.population.intercept + fit.population.coefficients["x0"]
    np.testing.assert_allclose(by_population, [expected], rtol=1e-12)
    assert abs(fit.population.coefficients["x0"] - 1) < 0.5
    new = written(tmp_path / "new.csv", {"client": ["s0", "elsewhere"], "x0": [1, 1], "x1": [0, 0]})
    done = command("predict", tmp_path / "models.json", new)
    assert done.returncode == 0
    assert "population's model: elsewhere" in done.stderr
    moved = written(tmp_path / "moved.csv", {"place": ["s0", "elsewhere"], "x0": [1, 1], "x1": [0, 0]})
    assert "by --client, or the site of all rows by --site" in refused("predict", tmp_path / "models.json", moved)
    assert command("predict", tmp_path / "models.json", moved, "--client", "place").stdout == done.stdout
    assert len(done.stdout.splitlines()) == 3
    answer = json.loads(command("predict", tmp_path / "models.json", new, "--json").stdout)
    np.testing.assert_allclose(answer["prediction"][1], expected, rtol=1e-12)


def test_messages_give_the_models_of_the_rows(sites, tmp_path, command):
    paths = []
    for k, (X, y) in enumerate(sites):
        rows = {"x0": X[:, 0].tolist(), "x1": X[:, 1].tolist(), "target": y.tolist()}
        message = sf.summarise(rows, site=f"s{k}")
        assert message.numbers == 5 * (1 + 3 + 6)
        assert "no single row" in message.reveals
        paths.append(message.write(tmp_path / f"s{k}.json"))
        assert str(y[3]) not in paths[-1].read_text()
    by_rows, by_messages = sf.fit(table(sites)), sf.fit([str(path) for path in paths])
    np.testing.assert_allclose(models(by_messages), models(by_rows), rtol=1e-9)
    np.testing.assert_allclose(by_messages["s1"].gain, by_rows["s1"].gain, rtol=1e-7)
    done = command("fit", *paths, "--json")
    assert "Each site sent one message of 50 numbers" in str(by_messages)
    assert by_messages.rule["numbers_per_site"] == by_rows.rule["numbers_per_site"]
    found = [client["intercept"] for client in json.loads(done.stdout)["clients"]]
    np.testing.assert_allclose(found, models(by_rows)[:, -1], rtol=1e-9)


def test_small_sites_send_one_message_or_opt_in(sites, tmp_path):
    X, y = sites[0]
    few = {"x0": X[:12, 0], "x1": X[:12, 1], "target": y[:12]}
    assert len(sf.summarise(few, site="a").folds) == 1
    opened = sf.summarise(few, site="a", reveal=True)
    assert len(opened.folds) == 5
    assert "single rows may be recovered" in opened.reveals
    opened.write(tmp_path / "opened.json")  # was opted in
    two = sf.summarise({name: values[:2] for name, values in few.items()}, site="a")
    with pytest.warns(UserWarning, match="single rows may be recovered; merge a with another site"):
        two.write(tmp_path / "two.json")
    one = {"x0": [1.0], "x1": [2.0], "target": [3.0]}
    with pytest.raises(InputError, match="its message is one row"):
        sf.summarise(one, site="a")
    np.testing.assert_array_equal(sf.summarise(one, site="a", reveal=True).folds[0].mean.size, 3)
    rest = [sf.summarise({"x0": X[:, 0], "x1": X[:, 1], "target": y}, site=f"s{k}") for k, (X, y) in enumerate(sites)]
    fit = sf.fit([*rest, sf.summarise(few, site="a")])
    assert fit["a"].expected_loss is None
    shown = " ".join(str(fit).split())
    assert "together 4 of 5 sites gain" in shown
    assert "none is held out and no loss is known: a." in shown
    assert "one message of 10 to 50 numbers" in shown
    assert "not known" in fit["a"].notes[0]
    assert np.isfinite(models(fit)).all()


def test_categories_gaps_and_an_index(tmp_path):
    """A category with three levels, a number with gaps, a name of every row: coefficients of a known truth."""
    rng = np.random.default_rng(1)
    n = 600
    colour, x = rng.choice(["red", "green", "blue"], n, p=[0.5, 0.3, 0.2]), rng.normal(size=n)
    gap = rng.random(n) < 0.2
    y = 2 * x + np.where(colour == "green", 1.0, np.where(colour == "blue", -2.0, 0.0)) + 0.1 * rng.normal(size=n)
    columns = {
        "": range(n),
        "site": rng.choice(["a", "b", "c"], n),
        "colour": colour,
        "x": np.where(gap, "NA", x.astype(str)),
        "remark": [f"row {k}" for k in range(n)],
        "y": y,
    }
    fit = sf.fit(written(tmp_path / "t.csv", columns), client="site", target="y")
    assert set(fit["a"].coefficients) == {"colour=blue", "colour=green", "x", "x=missing"}
    said = " | ".join(fit.left_out)
    for words in ("index", "remark: dropped", "colour=red: the reference level", "x: gaps are filled with"):
        assert words in said
    model = fit["b"].coefficients
    np.testing.assert_allclose([model["x"], model["colour=green"]], [2, 1], atol=0.3)  # gaps add noise of 2 |x|
    seen = {"site": ["a"], "colour": ["purple"], "x": [None]}
    with pytest.warns(UserWarning, match="no row of the fit had colour = purple: predicted as colour=red"):
        assert np.isfinite(fit.predict(seen)).all()


def test_sites_of_one_row_and_sites_that_lack_a_category():
    rng = np.random.default_rng(2)
    names = ["big"] * 60 + ["one"] + ["two"] * 2 + ["plain"] * 30
    kind = [*rng.choice(["u", "v"], 63).tolist(), *["u"] * 30]
    x = rng.normal(size=93)
    y = x + (np.array(kind) == "v") + 0.1 * rng.normal(size=93)
    fit = sf.fit({"client": names, "kind": kind, "x": x, "target": y})
    np.testing.assert_allclose([model.coefficients["x"] for model in fit], 1, atol=0.2)
    np.testing.assert_allclose([model.coefficients["kind=v"] for model in fit if model.name != "plain"], 1, atol=0.3)
    assert fit["one"].gain is None
    assert fit["big"].gain is not None


def test_auto_takes_the_loss_from_the_target_and_predicts_probabilities(tmp_path, command):
    rng = np.random.default_rng(3)
    x, names = rng.normal(size=90), ["a", "b", "c"] * 30
    two = np.where(x + rng.normal(size=90) > 0, "yes", "no")
    three = np.where(x > 0.5, "high", np.where(x < -0.5, "low", "mid"))
    logistic = sf.fit({"client": names, "x": x, "target": two})
    assert (logistic.loss, logistic.classes) == ("logistic", ("no", "yes"))
    assert logistic["a"].coefficients["x"] > 0.5
    assert logistic.predict({"x": [5.0, -5.0]}, site="a").tolist() == ["yes", "no"]
    logistic.save(tmp_path / "m.json")
    new = written(tmp_path / "new.csv", {"client": ["a", "z"], "x": [0.5, -1]})
    _, *rows = csv.reader(command("predict", tmp_path / "m.json", new, "--probabilities").stdout.splitlines())
    of_yes = [1 / (1 + np.exp(-m.intercept - m.coefficients["x"] * x)) for m, x in ((logistic["a"], 0.5),
              (logistic.population, -1))]  # fmt: skip
    np.testing.assert_allclose([float(row[4]) for row in rows], of_yes, rtol=1e-12)
    np.testing.assert_allclose([float(row[3]) for row in rows], 1 - np.array(of_yes), rtol=1e-12)
    multinomial = sf.fit({"client": names, "x": x, "target": three})
    assert multinomial.loss == "multinomial"
    assert set(multinomial["b"].coefficients) == {"high", "low", "mid"}
    assert multinomial.predict({"x": [5.0, -5.0, 0.0]}, site="b").tolist() == ["high", "low", "mid"]
    np.testing.assert_allclose(multinomial.probabilities({"x": [0.3]}, site="z").sum(1), 1, rtol=1e-12)
    assert sf.fit({"client": names, "x": x, "target": two == "yes"}).loss == "logistic"
    assert sf.fit({"client": names, "x": x, "target": x + 1}).loss == "least-squares"


def test_bad_tables_are_refused_in_one_line(tmp_path, refused):
    def line(text, *options):
        path = tmp_path / "bad.csv"
        path.write_text(text)
        return refused("fit", path, *options)

    assert "column target = 5.0: the same in every row to 12 digits: nothing to learn" in line(
        "client,x,target\na,1,5\nb,2,5\na,3,5\n", "--loss", "least-squares"
    )
    assert "one class alone" in line("client,x,target\na,1,u\nb,2,u\na,3,u\n")
    assert "name the site of every row" in line("client,x,target\n,1,5\n,2,6\n,2,7\n")
    assert "no predictor is left" in line("client,target\na,1\nb,2\nb,4\n")
    assert "least squares needs numbers" in line("client,x,target\na,1,u\nb,2,v\nc,1,w\n", "--loss", "least-squares")
    assert "name a .json file" in refused("fit", "x.csv", "--out", "m.pkl")


def test_a_target_with_gaps_and_a_site_without_any():
    rng = np.random.default_rng(4)
    y = rng.normal(size=40)
    y[::4] = np.nan
    fit = sf.fit({"client": ["a", "b"] * 20 + ["c"], "x": rng.normal(size=41), "target": [*y, np.nan]})
    assert [model.name for model in fit] == ["a", "b"]
    assert "11 rows without a target" in " ".join(fit.notes)
    assert "left out: c" in " ".join(fit.notes)


def test_a_folder_an_npz_a_problem_and_a_setup_file_are_the_same_rows(sites, tmp_path):
    by_table = models(sf.fit(table(sites)))
    (tmp_path / "sites").mkdir()
    for k, (X, y) in enumerate(sites):
        written(tmp_path / "sites" / f"s{k}.csv", {"x0": X[:, 0], "x1": X[:, 1], "target": y})
    np.testing.assert_allclose(models(sf.fit(tmp_path / "sites")), by_table, rtol=1e-8)
    X, y = np.concatenate([X for X, _ in sites]), np.concatenate([y for _, y in sites])
    np.savez(tmp_path / "all.npz", X=X, y=y, client=np.repeat(np.arange(4), 30))
    np.testing.assert_allclose(models(sf.fit(tmp_path / "all.npz", loss="least-squares")), by_table, rtol=0.1)
    problem = sf.from_arrays([X for X, _ in sites], [y for _, y in sites], standardise="none",
                             names=["s0", "s1", "s2", "s3"])  # fmt: skip
    np.testing.assert_allclose(models(sf.fit(problem)), by_table, rtol=1e-8)


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    sources = blocks(ROOT / "docs" / "fit.md", "python")
    assert len(sources) == 2
    for source in sources:  # their own assertions are the test
        exec(source, names)


def test_nothing_is_drawn_without_a_terminal(sites, tmp_path, command):
    done = command("fit", written(tmp_path / "t.csv", table(sites)), "--out", tmp_path / "m.json")
    assert done.returncode == 0
    assert done.stderr == ""
    assert (tmp_path / "m.json").exists()
    assert "sites gain" in done.stdout


def test_a_plan_of_a_fit_aims_at_the_fit_s_models(sites, tmp_path):
    fit = sf.fit(table(sites))
    problem = fit.quadratics
    plan = sf.plan(fit)
    assert [row.name for row in plan] == list(fit.by_name)
    start = problem.excess(problem.start[None])[0].numpy()
    np.testing.assert_allclose([row.epsilon for row in plan], start / 10, rtol=1e-9)
    # standardised minimisers, returned to the columns' units by the table's own means and deviations
    X, y = np.concatenate([X for X, _ in sites]), np.concatenate([y for _, y in sites])
    slopes = problem.optimum.numpy()[:, 1:] * y.std() / X.std(0)
    np.testing.assert_allclose(slopes, models(fit)[:, :-1], rtol=1e-9)
    with pytest.raises(InputError, match="a fit of rows or messages"):
        sf.plan(sf.load(fit.save(tmp_path / "m.json")), 0.05)


def test_progress_is_drawn_only_when_it_takes_long(monkeypatch):
    from suffice.support import progress

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for after, drawn in ((2.0, False), (0.0, True)):
        monkeypatch.setattr(sys, "stderr", Terminal())
        with progress.progress("fitting", after=after) as report:
            assert report is not None
            report(1, 2)
        assert ("fitting" in sys.stderr.getvalue()) == drawn


TABLE = {"client": ["L"] * 10, "target": list(range(10)), "b": ["1", "4"] * 5}


CALLS = {
    "drop = 1.5: give the names of columns in a list": lambda: sf.fit(TABLE, drop=1.5),
    "b = 'nested values': give one number or text per row": lambda: sf.fit(TABLE | {"b": [[1], [1, 2]] * 5}),
    "columns of one length": lambda: sf.fit(TABLE).predict(TABLE | {"target": 1}, site="L"),
    "site = .*: give the site's name": lambda: sf.fit(TABLE).predict(TABLE, site=10**5000),
    "reveal = .*: give True or False": lambda: sf.summarise(TABLE, site="L", reveal=np.array([])),
}


@pytest.mark.parametrize("message", CALLS)
def test_what_is_no_name_or_column_is_refused(message):
    with pytest.raises(InputError, match=message):
        CALLS[message]()


def test_a_column_that_predictions_do_not_read_may_be_anything():
    assert len(sf.fit(TABLE).predict(TABLE | {"target": list("abcdefghij")}, site="L")) == 10


@pytest.mark.parametrize("loss", ["least-squares", "multinomial"])
def test_a_number_that_is_the_same_wherever_it_is_known_has_the_coefficient_0(loss):
    """Its mean stands in the gaps, and rounding may leave it a variance of -1e-36, whose root is no number."""
    fitted = sf.fit(TABLE | {"target": [0, 1, 2] * 3 + [0], "b": ["", "4.7e-3"] * 5}, loss=loss)
    for model in fitted:
        slopes = [model.coefficients] if loss == "least-squares" else model.coefficients.values()
        assert all(one["b"] == 0 and np.isfinite(list(one.values())).all() for one in slopes)
