"""Plans of logistic losses: times measured on the loss itself, and called measured."""

from __future__ import annotations

from typing import Any

import numpy as np

import suffice as sf
from suffice.figures.figure import SEPARATOR
from suffice.planning.logistic_plan import NO_MODEL
from suffice.planning.simulated import mean_excess
from suffice.planning.tables.columns import write_csv
from suffice.planning.tables.plans import measured_tables

SEEDS, PATHS = 512, 4_000


def one_dimensional():
    rng = np.random.default_rng(5)
    X = [rng.normal(size=(n, 1)) for n in (30, 60)]
    y = [np.where(rng.random(len(x)) < 1 / (1 + np.exp(-2 * x[:, 0])), 1, 0) for x in X]
    return sf.Logistic.of(X, y, regularisation=0.1, start=np.full((2, 1), -2.0), names=("A", "B"))


def own_simulation(problem, weights, eta, steps, client):
    """Mean excess of single-row steps in plain numpy, with random numbers of its own."""
    rng, r = np.random.default_rng(11), problem.regularisation
    blocks, theta = [(x[:, 0], label) for x, label in problem.data.blocks()], np.full(PATHS, -2.0)

    def risk(at):
        x, label = blocks[client]
        return np.logaddexp(0, -np.outer(label * x, at)).mean(0) + r / 2 * at**2

    best, means = risk(problem.optimum[client].numpy()), []
    for _ in range(steps):
        means.append((risk(theta) - best).mean())
        gradient = r * theta * sum(weights)
        for weight, (x, label) in zip(weights, blocks):
            j = rng.integers(len(x), size=theta.size)
            gradient -= weight * label[j] * x[j] / (1 + np.exp(label[j] * x[j] * theta))
        theta = theta - eta * gradient
    return np.array([*means, (risk(theta) - best).mean()])


def test_the_measured_time_is_that_of_the_loss_itself():
    problem = one_dimensional()
    plan = sf.plan(problem, "2%")
    for row in plan:
        assert row.exact is None
        plans: Any = (row.measured, row.measured_local)
        for found in plans:
            model = found.model
            scale = 1.0 if model.matrix is None else model.matrix.item()
            low, high = found.between
            mean = own_simulation(problem, model.weights, model.eta * scale, high, row.client)
            assert low <= np.argmax(mean <= row.epsilon) <= high  # its own error is a third
            assert low <= found.iterations <= high
            found_again = mean_excess(problem, [model] * 2, range(high + 1), range(SEEDS))
            curve, error = (values[1:, row.client] for values in found_again)
            assert curve[found.iterations - 1] == found.excess
            # 5 standard errors: once in a million for a normal mean
            assert (np.abs(curve - mean[1:]) < 5 * np.sqrt(1 + SEEDS / PATHS) * error).all()
        entry = row.to_dict()
        assert entry["exact"] is None
        assert entry["local"]["exact"] is None
        assert entry["measured"]["iterations"] <= entry["local"]["measured"]["iterations"]
        assert entry["measured"]["seeds"] == SEEDS
    table = plan.tables()[0].text()
    assert table.startswith("Measured")
    assert "neither exact nor guaranteed" in table
    assert max(map(len, table.splitlines())) <= 80


def test_the_model_has_the_gradients_and_the_noise_of_the_loss_at_the_optimum():
    problem = one_dimensional()
    model: Any = problem.quadratic_model()
    np.testing.assert_allclose(model.optimum, problem.optimum, rtol=1e-10)
    there = problem.optimum
    np.testing.assert_allclose(model.variance(there).diagonal(), problem.variance(there).diagonal(), rtol=1e-10)
    near = there[None] + 1e-5
    np.testing.assert_allclose(model.gradient(near), problem.gradient(near), rtol=1e-4)  # of the next order


def test_a_measured_plan_is_run_again_drawn_and_written(tmp_path):
    problem = one_dimensional()
    plan = sf.plan(problem, "10%")
    again = plan.simulate(seeds=SEEDS)
    for row, entry in zip(plan, again):
        for how, found in (("together", row.measured), ("alone", row.measured_local)):
            assert found is not None
            run = getattr(entry, how)
            assert (run.iterations, run.exact) == (found.iterations, None)
            mean, error = run.excess, run.excess_se
            assert abs(mean - found.excess) > 1e-9 * mean  # other paths than those that chose T
            # 5 standard errors: once in a million for a normal mean
            assert abs(mean - found.excess) < 5 * np.hypot(error, found.excess_se)
    table = measured_tables(again)[0].text()
    assert "other paths" in table
    assert "measured/eps" in table
    assert max(map(len, table.splitlines())) <= 80
    figure = plan.plot()
    assert figure.setup["kind"] == "measured"
    curve = figure.data[SEPARATOR.join(("10%", "A", "together"))]
    measured = plan["A"].measured
    at = curve["excess"][curve["iteration"] == measured.iterations]
    np.testing.assert_allclose(at, measured.excess, rtol=1e-12)
    lines = write_csv(tmp_path / "plan.csv", plan.rows).read_text().splitlines()
    methods = [line.split(",")[1] for line in lines[1:]]
    assert methods[:2] == ["measured", '"measured']
    assert f",{measured.iterations}," in lines[1]


def test_without_a_model_the_plan_says_why(monkeypatch):
    monkeypatch.setattr("suffice.planning.logistic_plan.MOST_FEATURES", 0)
    row = sf.plan(one_dimensional(), "10%")["A"]
    assert row.measured is None
    assert NO_MODEL in row.warnings
    rows = {"client": list("AABB") * 5, "x": range(20), "target": [0, 1, 1, 0, 0] * 4}
    neither = sf.plan(sf.read(rows, regularisation=0.0, loss="logistic"), "10%")
    assert neither.rows[0].schedules is neither.rows[0].exact is None
    assert str(neither).startswith("There is no plan: regularisation = 0.0")
    assert len(neither.simulate(seeds=2)) == 2
