"""Networks read again to predict: what the module itself says, in the units of the file, and one line for damage."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from populations import written
from torch import nn
from typer.testing import CliRunner

import suffice as sf
from suffice.cli import load
from suffice.cli.app import app
from suffice.training.saved_networks import read_networks

load("predict")
rng = np.random.default_rng(3)
wards, sites = np.array(["east", "north", "south"])[rng.integers(3, size=90)], np.repeat(["Lyon", "Bergen", "Oslo"], 30)
age_of = rng.uniform(20, 80, size=90)
dose = 100 + 3 * age_of + 40 * (wards == "north") + rng.normal(size=90)
high = np.where(dose > np.median(dose), "high", "low")


def Own():
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 1))


def write(path, target):
    age = [("" if at == 4 else f"{age:.3f}") for at, age in enumerate(age_of)]  # a gap
    return written(path, {"site": sites, "ward": wards, "age": age, "target": target})


def trained(folder, target, model="mlp"):
    how = {"client": "site", "iterations": 30, "eta": 0.1, "algorithm": "local", "baselines": False}
    return sf.train(write(folder / "rows.csv", target), model=model, out=folder / "out", **how)


def predict(*arguments):
    found = CliRunner().invoke(app, ["predict", *map(str, arguments)])
    refused = isinstance(found.exception, sf.InputError)
    return (2, str(found.exception)) if refused else (found.exit_code, found.output)


@pytest.mark.parametrize("target", [dose, high], ids=["numbers", "classes"])
def test_predictions_are_those_of_the_module_in_the_files_units(tmp_path, target):
    training = trained(tmp_path, target)
    code, text = predict(tmp_path / "out" / "models.npz", tmp_path / "rows.csv")
    assert code == 0, text
    said = [row["prediction"] for row in csv.DictReader(text.splitlines())]
    # by hand: a column per level but the most frequent, the gap by the mean and a column of its own, all standardised
    most = max("east", "north", "south", key=lambda ward: ((wards == ward).sum(), ward))
    gone = np.arange(90) == 4
    age = np.where(gone, np.round(age_of, 3)[~gone].mean(), np.round(age_of, 3))
    columns = {f"ward={ward}": wards == ward for ward in ("east", "north", "south") if ward != most}
    columns |= {"age": age, "age=missing": gone}
    X = np.array([columns[name] for name in training.reading.encoding.columns], dtype=float).T
    X = (X - X.mean(0)) / X.std(0)
    for at, site in enumerate(sites):
        with torch.no_grad():
            out = training.module_of(site)(torch.tensor(X[at : at + 1], dtype=torch.float32))[0].numpy()
        if target is high:
            assert said[at] == training.classes[out.argmax()]
        else:
            assert_allclose(float(said[at]), dose.mean() + dose.std() * out[0], rtol=1e-5)
    shares = [predict(tmp_path / "out" / "models.npz", tmp_path / "rows.csv", "--site", name, "--probabilities")
              for name in ("Lyon", "Bergen", "Oslo", "Rome")]  # fmt: skip
    if target is high:
        parts = [np.array([row[2:] for row in list(csv.reader(text.splitlines()))[-90:]]) for _, text in shares]
        probabilities = [part[:, 1:].astype(float) for part in parts]
        assert_allclose(probabilities[3], np.mean(probabilities[:3], 0), rtol=1e-6)
        assert "predicted by the mean of all networks: Rome" in shares[3][1]
    else:
        assert all(code == 2 and "only classes have probabilities" in text for code, text in shares)


def test_a_network_of_ones_own_is_imported_only_where_it_is_named(tmp_path, monkeypatch):
    trained(tmp_path, dose, "tests.training.test_saved_networks:Own")
    models, rows = tmp_path / "out" / "models.npz", tmp_path / "rows.csv"
    imported = []
    monkeypatch.setattr(
        "suffice.training.architectures.import_module", lambda name: imported.append(name) or __import__(name)
    )
    code, text = predict(models, rows)
    assert (code, imported) == (2, [])
    assert "--network tests.training.test_saved_networks:Own" in " ".join(text.split())
    monkeypatch.undo()
    code, text = predict(models, rows, "--network", "tests.training.test_saved_networks:Own")
    assert code == 0
    assert len(text.splitlines()) == 91


def test_damage_is_refused_in_one_line(tmp_path):
    trained(tmp_path, dose)
    with np.load(tmp_path / "out" / "models.npz") as file:
        stored = dict(file)
    kept = {name: values for name, values in stored.items() if name != "suffice"}
    fewer = stored | {"1.weight": stored["1.weight"][:, :-1]}
    pieces = {
        "no networks of a table": kept,
        "damaged": stored | {"suffice": np.array('{"model": "mlp"}')},
        "do not fit mlp": fewer,
        "name a client twice": stored | {"client names": np.array(["Lyon", "Lyon", "Oslo"])},
        "do not fit 4 clients": stored | {"client names": np.array(["Lyon", "Bergen", "Oslo", "Rome"])},
    }
    for words, arrays in pieces.items():
        np.savez(tmp_path / "other.npz", **arrays)
        with pytest.raises(sf.InputError, match=words):
            read_networks(tmp_path / "other.npz")
    assert predict(tmp_path / "out" / "models.npz", tmp_path / "rows.csv")[0] == 0
