"""Claims on noise that grows with the gradient: Lemma 1 and Theorem 1 extended, and the factor Q."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from suffice.bounds import Binary, Continuous, collaboration_weights
from suffice.simulate import FixedWeights, StreamingLeastSquares, expected_excess

from ...claim import Claim, Effort
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances import one_step
from ...instances.enumerated_paths import WAVE
from ...instances.recursions import repeated
from ...instances.rows import columns
from ...widened_conditions import beyond

# --- One step --------------------------------------------------------------------------------------------------


def _sharp_step() -> Values:
    """Alone at eta = 1/beta, peers out of reach: the noise replaces what the step gains."""
    given: list[dict[str, object]] = []
    for beta in (1.0, 3.0):
        for growth, noise in ((0.0, 1.0), (0.5, 1.0), (2.0, 1e-6)):
            alone = {"factor": [3.0, 3.0], "sigma2": [noise, noise, noise], "growth": [growth, 0.0, 0.0]}
            given.append({"beta": beta, **alone})
    return one_step.instances(*given)


# --- A run: R_k = c_k R_i with c_k = 1 +- sqrt(1 - r_k), R_i = curvature |theta|^2 / 2 ----------------------------

_RUN = {
    "beta": Domain(low=0.25, high=4, log=True),
    "kappa": Domain(low=1, high=3),
    "low": Domain(low=1, high=2),
    "r": Domain(low=0.01, high=1, log=True, shape=(2,)),
    "side": Domain(low=0, high=1, integer=True, shape=(2,)),
    "sigma2": Domain(low=0.01, high=10, log=True, shape=(3,)),
    "reference": Domain(low=0.1, high=10, log=True, shape=(3,)),
    "growth": Domain(low=0, high=1, shape=(3,)),
    "binary": Domain(low=0, high=1, integer=True),
    "threshold": Domain(low=0.05, high=0.95),
    "ratio": Domain(low=0.1, high=1),
    "slack": Domain(low=1, high=2),
    "e0": Domain(low=0.1, high=10, log=True),
    "T": Domain(low=1, high=40, integer=True),
}


def _course(values: Values) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """E e_T, the mean over t < T of E|grad R_i(theta_t)|^2, and the arguments."""
    count = len(values["beta"])
    r = np.concatenate((np.ones((count, 1)), values["r"]), axis=1)
    side = np.concatenate((np.zeros((count, 1)), 2.0 * (values["side"] > 0) - 1), axis=1)
    c = 1 + side * np.sqrt(1 - r)
    binary = Binary(threshold=values["threshold"][:, None])
    alpha = np.where(
        values["binary"][:, None] > 0,
        collaboration_weights(binary, similarity=r, sigma2=values["reference"]),
        collaboration_weights(Continuous(), similarity=r, sigma2=values["reference"]),
    )
    q, curvature = 1 / alpha.sum(1), values["beta"] / values["kappa"]
    eta = values["ratio"] * q / values["beta"]
    V = (alpha**2 * values["sigma2"]).sum(1)
    grown = (alpha**2 * values["growth"] * c**2).sum(1)
    factor = (1 - eta * curvature * (alpha * c).sum(1)) ** 2 + (eta * curvature) ** 2 * grown
    # (level, passed, 1) -> (factor level + noise, passed + level, 1)
    state, step = np.zeros((count, 3)), np.zeros((count, 3, 3))
    state[:, 0], state[:, 2] = values["e0"], 1
    step[:, 0, 0], step[:, 0, 2], step[:, 1, 0] = factor, eta**2 * curvature * V / 2, 1
    step[:, 1, 1] = step[:, 2, 2] = 1
    level, passed, _ = repeated(step, state, values["T"]).T
    Q = (alpha**2 * values["growth"] * (1 + np.sqrt(1 - r)) ** 2).sum(1)
    return level, 2 * curvature * passed / values["T"], {
        "eta": eta, "mu": curvature / values["low"], "beta": values["beta"], "q": q, "e0": values["e0"], "V": V,
        "T": values["T"], "Q": Q, "split": eta * values["beta"] * Q * values["slack"],
    }  # fmt: skip


_ALIGNED = "three aligned clients, noise sigma_k^2 + M_k |grad R_k|^2"


@measured_by("closed-form law", _ALIGNED)
def _run(values: Values) -> Measured:
    last, _, arguments = _course(values)
    return last, arguments


@measured_by("closed-form law", _ALIGNED)
def _gradients(values: Values) -> Measured:
    _, mean, arguments = _course(values)
    return mean, arguments


def _sharp_gradients() -> Values:
    """Alone at eta = 1/beta: one step with next to no noise, and what noise of both kinds keeps up."""
    base = {name: value[[0, 0, 0, 0]] for name, value in _sharp_run().items()}
    growth, sigma2 = base["growth"].copy(), base["sigma2"].copy()
    growth[:, 0], sigma2[:, 0] = (1e-3, 1e-3, 0.5, 0.9), (1e-9, 1e-9, 1, 1)
    changed = {"growth": growth, "sigma2": sigma2, "T": np.array([1, 1, 3e3, 1e4]), "beta": np.array([1.0, 3, 1, 0.5])}
    return base | changed


def _sharp_run() -> Values:
    """Alone with mu = beta at eta = 1/beta; and one peer of similarity r without multiplicative noise."""
    rows = []
    for beta, growth, noise in ((1.0, 0.5, 1.0), (3.0, 0.5, 1e-9), (1.0, 0.9, 1e-9), (0.5, 0.2, 1.0)):
        for T in (1, 3, 20):
            alone = {"r": [0.01, 0.01], "side": [0, 0], "reference": [1.0, 1e16, 1e16], "sigma2": [noise, 1.0, 1.0]}
            rows.append({"beta": beta, "kappa": 1.0, "T": T, "growth": [growth, 0.0, 0.0], **alone})
    for beta, kappa, r in ((1.0, 1.0, 0.3), (3.0, 4.0, 0.01)):
        for T in (1, 5):
            peer = {"r": [r, 0.01], "side": [0, 0], "reference": [1e12, 1.0, 1e18], "sigma2": [1e-12, 1e-12, 1e-12]}
            rows.append({"beta": beta, "kappa": kappa, "T": T, "growth": [0.0, 0.0, 0.0], **peer})
    plain = {"low": 1.0, "binary": 0, "threshold": 0.5, "ratio": 1.0, "slack": 1.0, "e0": 1.0}
    return {name: np.array([(plain | row)[name] for row in rows], dtype=float) for name in _RUN}


_STREAMS = {
    "flattest": Domain(low=0.6, high=1),
    "c": Domain(low=0.7, high=1.3, shape=(2,)),
    "label_noise": Domain(low=0, high=0.5, shape=(3,)),
    "batch": Domain(low=8, high=39, integer=True),
    "sigma2": Domain(low=0.5, high=2, shape=(3,)),
    "ratio": Domain(low=0.2, high=1),
    "T": Domain(low=1, high=5, integer=True),
}


def _streams(effort: Effort, root: int) -> list[Evidence]:
    """Streaming least squares of three clients in R^2, H_k = c_k H, through the simulator's own gradients."""
    count = max(effort.instances // 6, 2)
    values = Family(name="three streams", domains=_STREAMS).draw(count, seed=root + 12)
    rows, measured = [], []
    for i in range(count):
        base, c = np.diag([1.0, values["flattest"][i]]), np.append(1.0, values["c"][i])
        problem = StreamingLeastSquares.of(
            c[:, None, None] * base,
            np.zeros((3, 2)),
            label_noise=values["label_noise"][i],
            batch=int(values["batch"][i]),
            start=np.array([1.0, -1.0]),
        )
        sigma2, M = problem.noise_growth()
        r = 1 - (c - 1) ** 2
        alpha = np.zeros((3, 3))
        alpha[0] = collaboration_weights(Continuous(), similarity=r, sigma2=values["sigma2"][i])
        alpha[1:] = np.eye(3)[1:] * 0.1
        beta, q = 2 * base.max(), 1 / alpha[0].sum()
        eta, T = values["ratio"][i] * q / beta, int(values["T"][i])
        excess = expected_excess(problem, FixedWeights(alpha=torch.from_numpy(alpha)), iterations=T, eta=eta)[:, 0]
        Q = (alpha[0] ** 2 * M * (1 + np.sqrt(1 - r)) ** 2).sum()
        measured.append(excess[T])
        rows.append({
            "eta": eta, "mu": 2 * base.diagonal().min(), "beta": beta, "q": q, "e0": excess[0], "T": T, "Q": Q,
            "V": (alpha[0] ** 2 * sigma2).sum(), "split": eta * beta * Q,
        })  # fmt: skip
    return [
        Evidence(
            engine="exact moments",
            measured=np.array(measured),
            arguments={name: np.array([float(row[name]) for row in rows]) for name in rows[0]},
            label="streaming least squares, three clients H_k = c_k H in R^2, fixed weights",
        )
    ]


# --- The factor Q: n peers of similarity r, s_i^2/s_k^2 = K for each, phi(x) = min(x, p) or p x --------------------

_TOTAL = {
    "noise_factor": Domain(low=0.1, high=10, log=True),
    "peers": Domain(low=1, high=1e9, log=True),
    "r": Domain(low=0, high=1),
    "shrink": Domain(low=1e-5, high=1, log=True),
    "K": Domain(low=0.05, high=20, log=True),
    "peak": Domain(low=0.05, high=1),
    "capped": Domain(low=0, high=1, integer=True),
}


@measured_by("closed form", "many peers alike")
def _total(values: Values) -> Measured:
    r, p, K, n = values["r"] * values["shrink"], values["peak"], values["K"], values["peers"]
    phi = np.where(values["capped"] > 0, np.minimum(r, p), p * r)
    weight = p + n * K * phi * r  # client i first, then n peers alike
    own, peer = p / weight, K * phi / weight
    M = values["noise_factor"]
    return M * (own**2 + n * peer**2 * (1 + np.sqrt(1 - r)) ** 2), {"noise_factor": M, "peak": p, "advantage": K}


def _sharp_total() -> Values:
    """r small and K n r^2 = p (2K - p)/(2K); alone where 2K < p."""
    given = []
    for p in (1.0, 0.5):
        for K in (0.1, 0.6, 1.0, 5.0):
            mass = max(p * (2 * K - p) / (2 * K), 0)
            r = 1e-4 if mass else 0.0
            given.append((1.5, max(mass / (K * 1e-8), 1), r, 1.0, K, p, 1))
    return columns(_TOTAL, given)


def claims() -> tuple[Claim, ...]:
    step = "step size eta <= q/beta"
    one = one_step.family(sharp=_sharp_step, adaptive=True, growing=True)
    run = Family(name="aligned clients", domains=_RUN, measure=_run, sharp=_sharp_run)
    gradients = replace(run, measure=_gradients, sharp=_sharp_gradients)
    return (
        Claim.on(
            "adaptive/lemma-1-multiplicative",
            one,
            one_step.family(loss=WAVE, adaptive=True, growing=True),
            outside_conditions={step: beyond(one, ratio=1.05)},
        ),
        Claim.on(
            "adaptive/theorem-1-multiplicative",
            run,
            exact=_streams,
            outside_conditions={
                step: beyond(run, ratio=1.05),
                "multiplicative noise eta beta Q <= split": beyond(run, slack=1 / 1.05),
            },
        ),
        Claim.on(
            "adaptive/theorem-3-multiplicative",
            gradients,
            outside_conditions={
                step: beyond(gradients, ratio=1.05),
                "multiplicative noise eta beta Q <= split": beyond(gradients, slack=1 / 1.05),
            },
        ),
        Claim.on(
            "adaptive/multiplicative-total",
            Family(name="peers alike", domains=_TOTAL, measure=_total, sharp=_sharp_total),
        ),
    )
