"""Aligned clients under the other rows of Table 1: the step for a horizon, and decreasing steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..evidence import Evidence
from ..family import Values
from .aligned_pair import Aligned, columns
from .enumerated_paths import Arguments, Steps, constant_steps


def horizon_steps(arguments: Arguments, t: Any) -> np.ndarray:
    """min(q/beta, ln(e_0/K)/(mu T)), K = beta s2/(2 mu^2 T); 0 where e_0 < K, outside the hypotheses."""
    beta, mu, e0, T = (arguments[name] for name in ("beta", "mu", "e0", "T"))
    floor = beta * arguments["s2"] / (2 * mu**2 * T)
    return np.minimum(arguments["q"] / beta, np.log(np.maximum(e0 / floor, 1)) / (mu * T))


def unstopped_horizon_steps(arguments: Arguments, t: Any) -> np.ndarray:
    """The steps of a horizon with s2 + (V_max - s2)_+ p in the place of s2."""
    s2 = arguments["s2"] + np.maximum(arguments["V_max"] - arguments["s2"], 0) * arguments["below"]
    return horizon_steps(arguments | {"s2": s2}, t)


def decreasing_steps(arguments: Arguments, t: Any) -> np.ndarray:
    """The step C/(mu (t + gamma))."""
    return arguments["C"] / (arguments["mu"] * (t + arguments["gamma"]))


def best_decreasing_steps(arguments: Arguments, t: Any) -> np.ndarray:
    """The same with the least offset and the best factor: C = 2 if chi = 2 mu e_0/(q s2) <= 2, else chi/(chi - 1)."""
    mu, q = arguments["mu"], arguments["q"]
    with np.errstate(all="ignore"):
        chi = 2 * mu * arguments["e0"] / (q * arguments["s2"])
        C = np.where(chi <= 2, 2.0, np.where(np.isinf(chi), 1.0, chi / (chi - 1)))
    return decreasing_steps(arguments | {"C": C, "gamma": C * arguments["beta"] / (mu * q) - 1}, t)


# --- Instances where a row is nearly attained ----------------------------------------------------------------
#
# Peers of similarity r contract by (1 - x m)^2, m = (1 - sqrt(1 - r))/r, which is 1 - x for x = eta mu = r and close
# to it for every x <= r when r is small. e_T concentrates at its mean as d grows.

_FAR = 1e12
"""sigma_i^2 / sigma_k^2: client i's own share vanishes, q = r."""
_MANY = 1e14
_CONSTANTS = ((1.0, 1.0), (3.0, 1.0), (0.3, 1.0), (1.05, 1.05), (2.0, 2.0), (0.5, 4.0))
"""beta and beta/mu: noise is attained at mu = beta, contraction at any mu."""


def _instance(*, r: float, s2: float, e0: float, T: float, beta: float = 1.0, kappa: float = 1.0) -> tuple[float, ...]:
    """One row of `columns` with V = s2: alpha_k = 1/r."""
    peer = s2 * r**2
    return (beta, kappa, r, _FAR * peer, peer, 1.0, e0, T, 1e-290, _MANY)


def sharp_horizon() -> Values:
    """The limit binds and noise is negligible; or noise counts, peers of small similarity and eta mu small."""
    rows = []
    for beta, kappa in _CONSTANTS:
        for r, T in ((0.1, 3), (0.5, 1), (0.5, 8), (0.9, 2)):
            rows.append(_instance(r=r, s2=1e-40, e0=1.0, T=T, beta=beta, kappa=kappa))
        for r, T, L in ((1e-3, 30000, 9.0), (1e-3, 30000, 20.0), (3e-3, 3000, 3.0)):
            mu = beta / kappa
            s2 = 2 * mu**2 * T * np.exp(-L) / beta  # K = exp(-L) e_0, eta = L/(mu T) < r/beta
            rows.append(_instance(r=r, s2=s2, e0=1.0, T=T, beta=beta, kappa=kappa))
    return columns(rows)


def sharp_decreasing() -> Values:
    """The noise term: T large, C near 2, r small. The start: C near 1, gamma large."""
    rows: list[tuple[float, ...]] = []
    for beta, kappa in _CONSTANTS:
        mu = beta / kappa
        for r, T, factor, more, start in (
            (0.01, 6000, 2.0, 0.0, 0.9), (0.01, 6000, 1.5, 0.0, 0.9), (0.03, 6000, 3.0, 0.5, 0.9),
            (0.01, 6000, 2.0, 0.0, 0.2), (0.01, 6000, 1.5, 0.0, 0.2), (0.03, 6000, 3.0, 0.0, 0.2),
        ):  # fmt: skip
            nu = factor**2 * beta / (2 * mu**2 * (factor - 1))  # times s2 = 1
            gamma = (1 + more) * factor * beta / (mu * r) - 1
            pair = _instance(r=r, s2=1.0, e0=start * nu / (gamma + 1), T=T, beta=beta, kappa=kappa)
            rows.append((*pair, factor, more))
        for r, T, more in ((0.01, 1, 0.0), (0.01, 20, 0.0), (0.01, 300, 0.0), (0.002, 100, 1.0), (0.01, 100, 3.0)):
            rows.append((*_instance(r=r, s2=1e-9, e0=1.0, T=T, beta=beta, kappa=kappa), 1.0001, more))
    return columns(rows, "C", "extra")


# --- Instances just beyond a condition ------------------------------------------------------------------------


def _outside(
    measure: Callable[[Aligned], np.ndarray],
    label: str,
    steps: Steps = constant_steps,
    *,
    eps: tuple[float, ...],
    **change: float,
) -> Evidence:
    """e_0 = 1, one step, no noise, and one peer with all the weight that overshoots; at one or several precisions."""
    base = {"beta": 1.0, "kappa": 1.0, "r": 0.3, "sigma2_i": 1e-18, "sigma2_k": 1e-30, "side": 1.0}
    base |= {"ratio": 1.0, "e0": 1.0, "T": 1.0, "d": 1.0}
    values = {name: np.full(len(eps), value) for name, value in (base | change).items()}
    batch = Aligned.of(values | {"eps": np.array(eps)}, steps)
    return Evidence(engine="closed-form law", measured=measure(batch), arguments=batch.arguments(), label=label)


def outside_step_limit(measure: Callable[[Aligned], np.ndarray], steps: Steps = constant_steps) -> Evidence:
    """A step, or a first step, of 1.05 times its limit; the precision out of reach and just below e_1 = 0.862.

    At the limit e_1 = (1 - r) e_0, as the bound has it; beyond, e_1 grows while the bound falls.
    """
    label = "1.05 times the step limit, models that overshoot"
    first = {"C": 1.01, "extra": 1 / 1.05 - 1} if steps is decreasing_steps else {}
    return _outside(measure, label, steps, eps=(1e-290, 0.86), ratio=1.05, **first)


def below_floor(measure: Callable[[Aligned], np.ndarray]) -> Evidence:
    """The step for a horizon where the noise floor is 1.4 times the start: the best step is 0, the bound below e_0."""
    label = "a noise floor 1.4 times the start"
    return _outside(measure, label, horizon_steps, eps=(1e-290, 1 - 1e-9), r=1.0, sigma2_i=2.8, sigma2_k=2.8e12)


def above_drift(measure: Callable[[Aligned], np.ndarray]) -> Evidence:
    """eta beta s2 = 2.16 mu eps, where the drift is negative; the start is at the precision."""
    label = "1.2 times the noise floor that the precision allows"
    return _outside(measure, label, eps=(1.0,), r=1.0, sigma2_i=2.16, sigma2_k=2.16e12)
