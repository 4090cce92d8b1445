"""Theorem 2 and Table 1: the recursion, its three rows, what they say of the stopped process, the offset."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...elementary import decay, difference, fall, maximum, minimum, quotient, survive, times_log_ratio
from ...quantities import Quantity
from ...step_size_condition import step_conditions
from ...theorem import Conditions, Reduction, Sharper, Theorem, records, theorem
from .hypotheses import ALWAYS, STANDING
from .paper import source
from .theorem_2_printed import theorem_2_constant_printed, theorem_2_decreasing_printed, theorem_2_horizon_printed

Function = Callable[..., Any]

# --- Theorem 2, stopped ---------------------------------------------------------------------------------
#
# On {tau >= t} = {e_0, ..., e_{t-1} >= eps}, an event of F_{t-1}, Lemma 2 gives V_t <= s2. Put
# u_t = E[e_t 1{tau >= t}]. By (*), u_t <= (1 - eta_t mu) E[e_{t-1} 1{tau >= t}] + eta_t^2 beta s2 / 2,
# and {tau >= t} is contained in {tau >= t-1}, so u_t <= (1 - eta_t mu) u_{t-1} + eta_t^2 beta s2 / 2.


def recursion(*, eta, mu, beta, e0, s2):
    """B_0 = e_0, B_t = (1 - eta_t mu) B_{t-1} + eta_t^2 beta s2 / 2 for steps eta[T, ...]; returns B[T + 1, ...]."""
    eta = np.asarray(eta, dtype=float)
    level = np.broadcast_to(np.asarray(e0, dtype=float), np.broadcast_shapes(np.shape(e0), eta.shape[1:]))
    levels = [level]
    for step in eta:  # eight roundings at most in one step, made good upwards so that long horizons stay bounds
        levels.append((survive(step * mu, 1) * levels[-1] + step**2 * beta * s2 / 2) * (1 + 2.0**-50))
    return np.stack(levels)


def theorem_2_constant(*, eta, mu, beta, e0, s2, T):
    """The recursion's closed form for a constant step: a geometric sum."""
    return survive(eta * mu, T) * e0 + eta * beta * s2 / (2 * mu) * fall(eta * mu, T)


_GROWS = {"e0": 1, "s2": 1, "beta": 1}

# The same with tau_G = min{t: |grad R_i(theta_t)|^2 < G}, G = 2 mu eps: all that Lemma 2 needs is |grad R_i|^2 >= G.
# On {tau_G > T}, e_T >= |grad R_i(theta_T)|^2 / (2 beta) >= mu eps / beta, and Markov.


@theorem(
    key="adaptive/theorem-2-constant-gradient-running",
    title="Constant step size, probability of a large gradient throughout",
    source=source("Theorem 2, Table 1, row 1"),
    quantity=Quantity.GRADIENT_STILL_RUNNING,
    mode="probability",
    hypotheses=STANDING.replace("before tau", "before tau_G"),
    conditions=step_conditions,
    tight="The bound is tight at T = 0, for a gradient of squared norm G along curvature beta.",
    monotone={**_GROWS, "eps": -1},
)
def theorem_2_constant_gradient_running(*, eta, mu, beta, e0, s2, T, eps):
    """With tau_G = min{t: |grad R_i(theta_t)|^2 < G}, G = 2 mu eps, weights of Definition 1 and a constant step
    eta <= q/beta: P(tau_G > T) is at most beta B_T/(mu eps), B_T as for tau; tau_G >= tau."""
    return theorem_2_constant(eta=eta, mu=mu, beta=beta, e0=e0, s2=s2, T=T) * beta / (mu * eps)


# Horizon row: eta = min(q/beta, L/(mu T)), K = beta s2 / (2 mu^2 T), L = ln(e_0/K) > 0. eta <= L/(mu T) makes the
# noise term at most K L; the contraction is at most exp(-L) e_0 = K, or (1 - q mu/beta)^T e_0 when the limit binds.
# Without noise K = 0, the limit binds, and K L -> 0.


def theorem_2_horizon(*, mu, beta, q, e0, s2, T):
    """max(K, (1 - q mu/beta)^T e_0) + K ln(e_0 / K)."""
    floor = beta * s2 / (2 * mu**2 * T)
    return maximum(floor, survive(q * mu / beta, T) * e0) + times_log_ratio(floor, e0, floor)


def horizon_conditions(*, mu, beta, e0, s2, T) -> Conditions:
    """A step at all, and a start above the noise floor K; otherwise the row's best step is 0 and its bound e_0."""
    return {
        "iterations 1 <= T": (1, T),
        "floor beta s2/(2 mu^2 T) <= e0": (beta * s2 / (2 * mu**2 * T), e0),
        "curvature mu <= beta": (mu, beta),
    }


# Decreasing row: eta_t = C/(mu (t + gamma)), n = t + gamma >= C, nu as below. If B_{t-1} <= nu/n then
# B_t <= nu (n - 1)/n^2 - [(C - 1) nu - C^2 beta s2/(2 mu^2)]/n^2 <= nu (n - 1)/n^2 <= nu/(n + 1).
# The first step is C/(mu (1 + gamma)) <= q/beta iff gamma >= gamma_min = C beta/(mu q) - 1.
# At gamma_min, nu = (beta/mu) max(C^2 s2/(2 mu (C - 1)), C e_0/q): the first falls on (1, 2) and grows beyond, the
# second grows, and they meet at C = chi/(chi - 1), chi = 2 mu e_0/(q s2). So C = 2 is best if chi <= 2, the meeting
# point otherwise. With m = max(mu e_0, q s2): C = 2m/(2m - q s2) and nu = 2 beta m^2/(mu^2 q (2m - q s2)), hence
# nu/(gamma_min + T + 1) = 2 beta m^2/(mu (2 beta m + mu q (2m - q s2) T)).


def decreasing_level(*, C, gamma, mu, beta, e0, s2):
    """nu = max(C^2 beta s2 / (2 mu^2 (C - 1)), (gamma + 1) e_0)."""
    return maximum(C**2 * beta * s2 / (2 * mu**2 * (C - 1)), (gamma + 1) * e0)


def theorem_2_decreasing(*, C, gamma, mu, beta, e0, s2, T):
    """nu / (gamma + T + 1)."""
    return decreasing_level(C=C, gamma=gamma, mu=mu, beta=beta, e0=e0, s2=s2) / (gamma + T + 1)


def decreasing_conditions(*, C, gamma, mu, beta, q) -> Conditions:
    """The first step within the limit: gamma at least C beta/(mu q) - 1."""
    return {
        "first step C/(mu (1 + gamma)) <= q/beta": (C / (mu * (1 + gamma)), q / beta),
        "curvature mu <= beta": (mu, beta),
    }


# --- What a row says of the stopped process, derived once for every row ---------------------------------
#
# A row is a bound B_T(s2) of E[e_T 1{tau >= T}] that comes from B_t = (1 - eta_t mu) B_{t-1} + eta_t^2 beta s2 / 2.
#  (ii)  On {tau > T}, e_T >= eps, and {tau > T} is contained in {tau >= T}: P(tau > T) <= B_T / eps by Markov.
#  (iii) e_min(T, tau) = e_tau 1{tau < T} + e_T 1{tau >= T} and e_tau < eps: E[e_min(T, tau)] <= eps + B_T.
#  (iv)  Without stopping, V_t <= s2 where e_{t-1} >= eps and V_t <= V_max everywhere, so with p >= P(e_{t-1} < eps)
#        E[V_t] <= s2 + (V_max - s2)_+ p: E[e_T] <= B_T with this variance for s2.
# Constants alone give p = 1, which is Theorem 1 at V = V_max, and in the long run at most a factor of two less. Let R_i
# be a quadratic of curvature beta = mu with rare noise +-A: P(+-A) = V_max/A^2. With A large client i is nearly
# always at its minimum, where no peer is similar, and E[e_T] comes from single jumps to eta^2 beta A^2/2 that shrink by
# (1 - eta mu)^2 a step among similar peers. Their sum is 1/(2 - eta mu) of the floor at V_max, for any s2 and eps.


def over_precision(row: Function) -> Function:
    """(ii): B_T / eps."""

    def bound(*, eps, **values):
        return row(**values) / eps

    return keywords(bound, row, "eps")


def above_precision(row: Function) -> Function:
    """(iii): eps + B_T."""

    def bound(*, eps, **values):
        return eps + row(**values)

    return keywords(bound, row, "eps")


def with_local_variance(function: Function) -> Function:
    """(iv): a row, or its conditions, at s2 + (V_max - s2)_+ p."""
    if "s2" not in inspect.signature(function).parameters:
        return function

    def bound(*, s2, V_max, below, **values):
        return function(s2=s2 + maximum(0, V_max - s2) * below, **values)

    return keywords(bound, function, "V_max", "below")


def keywords(bound: Function, row: Function, *added: str) -> Function:
    """Give `bound` the keywords of `row` and the added ones, for `inspect.signature`."""
    names = dict.fromkeys((*inspect.signature(row).parameters, *added))
    keywords = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
    bound.__dict__["__signature__"] = inspect.Signature(keywords)
    return bound


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of Table 1: its key, title, place in the paper, step sizes in words, bound and conditions."""

    key: str
    title: str
    locator: str
    steps: str
    bound: Function
    conditions: Function
    monotone: Mapping[str, int]
    tight: str = ""
    running_tight: str = ""
    stopped_tight: str = ""
    unconditional_tight: str = ""
    sharper_running: Sharper | None = None
    from_constants: tuple[Reduction, ...] = ()

    def theorems(self) -> tuple[Theorem, ...]:
        """The row itself, (i), and its readings (ii), (iii), (iv)."""
        grows = {"V_max": 1, "below": 1} if "s2" in self.monotone else {}
        ran = Reduction(
            key=self.key,
            when="if no step starts below eps, so that p = 0",
            at=lambda *, s2, **_: {"V_max": 2 * s2, "below": 0.0},
        )
        return (
            self._reading(
                "",
                title="while running",
                statement=f"{self._stopped()}: E[e_T 1{{tau >= T}}] is at most the bound B_T.",
                quantity=Quantity.EXCESS_WHILE_RUNNING,
                bound=self.bound,
                tight=self.tight,
            ),
            self._reading(
                "-running",
                title="probability of still running",
                statement=f"{self._stopped()}: P(tau > T) is at most B_T / eps, B_T the bound of E[e_T 1{{tau >= T}}].",
                quantity=Quantity.STILL_RUNNING,
                mode="probability",
                bound=over_precision(self.bound),
                tight=self.running_tight,
                monotone={**self.monotone, "eps": -1},
                superseded_by=self.sharper_running,
            ),
            self._reading(
                "-stopped",
                title="stopped at the precision",
                statement=f"{self._stopped()}: E[e_min(T, tau)] is at most eps + B_T, B_T the bound of "
                "E[e_T 1{tau >= T}].",
                quantity=Quantity.STOPPED_EXCESS,
                bound=above_precision(self.bound),
                tight=self.stopped_tight,
                monotone={**self.monotone, "eps": 1},
            ),
            self._reading(
                "-unconditional",
                title="not stopped",
                statement=f"With weights of Definition 1 and {self.steps}, all with s2 + (V_max - s2)_+ p in the place "
                "of s2: E[e_T] is at most the bound, whether or not the precision has been reached. If only constants "
                "are known, take p = 1.",
                quantity=Quantity.EXCESS,
                hypotheses=ALWAYS,
                bound=with_local_variance(self.bound),
                conditions=with_local_variance(self.conditions),
                tight=self.unconditional_tight,
                monotone={**self.monotone, **grows},
                reduces_to=(ran, *self.from_constants),
            ),
        )

    def _stopped(self) -> str:
        return f"With tau = min{{t: e_t < eps}}, weights of Definition 1 and {self.steps}"

    def _reading(self, suffix: str, *, title: str, **fields: Any) -> Theorem:
        common: dict[str, Any] = {"hypotheses": STANDING, "conditions": self.conditions, "monotone": self.monotone}
        named = f"{self.title}, {title}"
        return Theorem(key=self.key + suffix, title=named, source=source(self.locator), **common | fields)


_CONSTANT = Row(
    key="adaptive/theorem-2-constant",
    title="Constant step size",
    locator="Theorem 2, Table 1, row 1",
    steps="a constant step eta <= q/beta",
    bound=theorem_2_constant,
    conditions=step_conditions,
    monotone=_GROWS,
    tight="The bound is tight for one client with mu = beta at eta = 1/beta. The contraction without noise is attained "
    "as the share w_i of client i vanishes beside one peer R_k = (1 - sqrt(1 - r)) R_i at eta = r/beta.",
    running_tight="The bound is tight if e_T = eps, without noise.",
    stopped_tight="Each of the two terms is tight, and their sum is not.",
    unconditional_tight="The bound is tight for one client with mu = beta at eta = 1/beta, where V_max = s2.",
    from_constants=(
        Reduction(
            key="adaptive/theorem-1",
            when="if only constants are known, so that p = 1 and V = V_max",
            at=lambda *, V, **_: {"s2": V / 2, "V_max": V, "below": 1.0},
        ),
    ),
)

_HORIZON = Row(
    key="adaptive/theorem-2-horizon",
    title="Step size for a horizon",
    locator="Theorem 2, Table 1, row 2",
    steps="eta = min(q/beta, ln(e_0/K)/(mu T)), K = beta s2/(2 mu^2 T) < e_0",
    bound=theorem_2_horizon,
    conditions=horizon_conditions,
    monotone={"e0": 1},
    tight="The bound is tight if the limit binds and noise is negligible, with many peers of small similarity and "
    "small eta mu.",
)

# The sharper bound is x^c e^((1 - x)(c - 1)), c = min(C, 2), while the old one x is at most 1. At a precision 10^40
# times as large x is 10^40 times as small, and nothing is left of it in the exponential.
_FAR = 1e40


def _of_sharper(new, *, C, eps, **others):
    """P(tau > T) by Markov from `theorem-2-decreasing-running-sharp`."""
    power = minimum(C, 2)
    return _FAR * (new(eps=_FAR * eps) * decay(power - 1)) ** (1 / power)


_DECREASING = Row(
    key="adaptive/theorem-2-decreasing",
    title="Decreasing step size",
    locator="Theorem 2, Table 1, row 3",
    steps="eta_t = C/(mu (t + gamma)), C > 1, gamma >= C beta/(mu q) - 1",
    bound=theorem_2_decreasing,
    conditions=decreasing_conditions,
    monotone={"e0": 1, "s2": 1},
    tight="The noise term is tight for T large, and the term of the start for C near 1 and gamma large.",
    sharper_running=Sharper(key="adaptive/theorem-2-decreasing-running-sharp", ratio=(1, np.inf), exactly=_of_sharper),
)


# P(tau > T) below B_T/eps. Noise counts where the path still runs: P(tau >= t) <= u_{t-1}/eps, u_t = E[e_t 1{tau > t}].
# With n = t + gamma and K = C^2 beta s2/(2 mu^2) <= (C - 1) nu, once u_{t-1} <= eps,
#     u_t <= (1 - C/n + K/(n^2 eps)) u_{t-1} <= (1 - C/n + (C - 1) k/n) u_{t-1},   k = nu/(n eps).
# With p = min(C, 2), f(x) = x^-p e^{(p-1)(1-1/x)} and N = nu/eps: u_t <= eps f((n + 1)/N) wherever n + 1 >= N.
# *After* N (k <= 1): the factor falls with C, so that C may be put to p, and is at most exp(-p/n + (p - 1) N/n^2);
# that is at most f((n + 1)/N)/f(n/N) = exp(-p ln(1 + 1/n) + (p - 1) N/(n (n + 1))), because
# ln(1 + 1/n) <= (1/n + 1/(n + 1))/2 leaves p/(2 n (n + 1)) >= (p - 1)/(n (n + 1)) >= (p - 1) N/(n^2 (n + 1)).
# *At* N, n <= N <= n + 1: u_{t-1} <= nu/n and all of the noise give u_t <= eps N (n - 1)/n^2. Over f((n + 1)/N) this is
# largest at N = n and p = 2, where the same bound of ln(1 + 1/n) leaves ln(1 - 1/n) <= -1/n.


@theorem(
    key="adaptive/theorem-2-decreasing-running-sharp",
    title="Decreasing step size, probability of still running, noise while running",
    source=source(_DECREASING.locator),
    statement=f"With tau = min{{t: e_t < eps}}, weights of Definition 1 and {_DECREASING.steps}: P(tau > T) is at "
    "most y^p e^((p-1)(1-y)), y = min(1, B_T/eps), p = min(C, 2), B_T the bound of E[e_T 1{tau >= T}]: it falls as "
    "T^-p.",
    quantity=Quantity.STILL_RUNNING,
    mode="probability",
    hypotheses=STANDING,
    conditions=decreasing_conditions,
    tight="The bound is tight soon after the start, if e_0 = eps and C = 2 at steps of small eta mu, for a client that "
    "stays at eps or stops.",
    monotone={"e0": 1, "s2": 1, "eps": -1},
)
def theorem_2_decreasing_running(*, C, gamma, mu, beta, e0, s2, T, eps):
    """y^p e^{(p-1)(1-y)} with y = min(1, B_T/eps) and p = min(C, 2)."""
    y = minimum(1, theorem_2_decreasing(C=C, gamma=gamma, mu=mu, beta=beta, e0=e0, s2=s2, T=T) / eps)
    p = minimum(C, 2)
    return y**p / decay((p - 1) * (1 - y))


def curvature_conditions(*, mu, beta) -> Conditions:
    """mu <= beta always."""
    return {"curvature mu <= beta": (mu, beta)}


@theorem(
    key="adaptive/theorem-2-offset",
    title="Least offset of the decreasing step size",
    source=source("Theorem 2, Table 1, row 3"),
    quantity=Quantity.OFFSET,
    mode="sure",
    conditions=curvature_conditions,
    tight="The bound is always tight, because a smaller offset breaks the limit at t = 1.",
    monotone={"C": 1, "beta": 1, "mu": -1, "q": -1},
)
def theorem_2_offset(*, C, mu, beta, q):
    """eta_t = C/(mu (t + gamma)) meets eta_t <= q/beta for every t >= 1 as soon as gamma is at least the bound."""
    return difference(C * beta / (mu * q), 1)


@theorem(
    key="adaptive/theorem-2-decreasing-best",
    title="Decreasing step size, least offset and best factor, while running",
    source=source("Theorem 2, Table 1, row 3"),
    quantity=Quantity.EXCESS_WHILE_RUNNING,
    hypotheses=STANDING,
    conditions=curvature_conditions,
    tight="This C makes nu least among all C > 1 at the least offset.",
    monotone={"e0": 1, "s2": 1, "T": -1},
)
def theorem_2_decreasing_best(*, mu, beta, q, e0, s2, T):
    """With chi = 2 mu e_0/(q s2), C = 2 if chi <= 2 and chi/(chi - 1) otherwise, gamma = C beta/(mu q) - 1,
    eta_t = C/(mu (t + gamma)) and tau = min{t: e_t < eps}: E[e_T 1{tau >= T}] is at most the bound.

    nu / (gamma_min + T + 1) at the best C, in m = max(mu e_0, q s2)."""
    m = maximum(mu * e0, q * s2)
    return 2 * beta * m * quotient(m, mu * (2 * beta * m + mu * q * (2 * m - q * s2) * T))


THEOREMS = records(
    theorem_2_constant_printed,
    *_CONSTANT.theorems(),
    theorem_2_constant_gradient_running,
    theorem_2_horizon_printed,
    *_HORIZON.theorems(),
    theorem_2_decreasing_printed,
    *_DECREASING.theorems(),
    theorem_2_decreasing_running,
    theorem_2_offset,
    theorem_2_decreasing_best,
)
