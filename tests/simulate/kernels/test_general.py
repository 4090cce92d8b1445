"""The kernel of all compiled problems against the reference: the same paths, weights and stopping times in float64."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
import torch
from compiler import needs_compiler

import suffice as sf
from suffice.bounds import Binary, Continuous, InputError, Sharp
from suffice.simulate import (
    DebiasedSimilarity,
    ExactSimilarity,
    ReleasedSimilarity,
    SampledSimilarity,
    StreamingLeastSquares,
    seed_blocks,
)
from suffice.simulate.algorithms import TwoStageAllForAll
from suffice.simulate.algorithms.cobo_fixed import FixedCoBo
from suffice.simulate.algorithms.fedprox import FedProx
from suffice.simulate.algorithms.fixed_weights import PreconditionedWeights
from suffice.simulate.algorithms.local_sgd import LocalSGD
from suffice.simulate.kernels import general, general_refusal, task

pytestmark = needs_compiler
rng = np.random.default_rng(7)
N, D = 5, 6
TABLES = [rng.normal(size=(rows, D)) for rows in (9, 30, 12, 21, 10)]
BEST = rng.normal(size=(2, D))[np.arange(N) % 2] + 0.1 * rng.normal(size=(N, D))
RESPONSES = [x @ best + 0.3 * rng.normal(size=len(x)) for x, best in zip(TABLES, BEST)]
LABELS = [np.where(y + rng.normal(size=len(y)) > 0, 1.0, -1.0) for y in RESPONSES]
ROOT = rng.normal(size=(N, D, D))
HESSIAN = 0.3 * np.eye(D) + ROOT @ ROOT.transpose(0, 2, 1) / D
PROBLEMS: dict[str, Any] = {
    "rows": sf.LeastSquares.of(TABLES, RESPONSES, batch=3, start=BEST + 1),
    "rows, ridge": sf.LeastSquares.of(TABLES, RESPONSES, regularisation=0.2, start=1e3 * np.ones(D)),
    "logistic": sf.Logistic.of(TABLES, LABELS, regularisation=0.1, batch=5),
    "quadratics": sf.Quadratics.of(HESSIAN, -BEST, covariance=HESSIAN[::-1] / 5),
    "spheres": sf.Quadratics.of(np.array([1.0, 2, 3, 1, 2])[:, None, None] * np.eye(D), -BEST, sigma2=1.0),
    "stream": StreamingLeastSquares.of(HESSIAN, BEST, label_noise=0.3),
    "stream with a bias": StreamingLeastSquares.of(np.eye(D - 1), BEST, label_noise=0.3, bias=True, batch=2),
    "pairs": StreamingLeastSquares.of(HESSIAN, BEST, label_noise=0.3, batch=2, pairwise=True, start=BEST + 1),
}
EACH = Binary(threshold=torch.linspace(0.1, 0.9, N, dtype=torch.float64)[:, None])
SERVERS: dict[str, Any] = {
    "clusters": torch.tensor([0, 1, 0, 1, 0]),
    "sizes": torch.tensor([3.0, 1, 2, 5, 4]),
    "participants": 1,
    "period": 2,
}
ALONE: dict[str, Any] = {
    "local": sf.Local(),
    "local sgd": LocalSGD(period=3, clusters=SERVERS["clusters"]),
    "fedavg": sf.algorithms.FedAvg(fine_tune_after=4, **SERVERS),
    "fedprox": FedProx(fine_tune_after=4, period=2, pull=0.7, sizes=SERVERS["sizes"]),
    "scaffnew": sf.algorithms.Scaffnew(p=0.4, control=torch.from_numpy(BEST)),
    "scafflix": sf.algorithms.Scaffnew(
        p=0.7, alpha=torch.linspace(0.2, 1, N), anchors=torch.from_numpy(BEST[::-1].copy()), population=True
    ),
    "ditto": sf.algorithms.Ditto(pull=0.8, server=sf.algorithms.FedAvg(**SERVERS)),
}
"""They weigh no clients."""
LAMBDA = torch.from_numpy(np.random.default_rng(8).dirichlet(np.ones(N), N))
RULES: dict[str, Any] = ALONE | {
    "fixed": sf.FixedWeights(alpha=torch.from_numpy(rng.uniform(0, 1 / N, (N, N)) * (rng.uniform(size=(N, N)) > 0.2))),
    "preconditioned": PreconditionedWeights(
        alpha=torch.from_numpy(rng.uniform(0, 1 / N, (N, N))), preconditioners=torch.from_numpy(HESSIAN)
    ),
    "all-for-all": sf.algorithms.AllForAll(Lambda=LAMBDA),
    "two stages": TwoStageAllForAll(Lambda=LAMBDA, first=2, kappa=3.0),
    "all decreasing": TwoStageAllForAll(Lambda=LAMBDA, first=0, kappa=1.0, offset=0.0),
    "first stage": TwoStageAllForAll(Lambda=LAMBDA, first=9, kappa=2.0, offset=7.5),
    "cobo": sf.algorithms.CoBo(rho=0.3, weight_step=0.02, sampling="mixed", horizon=1000, w0=0.5),
    "cobo released": sf.algorithms.CoBo.released(rho=0.4),
    "cobo fixed": FixedCoBo(w=torch.from_numpy(rng.uniform(size=(N, N))), rho=0.2),
    "exact binary": sf.AllForOne(criterion=EACH),
    "exact continuous": sf.AllForOne(criterion=Continuous(), sigma2=1.0, normalised=True),
    "exact sharp": sf.AllForOne(criterion=Sharp(), similarity=ExactSimilarity()),
    "sampled": sf.AllForOne(criterion=Continuous(), similarity=SampledSimilarity(samples=6)),
    "sampled once": sf.AllForOne(criterion=Continuous(), similarity=SampledSimilarity(), sigma2=1.0),
    "debiased": sf.AllForOne(criterion=Binary(threshold=0.3), similarity=DebiasedSimilarity(samples=5)),
    "released": sf.AllForOne(criterion=Binary(threshold=0.3), similarity=ReleasedSimilarity(samples=2)),
}
NONE = (("pairs", "cobo"), ("pairs", "cobo released"))
SETTING: dict[str, Any] = {"iterations": 6, "eta": np.linspace(0.01, 0.03, N), "seeds": 11}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """The reference runs whole blocks of seeds, and a seed's path is the same in any."""
    monkeypatch.setattr(seed_blocks, "_LARGEST_BLOCK", 16)


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("name", "rule"),
    [(name, rule) for name in PROBLEMS for rule in RULES if (name, rule) not in NONE],
)
def test_paths_weights_and_stopping_times_are_those_of_the_reference(name, rule):
    problem, algorithm = PROBLEMS[name], RULES[rule]
    level = 0.9 * problem.excess(problem.start[None])[0].numpy()
    more: dict[str, Any] = {"epsilon": level, "models": True}
    some: dict[str, Any] = {} if rule in ALONE else {"weights": [1, 9]}
    every: dict[str, Any] = {} if rule in ALONE else {"weights": range(SETTING["seeds"])}
    ours: Any = sf.run(problem, algorithm, kernel="c", **SETTING, **more, **some)
    theirs: Any = sf.run(problem, algorithm, kernel="reference", **SETTING, **more, **every)
    assert ours.kernel.startswith("c ")
    assert np.ptp(ours.excess[:, 1:], axis=0).min() > 0
    # six steps of some hundred roundings each; a ratio within rounding of a threshold has probability 1e-12
    np.testing.assert_allclose(ours.excess, theirs.excess, rtol=1e-11)
    np.testing.assert_allclose(ours.models, theirs.models, rtol=1e-11, atol=1e-12)
    for field in ("stopping_times", "vectors_sent"):
        np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field))
    np.testing.assert_allclose(ours.oracle_calls, theirs.oracle_calls, rtol=1e-14)  # thirds are added up there
    if some:
        np.testing.assert_array_equal(ours.weight_seeds, [1, 9])
        np.testing.assert_allclose(ours.weights, theirs.weights[[1, 9]], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "rule"),
    [("rows", "local"), ("logistic", "local"), ("quadratics", "local"), ("rows", "local sgd"), ("rows", "cobo fixed")],
)
def test_hitting_times_are_those_of_the_reference_and_stop_early(name, rule):
    """Who has stopped may rest, but not where others use its model: here the first client stops at once."""
    problem = PROBLEMS[name]
    share = 0.99 if rule == "local" else np.array([2, 0.6, 0.6, 0.6, 0.6])
    level = share * problem.excess(problem.start[None])[0].numpy()
    found: list[np.ndarray] = []
    for limit, kernel in cast(Any, ((60, "c"), (60, "reference"), (10**9, "c"))):
        found.append(
            sf.hitting_times(problem, RULES[rule], epsilon=level, limit=limit, eta=0.02, seeds=11, kernel=kernel)
        )
        assert np.isfinite(found[0]).all()
        np.testing.assert_array_equal(found[0], found[-1])


@pytest.mark.parametrize("rule", ["all-for-all", "two stages"])
def test_hitting_times_of_mixed_gradients_and_of_means_are_those_of_the_reference(rule):
    """Losses over rows are evaluated where a tangent leaves it open: the tangent is that of the mean."""
    problem, setting = PROBLEMS["logistic"], {"eta": 0.3, "seeds": 11}
    level = sf.run(problem, RULES[rule], iterations=20, grid=[20], kernel="reference", **setting).excess.mean((0, 1))
    ours, theirs = (
        sf.hitting_times(problem, RULES[rule], epsilon=level, limit=40, kernel=kernel, **setting)
        for kernel in ("c", "reference")
    )
    np.testing.assert_array_equal(ours, theirs)
    assert len(np.unique(ours)) > 9
    if rule == "two stages":
        with pytest.raises(InputError, match="all iterations would fill the memory"):
            sf.hitting_times(problem, RULES[rule], epsilon=level, limit=10**9, kernel="c", **setting)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_seed_is_bitwise_alone(name, dtype):
    """Whatever the range, what lanes are and the number of threads.

    Lanes are seeds, but clients where few seeds are left over: seed 12 by itself, here.
    """
    problem, algorithm = PROBLEMS[name].to(dtype), RULES["exact continuous"]
    setting: dict[str, Any] = {"iterations": 3, "eta": 0.02, "kernel": "c", "models": True}
    whole: Any = sf.run(problem, algorithm, seeds=45, weights=range(45), **setting)
    for part in (range(13, 41), range(12, 13)):
        again: Any = sf.run(problem, algorithm, seeds=part, **setting)
        np.testing.assert_array_equal(again.excess, whole.excess[part.start : part.stop])
        np.testing.assert_array_equal(again.models, whole.models[part.start : part.stop])
    for rule in ("exact sharp", "sampled", "two stages", "cobo fixed" if name == "pairs" else "cobo"):
        one, two = (
            sf.run(problem, RULES[rule], seeds=part, weights=[12], epsilon=3.0, **setting)
            for part in (range(12, 13), 16)
        )
        np.testing.assert_array_equal(one.models[0], two.models[12])
        np.testing.assert_array_equal(one.weights, two.weights)
        np.testing.assert_array_equal(one.stopping_times[0], two.stopping_times[12])
    one, two = (sf.run(problem, RULES["ditto"], seeds=part, **setting) for part in (range(12, 13), 16))
    np.testing.assert_array_equal(one.models[0], two.models[12])
    threads = torch.get_num_threads()
    torch.set_num_threads(3 if threads != 3 else 2)
    try:
        again = sf.run(problem, algorithm, seeds=45, weights=range(45), **setting)
        np.testing.assert_array_equal(again.excess, whole.excess)
        np.testing.assert_array_equal(again.weights, whole.weights)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("rule", ["local", "fedavg", "fixed", "exact continuous", "sampled", "sampled once"])
def test_a_float32_path_is_near_the_float64_one(name, rule):
    single, double = (
        sf.run(
            PROBLEMS[name].to(dtype), RULES[rule], kernel="c", grid=[2], models=True, iterations=2, eta=0.01, seeds=9
        )
        for dtype in (torch.float32, torch.float64)
    )
    # two steps of a few hundred roundings of 6e-8 each, of models up to 1e3 times the steps
    scale = np.abs(double.models).max()
    np.testing.assert_allclose(single.models, double.models, rtol=0, atol=2e-5 * scale)


def test_probabilities_far_out_and_losses_near_the_optimum():
    """Predictions of +-1e4, where exp overflows, and models a millionth from the optimum, where losses cancel."""
    given = PROBLEMS["logistic"]
    for start in (1e4 * np.ones(D), given.optimum.numpy() + 1e-6):
        problem = sf.Logistic.of(TABLES, LABELS, regularisation=0.1, start=start)
        for rule in ("local", "exact continuous"):
            ours, theirs = (
                sf.run(problem, RULES[rule], iterations=3, eta=1e-7, seeds=3, kernel=kernel).excess
                for kernel in ("c", "reference")
            )
            assert np.isfinite(ours).all()
            np.testing.assert_allclose(ours, theirs, rtol=1e-11)


def test_vanishing_gradients_and_divergence():
    """Clients with one optimum, started there without noise: everyone is like everyone. And steps far too long."""
    same = sf.Quadratics.of(HESSIAN, np.zeros((N, D)), sigma2=0.0)
    rule = sf.AllForOne(criterion=Continuous(), sigma2=1.0, normalised=True)
    trace = sf.run(same, rule, iterations=2, eta=0.1, seeds=2, weights=[0], kernel="c")
    np.testing.assert_array_equal(trace.excess, 0.0)
    np.testing.assert_array_equal(trace.weights[0, 1:], 1 / N)
    for name in ("rows", "quadratics"):
        last = sf.run(PROBLEMS[name], rule, iterations=3000, eta=9.0, seeds=3, grid=[3000], kernel="c").excess
        assert not np.isfinite(last).any()


def test_no_thread_of_torch_waits_beside_the_blocks(monkeypatch):
    """A thread that torch wakes to prepare a run spins for 10 ms: in that time blocks of seeds have one core less."""
    threads, seen = torch.get_num_threads(), []
    monkeypatch.setattr(task, "_diagonal", lambda matrices: seen.append(torch.get_num_threads()) or 0)
    monkeypatch.setattr(general, "in_threads", lambda *_: seen.append(torch.get_num_threads()))
    torch.set_num_threads(2)
    try:
        sf.run(PROBLEMS["rows"], sf.Local(), iterations=1, eta=0.1, seeds=9, kernel="c")
    finally:
        torch.set_num_threads(threads)
    assert seen == [1, 2]


def own_problem(name: str, seed: int) -> Any:
    given, best = PROBLEMS[name], np.random.default_rng(seed).normal(size=(N, D))
    if given.row_counts:
        rng = np.random.default_rng(seed)
        X, y = zip(*((x + 0.1 * rng.normal(size=x.shape), t) for x, t in given.data.blocks()))
        more = {"regularisation": given.regularisation, "batch": given.batch}
        return type(given).of(X, y, **more, start=given.start.numpy())
    if isinstance(given, sf.Quadratics):
        return sf.Quadratics.of(given.A.numpy() * best[0, 0] ** 2, -best, sigma2=abs(best[1, 1]))
    return StreamingLeastSquares.of(np.eye(D - 1) * best[0, 0] ** 2, best, label_noise=0.3, bias=True, batch=2)


@pytest.mark.share(5)
@pytest.mark.parametrize("rule", ["local", "ditto", "cobo released", "fixed", "two stages", "exact binary", "sampled"])
@pytest.mark.parametrize("name", ["rows", "logistic", "quadratics", "stream with a bias"])
def test_every_seed_runs_on_its_own_problem(name, rule):
    problems = [own_problem(name, seed) for seed in range(11)]
    setting: dict[str, Any] = {"iterations": 3, "eta": 0.01, "epsilon": 3.0, "models": True, "seeds": range(2, 13)}
    more: dict[str, Any] = {} if rule in ALONE else {"weights": [2, 7]}
    ours, theirs = (sf.run(problems, RULES[rule], kernel=kernel, **setting, **more) for kernel in ("c", "reference"))
    np.testing.assert_allclose(ours.excess, theirs.excess, rtol=1e-11)
    np.testing.assert_allclose(ours.models, theirs.models, rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(ours.stopping_times, theirs.stopping_times)
    if more:
        np.testing.assert_allclose(ours.weights, theirs.weights, rtol=1e-11, atol=1e-12)
    setting["seeds"] = range(7, 8)
    alone: Any = sf.run(problems[5], RULES[rule], kernel="c", **setting)
    np.testing.assert_array_equal(alone.models[0], ours.models[5])
    assert np.ptp(ours.excess[:, 0], axis=0).min() > 0  # the problems differ


@pytest.mark.parametrize("rule", ["local", "fixed", "two stages", "exact continuous", "sampled"])
@pytest.mark.parametrize("name", ["quadratics", "stream with a bias", "pairs"])
def test_models_counted_from_their_own_optima_take_the_same_paths(name, rule):
    setting: dict[str, Any] = {"iterations": 6, "grid": range(7), "eta": np.full(N, 0.02), "models": True}
    here, alone = (
        general.general_paths(PROBLEMS[name], RULES[rule], seeds=seeds, relative=True, **setting)
        for seeds in (range(9), [5])
    )
    there = general.general_paths(PROBLEMS[name], RULES[rule], seeds=range(9), **setting)
    np.testing.assert_allclose(here["excess"], there["excess"], rtol=1e-11)
    models = here["models"] + PROBLEMS[name].optimum.numpy()
    np.testing.assert_allclose(models, there["models"], rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(alone["excess"][0], here["excess"][5])


def test_what_it_cannot_hold_is_left_to_the_reference():
    pairs = StreamingLeastSquares.of(np.eye(2), np.ones((150, 2)), label_noise=1.0, batch=60, pairwise=True)
    assert general_refusal(pairs, sf.Local()) == "pairwise samples would fill the memory"
    for problem, rule, why in (
        (PROBLEMS["pairs"], RULES["cobo"], "its weights sum to 1, or midpoints"),
        (PROBLEMS["rows"], replace(RULES["cobo"], w0=None, simplex=True), "its weights sum to 1, or midpoints"),
        (PROBLEMS["rows"], sf.algorithms.Ditto(server=FedProx(period=2)), "its server is FedProx"),
    ):
        assert str(general_refusal(problem, rule)).startswith(why)
        assert sf.run(problem, rule, iterations=1, eta=0.01, seeds=1).kernel == "reference"
    for name, rule in (("rows", "local"), ("quadratics", "fedavg"), ("quadratics", "cobo")):
        with pytest.raises(InputError, match="relative"):
            general.general_paths(
                PROBLEMS[name], RULES[rule], seeds=[0], iterations=1, grid=[1], eta=np.ones(N), relative=True
            )
