"""Every algorithm of the catalogue as its paper states it, in NumPy on models (S, N, d) of S paths: no package.

`RULES[name](at, x, ...)` is one iteration; called with the starts alone it returns the state before the first one,
models first. `at` gives stochastic gradients and what else an iteration may look at, see `At`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

PERIOD, PULL, MIXTURE, MEMORY, WEIGHT, P, ALPHA, SERVER = 2, 0.7, 0.4, 0.3, 0.6, 0.3, 0.5, 0.8
SHARE, SIGMA, RHO, WEIGHT_STEP, TEMPERATURE, SPREAD, FRACTION, ROUNDS = 0.6, 2.0, 0.4, 0.1, 0.8, 1.0, 0.4, 3
THRESHOLD, EPSILON, FIRST = 0.5, 0.1, 1
_ROUND = {"period": PERIOD, "participants": 0}
OPTIONS = {
    "local": {}, "all-for-one": {"threshold": THRESHOLD}, "all-for-one-fixed": {"epsilon": EPSILON},
    "all-for-all": {"epsilon": EPSILON}, "all-for-all-two-stage": {"epsilon": EPSILON, "first": FIRST},
    "cobo": {"rho": RHO, "weight_step": WEIGHT_STEP}, "flix": {"alpha": ALPHA},
    "scaffnew": {"p": P}, "scafflix": {"p": P, "alpha": ALPHA}, "local-sgd": {"period": PERIOD}, "fedavg": _ROUND,
    "fedprox": {**_ROUND, "pull": PULL}, "minibatch-sgd": _ROUND, "scaffold": {**_ROUND, "server_step": SERVER},
    "heavy-ball": {"weight": WEIGHT}, "nesterov": {"weight": WEIGHT}, "gradient-tracking": {},
    "ditto": {"period": PERIOD, "pull": PULL},
    "apfl": {"period": PERIOD, "mixture": MIXTURE}, "wga-bc": {"mixture": MIXTURE, "memory": MEMORY},
    "fedamp": {"period": PERIOD, "share": SHARE, "sigma": SIGMA, "pull": PULL}, "fedfomo": {"period": PERIOD},
    "validation-based": {"period": PERIOD, "temperature": TEMPERATURE}, "ifca": {"clusters": 2, "spread": SPREAD},
    "federated-clustering": {"fraction": FRACTION, "rounds": ROUNDS},
}  # fmt: skip
"""As the catalogue is asked; how many participate depends on the number of clients, see `truth.participants`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class At:
    """What iteration t of a rule may look at: losses (x - m_i)^T H_i (x - m_i) / 2, starts (N, d), the step, and what
    is drawn: `noise` and `second` (S, N, d) are those of two samples of the clients' gradients. `sizes` (N, 1) are the
    clients' numbers of rows."""

    H: np.ndarray
    m: np.ndarray
    start: np.ndarray
    eta: float = 0.0
    t: int = 0
    noise: Any = 0.0
    second: Any = 0.0
    coin: Any = 1.0
    pairs: Any = True
    sizes: Any = 1.0

    @property
    def beta(self) -> float:
        return float(np.linalg.eigvalsh(self.H).max())

    def slope(self, x):
        return np.einsum("iab,sib->sia", self.H, x - self.m)

    def own(self, x):
        return self.slope(x) + self.noise

    def slopes(self, x):
        """[s, i, k]: client k's at x_i, or at x_ik."""
        return np.einsum("kab,sikb->sika", self.H, (x if x.ndim == 4 else x[:, :, None]) - self.m)

    def peers(self, x):
        return self.slopes(x) + np.broadcast_to(self.noise, x.shape)[:, None]

    def midpoints(self, x):
        """Of the second sample, at the middle of x_i and x_k."""
        return self.slopes((x[:, :, None] + x[:, None]) / 2) + np.broadcast_to(self.second, x.shape)[:, None]

    def losses(self, x):
        """[s, i, k]: R_i(x_k) - min R_i."""
        away = x[:, None] - self.m[:, None]
        return np.einsum("sika,iab,sikb->sik", away, self.H, away) / 2

    def excess(self, x):
        return np.einsum("sia,iab,sib->si", x - self.m, self.H, x - self.m) / 2

    def mean(self, x, present=1.0):
        """Over the clients that are present, by their numbers of rows, sent to all."""
        return mean(x, present * self.sizes)


def of_models(step):
    """A rule whose state are the models alone."""
    return lambda at, x, **options: step(at, x, **options) if at.t else (x,)


@of_models
def local(at, x):
    return (x - at.eta * at.own(x),)


def heavy_ball(at, x, before=None, weight=WEIGHT):
    return (x, x) if before is None else (x + weight * (x - before) - at.eta * at.own(x), x)


def nesterov(at, x, before=None, weight=WEIGHT):
    if before is None:
        return x, x
    y = x + weight * (x - before)
    return y - at.eta * at.own(y), x


def mean(x, weights=1.0):
    """The weighted mean over the clients, sent to all."""
    weights = np.broadcast_to(weights, (1, x.shape[1], 1) if np.ndim(weights) < 3 else np.shape(weights))
    return np.broadcast_to((weights * x).sum(1, keepdims=True) / weights.sum(1, keepdims=True), x.shape)


@of_models
def local_sgd(at, x, period=PERIOD):
    y = x - at.eta * at.own(x)
    return (y if at.t % period else mean(y),)


def fedavg(at, x, w=None, pull=0.0):
    if w is None:
        return at.mean(x), at.mean(x)
    y = x - at.eta * at.coin * (at.own(x) + pull * (x - w))
    return (y, w) if at.t % PERIOD else (at.mean(y, at.coin),) * 2


def fedprox(at, x, w=None):
    return fedavg(at, x, w, PULL)


def minibatch_sgd(at, x, total=None):
    if total is None:
        return at.mean(x), 0 * x
    total = total + at.coin * at.own(x)
    return (x, total) if at.t % PERIOD else (at.mean(x - at.eta * total / PERIOD, at.coin), 0 * x)


def scaffold(at, y, x=None, ci=None, c=None, server=SERVER):
    if x is None:
        return at.mean(y), at.mean(y), 0 * y, 0 * y
    y = y - at.eta * at.coin * (at.own(y) - ci + c)
    if at.t % PERIOD:
        return y, x, ci, c
    change = at.coin * ((x - y) / (PERIOD * at.eta) - c)
    x = x + server * at.mean(y - x, at.coin)
    return x, x, ci + change, c + mean(change)


def ditto(at, x, y=None, w=None):
    if y is None:
        return x, at.mean(x), at.mean(x)
    return x - at.eta * at.coin * (at.own(x) + PULL * (x - w)), *fedavg(at, y, w)


def apfl(at, x, own=None, y=None, w=None, a=MIXTURE, adaptive=False):
    if own is None:
        own, y, w = x, at.mean(x), at.mean(x)
        a = np.full((*x.shape[:2], 1), MIXTURE) if adaptive else a
    else:
        g, apart = at.coin * at.own(x), own - y
        own, (y, w) = own - at.eta * a * g, fedavg(at, y, w)
        if adaptive and at.t % PERIOD == 1:
            a = np.clip(a - at.eta * (g * apart).sum(-1, keepdims=True), 0, 1)
    return (a * own + (1 - a) * y, own, y, w, a)[: 5 if adaptive else 4]


def flix(at, x):
    if not at.t:
        return (ALPHA * mean(x) + (1 - ALPHA) * at.m,)
    return (x - ALPHA * mean(at.eta * ALPHA * at.own(x)),)


def scaffnew(at, x, h=None, alpha=1.0, p=P):
    if h is None:
        return x, 0 * x
    y = (x - at.eta * (at.own(x) - h) - (1 - alpha) * at.m) / alpha  # the x_i before they are mixed with the anchors
    z = np.where(at.coin, mean(y), y)
    return alpha * z + (1 - alpha) * at.m, h + p * alpha / at.eta * (z - y)


def scafflix(at, x, h=None):
    if h is not None:
        return scaffnew(at, x, h, ALPHA)
    x = ALPHA * x + (1 - ALPHA) * at.m
    slope = at.slope(x)
    return x, slope - mean(slope)


def gradient_tracking(at, x, y=None, before=None):
    if y is None:
        return x, 0 * x, 0 * x
    n = x.shape[1]
    ring = [{i, (i + 1) % n, (i - 1) % n} for i in range(n)]
    W = np.array([[float(k in near) / len(near) for k in range(n)] for near in ring])
    g = at.own(x)
    y = W @ (y + g - before)
    return W @ (x - at.eta * y), y, g


def wga_bc(at, x, c=None):
    if c is None:
        return x, 0 * x
    own, n = at.own(x), x.shape[1]
    others = (at.peers(x).sum(2) - own) / (n - 1)
    return x - at.eta * ((1 - MIXTURE) * own + MIXTURE * (others + c)), (1 - MEMORY) * c + MEMORY * (own - others)


def near(at):
    """Weights of the clients within sqrt(mu epsilon): gradients differ by a constant where Hessians are equal only."""
    same = (at.H[:, None] == at.H).all((-1, -2))
    gap = np.einsum("iab,ikb->ika", at.H, at.m[:, None] - at.m)
    W = same & ((gap**2).sum(-1) <= np.linalg.eigvalsh(at.H).min() * EPSILON)
    return W / W.sum(1, keepdims=True)


@of_models
def all_for_one_fixed(at, x):
    return (x - at.eta * np.einsum("ik,sikd->sid", near(at), at.peers(x)),)


@of_models
def all_for_all(at, x):
    return (x - at.eta * near(at) @ at.own(x),)  # a projection where who is near is near the same


def all_for_all_two_stage(at, x, last=None):
    if last is None:
        return x, x
    curvatures, t = np.linalg.eigvalsh(at.H), at.t - FIRST
    kappa = curvatures.max() / curvatures.min()
    n = 2 * kappa + np.arange(max(t, 0) + 1)
    last = last - (at.eta * (kappa + 1) / (n[-1] + 1) if t > 0 else at.eta) * near(at) @ at.own(last)
    weights = n * (n + 1) / (n + 2)
    return x + (weights[-1] / weights.sum() if t > 0 else 1) * (last - x), last


@of_models
def all_for_one(at, x):
    slopes = at.slopes(x)
    own = np.einsum("siid->sid", slopes)[:, :, None]
    r = np.maximum(1 - ((slopes - own) ** 2).sum(-1) / (own**2).sum(-1), 0)
    phi = r >= THRESHOLD
    return (x - at.eta * np.einsum("sik,sikd->sid", phi / (r * phi).sum(-1, keepdims=True), at.peers(x)),)


def on_simplex(rows):
    """The nearest points whose entries are at least 0 and add up to 1, by bisection."""
    low, high = rows.min(-1, keepdims=True) - 1, rows.max(-1, keepdims=True)
    for _ in range(60):
        middle = (low + high) / 2
        above = np.maximum(rows - middle, 0).sum(-1, keepdims=True) > 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.maximum(rows - low, 0)


def cobo(at, x, w=None, rho=RHO, simplex=False):
    if w is None:
        return x, np.full((len(x), x.shape[1], x.shape[1]), 1 / x.shape[1] if simplex else 1.0)
    g = at.midpoints(x)  # [s, i, k] is client k's at (x_i + x_k) / 2
    moved = np.where(at.pairs, w + WEIGHT_STEP * np.einsum("sikd,skid->sik", g, g), w)
    w = on_simplex(moved) if simplex else np.clip(moved, 0, 1)
    apart = x[:, :, None] - x[:, None]
    return x - at.eta * (at.own(x) + rho * np.einsum("sik,sikd->sid", w, apart)), w


def fedamp(at, x, u=None, period=PERIOD, share=SHARE, sigma=SIGMA, pull=PULL):
    if u is None:
        return x, x
    if (at.t - 1) % period == 0:
        n, apart = x.shape[1], x[:, None] - x[:, :, None]  # [s, i, k] = x_k - x_i
        xi = share / max(n - 1, 1) * np.exp(-(apart**2).sum(-1) / sigma)
        u = x + np.einsum("sik,sikd->sid", xi, apart)
    return x - at.eta * (at.own(x) + pull * (x - u)), u


def fedfomo(at, x, s=None):
    if s is None:
        return x, x
    x = x - at.eta * at.own(x)
    if at.t % PERIOD:
        return x, s
    far = np.linalg.norm(x[:, None] - s[:, :, None], axis=-1)
    gain = np.maximum(at.excess(s)[:, :, None] - at.losses(x), 0)
    w = np.divide(gain, far, out=np.zeros_like(gain), where=far > 0)
    total = w.sum(-1, keepdims=True)
    x = s + np.einsum("sik,sikd->sid", w / np.where(total > 0, total, 1), x[:, None] - s[:, :, None])
    return x, x


def validation_based(at, x, s=None, temperature=TEMPERATURE):
    if s is None:
        return x, x
    x = x - at.eta * at.own(x)
    if at.t % PERIOD:
        return x, s
    losses = at.losses(x)
    w = np.exp((losses.min(-1, keepdims=True) - losses) / temperature)
    x = s + (w / w.sum(-1, keepdims=True)) @ (x - s)
    return x, x


def ifca(at, x, centres=None):
    if centres is None:
        out = at.m - at.m.mean(0)
        _, _, rows = np.linalg.svd(out, full_matrices=False)
        size = SPREAD * max(np.linalg.norm(out, axis=1).max(), 1e-3)
        centres = x.mean(1, keepdims=True) + size * np.stack((rows[0], -rows[0]))
    else:
        chosen = (x[:, None] == centres[:, :, None]).all(-1)  # [s, m, i]
        chosen &= np.cumsum(chosen, axis=1) == 1
        centres = centres - np.einsum("smi,sid->smd", chosen, at.eta * at.own(x)) / x.shape[1]
    best = np.argmin([at.excess(np.broadcast_to(c[:, None], x.shape)) for c in centres.swapaxes(0, 1)], axis=0)
    return np.take_along_axis(centres, best[..., None], axis=1), centres


@of_models
def federated_clustering(at, x, radius=None):
    g = at.peers(x)
    v, n = np.einsum("siid->sid", g), x.shape[1]
    for _ in range(ROUNDS):
        far = np.linalg.norm(g - v[:, :, None], axis=-1)
        tau = np.sort(far, axis=-1)[..., [int(np.ceil(FRACTION * n - 1e-9)) - 1]] if radius is None else radius
        inside = (far <= tau)[..., None]
        v = np.where(inside, g, v[:, :, None]).mean(2)
    return (x - at.eta * v,)


RULES = {name: globals()[name.replace("-", "_")] for name in OPTIONS}
