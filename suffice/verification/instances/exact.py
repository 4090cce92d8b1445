"""Exact engines: evidence without sampling, one function per kind of instance."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product

import numpy as np
import torch

from suffice.bounds import Binary, Continuous, Criterion, QuadraticCertificate, tight_variance
from suffice.simulate import AllForOne, FixedWeights, Quadratics, expected_excesses, expected_step, split, stack

from ..evidence import Evidence
from ..family import Domain, Family
from ..measurement_cache import cached
from .aligned_pair import CRITERION, Aligned, sharp_hitting_values, sharp_values
from .quadrature_1d import Line, counterexample
from .scheduled import Horizon

NETWORK = Family(
    name="networks of quadratics",
    domains={
        "curvature": Domain(low=0.3, high=1, log=True, shape=(5, 3)),
        "turn": Domain(low=-1, high=1, shape=(5, 3, 3)),
        "bend": Domain(low=0.0, high=0.4),
        "xi": Domain(low=-0.3, high=0.3, shape=(5, 3)),
        "sigma2": Domain(low=0.2, high=5, log=True, shape=(5,)),
        "threshold": Domain(low=0.1, high=0.95),
        "ratio": Domain(low=0.05, high=1),
        "far": Domain(low=0.3, high=10, log=True),
    },
)
"""Five clients in R^3 whose Hessians bend away from a common one, for adaptive weights of either criterion."""


def network(values: dict[str, np.ndarray], index: int) -> tuple[Quadratics, Criterion, float]:
    """Problem, criterion and fraction of the step limit of one drawn network; even indices are binary."""
    rotation = np.linalg.qr(values["turn"][index])[0]
    spectrum = values["curvature"][index]
    A = np.einsum("nie,ne,nje->nij", rotation, spectrum, rotation)
    bend = values["bend"][index]
    A = (1 - bend) * A[:1] + bend * A
    problem = Quadratics.of((A + A.transpose(0, 2, 1)) / 2, values["xi"][index], sigma2=values["sigma2"][index])
    binary = index % 2 == 0
    criterion: Criterion = Binary(threshold=values["threshold"][index].item()) if binary else Continuous()
    return problem, criterion, values["ratio"][index].item()


def network_arguments(
    problem: Quadratics, criterion: Criterion, fraction: float, eps: np.ndarray
) -> dict[str, np.ndarray]:
    """eta, mu, beta, q, s2 (N,) of a network at precisions eps (N,)."""
    constants = problem.constants()
    share = (1 / constants.sigma2) / (1 / constants.sigma2).sum()
    q = criterion.step_ratio(share)
    rho = constants.heterogeneity.similarity(2 * constants.mu * eps)
    return {
        "eta": fraction * q / constants.beta,
        "mu": constants.mu,
        "beta": constants.beta,
        "q": q,
        "s2": tight_variance(criterion, similarity=rho, sigma2=constants.sigma2),
        "eps": eps,
    }


@cached
def one_step(count: int, root: int) -> Evidence:
    """Theorem 2 at T = 1 from given models with e_0 >= eps: exact conditional expectations, adaptive weights."""
    values = NETWORK.draw(count, seed=root)
    rows: dict[str, list[np.ndarray]] = {}
    measured = []
    for index in range(count):
        problem, criterion, fraction = network(values, index)
        directions = torch.linspace(-1, 1, 7 * problem.features, dtype=torch.float64).view(7, 1, -1).sin()
        models = problem.optimum + values["far"][index] * torch.linspace(0.05, 1, 7)[:, None, None] ** 2 * directions
        start = problem.excess(models).numpy()
        eta = network_arguments(problem, criterion, fraction, start[0])["eta"]
        after = expected_step(problem, AllForOne(criterion=criterion), models, eta)
        for e0, moved in zip(start, after):
            for slack in (1.0, 0.3):
                arguments = network_arguments(problem, criterion, fraction, e0 * slack)
                measured.append(moved)
                for name, value in (*arguments.items(), ("e0", e0), ("T", np.ones_like(e0))):
                    rows.setdefault(name, []).append(np.broadcast_to(value, e0.shape))
    return Evidence(
        engine="exact one-step expectations",
        measured=np.concatenate(measured),
        arguments={name: np.concatenate(value) for name, value in rows.items()},
        label="network of five quadratics in R^3, adaptive weights, T = 1",
    )


@cached
def moments(count: int, root: int) -> Evidence:
    """Theorem 2 with weights that stay fixed: aligned peers R_k = c_k R_i, second moments by probing the step."""
    family = Family(
        name="aligned peers",
        domains={
            "curvature": Domain(low=0.5, high=2, shape=(2,)),
            "r": Domain(low=0.05, high=1, shape=(4,)),
            "sigma2": Domain(low=0.1, high=10, log=True, shape=(4,)),
            "ratio": Domain(low=0.1, high=1),
            "T": Domain(low=1, high=40, integer=True),
            "start": Domain(low=0.1, high=30, log=True),
        },
    )
    values = family.draw(count, seed=root)
    criterion = Continuous()
    r, curvature, start = values["r"].copy(), 2 * values["curvature"], values["start"][:, None]
    r[:, 0] = 1
    scale = 1 - np.sqrt(1 - r)
    A = scale[..., None, None] * values["curvature"][:, None, :, None] * np.eye(2)
    clients = Quadratics.of(
        A.reshape(-1, 2, 2),
        np.zeros((4 * count, 2)),
        sigma2=values["sigma2"].ravel(),
        start=np.repeat(values["start"], 4)[:, None] * np.ones(2),
    )
    a = 1 / values["sigma2"]
    alpha = a * r / (a * r * r).sum(-1, keepdims=True)
    rules = np.zeros((count, 4, 4))
    rules[:, 0] = alpha
    rules[:, 1:, 0] = 0.1  # the other models do not matter here
    mu, beta = curvature.min(-1), curvature.max(-1)
    q = np.array([float(criterion.step_ratio(share)) for share in a[:, 0] / a.sum(-1)])
    eta, T = values["ratio"] * q / beta, values["T"].astype(int)
    weights = stack([FixedWeights(alpha=alpha) for alpha in torch.from_numpy(rules)])
    excess = expected_excesses(split(clients, count), weights, iterations=int(T.max()), eta=eta)[..., 0]
    # by hand: e = (c/2) theta^2 per coordinate, noise V/2 in each
    kept = (1 - eta[:, None] * curvature * (alpha * scale).sum(-1, keepdims=True)) ** 2
    noise = (eta**2 * (alpha**2 / a).sum(-1) / 2)[:, None]
    square = kept ** T[:, None] * start**2 + noise * (1 - kept ** T[:, None]) / (1 - kept)
    return Evidence(
        engine="exact moments",
        measured=excess[np.arange(count), T],
        arguments={
            "eta": eta, "mu": mu, "beta": beta, "q": q, "e0": excess[:, 0],
            "s2": tight_variance(criterion, similarity=r, sigma2=1 / a),
            "T": T, "eps": np.full(count, 1e-290),
        },
        label="aligned peers R_k = c_k R_i, N = 4, d = 2, fixed weights, eps below every path",
        again=(curvature / 2 * square).sum(-1),
    )  # fmt: skip


def aligned(measure: Callable[[Aligned], np.ndarray], *, hitting: bool) -> Evidence:
    """The sharp instances, where each part of the bound is nearly attained."""
    batch = Aligned.of(sharp_hitting_values() if hitting else sharp_values())
    return Evidence(
        engine="closed-form law",
        measured=measure(batch),
        arguments=batch.arguments(),
        label=f"aligned pair, {CRITERION.kind} weights, mu = beta",
    )


def _outside(
    measure: Callable[[Aligned], np.ndarray],
    label: str,
    kind: type[Aligned] = Aligned,
    *,
    eps: tuple[float, ...],
    **change: float,
) -> Evidence:
    """e_0 = 1, one step, no noise, and one peer with all the weight that overshoots; at one or several precisions."""
    base = {"beta": 1.0, "kappa": 1.0, "r": 0.3, "sigma2_i": 1e-18, "sigma2_k": 1e-30, "side": 1.0}
    base |= {"ratio": 1.0, "e0": 1.0, "T": 1.0, "d": 1.0, "C": 1.01, "extra": 0.0}
    values = {name: np.full(len(eps), value) for name, value in (base | change).items()}
    batch = kind.of(values | {"eps": np.array(eps)})
    return Evidence(engine="closed-form law", measured=measure(batch), arguments=batch.arguments(), label=label)


def aligned_outside_step_limit(measure: Callable[[Aligned], np.ndarray], kind: type[Aligned] = Aligned) -> Evidence:
    """A step, or a first step, of 1.05 times its limit; the precision out of reach and just below e_1 = 0.862.

    At the limit e_1 = (1 - r) e_0, as the bound has it; beyond, e_1 grows while the bound falls.
    """
    label = "1.05 times the step limit, models that overshoot"
    return _outside(measure, label, kind, eps=(1e-290, 0.86), ratio=1.05, extra=1 / 1.05 - 1)


def aligned_below_floor(measure: Callable[[Aligned], np.ndarray]) -> Evidence:
    """The step for a horizon where the noise floor is 1.4 times the start: the best step is 0, the bound below e_0."""
    label = "a noise floor 1.4 times the start"
    return _outside(measure, label, Horizon, eps=(1e-290, 1 - 1e-9), r=1.0, sigma2_i=2.8, sigma2_k=2.8e12)


def aligned_above_drift(measure: Callable[[Aligned], np.ndarray]) -> Evidence:
    """eta beta s2 = 2.16 mu eps, where the drift is negative; the start is at the precision."""
    label = "1.2 times the noise floor that the precision allows"
    return _outside(measure, label, eps=(1.0,), r=1.0, sigma2_i=2.16, sigma2_k=2.16e12)


def aligned_below_precision(measure: Callable[[Aligned], np.ndarray]) -> Evidence:
    """A start below the precision, which Corollary 1 excludes (tau = 0 there)."""
    return _outside(measure, "start below the precision", eps=(0.5,), r=1.0, ratio=0.5, e0=0.1)


def _on_counterexample(cases: Iterable[tuple[float, float]], quantity: str, label: str, *, printed: bool) -> Evidence:
    """Theorem 2 at T = 2 in dimension 1 by quadrature over the first step, from each theta_0 with each eta."""
    line, base = counterexample()
    measured, rows, hypothesis = [], [], []
    for theta0, eta in cases:
        instance = replace(line, theta0=theta0, eta=eta)
        result = instance.two_steps(base["eps"])
        measured.append(result[quantity])
        hypothesis.append(result["e1"] >= base["eps"] if printed else True)
        e0, s2 = float(instance.excess(np.array([theta0]))[0]), base["s2"] if printed else base["tight"]
        rows.append({**base, "e0": e0, "eta": eta, "s2": s2})
    return Evidence(
        engine="quadrature",
        measured=np.array(measured),
        arguments={name: np.array([row[name] for row in rows]) for name in rows[0]},
        hypothesis=np.array(hypothesis),
        label=f"N = 100, R_i = theta^2/2, 99 peers (theta - 0.02)^2/2, sigma = 1, binary 0.9{label}",
    )


def two_steps(quantity: str, *, printed: bool) -> Evidence:
    """The counterexample and its neighbours.

    `quantity` is "e2" (the printed expectation) or "e2_running". The printed hypothesis E[e_1] >= eps is masked in.
    """
    return _on_counterexample(product((0.2, 0.19, 0.25, 0.5), (0.9, 0.5)), quantity, "", printed=printed)


def two_steps_horizon() -> Evidence:
    """Theorem 2, row 2, as printed: the counterexample, started where ln(e_0/K)/(mu T) is within q/beta."""
    line, base = counterexample()
    mu, T, starts = base["mu"], 2, (0.188, 0.18, 0.16)
    ratios = 2 * T * mu**2 * line.excess(np.array(starts)) / (base["beta"] * base["s2"])
    cases = zip(starts, (np.log(ratios) / (mu * T)).tolist())
    return _on_counterexample(cases, "e2", ", the step for T = 2", printed=True)


LINE = Family(
    name="networks in dimension 1",
    domains={
        "h": Domain(low=0.5, high=1, shape=(4,)),
        "xi": Domain(low=-0.5, high=0.5, shape=(4,)),
        "sigma2": Domain(low=0.1, high=10, log=True, shape=(4,)),
        "threshold": Domain(low=0.05, high=0.95),
        "ratio": Domain(low=0.05, high=1),
        "theta0": Domain(low=0.3, high=3, log=True),
        "slack": Domain(low=0.02, high=1, log=True),
        "kappa": Domain(low=1, high=3),
    },
)


def lines(measure: Callable[[dict[str, float]], float], *, T: int, count: int, root: int) -> Evidence:
    """Adaptive weights of either criterion in dimension 1, by quadrature over the first step.

    `measure` reads the quantity off `Line.two_steps`; the theorem is given kappa times the smoothness constant needed.
    """
    laws, rows = _laws(count, root)
    return Evidence(
        engine="quadrature",
        measured=np.array([measure(law) for law in laws]),
        arguments={name: np.array([row[name] for row in rows]) for name in rows[0]} | {"T": np.full(count, float(T))},
        label=f"four quadratics in dimension 1, adaptive weights, T = {T}",
    )


@cached
def _laws(count: int, root: int) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    """What `Line.two_steps` finds of `count` networks, and the arguments of each."""
    values = LINE.draw(count, seed=root)
    laws, rows = [], []
    for index in range(count):
        h, xi, sigma2 = (values[name][index] for name in ("h", "xi", "sigma2"))
        binary = index % 2 == 0
        criterion: Criterion = Binary(threshold=values["threshold"][index].item()) if binary else Continuous()
        mu = 2 * h[0].item()
        beta = mu * values["kappa"][index].item()
        q = float(criterion.step_ratio((1 / sigma2[0]) / (1 / sigma2).sum()))
        eta, theta0 = values["ratio"][index].item() * q / beta, values["theta0"][index].item()
        line = Line(h=h, xi=xi, sigma2=sigma2, criterion=criterion, eta=eta, theta0=theta0)
        e0 = float(line.excess(np.array([theta0]))[0])
        eps = e0 * values["slack"][index].item()
        certificate = QuadraticCertificate(A=h[:, None, None], xi=xi[:, None])
        rho = certificate.similarity(np.full(len(h), 2 * mu * eps))[0]
        s2 = float(tight_variance(criterion, similarity=rho, sigma2=sigma2))
        laws.append(line.two_steps(eps))
        rows.append({"eta": eta, "mu": mu, "beta": beta, "q": q, "e0": e0, "s2": s2, "eps": eps})
    return laws, rows
