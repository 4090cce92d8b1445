"""Figure 2: both editions' settings to the letter, the published last values, files that can be drawn again."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from suffice.bounds import InputError
from suffice.figures import figure, redraw, regression
from suffice.figures.adaptive_2 import PUBLISHED_FINAL, TEN, TWO
from suffice.figures.adaptive_2b_regimes import _contenders
from suffice.figures.lockstep import Contender, lockstep
from suffice.figures.regression import Regressions, Relative, all_for_one, estimated_smoothness, step_sizes
from suffice.simulate import Local, Randomness, Stream, generators, run

NAMES = {2: "adaptive-2a", 10: "adaptive-2b"}
SETTINGS, CLIENTS = {2: TWO, 10: TEN}, 20
needs_compiler = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("cc", "gcc", "clang")), reason="no C compiler on this machine"
)


@pytest.fixture(scope="module")
def published():
    return {d: figure(name, edition="published", seeds=8) for d, name in NAMES.items()}


@pytest.fixture(scope="module")
def stated():
    return figure("adaptive-2a", seeds=8)


@pytest.mark.parametrize("d", NAMES)
def test_published_last_values_lie_within_the_spread_of_single_runs(published, d):
    assert set(published[d].data) == set(PUBLISHED_FINAL[d])
    for name, value in PUBLISHED_FINAL[d].items():
        curve = published[d].data[name]
        # one run against eight: beyond 3 of their deviations for one value in fifty
        assert abs(value - curve["mean_log10_excess"][-1]) < 3 * curve["sd"][-1], name


def test_stated_edition_has_every_competitor_and_two_clusters(stated):
    final = {name: curve["mean_log10_excess"][-1] for name, curve in stated.data.items()}
    assert len(final) == 9
    # the oracle gains from ten clients whose optimum is the same, FedAvg is stuck between the two
    assert final["Oracle"] <= min(final.values())
    assert final["FedAvg"] == max(final.values())
    assert final["All-for-one binary"] < final["Local"] < final["FedAvg"] - 20


def test_settings_are_the_generators_one_per_seed():
    for edition, d in (("stated", 10), ("published", 2)):
        drawn = Regressions.drawn(edition, SETTINGS[d], (3, 127))
        one = generators.adaptive_regression(edition, d, seed=127)
        assert torch.equal(drawn.optima[1], one.optimum)
        assert torch.equal(drawn.starts[1], one.start)
        assert (drawn.batch, drawn.pairwise) == ((2, False) if edition == "stated" else (1, True))


def test_gradients_and_losses_of_a_seed_are_those_of_its_own_problem():
    drawn, randomness = Regressions.drawn("published", TWO, (5, 6)), Randomness(seeds=torch.tensor([5, 6]))
    one = generators.adaptive_regression("published", 2, seed=6)
    theta = randomness.normal(iteration=9, stream=Stream.DATA, clients=CLIENTS, features=3)
    weights = torch.full((2, CLIENTS, CLIENTS), 1 / CLIENTS, dtype=torch.float64)
    draw = drawn.draw(randomness, 1)
    ours = [
        drawn.excess(theta),
        drawn.gradient(theta),
        drawn.gradient_gap(theta),
        drawn.stochastic_gradient(theta, weights, draw),
        drawn.stochastic_gradient(theta, None, draw),
        *drawn.sampled_gap(theta, draw),
    ]
    theirs = [
        one.excess(theta),
        one.gradient(theta),
        one.gradient_gap(theta),
        one.stochastic_gradient(theta, weights, draw),
        one.stochastic_gradient(theta, None, draw),
        *one.sampled_gap(theta, draw),
    ]
    for mine, other in zip(ours, theirs):
        # sums of at most 1200 products of size 10^3, relative to the largest
        torch.testing.assert_close(mine[1], other[1], rtol=1e-11, atol=1e-11 * float(other[1].abs().max()))


def test_lockstep_takes_the_paths_of_the_runner():
    problem = generators.adaptive_regression("stated", 2, seed=4)
    trace = run(problem, Local(), iterations=5, eta=0.25, seeds=3)
    path = lockstep(
        {"local": Contender(algorithm=Local(), problem=problem)},
        seeds=range(3),
        grid=(0, 5),
        eta=lambda t: torch.tensor(0.25, dtype=torch.float64),
        measure=lambda problem, models: problem.excess(models),
    )["local"]
    for at, t in enumerate((0, 5)):
        np.testing.assert_allclose(path.values[at].numpy(), trace.excess[:, t], rtol=1e-10)
    assert path.collaborators.isnan().all()


@pytest.mark.parametrize("edition", ["stated", "published"])
def test_models_seen_from_their_own_optima_take_the_same_paths_without_rounding(edition):
    drawn = Regressions.drawn(edition, TWO, (3, 4))
    same = Relative.of_same(drawn)
    rules = {"released": all_for_one("released", "continuous"), "m=16": all_for_one("m=16", "binary")}
    eta = torch.tensor(0.25, dtype=torch.float64)
    problems = {name: {"there": drawn, "here": same} for name in rules}
    contenders = {f"{name} {place}": Contender(algorithm=rules[name], problem=problem)
                  for name, places in problems.items() for place, problem in places.items()}  # fmt: skip
    options = {"seeds": (3, 4), "eta": lambda t: eta, "measure": lambda problem, models: problem.excess(models)}
    paths = lockstep(contenders, grid=(0, 6), **options)
    for name in rules:
        here, there = (paths[f"{name} {place}"].values for place in ("here", "there"))
        # optima of size 5 against distances of 1e-3 at the least: 1e-12 of them after six steps
        torch.testing.assert_close(here, there, rtol=1e-9, atol=0)
    # what is rounding at optima of size 5, below 1e-30, is none here
    alone = {"local": Contender(algorithm=Local(), problem=same.variant(pairwise=False, batch=8))}
    assert 0 < float(lockstep(alone, grid=(0, 100), **options)["local"].values[-1].max()) < 1e-45


@needs_compiler
@pytest.mark.parametrize("edition", ["stated", "published"])
def test_compiled_paths_are_those_of_lockstep_far_below_rounding_too(edition, monkeypatch):
    setting, seeds = replace(TWO, clients=5, iterations=60), (3, 7)
    drawn = Regressions.drawn(edition, setting, seeds)
    pairs = Contender(algorithm=all_for_one("released", "binary"), problem=Relative.of_same(drawn))
    arguments = (_contenders(drawn) | {"pairs": pairs},)
    named: dict[str, Any] = {
        "seeds": seeds,
        "iterations": 60,
        "eta": step_sizes(edition, setting, seeds),
        "collaborators": True,
    }
    with monkeypatch.context() as patch:
        patch.setattr(regression, "lockstep", lambda rest, **_: dict.fromkeys(rest))
        ours = regression.paths(*arguments, **named)
    monkeypatch.setattr(regression, "attempt", lambda *_: None)
    for name, theirs in regression.paths(*arguments, **named).items():
        # ratios of small gradients magnify rounding, a hundred steps' worth of 1e-16 at first
        np.testing.assert_allclose(ours[name].values, theirs.values, rtol=0, atol=1e-8)
        np.testing.assert_allclose(ours[name].collaborators.mean(1), theirs.collaborators.mean(1), rtol=1e-14)
    if edition == "stated":
        assert ours["oracle | none"].values.min() < -33


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


@pytest.fixture(scope="module")
def saved(stated, tmp_path_factory):
    return stated.save(tmp_path_factory.mktemp("figures"))


@pytest.fixture
def kept(saved, tmp_path):
    """The CSV and the JSON alone, in a folder of their own."""
    for path in saved:
        if path.suffix in (".csv", ".json"):
            (tmp_path / path.name).write_bytes(path.read_bytes())


def test_saved_figures_are_drawn_again_from_their_files(saved, kept, tmp_path):
    first = {path.name: path.read_bytes() for path in saved}
    again = {path.name: path.read_bytes() for path in redraw("adaptive-2a", tmp_path).save(tmp_path)}
    assert first == again


def test_redrawing_needs_whole_files(stated, kept, tmp_path):
    with pytest.raises(InputError, match="no such file"):
        redraw("adaptive-2a", tmp_path / "empty")
    whole = {kind: (tmp_path / f"adaptive-2a.{kind}").read_text() for kind in ("csv", "json")}
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
