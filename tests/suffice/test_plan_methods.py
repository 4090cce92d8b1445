"""The network table, stability, files and published numbers through `suffice.plan` and the command."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest
from client_data import near_and_far

import suffice as sf
from suffice.cli.demo import diabetes
from suffice.network_of_problem import network
from suffice.plan_csv import write_csv

DATA = Path(os.environ.get("SUFFICE_DATA", Path(__file__).parents[3] / "shared" / "data")) / "libsvm"
EXAMPLES = Path(__file__).parents[2] / "examples"
PUBLISHED = {"mushrooms": 0.16883865479367444, "a6a": 0.2344113416108792}


def random_quadratics(seed):
    """A few clients near one another, noise from weak to strong, a precision below the smallest start."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    Q = np.linalg.qr(rng.normal(size=(n, d, d)))[0]
    A = Q @ (np.exp(rng.uniform(-0.7, 0.2, (n, d)))[..., None] * Q.swapaxes(1, 2))
    if seed % 3 == 0:
        A = np.broadcast_to(A[:1], A.shape).copy()
    optimum = rng.normal(size=(n, d)) * np.exp(rng.uniform(-4, -1))
    sigma2 = np.exp(rng.uniform(-4, -1, n))
    direction = rng.normal(size=d)
    start = rng.uniform(1, 2) * direction / np.linalg.norm(direction)  # far from every optimum
    problem = sf.Quadratics.of((A + A.swapaxes(1, 2)) / 2, -optimum, sigma2=sigma2, start=start)
    excess = problem.constants().excess
    return problem, float(excess.min() * np.exp(rng.uniform(-2, -0.5)))


def ratios(instances):
    """Measured over predicted, alone and together, of every client."""
    alone, together = [], []
    for seed in instances:
        problem, epsilon = random_quadratics(seed)
        for entry in sf.plan(problem, epsilon).simulate(seeds=256):
            assert entry.together_arrived == entry.alone_arrived == 1
            # the bound is 2 or more above the mean; the standard error of 256 paths is 3 % of it
            assert entry.together + 5 * entry.together_se <= entry.predicted_together
            assert entry.alone + 5 * entry.alone_se <= entry.predicted_alone
            alone.append(entry.ratio_alone)
            together.append(entry.ratio_together)
    return np.array(alone), np.array(together)


def test_planned_all_for_one_arrives_within_the_predicted_mean_on_random_quadratics():
    _, together = ratios(range(12))
    assert 0.02 < np.median(together) < together.max() < 0.9


@pytest.mark.slow
def test_planned_all_for_one_arrives_within_the_predicted_mean_on_two_hundred_quadratics():
    alone, together = ratios(range(200))
    assert len(together) > 500
    for name, values in (("alone", alone), ("together", together)):
        least, low, middle, high, most = np.quantile(values, [0, 0.05, 0.5, 0.95, 1])
        print(f"{name}, {len(values)} clients: {least:.3f} {low:.3f} {middle:.3f} {high:.3f} {most:.3f}")
    assert max(alone.max(), together.max()) < 0.9


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_released_rule_gives_the_published_probability_and_the_standard_one_is_equalised(name):
    if not (DATA / name).exists():
        pytest.skip(f"no {DATA / name}: set SUFFICE_DATA to the folder with the data files")
    problem = sf.read(
        DATA / name, split="contiguous:8", loss="logistic", regularisation=0.1, standardise="none",
        certainty="everywhere",
    )  # fmt: skip
    plan = sf.plan(problem, epsilon=0.05)
    released, beneath = plan.methods("scafflix-released")
    np.testing.assert_allclose(released.settings["p"], PUBLISHED[name], rtol=1e-13)
    # its steps 1 / mean L exceed 1 / max L, so it is told and not promised
    L = problem.smoothness.numpy() - 0.1 + 0.1 / (4 * problem.data.counts.numpy())
    assert released.failure["condition"] == "every step gamma_i <= 1/A_i: reach <= 1"
    np.testing.assert_allclose(released.failure["lhs"], problem.smoothness.max() / L.mean(), rtol=1e-12)
    assert beneath.method == "lower-bound"
    equalised, _ = plan.methods("scafflix")
    assert equalised.method == "scafflix"
    assert equalised.applies
    assert plan.constants is not None
    steps = np.array(equalised.settings["eta"]) * plan.constants.mu
    np.testing.assert_allclose(steps, steps[0], rtol=1e-12)
    assert "own optimum is elsewhere" in equalised.guarantee


def test_a_network_of_rows_knows_expected_smoothness_by_rows_and_peer_excesses_exactly():
    problem = diabetes()
    constants = problem.constants()
    known = network(problem, constants, alpha=0.3)
    blocks = problem.data.blocks()
    largest = [2 * (x**2).sum(1).max() for x, _ in blocks]
    np.testing.assert_allclose(known.A, 2 * np.array(largest), rtol=1e-12)  # one row: 2 max_j L_ij
    solution = known.mixed_solution(np.full(8, 0.3))
    own = problem.optimum.numpy()
    mixed = sum(0.09 * 2 * x.T @ x / len(x) @ (solution - theta) for (x, _), theta in zip(blocks, own))
    np.testing.assert_allclose(mixed, 0, atol=1e-12)  # stationary for the mixed objective
    x, y = blocks[2]
    rows = 2 * (x @ (0.3 * solution + 0.7 * own[2]) - y)[:, None] * x
    np.testing.assert_allclose(known.C[2], 2 * ((rows - rows.mean(0)) ** 2).sum(1).mean(), rtol=1e-10)

    def loss(i, theta):
        return ((blocks[i][0] @ theta - blocks[i][1]) ** 2).mean()

    np.testing.assert_allclose(known.peer_excess[1, 4], loss(1, own[4]) - loss(1, own[1]), rtol=1e-9)


def test_a_row_carries_the_weights_of_definition_1():
    plan = sf.plan(near_and_far(300), 0.3)
    sigma2 = plan.constants.sigma2
    assert len(plan) == 3
    for row in plan:
        member = row.similarity >= row.criterion.threshold * (1 - 1e-14)
        expected = member / sigma2 / (member * row.similarity / sigma2).sum()
        np.testing.assert_allclose(row.weights, expected, rtol=1e-12)
        np.testing.assert_allclose(row.weights @ row.similarity, 1, rtol=1e-12)
        assert tuple(np.flatnonzero(row.weights)) == row.cluster


def test_the_table_and_the_figure_carry_the_plan(tmp_path):
    plan = sf.plan(diabetes(), 0.2)
    measured, methods = plan.simulate(seeds=16), plan.methods()
    runs = plan.simulate_methods(methods, measured, seeds=16)
    saved = write_csv(tmp_path / "new" / "plan.csv", plan.rows, methods, measured=measured, runs=runs)
    rows = list(csv.reader(saved.read_text().splitlines()))
    header, body = rows[0], [dict(zip(rows[0], row)) for row in rows[1:]]
    assert all(len(row) == len(header) for row in rows)
    first = next(row for row in body if row["client"] == "59-64" and row["method"] == "exact")
    assert first["collaborators"] == "; ".join(plan["59-64"].collaborators)
    assert float(first["iterations <= [1]"]) == plan["59-64"].exact.iterations
    assert float(first["measured/predicted [1]"]) == measured[6].ratio_together
    assert not any(row["method"] in ("all-for-one", "local") and row["client"] for row in body)
    assert any(row["method"] == "cobo" and "no one sigma" in row["refused because"] for row in body)
    (ran,) = (row for row in body if row["method"] == "scafflix")
    (one,) = (run for run in runs if run.method == "scafflix")
    assert float(ran["measured/predicted [1]"]) == one.ratio

    drawn = plan.plot()
    curves = list(csv.DictReader(drawn._csv().splitlines()))
    row = plan["59-64"]
    mine = [c for c in curves if (c["epsilon"], c["client"], c["how"]) == ("0.2", "59-64", "together")]
    assert float(mine[0]["excess"]) == pytest.approx(row.exact.start, rel=1e-12)
    (last,) = (c for c in mine if float(c["iteration"]) == row.exact.iterations)
    assert float(last["excess"]) == pytest.approx(row.exact.excess, rel=1e-12)
    panels = json.loads(drawn._json())["setup"]["panels"]
    (mine,) = (panel for panel in panels if panel["name"] == "59-64")
    np.testing.assert_array_equal(mine["weights"], row.exact.weights)
    assert (mine["iterations"], mine["alone"]) == (row.exact.iterations, row.exact_local.iterations)
    with pytest.raises(sf.InputError, match=r"^plot = "):
        drawn.write(tmp_path / "matrix.docx")


def test_constants_without_a_start_are_drawn_without_curves_and_written(tmp_path):
    pair = sf.GradientDissimilarity(b2=np.zeros((2, 2)), c=np.zeros((2, 2)))
    plan = sf.plan(sf.Constants(mu=1.0, beta=1.0, sigma2=1.0, heterogeneity=pair), 0.1)
    drawn = plan.plot()
    folder = drawn.write(tmp_path / "figures")
    assert [path.name for path in folder] == ["plan.pdf", "plan.png", "plan.csv", "plan.json"]
    assert folder[1].stat().st_size > 5000
    (one,) = drawn.write(tmp_path / "matrix.svg")
    assert one.read_bytes().startswith(b"<?xml")


def test_horizon_confidence_and_the_options_of_data_reach_the_plan(capsys, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    path = tmp_path / "t.csv"
    path.write_text("x,target\n" + "".join(f"{a},{2 * a + e}\n" for a, e in zip(x, rng.normal(size=40))))
    code, out, err = run(
        capsys, "plan", path, "--split", "iid:2", "--seed", 5, "--batch", 3, "--no-intercept", "--epsilon", 0.5,
        "--horizon", 40, "--confidence", 0.1, "--json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    problem = sf.read(path, split="iid:2", seed=5, batch=3, intercept=False)
    plan = sf.plan(problem, 0.5, horizon=40, confidence=0.1)
    answer = json.loads(out)
    assert answer["clients"] == json.loads(json.dumps(plan.to_dict()["clients"]))
    assert answer["clients"][0]["exact"]["iterations"] > 0
    ran = next(row for row in answer["methods"] if row["method"] == "scafflix")
    np.testing.assert_allclose(ran["samples_per_client"], 3 * max(ran["rounds"]), rtol=1e-15)
    code, out, _ = run(capsys, "plan", EXAMPLES / "constants.toml", "--horizon", 30)
    for text in ("decreasing", "2/(mu (t + ", "Collaboration matrix at 0.5"):
        assert text in out


def run(capsys, *arguments):
    from suffice.cli import main

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["suffice", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
    out, err = capsys.readouterr()
    return stopped.value.code, out, err


def test_the_command_adds_keys_and_leaves_the_clients_as_they_were(capsys, tmp_path):
    code, out, _ = run(capsys, "plan", EXAMPLES / "constants.toml", "--json", "--csv", tmp_path / "p.csv")
    answer = json.loads(out)
    setup = sf.read_setup(EXAMPLES / "constants.toml")
    plan = sf.plan(setup.source, setup.epsilon, horizon=setup.horizon, confidence=setup.confidence)
    assert (code, set(answer)) == (0, {"clients", "methods", "notes", "stops_paying"})
    assert answer["clients"] == json.loads(json.dumps(plan.to_dict()["clients"]))
    assert [row["method"] for row in answer["methods"]][:7] == [
        "all-for-one", "fixed-weights", "all-for-all", "cobo", "scafflix", "local", "lower-bound",
    ]  # fmt: skip
    keys = {"method", "epsilon", "applies", "theorem", "quantity", "guarantee", "rounds", "samples_per_client",
            "vectors", "settings", "failure", "notes"}  # fmt: skip
    assert all(set(row) == keys for row in answer["methods"])
    refused = [row for row in answer["methods"] if not row["applies"]]
    assert {frozenset(row["failure"]) for row in refused} == {frozenset(("condition", "lhs", "rhs", "reason"))}
    assert [entry["name"] for entry in answer["stops_paying"]] == ["0", "1", "2"]
    assert (tmp_path / "p.csv").read_text().startswith("epsilon [loss],method,client")


def test_one_method_is_selected_and_a_wrong_one_refused_in_one_line(capsys):
    code, out, _ = run(capsys, "plan", EXAMPLES / "constants.toml", "--method", "scafflix-paper", "--alpha", "0.3")
    assert code == 0
    assert "scafflix-paper at 0.5: alpha 0.3" in out
    assert "fixed-weights" not in out
    for arguments, start in (
        (("--method", "cobbo"), "suffice: method = 'cobbo': did you mean cobo?"),
        (("--alpha", "2"), "suffice: alpha = 2.0: personalisation weights are in (0, 1]"),
        (("--bootstrap", "9"), "suffice: bootstrap = 'constants'"),
        (("--numbers",), "suffice: numbers = 'constants'"),
        (("--simulate",), "suffice: problem = 'constants'"),
        (("--horizon", "0"), "suffice: horizon = 0"),
        (("--confidence", "1.5"), "suffice: confidence = 1.5"),
        (("--batch", "2"), "suffice: --batch = "),
        (("--plot", "a.docx"), "suffice: plot = 'a.docx'"),
    ):
        code, _, err = run(capsys, "plan", EXAMPLES / "constants.toml", *arguments)
        assert code == 2
        assert err.startswith(start)
        assert err.count("\n") == 1


def test_the_command_shows_ratios_and_stability(capsys, tmp_path):
    rng = np.random.default_rng(0)
    lines = ["client,x,target"]
    for name, slope in (("Lyon", 1.0), ("Nice", 1.05), ("Brest", -2.0)):
        x = rng.normal(size=300)
        lines += [f"{name},{a},{slope * a + 0.5 * e}" for a, e in zip(x, rng.normal(size=300))]
    path = tmp_path / "clients.csv"
    path.write_text("\n".join(lines) + "\n")
    arguments = ("plan", path, "--epsilon", 0.8, "--simulate", "--seeds", 4, "--bootstrap", 4, "--numbers")
    code, out, _ = run(capsys, *arguments, "--json")
    answer = json.loads(out)
    assert code == 0
    for row, entry in zip(answer["clients"], answer["measured"]):
        predicted = row["exact"]["hitting"]["expected_iterations"]
        np.testing.assert_allclose(entry["ratio_together"], entry["together"] / predicted, rtol=1e-12)
    assert [entry["name"] for entry in answer["stability"]] == ["Lyon", "Nice", "Brest"]
    first = answer["stability"][0]
    assert first["resamples"] == 4
    low, high = first["iterations"]
    assert low <= answer["clients"][0]["exact"]["iterations"] * 1.5
    assert low <= high
    assert answer["numbers"]["mu"]["interval"][0][0] < answer["numbers"]["mu"]["interval"][1][0]
    assert {entry["method"] for entry in answer["method_runs"]} == {
        row["method"] for row in answer["methods"] if row["applies"] and row["method"] != "lower-bound"
    }
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    for text in ("measured/exact", "E[tau] <=", "The network", "overstate instability",
                 "sigma^2", "Collaboration matrix", "The methods as planned, simulated"):  # fmt: skip
        assert text in out


def test_the_root_is_that_of_the_simulation_and_of_the_resamples(capsys, tmp_path):
    path = tmp_path / "t.csv"
    rows = [
        f"{site},{x / 9},{slope * x / 9 + (-1) ** x / 9}" for site, slope in (("A", 2), ("B", 3)) for x in range(-9, 9)
    ]
    path.write_text("\n".join(("client,x,target", *rows)))
    plan = sf.plan(sf.read(path, standardise="none"), 1.0)
    asked = ("--standardise", "none", "--epsilon", 1.0, "--simulate", "--seeds", 4, "--bootstrap", 4, "--json")
    answers = {}
    for root in (None, 0, 5):
        more = () if root is None else ("--root", root)
        code, out, err = run(capsys, "plan", path, *asked, "--method", "all-for-all", *more)
        assert (code, err) == (0, "")
        answers[root] = json.loads(out)
    assert answers[None] == answers[0] != answers[5]
    measured, stable = plan.simulate(seeds=4, root=5), plan.stability(resamples=4, root=5)
    assert [entry["together"] for entry in answers[5]["measured"]] == [entry.together for entry in measured]
    assert [entry["share"] for entry in answers[5]["stability"]] == [list(entry.share) for entry in stable]
    methods = plan.simulate_methods(plan.methods("all-for-all"), measured, seeds=4, root=5)
    assert [entry["measured"] for entry in answers[5]["method_runs"]] == [entry.measured for entry in methods]
    code, out, _ = run(
        capsys, "plan", path, "--standardise", "none", "--numbers", "--bootstrap", 4, "--root", 5, "--json"
    )
    assert json.loads(out)["numbers"] == answers[5]["numbers"]
    code, _, err = run(capsys, "plan", path, "--epsilon", 0.5, "--bootstrap", 4, "--root", -1)
    assert (code, err) == (2, "suffice: root = -1: give a whole number within 0..2^32 - 1\n")


def test_without_the_initial_excess_a_refusal_says_what_is_missing(capsys, tmp_path):
    constants = (EXAMPLES / "constants.toml").read_text()
    setup = tmp_path / "s.toml"
    setup.write_text("\n".join(line for line in constants.splitlines() if not line.startswith("excess")))
    code, out, _ = run(capsys, "plan", setup, "--epsilon", 0.5)
    assert code == 0
    assert "unknown" not in out
    assert "refused: without the initial excess no iterations" in " ".join(out.split())


@pytest.fixture
def undetermined(tmp_path):
    """A table at whose site A one column is twice another: it has an exact plan, and no constants."""
    rows = [("A", x, 2 * x, x + (x > 2)) for x in range(5)] + [("B", x, x * x, 2 * x - (x > 2)) for x in range(5)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(("client,x,z,target", *(",".join(map(str, row)) for row in rows))))
    return path


def test_a_method_that_cannot_be_planned_is_refused_with_the_reason(refused, undetermined, tmp_path):
    for precision in ("0.1", "10%"):
        plain = ("plan", undetermined, "--epsilon", precision)
        for option, value in (("method", "cobo"), ("alpha", "0.3")):
            line = refused(*plain, f"--{option}", value)
            assert line.startswith(f"suffice: {option} = '{value}': the methods' theorems need constants of every")
            assert "mu of client A = 0: its 5 rows do not determine 3 coefficients" in line
    setup = (EXAMPLES / "constants.toml", "--epsilon", "10%")
    line = refused("plan", *setup, "--method", "cobo")
    assert line.startswith("suffice: method = 'cobo': the methods' theorems have one precision for all clients: give a")
    # a name is checked before anything is read
    for place in (undetermined, EXAMPLES / "constants.toml", tmp_path / "absent.csv"):
        assert refused("plan", place, "--epsilon", "10%", "--method", "cobbo").startswith(
            "suffice: method = 'cobbo': did you mean cobo? Methods: all-for-one, fixed-weights"
        )


def test_python_is_told_the_same_reasons(undetermined):
    plan = sf.plan(sf.read(undetermined, standardise="none"), "10%")
    with pytest.raises(sf.InputError, match=r"^constants = 'missing': the methods' theorems need .*; mu of client A"):
        plan.methods()
    shares = sf.plan(sf.read_setup(EXAMPLES / "constants.toml").source, "10%")
    assert shares.methods() == []
    with pytest.raises(sf.InputError, match=r"^method = 'cobo': .* one precision for all clients"):
        shares.methods("cobo")
    with pytest.raises(sf.InputError, match=r"^method = 'x': Methods: all-for-one"):
        shares.methods("x")


def test_a_method_is_recommended_only_where_it_can_be_planned(command, undetermined, monkeypatch):
    def recommends(*arguments):
        done = command("plan", *arguments)
        assert done.returncode == 0, done.stderr
        return "--method" in done.stdout

    assert not recommends(undetermined, "--epsilon", "0.1")
    monkeypatch.setattr("suffice._plan.MOST_CLIENTS", 2)  # of more, the methods are planned one at a time
    setup = (EXAMPLES / "constants.toml", "--epsilon")
    assert recommends(*setup, "0.5")
    assert command("plan", *setup, "0.5", "--method", "cobo").returncode == 0
    assert not recommends(*setup, "10%")
    grows = (EXAMPLES / "diabetes_by_age.csv", "--client", "age_group", "--target", "progression", "--epsilon")
    assert not recommends(*grows, "1000")  # least squares on rows: no noise level, which all but Scafflix ask for
