"""Numbers with their trust: exact ones against direct evaluation, growth of the noise, intervals."""

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
    estimated = sf.statistics(logistic(certainty="estimated"))
    assert {exact.mu.trust, exact.sigma2.trust, exact.entry.trust, certified.beta.trust} == {"exact"}
    assert {certified.mu.trust, certified.sigma2.trust, certified.entry.trust} == {"certified"}
    assert {estimated.mu.trust, estimated.sigma2.trust, estimated.entry.trust} == {"estimated"}
    assert "balls around the optima" in certified.sigma2.region
    assert sf.statistics(logistic(certainty="everywhere")).mu.region == "all models"
    assert 0 <= certified.similar_pairs <= estimated.similar_pairs <= 1
    assert json.loads(json.dumps(certified.to_dict()))["beta"]["trust"] == "exact"


def test_remedies_are_named_where_nobody_is_similar():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2, 60, 2)), np.array([[0.0, 1.0] * 30, [0.0, 1.0] * 29 + [1.0, 2.0]])
    options = {"loss": "logistic", "regularisation": 0.1, "positive": [1]}
    plan = sf.plan(sf.from_arrays(list(X + y[..., None]), list(y), **options), epsilon=0.01)
    assert "2 labels are taken as negative: 0, 2" in str(plan)
    assert ("--certainty estimated" in str(plan)) == ("Note: 0 of 2 pairs" in str(plan))
    sampled = sf.plan(sf.from_arrays(list(X + y[..., None]), list(y), **options, certainty="estimated"), epsilon=0.01)
    assert "--certainty estimated" not in str(sampled)


def test_intervals_cover_the_population():
    """Least squares on x ~ N(0, I), intercept: mu = beta = 2 in the population; 6 samples, 95 % intervals."""
    inside = {"excess": 0, "mu": 0, "beta": 0}
    for seed in range(6):
        X, y = clients((1.0,), rows=150, seed=seed)
        numbers = sf.statistics(sf.from_arrays(X, y, standardise="none"), resamples=40)
        for name in inside:  # all are 2 in the population; the excess is |(1, 1)|^2
            known = getattr(numbers, name)
            assert (known.low <= known.value).all()
            assert (known.value <= known.high).all()
            inside[name] += bool(known.low[0] <= 2 <= known.high[0])
    assert inside["excess"] >= 3  # Binomial(6, 0.95) is below 3 with probability 9e-5
    # All three eigenvalues are 2, where extremes are most biased: not reflected, the intervals cover in no sample.
    assert min(inside["mu"], inside["beta"]) >= 3


@pytest.mark.parametrize("resamples", [-1, 10**9, 2.5])
def test_a_number_of_resamples_is_checked(resamples):
    with pytest.raises(sf.InputError, match="resamples"):
        sf.statistics(least_squares(), resamples=resamples)


def test_resamples_without_a_minimiser_are_left_out():
    X = [np.arange(6.0)[:, None], np.arange(6.0)[:, None] + 0.5]
    y = [np.array([0, 1, 0, 0, 1, 1]), np.array([1, 0, 1, 1, 1, 0])]
    numbers = sf.statistics(sf.from_arrays(X, y, loss="logistic"), resamples=20)
    assert numbers.excess.low is not None  # some draws are separable, not all
    with pytest.raises(sf.InputError, match="client data"):
        sf.statistics(sf.Quadratics.of(np.eye(2)[None].repeat(2, 0), np.zeros((2, 2)), sigma2=1.0))


def test_certified_numbers_stand_beside_estimates_of_the_same_pairs():
    certified, estimated = sf.statistics(logistic()), sf.statistics(logistic(certainty="estimated"))
    np.testing.assert_array_equal(certified.estimated_entry.value, estimated.entry.value)
    assert certified.estimated_pairs == estimated.similar_pairs >= certified.similar_pairs
    assert (estimated.estimated_entry, sf.statistics(least_squares()).estimated_pairs) == (None, None)
    np.testing.assert_array_equal(certified.optimum.value, logistic().optimum)


def test_intervals_of_pairs_may_be_infinite():
    numbers = sf.statistics(least_squares(), resamples=6)
    entry = numbers.entry
    assert entry.low.shape == entry.high.shape == (3, 3)
    assert (entry.low <= entry.high).all()
    assert np.isinf(entry.high[0, 2]) or entry.high[0, 2] > entry.high[0, 1]  # opposite slopes are further apart


def test_numbers_of_a_problem_in_single_precision_are_doubles():
    numbers = sf.statistics(logistic(certainty="everywhere").to(torch.float32))
    assert {numbers.floor.value.dtype, numbers.sigma2.value.dtype, numbers.optimum.value.dtype} == {np.dtype(float)}


def test_dissimilarities_of_pairs_bound_the_gradients_difference_and_have_intervals():
    problem = least_squares()
    numbers = sf.statistics(problem, resamples=40)
    rng = np.random.default_rng(3)
    theta = problem.optimum[0] + torch.from_numpy(rng.normal(size=(2000, 1, D + 1)).repeat(3, 1))
    gradient = problem.gradient(theta).numpy()
    difference = ((gradient[:, 0] - gradient[:, 1]) ** 2).sum(-1)
    own = (gradient[:, 0] ** 2).sum(-1)
    assert (difference <= numbers.b.value[0, 1] ** 2 + numbers.c.value[0, 1] * own).all()
    assert (difference > numbers.c.value[0, 1] * own).any()  # b is not for nothing
    assert (numbers.b.low <= numbers.b.high).all()
    assert numbers.b.low[0, 1] < numbers.b.high[0, 1]
    (table,) = numbers.pair_tables()
    assert [row[:3] for row in table.rows][:6] == [
        (i, k, number) for i, k in (("0", "1"), ("1", "0")) for number in ("b", "c", "entry")
    ]
    assert " to " in table.rows[0][5]
    assert numbers.to_dict()["b"]["interval"][0][0][1] < numbers.to_dict()["b"]["interval"][1][0][1]
