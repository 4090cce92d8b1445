"""Constants of logistic losses that hold on balls around the optima, where they are far better than everywhere.

Client i's ball is B_i = {theta: |theta - theta_i*| <= radius_i}. With signed rows u = y x, margins z = u . theta and
w(z) = s(z) s(-z), s the logistic function, the Hessian of client k is mean(w(z_j) u_j u_j') + r I. Over a ball of
radius t around theta_i* a margin stays within |u_j| t of its value at theta_i*, and w is even and falls with |z|: that
gives weights lower_j <= w(z_j) <= upper_j, and matrices L_ik(t) <= Hessian of k <= U_ik(t) in the Loewner order.
Hence, on B_i:

    mu_i       >= lambda_min(L_ii) + r, also as a PL constant: B_i is convex and has the minimiser in it
    Lambda_ik  =  max(lambda_max(U_ii - L_ik), lambda_max(U_ik - L_ii)), a Lipschitz constant of grad R_i - grad R_k
    |grad R_i - grad R_k| <= a_ik + int_0^|theta - theta_i*| Lambda_ik(t) dt,  a_ik = |grad R_k(theta_i*)|

and |theta - theta_i*| is at most radius_i, and at most |grad R_i(theta)| / mu_i. The first gives a bound b_ik with c =
0, the second a_ik + (Lambda_ik / mu_i) |grad R_i|: for (a + s |grad R_i|)^2 the best affine pair of Assumption 3 has
at |grad R_i|^2 = G the ratio (s + a / sqrt(G))^2.

Large balls are better served by a straight line in the place of s. Put s(-z) = 1/2 - h z + e(z) for a slope h >= 0,
m_k = mean(u_j), S_k = mean(u_j u_j'). Then grad R_i - grad R_k = (m_k - m_i) / 2 + h (S_i - S_k) theta + rest, and
|rest| <= E_i + E_k, E_k = min(mean(e_j |u_j|), sqrt(mean(e_j^2) lambda_max(S_k))), e_j the largest |e| over the ball.
In the same way s(-z)^2 <= alpha_j - h z with alpha_j the largest s(-z)^2 + h z over the ball bounds the second moment
of a stochastic gradient by mean(alpha_j |u_j|^2) - h q . theta, q = mean(|u_j|^2 u_j), linear in theta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from suffice.bounds import GradientDissimilarity
from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers

from .logistic_optimum import gradient

MOST_WORK = 4e10
"""If it takes more multiplications, Lambda_ik is not computed for pairs: b then holds everywhere, slope is infinite."""
SHELLS = 8
"""Steps of the integral, fewer where they cost more than a few seconds. Lambda grows with t: upper sums are bounds."""
SLOPES = np.linspace(0, 0.25, 26)
"""These h are tried: s falls with a slope of at most 1/4."""
OUTWARD = 1 + 1e-9
"""It covers the rounding of sums, of eigenvalues and of the optimum."""


@dataclass(frozen=True, kw_only=True)
class BallCertificate(GradientDissimilarity):
    """|grad R_i - grad R_k| <= min(b, a + s |grad R_i|) on client i's ball; as `GradientDissimilarity` it is (b^2, 0).

    intercept (N, N) a_ik [loss / theta], slope (N, N) s_ik, infinite where unknown
    """

    intercept: np.ndarray
    slope: np.ndarray

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("intercept", "slope"):
            object.__setattr__(self, name, as_numbers(name, getattr(self, name), self.b2.shape, infinite=True))

    def similarity(self, level: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            ratio = (self.slope + self.intercept / np.sqrt(np.asarray(level, dtype=float))[..., None]) ** 2
        # both routes are good to a few roundings of 1: sums over clients absorb that, as for `GradientDissimilarity`
        return np.maximum(super().similarity(level), np.nan_to_num(np.maximum(1 - ratio, 0), nan=0.0))

    def entry_level(self, similarity: float) -> np.ndarray:
        room = np.sqrt(1 - similarity) - self.slope
        with np.errstate(all="ignore"):
            level = np.where(room > 0, (self.intercept / room) ** 2, np.inf)
        level = np.where((self.intercept == 0) & (room >= 0), 0.0, level)
        return np.minimum(super().entry_level(similarity), level)


@dataclass(frozen=True, kw_only=True)
class BallConstants:
    """What holds on the balls: mu (N,), sigma2 (N,) over all clients' balls, and the pairs."""

    mu: np.ndarray
    sigma2: np.ndarray
    pairs: BallCertificate


def ball_constants(
    rows: Sequence[np.ndarray],
    optimum: np.ndarray,
    radius: np.ndarray,
    *,
    ridge: float,
    batch: int,
    everywhere: np.ndarray,
    names: Sequence[str],
) -> BallConstants:
    """From signed rows u (n_i, d), minimisers (N, d), radii (N,) and b2 (N, N) that hold for all models.

    Raises `InputError` where no mu > 0 is certified: separable or rank-deficient rows without regularisation.
    """
    n, d = optimum.shape
    work = sum(len(u) for u in rows) * n * d * d * 2.0 + n**2 * d**3 * 20.0
    mu = np.array([_mu(u, optimum[i], radius[i], ridge) for i, u in enumerate(rows)])
    for i in np.flatnonzero(mu <= 1e-60).tolist():
        remedy = "no curvature is certified on the ball around its optimum; use regularisation 0.1, for example"
        raise InputError(f"regularisation, for client {names[i]}", ridge, remedy)
    slopes = np.stack([gradient(u, optimum, ridge) for u in rows], axis=1)  # [i, k] (N, N, d)
    own = slopes.diagonal(axis1=0, axis2=1).T  # 0 up to the rounding of the optimum, which is counted
    intercept = np.linalg.norm(slopes - own[:, None], axis=-1) * OUTWARD
    b, slope = np.minimum(np.sqrt(everywhere), OUTWARD * _by_lines(rows, optimum, radius)), np.full((n, n), np.inf)
    if work <= MOST_WORK:
        shells = int(np.clip(MOST_WORK / (8 * work), 1, SHELLS))
        steps = [_lipschitz(rows, optimum, radius * (step + 1) / shells) for step in range(shells)]
        b = np.minimum(b, intercept + OUTWARD * radius[:, None] * np.mean(steps, axis=0))
        slope = OUTWARD * steps[-1] / mu[:, None]
        intercept = intercept + slope * np.linalg.norm(own, axis=-1)[:, None]
    same = (everywhere == 0) | np.eye(n, dtype=bool)
    pairs = BallCertificate(
        b2=np.where(same, 0.0, b**2),
        c=np.zeros((n, n)),
        intercept=np.where(same, 0.0, intercept),
        slope=np.where(same, 0.0, slope),
    )
    sigma2 = np.array([max(_variance(u, theta, t) for theta, t in zip(optimum, radius)) for u in rows])
    return BallConstants(mu=mu, sigma2=sigma2 * OUTWARD / batch, pairs=pairs)


def _margins(u: np.ndarray, centre: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Margins at the centre, and how far each may move within the ball."""
    return u @ centre, np.linalg.norm(u, axis=1) * t


def _weights(u: np.ndarray, centre: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of w over the ball of radius t around the centre, for every row."""
    z, move = _margins(u, centre, t)
    return _curvature(np.abs(z) + move), _curvature(np.maximum(np.abs(z) - move, 0))


def _curvature(z: np.ndarray) -> np.ndarray:
    return expit(z) * expit(-z)


def _moment(u: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return (u * weights[:, None]).T @ u / len(u)


def _mu(u: np.ndarray, centre: np.ndarray, t: float, ridge: float) -> float:
    spectrum = np.linalg.eigvalsh(_moment(u, _weights(u, centre, t)[0]))
    return max(ridge, ridge + spectrum[0] - 1e-13 * spectrum[-1]) if ridge else spectrum[0] - 1e-13 * spectrum[-1]


def _lipschitz(rows: Sequence[np.ndarray], optimum: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Lambda_ik on the ball of `radius[i]` around client i's optimum, (N, N)."""
    result = np.zeros((len(rows), len(rows)))
    for i, (centre, t) in enumerate(zip(optimum, radius)):
        envelopes = [[_moment(u, weights) for weights in _weights(u, centre, t)] for u in rows]
        low, high = (np.stack(side) for side in zip(*envelopes))
        above = np.linalg.eigvalsh(high[i] - low)[:, -1]
        below = np.linalg.eigvalsh(high - low[i])[:, -1]
        result[i] = np.maximum(np.maximum(above, below), 0)
        result[i, i] = 0
    return result


def _by_lines(rows: Sequence[np.ndarray], optimum: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Bounds of |grad R_i - grad R_k| on client i's ball by a line in the place of s, (N, N)."""
    mean = np.stack([u.mean(0) for u in rows])
    second = np.stack([u.T @ u / len(u) for u in rows])
    top = np.linalg.eigvalsh(second)[:, -1]
    spread = np.zeros((len(rows), len(rows)))
    for i in range(1, len(rows)):
        spread[i, :i] = spread[:i, i] = np.abs(np.linalg.eigvalsh(second[i] - second[:i])[:, [0, -1]]).max(1)
    result = np.full((len(rows), len(rows)), np.inf)
    for i, (centre, t) in enumerate(zip(optimum, radius)):
        shift, turn = (mean - mean[i]) / 2, (second[i] - second) @ centre
        rest = np.stack([_off_line(u, centre, t, largest) for u, largest in zip(rows, top)])  # (N, slopes)
        for h, missed in zip(SLOPES, rest.T):
            value = np.linalg.norm(shift + h * turn, axis=1) + h * t * spread[i] + missed[i] + missed
            result[i] = np.minimum(result[i], value)
    return result


def _off_line(u: np.ndarray, centre: np.ndarray, t: float, top: float) -> np.ndarray:
    """E_k for every slope. e is odd, and |e| is largest at the end of a row's range or where w = h."""
    z, move = _margins(u, centre, t)
    end, size = np.abs(z) + move, np.linalg.norm(u, axis=1)
    result = []
    for h in SLOPES:
        s = (1 + np.sqrt(max(1 - 4 * h, 0.0))) / 2  # s (1 - s) = h
        turning = np.log(s / (1 - s)) if s < 1 else np.inf
        e = np.maximum(np.abs(_line_error(end, h)), np.abs(_line_error(np.minimum(turning, end), h)))
        result.append(min((e * size).mean(), np.sqrt((e**2).mean() * top)))
    return np.array(result)


def _line_error(z: np.ndarray, h: float) -> np.ndarray:
    return expit(-z) - 0.5 + h * z


def _second_moment(u: np.ndarray, centre: np.ndarray, t: float) -> float:
    """The least bound of mean(s(-z)^2 |u|^2) over the ball among the slopes."""
    z, move = _margins(u, centre, t)
    square = (u**2).sum(1)
    q = (u * square[:, None]).mean(0)
    result = []
    for h in SLOPES:
        ends = [z - move, z + move]
        # s(-z)^2 + h z has a slope h - 2 p^2 (1 - p) at p = s(-z): stationary where that cubic vanishes
        roots = np.roots([2.0, -2.0, 0.0, h])
        inside = roots.real[(np.abs(roots.imag) < 1e-12) & (roots.real > 0) & (roots.real < 1)]
        points = ends + [np.clip(-logit(p), *ends) for p in inside]
        alpha = np.max([expit(-point) ** 2 + h * point for point in points], axis=0)
        result.append((alpha * square).mean() - h * (q @ centre) + h * t * np.linalg.norm(q))
    return float(min(result))


def _variance(u: np.ndarray, centre: np.ndarray, t: float) -> float:
    """A bound of Var[-s(-z) u] over the ball: of E|.|^2, or (deviation at the centre + its change)^2 if smaller.

    The deviation sqrt(Var) is a norm, so it changes by at most sqrt(E |s(-z) - s(-z_centre)|^2 |u|^2).
    """
    z, move = _margins(u, centre, t)
    square = (u**2).sum(1)
    error, largest, least = expit(-z), expit(move - z), expit(-z - move)
    mean = error @ u / len(u)
    at_centre = max((error**2 * square).mean() - mean @ mean, 0.0)
    change = (np.maximum(largest - error, error - least) ** 2 * square).mean()
    return float(min(_second_moment(u, centre, t), (np.sqrt(at_centre) + np.sqrt(change)) ** 2))
