"""Figure 2: both editions' settings to the letter, the published last values, files that can be drawn again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from compiler import needs_compiler

from suffice.bounds import InputError
from suffice.figures import figure, redraw
from suffice.figures.adaptive_2 import TEN, TWO, _contenders
from suffice.figures.regression import (
    Contender,
    drawn,
    estimated_smoothness,
    paths,
    step_sizes,
)
from suffice.figures.setting import UNSTATED
from suffice.simulate import FedAvg, Local, Randomness, Stream, generators, run
from suffice.support.text import csv_text

SETTINGS, CLIENTS = {2: TWO, 10: TEN}, 20


@pytest.fixture(scope="module")
def stated():
    return figure("adaptive-2a", seeds=8)


def test_stated_edition_has_every_competitor_and_two_clusters(stated):
    final = {name: curve["mean_log10_excess"][-1] for name, curve in stated.data.items()}
    assert len(final) == 9
    # the oracle gains from ten clients whose optimum is the same, FedAvg is stuck between the two
    assert final["Oracle"] <= min(final.values())
    assert final["FedAvg"] == max(final.values())
    assert final["All-for-one binary"] < final["Local"] < final["FedAvg"] - 20


def test_settings_are_the_generators_one_per_seed():
    for edition, d in (("stated", 10), ("published", 2)):
        _, ours = drawn(edition, SETTINGS[d], (3, 127))
        one = generators.adaptive_regression(edition, d, seed=127)
        assert torch.equal(ours.optimum, one.optimum)
        assert torch.equal(ours.start, one.start)
        assert (ours.batch, ours.pairwise) == ((2, False) if edition == "stated" else (1, True))


@pytest.mark.share(2)
@pytest.mark.parametrize("edition", ["stated", "published"])
def test_curves_are_those_of_run_on_every_seeds_own_problem(edition):
    """Also of rules that torch runs for all seeds together, and of models that are counted from their optima."""
    setting, seeds = replace(TWO, clients=3, iterations=6), (3, 7)
    problems, eta = drawn(edition, setting, seeds), step_sizes(edition, setting, seeds)
    contenders = _contenders(edition, setting, UNSTATED)
    found = paths(contenders, problems, seeds=seeds, iterations=6, eta=eta)
    steps = eta.expand(2, 3).numpy()
    for name, entry in contenders.items():
        for at, seed in enumerate(seeds):
            trace = run(replace(problems[at], **entry.changes), entry.algorithm, iterations=6, eta=steps[at],
                        seeds=range(seed, seed + 1), kernel="reference")  # fmt: skip
            # optima of size 5 against distances of 1e-4 at the least
            expected = np.log10(trace.excess[0]).mean(-1)
            np.testing.assert_allclose(found[name][:, at], expected, rtol=0, atol=1e-8, err_msg=name)


@needs_compiler
def test_losses_far_below_the_rounding_of_models_are_right():
    problem = replace(drawn("stated", TWO, (3,))[0], batch=8)
    alone = Contender(algorithm=Local(), changes={"batch": 8})
    eta = torch.tensor(0.25, dtype=torch.float64)
    (path,) = paths({"local": alone}, [problem], seeds=(3,), iterations=100, eta=eta).values()
    assert -120 < path[-1, 0] < -45
    with pytest.raises(InputError, match="counted from optima"):
        run(problem, Local(), iterations=1, eta=0.1, relative=True, models=True)
    with pytest.raises(InputError, match="averages no models"):
        run(problem, FedAvg(), iterations=1, eta=0.1, relative=True)


@pytest.mark.parametrize(("d", "typical"), [(2, 2.02), (10, 2.106)])
def test_smoothness_is_estimated_from_ten_thousand_rows(d, typical):
    direct = Randomness(seeds=torch.tensor([0]), root=5).normal(
        iteration=0, stream=Stream.DATA, clients=40 * 10_000, features=d
    )
    rows = direct[0].unflatten(0, (40, 10_000))
    largest = 2 * torch.linalg.eigvalsh(rows.mT @ rows / 10_000)[:, -1]
    ours = estimated_smoothness(SETTINGS[d], range(50)).flatten()
    assert abs(float(ours.mean()) - typical) < 0.01
    # two-sample z-test; |z| > 6 has probability 2e-9
    z = (ours.mean() - largest.mean()) / torch.hypot(ours.std() / 1000**0.5, largest.std() / 40**0.5)
    assert abs(float(z)) < 6
    step = step_sizes("published", SETTINGS[d], range(2)) * estimated_smoothness(SETTINGS[d], range(2))
    torch.testing.assert_close(step, torch.full((2, CLIENTS), 1 / {2: 2, 10: 8}[d], dtype=torch.float64))
    assert float(step_sizes("stated", SETTINGS[d], range(2))) == 1 / {2: 4, 10: 8}[d]


def test_at_the_stated_step_local_diverges_with_batch_one_only():
    curves = figure("adaptive-2b", seeds=2).data
    assert curves["Local, batch 1"]["mean_log10_excess"][-1] > 5
    assert curves["Local"]["mean_log10_excess"][-1] < -5


def test_redrawing_needs_whole_files(stated, tmp_path):
    with pytest.raises(InputError, match="no such file"):
        redraw("adaptive-2a", tmp_path / "empty")
    whole = {"csv": csv_text(stated._rows()), "json": stated._json()}
    for kind, text in whole.items():
        (tmp_path / f"adaptive-2a.{kind}").write_text(text)
    for kind, text in (
        ("json", "{"),
        ("json", "{}"),
        ("json", "[]"),
        ("csv", ""),
        ("csv", whole["csv"] + "Local,1.0,two,3.0,4.0\n"),
        ("csv", whole["csv"] + "Local,1.0\n"),
    ):
        (tmp_path / f"adaptive-2a.{kind}").write_text(text)
        with pytest.raises(InputError, match="damaged"):
            redraw("adaptive-2a", tmp_path)
        (tmp_path / f"adaptive-2a.{kind}").write_text(whole[kind])
    assert redraw("adaptive-2a", tmp_path).title == stated.title
