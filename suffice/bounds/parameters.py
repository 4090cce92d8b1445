"""One keyword, one symbol, one meaning, one unit: every scalar that a theorem may take.

A paper that prints another letter says so in its `Source.symbols`; the keyword stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import LARGEST, LEAST

from .units import CURVATURE, DIMENSIONLESS, GRADIENT, GRADIENT_SQUARED, LOSS, STEP, THETA, THETA_SQUARED, Unit


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A scalar that theorems take: its symbol, meaning, unit, domain and a typical range (for random tests)."""

    name: str
    symbol: str
    meaning: str
    unit: Unit
    typical: tuple[float, float]
    lower: float = 0.0
    upper: float = np.inf
    open_lower: bool = False
    integer: bool = False

    def extreme(self, x):
        """Whether numbers are not finite, or of a size that overflows in products of floats and fills exact digits."""
        return ~np.isfinite(x) | (np.abs(x) > LARGEST) | ((x > 0) & (x < LEAST) & self.open_lower)

    def check(self, value: object) -> None:
        """Raise `InputError` unless every entry of `value` lies in the parameter's domain."""
        try:
            x = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise InputError(self.name, value, "give a number") from None
        low = x <= self.lower if self.open_lower else x < self.lower
        wrong = low | (x > self.upper) | self.extreme(x)
        if self.integer:
            wrong |= x != np.floor(x)
        if wrong.any():
            raise self.refusal(x[wrong].flat[0].item())

    def refusal(self, value: object) -> InputError:
        """The error that names the parameter's domain."""
        return InputError(self.name, value, f"give {self._domain()} ({self.meaning})")

    def _domain(self) -> str:
        kind = "a whole number" if self.integer else "a finite number"
        lower = max(self.lower, LEAST) if self.open_lower and self.lower == 0 else self.lower
        below = f"> {lower:g}" if self.open_lower and self.lower else f">= {lower:g}"
        above = f" and <= {LARGEST:g}" if np.isinf(self.upper) else f" and <= {self.upper:g}"
        return f"{kind} {below}{above}"


PARAMETERS: dict[str, Parameter] = {}
"""Every scalar that a theorem may take, by keyword."""


def add_parameter(parameter: Parameter) -> Parameter:
    """Make a keyword known, so that bounds may take it; `InputError` where the keyword means something else."""
    known = PARAMETERS.setdefault(parameter.name, parameter)
    if known != parameter:
        raise InputError("parameter", parameter.name, f"the keyword means {known.meaning}; choose another")
    return known


def new_parameter(
    name: str,
    symbol: str,
    unit: Unit,
    typical: tuple[float, float],
    meaning: str,
    *,
    positive: bool = False,
    **domain: Any,
) -> Parameter:
    """A keyword made known: `positive` is short for `open_lower`, `domain` are the other fields."""
    domain |= {"open_lower": True} if positive else {}
    return add_parameter(Parameter(name=name, symbol=symbol, meaning=meaning, unit=unit, typical=typical, **domain))


_p = new_parameter


# fmt: off
# --- shared by all papers
_p("eta", r"\eta", STEP, (1e-3, 1.0), "step size", positive=True)
_p("mu", r"\mu", CURVATURE, (1e-3, 1.0), "Polyak-Lojasiewicz or strong-convexity constant of R_i", positive=True)
_p("beta", r"\beta", CURVATURE, (1.0, 10.0), "smoothness constant of R_i", positive=True)
_p("e0", "e_0", LOSS, (1e-3, 1e3), "excess loss at the start")
_p("T", "T", DIMENSIONLESS, (1, 1000), "iterations", integer=True)
_p("R", "R", DIMENSIONLESS, (1, 100), "rounds of a method with rounds: T = R K iterations", lower=1.0, integer=True)
_p("K", "K", DIMENSIONLESS, (1, 20), "local steps of a client in a round, the method's `period`", lower=1.0,
   integer=True)
_p("participants", "P", DIMENSIONLESS, (1, 100), "clients that take part in a round, all N or fewer", lower=1.0,
   integer=True)
_p("eps", r"\varepsilon", LOSS, (1e-6, 1.0), "precision: the excess loss to fall below", positive=True)
_p("N", "N", DIMENSIONLESS, (2, 1000), "number of clients", lower=1.0, integer=True)
_p("d", "d", DIMENSIONLESS, (1, 100), "number of features", lower=1.0, integer=True)
_p("sigma2", r"\sigma^2", GRADIENT_SQUARED, (1e-4, 1e2), "total variance of one stochastic gradient")
_p("b", "b_{ik}", GRADIENT, (1e-3, 10.0),
   "additive heterogeneity: |grad R_i - grad R_k|^2 <= b^2 + c |grad R_i|^2")
_p("zeta2", r"\zeta_\star^2", GRADIENT_SQUARED, (1e-3, 100.0),
   "(1/N) sum_k |grad R_k(x*)|^2 at the minimiser x* of the clients' mean loss")
_p("Gamma", r"\Gamma", LOSS, (1e-3, 100.0), "f* - (1/N) sum_k R_k*, f the clients' mean loss")
_p("hessian_gap", r"\delta", CURVATURE, (1e-3, 10.0), "largest norm |H_k - H| of a client's Hessian less the mean one")
_p("G2", "G^2", GRADIENT_SQUARED, (1e-3, 100.0),
   "(1/N) sum_k |grad R_k|^2 <= G^2 + B^2 |grad f|^2 everywhere, with B2 the least, or twice that if Hessians differ")
_p("B2", "B^2", DIMENSIONLESS, (1.0, 10.0), "see G2", lower=1.0)
_p("spectral_gap", r"1 - \lambda_2", DIMENSIONLESS, (1e-2, 1.0),
   "1 less the norm of W - 11^T/N of a mixing matrix W, |lambda_2| if W is symmetric", positive=True, upper=1.0)
# --- adaptive
_p("s2", r"\sigma_{\mathrm{suf}}^2", GRADIENT_SQUARED, (1e-4, 1e2),
   "sufficient variance at precision eps (gradient level G in Theorem 3)")
_p("delta", r"\delta", DIMENSIONLESS, (1e-6, 0.5), "probability of still running", positive=True, upper=1.0)
_p("q", "q", DIMENSIONLESS, (0.05, 1.0), "step ratio: a lower bound of 1 / sum_k alpha_k",
   positive=True, upper=1.0)
_p("threshold", r"\lambda", DIMENSIONLESS, (0.01, 1.0), "binary threshold", positive=True, upper=1.0)
_p("share", "w_i", DIMENSIONLESS, (1e-3, 1.0),
   "inverse-variance share of client i, (1/sigma_i^2) / sum_k 1/sigma_k^2", positive=True, upper=1.0)
_p("C", "C", DIMENSIONLESS, (1.1, 4.0), "factor of the decreasing step size C / (mu (t + gamma))",
   lower=1.0, open_lower=True)
_p("gamma", r"\gamma", DIMENSIONLESS, (1.0, 1000.0), "offset of the decreasing step size C / (mu (t + gamma))")
_p("c", "c_{ik}", DIMENSIONLESS, (1e-3, 1.0),
   "multiplicative heterogeneity: |grad R_i - grad R_k|^2 <= b^2 + c |grad R_i|^2")
_p("shift", r"\|A_k(\xi_i-\xi_k)\|", GRADIENT, (1e-3, 10.0), "distance of the two minimisers, seen through A_k")
_p("distortion", r"\|I-A_kA_i^{-1}\|", DIMENSIONLESS, (1e-3, 2.0), "spectral norm of I - A_k A_i^{-1}")
_p("gradient", r"\|\nabla R_i\|", GRADIENT, (1e-3, 10.0), "norm of the gradient of R_i")
_p("V", "V", GRADIENT_SQUARED, (1e-4, 1e2),
   "variance of the aggregated gradient, sum_k alpha_k^2 sigma_k^2, or a bound of its mean at every step")
_p("V_max", r"V_{\max}", GRADIENT_SQUARED, (1e-3, 1e2),
   "bound of sum_k alpha_k^2 sigma_k^2 at every model, below the precision too")
_p("below", "p", DIMENSIONLESS, (1e-3, 1.0),
   "bound of the probability that a step starts below the precision (eps, or the level G)", upper=1.0)
_p("weight", r"\mathcal{A}", DIMENSIONLESS, (0.5, 10.0), "total weight sum_k alpha_k", positive=True)
_p("discrepancy", "D", GRADIENT_SQUARED, (1e-4, 10.0), "sum_k alpha_k |grad R_k - grad R_i|^2")
_p("next_gradient2", r"\mathbb{E}\|\nabla R_i(\theta_t)\|^2", GRADIENT_SQUARED, (1e-4, 10.0),
   "mean squared gradient of R_i after the step")
_p("aggregate", r"\|\nabla R_\alpha\|", GRADIENT, (1e-3, 10.0),
   "norm of grad R_alpha = sum_k alpha_k grad R_k / sum_k alpha_k")
_p("aggregate_gap", r"\|\nabla R_\alpha-\nabla R_i\|", GRADIENT, (1e-3, 10.0),
   "distance of grad R_alpha = sum_k alpha_k grad R_k / sum_k alpha_k from grad R_i")
_p("G", "G", GRADIENT_SQUARED, (1e-2, 1e2), "level of |grad R_i|^2 to fall below", positive=True)
_p("Q", "Q", DIMENSIONLESS, (0.05, 10.0), "bound of sum_k alpha_k^2 M_k (1 + sqrt(1 - r_k))^2 at every step")
_p("split", r"\kappa", DIMENSIONLESS, (0.01, 0.9), "share of the descent spent on multiplicative noise",
   upper=0.99)
_p("noise_factor", "M", DIMENSIONLESS, (0.1, 100.0),
   "multiplicative noise, max_k M_k with Var[g_k] <= sigma_k^2 + M_k |grad R_k|^2")
_p("noise_excess", "A", CURVATURE, (0.1, 10.0),
   "noise that grows with the excess: Var[g_k] <= sigma^2 + M |grad R_k|^2 + 2 A (R_k - R_k*)")
_p("peak", r"\phi(1)", DIMENSIONLESS, (0.05, 1.0), "criterion at similarity 1", positive=True, upper=1.0)
_p("advantage", "K", DIMENSIONLESS, (0.05, 10.0),
   "largest max_{k != i} s_i^2 / s_k^2 of the reference variances in the weights")
_p("h", "h", CURVATURE, (1e-2, 1.0), "variance of each feature: H = h I", positive=True)
_p("trace", r"\operatorname{tr} H", CURVATURE, (0.1, 100.0), "trace of the features' covariance H")
_p("label_variance", "s^2", LOSS, (1e-4, 10.0), "variance of the label noise")
_p("similarity", "r_k", DIMENSIONLESS, (0.01, 1.0), "similarity ratio of a peer", upper=1.0)
_p("variance_ratio", r"\sigma_k^2/\sigma_i^2", DIMENSIONLESS, (1e-3, 1e3),
   "gradient variance of the peer over that of client i", positive=True)
_p("mass", "S", Unit(-2, 2), (1e-2, 1e2), "sum of 1/sigma_k^2 over the clients of the cluster", positive=True)
_p("similar_mass", "P", Unit(-2, 2), (1e-2, 1e2),
   "sum of r_k/sigma_k^2 over the clients of the cluster (or of lower bounds rho_k of r_k)", positive=True)
_p("gap", r"\|\nabla R_i-\nabla R_k\|", GRADIENT, (1e-3, 10.0), "distance of the gradients of R_i and R_k")
_p("peer_sigma2", r"\sigma_k^2", GRADIENT_SQUARED, (1e-4, 1e2),
   "total variance of one stochastic gradient of the peer")
_p("m", "m", DIMENSIONLESS, (1, 100), "stochastic gradients that each client averages to estimate similarity",
   lower=1.0, integer=True)
# --- worst-case
_p("pull", r"\mathcal{A}_-", DIMENSIONLESS, (0.1, 2.0),
   "least pull along the gradient, sum_k alpha_k (1 - sqrt(1 - r_k))", positive=True)
_p("agreement", "Y", Unit(-2, 2), (1e-3, 1e2), "sum_k (1 - sqrt(1 - r_k))^2 / sigma_k^2", positive=True)
_p("sharp_mass", "Z", Unit(-2, 2), (1e-3, 1e2), "sum_k (1 - sqrt(1 - r_k)) / sigma_k^2", positive=True)
_p("slack", "s", GRADIENT_SQUARED, (1e-3, 10.0), "free variable s > 0 of the dual problem", positive=True)
_p("dual", r"\Lambda_s", DIMENSIONLESS, (1e-3, 2.0),
   "largest eigenvalue of M^T M + (s + |v|^2) A_i^-1 / (4 eps), M = I - A_k A_i^-1, v = 2 A_k (xi_i - xi_k)")
_p("seen", r"\|M^\top v\|", GRADIENT, (1e-3, 10.0), "norm of M^T v, M = I - A_k A_i^-1, v = 2 A_k (xi_i - xi_k)")
# --- sample-optimal
_p("near", r"\mathcal{N}_i", DIMENSIONLESS, (1, 1000), "number of agents within the threshold, agent i included",
   lower=1.0, integer=True)
_p("signal2", "S_i", GRADIENT_SQUARED, (1e-2, 1e4),
   "sum_j (sqrt(2 mu e0) - b_ij)_+^2, of theorem-2-optimal-rounds with eps in place of e0: "
   "what one round of all agents tells about agent i")
_p("ball", "r", THETA, (0.1, 1e3), "radius of a ball around 0 that contains every minimiser")
_p("lambda2", r"\Lambda_2", DIMENSIONLESS, (1e-3, 1.0),
   "sum_j lambda_ij^2 of the weights; for All-for-all its mean over the agents i", positive=True, upper=1.0)
_p("bias", "B_i", GRADIENT, (1e-3, 10.0), "weighted dissimilarity sum_j lambda_ij b_ij")
_p("bias2", r"\overline{b^2}", GRADIENT_SQUARED, (1e-3, 100.0),
   "sum_j lambda_ij b_ij^2; for All-for-all its mean over the agents i")
_p("noise2", "V_i", GRADIENT_SQUARED, (1e-4, 1e2),
   "sum_j lambda_ij^2 (s_j^2 + 2 growth b_ij^2/mu), s_j^2 the noise at agent j's minimiser")
_p("growth", "A", CURVATURE, (0.1, 100.0),
   "growth of the noise: agent j's variance at x is at most s_j^2 + 2 growth (f_j(x) - f_j*)")
_p("peer_excess", r"\Phi", LOSS, (1e-6, 1.0),
   "weighted peer excess, mean over i of sum_j lambda_ij (f_i(x_j*) - f_i*); at most bias2/(2 mu)")
_p("smin", r"s_{\min}", DIMENSIONLESS, (1e-2, 1.0), "smallest non-zero eigenvalue of W", positive=True)
_p("smax", r"s_{\max}", DIMENSIONLESS, (1.0, 10.0), "largest eigenvalue of W", positive=True)
_p("weight2", r"\overline{W^2}", DIMENSIONLESS, (1e-3, 10.0), "|W|_F^2/N, mean squared eigenvalue of W")
_p("mean_distance2", r"\overline{D^2}", THETA_SQUARED, (1e-3, 1e3),
   "mean over the agents of |x^0 - x_j*|^2, x^0 the common start")
_p("start2", "D_0", THETA_SQUARED, (1e-3, 1e3),
   "mean over the agents of |y - y*|^2 before the step, x = Lambda y, y* the minimiser of F(Lambda y); at the start at "
   "most 2 e0/(mu smin)")
_p("filtered_excess", r"\delta", LOSS, (1e-6, 10.0), "F at the models x = Lambda y less its least value over all y")
_p("step_share", r"\theta", DIMENSIONLESS, (1e-2, 1.0), "step size over its limit 1/(beta smax)",
   positive=True, upper=1.0)
_p("linked_gap", r"\sqrt{u}+r_S", LOSS, (0.1, 20.0), "distance |E xi_i - E xi_j| up to which two agents may be linked")
_p("row_weight", "w", DIMENSIONLESS, (1e-2, 1.0), "largest sum_i lambda_ji^2 of an agent j's weights, max_j W_jj",
   positive=True, upper=1.0)
_p("T1", "T_1", DIMENSIONLESS, (1, 100), "rounds of stage 1, at a constant step", integer=True)
_p("T2", "T_2", DIMENSIONLESS, (1, 1e5), "rounds of stage 2, at decreasing steps", integer=True)
_p("offset", "a", DIMENSIONLESS, (1.0, 1e7), "offset of the decreasing steps 2/(mu smin (a + t + 2)) of stage 2")
_p("window", "w", DIMENSIONLESS, (1, 100), "rounds before the last that the bound of the last iterate looks back",
   integer=True)
_p("scale", r"\ell", THETA, (0.1, 10.0), "length in which theta is measured, 1 in the paper", positive=True)
_p("moment", r"\|\Delta\xi\|", LOSS, (1e-3, 10.0),
   "distance |E xi_i - E xi_j| of second moments, xi = z z^T with z = (scale a, b); spectral norm or Frobenius")
_p("moment_gap", r"\Delta", LOSS, (1e-2, 10.0), "smallest distance of the means of xi of two clusters",
   positive=True)
_p("proxy_trace", r"\mathrm{tr}\,\Sigma", Unit(2, 0), (0.1, 100.0), "trace of the subgaussian proxy Sigma of xi")
_p("nu2", r"\nu^2", Unit(2, 0), (1e-2, 10.0), "largest eigenvalue of the subgaussian proxy Sigma of xi")
_p("failure", "p", DIMENSIONLESS, (1e-6, 0.3), "probability that some pair of agents is misjudged",
   positive=True, upper=1.0)
_p("clusters", "M", DIMENSIONLESS, (2, 20), "number of clusters", lower=1.0, integer=True)
_p("sensitivity", r"\ell_b", Unit(0, -1), (0.1, 10.0),
   "largest |grad f_j(x_i*)| over |E xi_i - E xi_j|; sqrt(scale^2 + ball^2)/scale^2 of linear models")
_p("link", r"\sqrt{u}", LOSS, (0.1, 10.0), "distance of empirical means of xi up to which two agents are linked")
_p("deviation", "r_S", LOSS, (1e-2, 1.0),
   "largest |(mean_i - E xi_i) - (mean_j - E xi_j)| of two agents' empirical means of xi")
_p("b_max", r"b_{\max}", GRADIENT, (1e-3, 10.0), "largest dissimilarity of two agents", positive=True)
# --- cobo
_p("size", "c", DIMENSIONLESS, (3, 100), "number of clients of the cluster", lower=1.0, integer=True)
_p("M", "M", DIMENSIONLESS, (1e-2, 1.0),
   "relative heterogeneity: |grad f_i - grad f_j| <= M |grad f_i + grad f_j|")
_p("rho", r"\rho", CURVATURE, (0.05, 5.0), "penalty of the distances inside a cluster", positive=True)
_p("spread", r"\Xi", THETA_SQUARED, (1e-3, 10.0),
   "consensus distance (1/c) sum_i |x_i - xbar|^2 of the cluster's models")
_p("decrease", r"\delta", LOSS, (1e-3, 10.0), "expected decrease of the loss in one step")
_p("batch", "b", DIMENSIONLESS, (1, 1000), "samples in one minibatch", lower=1.0, integer=True)
_p("mean_gradient", r"\|\nabla\bar f\|", GRADIENT, (1e-3, 10.0), "norm of the gradient of the cluster's mean loss")
_p("peer_gradient", r"\|\nabla f_j\|", GRADIENT, (1e-3, 10.0), "norm of the gradient of the peer's loss")
_p("own_curvature", "a_i", CURVATURE, (0.1, 10.0), "curvature a_i of f_i = a_i |x - m_i|^2 / 2", positive=True)
_p("peer_curvature", "a_j", CURVATURE, (0.1, 10.0), "curvature a_j of the peer's f_j = a_j |x - m_j|^2 / 2",
   positive=True)
_p("separation", "D", THETA, (0.1, 10.0), "distance |m_i - m_j| of the minimisers of two clusters")
_p("radius", "r", THETA, (1e-2, 10.0), "distance within which every model is from its own minimiser")
_p("weight_step", r"\gamma", Unit(-2, 2), (1e-3, 10.0), "step size of the collaboration weights", positive=True)
# --- scafflix
_p("p", "p", DIMENSIONLESS, (0.03, 1.0), "probability of a communication after one local step",
   positive=True, upper=1.0)
_p("contraction", r"\min_i\gamma_i\mu_i", DIMENSIONLESS, (1e-3, 0.9),
   "least contraction of the clients' local steps, min_i gamma_i mu_i", positive=True, upper=1.0)
_p("reach", r"\max_i\gamma_i A_i", DIMENSIONLESS, (0.1, 1.0),
   "largest step in units of its limit, max_i gamma_i A_i", positive=True)
_p("eta_min", r"\gamma_{\min}", STEP, (1e-3, 1.0), "smallest of the clients' step sizes", positive=True)
_p("noise", r"\overline{\gamma C}", LOSS, (1e-4, 1e2), "mean of gamma_i C_i over the clients")
_p("Psi0", r"\Psi^0", THETA_SQUARED, (1e-3, 1e3), "Lyapunov function Psi of Scafflix at the start")
_p("V0", r"V^0", LOSS, (1e-3, 1e3), "Lyapunov function of i-Scaffnew at the start, n Psi / gamma_min")
_p("kappa_max", r"\kappa_{\max}", DIMENSIONLESS, (1.0, 1e3), "largest A_i / mu_i of the clients", lower=1.0)
_p("mu_min", r"\mu_{\min}", CURVATURE, (1e-3, 1.0), "smallest mu_i of the clients", positive=True)
_p("mu_max", r"\mu_{\max}", CURVATURE, (1e-2, 1.0), "largest mu_i of the clients", positive=True)
_p("noise_max", r"\max_i C_i/\mu_i", LOSS, (1e-4, 1e2), "largest C_i / mu_i of the clients")
_p("noise_mean", r"\overline{C/\mu}", LOSS, (1e-4, 1e2), "mean of C_i / mu_i over the clients")
_p("eps_Psi", r"\varepsilon", THETA_SQUARED, (1e-6, 1.0), "precision: the value Psi is to reach", positive=True)
_p("eps_mu", r"\varepsilon_\mu", LOSS, (1e-6, 1.0),
   "precision: the value that (1/(2n)) sum_i mu_i |x_i - x_i*|^2 is to reach", positive=True)
_p("distance2", r"\|x^0-x^\star\|^2", THETA_SQUARED, (1e-3, 1e3), "squared distance of the start to the optimum")
_p("inverse_step", r"\overline{\alpha^2/\gamma}", CURVATURE, (0.1, 100.0),
   "mean of alpha_i^2 / gamma_i over the clients", positive=True)
_p("stiffness", r"\overline{\alpha^2\gamma L^2}", CURVATURE, (1e-2, 10.0),
   "mean of alpha_i^2 gamma_i L_i^2 over the clients")
_p("bregman", r"D_{f_i}", LOSS, (1e-3, 1e3), "Bregman divergence of f_i from the optimum, D_f_i(x_i, x_i*)")
_p("beta_max", r"\max_jL_{ij}", CURVATURE, (1.0, 100.0), "largest smoothness constant of one sample's loss",
   positive=True)
_p("sigma2_star", r"\sigma_\star^2", GRADIENT_SQUARED, (1e-4, 1e2),
   "total variance of one sample's gradient at the optimum")
# fmt: on
