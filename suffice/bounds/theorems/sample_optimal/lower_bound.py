"""Theorem 1: how many rounds any method needs for agent i."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...bayes_risk import inverse_risk, risk
from ...elementary import quotient, sqrt
from ...quantities import Quantity
from ...theorem import Conditions, Definition, record_of, records, reduces_to, theorem
from ...units import GRADIENT_SQUARED, LOSS
from .paper import source

_CLASS = (
    "the worst case is taken over all instances with mu = L, |x_j*| <= ball, total variance at most sigma2 and strong "
    "dissimilarities b, a semi-metric; T rounds give every method T samples of every agent"
)
_FAMILY = f"{_CLASS}; signal2 = sum_j (sqrt(2 mu e0) - b_ij)_+^2"

# The family, s = +-1: f_j(x) = mu (x - m_j)^2 / 2 (in one coordinate), samples N(m_j, sigma^2/mu^2), with
# m_j = s (delta - b_ij/mu)_+ and delta = sqrt(2 e_0/mu), so that f_i(0) - f_i* = e_0.
# It is in the class: gradients differ by mu |m_j - m_k| <= |b_ij - b_ik| <= b_jk everywhere, |m_j| <= delta <= r.
# Samples tell at least what gradients tell, so T rounds are T draws from every agent; their sufficient statistic
# for s is N(su, 1) with u^2 = T sum_j mu^2 m_j^2 / sigma^2 = T S/sigma^2, S = sum_j (sqrt(2 mu e_0) - b_ij)_+^2.
# The larger of the two errors is at least their mean, which for any estimator of s delta is at least
# (mu/2) delta^2 R(u) = e_0 R(u), R the Bayes risk of `bounds.bayes_risk`. Being at most eps thus needs
# u >= R^{-1}(eps/e_0).


@theorem(
    key="sample-optimal/theorem-1-excess",
    title="Least excess loss after some rounds",
    source=source("Theorem 1"),
    quantity=Quantity.EXCESS,
    direction="lower",
    hypotheses=_FAMILY,
    # The same family; beyond T S = 100 sigma^2 the bound is below e_0 exp(-50).
    conditions=lambda *, mu, e0, sigma2, signal2, ball, T: {
        "family in the ball, 2 e0 <= mu ball^2": (2 * e0, mu * ball**2),
        "agent i's own share 2 mu e0 <= signal2": (2 * mu * e0, signal2),
        "not yet decided, T signal2 <= 100 sigma2": (T * signal2, 100 * sigma2),
    },
    tight="The posterior mean attains the bound on the family.",
    monotone={"sigma2": 1, "signal2": -1, "T": -1},
)
def theorem_1_excess(*, e0, sigma2, signal2, T):
    """After T rounds every method has an excess loss of agent i of at least the bound on some instance with f_i(0) -
    f_i* = e0."""
    return e0 * risk(sqrt(quotient(T * signal2, sigma2)))


_record = partial(theorem, quantity=Quantity.ROUNDS, source=source("Theorem 1"), direction="lower")


@reduces_to("sample-optimal/theorem-1-sum", "at e0 = 2 eps", lambda *, eps, **_: {"e0": 2 * eps})
@_record(
    key="sample-optimal/theorem-1-optimised",
    title="Lower bound at any level of the start",
    hypotheses=_FAMILY,
    # The family lies in the ball, agent i counts itself, and the risk eps/e_0 is clear of 1.
    conditions=lambda *, mu, eps, e0, signal2, ball: {
        "precision eps <= 0.9991 e0": (eps, 0.9991 * e0),
        "family in the ball, 2 e0 <= mu ball^2": (2 * e0, mu * ball**2),
        "agent i's own share 2 mu e0 <= signal2": (2 * mu * e0, signal2),
    },
    tight="The posterior mean estimates the family itself no worse.",
    monotone={"sigma2": 1, "signal2": -1, "eps": -1},
)
def theorem_1_optimised(*, eps, e0, sigma2, signal2):
    """A method whose excess loss for agent i is at most eps on every instance needs at least as many rounds, for every
    e0 in (eps, mu ball^2/2]; the best e0 is at most 3.1451 eps."""
    return sigma2 / signal2 * inverse_risk(eps / e0) ** 2


# e_0 = 2 eps: the square of the u at which R(u) = 1/2, 0.85084443761416079..., rounded down (tests: 50 digits).
HALF = 0.8508444376141607


@reduces_to(
    "sample-optimal/theorem-1",
    "if every agent that counts has b_ij = 0",
    lambda *, mu, eps, near, **_: {"signal2": 4 * mu * eps * near},
)
@_record(
    key="sample-optimal/theorem-1-sum",
    title="Lower bound by the sum of closenesses",
    hypotheses=f"{_FAMILY}, e0 = 2 eps",
    # The family at e_0 = 2 eps.
    conditions=lambda *, mu, eps, signal2, ball: {
        **theorem_1_conditions(mu=mu, eps=eps, ball=ball),
        "own share 4 mu eps <= signal2": (4 * mu * eps, signal2),
    },
    tight="The bound is that of theorem-1-optimised at e0 = 2 eps.",
    monotone={"sigma2": 1, "signal2": -1},
)
def theorem_1_sum(*, sigma2, signal2):
    """The same holds with signal2 = sum_j (2 sqrt(mu eps) - b_ij)_+^2, which is at most 4 mu eps near."""
    return HALF * sigma2 / signal2


def theorem_1_conditions(*, mu, eps, ball) -> Conditions:
    """The family at e_0 = 2 eps lies in the ball."""
    return {"family in the ball, 4 eps <= mu ball^2": (4 * eps, mu * ball**2)}


# S <= 4 mu eps N_i: each of the N_i agents with b_ij^2 <= 4 mu eps adds at most (2 sqrt(mu eps))^2.


@_record(
    key="sample-optimal/theorem-1",
    title="Lower bound by the number of near agents",
    hypotheses=_CLASS,
    conditions=theorem_1_conditions,
    tight="The bound is within a factor 1.13 of theorem-1-optimised when the agents that count have b_ij = 0.",
    monotone={"sigma2": 1, "near": -1, "mu": -1, "eps": -1},
)
def theorem_1(*, mu, eps, sigma2, near):
    """A method whose excess loss for agent i is at most eps on every instance needs at least as many rounds,
    near = #{j: b_ij^2 <= 4 mu eps}."""
    return HALF / 4 * sigma2 / (mu * eps * near)


# Which e_0 is best? As w = e_0/eps grows, S = sum (mu delta - b_ij)_+^2 grows at least like w, and v = R^{-1}(1/w)^2
# like w^a with a = 1/(v |d ln R/dv|). With b = 0 the best w is where a = 1, at 3.1451; there a passes below 1, so
# beyond it v/S falls for every b. Any e_0 gives a valid bound, so the search need not be exact: a grid of w - 1,
# logarithmic, and one refinement.
_LEAST, _FURTHEST = 1e-3, 2.1451
_RISES = np.geomspace(_LEAST / _FURTHEST, 1, 120)


def signal(*, b, mu, e0):
    """S = sum_j (sqrt(2 mu e_0) - b_ij)_+^2."""
    return (np.maximum(np.sqrt(2 * mu * e0)[..., None] - np.asarray(b, dtype=float), 0) ** 2).sum(-1)


def best_level(*, b, mu, eps, ball):
    """The e_0 in (eps, mu r^2/2] at which Theorem 1 asks for most rounds; eps itself where there is none."""
    b, mu, eps, ball = (np.asarray(x, dtype=float) for x in (b, mu, eps, ball))
    room = np.minimum(mu * ball**2 / (2 * eps) - 1, _FURTHEST)

    def best(rises: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            e0 = eps[..., None] * (1 + rises)
            value = inverse_risk(1 / (1 + rises)) ** 2 / signal(b=b[..., None, :], mu=mu[..., None], e0=e0)
        return np.argmax(np.where(rises >= _LEAST, value, -1), -1)[..., None]

    rises = np.maximum(room, 0)[..., None] * _RISES
    at = best(rises)
    low, high = (np.take_along_axis(rises, np.clip(at + side, 0, len(_RISES) - 1), -1) for side in (-1, 1))
    rises = low + (high - low) * np.linspace(0, 1, 41)
    chosen = np.take_along_axis(rises, best(rises), -1)[..., 0]
    return (eps * (1 + np.where(room >= _LEAST, chosen, 0)))[()]


OPTIMISED = record_of(theorem_1_optimised)

THEOREMS = records(
    record_of(theorem_1).as_printed(
        "Omega hides a constant.",
        fault="The rounds are an infimum over K of one method's outputs, so that a method that outputs a fixed grid, "
        "point by point, needs as many rounds as the grid has points, whatever the noise; and N_i is described as "
        "counting b_ij^2 <= eps.",
        statement="With eps < 1/16 and mu = L = 1/r^2, every method needs Omega(r^2 sigma^2/(eps N_i)) rounds on some "
        "instance, N_i = #{j: b_ij^2 <= 4 mu eps}.",
        hypotheses="",
    ),
    theorem_1,
    theorem_1_sum,
    theorem_1_optimised,
    theorem_1_excess,
)

_LEVEL = r"\Big(\sqrt{2\mu e_0} - b_{ij}\Big)_+^2"

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="sample-optimal/theorem-1-count",
        title="Agents that may help agent i",
        source=source("Theorem 1"),
        latex=r"\mathcal{N}_i^\varepsilon\big(\tfrac{b^2}{4\mu}\big) = \#\{j: b_{ij}^2 \le 4\mu\varepsilon\}",
        shapes={"mu": "", "eps": ""},
        reduce=lambda *, b, mu, eps: (b <= 2 * np.sqrt(mu * eps)[..., None]).sum(-1),
    ),
    Definition(
        key="sample-optimal/theorem-1-signal",
        title="What one round of all agents tells about agent i",
        source=source("Theorem 1"),
        latex=rf"S_i = \sum_j {_LEVEL}",
        unit=GRADIENT_SQUARED,
        shapes={"mu": "", "e0": ""},
        reduce=signal,
    ),
    Definition(
        key="sample-optimal/theorem-1-level",
        title="Level of the start at which most rounds are needed",
        source=source("Theorem 1"),
        latex=rf"\arg\max_{{\varepsilon < e_0 \le \mu r^2/2}} R^{{-1}}(\varepsilon/e_0)^2 \Big/ \sum_j {_LEVEL}",
        unit=LOSS,
        shapes={"mu": "", "eps": "", "ball": ""},
        reduce=best_level,
    ),
)
