"""Maps of second moments: a batch probed together, powers of one iteration, and which noise counts as additive."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from torch import Tensor

from suffice.bounds import InputError
from suffice.simulate import (
    FixedWeights,
    LeastSquares,
    Local,
    Quadratics,
    Scaffnew,
    StreamingLeastSquares,
    expected_excess,
    expected_moments_batch,
    stack,
)
from suffice.simulate.moment_maps import origin, probe

N, D, B = 3, 2, 4


def quadratics(seed: int) -> Quadratics:
    rng = np.random.default_rng([60, seed])
    root = 0.1 * rng.normal(size=(N, D, D))
    A = np.eye(D) + root + root.transpose(0, 2, 1)
    return Quadratics.of(A, rng.normal(size=(N, D)), sigma2=rng.uniform(0.1, 1, N), start=rng.normal(size=(N, D)))


def rows(seed: int) -> LeastSquares:
    rng = np.random.default_rng([61, seed])
    return LeastSquares.of(list(rng.normal(size=(N, 5, D))), list(rng.normal(size=(N, 5))), regularisation=0.2)


def stream(seed: int) -> StreamingLeastSquares:
    rng = np.random.default_rng([62, seed])
    root = rng.normal(size=(N, D, D))
    return StreamingLeastSquares.of(
        np.eye(D) + 0.1 * root @ root.transpose(0, 2, 1), rng.normal(size=(N, D)), label_noise=0.3, batch=2
    )


def weights(seed: int) -> Tensor:
    alpha = np.random.default_rng([63, seed]).uniform(0.1, 1, (N, N))
    return torch.from_numpy(alpha / alpha.sum(-1, keepdims=True))


@pytest.mark.parametrize("make", [quadratics, rows, stream])
def test_a_batch_of_any_problem_is_probed_to_the_moments_of_its_instances(make):
    problems, rules = [make(seed) for seed in range(B)], [FixedWeights(alpha=weights(seed)) for seed in range(B)]
    steps = np.linspace(0.02, 0.08, B * N).reshape(B, N)
    batch = stack(problems)
    together = expected_moments_batch(batch, stack(rules), iterations=6, eta=steps).excess(batch)
    alone = [expected_excess(one, rule, iterations=6, eta=step) for one, rule, step in zip(problems, rules, steps)]
    np.testing.assert_allclose(together, np.stack(alone), rtol=1e-12)


def test_a_coin_that_always_shows_one_side_stands_beside_others():
    rules = [Scaffnew(p=p) for p in (0.3, 1.0, 0.7)]
    problems = [quadratics(seed) for seed in range(3)]
    batch = stack(problems)
    together = expected_moments_batch(batch, stack(rules), iterations=4, eta=np.full(3, 0.1)).excess(batch)
    alone = [expected_excess(one, rule, iterations=4, eta=0.1) for one, rule in zip(problems, rules)]
    np.testing.assert_allclose(together, np.stack(alone), rtol=1e-12)


def test_instances_of_a_batch_differ_in_numbers_alone():
    with pytest.raises(InputError, match="differ in numbers alone"):
        stack([quadratics(0), replace(quadratics(1), names=("a", "b", "c"))])


@dataclass(frozen=True, kw_only=True)
class Growing(Quadratics):
    """Noise that one coordinate of one client's model makes larger by one part in a thousand."""

    def stochastic_gradient(self, theta: Tensor, weights: Tensor | None, draw: Tensor) -> Tensor:
        grown = torch.zeros_like(theta)
        grown[:, 1, 0] = 1e-3 * draw[:, 1, 0, 0] * theta[:, 1, 1]
        return super().stochastic_gradient(theta, weights, draw) + grown


def test_noise_that_hardly_grows_is_not_taken_for_additive():
    problem = quadratics(0)
    growing = Growing(**{name: getattr(problem, name) for name in ("A", "xi", "noise", "start", "names")})
    _, centre, z = origin(problem, Local())
    eta, moment = torch.tensor(0.1, dtype=torch.float64), torch.outer(z, z)
    additive, grown = (probe(each, Local(), centre, eta, 1) for each in (problem, growing))
    assert len(additive.weights) == 0
    assert len(grown.weights) > 0
    difference = (grown.advance(moment) - additive.advance(moment))[2, 2]
    # E (eta (1 + 1e-3 theta) noise)^2 with the noise's variance v in this coordinate
    v, theta = problem.noise.covariance[1, 0, 0], problem.start[1, 1]
    np.testing.assert_allclose(difference, 0.01 * v * ((1 + 1e-3 * theta) ** 2 - 1), rtol=1e-9)
