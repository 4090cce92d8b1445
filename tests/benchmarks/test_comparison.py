"""The published comparisons: splits from made-up files, rules that sample, and a campaign that goes on."""

from __future__ import annotations

import csv
import importlib
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from blocks import ROOT
from torch import nn

import suffice as sf
from suffice.simulate import CoBo, Scaffnew
from suffice.simulate.runner import iterate


@pytest.fixture(scope="module")
def benchmarks():
    """The modules: a checkout's folder is not on the path of tests."""
    sys.path.insert(0, str(ROOT))
    try:
        names = ("comparison", "comparison_data", "comparison_rules", "comparison_tables")
        yield SimpleNamespace(**{name: importlib.import_module(f"benchmarks.{name}") for name in names})
    finally:
        sys.path.remove(str(ROOT))


@pytest.fixture
def images(benchmarks, tmp_path, monkeypatch):
    """IDX files of 900 images for training and 1,000 for tests, in the place of Fashion-MNIST, under SUFFICE_DATA."""
    folder, rng = tmp_path / "data" / "fashion-mnist", np.random.default_rng(0)
    folder.mkdir(parents=True)
    for part, count in (("train", 900), ("t10k", 1000)):
        labels = (np.arange(count) % 10).astype(np.uint8)
        pixels = rng.integers(0, 60, (count, 28, 28), dtype=np.uint8)
        pixels[np.arange(count), 2 * labels] += 180  # a bright row says which class it is
        for name, array in ((f"{part}-images-idx3", pixels), (f"{part}-labels-idx1", labels)):
            head = bytes((0, 0, 8, array.ndim)) + b"".join(n.to_bytes(4, "big") for n in array.shape)
            (folder / f"{name}-ubyte").write_bytes(head + array.tobytes())
    monkeypatch.setenv("SUFFICE_DATA", str(tmp_path / "data"))
    benchmarks.comparison_data.images.cache_clear()
    benchmarks.comparison.problem_of.cache_clear()
    benchmarks.comparison.anchors.cache_clear()
    yield tmp_path
    benchmarks.comparison_data.images.cache_clear()


def network(clients: int = 5) -> sf.Neural:
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(12, 4)).astype(np.float32) for _ in range(clients)]
    y = [rng.integers(0, 3, 12) for _ in range(clients)]
    module = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 3)).double()
    return sf.Neural.of(module, X, y, batch=3)


def last(problem: Any, algorithm: Any, iterations: int = 12) -> dict[str, torch.Tensor]:
    eta = torch.full((problem.clients,), 0.3, dtype=problem.dtype)
    path = iterate(problem, algorithm, seeds=torch.arange(2), iterations=iterations, eta=lambda t: eta)
    return [state for _, _, _, state in path][-1]


def test_pairs_that_are_sampled_alone_give_cobos_own_path(benchmarks):
    problem, options = network(), {"rho": 0.2, "weight_step": 0.3}
    for sampling in ("constant", "time", "none"):
        whole = last(problem, CoBo(**options, sampling=sampling))
        few = last(problem, benchmarks.comparison_rules.SampledCoBo(**options, sampling=sampling))
        for name in ("models", "w"):
            torch.testing.assert_close(few[name], whole[name], rtol=1e-10, atol=1e-12)


def test_scafflix_with_all_clients_is_scafflix_and_with_few_the_others_wait(benchmarks):
    problem = network()
    anchors = problem.start + torch.linspace(-1, 1, problem.start.numel()).view_as(problem.start)
    options = {"p": 0.4, "alpha": 0.25, "anchors": anchors}
    rule = benchmarks.comparison_rules.SampledScafflix
    whole, all_of_them = last(problem, Scaffnew(**options)), last(problem, rule(**options, participants=5))
    for name in ("models", "control"):
        torch.testing.assert_close(all_of_them[name], whole[name], rtol=1e-10, atol=1e-12)
    eta = torch.full((5,), 0.3, dtype=problem.dtype)
    two = rule(**options, participants=2)
    path = list(iterate(problem, two, seeds=torch.arange(3), iterations=30, eta=lambda t: eta))
    assert {int(count) for *_, state in path[1:] for count in state["present"].sum(-1)} == {2}
    away = (1 - 0.25) * anchors
    for (_, before, draw, after), coin in ((step, step[2].extra["coin"]) for step in path[1:]):
        moved = (after["models"] != before["models"]).any(-1)
        assert bool((moved.sum(-1)[~coin] == 2).all())
        known = before["present"].any(-1, keepdim=True)
        absent = ~torch.where(known, before["present"], draw.extra["next"])
        assert bool((after["control"] == before["control"])[absent].all())
        common = (after["models"] - away)[coin] / 0.25
        torch.testing.assert_close(common, common[:, :1].expand_as(common), rtol=1e-9, atol=1e-10)


def test_clusters_have_the_same_rows_and_name_the_classes_alike(benchmarks, images):
    own = benchmarks.comparison_data.permuted("fashion", 3, rows=200)
    assert own.clusters == (0, 0, 1, 1, 2, 2, 3, 3)
    rows = [{x.tobytes(): y for x, y in zip(*pair)} for pair in zip(*own.train)]
    assert all(len(each) == 100 for each in rows)
    first, *others = [rows[k] | rows[k + 1] for k in (0, 2, 4, 6)]
    assert len(first) == 200  # the two share the rows of their cluster
    for other in others:
        assert other.keys() == first.keys()
        renamed = {(first[x], other[x]) for x in first}
        assert len(renamed) == 10
        assert any(a != b for a, b in renamed)
    again = benchmarks.comparison_data.permuted("fashion", 3, rows=200)
    np.testing.assert_array_equal(own.train[0][5], again.train[0][5])


def test_a_comparison_that_was_stopped_goes_on_and_ends_in_csv_files(benchmarks, images, monkeypatch, capsys):
    module, data = benchmarks.comparison, benchmarks.comparison_data
    small = replace(
        module.COMPARISONS["cobo-silo"], iterations=6, batch=4, steps=(0.1, 0.3), kept=(0.5, 1.0),
        rules=("Local", "CoBo, none"),
    )  # fmt: skip
    monkeypatch.setitem(data.SPLITS, "fashion-permuted", lambda seed: data.permuted("fashion", seed, rows=80, size=1))
    for tables in (module, benchmarks.comparison_tables):
        monkeypatch.setattr(tables, "COMPARISONS", {"cobo-silo": small})
    monkeypatch.setattr(module, "SEEDS", (1, 2))
    words = ["--out", str(images / "out"), "--only", "cobo-silo", "--write", str(images / "kept")]
    compute, asked = module.compute, []

    def stopped(cell: dict[str, Any]) -> dict[str, Any]:
        asked.append(cell)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return compute(cell)

    monkeypatch.setattr(module, "compute", stopped)
    with pytest.raises(KeyboardInterrupt):
        module.main(words)
    module.main(words)
    assert "tried: 2 computed, 2 found" in capsys.readouterr().out
    module.main(words)
    assert "run: 0 computed, 4 found" in capsys.readouterr().out
    assert len(asked) == 4 + 4 + 1
    assert [cell["seed"] for cell in asked[:5]] == [0] * 5
    with open(images / "kept" / "ends.csv", encoding="utf-8") as file:
        ends = {row["rule"]: row for row in csv.DictReader(file)}
    assert list(ends) == ["Local", "CoBo, none"]
    assert (ends["Local"]["gain"], ends["Local"]["seeds"], ends["Local"]["iterations"]) == ("0", "2", "6")
    cells = module.cells_run("cobo-silo", module.best(images / "out", "cobo-silo"))
    found = module.results(images / "out/cobo-silo/run", cells)
    mean = np.mean([result["accuracy"][-1] for cell, result in found if cell["rule"] == "Local"])
    assert float(ends["Local"]["accuracy"]) == float(f"{mean:.4g}")
    with open(images / "kept" / "weights.csv", encoding="utf-8") as file:
        weights = list(csv.DictReader(file))
    assert {row["iteration"] for row in weights} == {"3", "6"}
    assert len(weights) == 2 + 2 * 4 * 3
