"""The same quantities from the simulator's own steps, by probing: small networks, all agents, all steps."""

from __future__ import annotations

import numpy as np
import torch

from suffice.simulate import (
    Algorithm,
    AllForAll,
    FixedWeights,
    Quadratics,
    StreamingLeastSquares,
    expected_moments_batch,
    split,
    stack,
)
from suffice.simulate.problem import QuadraticProblem

from ...evidence import Evidence
from ...family import Domain, Family, Values
from .reduced import reduced

N, D = 3, 2
NETWORKS = Family(
    name="small networks",
    domains={
        "beta": Domain(low=0.1, high=10, log=True),
        "kappa": Domain(low=1, high=5, log=True),
        "bend": Domain(low=0, high=1, shape=(N, D)),
        "turn": Domain(low=-1, high=1, shape=(N, D, D)),
        "place": Domain(low=-1, high=1, shape=(N, D)),
        "sigma2": Domain(low=0.01, high=1, log=True, shape=(N,)),
        "weight": Domain(low=0.05, high=1, shape=(N, N)),
        "start": Domain(low=-3, high=3, shape=(D,)),
        "fraction": Domain(low=0.1, high=1, log=True),
        "T": Domain(low=1, high=8, integer=True),
    },
)


def draw(count: int, root: int) -> Values:
    """Networks of which the first and every third after it are at rest at one minimiser, mu = L and alike: e_1 is the
    noise, and the bounds are attained. The next ones share a minimiser and the rows of their weights, without noise.
    """
    values = NETWORKS.draw(count, seed=root)
    resting, equal = np.arange(count) % 3 == 0, np.arange(count) % 3 == 1
    values["kappa"][resting | equal] = 1.0
    values["place"][resting | equal] = 0.0
    values["start"][resting] = 0.0
    values["sigma2"][resting] = values["sigma2"][resting, :1]
    values["sigma2"][equal] = 0.0
    values["weight"][equal] = values["weight"][equal, :1]
    return values


def _hessians(values: Values) -> np.ndarray:
    """Spectra mu kappa^bend in [mu, L], rotated, (n, N, D, D)."""
    basis, kappa = np.linalg.qr(values["turn"])[0], values["kappa"][:, None, None]
    spectrum = values["beta"][:, None, None] / kappa * kappa ** values["bend"]
    H = np.einsum("bnia,bna,bnja->bnij", basis, spectrum, basis)
    return (H + H.swapaxes(-1, -2)) / 2


def _weights(values: Values) -> np.ndarray:
    return values["weight"] / values["weight"].sum(-1, keepdims=True)


def _excess(problems: QuadraticProblem, rules: list[Algorithm], values: Values, eta: np.ndarray) -> np.ndarray:
    """The excess loss of every agent after every number of iterations up to the longest, (n, T + 1, N)."""
    moments = expected_moments_batch(problems, stack(rules), iterations=int(values["T"].max()), eta=eta)
    return moments.excess(problems).numpy()


def _quadratics(H: np.ndarray, values: Values) -> Quadratics:
    """Agents H (n, N, D, D) around `place`, each with noise of its own, from a common start."""
    agents = Quadratics.of(
        H.reshape(-1, D, D) / 2,
        -values["place"].reshape(-1, D),
        sigma2=values["sigma2"].ravel(),
        start=np.repeat(values["start"], N, 0),
    )
    return split(agents, len(H))


def _evidence(measured: np.ndarray, values: Values, arguments: dict[str, np.ndarray], label: str) -> Evidence:
    """measured (n, T + 1, ...) up to each instance's T; the others broadcast to it from the left."""
    steps = np.arange(measured.shape[1])
    used = steps <= values["T"][:, None]

    def column(value: np.ndarray) -> np.ndarray:
        wide = np.reshape(value, (*np.shape(value), *(1,) * (measured.ndim - np.ndim(value))))
        return np.broadcast_to(wide, measured.shape)[used].ravel()

    columns = {name: column(value) for name, value in {**arguments, "T": steps[None]}.items()}
    return Evidence(engine="probed moments", measured=measured[used].ravel(), arguments=columns, label=label)


def all_for_one(count: int, root: int) -> Evidence:
    """Theorem 2: one Hessian for all, every agent, every step up to T."""
    values = draw(count, root)
    H, weights, m = _hessians(values)[:, :1], _weights(values), values["place"]
    spectrum = np.linalg.eigvalsh(H[:, 0])
    eta = values["fraction"] / spectrum[:, -1]
    rules: list[Algorithm] = [FixedWeights(alpha=alpha) for alpha in torch.from_numpy(weights)]
    excess = _excess(_quadratics(np.repeat(H, N, 1), values), rules, values, eta)
    arguments = {
        "eta": eta,
        "mu": spectrum[:, 0],
        "beta": spectrum[:, -1],
        "e0": excess[:, :1],
        "sigma2": values["sigma2"].max(-1),
        "lambda2": reduced("theorem-2-lambda2", weights=weights)[:, None],
        "bias": reduced("theorem-2-bias", weights=weights, b=_dissimilarity(H, m))[:, None],
    }
    return _evidence(excess, values, arguments, "All-for-one, three quadratics in R^2 with one Hessian")


def _dissimilarity(H: np.ndarray, m: np.ndarray) -> np.ndarray:
    """|H (m_i - m_j)| for one Hessian (n, 1, D, D), (n, N, N)."""
    return np.linalg.norm((m[:, :, None] - m[:, None]) @ H, axis=-1)


def least_squares(count: int, root: int) -> Evidence:
    """Theorem 2 with growing noise: f_j(x) = E (a^T x - b)^2/2, which is E (z^T x - b')^2 for z = a/sqrt(2)."""
    values = draw(count, root)
    H, weights, m, tau2 = _hessians(values)[:, :1], _weights(values), values["place"], values["sigma2"]
    mu, beta = np.linalg.eigvalsh(H[:, 0]).T
    growth, lambda2 = (
        reduced("theorem-2-growth", H=H[:, 0]),
        reduced("theorem-2-lambda2", weights=weights),
    )
    limit = np.minimum(1 / beta[:, None], (mu / (4 * beta * growth))[:, None] / lambda2)
    eta = values["fraction"][:, None] * limit
    agents = StreamingLeastSquares.of(
        np.repeat(H, N, 1).reshape(-1, D, D) / 2,
        m.reshape(-1, D),
        label_noise=np.sqrt(tau2.ravel() / 2),
        start=np.repeat(values["start"], N, 0),
    )
    rules: list[Algorithm] = [FixedWeights(alpha=alpha) for alpha in torch.from_numpy(weights)]
    excess = _excess(split(agents, count), rules, values, eta)
    b = _dissimilarity(H, m)
    s2 = np.broadcast_to((tau2 * np.trace(H[:, 0], axis1=1, axis2=2)[:, None])[:, None], weights.shape)
    each = {"mu": np.repeat(mu[:, None], N, 1), "growth": np.repeat(growth[:, None], N, 1)}
    arguments = {
        "eta": eta[:, None],
        "mu": mu,
        "beta": beta,
        "e0": excess[:, :1],
        "growth": growth,
        "lambda2": lambda2[:, None],
        "bias": reduced("theorem-2-bias", weights=weights, b=b)[:, None],
        "noise2": reduced("theorem-2-noise", weights=weights, sigma2=s2, b=b, **each)[:, None],
    }
    return _evidence(excess, values, arguments, "All-for-one, three linear models with Gaussian features in R^2")


def all_for_all(count: int, root: int) -> Evidence:
    """Theorem 3: Hessians of their own, mean over the agents, every step up to T."""
    values = draw(count, root)
    H, weights, m = _hessians(values), _weights(values), values["place"]
    spectrum = np.linalg.eigvalsh(H)
    mu, beta = spectrum.min((1, 2)), spectrum.max((1, 2))
    smax = reduced("theorem-3-smax", weights=weights)
    eta = values["fraction"] / (beta * smax)
    rules: list[Algorithm] = [AllForAll(Lambda=Lambda) for Lambda in torch.from_numpy(weights)]
    excess = _excess(_quadratics(H, values), rules, values, eta).mean(-1)
    gap = m[:, :, None] - m[:, None]
    arguments = {
        "eta": eta,
        "mu": mu,
        "beta": beta,
        "smin": reduced("theorem-3-smin", weights=weights),
        "smax": smax,
        "e0": excess[:, 0],
        "sigma2": values["sigma2"].max(-1),
        "weight2": reduced("theorem-3-weight2", weights=weights),
        "peer_excess": (weights * np.einsum("nija,niab,nijb->nij", gap, H, gap)).sum((1, 2)) / (2 * N),
    }
    return _evidence(excess, values, arguments, "All-for-all, three quadratics in R^2")
