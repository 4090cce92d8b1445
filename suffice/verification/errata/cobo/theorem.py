"""Errata of the CoBo paper: Theorem I and Corollary II."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.bounds import evaluate, find
from suffice.bounds.theorems.cobo.theorem_1_printed import conditions_printed
from suffice.simulate import Local, Quadratics, expected_excess

from ...claims.cobo import averages
from ..erratum import Finding
from .paper import false, hypothesis, typo

GRADIENT = ("theorem-1-midpoint-gradient", "midpoint_gradient", "average of E|grad f_ij(z_ij)|^2")
CONSENSUS = ("theorem-1-consensus", "consensus_after", "average of E|x_i - x_j|^2")
CLIENT = ("corollary-2", "client_gradient", "average of E|grad f_i(x_i)|^2")
CASES = ("hardly any noise", "a step of 1e-9", "equal clients in noise", "a penalty of 100")
"""The instances of `averages.printed`, in order."""


def _average(statement: tuple[str, str, str], case: int) -> Finding:
    """One of the printed averages on one of the instances, all conditions of the print met."""
    key, name, quantity = statement
    evidence = averages.printed(name)
    theorem = find(f"cobo/{key}", "printed")
    names = [parameter.name for parameter in theorem.parameters]
    arguments: dict[str, Any] = {name: float(evidence.arguments[name][case]) for name in names}
    shown = {
        "f_1": "x^2/2", "f_2": f"{arguments['beta']:g} x^2/2", "case": CASES[case],
        **{name: float(f"{arguments[name]:.6g}") for name in ("rho", "eta", "T")},
        "sigma": arguments["sigma2"] ** 0.5, "quantity": quantity,
    }  # fmt: skip
    return Finding(inputs=shown, printed=float(evaluate(theorem, **arguments)), measured=float(evidence.measured[case]))


_QUIET = "r = sqrt(L sigma^2 Delta / T) vanishes with sigma, and a term of the order of Delta/(eta T) is missing."


@false(
    location="Theorem I, second bound",
    claim="the average of E|grad f_ij(z_ij)|^2 is at most 3 r",
    truth=_QUIET,
    key="cobo/theorem-1-midpoint-gradient",
)
def theorem_1_gradient_without_noise() -> Finding:
    return _average(GRADIENT, 0)


@false(
    location="Theorem I, first bound",
    claim="the average of E|x_i - x_j|^2 is at most 6 M_ij^2 r / (rho^2 c^2)",
    truth=_QUIET,
    key="cobo/theorem-1-consensus",
)
def theorem_1_consensus_without_noise() -> Finding:
    return _average(CONSENSUS, 0)


@false(
    location="Corollary II",
    claim="the average of |grad f_i(x_i)|^2 is at most 4 r",
    truth=_QUIET,
    key="cobo/corollary-2",
)
def corollary_2_without_noise() -> Finding:
    return _average(CLIENT, 0)


@hypothesis(
    location="Theorem I, step size",
    claim="every eta <= min{2 r / (L sigma^2), 1/(2 sqrt(3) L)} reaches the bound",
    truth="The proof needs eta equal to the minimum: a smaller step does not arrive within T steps.",
    key="cobo/theorem-1-midpoint-gradient",
)
def theorem_1_small_step() -> Finding:
    return _average(GRADIENT, 1)


@false(
    location="Theorem I, first bound",
    claim="the consensus distance vanishes with M_ij",
    truth="Noise keeps equal clients apart; the proof drops (1/c^2 + 3 eta L M^2) sigma^2/(2 rho^2 c^2).",
    key="cobo/theorem-1-consensus",
)
def theorem_1_consensus_noise() -> Finding:
    return _average(CONSENSUS, 2)


@hypothesis(
    location="Theorem I, step size",
    claim="rho has no upper limit",
    truth="eta <= 1/(2 rho c) of Lemma 4 is missing; with a larger step the models overshoot their mean.",
    key="cobo/theorem-1-consensus",
)
def theorem_1_step_limit() -> Finding:
    return _average(CONSENSUS, 3)


@typo(
    location="Theorem I and the last display of Appendix A.2",
    claim="2 + 24 M_ij^2 <= 3 for M_ij^2 in (0, 1/5)",
    truth="The inequality needs M_ij^2 <= 1/24; M_ij <= 1/5, as in Lemma 4 and Appendix A.3, is enough.",
    key="cobo/theorem-1-midpoint-gradient",
)
def theorem_1_heterogeneity() -> Finding:
    M2 = 0.19
    inputs = {"M_ij^2": M2, "quantity": "2 + 24 M_ij^2, which the last step replaces by 3"}
    return Finding(inputs=inputs, printed=3.0, measured=2 + 24 * M2)


@hypothesis(
    location="Theorem I, Lemma 4",
    claim="b >= (2/c^2) 2 L eta (c - 2) sigma^2",
    truth="The right side has the unit of a squared gradient and changes with the unit of the loss.",
    key="cobo/theorem-1-consensus",
    direction="equality",
)
def theorem_1_minibatch() -> Finding:
    def needed(unit: float) -> float:
        """The batch that the condition asks for when losses are expressed in units `unit` times smaller."""
        beta, eta, sigma2, e0, size = 1.0 * unit, 0.2 / unit, 10.0 * unit**2, 1.0 * unit, 4
        given = conditions_printed(eta=eta, beta=beta, rho=beta, size=size, M=0.1, batch=1, e0=e0, sigma2=sigma2, T=1)
        (condition,) = [pair for name, pair in given.items() if "minibatch" in name]
        return float(condition[0])

    inputs = {
        "L": 1, "eta": 0.2, "sigma^2": 10, "c": 4,
        "quantity": "least minibatch, losses told in one unit and in another ten times smaller",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=needed(1.0), measured=needed(10.0))


@typo(
    location="Corollary II",
    claim="the average of |grad f_i(x_i)|^2, without an expectation, is at most 4 r",
    truth="The left side is random, and its expectation is meant.",
    key="cobo/corollary-2",
)
def corollary_2_expectation() -> Finding:
    # one client, f = x^2/2 from x = 1, T = 2; an error of -100 with probability 1e-4, else 0.01: variance 1
    eta, chance = 0.28, 1e-4
    spread = np.sqrt((1 - chance) / chance)
    after = 1 - eta * (1 - spread)
    printed = evaluate(find("cobo/corollary-2", "printed"), eta=eta, beta=1.0, rho=2.0, size=1, M=0.0, batch=1, e0=0.5,
                       sigma2=1.0, T=2)  # fmt: skip
    inputs = {
        "c": 1, "f": "x^2/2", "x^0": 1, "eta": eta, "T": 2, "sigma": 1,
        "noise": "about -100 with probability 1e-4, about 0.01 otherwise",
        "quantity": "average of |grad f(x)|^2 on a path where the first error is large",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=float(printed), measured=float((1 + after**2) / 2))


@false(
    location="text after Theorem I",
    claim="M_ij = 0 leads to identical data distribution",
    truth="M_ij = 0 says that the gradients are identical; f_i = E(x - xi)^2/2 depends on the mean of the data alone.",
    key="cobo/example-2-similarity",
    direction="equality",
)
def theorem_1_identical_data() -> Finding:
    # the gradient is x - E xi: (A4) holds with M = 0 for data of one mean
    points, first, second = np.array([-1.0, 0.0, 1.0]), np.array([0.5, 0.0, 0.5]), np.array([0.0, 1.0, 0.0])
    assert first @ points == second @ points
    inputs = {"data of i": "-1 or 1", "data of j": "0", "loss": "(x - xi)^2/2", "M_ij": 0,
              "quantity": "total variation distance of the two distributions"}  # fmt: skip
    return Finding(inputs=inputs, printed=0.0, measured=float(np.abs(first - second).sum() / 2))


@typo(
    location="Algorithm 1, line 7, and Theorem I",
    claim="the models of a step s drawn from [T] = {1, ..., T} are returned; gradients are averaged over 0, ..., T - 1",
    truth="The average is the expectation at s drawn from {0, ..., T - 1}; with s shifted, the expectation may be far "
    "from the average.",
    key="cobo/algorithm-1-output",
    direction="equality",
)
def algorithm_1_output() -> Finding:
    # eta within 2 sqrt(Delta)/(sigma sqrt(L T)) = 0.283 and 1/(2 sqrt(3) L) = 0.289
    x, eta = 0.2, 0.28
    problem = Quadratics.of(np.full((1, 1, 1), 0.5), np.zeros((1, 1)), sigma2=1.0, start=[x])
    excess = expected_excess(problem, Local(), iterations=1, eta=eta)[:, 0]
    inputs = {"c": 1, "f": "x^2/2", "x_0": x, "sigma": 1, "eta": eta, "T": 1, "quantity": "E|f'(x_s)|^2, s = 0 and 1"}
    return Finding(inputs=inputs, printed=float(2 * excess[0]), measured=float(2 * excess[1]))
