"""The quantities that theorems bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from suffice.support.errors import InputError

from .units import DIMENSIONLESS, GRADIENT, GRADIENT_SQUARED, LOSS, THETA, THETA_SQUARED, Unit

_KNOWN: dict[str, Quantity] = {}


class _ByName(type):
    """`Quantity.EXCESS` is the quantity of that name, and `for quantity in Quantity` passes all of them."""

    def __getattr__(cls, name: str) -> Quantity:
        try:
            return _KNOWN[name]
        except KeyError:
            raise AttributeError(f"no quantity is called {name!r}") from None

    def __iter__(cls) -> Iterator[Quantity]:
        return iter(tuple(_KNOWN.values()))

    def __len__(cls) -> int:
        return len(_KNOWN)


@dataclass(frozen=True, kw_only=True)
class Quantity(metaclass=_ByName):
    """The quantity that a theorem bounds: its name, its expression in text and LaTeX, and its unit.

    `add_quantity` registers it: it is then an attribute of this class.
    """

    name: str
    expression: str
    latex: str
    unit: Unit

    @property
    def is_probability(self) -> bool:
        """Whether it is at most 1."""
        return self.expression.startswith("P(")

    def __reduce__(self) -> tuple[Any, ...]:
        return _q, (self.name, self.expression, self.latex, self.unit)  # the known object, in any process


def add_quantity(quantity: Quantity) -> Quantity:
    """Make a quantity known, and return the one object of its name; `InputError` where the name means another."""
    known = _KNOWN.setdefault(quantity.name, quantity)
    if known != quantity:
        raise InputError("quantity", quantity.name, f"it is the name of {known.expression}; choose another")
    return known


def new_quantity(name: str, expression: str, latex: str, unit: Unit) -> Quantity:
    """A quantity made known."""
    return add_quantity(Quantity(name=name, expression=expression, latex=latex, unit=unit))


_q = new_quantity


# e_t is the realised excess loss, tau = min{t >= 0: e_t < eps}, tau_G = min{t >= 0: |grad R_i(theta_t)|^2 < G}.
_q("EXCESS", "E[e_T]", r"\mathbb{E}[e_T]", LOSS)
_q("EXCESS_WHILE_RUNNING", "E[e_T 1{tau >= T}]", r"\mathbb{E}[e_T \mathbf{1}\{\tau \ge T\}]", LOSS)
_q("STILL_RUNNING", "P(tau > T)", r"\mathbb{P}(\tau > T)", DIMENSIONLESS)
_q("STOPPED_EXCESS", "E[e_min(T, tau)]", r"\mathbb{E}[e_{\min(T,\tau)}]", LOSS)
_q("HITTING_TIME", "E[tau]", r"\mathbb{E}[\tau]", DIMENSIONLESS)
_q("GRADIENT_GAP", "|grad R_i - grad R_k|^2", r"\|\nabla R_i - \nabla R_k\|^2", GRADIENT_SQUARED)
_q(
    "DISSIMILARITY",
    "|grad R_i - grad R_k|^2 / |grad R_i|^2",
    r"\|\nabla R_i - \nabla R_k\|^2 / \|\nabla R_i\|^2",
    DIMENSIONLESS,
)
_q("STEP_RATIO", "1 / sum_k alpha_k", r"\Big(\sum_k \alpha_k\Big)^{-1}", DIMENSIONLESS)
# --- adaptive, worst-case
_q("SIMILARITY", "r_k = (1 - |grad R_i - grad R_k|^2 / |grad R_i|^2)_+", "r_k", DIMENSIONLESS)
_q("ONE_STEP_EXCESS", "E[e_t | F_{t-1}]", r"\mathbb{E}[e_t \mid \mathcal{F}_{t-1}]", LOSS)
_q("GRADIENT_STILL_RUNNING", "P(tau_G > T)", r"\mathbb{P}(\tau_G > T)", DIMENSIONLESS)
_q("GRADIENT_HITTING_TIME", "E[tau_G]", r"\mathbb{E}[\tau_G]", DIMENSIONLESS)
_q(
    "STOPPED_GRADIENT",
    "(1/T) sum_{t<=T} E[|grad R_i(theta_{t-1})|^2 1{tau_G >= t}]",
    r"\frac1T\sum_{t=1}^T \mathbb{E}[\|\nabla R_i(\theta_{t-1})\|^2 \mathbf{1}\{\tau_G \ge t\}]",
    GRADIENT_SQUARED,
)
_q(
    "AVERAGE_GRADIENT",
    "(1/T) sum_{t<=T} E[|grad R_i(theta_{t-1})|^2]",
    r"\frac1T\sum_{t=1}^T \mathbb{E}\|\nabla R_i(\theta_{t-1})\|^2",
    GRADIENT_SQUARED,
)
_q("OFFSET", "least admissible offset gamma", r"\gamma_{\min}", DIMENSIONLESS)
_q(
    "MULTIPLICATIVE_TOTAL",
    "sum_k alpha_k^2 M_k (1 + sqrt(1 - r_k))^2",
    r"\sum_k \alpha_k^2 M_k (1 + \sqrt{1 - r_k})^2",
    DIMENSIONLESS,
)
_q("GRADIENT_VARIANCE", "Var[g_i]", r"\mathbb{V}[g_i]", GRADIENT_SQUARED)
_q("WEIGHT", "alpha_k", r"\alpha_k", DIMENSIONLESS)
_q("COMBINED_VARIANCE", "sum_k alpha_k^2 sigma_k^2", r"\sum_k \alpha_k^2 \sigma_k^2", GRADIENT_SQUARED)
_q(
    "EFFECTIVE_VARIANCE",
    "sigma_psi^2 = 1 / sum_k psi(r_k) / sigma_k^2",
    r"\Big(\sum_k \sigma_k^{-2} \psi(r_k)\Big)^{-1}",
    GRADIENT_SQUARED,
)
_q("CONTINUOUS_VARIANCE", "1 / sum_k r_k^2 / sigma_k^2", r"\Big(\sum_k \sigma_k^{-2} r_k^2\Big)^{-1}", GRADIENT_SQUARED)
_q(
    "VARIANCE_RATIO",
    "sufficient variance, binary at the best threshold over continuous",
    r"\min_\lambda \sigma_{\mathrm{bin}}^2(\lambda) / \sigma_{\mathrm{cont}}^2",
    DIMENSIONLESS,
)
_q("MEAN_GAP_ESTIMATE", "E[Z_ik]", r"\mathbb{E}[Z_{ik}]", GRADIENT_SQUARED)
_q("MEAN_NORM_ESTIMATE", "E[Z_i]", r"\mathbb{E}[Z_i]", GRADIENT_SQUARED)
_q("IDENTICAL_RATIO", "E[Z_ik] / E[Z_i], R_k = R_i", r"\mathbb{E}[Z_{ik}] / \mathbb{E}[Z_i]", DIMENSIONLESS)
_q(
    "SHORTFALL",
    "E[e_t - e_{t-1} | F_{t-1}] + |grad R_i|^2 / (2 beta)",
    r"\mathbb{E}[e_t - e_{t-1} \mid \mathcal{F}_{t-1}] + \frac{1}{2\beta}\|\nabla R_i\|^2",
    LOSS,
)
# --- sample-optimal
_q("ROUNDS", "rounds", "T", DIMENSIONLESS)
_q("SAMPLES", "samples of each agent", "S", DIMENSIONLESS)
_q("MEAN_EXCESS", "E[(1/N) sum_i e_i]", r"\mathbb{E}\Big[\frac1N\sum_i e_i\Big]", LOSS)
_q(
    "AVERAGED_EXCESS",
    "E[(1/N) sum_i f_i(xbar_i) - f_i*], xbar the mean of the iterates 1 to T",
    r"\mathbb{E}\Big[\frac1N\sum_i f_i(\bar x_i) - f_i^\star\Big]",
    LOSS,
)
_q(
    "NEXT_FILTERED_DISTANCE",
    "(1/N) sum_j E|y_j - y_j*|^2 after one round, x = Lambda y",
    r"\frac1N\sum_j \mathbb{E}\|y_j^{t+1} - y_j^\star\|^2",
    THETA_SQUARED,
)
_q(
    "STAGE_EXCESS",
    "sum_t p_t E[(1/N) sum_i e_i^t] / sum_t p_t over stage 2",
    r"\frac{\sum_t p_t\, \mathbb{E}[\frac1N\sum_i e_i^t]}{\sum_t p_t}",
    LOSS,
)
_q(
    "OUTPUT_EXCESS",
    "E[f_i(xbar) - f_i*], xbar the weighted mean of the models from the end of stage 1 on",
    r"\mathbb{E}[f_i(\bar x) - f_i^\star]",
    LOSS,
)
_q(
    "MEAN_OUTPUT_EXCESS",
    "E[(1/N) sum_i f_i(xbar_i) - f_i*], xbar the weighted means of the models from the end of stage 1 on",
    r"\mathbb{E}\Big[\frac1N\sum_i f_i(\bar x_i) - f_i^\star\Big]",
    LOSS,
)
_q(
    "MEAN_OF_EXCESSES",
    "(1/(T + 1)) sum_{t <= T} E[(1/N) sum_i e_i^t]",
    r"\frac1{T+1}\sum_{t=0}^T \mathbb{E}\Big[\frac1N\sum_i e_i^t\Big]",
    LOSS,
)
_q("PEER_GRADIENT", "|grad f_j(x_i*)|", r"\|\nabla f_j(x_i^\star)\|", GRADIENT)
# --- of one's own bounds
_q("LAST_DISTANCE", "E|theta_T - theta*|^2", r"\mathbb{E}\|\theta_T - \theta^\star\|^2", THETA_SQUARED)
_q("LAST_GRADIENT", "E|grad R(theta_T)|^2", r"\mathbb{E}\|\nabla R(\theta_T)\|^2", GRADIENT_SQUARED)
_q(
    "LAST_CONSENSUS",
    "(1/N^2) sum_ij E|x_i - x_j|^2 after T steps",
    r"\frac1{N^2}\sum_{i,j} \mathbb{E}\|x_i^T - x_j^T\|^2",
    THETA_SQUARED,
)
_q("RANDOM_ITERATE_EXCESS", "(1/T) sum_{t<T} E[e_t]", r"\frac1T\sum_{t<T} \mathbb{E}[e_t]", LOSS)
_q(
    "MEAN_ITERATE_EXCESS",
    "E[R(mean of theta_0 to theta_T)] - R*",
    r"\mathbb{E}[R(\bar\theta_T)] - R^\star",
    LOSS,
)
# f is the mean of the clients' losses, x* its minimiser, xbar the mean of their models
_q("GLOBAL_EXCESS", "E[f(xbar_T)] - f*", r"\mathbb{E}[f(\bar x_T)] - f^\star", LOSS)
_q("GLOBAL_DISTANCE", "E|xbar_T - x*|^2", r"\mathbb{E}\|\bar x_T - x^\star\|^2", THETA_SQUARED)
_q("GLOBAL_GRADIENT", "E|grad f(xbar_T)|^2", r"\mathbb{E}\|\nabla f(\bar x_T)\|^2", GRADIENT_SQUARED)
_q(
    "AVERAGE_GLOBAL_EXCESS",
    "(1/T) sum_{t<T} E[f(xbar_t)] - f*",
    r"\frac1T\sum_{t<T} \mathbb{E}[f(\bar x_t)] - f^\star",
    LOSS,
)
# --- cobo
_q(
    "COLLABORATIVENESS",
    "M_ij = max_x |grad f_i - grad f_j| / |grad f_i + grad f_j|",
    r"\max_x \frac{\|\nabla f_i - \nabla f_j\|}{\|\nabla f_i + \nabla f_j\|}",
    DIMENSIONLESS,
)
_q("GRADIENT_SUM", "|grad f_i|^2 + |grad f_j|^2", r"\|\nabla f_i\|^2 + \|\nabla f_j\|^2", GRADIENT_SQUARED)
_q("INNER_PRODUCT", "<grad f_i, grad f_j>", r"\langle \nabla f_i, \nabla f_j \rangle", GRADIENT_SQUARED)
_q(
    "CLUSTER_DISSIMILARITY",
    "(1/c) sum_i |grad f_i - grad fbar|^2 / |grad fbar|^2",
    r"\frac1c\sum_i \|\nabla f_i - \nabla\bar f\|^2 / \|\nabla\bar f\|^2",
    DIMENSIONLESS,
)
_q("MEAN_GRADIENT", "|grad fbar(xbar_t)|^2", r"\|\nabla\bar f(\bar x_t)\|^2", GRADIENT_SQUARED)
_q(
    "MIDPOINT_GRADIENT",
    "(1/c^2) sum_ij |grad f_ij(z_ij)|^2",
    r"\frac1{c^2}\sum_{i,j} \|\nabla\tilde f_{ij}(z_{ij}^t)\|^2",
    GRADIENT_SQUARED,
)
_q(
    "NEXT_CONSENSUS",
    "(1/c^2) sum_ij E|x_i - x_j|^2 after one step",
    r"\frac1{c^2}\sum_{i,j} \mathbb{E}\|x_i^{t+1} - x_j^{t+1}\|^2",
    THETA_SQUARED,
)
_q(
    "AVERAGE_MEAN_GRADIENT",
    "(1/T) sum_t E|grad fbar(xbar_t)|^2",
    r"\frac1T\sum_t \mathbb{E}\|\nabla\bar f(\bar x_t)\|^2",
    GRADIENT_SQUARED,
)
_q(
    "AVERAGE_MIDPOINT_GRADIENT",
    "(1/T) sum_t (1/c^2) sum_ij E|grad f_ij(z_ij)|^2",
    r"\frac1{c^2T}\sum_{t,i,j} \mathbb{E}\|\nabla\tilde f_{ij}(z_{ij}^t)\|^2",
    GRADIENT_SQUARED,
)
_q(
    "AVERAGE_CLIENT_GRADIENT",
    "(1/T) sum_t (1/c) sum_i E|grad f_i(x_i)|^2",
    r"\frac1{cT}\sum_{t,i} \mathbb{E}\|\nabla f_i(x_i^t)\|^2",
    GRADIENT_SQUARED,
)
_q(
    "AVERAGE_CONSENSUS",
    "(1/T) sum_t (1/c^2) sum_ij E|x_i - x_j|^2",
    r"\frac1{c^2T}\sum_{t,i,j} \mathbb{E}\|x_i^t - x_j^t\|^2",
    THETA_SQUARED,
)
_q("WEIGHT_UPDATES", "updates of w_ij until w_ij = 0", r"\#\text{updates}", DIMENSIONLESS)
_q("LARGEST_DISTANCE", "max_i |x_i - m_i| after T steps", r"\max_i \|x_i^T - m_i\|", THETA)
# --- scafflix
_q(
    "SECOND_MOMENT",
    "E|g_i - grad f_i(x_i*)|^2",
    r"\mathbb{E}\|g_i - \nabla f_i(\tilde x_i^\star)\|^2",
    GRADIENT_SQUARED,
)
_q("LYAPUNOV", "E[Psi_T]", r"\mathbb{E}[\Psi^T]", THETA_SQUARED)
_q("LYAPUNOV_START", "Psi_0", r"\Psi^0", THETA_SQUARED)
_q("LYAPUNOV_SUM", "E[V_T], V = n Psi / gamma_min", r"\mathbb{E}[V^T]", LOSS)
_q(
    "MIXED_EXCESS",
    "E[f~(xbar_T)] - min f~, f~(x) = (1/n) sum_i f_i(alpha_i x + (1 - alpha_i) x_i*)",
    r"\mathbb{E}[\tilde f(\bar x^T)] - \tilde f^\star",
    LOSS,
)
_q("ITERATIONS", "iterations", "T", DIMENSIONLESS)
_q("COMMUNICATIONS", "E[number of communications]", r"\mathbb{E}[K_T]", DIMENSIONLESS)
