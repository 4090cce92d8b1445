"""Claims on Lemma 1 and Theorem 1 of the adaptive paper: one step by all outcomes, a run by closed forms and paths."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from ...claim import Claim
from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances import enumerated_paths, one_step
from ...instances.aligned_pair import Aligned, sharp_values
from ...instances.enumerated_paths import QUADRATIC, RIPPLED, WAVE, Arguments, Loss, Paths
from ...instances.one_step import DOMAINS, OneStep
from ...instances.recursions import affine
from ...instances.rows import columns
from ...instances.scheduled import outside_step_limit
from ...widened_conditions import beyond
from .families import aligned


def _sharp_step() -> Values:
    """One peer of gradient (1 - sqrt(1 - r)) grad R_i at eta = 1/(beta alpha): Jensen loses nothing."""
    return one_step.instances(*(
        {
            "beta": beta,
            "factor": [1 - np.sqrt(1 - r), 1.0],
            "alpha": [0.0, 0.7, 0.0],
            "sigma2": [1.0, noise, 1.0],
            "angle": [0.0, 1.0, 0.0],
        }
        for beta, r, noise in product((1.0, 3.0), (1.0, 0.5, 0.1), (1.0, 1e-6))
    ))  # fmt: skip


def _sharp_mean_step() -> Values:
    """R_i of Hessian beta I: an equality, at any step and for any weights."""
    weights = ([1.0, 0.0, 0.0], [0.5, 0.7, 0.2], [1.0, -0.3, 0.4])
    return one_step.instances(*(
        {
            "beta": beta,
            "ratio": ratio,
            "alpha": alpha,
            "factor": [0.3, 1.4],
            "apart": [[0.2, -0.4], [0.5, 0.1]],
            "sigma2": [noise, 2 * noise, 0.3 * noise],
        }
        for (beta, ratio), alpha, noise in product(((1.0, 0.2), (3.0, 1.0), (0.5, 2.5)), weights, (1.0, 1e-6))
    ))  # fmt: skip


def _from_the_minimum() -> Values:
    """No excess at the start: noise alone makes the gradient at theta_t large."""
    given = {"theta": [0.0, 0.0], "sigma2": [10.0, 1.0, 1.0]}
    return one_step.instances(given | {"ratio": 0.5}, given | {"ratio": 0.8})


# --- the weights that make Lemma 1's bound least: eta alpha_k = r_k |grad R_i|^2/(2 beta sigma_k^2) ------------


@measured_by("all outcomes", "one step of three clients in the plane at the best weights")
def _best(values: Values) -> Measured:
    """`ratio` is beta sum_k eta alpha_k: all variances are scaled so that the best weights ask for it."""
    given = OneStep(values, QUADRATIC)
    r, gradient2 = given.similarity, (given.gradients[:, 0] ** 2).sum(-1)
    sigma2 = values["sigma2"] * (gradient2 * (r / values["sigma2"]).sum(1) / (2 * values["ratio"]))[:, None]
    batch = OneStep({**values, "sigma2": sigma2, "alpha": r / sigma2}, QUADRATIC)
    return batch.expected_excess(), batch.arguments() | {
        "continuous_variance": 1 / (r**2 / sigma2).sum(1),
        "similar_mass": (r / sigma2).sum(1),
    }


def _sharp_best() -> Values:
    """One peer of gradient (1 - sqrt(1 - r)) grad R_i beside a client whose own noise is as good as endless."""
    return one_step.instances(*(
        {"beta": beta, "factor": [1 - np.sqrt(1 - r), 3.0], "sigma2": [1e16, 1.0, 1.0], "theta": [x, 0.0]}
        for beta, r, x in product((1.0, 3.0), (1.0, 0.5, 0.1), (0.3, 2.0))
    ))  # fmt: skip


# --- Theorem 1 ------------------------------------------------------------------------------------------------


def _largest_variance(batch: Paths) -> Arguments:
    return batch.arguments | {"V": batch.largest("variance")}


# Weights w that sum to 1 and R_k = c_k R_i: theta - theta* shrinks by 1 - eta lambda sum_k w_k c_k in the mean.

_NORMALISED = {
    "beta": Domain(low=0.25, high=4, log=True),
    "kappa": Domain(low=1, high=3),
    "low": Domain(low=1, high=2),
    "factor": Domain(low=0, high=2, shape=(2,)),
    "weights": Domain(low=0.01, high=1, shape=(3,)),
    "sigma2": Domain(low=0.01, high=10, log=True, shape=(3,)),
    "ratio": Domain(low=0.1, high=1),
    "e0": Domain(low=0.1, high=10, log=True),
    "T": Domain(low=1, high=40, integer=True),
}


@measured_by("closed-form law", "three aligned clients R_k = c_k R_i, weights that sum to 1")
def _normalised(values: Values) -> Measured:
    w = values["weights"] / values["weights"].sum(1, keepdims=True)
    c = np.concatenate((np.ones((len(w), 1)), values["factor"]), axis=1)
    curvature = values["beta"] / values["kappa"]
    eta, V = values["ratio"] / values["beta"], (w**2 * values["sigma2"]).sum(1)
    kept, noise = (1 - eta * curvature * (w * c).sum(1)) ** 2, eta**2 * curvature * V / 2
    return affine(kept, noise, values["e0"], values["T"]), {
        "eta": eta, "mu": curvature / values["low"], "beta": values["beta"], "q": (w * (1 - (c - 1) ** 2)).sum(1),
        "e0": values["e0"], "V": V, "T": values["T"],
    }  # fmt: skip


def _sharp_normalised() -> Values:
    """One peer of similarity r with all the weight, eta = 1/beta: the excess shrinks by 1 - r."""
    similar = [(1.0, 1.0, r) for r in (1.0, 0.7, 0.3)] + [(3.0, 1.0, r) for r in (1.0, 0.7, 0.3)] + [(1.0, 4.0, 0.02)]
    return columns(_NORMALISED, (
        (beta, kappa, 1.0, (1 - np.sqrt(1 - r), 1.0), (0.0, 1.0, 0.0), (1.0, noise, 1.0), 1.0, 1.0, T)
        for (beta, kappa, r), T, noise in product(similar, (1, 4, 30), (1e-12, 1.0))
    ))  # fmt: skip


def _fixed_weights(loss: Loss) -> Family:
    """Weights that sum to 1 whatever the similarities: q is what was met on the worst path."""

    @measured_by("all paths", f"three clients in dimension 1, R_i = {loss.name} up to a factor, weights that sum to 1")
    def evidence(values: Values) -> Measured:
        w = values["weights"] / values["weights"].sum(1, keepdims=True)
        batch = Paths(values, loss, _free_steps, weights=w)
        arguments = batch.arguments | {"eta": batch.arguments["eta"] / batch.arguments["q"], "q": batch.contraction()}
        return batch.excess(), arguments | {"V": batch.largest("variance")}

    more = {"weights": Domain(low=0.01, high=1, shape=(3,)), "shift": Domain(low=-0.05, high=0.05, shape=(2,))}
    return Family(name=f"paths of {loss.name}", domains=enumerated_paths.domains(**more), measure=evidence)


def _free_steps(arguments: Arguments, t: Any) -> np.ndarray:
    """eta relative to 1/beta."""
    return arguments["eta"] / arguments["q"]


def claims() -> tuple[Claim, ...]:
    limit = "step size eta <= 1/(beta weight)"
    one = one_step.family(sharp=_sharp_step)
    weighted = Family(name="aligned clients", domains=_NORMALISED, measure=_normalised, sharp=_sharp_normalised)
    signed = {"alpha": Domain(low=-0.2, high=1, shape=(3,)), "ratio": Domain(low=0.05, high=3)}
    best = Family(name="best weights", domains=DOMAINS, measure=_best, sharp=_sharp_best)
    return (
        Claim.on(
            "adaptive/lemma-1-best-weights",
            best,
            outside_conditions={"total step gradient^2 similar_mass <= 2": beyond(best, ratio=1.05)},
        ),
        Claim.on("adaptive/lemma-1", one_step.family(sharp=_from_the_minimum), edition="printed"),
        Claim.on(
            "adaptive/lemma-1",
            one,
            one_step.family(loss=WAVE),
            one_step.family(adaptive=True),
            outside_conditions={limit: beyond(one, ratio=1.05)},
        ),
        Claim.on(
            "adaptive/lemma-1-mean-gradient",
            one_step.family(sharp=_sharp_mean_step, change=signed),
            one_step.family(loss=WAVE, change=signed),
        ),
        Claim.on(
            "adaptive/theorem-1",
            aligned(Aligned.excess, sharp_values),
            enumerated_paths.family(Paths.excess, arguments=_largest_variance),
            enumerated_paths.family(Paths.excess, arguments=_largest_variance, loss=RIPPLED),
            outside_conditions={"step size eta <= q/beta": lambda: outside_step_limit(Aligned.excess)},
        ),
        Claim.on(
            "adaptive/theorem-1-normalised",
            weighted,
            _fixed_weights(QUADRATIC),
            _fixed_weights(RIPPLED),
            outside_conditions={"step size eta <= 1/beta": beyond(weighted, ratio=1.05)},
        ),
    )
