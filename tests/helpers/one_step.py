"""One step of any algorithm that is affine in the draw, exactly: by the points of each client's draw in turn."""

from __future__ import annotations

import torch

from suffice.simulate.algorithms.algorithm import Draw
from suffice.simulate.step_size_argument import step_sizes


def expected_step(problem, algorithm, models, eta, *, iteration=1):
    """E[e_t | theta_{t-1}] at given models (S, N, d), (S, N); weights may adapt to the models, not to the draw."""
    step_size = step_sizes(eta, problem)(iteration).to(models)
    weights, draws = problem.scenarios()
    total = torch.zeros(models.shape[:2], dtype=models.dtype)

    def after(draw, extra):
        many = draw.expand(len(models), *draw.shape[1:])
        moved = Draw(iteration=iteration, noise=many, extra=extra)
        return algorithm.step(problem, algorithm.init(problem, models), moved, step_size)["models"]

    for probability, extra in algorithm.outcomes(problem, iteration):
        reference = after(draws[:1], extra)
        mean, spread = reference.clone(), torch.zeros_like(total)
        for k in range(problem.clients):
            points = []
            for j in range(len(draws)):
                point = draws[:1].clone()
                point[0, k] = draws[j, k]
                points.append(after(point, extra))
            moved = torch.stack(points)  # (J, S, N, d)
            centre = torch.einsum("j,jsnd->snd", weights[:, k], moved)
            mean += centre - reference
            gap = moved - centre
            spread += torch.einsum("j,jsnd,nde,jsne->sn", weights[:, k], gap, problem.A, gap)
        total += probability * (problem.excess(mean) + spread / problem.batch)
    return total.numpy()
