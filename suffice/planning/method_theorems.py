"""Which record covers a method on a problem, at which step; or the condition that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from suffice.bounds.evaluate import evaluate
from suffice.support.errors import InputError

from .guaranteed.fixed_weights import uniform_dissimilarity
from .guaranteed.records import Promise, promises

if TYPE_CHECKING:
    from suffice.simulate import Problem

ROUNDS = "sample-optimal/theorem-2-rounds"
GROWING = "adaptive/theorem-1-multiplicative"
LOCAL_STEPS = "no record covers local steps between averages"
CONSENSUS = "its records are of the distance to one optimum that all share, not of a site's excess"
UNBOUNDED = "one sigma bounds the noise at all models: false of rows"

APART = {
    "matrix": "no record is about gradients times a matrix; times are exact all the same",
    "sampled": "its records take exact similarities",
}
"""Settings that are not covered."""

Covered = Callable[[str, str], tuple[Promise | None, str]]


def coverage(problem: Problem, epsilon: np.ndarray, share: float) -> Covered:
    """By name and setting of a method: the promise of least step among clients, and why there is none."""
    try:
        constants = problem.constants()
    except InputError as error:
        why = str(error)
        return lambda name, setting: (None, why)
    first = problem.start.mean(0).expand_as(problem.start)  # where a server's model starts
    together, apart = problem.excess(first[None])[0].double().cpu().numpy(), bool((problem.start != first).any())
    free = not constants.unbounded and not getattr(problem, "shared_noise", False)
    found = promises(constants, [float(epsilon.mean())]) if free else []

    def local() -> Promise | None:
        """Noise that grows with the gradient: half of the descent is left to it."""
        floor, factor = problem.noise_growth()
        mu, beta, level = constants.mu, constants.beta, epsilon
        with np.errstate(all="ignore"):
            step = np.minimum(np.minimum(1, 0.5 / factor) / beta, mu * level / (2 * beta * floor))
        return Promise(method="Local", theorem=GROWING, client=None, epsilon=float(level.mean()), eta=float(step.min()))

    def equal() -> tuple[Promise | None, str]:
        """Equal weights on everybody, one step a round: theorem-2-rounds of every client."""
        mu, beta, N = constants.mu, constants.beta, constants.clients
        bias, lambda2, sigma2 = uniform_dissimilarity(constants).mean(1), 1 / N, constants.sigma2.mean()
        if not np.isfinite(bias).all():
            return None, "|grad R_i - grad R_k| <= b_ik at all models: no finite b"
        worst = int((bias**2 / (mu * epsilon)).argmax())
        left, right = float(bias[worst] ** 2), float(1.8 * mu[worst] * epsilon[worst])
        if left > right:
            return None, f"bias^2 <= 1.8 mu epsilon fails ({left:.3g} > {right:.3g}, {constants.names[worst]})"
        slack = epsilon - bias**2 / (2 * mu)
        step = np.minimum(1 / beta, mu * slack / (beta * sigma2 * lambda2))
        T = evaluate(ROUNDS, mu=mu, beta=beta, eps=epsilon, e0=together, sigma2=sigma2, lambda2=lambda2, bias=bias)
        return Promise(
            method="FedAvg", theorem=ROUNDS, client=None, epsilon=float(epsilon.mean()), eta=float(step.min()),
            rounds=float(np.ceil(T.max())), variance=float(sigma2 * lambda2),
        ), ""  # fmt: skip

    def covered(name: str, setting: str) -> tuple[Promise | None, str]:
        one = name
        if name in ("FedProx", "SCAFFOLD") or (name == "FedAvg" and setting != "K=1"):
            return None, LOCAL_STEPS
        if name == "Scaffnew":
            return None, CONSENSUS
        if setting in APART or (share < 1 and name in ("FedAvg", "All-for-one")):
            return None, APART.get(setting, "no record covers sites that are drawn or absent")
        if not free:
            return (
                (local(), "") if name == "Local" else (None, UNBOUNDED if constants.unbounded else "independent noise")
            )
        if name == "FedAvg":
            return equal()
        if name == "All-for-all" and apart:
            return None, "sites start apart"
        mine = [two for two in found if two.method.partition(",")[0] == one and not two.why_not and two.eta]
        if not mine:
            why = next((two.why_not for two in found if two.method.partition(",")[0] == one), "")
            return None, why or "the start is already there"
        soonest = {two.client: two for two in sorted(mine, key=lambda two: -(two.rounds or np.inf))}
        return max(soonest.values(), key=lambda two: two.rounds or 0), ""

    return covered
