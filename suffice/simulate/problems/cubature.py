"""A finite distribution with the moments of the standard normal up to degree 5."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def gaussian_cubature(variables: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (J, n) and weights (J,), J = 2 n^2 + 1, that integrate polynomials of degree 5 against N(0, I_n) exactly.

    The origin with weight 2/(n+2), +-sqrt(n+2) e_i with (4-n)/(2(n+2)^2), sqrt((n+2)/2) (+-e_i +- e_j) with
    1/(n+2)^2: E x_i^2 = 1, E x_i^4 = (4-n) + (n-1) = 3, E x_i^2 x_j^2 = 1, odd moments vanish by symmetry. Weights are
    negative for n > 4. Source: Stroud and Secrest (1963), "Approximate integration formulas for certain spherically
    symmetric regions".
    """
    n = variables
    unit = np.eye(n)
    axes = np.sqrt(n + 2) * np.concatenate((unit, -unit))
    pairs = np.array(list(combinations(range(n), 2)), dtype=int).reshape(-1, 2)
    first, second = unit[pairs[:, 0]], unit[pairs[:, 1]]
    signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    mixed = np.sqrt((n + 2) / 2) * np.concatenate([a * first + b * second for a, b in signs])
    weights = np.concatenate(
        (
            [2 / (n + 2)],
            np.full(len(axes), (4 - n) / (2 * (n + 2) ** 2)),
            np.full(len(mixed), 1 / (n + 2) ** 2),
        )
    )
    return np.concatenate((np.zeros((1, n)), axes, mixed)), weights
