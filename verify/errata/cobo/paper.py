"""What the errata of this paper share."""

from __future__ import annotations

from simulate import CoBo, Quadratics, Randomness
from simulate.algorithms.base import Algorithm, State

PAPER = "CoBo (Hashemi, He, Jaggi, 2024)"


def noise_free(problem: Quadratics, algorithm: Algorithm, *, eta: float, iterations: int) -> State:
    """The state after some iterations on a problem without noise; leading axis 1."""
    import torch

    randomness = Randomness(seeds=torch.tensor([0]), root=0)
    state = algorithm.init(problem, problem.start[None])
    step = torch.full((problem.clients,), eta, dtype=problem.dtype)
    for t in range(1, iterations + 1):
        state = algorithm.step(problem, state, algorithm.draw(problem, randomness, t), step)
    return state


def every_pair(*, rho: float, weight_step: float, models_first: bool = False) -> CoBo:
    """CoBo that updates all weights in every iteration."""
    return CoBo(rho=rho, weight_step=weight_step, sampling="none", models_first=models_first)
