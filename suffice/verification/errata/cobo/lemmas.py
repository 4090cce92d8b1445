"""Errata of the CoBo paper: Lemmas 3 and 4 and the lines of their proofs."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from suffice.bounds import evaluate, find
from suffice.simulate import FixedCoBo, Quadratics

from ...claims.cobo.one_step import Step
from ..erratum import Finding
from .paper import constant, false, noise_free, typo


def _step(counts: list[float], curvature: list[float], models: list[float], *, rho: float, eta: float,
          sigma2: float = 0.0) -> Step:  # fmt: skip
    """One step of a cluster on a line, minimiser 0."""
    return Step(
        counts=np.array([counts], dtype=float),
        curvature=np.array(curvature, dtype=float)[None, :, None],
        minimiser=np.zeros((1, len(counts), 1)),
        models=np.array(models, dtype=float)[None, :, None],
        **{"sigma2": np.array([sigma2]), "rho": np.array([rho]), "eta": np.array([eta]), "overstatement": np.ones(1)},
    )


def _printed(key: str, step: Step) -> float:
    theorem = find(f"cobo/{key}", "printed")
    given = {**step.arguments(), "decrease": step.midpoint_decrease}
    arguments: dict[str, Any] = {p.name: float(given[p.name][0]) for p in theorem.parameters}
    return float(evaluate(theorem, **arguments))


@constant(
    location="Lemma 3",
    claim="the noise adds L eta sigma^2 / 2",
    truth="The noise adds L eta sigma^2 (1 + 1/c) / 2: the pairs i = j of the sum have twice the variance of the "
    "others.",
    key="cobo/lemma-3",
)
def lemma_3_self_pairs() -> Finding:
    step = _step([1], [1.0], [0.4**0.5], rho=2.0, eta=0.5, sigma2=1.0)
    inputs = {
        "c": 1, "f": "x^2/2", "x^2": 0.4, "eta": 0.5, "sigma": 1, "quantity": "mean of |grad f_ij(z_ij)|^2 over pairs",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=_printed("lemma-3", step), measured=float(step.midpoint_gradient[0]))


@typo(
    location="Appendix A.1, variance of z_ij^{t+1}",
    claim="eta^2 E|(g_i + g_j - grad f_i - grad f_j)/2|^2 <= eta^2 sigma^2 / 4",
    truth="The bound is eta^2 sigma^2 / 2, as the next display has it.",
    key="cobo/lemma-3",
)
def lemma_3_variance() -> Finding:
    eta, sigma = 0.5, 1.0
    signs = np.array([-sigma, sigma])
    moved = -eta / 2 * (signs[:, None] + signs)  # what two independent errors of +-sigma do to the midpoint
    inputs = {"eta": eta, "sigma": sigma, "i, j": "different", "quantity": "variance of z_ij^{t+1} from the noise"}
    return Finding(inputs=inputs, printed=eta**2 * sigma**2 / 4, measured=float(moved.var()))


@false(
    location="Lemma 4",
    claim="the noise adds (1/c^2 + 3 eta L M^2) eta sigma^2 / (2 rho c)",
    truth="One step adds 2 eta^2 sigma^2 (1 - 1/c) to the mean over pairs of |x_i - x_j|^2.",
    key="cobo/lemma-4",
)
def lemma_4_noise() -> Finding:
    step = _step([2], [1.0], [2.0], rho=1.0, eta=0.25, sigma2=1.0)
    inputs = {
        "c": 2, "f_i": "x^2/2", "x_i": 2, "rho": 1, "eta": 0.25, "sigma": 1,
        "quantity": "mean over pairs of E|x_i - x_j|^2 after the step",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=_printed("lemma-4", step), measured=float(step.next_consensus[0]))


@constant(
    location="Lemma 4, second display of the proof",
    claim="the penalty turns x_i - x_j into (1 - 2 eta rho c)(x_i - x_j)",
    truth="sum_k (x_i - x_k) - sum_k (x_j - x_k) = c (x_i - x_j), so that the factor is 1 - eta rho c.",
    key="cobo/lemma-4",
    direction="equality",
)
def lemma_4_contraction() -> Finding:
    eta, rho, size = 0.5, 0.2, 3
    step = _step([1, 1, 1], [1e-9] * 3, [1.0, 2.0, 6.0], rho=rho, eta=eta)
    before = 2 * step.arguments()["spread"]
    inputs = {
        "c": size, "f_i": "5e-10 x^2", "x": [1, 2, 6], "rho": rho, "eta": eta,
        "quantity": "factor of x_i - x_j in one step",
    }  # fmt: skip
    measured = float(np.sqrt(step.next_consensus / before)[0])
    return Finding(inputs=inputs, printed=1 - 2 * eta * rho * size, measured=measured)


@constant(
    location="Lemma 4, bound of T",
    claim="|grad f_i + grad f_j|^2 = |grad f_ij|^2, f_ij = (f_i + f_j)/2",
    truth="The square of the sum is 4 |grad f_ij|^2.",
    key="cobo/lemma-4",
    direction="equality",
)
def lemma_4_pair_mean() -> Finding:
    gradients = np.array([1.0, 1.2])
    inputs = {"grad f_i": 1, "grad f_j": 1.2, "quantity": "|grad f_i + grad f_j|^2"}
    return Finding(inputs=inputs, printed=float(gradients.mean() ** 2), measured=float(gradients.sum() ** 2))


@typo(
    location="Lemma 4, factor of (1/(c n)) sum |w_ik - w_ik^*|^2 |x_i - x_k|^2",
    claim="the factor is 5 n eta^2 rho^2 / L",
    truth="The factor is 5 eta n^2 rho^2 / L, as the proof derives it just before.",
    direction="upper",
)
def lemma_4_unsettled_weights() -> Finding:
    # a cluster of two at its minimiser 0, 98 others at theirs, 1; client 1 is linked to them, client 2 is not
    n, rho, eta = 100, 0.9, 0.25
    xi = np.r_[0.0, 0.0, -np.ones(n - 2)][:, None]
    problem = Quadratics.of(np.full((n, 1, 1), 0.5), xi, sigma2=0.0, start=-xi)
    w = torch.zeros(n, n, dtype=torch.float64)
    w[0, :] = w[:2, :2] = 1
    x = noise_free(problem, FixedCoBo(w=w, rho=rho), eta=eta, iterations=1)["models"][0, :2, 0]
    wrong = (n - 2) / (2 * n)  # (1/(c n)) sum_ik |w_ik - w_ik^*|^2 |x_i - x_k|^2
    inputs = {
        "n": n, "c": 2, "f_i": "x^2/2 in the cluster, (x - 1)^2/2 outside", "x": "at the minimisers", "rho": rho,
        "eta": eta, "w": "1 from client 1 to all others, 0 from client 2 to other clusters",
        "quantity": "mean over pairs of |x_i - x_j|^2 after the step",
    }  # fmt: skip
    measured = (x[0] - x[1]).item() ** 2 / 2
    return Finding(inputs=inputs, printed=5 * n * eta**2 * rho**2 * wrong, measured=measured)


@false(
    location="Appendix A.3, Cauchy-Schwarz",
    claim="mean |grad f_i(x_i)|^2 <= mean |grad f_i(z_ij)|^2 + mean |grad f_i(z_ij) - grad f_i(x_i)|^2",
    truth="A factor 2 is missing, or the cross term; the corrected bound takes the square of a sum of roots.",
    key="cobo/corollary-2",
)
def corollary_2_cross_term() -> Finding:
    a, x = np.array([1.0, 0.7]), np.array([2.0, 0.0])
    z = (x[:, None] + x) / 2
    right = ((a[:, None] * z) ** 2).mean() + ((x[:, None] - x) ** 2).mean() / 4  # L = 1
    inputs = {
        "f_1": "x^2/2", "f_2": "0.35 x^2", "x": [2, 0], "L": 1,
        "quantity": "mean of |grad f_i(x_i)|^2 against mean |grad f_i(z_ij)|^2 + (L^2/4) mean |x_i - x_j|^2",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=float(right), measured=float(((a * x) ** 2).mean()))
