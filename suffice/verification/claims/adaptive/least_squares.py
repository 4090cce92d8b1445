"""Claims on least squares: the variance of a stochastic gradient and the rate of local SGD, both equalities."""

from __future__ import annotations

import numpy as np

from suffice.simulate import Local, StreamingLeastSquares, expected_excess

from ...claim import Claim, Effort
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.recursions import affine

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(4)  # exact up to degree 7
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()

_VARIANCE = {
    "root": Domain(low=-1, high=1, shape=(2, 2)),
    "distance": Domain(low=-3, high=3, shape=(2,)),
    "label": Domain(low=0, high=2),
    "batch": Domain(low=1, high=30, integer=True),
}


@measured_by("cubature", "least squares in R^2")
def _variance(values: Values) -> Measured:
    """Var of g = 2 x (x.D - noise) in R^2 on a Gauss-Hermite grid of x and the label noise."""
    z = np.stack(np.meshgrid(_NODES, _NODES, _NODES, indexing="ij"), -1).reshape(-1, 3)
    weight = np.prod(np.stack(np.meshgrid(_WEIGHTS, _WEIGHTS, _WEIGHTS, indexing="ij"), -1).reshape(-1, 3), -1)
    root = values["root"] + 0.5 * np.eye(2)
    H, D = root @ root.transpose(0, 2, 1), values["distance"]
    x = np.einsum("nde,ge->ngd", root, z[:, :2])
    g = 2 * x * (np.einsum("ngd,nd->ng", x, D) - np.sqrt(values["label"])[:, None] * z[:, 2])[..., None]
    mean = np.einsum("g,ngd->nd", weight, g)
    spread = ((g - mean[:, None]) ** 2).sum(-1)
    return (spread * weight).sum(1) / values["batch"], {
        "trace": np.trace(H, axis1=1, axis2=2),
        "e0": np.einsum("nd,nde,ne->n", D, H, D),
        "gradient": np.linalg.norm(2 * np.einsum("nde,ne->nd", H, D), axis=-1),
        "label_variance": values["label"],
        "batch": values["batch"],
    }


_RATE = {
    "h": Domain(low=0.1, high=3, log=True),
    "d": Domain(low=1, high=12, integer=True),
    "batch": Domain(low=1, high=30, integer=True),
    "share": Domain(low=0.01, high=0.9),
    "e0": Domain(low=0.1, high=10, log=True),
    "label": Domain(low=0, high=2),
    "T": Domain(low=1, high=40, integer=True),
}


@measured_by("quadrature", "isotropic least squares")
def _rate(values: Values) -> Measured:
    """E[e_T] from one step: D along the first axis, moments of x_1 and of |x|^2 - x_1^2 by quadrature."""
    h, d, n, s2 = values["h"], values["d"], values["batch"], values["label"]
    eta = values["share"] * n / (h * (n + d + 1))
    x = np.sqrt(h)[:, None] * _NODES
    second, fourth = (x**2 @ _WEIGHTS), (x**4 @ _WEIGHTS)
    others = (d - 1) * second
    gradient2 = 4 * (fourth + others * second)  # E|g|^2 at |D| = 1 without label noise
    mean2 = 4 * second**2
    kept = 1 - 4 * eta * second + eta**2 * (mean2 + (gradient2 - mean2) / n)  # of |D|^2
    added = h * eta**2 * 4 * s2 * (second + others) / n
    return affine(kept, added, values["e0"], values["T"]), {
        "eta": eta, "h": h, "d": d, "batch": n, "e0": values["e0"], "label_variance": s2, "T": values["T"],
    }  # fmt: skip


_STREAM = {
    "h": Domain(low=0.2, high=2),
    "d": Domain(low=1, high=3, integer=True),
    "batch": Domain(low=1, high=5, integer=True),
    "T": Domain(low=1, high=7, integer=True),
    "label_variance": Domain(low=0, high=1),
    "ratio": Domain(low=0.05, high=0.9),
    "start": Domain(low=-2, high=2, shape=(3,)),
}


def _local(effort: Effort, root: int) -> list[Evidence]:
    """The same through the simulator: its own stochastic gradients, probed."""
    count = max(effort.instances // 4, 3)
    values = Family(name="streams", domains=_STREAM).draw(count, seed=root + 21)
    rows, measured = [], []
    for i in range(count):
        d, n, T = (int(values[name][i]) for name in ("d", "batch", "T"))
        h, s2 = values["h"][i], values["label_variance"][i]
        eta, start = values["ratio"][i] * n / (h * (n + d + 1)), values["start"][i, :d]
        problem = StreamingLeastSquares.of(
            h * np.eye(d), np.zeros((1, d)), label_noise=np.sqrt(s2), batch=n, start=start
        )
        excess = expected_excess(problem, Local(), iterations=T, eta=eta)[:, 0]
        measured.append(excess[T])
        rows.append({"eta": eta, "h": h, "d": d, "batch": n, "e0": excess[0], "label_variance": s2, "T": T})
    return [
        Evidence(
            engine="exact moments",
            measured=np.array(measured),
            arguments={name: np.array([float(row[name]) for row in rows]) for name in rows[0]},
            label="streaming least squares, local SGD",
        )
    ]


_EQUALITY = 1e-9


def claims() -> tuple[Claim, ...]:
    return (
        Claim.on(
            "adaptive/least-squares-variance",
            Family(name="least squares in R^2", domains=_VARIANCE, measure=_variance),
            equality=_EQUALITY,
        ),
        Claim.on(
            "adaptive/least-squares-rate",
            Family(name="isotropic least squares", domains=_RATE, measure=_rate),
            exact=_local,
            equality=_EQUALITY,
            unrefuted_conditions={
                "step size eta <= 0.9 batch/(h (batch + d + 1))": "an equality at every step; from "
                "1/0.9 of the limit on the loss does not shrink"
            },
        ),
    )
