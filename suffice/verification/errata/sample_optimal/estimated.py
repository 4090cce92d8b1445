"""Errata of Section 6: linear models, Theorems 4 and 5, Corollary 2."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from ...claims.sample_optimal.estimated import Clusters
from ...claims.sample_optimal.star import one_loss
from ..erratum import Finding
from .paper import constant, false, hypothesis, loose, typo


def _one(value: float) -> np.ndarray:
    return np.array([float(value)])


def _moments() -> tuple[np.ndarray, np.ndarray]:
    """E z z^T of z = (1, 0.1) and z = (1, -0.1)."""
    first, second = (np.outer(z, z) for z in (np.array([1.0, 0.1]), np.array([1.0, -0.1])))
    return first, second


_PAIR = {"d": 1, "a": "1", "b": [0.1, -0.1]}


@false(
    location="Section 6, before Assumption 4",
    claim="the gradients at all x_i* are D*-Lipschitz in xi, so that d_H <= D* |E xi_i - E xi_j| bounds weak b_ij",
    truth="The gradients are sqrt(1 + D*^2)-Lipschitz, and that is the factor, because the gradient applies xi to (x, "
    "-1).",
    key="sample-optimal/linear-dissimilarity",
)
def linear_dissimilarity() -> Finding:
    first, second = _moments()
    optimum, other = (float(G[0, 1] / G[0, 0]) for G in (first, second))
    gap = abs(float(second[0, 0]) * optimum - float(second[0, 1]))
    inputs = {**_PAIR, "D*": 0.1, "norm": "Frobenius", "quantity": "|grad f_2(x_1*)|"}
    ball = max(abs(optimum), abs(other))
    return Finding(inputs=inputs, printed=ball * float(np.linalg.norm(first - second)), measured=gap)


def _variance(u: float) -> float:
    """Variance of the gradient a (a u - e) for standard normal a and label noise e, by Gauss-Hermite quadrature."""
    x, w = np.polynomial.hermite_e.hermegauss(12)
    w = w / w.sum()
    gradient = x[:, None] * (x[:, None] * u - x)
    mean = w @ gradient @ w
    return float(w @ (gradient - mean) ** 2 @ w)


@hypothesis(
    location="Section 6, Assumption 1 for linear models",
    claim="Theorem 5 asks of linear models that the gradients' variance is at most one sigma^2 for all x",
    truth="With random features the variance grows like |x - x*|^2, so that Assumption 1 does not hold.",
    key="sample-optimal/theorem-2-least-squares",
    direction="equality",
)
def linear_noise() -> Finding:
    inputs = {"d": 1, "a": "N(0, 1)", "b": "a x* + N(0, 1)", "x - x*": 100, "quantity": "variance of the gradient, "
              "printed a constant: its value at x*"}  # fmt: skip
    return Finding(inputs=inputs, printed=_variance(0.0), measured=_variance(100.0))


@typo(
    location="Assumptions 4 and 5",
    claim="the xi_i are centred, and their means are Delta > 0 apart",
    truth="xi_i - E xi_i is meant, because centred xi_i have Delta = 0.",
    key="sample-optimal/theorem-5-samples",
    direction="equality",
)
def assumption_4_centred() -> Finding:
    first, second = _moments()
    means = [G - G for G in (first, second)]  # E[xi_i - E xi_i]
    inputs = {**_PAIR, "quantity": "Delta, positive by Assumption 5, when the xi_i are centred"}
    return Finding(
        inputs=inputs,
        printed=float(np.linalg.norm(first - second)),
        measured=float(np.linalg.norm(means[0] - means[1])),
    )


@typo(
    location="Assumption 4",
    claim="d_eff = |Sigma|_2/nu^2, nu^2 the largest eigenvalue of Sigma",
    truth="The printed ratio is 1 for every Sigma; tr(Sigma)/nu^2 is meant.",
    key="sample-optimal/theorem-5-samples",
    direction="equality",
)
def assumption_4_dimension() -> Finding:
    Sigma = np.eye(10)
    top = float(np.linalg.eigvalsh(Sigma)[-1])
    inputs = {"Sigma": "identity in R^10", "quantity": "effective dimension, E|xi - E xi|^2/nu^2"}
    return Finding(inputs=inputs, printed=float(np.linalg.norm(Sigma, 2)) / top, measured=float(np.trace(Sigma)) / top)


@loose(
    location="Assumption 4",
    claim="xi is called Sigma-subgaussian where P(<xi, y> >= u) <= exp(-u^2/(2 y^T Sigma y))",
    truth="The print is a definition; the one by E exp <y, xi> <= exp(y^T Sigma y/2) is stronger: it gives Var <xi, y> "
    "<= y^T Sigma y, and the tails give a multiple of that.",
    key="sample-optimal/theorem-5-samples",
    direction="other",
)
def assumption_4_tail() -> Finding:
    # symmetric xi with P(xi >= u) = min(1/2, exp(-u^2/2)): E xi^2 = 4 int u P(xi >= u) du
    edge = np.sqrt(2 * np.log(2))
    x, w = np.polynomial.legendre.leggauss(60)
    below, above = (edge * (x + 1) / 2, edge / 2 * w), (edge + 6 * (x + 1), 6 * w)
    second = 4 * sum(float((w * u * np.minimum(0.5, np.exp(-(u**2) / 2))).sum()) for u, w in (below, above))
    inputs = {"xi": "symmetric, P(xi >= u) = min(1/2, exp(-u^2/2))", "Sigma": 1,
              "quantity": "E xi^2, against Sigma"}  # fmt: skip
    return Finding(inputs=inputs, printed=1.0, measured=second)


@typo(
    location="Theorem 5",
    claim="the exponent is S max(Delta^2 - 2u, 2u^2)/(8 nu^2)",
    truth="2u has the unit of Delta^2 and nu^2, and 2u^2 has not: a probability would depend on the unit of xi.",
    key="sample-optimal/theorem-5",
    direction="equality",
)
def theorem_5_exponent() -> Finding:
    # the same data with xi in a unit ten times smaller: u, Delta^2 and nu^2 grow by 100
    def exponent(second: float, unit: float) -> float:
        u, gap2, nu2 = 0.4 * unit**2, unit**2, unit**2
        return max(gap2 - 2 * u, 2 * u**second) / (8 * nu2)

    inputs = {"u": 0.4, "Delta": 1, "nu": 1, "quantity": "exponent after over before a change of the unit of xi by 10"}
    printed, measured = (exponent(power, 10.0) / exponent(power, 1.0) for power in (2, 1))
    return Finding(inputs=inputs, printed=printed, measured=measured)


def _merged(mu: float, D: float) -> float:
    """lim F of two clusters of equal quadratics, minimisers D apart, that are taken for one."""
    values = {"beta": _one(mu), "kappa": _one(1), "size": _one(2), "apart": _one(D), "start": _one(0), "kind": _one(1)}
    return float(Clusters(values, _one(0), _one(1 / mu), _one(1)).average(_one(5))[0])


@false(
    location="Theorem 5",
    claim="the bias 4 u^2/mu arises where 2u >= Delta",
    truth="u compares with Delta^2, so that thresholds u >= Delta^2 link clusters.",
    key="sample-optimal/theorem-5",
)
def theorem_5_indicator() -> Finding:
    # a = 1 and b = +-m, always: xi is known exactly, Delta^2 = |E xi_1 - E xi_2|^2 = 8 m^2, minimisers are 2 m apart.
    # Delta^2 <= u < Delta/2: everybody is linked, and the printed indicator is 0
    mu, m, u, S, nu2 = 1.0, 0.075, 0.05, 1e6, 1.0
    gap = 8**0.5 * m
    exponent = S * max(gap**2 - 2 * u, 2 * u**2) / (8 * nu2)
    printed = (2 * m**2 * (2 * mu * m) * np.exp(-exponent) + 4 * u**2 * (2 * u >= gap)) / mu
    inputs = {"d": 1, "a": 1, "b": [m, -m], "f_i": "(x - b)^2/2", "Delta": round(gap, 6), "u": u, "S": "10^6", "nu": 1,
              "sigma": 0, "K": "infinite", "quantity": "F^K of two clusters"}  # fmt: skip
    return Finding(inputs=inputs, printed=float(printed), measured=_merged(mu, 2 * m))


@constant(
    location="Theorem 5",
    claim="the probability of misjudged pairs is multiplied by 2 D*^2 b_max/mu, the bias that they can cause",
    truth="The bias is at most b_max^2/(2 mu); D*^2 b_max has another unit, and the bias can be larger.",
    key="sample-optimal/theorem-5",
    direction="upper",
)
def theorem_5_bias() -> Finding:
    mu, ball = 100.0, 1.0
    b_max = 2 * mu * ball
    inputs = {"d": 1, "a": 10, "b": [10, -10], "f_i": "50 (x -+ 1)^2", "D*": 1, "b_max": b_max, "sigma": 0,
              "K": "infinite", "quantity": "F^K of two clusters when all pairs are linked"}  # fmt: skip
    return Finding(inputs=inputs, printed=2 * ball**2 * b_max / mu, measured=_merged(mu, 2 * ball))


@constant(
    location="Theorem 5",
    claim="the bias has the probability that one pair is misjudged, without the number M of clusters",
    truth="An agent can be linked to each of the M - 1 others, so that the weight on them can be many times the "
    "printed one.",
    key="sample-optimal/theorem-5-samples",
    direction="equality",
)
def theorem_5_clusters() -> Finding:
    # 400 clusters of one agent. Agent 1 knows its own mean; the mean of agent j errs along e_j, independently, so that
    # agent 1 links to it with probability q = Phi(-z) - Phi(-3z), z = Delta/2 over the deviation.
    M, z = 400, 2.3263478740408408
    q = float(np.exp(log_ndtr(-z)) - np.exp(log_ndtr(-3 * z)))
    linked = np.arange(M)
    log_choose = np.append(0, np.cumsum(np.log((M - linked[1:]) / linked[1:])))
    chance = np.exp(log_choose + linked * np.log(q) + (M - 1 - linked) * np.log1p(-q))
    inputs = {"C": 1, "M": M, "pair misjudged with probability": round(q, 6),
              "quantity": "E of the weight that agent 1 gives to other clusters"}  # fmt: skip
    return Finding(inputs=inputs, printed=q, measured=float((chance * linked / (linked + 1)).sum()))


@false(
    location="Theorem 5",
    claim="the rate is F^0 exp(-K/(2 kappa)) for rows 1{bhat_ij^2 <= u}/#, whichever pairs are found within u",
    truth="Theorem 3's rate needs a projection, as averaging over connected components gives it.",
    key="sample-optimal/theorem-5",
)
def theorem_5_rows() -> Finding:
    K = 30
    star = one_loss({"N": _one(10), "beta": _one(1), "start": _one(2**0.5)})
    inputs = {"N": 10, "f_i": "x^2/2 for all", "links found": "of agent 0 with everybody, no others", "sigma": 0,
              "F^0": 1, "K": K, "quantity": "F^K at the best of all step sizes, given these links"}  # fmt: skip
    return Finding(inputs=inputs, printed=float(np.exp(-K / 2)), measured=float(star.least(_one(K))[0]))


@loose(
    location="Theorem 4, Corollary 2",
    claim="the precision is reached with clusters of C = Omega~(nu^2 d_eff/eps) agents",
    truth="Smaller clusters do as well; the condition, which compares xi^2 with a loss, is not needed.",
    key="sample-optimal/theorem-4",
)
def theorem_4_size() -> Finding:
    mu, eps, trace, size = 1.0, 1e-4, 1.0, 2.0
    chosen = {"beta": mu, "kappa": 1, "size": size, "apart": 1, "start": 3, "kind": 1}
    values = {name: _one(value) for name, value in chosen.items()}
    sigma2, failure = _one(mu * eps), _one(eps)
    run = Clusters(values, sigma2, _one(0.5 / mu), failure)
    reached = bool(run.average(_one(40))[0] <= eps)
    inputs = {"C": 2, "f_i": "(x - m)^2/2, m in {0, 1}", "eps": eps, "nu^2 d_eff": trace, "sigma^2": "mu eps",
              "misjudged": "with probability 10^-4", "K": 40, "quantity": "a size C that reaches eps"}  # fmt: skip
    return Finding(inputs=inputs, printed=trace / eps, measured=size if reached else np.inf)
