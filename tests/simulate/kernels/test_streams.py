"""The rule of streams.h against the reference: the same numbers, path by path in float64, step by step in float32."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from compiler import needs_compiler

import suffice as sf
from suffice.bounds import Binary, Continuous, InputError, Sharp
from suffice.simulate import (
    ExactSimilarity,
    Randomness,
    ReleasedSimilarity,
    SampledSimilarity,
    Stream,
    StreamingLeastSquares,
)
from suffice.simulate.algorithms.momentum import Momentum
from suffice.simulate.kernel_choice import _warned
from suffice.simulate.kernels import general_paths, general_refusal, library, tiled
from suffice.simulate.kernels.library import _compiler, identity

SAMPLED, RELEASED = SampledSimilarity(), ReleasedSimilarity()
RULES: dict[str, Any] = {
    "local": lambda n: sf.Local(),
    "fixed": lambda n: sf.FixedWeights(alpha=torch.from_numpy(np.random.default_rng(5).uniform(0, 1 / n, (n, n)))),
    "binary": lambda n: sf.AllForOne(criterion=Binary(threshold=0.4), similarity=SAMPLED),
    "binary normalised": lambda n: sf.AllForOne(criterion=Binary(threshold=0.4), similarity=SAMPLED, normalised=True),
    "binary threshold 1": lambda n: sf.AllForOne(criterion=Binary(threshold=1.0), similarity=SAMPLED),
    "binary per client": lambda n: sf.AllForOne(
        criterion=Binary(threshold=torch.linspace(0.1, 0.9, n, dtype=torch.float64)[:, None]), similarity=SAMPLED
    ),
    "continuous": lambda n: sf.AllForOne(criterion=Continuous(), similarity=SAMPLED),
    "continuous normalised": lambda n: sf.AllForOne(
        criterion=Continuous(), similarity=SAMPLED, normalised=True, sigma2=1.0
    ),
    "released binary": lambda n: sf.AllForOne.released(binary=True),
    "released continuous": lambda n: sf.AllForOne.released(binary=False),
    "released ratio, Definition 1": lambda n: sf.AllForOne(criterion=Binary(threshold=0.3), similarity=RELEASED),
}
SHAPES = {"1x1": (1, 1, 1), "4x2": (4, 2, 1), "5x3": (5, 3, 2), "7x10": (7, 10, 1), "6x13": (6, 13, 3)}


def problem_of(n: int, d: int, batch: int, *, diagonal: bool = False, **more: Any) -> StreamingLeastSquares:
    """Unequal clients in two groups, so that ratios fall on both sides of thresholds."""
    rng = np.random.default_rng(100 * n + d)
    root = rng.normal(size=(n, d, d))
    H = 0.3 * np.eye(d) + root @ root.transpose(0, 2, 1) / d
    best = rng.normal(size=(2, d))[np.arange(n) % 2] + 0.1 * rng.normal(size=(n, d))
    setting: dict[str, Any] = {"label_noise": rng.uniform(0.1, 0.5, n), "batch": batch} | more
    return StreamingLeastSquares.of(H * np.eye(d) if diagonal else H, best, **setting)


def directly(problem: StreamingLeastSquares, algorithm: Any, *, seeds: Any = range(5), **more: Any) -> Any:
    n, d = problem.clients, problem.features
    assert tiled(problem, algorithm)
    setting: dict[str, Any] = {"iterations": 1, "grid": [1], "eta": np.full(n, 0.05 / d), "models": True} | more
    return general_paths(problem, algorithm, seeds=seeds, **setting)


def from_models(problem: StreamingLeastSquares, models: np.ndarray) -> StreamingLeastSquares:
    return replace(problem, population=replace(problem.population, start=torch.from_numpy(models).to(problem.dtype)))


def one_step(problem: Any, algorithm: Any, models: torch.Tensor, eta: float, iteration: int) -> np.ndarray:
    draw = algorithm.draw(problem, Randomness(seeds=torch.arange(len(models))), iteration)
    return algorithm.step(problem, {"models": models}, draw, torch.tensor(eta, dtype=problem.dtype))["models"].numpy()


@needs_compiler
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 4e-15), (torch.float32, 6e-7)])
def test_normals_are_those_of_the_reference(dtype, tolerance):
    """One step of length 1 from the optimum 0 of quadratics ends at minus the noise, standard normals."""
    seeds = [0, 1, 2**32 - 1, *range(40, 71)]  # not a multiple of any register
    for features in (1, 4, 11):
        problem = sf.Quadratics.of([np.eye(features)] * 3, np.zeros((3, features)), sigma2=float(features)).to(dtype)
        got = -general_paths(
            problem, sf.Local(), seeds=seeds, root=77, iterations=1, grid=[1], eta=np.ones(3), models=True
        )["models"]
        setting: dict[str, Any] = {"clients": 3, "features": features, "iteration": 1, "stream": Stream.NOISE}
        expected = Randomness(seeds=torch.tensor(seeds), root=77).normal(**setting).numpy()
        # radii are below 6.8 and angles below 7 radians: a few roundings of each
        np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)


@pytest.mark.share(2)
@needs_compiler
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("shape", SHAPES)
def test_paths_are_those_of_the_reference(rule, shape):
    n, d, batch = SHAPES[shape]
    problem, algorithm = problem_of(n, d, batch, diagonal=shape == "7x10"), RULES[rule](n)
    ours = sf.run(problem, algorithm, iterations=8, eta=0.05 / d, seeds=11, kernel="c")
    models = problem.start.expand(11, -1, -1)
    for t in range(9):
        # both round a few steps; a threshold within rounding of a ratio has probability 1e-12
        np.testing.assert_allclose(ours.excess[:, t], problem.excess(models).numpy(), rtol=1e-11)
        models = torch.from_numpy(one_step(problem, algorithm, models, 0.05 / d, t + 1))


@needs_compiler
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 3, 1), (17, 9, 2), (33, 18, 1)])
def test_what_lanes_are_changes_no_bit(shape, dtype):
    """Of sixteen seeds each has a lane, of three the clients: partly filled rows, last rows, squares of features."""
    n, d, batch = shape
    for diagonal in (False, True):
        problem = problem_of(n, d, batch, diagonal=diagonal).to(dtype)
        for name, rule in RULES.items():
            setting: dict[str, Any] = {"iterations": 4, "grid": [2, 4]}
            one = directly(problem, rule(n), seeds=range(16), **setting)
            two = directly(problem, rule(n), seeds=range(9, 12), **setting)
            np.testing.assert_array_equal(one["models"][9:12], two["models"], err_msg=name)
            np.testing.assert_array_equal(one["excess"][9:12], two["excess"], err_msg=name)
            assert np.isfinite(one["models"]).all()
            assert np.ptp(one["models"], axis=0).max() > 0


@needs_compiler
@pytest.mark.parametrize("scale", [0.0, 1e-160, 1e-300, 5e-324])
@pytest.mark.parametrize("rule", ["binary", "continuous", "released continuous", "binary normalised"])
def test_vanishing_and_subnormal_gradients(rule, scale):
    """All clients share an optimum without label noise: gradients are zero, or too small for their squares."""
    n, d = 5, 3
    shared = problem_of(n, d, 1)
    problem = StreamingLeastSquares.of(shared.A.numpy(), np.zeros((n, d)), label_noise=0.0, start=np.ones((n, d)))
    models = scale * np.random.default_rng(3).integers(-9, 10, size=(6, n, d)).astype(float)
    algorithm = replace(RULES[rule](n), sigma2=1.0)
    own = [from_models(problem, start) for start in models]
    got, alone = (
        np.stack([directly(one, algorithm, seeds=seeds or [s])["models"][s * bool(seeds)] for s, one in enumerate(own)])
        for seeds in (range(16), None)
    )
    np.testing.assert_array_equal(got, alone)
    expected = one_step(problem, algorithm, torch.from_numpy(models), 0.05 / d, 1)
    assert np.isfinite(got).all()
    # squares of 1e-160 keep four digits, and so do ratios; of smaller models they vanish, and ratios are 0 or 1
    np.testing.assert_allclose(got, expected, rtol=1e-3 if scale == 1e-160 else 1e-10, atol=50 * 5e-324)


@needs_compiler
def test_subnormals_survive_in_the_process():
    """Flags like -ffast-math would flush them for everyone."""
    library(torch.float64)
    directly(problem_of(3, 2, 1), sf.Local())
    assert np.float64(5e-324) * 1.0 == 5e-324
    assert float(torch.tensor(5e-324, dtype=torch.float64) * 1) == 5e-324


STREAM = problem_of(3, 2, 1)
OTHERS = [
    (sf.Quadratics.of([np.eye(2)] * 3, np.zeros((3, 2)), sigma2=1.0), sf.Local(), None),
    (problem_of(3, 2, 1, pairwise=True), sf.Local(), None),
    (StreamingLeastSquares.of(np.eye(1), np.ones((3, 2)), label_noise=1.0, bias=True), sf.Local(), None),
    (STREAM, sf.AllForOne(criterion=Continuous(), similarity=ExactSimilarity()), None),
    (STREAM, sf.AllForOne(criterion=Continuous(), similarity=SampledSimilarity(samples=2)), None),
    (STREAM, sf.AllForOne(criterion=Sharp(), similarity=SAMPLED), None),
    (STREAM.to(torch.bfloat16), sf.Local(), "bfloat16"),
    (STREAM, Momentum(), "Momentum"),
    (STREAM, sf.AllForOne(criterion=Continuous(), similarity=SAMPLED, refresh=2), "keeps ratios"),
]


@pytest.mark.parametrize(("problem", "algorithm", "why"), OTHERS)
def test_what_it_does_not_run_is_left_to_the_other_rules_or_named(problem, algorithm, why):
    if why is None:
        assert general_refusal(problem, algorithm) is None
        assert not tiled(problem, algorithm)
        return
    assert why in str(general_refusal(problem, algorithm))
    with pytest.raises(InputError, match=why) as caught:
        sf.run(problem, algorithm, iterations=2, eta=0.01, seeds=2, kernel="c")
    assert caught.value.field == "kernel"


def test_auto_takes_the_reference_for_the_rest_bit_by_bit():
    problem, algorithm = STREAM, Momentum()
    setting: dict[str, Any] = {"iterations": 3, "eta": 0.01, "seeds": 4}
    ours, theirs = (sf.run(problem, algorithm, kernel=kernel, **setting) for kernel in ("auto", "reference"))
    np.testing.assert_array_equal(ours.excess, theirs.excess)
    assert ours.kernel == theirs.kernel == "reference"
    for kernel in ("c", "auto"):
        with pytest.raises(InputError, match="weighs no clients"):
            sf.run(problem, sf.Local(), kernel=kernel, weights=[0], **setting)
    with pytest.raises(InputError, match="kernel"):
        sf.run(problem, sf.Local(), kernel="fortran", **setting)


def test_without_a_compiler_one_line_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    forget()
    setting: dict[str, Any] = {"iterations": 2, "eta": 0.01, "seeds": 2}
    try:
        with pytest.warns(UserWarning, match="torch reference runs instead.*no C compiler"):
            ours = sf.run(STREAM, sf.Local(), **setting)
        with warnings.catch_warnings(action="error"):  # once is enough
            sf.run(STREAM, sf.Local(), **setting)
        np.testing.assert_array_equal(ours.excess, sf.run(STREAM, sf.Local(), kernel="reference", **setting).excess)
        with pytest.raises(InputError, match="cannot run"):
            sf.run(STREAM, sf.Local(), kernel="c", **setting)
        broken = tmp_path / "cc"
        broken.write_text("#!/bin/sh\necho 'cc: error: no space' >&2\nexit 1\n")
        broken.chmod(0o755)
        assert _compiler() == str(broken)
        with pytest.warns(UserWarning, match="no space"):
            sf.run(STREAM, sf.Local(), kernel="auto", **setting)
    finally:
        forget()


def forget() -> None:
    for found in (library, identity):
        found.cache_clear()
    _warned.clear()
