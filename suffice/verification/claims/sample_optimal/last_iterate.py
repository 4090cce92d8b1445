"""Claims on the last iterate of All-for-one: quadratics of one Hessian, and losses with a kink whose noise is timed."""

from __future__ import annotations

import numpy as np

from ...claim import Claim
from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows
from ...widened_conditions import beyond
from .all_for_one import ALONE, KEY, OTHER, SHARED, STEP, _constant
from .simulated import all_for_one as simulated


def _sharp_quadratic() -> Values:
    noise, first = {"sigma2": np.ones(3)}, np.array([2.0, 0.0])
    return rows(
        ALONE,
        *({**noise, "split": np.zeros(3), "kappa": 30.0, "beta": L, "T": T} for L in (0.1, 9.0) for T in (1.0, 60.0)),
        *({**noise, "split": np.zeros(3), "kappa": 30.0, "fraction": 0.1, "T": T} for T in (1.0, 3.0, 60.0)),
        {**noise, "weight": np.ones(3), "count": np.array([20.0, 7.0, 3.0]), "split": np.zeros(3)},
        {"start": np.array([2.0, 1.0]), "T": 0.0},
        *({"start": first, "kappa": 50.0, "fraction": x, "T": T} for x in (1.0, 0.1) for T in (1.0, 30.0)),
        *({**OTHER, "spread": b, "T": T} for b in (0.1, 10.0) for T in (1.0, 30.0)),
        # start and bias in one direction, on opposite sides and on one
        *({**OTHER, "start": x * first, "kappa": 9.0, "T": T} for x in (0.5, -0.5, 5.0, -5.0) for T in (1.0, 9.0)),
        {**OTHER, "spread": 10.0, "T": 1e6, "fraction": 0.01, "kappa": 100.0},
    )  # fmt: skip


# --- a kink: slope mu y + c from y = d on, curvature L before, d = c/(L - mu); it is symmetric

KINKED: dict[str, Domain] = {
    "beta": Domain(low=0.01, high=100, log=True),
    "kappa": Domain(low=1.01, high=1e4, log=True),
    "fraction": Domain(low=0.03, high=1, log=True),
    "noise": Domain(low=1e-6, high=1e-1, log=True),
    "start": Domain(low=0, high=100, zero=0.5),
    "T": Domain(low=1, high=60, integer=True),
    "window": Domain(low=0, high=1),
}
"""sigma2 is `noise` times c^2, c = 1; `start` is in units of eta c; `window` is a share of T - 1."""


@measured_by("exact", "one agent on a loss with a kink; from the minimiser, rare kicks timed for the last round")
def _kinked(values: Values) -> Measured:
    """From elsewhere there is no noise. From the minimiser the noise is z or -z with a small probability while nothing
    has happened, else 0: after a kick t rounds before the end the model has just half of its slope's way to go."""
    L, T = values["beta"], np.floor(values["T"])
    mu, eta = L / values["kappa"], values["fraction"] / L
    still = values["start"] == 0
    s = np.where(still, values["noise"], 0.0)
    d, left = (1 / (L - mu))[:, None], np.arange(T.max())
    keep = (1 - eta * mu)[:, None] ** left  # what `left` rounds keep of a kick
    with np.errstate(all="ignore"):  # where the way back is too long for a float nobody is kicked
        way = (1 - keep) / (mu[:, None] * keep)
        kick = np.where((left < T[:, None]) & (way < 1e100), np.maximum(2 * way, d), np.inf)
    chance = np.where(still[:, None], np.minimum(eta[:, None] ** 2 * s[:, None] / kick**2, 1), 0.0)
    # rounds with more to come are earlier: nothing has happened in any of them
    before = np.cumprod((1 - chance)[:, ::-1], axis=1)[:, ::-1] / np.where(chance < 1, 1 - chance, 1)
    y = np.concatenate((np.where(np.isinf(kick), 0, kick), (values["start"] * eta)[:, None]), axis=1)
    rounds = np.concatenate((np.broadcast_to(left, kick.shape), np.where(still, 0, T)[:, None]), axis=1)
    # rounds with the slope of beyond the kink, mu y + 1, then with that of before it, L y
    width = 1 / mu[:, None]
    with np.errstate(all="ignore"):  # a step of 1/mu or more, outside the hypotheses, begins before the kink
        shrinks = np.log1p(-eta[:, None] / width)
        beyond = np.where(y > d, np.ceil((np.log1p(d / width) - np.log1p(y / width)) / shrinks), 0)
        beyond = np.minimum(beyond, rounds)
        y = np.where(y > d, np.exp(beyond * shrinks) * y + np.expm1(beyond * shrinks) * width, y)
    y = y * (1 - eta * L)[:, None] ** (rounds - beyond)
    far = np.abs(y)
    loss = mu[:, None] * y**2 / 2 + np.where(far < d, y**2 / (2 * d), far - d / 2)
    measured = np.where(still, (before * chance * loss[:, :-1]).sum(1), loss[:, -1])
    return measured, {
        "eta": eta, "mu": mu, "beta": L, "distance2": (values["start"] * eta) ** 2, "sigma2": s,
        "lambda2": np.ones_like(L), "T": T, "window": np.floor(values["window"] * (T - 1)),
    }  # fmt: skip


def _sharp_kinked() -> Values:
    default = plain(KINKED, kappa=1e6, fraction=1, T=1, start=0, noise=1e-6)
    return rows(
        default,
        {"beta": 9.0},
        *({"start": 3.0, "beta": L} for L in (0.1, 9.0)),  # to be stopped by the slope at two thirds of the way
        *({"start": y, "kappa": k, "T": T} for k in (1.1, 2.0) for T in (2.0, 3.0) for y in (1e-3, 30.0)),
        {"kappa": 1.0001, "fraction": 0.1, "T": 101.0, "window": 1.0, "start": 1e-3},
        *({"T": T, "beta": L} for T in (2.0, 3.0) for L in (0.1, 9.0)),
        *({"kappa": k, "T": T, "noise": 1e-3, "fraction": x, "window": K}
          for k, T in ((1e3, 2500.0), (1e4, 2500.0)) for x in (1.0, 0.3, 0.1) for K in (0.0, 1.0)),
    )  # fmt: skip


def claims() -> tuple[Claim, ...]:
    shared = Family(name="common Hessian", domains=SHARED, measure=_constant, sharp=_sharp_quadratic)
    kinked = Family(name="a kink", domains=KINKED, measure=_kinked, sharp=_sharp_kinked)
    return (
        Claim.on(
            KEY + "theorem-2-quadratic",
            shared,
            exact=lambda effort, root: [simulated(max(effort.instances // 8, 2), root)],
            outside_conditions={STEP: beyond(shared, fraction=1.05)},
        ),
        Claim.on(
            KEY + "theorem-2-last-iterate",
            kinked,
            in_regime=None,
            outside_conditions={STEP: beyond(kinked, fraction=1.05)},
            unrefuted_conditions={"the last rounds 1 + window <= T": "T is whole, and so is the window: beyond it no "
                                  "iterate is left to look back to"},
        ),
    )  # fmt: skip
