"""Models of all sites when they scatter around a centre: theta_k ~ N(m, s Omega), m ~ N(0, s T), noise of variance s
r_k.

With S_k, c_k divided by r_k and Omega = L L' (which may be singular):
    V_k = (S_k + Omega^-1)^-1 = L (I + L'S_k L)^-1 L',   W_k = S_k - S_k V_k S_k,   w_k = c_k - S_k V_k c_k:
integrating theta_k out leaves exp(-(m'W_k m - 2 w_k'm)/2s) for the centre, so that
    C = (T^-1 + sum_k W_k)^-1,   m = C sum_k w_k,   theta_k = m + V_k (c_k - S_k m).
s cancels from the models: only the ratio of scatter to noise counts. theta_k has the posterior covariance
s (V_k + F_k C F_k') with F_k = I - V_k S_k (Lindley and Smith 1972, section 3).

*Columns that never vary at a site* (gaps, levels of a category that it lacks). Its rows cannot tell the column's
coefficient from the intercept; the prior alone would share out the site's level between them. With p the share of all
rows with a gap, a the variance of the level and a'/(p (1 - p)) that of the coefficient, a site whose level is off by
delta would get the offset (r - 1)(1 - p)/(p + (1 - p) r) delta, r = a/a', for a row with a gap: for r near 0
-(1 - p)/p delta, at p = 2 % fifty times the level. Learnt correlations act alike, and no held-out fold objects, having
no gap either. So site k has the prior P_k Omega P_k, where P_k keeps the intercept and the columns that vary: the
coefficient is the centre's, and the level the intercept's alone.

*Influence.* c_k = S_k thhat_k and w_k = W_k thhat_k, so theta_i = sum_k M_ik thhat_k with M_ik = F_i C W_k, plus
V_i S_i for k = i. The M_ik of a row add to I but for what T takes. tr M_ik / d is the share of site k in site i's
model, in any coordinates.

*Random coefficients*: Omega learnt, by expectation and maximisation from messages.

One step takes the posterior means and covariances of `posterior`, the second moment of the sites about their centre
    E = sum_k (theta_k - m)(theta_k - m)' + s (V_k + G_k C G_k'),   G_k = V_k S_k,
and sets Omega = (E + nu diag(E)/N) / (N + nu), nu = d + 1: the most likely covariance, drawn to its own diagonal with
the weight of nu sites. A site where column i or j never varies adds Omega_ij itself to E, the expected value of what it
says nothing about. Without it few sites feign correlations (Omega has d(d + 1)/2 numbers); the diagonal, unlike a
multiple of a fixed matrix, lets an intercept scatter that slopes do not share. Scaling a column scales the answer.

The noise is one variance for all sites, or one each, (E rss_k + h s)/(n_k + h) with s their harmonic mean and h = 10
rows: a site's own residuals, trusted once it has more than ten.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.simulate.data.folds import Messages

STEPS = 20
"""Steps from the start, a fixed number: they are part of the rule, and do not ask for convergence."""
OWN_NOISE = 10.0
"""A site's noise is estimated from its own rows and the common noise, which counts for so many rows."""


class Given:
    """Rows of all sites with the priors theta_k ~ N(m_k, Omega) integrated out: with `root` L (d, d) or (B, d, d),
    Omega = root root', P the diagonal `varying` (B, N, d) and relative `noise` r (B, N), `second` S, `inverse`
    (I + L'P S P L)^-1, `seen`, that times L'P S, and what is left for m_k, `information` W (B, N, d, d) and `scores` w
    (B, N, d)."""

    def __init__(self, fits: Messages, root: np.ndarray, noise: np.ndarray | None = None) -> None:
        self.second, cross, self.root, self.varying = fits.second, fits.cross, root, fits.varying
        if noise is not None:
            self.second, cross = self.second / noise[..., None, None], cross / noise[..., None]
        left = np.ascontiguousarray(_times(self.second * self.varying[..., None, :], root).swapaxes(-1, -2))
        self.inverse = np.linalg.inv(np.eye(fits.size) + _times(left * self.varying[..., None, :], root))
        self.seen = self.inverse @ left
        self.own = (self.inverse @ ((self.varying * cross) @ root)[..., None])[..., 0]
        self.information = self.second - left.swapaxes(-1, -2) @ self.seen
        self.scores = cross - (left.swapaxes(-1, -2) @ self.own[..., None])[..., 0]

    @property
    def lost(self) -> np.ndarray:
        """(B, d, d): W = S - S V S has lost digits of the size of S: what is below them is no information."""
        size = self.second.shape[-1]
        return np.trace(self.second.sum(1), axis1=-2, axis2=-1)[:, None, None] * 1e-13 / size * np.eye(size)

    def models(self, centre: np.ndarray) -> np.ndarray:
        """Posterior means (B, N, d) for m_k = `centre` (B, N or 1, d)."""
        seen = (self.seen @ centre[..., None])[..., 0]
        return centre + self.varying * ((self.own - seen) @ self.root.swapaxes(-1, -2))


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """models (B, N, d) for B fits; `centre` m (B, 1, d), `spread` C (B, d, d), of the rows `given` the sites' prior."""

    models: np.ndarray
    centre: np.ndarray
    spread: np.ndarray
    given: Given

    def uncertainty(self) -> tuple[np.ndarray, np.ndarray]:
        """sum_k V_k + G_k C G_k' (B, d, d), G_k = V_k S_k, and tr S_k (V_k + F_k C F_k') (B, N): as S F = W and
        L'P W = seen, tr S F C F' = tr W C (I - G') = tr W C - tr seen C seen'."""
        given, up = self.given, self.given.root.swapaxes(-1, -2)
        moved = _times(given.seen, self.spread)
        half = _times(given.inverse + moved @ given.seen.swapaxes(-1, -2), up).swapaxes(-1, -2)
        covariance = given.varying[..., None] * _times(half, up) * given.varying[..., None, :]
        own = half.shape[-1] - np.trace(given.inverse, axis1=-2, axis2=-1)
        centre = (given.information * self.spread[:, None] - moved * given.seen).sum((-2, -1))
        return covariance.sum(1), own + centre

    @property
    def shares(self) -> np.ndarray:
        """(N, N) shares of column k in the model of row i, of the first fit; rows add to 1 but for what T takes."""
        gain = self.given.varying[0][..., None] * (self.given.root @ self.given.seen[0])
        sites, size = gain.shape[:2]
        outside = (np.eye(size) - gain) @ self.spread[0]
        shares = outside.reshape(sites, -1) @ self.given.information[0].reshape(sites, -1).T / size
        shares[np.diag_indices(sites)] += np.trace(gain, axis1=-2, axis2=-1) / size
        return shares


def _times(each: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """`each` (B, N, d, d) times one `matrix` (d, d) or (B, d, d): one large product is faster than many small ones."""
    return (each.reshape(len(each), -1, each.shape[-1]) @ matrix).reshape(each.shape)


def posterior(fits: Messages, root: np.ndarray, precision: np.ndarray, noise: np.ndarray | None = None) -> Posterior:
    """Posterior means under Omega = root root', `root` (d, d) or (B, d, d), T^-1 = `precision` (B, d, d) and
    relative `noise` r (B, N)."""
    given = Given(fits, root, noise)
    spread = np.linalg.inv(given.information.sum(1) + precision + given.lost)
    centre = (spread @ given.scores.sum(1)[..., None]).swapaxes(-1, -2)
    return Posterior(models=given.models(centre), centre=centre, spread=spread, given=given)


def with_centre(fits: Messages, models: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """`models` (B, N, d) with the coefficients of `centre` (B, 1, d) in columns that never vary at a site, and the same
    predictions for all of its rows. Of use where a model of no prior takes these coefficients from a ridge."""
    move = np.where(fits.varying, 0.0, centre - models)
    move[..., 0] = -(fits.mean * move).sum(-1)
    return models + move


def root_of(covariance: np.ndarray) -> np.ndarray:
    """L with L L' = `covariance` (..., d, d); what rounding made negative is 0."""
    values, vectors = np.linalg.eigh((covariance + covariance.swapaxes(-1, -2)) / 2)
    return vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]


def random_coefficients(
    fits: Messages,
    scatter: np.ndarray,
    noise: float,
    precision: np.ndarray,
    *,
    least: float,
    own_noise: bool,
    known: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Models (B, N, d) and centres (B, 1, d) after `STEPS` steps from Omega = `scatter` (d, d) and variance `noise` in
    all B fits, and of the first fit Omega (d, d) and the variances (1, N). Variances are at least `least`; a `known`
    one stays as it is."""
    count, sites = fits.rows.shape
    size = scatter.shape[0]
    total = np.maximum(fits.rows.sum(1), 1e-300)
    variance = np.full((count, sites), noise)
    omega = np.tile(scatter, (count, 1, 1))
    shrink = size + 1
    varying = fits.varying.astype(float)
    unseen = sites - varying.swapaxes(1, 2) @ varying
    for _ in range(STEPS):
        found = posterior(fits, root_of(omega), precision, variance)
        apart = found.models - found.centre
        covariance, uncertain = found.uncertainty()
        moment = apart.swapaxes(-1, -2) @ apart + covariance + unseen * omega
        own = np.diagonal(moment, axis1=1, axis2=2)[:, :, None] * np.eye(size) / sites
        omega = (moment + shrink * own) / (sites + shrink)
        rss = fits.loss(found.models) + variance * uncertain
        if own_noise:
            common = 1 / (1 / variance).mean(1, keepdims=True)
            variance = np.maximum((rss + OWN_NOISE * common) / (fits.rows + OWN_NOISE), least)
        elif not known:
            variance = np.repeat(np.maximum(rss.sum(1) / total, least)[:, None], sites, axis=1)
        del found  # several matrices of each site and fold, before the next ones are made
    found = posterior(fits, root_of(omega), precision, variance)
    return found.models, found.centre, omega[0], variance[:1]
