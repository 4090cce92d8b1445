"""`suffice simulate`: the JSON contract, agreement with the runner, and refusals in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from suffice import read_setup
from suffice.simulate import FedAvg, Trace, run

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


def rows_of(clients: int, folder: Path) -> Path:
    """Least squares of eight heavy-tailed rows a client: noise that grows with the gradient."""
    rng = np.random.default_rng(5)
    lines = ["client,x,z,target"]
    for i in range(clients):
        x = rng.standard_t(3, size=(40, 2))
        lines += [f"c{i},{a},{b},{a + b + 1 + e}" for (a, b), e in zip(x, 0.3 * rng.normal(size=40))]
    (folder / "rows.csv").write_text("\n".join(lines))
    (folder / "data.toml").write_text('[data]\npath = "rows.csv"\n')
    return folder / "data.toml"


def test_the_default_step_contracts_on_data_and_half_of_the_smoothness_limit_would_not(command, tmp_path):
    setup = rows_of(5, tmp_path)
    done = command("simulate", setup, "--algorithm", "local", "--seeds", "32", "--iterations", "60", "--json")
    answer = json.loads(done.stdout)
    mean = np.array(answer["excess_mean"])
    assert (mean[-1] < mean[0] / 2).all()
    assert answer["warnings"] == []
    assert answer["eta"] == answer["step_limit"] / 2
    beta = read_setup(setup, target=False).source.constants().beta.max()
    assert answer["eta"] < 0.25 / beta
    wild = command("simulate", setup, "--algorithm", "local", "--seeds", "32", "--iterations", "60", "--eta", 1 / beta)
    warned = [line for line in wild.stdout.splitlines() if line.startswith("warning: ")]
    assert (
        ": the models diverged; " in warned[0]
    )  # and the others, which end above their starts, in a line of their own
    assert f"limit {answer['step_limit']:.3g}" in wild.stdout


def test_the_step_and_where_it_comes_from_are_a_line(command, tmp_path):
    setup = rows_of(2, tmp_path)
    lines = {}
    for name, more in (("local", ()), ("all-for-one", ()), ("fedavg", ("--eta", "0.001"))):
        out = command("simulate", setup, "--algorithm", name, "--iterations", "2", *more).stdout
        lines[name] = " ".join(out.partition("\nThe step is ")[2].split())
    assert "half of the limit" in lines["local"]
    assert "All-for-one's ratio q = " in lines["all-for-one"]
    assert lines["fedavg"].startswith("0.001: as given; the limit is ")


@pytest.mark.filterwarnings("error")
def test_a_diverged_client_is_said_to_be_so_and_nothing_else_is_printed(command, tmp_path):
    for iterations in (60, 400):  # to 1e100, and beyond what a number holds
        done = command(
            "simulate", rows_of(2, tmp_path), "--algorithm", "local", "--eta", "50", "--iterations", iterations
        )
        assert (done.returncode, done.stderr) == (0, "")
        (line,) = (line for line in done.stdout.splitlines() if line.startswith("warning: "))
        assert line.startswith("warning: c0, c1: the models diverged; the step is 50, its limit ")


def test_all_clients_are_shown_up_to_ten(command, tmp_path):
    for clients, shown in ((10, 10), (11, 10)):
        out = command("simulate", rows_of(clients, tmp_path), "--algorithm", "local", "--iterations", "2").stdout
        assert sum(f" c{i} " in f" {out.replace(chr(10), chr(32))} " for i in range(clients)) == shown
        assert ("1 more clients" in out) == (clients > shown)
        assert max(len(line) for line in out.splitlines() if not line.startswith("Next: ")) <= 132


def test_a_start_that_is_mixed_is_explained(command, setup):
    done = command("simulate", setup, "--algorithm", "scafflix", "--iterations", "4", "--json")
    answer = json.loads(done.stdout)
    problem = read_setup(setup, target=False).source
    at_start = problem.excess(problem.start[None])[0].numpy()
    np.testing.assert_allclose(answer["excess_mean"][0], at_start / 4, rtol=1e-12)  # alpha = 1/2 of a quadratic
    assert f"the excess of the start itself is {at_start[0]:.3g}" in answer["notes"][0]
    assert json.loads(command("simulate", setup, "--algorithm", "local", "--json").stdout)["notes"] == []


def test_steps_of_streams_and_of_all_for_one_are_smaller(command, tmp_path):
    np.savez(tmp_path / "s.npz", H=np.diag([1.0, 2.0]), theta_star=np.ones((3, 2)), label_noise=np.float64(0.5))
    (tmp_path / "s.toml").write_text('[problem]\nkind = "least-squares"\nfile = "s.npz"\n')
    run = ("simulate", tmp_path / "s.toml", "--iterations", "2", "--json", "--algorithm")
    # beta = 2 lambda_max = 4 and M = tr(H)/lambda_min + 1 = 4
    np.testing.assert_allclose(json.loads(command(*run, "local").stdout)["step_limit"], 1 / 16, rtol=1e-12)
    together = json.loads(command(*run, "all-for-one", "--option", "threshold=0.5").stdout)
    np.testing.assert_allclose(together["step_limit"], (0.5 + 0.5 / 3) / 16, rtol=1e-12)


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
