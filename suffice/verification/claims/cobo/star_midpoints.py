"""The gradients at the midpoints, given the mean's gradient and the distances between the models."""

from __future__ import annotations

import numpy as np

from ...claim import Claim
from ...evidence import Evidence, Measured
from ...family import Family, Values
from ...instances.rows import rows
from .star import DOMAINS, alike, one_client, penalised, simulated


@alike
def _midpoints(values: Values) -> Measured:
    given, known = penalised(values)
    averages = {"mean_gradient2": given.mean_gradient, "consensus2": given.consensus_before}
    return given.midpoint_gradient, {**known, **averages}


# Clients alike, d_i the corners of a simplex around xbar, all |d_i| = D: every z_ij - xbar, i != j, has the length
# y = D sqrt((1 - 1/(c - 1))/2), and L-smooth losses with grad f(z_ij) = (|g| + L y) g/|g| exist: from xbar the gradient
# changes by L times the distance, and between the z_ij, which a direction orthogonal to g can hold, not at all.


def stretched() -> Evidence:
    """The squared gradients at the midpoints of different clients alone, from below."""
    g, D, size = (a.ravel() for a in np.meshgrid([0.3, 1.0, 3.0], [0.0, 0.5, 2.0], [1e8, 1e16], indexing="ij"))
    L = 2.0
    y = D * np.sqrt((1 - 1 / (size - 1)) / 2)
    known = {"dissimilarity": 0 * g, "beta": L + 0 * g, "mean_gradient2": g**2, "consensus2": 2 * D**2}
    label = "clients alike at the corners of a simplex around their mean"
    return Evidence(engine="closed form", measured=(1 - 1 / size) * (g + L * y) ** 2, arguments=known, label=label)


def _two_at_consensus() -> Values:
    """Two kinds of clients at one point, T = 1: the difference of their gradients is all that midpoints add."""
    plain = {name: value[0] for name, value in one_client().items()}
    two = {"counts": np.array([1.0, 1.0]), "curvature": np.array([[4.0, 4.0], [1.0, 1.0]]), "apart": np.zeros((2, 2))}
    return rows(
        {**plain, **two, "together": np.ones(2), "sigma2": 0.0, "T": 1.0},
        *({"counts": [c, c], "curvature": [[4.0] * 2, [4 * b] * 2]} for c in (1.0, 50.0) for b in (1.0, 0.5, 1e-3)),
    )


def claims() -> tuple[Claim, ...]:
    family = Family(name="three kinds of clients", domains=DOMAINS, measure=_midpoints, sharp=_two_at_consensus)
    return (
        Claim.on(
            "cobo/theorem-1-star-midpoint",
            family,
            exact=lambda effort, root: [simulated(effort.instances // 4, root)[2], stretched()],
        ),
    )
