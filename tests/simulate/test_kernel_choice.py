"""Which kernel runs, what it says where it does not, and numbers at the ends of their range."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from compiler import needs_compiler

from suffice.bounds import Binary, Continuous, InputError
from suffice.simulate import (
    AllForOne,
    FixedWeights,
    Local,
    Quadratics,
    Randomness,
    SampledSimilarity,
    Stream,
    StreamingLeastSquares,
    run,
)
from suffice.simulate.algorithms.momentum import Momentum
from suffice.simulate.kernel_choice import _warned
from suffice.simulate.kernels import general_paths, general_refusal, library
from suffice.simulate.kernels.library import _compiler, identity

SAMPLED = SampledSimilarity()
RULES: dict[str, Any] = {
    "fixed": FixedWeights(alpha=torch.full((33, 33), 0.01, dtype=torch.float64)),
    "binary": AllForOne(criterion=Binary(threshold=0.4), similarity=SAMPLED),
    "continuous": AllForOne(criterion=Continuous(), similarity=SAMPLED),
    "released continuous": AllForOne.released(binary=False),
    "binary normalised": AllForOne(criterion=Binary(threshold=0.4), similarity=SAMPLED, normalised=True),
}


def problem_of(n: int, d: int, *, diagonal: bool = False) -> StreamingLeastSquares:
    """Unequal clients in two groups, so that ratios fall on both sides of thresholds."""
    rng = np.random.default_rng(100 * n + d)
    root = rng.normal(size=(n, d, d))
    H = 0.3 * np.eye(d) + root @ root.transpose(0, 2, 1) / d
    best = rng.normal(size=(2, d))[np.arange(n) % 2] + 0.1 * rng.normal(size=(n, d))
    return StreamingLeastSquares.of(H * np.eye(d) if diagonal else H, best, label_noise=rng.uniform(0.1, 0.5, n))


def directly(problem: StreamingLeastSquares, algorithm: Any, *, seeds: Any, iterations: int = 1) -> Any:
    eta = np.full(problem.clients, 0.05 / problem.features)
    return general_paths(
        problem, algorithm, seeds=seeds, iterations=iterations, grid=[iterations], eta=eta, models=True
    )


@needs_compiler
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 4e-15), (torch.float32, 6e-7)])
def test_normals_are_those_of_the_reference(dtype, tolerance):
    """One step of length 1 from the optimum 0 of quadratics ends at minus the noise, standard normals."""
    seeds = [0, 1, 2**32 - 1, *range(40, 71)]  # not a multiple of any register
    for features in (1, 4, 11):
        problem = Quadratics.of([np.eye(features)] * 3, np.zeros((3, features)), sigma2=float(features)).to(dtype)
        got = -general_paths(
            problem, Local(), seeds=seeds, root=77, iterations=1, grid=[1], eta=np.ones(3), models=True
        ).models
        setting: dict[str, Any] = {"clients": 3, "features": features, "iteration": 1, "stream": Stream.NOISE}
        expected = Randomness(seeds=torch.tensor(seeds), root=77).normal(**setting).numpy()
        # radii are below 6.8 and angles below 7 radians: a few roundings of each
        np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)


@needs_compiler
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_lanes_are_changes_no_bit(dtype):
    """Of sixteen seeds each has a lane, of three or one the clients, whose last row is partly filled."""
    for diagonal in (False, True):
        problem = problem_of(33, 18, diagonal=diagonal).to(dtype)
        for name, rule in RULES.items():
            whole = directly(problem, rule, seeds=range(16), iterations=4)
            for part in (range(9, 12), range(5, 6)):
                own = directly(problem, rule, seeds=part, iterations=4)
                np.testing.assert_array_equal(whole.models[part.start : part.stop], own.models, err_msg=name)
                np.testing.assert_array_equal(whole.excess[part.start : part.stop], own.excess, err_msg=name)
            assert np.isfinite(whole.models).all()
            assert np.ptp(whole.models, axis=0).max() > 0


@needs_compiler
@pytest.mark.parametrize("scale", [0.0, 1e-160, 1e-300, 5e-324])
@pytest.mark.parametrize("rule", ["binary", "continuous", "released continuous", "binary normalised"])
def test_vanishing_and_subnormal_gradients(rule, scale):
    """All clients share an optimum without label noise: gradients are zero, or too small for their squares."""
    n, d = 5, 3
    problem = StreamingLeastSquares.of(problem_of(n, d).A.numpy(), np.zeros((n, d)), start=np.ones((n, d)))
    models = torch.from_numpy(scale * np.random.default_rng(3).integers(-9, 10, size=(6, n, d)).astype(float))
    algorithm = replace(RULES[rule], sigma2=1.0)
    own = [replace(problem, population=replace(problem.population, start=start)) for start in models]
    got, alone = (
        np.stack([directly(one, algorithm, seeds=seeds or [s]).models[s * bool(seeds)] for s, one in enumerate(own)])
        for seeds in (range(16), None)
    )
    np.testing.assert_array_equal(got, alone)
    draw = algorithm.draw(problem, Randomness(seeds=torch.arange(6)), 1)
    expected = algorithm.step(problem, {"models": models}, draw, models.new_tensor(0.05 / d))["models"].numpy()
    assert np.isfinite(got).all()
    # squares of 1e-160 keep four digits, and so do ratios; of smaller models they vanish, and ratios are 0 or 1
    np.testing.assert_allclose(got, expected, rtol=1e-3 if scale == 1e-160 else 1e-10, atol=50 * 5e-324)


@needs_compiler
def test_subnormals_survive_in_the_process():
    """Flags like -ffast-math would flush them for everyone."""
    library(torch.float64)
    directly(problem_of(3, 2), Local(), seeds=range(5))
    assert np.float64(5e-324) * 1.0 == 5e-324
    assert float(torch.tensor(5e-324, dtype=torch.float64) * 1) == 5e-324


STREAM = problem_of(3, 2)
OTHERS = [
    (STREAM.to(torch.bfloat16), Local(), "bfloat16"),
    (STREAM, Momentum(), "Momentum"),
    (STREAM, AllForOne(criterion=Continuous(), similarity=SAMPLED, refresh=2), "keeps ratios"),
]


@pytest.mark.parametrize(("problem", "algorithm", "why"), OTHERS)
def test_what_it_does_not_run_is_named(problem, algorithm, why):
    assert why in str(general_refusal(problem, algorithm))
    with pytest.raises(InputError, match=why) as caught:
        run(problem, algorithm, iterations=2, eta=0.01, seeds=2, kernel="c")
    assert caught.value.field == "kernel"


def test_auto_takes_the_reference_for_the_rest_bit_by_bit():
    problem, algorithm = STREAM, Momentum()
    setting: dict[str, Any] = {"iterations": 3, "eta": 0.01, "seeds": 4}
    ours, theirs = (run(problem, algorithm, kernel=kernel, **setting) for kernel in ("auto", "reference"))
    np.testing.assert_array_equal(ours.excess, theirs.excess)
    assert ours.kernel == theirs.kernel == "reference"
    for kernel in ("c", "auto"):
        with pytest.raises(InputError, match="weighs no clients"):
            run(problem, Local(), kernel=kernel, weights=[0], **setting)
    with pytest.raises(InputError, match="kernel"):
        run(problem, Local(), kernel="fortran", **setting)


def test_without_a_compiler_one_line_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    forget()
    setting: dict[str, Any] = {"iterations": 2, "eta": 0.01, "seeds": 2}
    try:
        with pytest.warns(UserWarning, match="torch reference runs instead.*no C compiler"):
            ours = run(STREAM, Local(), **setting)
        with warnings.catch_warnings(action="error"):  # once is enough
            run(STREAM, Local(), **setting)
        np.testing.assert_array_equal(ours.excess, run(STREAM, Local(), kernel="reference", **setting).excess)
        with pytest.raises(InputError, match="cannot run"):
            run(STREAM, Local(), kernel="c", **setting)
        broken = tmp_path / "cc"
        broken.write_text("#!/bin/sh\necho 'cc: error: no space' >&2\nexit 1\n")
        broken.chmod(0o755)
        assert _compiler() == str(broken)
        with pytest.warns(UserWarning, match="no space"):
            run(STREAM, Local(), kernel="auto", **setting)
    finally:
        forget()


def forget() -> None:
    for found in (library, identity):
        found.cache_clear()
    _warned.clear()
