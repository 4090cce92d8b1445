"""Claims on the dissimilarity of linear models.

z = (scale a, b) in R^3, E z z^T = G: the gradient at x is the first two rows of G times (x/scale, -1)/scale.
"""

from __future__ import annotations

import numpy as np

from ...claim import Claim
from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows

KEY = "sample-optimal/"

LINEAR: dict[str, Domain] = {
    "optimum": Domain(low=-3, high=3, shape=(2,)),
    "root": Domain(low=-1, high=1, shape=(2, 2)),
    "rest": Domain(low=0.01, high=3, log=True),
    "change": Domain(low=-1, high=1, shape=(3, 3)),
    "size": Domain(low=1e-3, high=1, log=True),
    "scale": Domain(low=0.1, high=10, log=True),
    "wider": Domain(low=1, high=2),
    "turned": Domain(low=0, high=0),
}
"""Agent i has the minimiser `optimum`, features of covariance I + root root^T and the loss `rest` there; agent j's
moments differ by `change`, symmetric; in sharp instances `turned` makes it the reflection that the bound is attained
by. The ball is `wider` times |x_i*|."""


@measured_by("linear algebra", "two linear models in R^2")
def _linear(values: Values) -> Measured:
    scale, x = values["scale"], values["optimum"]
    H = np.eye(2) + values["root"] @ values["root"].swapaxes(1, 2)
    own = np.zeros((len(x), 3, 3))
    Hx = np.einsum("nij,nj->ni", H, x)
    own[:, :2, :2] = scale[:, None, None] ** 2 * H
    own[:, :2, 2] = own[:, 2, :2] = scale[:, None] * Hx
    own[:, 2, 2] = (x * Hx).sum(-1) + values["rest"]
    toward = np.concatenate((x / scale[:, None], -np.ones((len(x), 1))), -1)
    change = (values["change"] + values["change"].swapaxes(1, 2)) / 2
    change = np.where(values["turned"][:, None, None] == 1, _reflection(toward), change)
    change = change * (values["size"] * np.linalg.eigvalsh(own)[:, 0])[:, None, None]
    other = own + change
    gradient = np.einsum("nij,nj->ni", other, toward)[:, :2] / scale[:, None]
    return (
        np.linalg.norm(gradient, axis=-1),
        {
            "ball": values["wider"] * np.linalg.norm(x, axis=-1),
            "scale": scale,
            "moment": np.linalg.norm(change, 2, axis=(1, 2)),
        },
        {"hypothesis": np.linalg.eigvalsh(other)[:, 0] >= 0},
    )


def _reflection(vector: np.ndarray) -> np.ndarray:
    """The reflection that takes each vector (n, 3) to the first axis."""
    unit = vector / np.linalg.norm(vector, axis=-1, keepdims=True)
    normal = unit - np.array([1.0, 0, 0])
    normal = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
    return np.eye(3) - 2 * normal[:, :, None] * normal[:, None]


def _sharp_linear() -> Values:
    default = plain(LINEAR, optimum=[0.1, 0], rest=1, size=1, turned=1)
    return rows(
        default,
        *({"optimum": np.array([x, 0.0]), "scale": scale} for x in (0.01, 0.2, 30.0) for scale in (0.1, 1.0, 10.0)),
    )


def claims() -> tuple[Claim, ...]:
    linear = Family(name="linear models", domains=LINEAR, measure=_linear, sharp=_sharp_linear)
    editions = ("printed", "corrected")
    return tuple(Claim.on(KEY + "linear-dissimilarity", linear, edition=edition) for edition in editions)
