"""The GPU kernel under Triton's interpreter, step by step against the reference with the same numbers."""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch

os.environ.setdefault("TRITON_INTERPRET", "1")
pytest.importorskip("triton", reason="Triton is not installed (it comes with torch's CUDA builds)")

from suffice.bounds import Binary, Continuous, InputError, Sharp
from suffice.simulate import AllForOne, Local, Quadratics, Randomness, SampledSimilarity, StreamingLeastSquares
from suffice.simulate.kernels.triton_paths import triton_paths

DEVICE = "cpu" if os.environ["TRITON_INTERPRET"] == "1" else "cuda"


def problem_of(n: int, d: int) -> StreamingLeastSquares:
    rng = np.random.default_rng(100 * n + d)
    root = rng.normal(size=(n, d, d))
    H = 0.3 * np.eye(d) + root @ root.transpose(0, 2, 1) / d
    return StreamingLeastSquares.of(H, rng.normal(size=(n, d)), label_noise=rng.uniform(0.1, 0.5, n)).to(torch.float32)


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize(("n", "d"), [(3, 2), (17, 5)])
def test_steps_are_those_of_the_reference(n, d, normalised):
    problem, S, eta = problem_of(n, d), 3, 0.05 / d
    algorithm = AllForOne(criterion=Binary(threshold=0.4), similarity=SampledSimilarity(), normalised=normalised)
    state = {"models": torch.from_numpy(np.random.default_rng(8).normal(size=(S, n, d)).astype(np.float32))}
    randomness = Randomness(seeds=torch.arange(S) + 2**31, root=9)
    for t in (1, 2):
        draw = algorithm.draw(problem, randomness, t)
        after = algorithm.step(problem, state, draw, torch.tensor(eta))
        got = triton_paths(
            problem, algorithm, seeds=range(2**31, 2**31 + S), iterations=1, eta=eta, root=9, first=t - 1,
            start=state["models"], device=DEVICE,
        )  # fmt: skip
        off = (got.cpu() - after["models"]).abs().amax(-1) > 3e-5  # 1e-5 of the largest steps
        assert off.float().mean() < 0.02, "more than thresholds within rounding explain"
        state = after


@pytest.mark.parametrize("criterion", [Binary(threshold=0.4), Continuous()])
@pytest.mark.parametrize("normalised", [False, True])
def test_quadratics_have_exact_similarities(criterion, normalised):
    n, d, S, eta = 5, 3, 3, 0.05
    rng = np.random.default_rng(4)
    factor = rng.normal(size=(n, d, d))
    A = np.eye(d) / 3 + factor @ factor.transpose(0, 2, 1) / d
    problem = Quadratics.of(A, rng.normal(size=(n, d)), sigma2=rng.uniform(0.5, 2, n)).to(torch.float32)
    algorithm = AllForOne(criterion=criterion, normalised=normalised)
    state = {"models": torch.from_numpy(rng.normal(size=(S, n, d)).astype(np.float32))}
    draw = algorithm.draw(problem, Randomness(seeds=torch.arange(S) + 7, root=9), 5)
    after = algorithm.step(problem, state, draw, torch.tensor(eta))["models"]
    got = triton_paths(
        problem, algorithm, seeds=range(7, 7 + S), iterations=1, eta=eta, root=9, first=4, start=state["models"],
        device=DEVICE,
    )  # fmt: skip
    torch.testing.assert_close(got.cpu(), after, rtol=0, atol=3e-5)  # of float32: some 1e-5 of the largest steps
    assert float((after - state["models"]).abs().max()) > 0.1


def test_time_runs_inside():
    problem, algorithm = problem_of(4, 2), AllForOne(criterion=Binary(threshold=0.4), similarity=SampledSimilarity())
    whole = triton_paths(problem, algorithm, seeds=range(2), iterations=3, eta=0.02, device=DEVICE)
    models = triton_paths(problem, algorithm, seeds=range(2), iterations=2, eta=0.02, device=DEVICE)
    rest = triton_paths(
        problem, algorithm, seeds=range(2), iterations=1, eta=0.02, first=2, start=models, device=DEVICE
    )
    torch.testing.assert_close(rest, whole, rtol=1e-5, atol=1e-6)


def test_what_it_does_not_run_is_named():
    quadratics = Quadratics.of(np.ones((3, 2, 2)) + np.eye(2), np.zeros((3, 2)), sigma2=1.0).to(torch.float32)
    sampled = AllForOne(criterion=Continuous(), similarity=SampledSimilarity())
    for problem, algorithm, why in (
        (problem_of(3, 2), sampled, "binary"),
        (quadratics, sampled, "exact"),
        (quadratics, AllForOne(criterion=Sharp()), "continuous"),
        (quadratics, Local(), "exact"),
    ):
        with pytest.raises(InputError, match=why):
            triton_paths(problem, algorithm, seeds=range(2), iterations=1, eta=0.1, device=DEVICE)
