"""Expected values by a route of their own: `plain_algorithms` probed at unit states, or followed on many paths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from plain_algorithms import OPTIONS, PERIOD, RULES, At, P

KINDS = ("identical", "differing", "one")
STEPS = (0.25, 0.6)
"""In units of 1/beta."""
LONGEST = 3
LEVEL = {"eps": 0.1, "G": 0.1}
"""As shares of their values at the start: so low that it is not only rare paths that stay above."""
LINEAR = {
    "local", "all-for-one-fixed", "all-for-all", "all-for-all-two-stage",
    "flix", "scaffnew", "scafflix", "local-sgd", "fedavg", "fedprox",
    "minibatch-sgd", "scaffold", "heavy-ball", "nesterov", "gradient-tracking", "ditto", "apfl", "wga-bc",
}  # fmt: skip


@lru_cache
def problem(kind: str, N: int, d: int) -> At:
    """Curvatures from 1/2 to 2 in directions of their own; clients that differ do so in everything, but that each two
    share a Hessian and almost a minimiser, so that thresholds join them."""
    rng = np.random.default_rng([KINDS.index(kind), N, d])
    groups = np.zeros(N, dtype=int) if kind == "identical" else np.arange(N) // 2
    turn = [np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(N)]
    H = [Q @ np.diag(np.linspace(0.5, 2, d) if d > 1 else rng.uniform(0.5, 2, 1)) @ Q.T for Q in turn]
    H = np.array([(each + each.T) / 2 for each in H])[groups]
    m, start = rng.normal(size=(N, d))[groups], 2 * rng.normal(size=(N, d))
    if kind == "identical":
        return At(H=H, m=m, start=m + start[:1])
    return At(H=H, m=m + 0.03 * rng.normal(size=(N, d)) / d**0.5, start=m[:1] + start)


VARIANTS = ("", "steps", "growing")
"""Steps of one size; steps that fall by `falling`; noise that grows with the distance, by `Growing`."""


def falling(t):
    """By what the step from theta_t is shorter than the one from theta_0."""
    return 2 / (t + 2)


@dataclass(frozen=True, kw_only=True, eq=False)
class Growing(At):
    """A gradient has z W (x - m) besides, W = P H with P the features in reverse: its variance grows by |grad R|^2."""

    z: Any = 0.0

    def own(self, x):
        return super().own(x) + self.z * self.slope(x)[..., ::-1]

    def peers(self, x):
        return super().peers(x) + np.broadcast_to(self.z, (len(x), x.shape[1], 1))[:, None] * self.slopes(x)[..., ::-1]


def started(kind: str, N: int, d: int, step: float, variant: str = "") -> At:
    given = problem(kind, N, d)
    given = replace(given, eta=step / given.beta)
    return Growing(**vars(given)) if variant == "growing" else given


def timed(at: At, t: int, variant: str, **drawn: Any) -> At:
    """What iteration t looks at."""
    return replace(at, t=t, eta=at.eta * (falling(t - 1) if variant == "steps" else 1.0), **drawn)


def coins(name: str, N: int) -> list[tuple[float, Any]]:
    """What an iteration tosses, with probabilities; participants are kept for a round."""
    if "participants" in OPTIONS.get(name, {}) and participants(N) < N:
        return [(1 / N, 1.0 - np.eye(N)[k][None, :, None]) for k in range(N)]
    if name in ("scaffnew", "scafflix"):
        return [(P, np.ones((1, 1, 1), bool)), (1 - P, np.zeros((1, 1, 1), bool))]
    return [(1.0, np.ones((1, N, 1)))]


def participants(N: int) -> int:
    """Of a round: all but one, or all where their sets are many."""
    return N - 1 if 1 < N < 6 else N


def held(name: str) -> int:
    """For how many iterations coins are kept."""
    return PERIOD if "participants" in OPTIONS.get(name, {}) else 1


# --- quantities: of models (S, N, d), client i ----------------------------------------------------------------


def _global(at: At, x, power: int):
    """(x - x*)^T H^power (x - x*) of the mean model x and the mean loss, with Hessian H and minimiser x*."""
    H = at.H.mean(0)
    away = x.mean(1) - np.linalg.solve(H, np.einsum("iab,ib->a", at.H, at.m) / len(at.H))
    return np.einsum("sa,ab,sb->s", away, np.linalg.matrix_power(H, power), away)


POINT = {
    "excess": lambda at, x, i: at.excess(x)[:, i],
    "last_distance": lambda at, x, i: ((x - at.m) ** 2).sum(-1)[:, i],
    "last_gradient": lambda at, x, i: (at.slope(x) ** 2).sum(-1)[:, i],
    "mean_excess": lambda at, x, i: at.excess(x).mean(1),
    "last_consensus": lambda at, x, i: ((x[:, :, None] - x[:, None]) ** 2).sum(-1).mean((1, 2)),
    "global_excess": lambda at, x, i: _global(at, x, 1) / 2,
    "global_distance": lambda at, x, i: _global(at, x, 0),
    "global_gradient": lambda at, x, i: _global(at, x, 2),
    "client_gradient": lambda at, x, i: (at.slope(x) ** 2).sum(-1).mean(1),
}
AVERAGE = {
    "random_iterate_excess": "excess", "average_gradient": "last_gradient",
    "average_client_gradient": "client_gradient", "average_consensus": "last_consensus",
    "average_global_excess": "global_excess", "average_mean_gradient": "global_gradient",
}  # fmt: skip
OF_MEAN = {"mean_iterate_excess": "excess"}
STOPPED = {
    "stopped_excess": "eps", "excess_while_running": "eps", "still_running": "eps", "hitting_time": "eps",
    "gradient_still_running": "G", "gradient_hitting_time": "G", "stopped_gradient": "G",
}  # fmt: skip
QUANTITIES = (*(name for name in POINT if name != "client_gradient"), *AVERAGE, *OF_MEAN, *STOPPED)

# --- in four words: of what, at which models, over which iterates, until when

OVER = {
    "last": lambda T: np.arange(T + 1) == T,
    "average": lambda T: (np.arange(T + 1) < T) / T,
    "linear": lambda T: 2 * (np.arange(T + 1) + 1) / ((T + 1) * (T + 2)),
    "half": lambda T: (np.arange(T + 1) >= T // 2) / (T - T // 2 + 1),
    "rounds": lambda T: (np.arange(T + 1) % PERIOD == 0) * (np.arange(T + 1) < T) / np.ceil(T / PERIOD),
}
"""The weights w_0, ..., w_T."""
LEVELS = {"excess": "eps", "gradient": "G"}
_POWERS = {"excess": 1, "distance": 0, "gradient": 2}
_ATS = ("client", "clients", "mean model", "client on mean loss", "clients on mean loss")
_UNTIL_T = [*product(_POWERS, _ATS), ("consensus", "clients"), ("psi", "clients")]
PRODUCT = tuple(
    "/".join(words)
    for words in (
        *((*point, over, how) for how, over, point in product(("values", "mean"), OVER, _UNTIL_T)
          if how == "values" or (over != "last" and point[0] != "psi")),
        *((*point, over, "tau") for point, over in product(_UNTIL_T, OVER) if point[0] in LEVELS and over != "last"),
    )
)  # fmt: skip
"""The mean of the values, the value at the mean of the models, or of the values before tau."""


def _at(at: At, of: str, where: str, x, i: int):
    if of == "consensus":
        return POINT["last_consensus"](at, x, i)
    if of == "psi":
        return x.shape[1] * _at(at, "distance", "clients on mean loss", x, i)
    if where in ("client", "clients"):
        name = {"excess": "excess", "distance": "last_distance", "gradient": "last_gradient"}[of]
        every = [POINT[name](at, x, k) for k in range(x.shape[1])]
        return every[i] if where == "client" else np.mean(every, axis=0)
    models = {"mean model": [x.mean(1)], "client on mean loss": [x[:, i]]}.get(where, list(x.swapaxes(0, 1)))
    half = 2 if of == "excess" else 1
    return np.mean([_global(at, each[:, None], _POWERS[of]) / half for each in models], axis=0)


def stops(quantity: str) -> bool:
    return quantity in STOPPED or quantity.endswith("/tau")


def level(at: At, name: str, i: int) -> float:
    """What eps and G are."""
    return LEVEL[name] * float(POINT["excess" if name == "eps" else "last_gradient"](at, at.start[None], i)[0])


def of_path(at: At, xs: list[np.ndarray], quantity: str, i: int) -> np.ndarray:
    """The quantity (S,) of models at t = 0, ..., T."""
    T = len(xs) - 1
    if "/" in quantity:
        of, where, over, how = quantity.split("/")
        w = OVER[over](T)
        if how == "mean":
            return _at(at, of, where, np.tensordot(w, np.array(xs), 1), i)
        v = np.array([_at(at, of, where, x, i) for x in xs])
        if how == "tau":
            v = v * np.logical_and.accumulate(v >= level(at, LEVELS[of], i), axis=0)
        return w @ v
    if quantity in POINT:
        return POINT[quantity](at, xs[-1], i)
    if quantity in AVERAGE:
        return np.mean([POINT[AVERAGE[quantity]](at, x, i) for x in xs[:-1]], axis=0)
    if quantity in OF_MEAN:
        return POINT[OF_MEAN[quantity]](at, np.mean(xs, axis=0), i)
    of = "excess" if STOPPED[quantity] == "eps" else "last_gradient"
    v = np.array([POINT[of](at, x, i) for x in xs])
    hit = v < level(at, STOPPED[quantity], i)
    tau = np.where(hit.any(0), hit.argmax(0), T + 1)
    stop = np.minimum(tau, T)
    return {
        "stopped_excess": v[stop, np.arange(len(stop))],
        "excess_while_running": v[T] * (tau >= T),
        "still_running": 1.0 * (tau > T),
        "hitting_time": 1.0 * stop,
        "stopped_gradient": np.sum([v[t - 1] * (tau >= t) for t in range(1, T + 1)], axis=0) / T,
    }[quantity.removeprefix("gradient_")]


# --- exact expected values ------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def moments(
    name: str, kind: str, N: int, d: int, step: float, variant: str = ""
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the whole path (x_0, ..., x_LONGEST): the mean, the covariance without noise and what one unit of sigma2 adds
    to it. The rule is affine: z' = A z + B n + sum_k z_k A_k z with independent n and z_k, found at unit vectors; z
    ends with the path so far and 1."""
    at, size = started(kind, N, d, step, variant), N * d

    def flat(state):
        return np.concatenate([np.broadcast_to(each, (len(state[0]), N, d)).reshape(-1, size) for each in state], 1)

    z0 = flat(RULES[name](at, at.start[None]))[0]
    own = len(z0)
    z0 = np.concatenate((z0, z0[:size], np.zeros(LONGEST * size), [1.0]))  # models come first
    n = len(z0) - 1

    def maps(t: int, coin: Any, **grown: Any) -> tuple[np.ndarray, np.ndarray]:
        units = np.concatenate((np.eye(n), np.zeros((1 + size, n))))
        noise = np.zeros((len(units), N, d))
        noise[n + 1 :] = np.eye(size).reshape(-1, N, d)
        state = [part.reshape(-1, N, d) for part in np.split(units[:, :own], own // size, axis=1)]
        now = timed(at, t, variant, noise=noise, coin=coin, **grown)
        after = np.concatenate((flat(RULES[name](now, *state)), units[:, own:]), 1)
        after[:, own + t * size : own + (t + 1) * size] = after[:, :size]
        A = np.zeros((n + 1, n + 1))
        A[:n, n], A[:n, :n], A[n, n] = after[n], (after[:n] - after[n]).T, 1
        return A, np.vstack(((after[n + 1 :] - after[n]).T, np.zeros((1, size))))

    def stepped(pair, t: int, coin: Any):
        A, B = maps(t, coin)
        units = np.eye(N)[:, None, :, None] if variant == "growing" else []
        every = [A, *(maps(t, coin, z=unit)[0] - A for unit in units)]
        quiet, noisy = (sum(each @ M @ each.T for each in every) for M in pair)
        return quiet, noisy + B @ B.T / d

    tossed, keep = coins(name, N), held(name)
    now = [(np.outer(z0, z0), np.zeros((n + 1, n + 1)))] * len(tossed)
    for t in range(1, LONGEST + 1):
        if (t - 1) % keep == 0:  # coins are tossed: what went apart comes together
            now = [tuple(sum(p * each[k] for (p, _), each in zip(tossed, now)) for k in (0, 1))] * len(tossed)
        now = [stepped(pair, t, coin) for pair, (_, coin) in zip(now, tossed)]
    quiet, noisy = (sum(p * each[k] for (p, _), each in zip(tossed, now)) for k in (0, 1))
    mu = quiet[own:n, n]
    return mu, quiet[own:n, own:n] - np.outer(mu, mu), noisy[own:n, own:n]


def exact(
    name: str, kind: str, N: int, d: int, step: float, T: int, quantity: str, i: int, variant: str = ""
) -> tuple[float, float]:
    """The expected quantity without noise, and what one unit of sigma2 adds: it is a quadratic q of the path, and
    E q = q(mean) + sum_j (q(mean + v_j) - 2 q(mean) + q(mean - v_j)) / 2 with the covariance sum_j v_j v_j^T."""
    at, part = problem(kind, N, d), slice(0, (T + 1) * N * d)
    mean, quiet, noisy = moments(name, kind, N, d, step, variant)
    mu = mean[part]

    def of(paths):
        return of_path(at, list(paths.reshape(-1, T + 1, N, d).swapaxes(0, 1)), quantity, i)

    def spread(C):
        lengths, Q = np.linalg.eigh(C[part, part])
        v = (np.sqrt(np.maximum(lengths, 0)) * Q).T
        return float((of(mu + v) - 2 * of(mu[None]) + of(mu - v)).sum() / 2)

    return float(of(mu[None])[0]) + spread(quiet), spread(noisy)


# --- paths ----------------------------------------------------------------------------------------------------

PATHS = 1 << 13


@lru_cache(maxsize=64)
def paths(
    name: str, kind: str, N: int, d: int, step: float, sigma2: float, variant: str = ""
) -> tuple[At, list[np.ndarray], np.ndarray | None]:
    """Models at t = 0, ..., `LONGEST`, and the weights of the paths; where nothing but coins is drawn, all of them."""
    at, rng, tossed = started(kind, N, d, step, variant), np.random.default_rng(20), coins(name, N)
    rounds, odds, weights = -(-LONGEST // held(name)), np.array([p for p, _ in tossed]), None
    index = rng.choice(len(tossed), size=(PATHS, rounds), p=odds)
    if not sigma2 and not draws_more(name):
        index = np.array(list(product(range(len(tossed)), repeat=rounds)))
        weights = odds[index].prod(1)
    S = len(index)
    state = RULES[name](at, np.broadcast_to(at.start, (S, N, d)))
    xs = [state[0]]
    for t in range(1, LONGEST + 1):
        noise, second = (sigma2 / d) ** 0.5 * rng.normal(size=(2, S, N, d))
        coin = np.concatenate([each for _, each in tossed])[index[:, (t - 1) // held(name)]]
        drawn = {"noise": noise, "second": second, "coin": coin, "pairs": rng.random((S, N, N)) < 1 / N}
        drawn |= {"z": rng.normal(size=(S, N, 1))} if variant == "growing" else {}
        now = timed(at, t, variant, **drawn)
        state = RULES[name](now, *state)
        xs.append(state[0])
    return at, xs, weights


def draws_more(name: str) -> bool:
    """Than coins of few outcomes."""
    return name == "cobo"


def of_paths(
    name: str, kind: str, N: int, d: int, step: float, sigma2: float, T: int, quantity: str, i: int, variant: str = ""
) -> float:
    """The mean over the paths."""
    at, xs, weights = paths(name, kind, N, d, step, sigma2, variant)
    return float(np.average(of_path(at, xs[: T + 1], quantity, i), weights=weights))
