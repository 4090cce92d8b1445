"""Gaps in new rows where the fit had none: filled with the column's mean, and said once, by every route."""

from __future__ import annotations

import csv
import json
import os

import numpy as np
import pytest
from populations import written

import suffice as sf
from suffice import InputError

LOSSES = ("least-squares", "logistic", "multinomial")
NEW = {
    "client": ["a", "a", "b", "new", "b"],
    "age": [None, 57.5, None, None, 61.0],
    "ward": ["u", None, None, "v", "w"],
}


def rows(loss):
    """Numbers far from 0, so that a gap read as 0 would be predicted far off."""
    rng = np.random.default_rng(7)
    age, ward, noise = rng.normal(60, 5, 90), rng.choice(["u", "v", "w"], 90, p=[0.5, 0.3, 0.2]), rng.normal(size=90)
    score = (age - 60) / 5 + (ward == "v") + 0.5 * noise
    target = {
        "least-squares": 200 + 20 * score,
        "logistic": np.where(score > 0.3, "yes", "no"),
        "multinomial": np.array(["low", "mid", "high"])[np.digitize(score, [-0.3, 0.7])],
    }[loss]
    return {"client": ["a", "b", "c"] * 30, "age": age.tolist(), "ward": ward.tolist(), "target": target.tolist()}


def by_hand(fit, table):
    """Scores (5, K) of `NEW`: a gap is the mean of the table's column, of a category the share of each level."""
    age, ward = np.array(table["age"]), np.array(table["ward"])
    scores = []
    for site, years, place in zip(*NEW.values()):
        x = {"age": age.mean() if years is None else years}
        x |= {f"ward={level}": (ward == level).mean() if place is None else place == level for level in "uvw"}
        model = fit[site] if site in fit.by_name else fit.population
        each = [(model.coefficients, model.intercept)]
        if len(fit.classes) > 2:
            each = [(model.coefficients[kind], model.intercept[kind]) for kind in fit.classes]
        scores.append([sum(slopes[name] * x[name] for name in slopes) + level for slopes, level in each])
    return np.array(scores)


def expected(fit, table):
    """Predictions, and of classes their probabilities."""
    scores = by_hand(fit, table)
    if fit.loss == "least-squares":
        return scores[:, 0], None
    scores = np.column_stack((np.zeros(5), scores)) if fit.loss == "logistic" else scores
    shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    return np.array(fit.classes)[shares.argmax(1)], shares


def same(found, wanted):
    if wanted.dtype.kind == "f":
        np.testing.assert_allclose(np.array(found, dtype=float), wanted, rtol=1e-9)  # sums of rounded means
    else:
        assert list(found) == wanted.tolist()


@pytest.fixture(params=["rows", "messages", "file"])
def route(request, tmp_path):
    def made(table):
        if request.param == "messages":
            return sf.fit(
                [sf.summarise({name: column[k::3] for name, column in table.items()}, site=site)
                 for k, site in enumerate("abc")]
            )  # fmt: skip
        fit = sf.fit(table)
        return fit if request.param == "rows" else sf.load(fit.save(tmp_path / "m.json"))

    return request.param, made


@pytest.mark.share(3)
@pytest.mark.parametrize("loss", LOSSES)
def test_in_python(loss, route, tmp_path):
    name, made = route
    if name == "messages" and loss != "least-squares":
        return  # messages hold sums for least squares
    table = rows(loss)
    fit = made(table)
    labels, shares = expected(fit, table)
    path = written(tmp_path / "new.csv", NEW)
    for given in (NEW, path, str(path)):
        with pytest.warns(UserWarning, match="is missing in") as said:
            found = fit.predict(given), fit.probabilities(given) if fit.classes else None
        same(found[0], labels)
        if shares is not None:
            np.testing.assert_allclose(found[1], shares, rtol=1e-9)
        lines = [str(line.message).partition(", but")[0] for line in said]
        assert sorted(set(lines)) == ["age is missing in 3 rows", "ward is missing in 2 rows"]
        assert len(lines) == (2 if shares is None else 4)  # once a call


@pytest.mark.share(6)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("options", [(), ("--keep",), ("--probabilities",), ("--keep", "--probabilities"), ("--json",)])
@pytest.mark.parametrize("piece", [1, 50_000])
def test_by_the_command(loss, options, piece, tmp_path, command, refused, monkeypatch):
    """In pieces of one row too: what is said is said once, with the count of all."""
    monkeypatch.setattr("suffice.simulate.data.csv_file.PIECE", piece)
    table = rows(loss)
    fit = sf.fit(table)
    model, new = fit.save(tmp_path / "m.json"), written(tmp_path / "new.csv", NEW)
    if loss == "least-squares" and "--probabilities" in options:
        assert "only classes have probabilities" in refused("predict", model, new, *options)
        return
    labels, shares = expected(fit, table)
    done = command("predict", model, new, *options)
    if options == ("--json",):
        answer = json.loads(done.stdout)
        same(answer["prediction"], labels)
        assert answer["filled"] == {"age": 3, "ward": 2}
        return
    mean = np.mean(table["age"])
    assert done.stderr.count(f"age is missing in 3 rows, but in none of the fit: filled with its mean {mean:.6g}") == 1
    assert (
        done.stderr.count("ward is missing in 2 rows, but in none of the fit: filled with the shares of its levels")
        == 1
    )
    assert len(done.stderr.splitlines()) == 3  # and the site that was not fitted
    found = list(csv.DictReader(done.stdout.splitlines()))
    same([row["prediction"] for row in found], labels)
    if "--keep" in options:
        assert [row["age"] for row in found] == ["", "57.5", "", "", "61.0"]
    if "--probabilities" in options:
        given = [[float(row[f"probability of {kind}"]) for kind in fit.classes] for row in found]
        np.testing.assert_allclose(given, shares, rtol=1e-9)


def test_a_number_of_a_size_that_no_fit_takes_is_refused():
    fit = sf.fit(rows("multinomial"))
    for value in (1e61, -1e300, np.inf):
        with pytest.raises(InputError, match=r"age in row 1"):
            fit.probabilities({"age": [value], "ward": ["u"]}, site="a")


def test_paths_that_hold_no_table_are_refused(tmp_path):
    fit = sf.fit(rows("least-squares"))
    os.mkfifo(tmp_path / "pipe.csv")
    for path in (tmp_path / "none.csv", str(tmp_path / "pipe.csv"), tmp_path):
        with pytest.raises(InputError):
            fit.predict(path)
