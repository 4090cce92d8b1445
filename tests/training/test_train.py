"""Networks from files: personal models that are what they say, runs that go on, one line for every mistake."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

import suffice as sf
from suffice.simulate import FedAvg
from suffice.support.tables import number
from suffice.training import train as training_module
from suffice.training.train import unfinished
from suffice.training.training_result import Training

QUICK = {"iterations": 20, "eta": 1.0, "options": {"iterations": 40}}


def write_folder(folder, clients=4, rows=24, sizes=None):
    """Rows in the plane; the last client has the opposite labels of the others."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    for k in range(clients):
        X = rng.normal(size=((sizes or {}).get(k, rows), 3))
        y = (X[:, 0] > 0).astype(int)
        np.savez(folder / f"site{k}.npz", X=X, y=np.where(k == clients - 1, 1 - y, y))
    return folder


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def pressed(*_, **__):
    raise KeyboardInterrupt


def factory():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train")
    found = sf.train(write_folder(folder / "data"), out=folder / "out", model=factory, **QUICK)
    return folder, found


def test_saved_models_have_the_tested_accuracy(trained):
    """Loaded as a stranger would, without the library, on the rows that were held out."""
    folder, found = trained
    with np.load(folder / "out" / "models.npz", allow_pickle=False) as file:
        stored = dict(file)
    assert stored.pop("client names").tolist() == ["site0", "site1", "site2", "site3"]
    test = found.problem.test
    for at, row in enumerate(read(folder / "out" / "tests.csv")):
        module = factory()
        module.load_state_dict({key: torch.from_numpy(values[at]) for key, values in stored.items()})
        mine = slice(int(test.first[at]), int(test.first[at] + test.counts[at]))
        right = (module(test.X[mine]).argmax(1) == test.y[mine]).double()
        assert_allclose(float(row["test_accuracy"]), right.mean(), rtol=1e-12)
        hits, n = right.sum(), len(right)
        assert_allclose(float(row["test_accuracy_se"]) ** 2, (hits + 1) * (n - hits + 1) / (n + 2) ** 2 / n, rtol=1e-12)
        losses = nn.functional.cross_entropy(module(test.X[mine]), test.y[mine], reduction="none")
        assert_allclose(float(row["test_loss_se"]), losses.detach().std() / n**0.5, rtol=1e-5)
        assert (int(row["rows"]), n) == (19, 5)


def test_who_listens_to_whom_leaves_the_outlier_out_and_everything_is_written(trained):
    folder, found = trained
    weights = {(row["client"], row["peer"]): float(row["weight"]) for row in read(folder / "out" / "weights.csv")}
    assert max(weights["site0", "site3"], weights["site3", "site0"]) < 0.01
    assert weights["site0", "site1"] + weights["site0", "site2"] > 0.2
    assert_allclose(sum(weights[pair] for pair in weights if pair[0] == "site0"), 1, rtol=1e-6)  # float32
    about = json.loads((folder / "out" / "training.json").read_text())
    assert about == found.to_dict()
    assert_allclose(about["clients"][0]["weights"]["site3"], weights["site0", "site3"])
    curves = read(folder / "out" / "curves.csv")
    assert len(curves) == 4 * 21
    assert_allclose(float(curves[20]["test accuracy"]), found.tests[0]["test_accuracy"], rtol=1e-6)
    assert (folder / "out" / "training.png").stat().st_size > 5000
    assert "site3" in found.table().text()
    assert not (folder / "out" / "checkpoint.npz").exists()


def test_alone_and_everybody_stand_beside_on_the_same_rows_and_iterations(trained):
    folder, found = trained
    settings = {"iterations": 20, "eta": 1.0, "seeds": 1, "models": True}
    for name, rule in (("alone", sf.Local()), ("everybody", FedAvg())):
        metrics = sf.run(found.problem, rule, **settings).metrics
        accuracy = [entry["test_accuracy"] for entry in found.baselines[name]]
        assert_allclose(accuracy, metrics["test accuracy"][0, -1], rtol=1e-6)  # float32
        mean = found.to_dict()["baselines"][name]["means"]["test_accuracy"]
        assert_allclose(mean["mean"], np.mean(accuracy))
        assert f"{name} {number(mean['mean'])} +- {number(mean['se'], 2)}" in found.table().text()
    assert json.loads((folder / "out" / "training.json").read_text())["baselines"] == found.to_dict()["baselines"]
    assert not list((folder / "out").glob("checkpoint*"))


@pytest.mark.usefixtures("unsaved")
@pytest.mark.parametrize(("labels", "shift"), [(True, 0.2), (True, -0.2), (False, 0.2), (False, -0.2), (True, 0.01)])
def test_the_mean_is_told_from_a_baseline_beyond_two_standard_errors_of_their_difference(trained, labels, shift):
    """Each test has the standard error 0.1, the mean of four 0.05, a difference 0.071 and twice of it 0.141."""
    _, found = trained
    name = "test_accuracy" if labels else "test_loss"
    tests = [{"test_rows": 9, name: 0.5, f"{name}_se": 0.1} for _ in range(4)]
    theirs = [{"test_rows": 9, name: 0.5 - shift, f"{name}_se": 0.1} for _ in range(4)]
    given = replace(found, tests=tests, baselines={"alone": theirs, "everybody": tests}, classes=("a", "b") * labels)
    how = "not told from" if shift == 0.01 else f"{'better' if (shift > 0) == labels else 'worse'} than"
    said = f"Beyond two standard errors of a difference the mean is {how} alone, not told from everybody."
    assert said in " ".join(str(given.table()).split())


def test_baselines_go_on_are_left_out_and_are_not_trained_twice(tmp_path, monkeypatch, command):
    data, how = write_folder(tmp_path / "data", clients=2), {"model": factory, "algorithm": "local", "eta": 0.5}
    seen, original = [], training_module.run

    def watched(problem, rule, **more):
        seen.append(rule.name)
        return original(problem, rule, **more)

    monkeypatch.setattr(training_module, "run", watched)
    found = sf.train(data, iterations=5, **how)
    assert (seen, list(found.baselines)) == (["local", "fedavg"], ["everybody"])
    assert sf.train(data, iterations=5, baselines=False, **how).baselines == {}
    assert seen == ["local", "fedavg", "local"]

    def stop(done, _):
        if seen[-1] == "fedavg" and done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sf.train(data, iterations=5, out=tmp_path / "out", progress=stop, **how)
    assert unfinished(tmp_path / "out")
    again = sf.train(data, iterations=5, out=tmp_path / "out", **how)
    assert again.baselines == found.baselines
    assert not unfinished(tmp_path / "out")
    said = command("train", data, "--algorithm", "local", "--iterations", 4, "--no-baselines", "--out", tmp_path / "o")
    assert "everybody" not in said.stdout


@pytest.mark.parametrize("content", [b"", b"hello", b"null", b"{}", b"[1]"])
@pytest.mark.parametrize("name", ["checkpoint.npz", "scouts.json"])
def test_a_damaged_file_of_a_run_that_was_stopped_is_one_line(refused, tmp_path, name, content):
    data = write_folder(tmp_path / "data", clients=2)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_bytes(content)
    said = refused("train", data, "--iterations", 4, "--option", "iterations=4", "--out", tmp_path / "out")
    assert "damaged" in said
    assert "remove it" in said


@pytest.fixture
def unsaved(monkeypatch):
    """Without the pictures, which take most of the time."""
    monkeypatch.setattr(Training, "save", lambda *_: [])


@pytest.mark.share(2)
@pytest.mark.usefixtures("unsaved")
@pytest.mark.parametrize("stage", ["scouts", "training"])
def test_what_was_stopped_goes_on_to_the_same_bits(trained, tmp_path, stage, monkeypatch):
    folder, whole = trained

    def stop(done, total):
        if stage == "training" and done == 15 and (tmp_path / "scouts.json").exists():
            raise KeyboardInterrupt

    def never(*_, **__):
        raise AssertionError("scouts trained twice")

    how = {"model": factory, "out": tmp_path} | QUICK
    if stage == "scouts":
        with monkeypatch.context() as patched:
            patched.setattr(training_module, "run", pressed)
            with pytest.raises(KeyboardInterrupt):
                sf.train(folder / "data", **how)
    else:
        with pytest.raises(KeyboardInterrupt):
            sf.train(folder / "data", progress=stop, **how)
        assert (tmp_path / "checkpoint.npz").exists()
    assert unfinished(tmp_path)
    monkeypatch.setattr(training_module, "collaborators", never)
    again = sf.train(folder / "data", **how)
    assert np.array_equal(again.trace.models, whole.trace.models)
    assert np.array_equal(again.trace.loss, whole.trace.loss)


@pytest.mark.usefixtures("unsaved")
def test_the_command_says_how_to_go_on_and_prints_json(command, tmp_path, monkeypatch):
    data = write_folder(tmp_path / "data", clients=2)
    typed = ("train", data, "--iterations", 8, "--option", "iterations=8", "--out", tmp_path / "out")
    with monkeypatch.context() as patched:
        patched.setattr(training_module, "run", pressed)
        done = command(*typed)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.count("\n") == 1
    assert "the same command goes on: suffice train " in done.stderr
    found = json.loads(command(*typed, "--json").stdout)
    assert [one["name"] for one in found["clients"]] == ["site0", "site1"]
    assert found["setting"]["model"] == "mlp"
    said = command(*typed, "--algorithm", "fedavg", "--option", "period=2", "--option", "fine_tune_after=4")
    assert "fedavg takes" in said.stderr  # `iterations` is an option of scouts
    done = command(*(word for word in typed if word not in ("--option", "iterations=8")), "--algorithm", "fedfomo")
    assert "fedfomo weighs no clients" in done.stdout, done.stderr


MISTAKES = [
    (("--model", "resnet"), "model = 'resnet': use mlp, cnn, lenet, or package.module:Factory"),
    (("--model", "nowhere:Net"), "cannot be imported: ModuleNotFoundError"),
    (("--model", "lenet"), "use mlp for other rows"),
    (("--algorithm", "scoutts"), "did you mean scouts?"),
    (("--algorithm", "all-for-all"), "takes a problem whose constants are known"),
    (("--eta", "1e30"), "give smaller steps eta"),
    (("--test", "1"), "give a share"),
    (("--test", "0.99"), "too few to hold out test = 0.99"),
    (("--client", "site"), "only a table has named columns"),
    (("--split", "iid:2"), "a folder has one client per file"),
    (("--option", "fold=2"), "scouts takes folds"),
    (("--max-memory", "9000"), "memory for models of 2 clients = "),
]


@pytest.mark.parametrize(("options", "named"), MISTAKES)
def test_a_mistake_is_one_line(refused, tmp_path, options, named):
    data = write_folder(tmp_path / "data", clients=2)
    assert named in refused("train", data, "--iterations", 4, *options, "--out", tmp_path / "out")
