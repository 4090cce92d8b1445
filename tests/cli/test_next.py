"""Every command ends with a line to run next, which runs as it is printed, and begins with a sentence."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pytest

import suffice as sf
from suffice.cli.console import replaced

SETUPS = {
    "constants": "[constants]\nmu = 0.5\nbeta = 1.0\nsigma = [1.0, 1.0]\nb = [[0.0, 0.1], [0.1, 0.0]]\nexcess = 5.0\n",
    "rows": '[data]\npath = "a table.csv"\nclient = "place"\ntarget = "dose"\n',
    "quadratic": '[problem]\nkind = "quadratic"\nfile = "problem.npz"\n',
}
TABLE = "'a table.csv' --client place --target dose"
LINES = [
    f"fit {TABLE}", f"fit {TABLE} --out 'my models.json'", "fit mixed.csv --target dose --split iid:3",
    "fit rows.toml --out m.json", "fit p.json q.json", f"fit {TABLE} --loss least-squares --keep q",
    "fit labels.csv --client place --target dose",
    f"plan {TABLE} --epsilon 30% --max-memory 1e9", "plan mixed.csv --target dose --drop x1 --split iid:3 --seed 2",
    f"plan {TABLE} --epsilon 1000%", "plan rows.toml --epsilon 30% --epsilon 20%", "plan constants.toml --epsilon 1%",
    "plan quadratic.toml --epsilon 10%", "plan labels.csv --client place --target dose --epsilon 30%",
    f"plan {TABLE} --epsilon 30% --out plan", "plan rows.toml --epsilon 30% --out plan",
    f"simulate {TABLE} --algorithm all-for-one --iterations 4 --seeds 2",
    f"simulate {TABLE} --algorithm fedavg --option period=2 --iterations 4 --seeds 2",
    "simulate quadratic.toml --algorithm local --iterations 4 --seeds 2",
    f"train {TABLE} --iterations 8", f"train {TABLE} --iterations 300 --algorithm local --no-baselines --out long",
    f"train {TABLE} --iterations 4 --no-baselines --algorithm fedavg --out 'my nets'",
    "verify adaptive/property-1", "verify scafflix/theorem-2", pytest.param("demo", marks=pytest.mark.slow),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("next"), np.random.default_rng(0)
    X, places = rng.normal(size=(90, 2)), np.repeat(["p", "q", "r"], 30)
    y = X @ [1.0, -1.0] + 0.3 * rng.normal(size=90)
    for name, target in (("a table.csv", y), ("labels.csv", np.where(y > 0, "yes", "no"))):
        rows = [f"{place},{x[0]},{x[1]},{one}" for place, x, one in zip(places, X, target)]
        (folder / name).write_text("\n".join(["place,x0,x1,dose", *rows]))
    table = (folder / "a table.csv").read_text()
    (folder / "mixed.csv").write_text("\n".join(line.partition(",")[2] for line in table.splitlines()))
    for name, text in SETUPS.items():
        (folder / f"{name}.toml").write_text(text)
    A = np.array([np.eye(2), np.diag([0.5, 1.0])])
    np.savez(folder / "problem.npz", A=A, xi=np.array([[1.0, 0.0], [1.1, 0.0]]), sigma=np.array([0.3, 0.3]))
    for place in "pq":
        rows = places == place
        sf.summarise({"x": X[rows, 0], "target": y[rows]}, site=place).write(folder / f"{place}.json")
    return folder


@pytest.mark.share(4)
@pytest.mark.parametrize("line", LINES)
def test_it_begins_with_its_answer_and_what_stands_next_runs(line, command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    done = command(*shlex.split(line))
    assert done.returncode == 0, done.stderr
    first = " ".join(done.stdout.split())[:160]
    assert re.match(r"([A-Z0-9]|all-for|fed|local)[^|]*\d.*\.", first), first
    (shown,) = re.findall(r"^Next: suffice (.*)$", done.stdout, re.MULTILINE)
    arguments = shlex.split(shown, comments=True)
    assert arguments != shlex.split(shown)  # a comment says why
    then = command(*arguments)
    assert then.returncode == 0, (shown, then.stderr)
    assert arguments != shlex.split(line)


def test_a_value_that_is_typed_again_stands_in_place_of_the_first():
    words = ["train", "t.csv", "--iterations", "10", "--out=a", "--eta", "0.1"]
    shown = replaced(words, {"--iterations": 20, "--out": "a-20"})
    assert shown == ["train", "t.csv", "--eta", "0.1", "--iterations", "20", "--out", "a-20"]
    assert replaced(shown, {"--iterations": 20, "--out": "a-20"}) == shown


def test_after_a_training_that_is_done_models_predict_a_table(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    done = command(*shlex.split(f"train {TABLE} --iterations 300 --algorithm local --no-baselines --out done"))
    assert "Next: suffice predict done/models.npz 'a table.csv' --client place  #" in done.stdout
    done = command(*shlex.split(f"train {TABLE} --iterations 4 --algorithm local --no-baselines --out done-4"))
    assert "--iterations 8 --out done-8  # more iterations, as the loss still falls" in done.stdout
    assert done.stdout.count("--iterations") == 1
