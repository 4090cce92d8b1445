"""The errata of the CoBo paper share this."""

from __future__ import annotations

from suffice.bounds.papers import OWN
from suffice.simulate import CoBo, Quadratics, iterate
from suffice.simulate.algorithms.algorithm import Algorithm, State

from ..erratum import kinds

typo, constant, hypothesis, vacuous, false, code, loose = kinds(OWN["cobo"])


def noise_free(problem: Quadratics, algorithm: Algorithm, *, eta: float, iterations: int) -> State:
    """The state after some iterations on a problem without noise; leading axis 1."""
    import torch

    step = torch.full((problem.clients,), eta, dtype=problem.dtype)
    *_, (_, _, _, state) = iterate(
        problem, algorithm, seeds=torch.tensor([0]), iterations=iterations, eta=lambda t: step
    )
    return state


def every_pair(*, rho: float, weight_step: float, models_first: bool = False) -> CoBo:
    """CoBo that updates all weights in every iteration."""
    return CoBo(rho=rho, weight_step=weight_step, sampling="none", models_first=models_first)
