"""The errata of the Scafflix paper share this."""

from __future__ import annotations

import numpy as np
import torch

from suffice.bounds.papers import OWN
from suffice.simulate import Quadratics, Scaffnew, expected_moments

from ..erratum import kinds

typo, constant, hypothesis, vacuous, false, code, loose = kinds(OWN["scafflix"])


def limit(control: list[float], *, iterations: int = 400) -> float:
    """E[x_1] after many iterations of f_1 = x^2/2, f_2 = (x - 2)^2/2 with weights 1 and 1/2 from x^0 = 0: x* = 0.4."""
    problem = Quadratics.of(np.full((2, 1, 1), 0.5), [[0.0], [-2.0]], sigma2=0.0, start=[0.0])
    algorithm = Scaffnew(
        p=0.5,
        alpha=torch.tensor([1.0, 0.5], dtype=torch.float64),
        control=torch.tensor(control, dtype=torch.float64)[:, None],
    )
    moments = expected_moments(problem, algorithm, iterations=iterations, eta=np.array([0.5, 1.0]))
    return moments.mean("models")[-1, 0].item()  # measured from client 1's own minimiser, 0
