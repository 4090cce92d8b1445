"""`suffice simulate`: the JSON contract, agreement with the runner, and refusals in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from simulate import FedAvg, Trace, run
from suffice import read_setup

SETUP = '[problem]\nkind = "quadratic"\nfile = "clients.npz"\n'


@pytest.fixture
def setup(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 2, 2))
    A = root @ root.transpose(0, 2, 1) + np.eye(2)
    arrays = {"A": A, "xi": rng.normal(size=(3, 2)), "sigma": np.full(3, 0.5), "theta0": np.ones(2)}
    np.savez(tmp_path / "clients.npz", **arrays)
    (tmp_path / "setup.toml").write_text(SETUP)
    return tmp_path / "setup.toml"


def test_json_is_the_trace_of_the_runner(command, setup, tmp_path):
    done = command("simulate",
        str(setup), "--algorithm", "fedavg", "--option", "period=2", "--seeds", "40", "--iterations", "30",
        "--points", "4", "--eta", "0.05", "--json", "--out", str(tmp_path / "paths.npz"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    problem = read_setup(setup, target=False).source
    trace = run(problem, FedAvg(period=2), iterations=30, eta=0.05, seeds=40, grid=[0, 10, 20, 30])
    assert answer["iterations"] == [0, 10, 20, 30]
    assert (answer["algorithm"], answer["problem"], answer["seeds"]) == ("fedavg", "Quadratics", 40)
    np.testing.assert_array_equal(answer["excess_mean"], trace.mean())
    np.testing.assert_array_equal(answer["excess_se"], trace.standard_error())
    np.testing.assert_array_equal(answer["oracle_calls"], [0, 30, 60, 90])
    np.testing.assert_array_equal(answer["vectors_sent"], trace.vectors_sent)
    np.testing.assert_array_equal(Trace.load(tmp_path / "paths.npz").excess, trace.excess)


def test_the_table_names_clients_and_costs(command, setup):
    done = command("simulate", str(setup), "--algorithm", "local", "--seeds", "8", "--iterations", "20")
    assert done.returncode == 0, done.stderr
    assert "local: mean excess over 8 seeds" in done.stdout
    assert "oracle calls" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--algorithm", "locla"], "did you mean local?"),
        (["--algorithm", "local", "--eta", "0"], "eta = 0.0: give a positive step size"),
        (["--algorithm", "local", "--iterations", "0"], "iterations = 0: give a whole number from 1"),
        (["--algorithm", "local", "--seeds", "0"], "seeds = 0: give how many"),
        (["--algorithm", "fedavg", "--option", "period"], "option = 'period': write NAME=VALUE"),
        (["--algorithm", "local", "--points", "1"], "points = 1: give at least 2"),
    ],
)
def test_wrong_requests_take_one_line_and_exit_2(command, setup, arguments, message):
    done = command("simulate", str(setup), *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_constants_cannot_be_simulated(command, tmp_path):
    text = "[constants]\nmu = 0.5\nbeta = 1.0\nsigma = [1.0]\nb = [[0.0]]\nexcess = 1.0\n[target]\nepsilon = 0.1\n"
    (tmp_path / "c.toml").write_text(text)
    done = command("simulate", str(tmp_path / "c.toml"), "--algorithm", "local")
    assert done.returncode == 2
    assert "constants cannot be simulated" in done.stderr
