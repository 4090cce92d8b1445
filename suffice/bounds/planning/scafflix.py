"""The plans of Scafflix: Yi, Condat, Richtarik (2023), Corollary 2, equalised steps, and the released code's rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import ConditionError, InputError
from ..evaluate import check_conditions, evaluate
from ..quantities import Quantity
from ..scafflix_settings import Steps, equalised_steps, paper_steps, released_steps
from ..theorems import find
from ..theorems.scafflix.start import inverse_step, stiffness
from .method_plan import MethodPlan, failure, of_error, unknown_excess, whole
from .network import Network

_SOLUTION = "x_i* solves the mixed objective with weight alpha; client i's own optimum is elsewhere unless they agree"
KEYS = {
    "scafflix": "scafflix/equalised-iterations",
    "scafflix-paper": "scafflix/corollary-2-iterations",
    "scafflix-released": "scafflix/theorem-1",
}
PROMISES = {
    "scafflix": (
        "E[(1/(2 n)) sum_i mu_i |x_i - x_i*|^2]",
        f"E[(1/(2 n)) sum_i mu_i |x_i - x_i*|^2] <= epsilon after every T >= rounds; {_SOLUTION}",
    ),
    "scafflix-paper": (
        Quantity.LYAPUNOV.expression,
        f"E[Psi_T] <= eps_Psi = 2 epsilon / max mu after every T >= rounds, Psi a Lyapunov function; {_SOLUTION}",
    ),
}
PROMISES["scafflix-released"] = PROMISES["scafflix-paper"]


def scafflix_plan(network: Network, epsilon: float, *, rule: str = "scafflix", alpha: float = 0.5) -> MethodPlan:
    """`rule` is "scafflix" (equalised steps), "scafflix-paper" (Corollary 2) or "scafflix-released" (the code's).

    epsilon [loss] becomes eps_Psi = 2 epsilon / max mu where a rule aims at the Lyapunov function. The start's control
    variates are those of `bounds.scafflix_settings.initial_control_variates`, one communication.
    """
    if rule not in KEYS:
        raise InputError("rule", rule, f"use {', '.join(KEYS)}")
    if not 0 < alpha <= 1:
        raise InputError("alpha", alpha, "personalisation weights are in (0, 1]")
    quantity, guarantee = PROMISES[rule]
    row = MethodPlan(method=rule, epsilon=epsilon, theorem=KEYS[rule], quantity=quantity, guarantee=guarantee)
    constants = network.constants
    weights = np.full(network.clients, alpha)
    mu, eps_Psi = constants.mu, 2 * epsilon / constants.mu.max().item()
    A, C = (constants.beta, constants.sigma2) if network.A is None or network.C is None else (network.A, network.C)
    A = np.maximum(A, constants.beta)
    if rule == "scafflix-released":
        smooth = constants.beta if network.released is None else network.released
        least = mu.min().item() if network.released_mu is None else network.released_mu
        if least > smooth.min():
            failed = failure("curvature mu <= L", least, smooth.min().item(), "the released code's L is below mu")
            return replace(row, failure=failed)
        steps = released_steps(L=smooth, mu=least, alpha=weights)
    elif rule == "scafflix":
        steps = equalised_steps(A=A, C=C, mu=mu, eps_mu=epsilon)
    else:
        steps = paper_steps(A=A, C=C, mu=mu, eps_Psi=eps_Psi)
    settings: dict[str, Any] = {"alpha": alpha, "eta": steps.eta, "p": steps.p}
    bias = network.mixed_excess(weights)
    if bias is not None:
        settings["excess_of_the_solution"] = bias
    if rule != "scafflix":
        settings["eps_Psi"] = eps_Psi
    row = replace(row, settings=settings, notes=(*constants.notes, *network.notes))
    if network.spread:
        reason = "all models have to start at one point"
        return replace(row, failure=failure("common start: largest distance <= 0", network.spread, 0.0, reason))
    distance2 = network.mixed_distance2(weights)
    if distance2 is None:
        return replace(row, failure=unknown_excess())
    if distance2 == 0:
        return replace(row, rounds=whole(np.zeros(network.clients)), samples_per_client=0.0, vectors=0.0)
    Psi0 = _initial(steps, weights, constants.beta, distance2)
    settings["Psi0"] = Psi0
    try:
        rounds = _rounds(rule, steps, A=A, C=C, mu=mu, Psi0=Psi0, epsilon=epsilon, eps_Psi=eps_Psi)
    except ConditionError as error:
        reason = "a mean of L_i stands where the theorem needs the maximum" if rule == "scafflix-released" else ""
        return replace(row, failure=of_error(error, reason))
    except InputError as error:
        return replace(row, failure=of_error(error))
    if not np.isfinite(rounds):
        floor = _floor(steps, C=C, mu=mu)
        return replace(row, failure=failure("noise floor <= eps_Psi", floor, eps_Psi, "the steps are too long"))
    T = whole([rounds])[0]
    communications = T * steps.p
    return replace(
        row,
        settings=settings | {"communications": communications},
        rounds=(T,) * network.clients,
        samples_per_client=T,
        vectors=2 * network.clients * (communications + 1),  # and one round for the control variates
    )


def _initial(steps: Steps, alpha: np.ndarray, beta: np.ndarray, distance2: float) -> float:
    # equal steps and alpha = 1 meet eta_min <= 1/inverse_step with equality: its rounding is taken back, far less than
    # `evaluate` adds
    return float(
        evaluate(
            find("scafflix/initial-lyapunov"),
            eta_min=steps.eta.min().item(),
            p=steps.p,
            distance2=distance2,
            inverse_step=float(inverse_step(alpha=alpha, eta=steps.eta)) * (1 - 1e-15),
            stiffness=float(stiffness(alpha=alpha, eta=steps.eta, beta=beta)),
        )
    )


def _rounds(
    rule: str,
    steps: Steps,
    *,
    A: np.ndarray,
    C: np.ndarray,
    mu: np.ndarray,
    Psi0: float,
    epsilon: float,
    eps_Psi: float,
) -> float:
    kappa = (A / mu).max().item()
    if rule == "scafflix":
        return float(
            evaluate(
                find(KEYS[rule]),
                kappa_max=kappa,
                noise_mean=(C / mu).mean().item(),
                mu_max=mu.max().item(),
                Psi0=Psi0,
                eps_mu=epsilon,
            )
        )
    if rule == "scafflix-paper":
        return float(
            evaluate(
                find(KEYS[rule]),
                kappa_max=kappa,
                noise_max=(C / mu).max().item(),
                mu_min=mu.min().item(),
                Psi0=Psi0,
                eps_Psi=eps_Psi,
            )
        )
    theorem = find(KEYS[rule])
    check_conditions(theorem, **steps.arguments(A=A, C=C, mu=mu), Psi0=Psi0, T=1)
    # (1 - zeta)^T Psi0 + floor (1 - (1 - zeta)^T) <= eps_Psi
    zeta, floor = _rate(steps, mu), _floor(steps, C=C, mu=mu)
    if Psi0 <= eps_Psi and floor <= eps_Psi:
        return 0.0
    if floor >= eps_Psi:
        return np.inf
    return np.log((Psi0 - floor) / (eps_Psi - floor)).item() / -np.log1p(-min(zeta, 1 - 1e-16)).item() * (1 + 1e-9)


def _floor(steps: Steps, *, C: np.ndarray, mu: np.ndarray) -> float:
    return steps.eta.min().item() * (steps.eta * C).mean().item() / _rate(steps, mu)


def _rate(steps: Steps, mu: np.ndarray) -> float:
    """zeta of Theorem 1: Psi contracts by 1 - zeta per iteration."""
    return min((steps.eta * mu).min().item(), steps.p**2)
