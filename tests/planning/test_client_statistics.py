"""Numbers with their trust: exact ones against direct evaluation, growth of the noise."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

import suffice as sf

D = 2


def clients(slopes: tuple[float, ...], rows: int = 60, seed: int = 1) -> tuple[list[np.ndarray], list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(rows + 7 * i, D)) for i in range(len(slopes))]
    return X, [x @ [slope, 1.0] + 0.5 * rng.normal(size=len(x)) for x, slope in zip(X, slopes)]


def least_squares(slopes=(1.0, 1.02, -2.0), **more):
    return sf.from_arrays(*clients(slopes), **({"standardise": "none"} | more))


def logistic(**more):
    X, y = clients((1.0, 1.1, -2.0))
    options = {"loss": "logistic", "regularisation": 0.1, "standardise": "none"} | more
    return sf.from_arrays(X, [(v > 0).astype(int) for v in y], **options)


@pytest.mark.parametrize("build", [least_squares, logistic])
def test_variances_are_those_of_the_rows_gradients(build):
    problem = build()
    numbers = sf.statistics(problem)
    assert problem.clients == len(list(problem.data.blocks())) == len(numbers.sigma2.value) == 3
    for field, theta in (("variance_start", problem.start), ("variance_optimum", problem.optimum)):
        for i, (x, y) in enumerate(problem.data.blocks()):
            slope = problem.slope(torch.from_numpy(x @ theta[i].numpy()), torch.from_numpy(y)).numpy()
            gradients = slope[:, None] * x
            expected = ((gradients - gradients.mean(0)) ** 2).sum(1).mean()
            np.testing.assert_allclose(getattr(numbers, field).value[i], expected, rtol=1e-10)
            assert getattr(numbers, field).value[i] <= numbers.sigma2.value[i] * (1 + 1e-9)


@pytest.mark.parametrize("more", [{}, {"regularisation": 0.3}, {"batch": 4}])
def test_noise_grows_at_most_with_the_stated_factor_and_the_factor_is_the_least(more):
    problem = least_squares(**more)
    numbers = sf.statistics(problem)
    rng = np.random.default_rng(2)
    scale = np.geomspace(1e-3, 1e3, 3000)[:, None]
    worst = np.zeros(3)
    for i in range(3):
        theta = problem.optimum[i] + torch.from_numpy(scale * rng.normal(size=(3000, D + 1)))
        variance = problem.variance(theta)[:, i].numpy()
        norm2 = (problem.gradient(theta[:, None].expand(-1, 3, -1))[:, i] ** 2).sum(-1).numpy()
        bound = numbers.floor.value[i] + numbers.factor.value[i] * norm2
        worst[i] = (variance / bound).max()
    assert (worst <= 1 + 1e-9).all()
    assert (worst >= 0.9).all()  # 3000 directions in three dimensions come close to the extreme one


def test_every_number_says_how_it_is_known():
    exact, certified = sf.statistics(least_squares()), sf.statistics(logistic())
    assert {exact.mu.trust, exact.sigma2.trust, exact.entry.trust, certified.beta.trust} == {"exact"}
    assert {certified.mu.trust, certified.sigma2.trust, certified.entry.trust} == {"certified"}
    assert certified.mu.region == certified.sigma2.region == "all models"
    np.testing.assert_array_equal(certified.optimum.value, logistic().optimum)
    assert json.loads(json.dumps(certified.to_dict()))["beta"]["trust"] == "exact"


def test_rows_are_needed():
    with pytest.raises(sf.InputError, match="client data"):
        sf.statistics(sf.Quadratics.of(np.eye(2)[None].repeat(2, 0), np.zeros((2, 2)), sigma2=1.0))


def test_numbers_of_a_problem_in_single_precision_are_doubles():
    numbers = sf.statistics(logistic().to(torch.float32))
    assert {numbers.floor.value.dtype, numbers.sigma2.value.dtype, numbers.optimum.value.dtype} == {np.dtype(float)}


def test_dissimilarities_of_pairs_bound_the_gradients_difference():
    problem = least_squares()
    numbers = sf.statistics(problem)
    rng = np.random.default_rng(3)
    theta = problem.optimum[0] + torch.from_numpy(rng.normal(size=(2000, 1, D + 1)).repeat(3, 1))
    gradient = problem.gradient(theta).numpy()
    difference = ((gradient[:, 0] - gradient[:, 1]) ** 2).sum(-1)
    own = (gradient[:, 0] ** 2).sum(-1)
    assert (difference <= numbers.b.value[0, 1] ** 2 + numbers.c.value[0, 1] * own).all()
    assert (difference > numbers.c.value[0, 1] * own).any()  # b is not for nothing
