"""What the bounds are about: algorithms, some of them written by their authors, and families of problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import suffice as sf
from suffice.simulate import Algorithm, FedAvg, FixedWeights, Local, LocalSGD, Scaffnew
from suffice.simulate.algorithms import FixedCoBo
from suffice.verification import Domain
from suffice.verification.families import ProblemFamily, Setting

from . import reference

STEEPEST, LONGEST, FEATURES = 4.0, 60, 3


@dataclass(frozen=True, kw_only=True)
class Own(Algorithm):
    """What the algorithms below share: every client alone, one stochastic gradient each."""

    name: str = "own"
    linear: bool = True

    def init(self, problem, models):
        return {"models": models}


@dataclass(frozen=True, kw_only=True)
class Steps(Own):
    """SGD whose step in iteration t = 1, 2, ... is eta times size(t)."""

    size: Callable[[int], float]

    def step(self, problem, state, draw, eta):
        x = state["models"]
        move = self.size(draw.iteration) * eta[..., None]
        return {"models": x - move * problem.stochastic_gradient(x, None, draw.noise)}

    def phase(self, iteration):
        return iteration


@dataclass(frozen=True, kw_only=True)
class Averaged(Own):
    """SGD judged at the mean of x_0, ..., x_{t-1}."""

    def init(self, problem, models):
        return {"models": models, "current": models}

    def step(self, problem, state, draw, eta):
        mean, x = state["models"], state["current"]
        gradient = problem.stochastic_gradient(x, None, draw.noise)
        # written from the mean to x so that 1/t weighs a distance
        return {"models": mean + (x - mean) / draw.iteration, "current": x - eta[..., None] * gradient}

    def phase(self, iteration):
        return iteration


@dataclass(frozen=True, kw_only=True)
class Batch(Own):
    """SGD with the mean of `batch` stochastic gradients: a deviation of 1/sqrt(batch)."""

    batch: int

    def step(self, problem, state, draw, eta):
        x = state["models"]
        exact = problem.gradient(x)
        noise = problem.stochastic_gradient(x, None, draw.noise) - exact
        return {"models": x - eta[..., None] * (exact + noise / self.batch**0.5)}


@dataclass(frozen=True, kw_only=True)
class HeavyBall(Own):
    """x <- x - eta g(x) + q (x - x before); with `ahead` Nesterov's, g at x + q (x - x before)."""

    q: float
    ahead: bool = False

    def init(self, problem, models):
        return {"models": models, "before": models}

    def step(self, problem, state, draw, eta):
        x = state["models"]
        further = x + self.q * (x - state["before"])
        gradient = problem.stochastic_gradient(further if self.ahead else x, None, draw.noise)
        return {"models": further - eta[..., None] * gradient, "before": x}


@dataclass(frozen=True, kw_only=True)
class Case:
    """An algorithm, its reference, and the problems that its bounds speak of.

    state       blocks of the reference's state at the start: "x" the start, "0" zero
    clients     fewest and most; one client with `default` stands for check's own family
    same        which of "h" (curvatures) and "m" (minimisers) all clients share
    noiseless   sigma2 = 0
    steps       the largest step of the family in units of 1/beta
    """

    name: str
    algorithm: Algorithm
    maps: Callable[..., Any] = reference.sgd
    state: str = "x"
    varies: bool = False
    period: int = 1
    clients: tuple[int, int] = (1, 1)
    same: str = "hm"
    noiseless: bool = False
    default: bool = False

    quantity, direction, delta = "excess", "upper", None

    def phase(self, t: int) -> int:
        """Iterations of one phase take the same maps."""
        return t if self.varies else t % self.period

    def family(self, steps: float) -> ProblemFamily | None:
        """What its authors would give to `check`; None: nothing."""
        return None if self.default else family(self, steps)


def scalars(instance: dict[str, Any]) -> dict[str, float]:
    """What a bound may ask for; b is the largest |grad R_0 - grad R_k| where all curvatures are the same."""
    h, m, start = (np.array(instance[name], dtype=float) for name in ("h", "m", "start"))
    N, d = h.shape
    return {
        "mu": float(h.min()), "beta": float(h.max()), "sigma2": float(instance["sigma2"]), "eta": instance["eta"],
        "e0": float((h[0] / 2 * (start - m[0]) ** 2).sum()), "T": float(instance["T"]), "N": float(N), "d": float(d),
        "distance2": float(((start - m[0]) ** 2).sum()), "b": float(np.linalg.norm(h[0] * (m - m[0]), axis=1).max()),
    }  # fmt: skip


def family(case: Case, steps: float) -> ProblemFamily:
    """Quadratics in up to three dimensions; the case says how many clients, and what they share."""
    fewest, most = case.clients
    rows = {name: 1 if name in case.same else most for name in "hm"}

    def build(values):
        N, d = int(values["clients"]), int(values["features"])
        h, m = (
            np.reshape(values[long], (rows[name], -1))[:N, :d]
            for name, long in (("h", "curvature"), ("m", "minimiser"))
        )
        h, m = np.broadcast_to(h, (N, d)), np.broadcast_to(m, (N, d))
        m = 0 * m if "m" in case.same else m
        start, sigma2 = np.asarray(values["start"])[:d], 0.0 if case.noiseless else float(values["sigma2"])
        eta, T = float(values["step"] / h.max()), int(values["T"])
        instance = {"h": h, "m": m, "start": start, "sigma2": sigma2, "eta": eta, "T": T}
        problem = sf.Quadratics.of(np.stack([np.diag(row) / 2 for row in h]), -m, sigma2=sigma2, start=start)
        return Setting(problem=problem, eta=eta, iterations=T, arguments=scalars(instance))

    domains = {
        "curvature": Domain(low=1 / 16, high=STEEPEST, log=True, shape=(rows["h"], FEATURES)),
        "minimiser": Domain(low=-2, high=2, shape=(rows["m"], FEATURES)),
        "start": Domain(low=-4, high=4, shape=(FEATURES,)),
        "sigma2": Domain(low=1e-3, high=16, log=True),
        "step": Domain(low=steps / 32, high=steps, log=True),
        "T": Domain(low=1, high=LONGEST, integer=True),
        "clients": Domain(low=fewest, high=most, integer=True),
        "features": Domain(low=1, high=FEATURES, integer=True),
    }
    unused = {"minimiser": "m" in case.same, "sigma2": case.noiseless}
    domains = {name: domain for name, domain in domains.items() if not unused.get(name, False)}

    def complete(values):
        return build({"minimiser": np.zeros((rows["m"], FEATURES)), "sigma2": 0.0, **values})

    def sharp():
        values = {
            "curvature": np.ones((4, rows["h"], FEATURES)),
            "minimiser": np.concatenate((np.zeros((4, 1, FEATURES)), np.ones((4, most, FEATURES))), 1)[:, : rows["m"]],
            "start": np.ones((4, FEATURES)),
            "sigma2": np.array([1.0, 16.0, 1e-3, 1.0]),
            "step": steps * np.array([1.0, 1.0, 0.5, 0.0625]),
            "T": np.array([1.0, 2.0, 5.0, LONGEST]),
            "clients": np.array([fewest, most, most, fewest], dtype=float),
            "features": np.ones(4),
        }
        return {name: values[name] for name in domains}

    return ProblemFamily(name=case.name, domains=domains, build=complete, sharp=sharp)


UNEQUAL = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
ONE_SIDED = [[1.0, 0.0], [0.5, 0.5]]
MANY = (1, 8)
SKIP = {"state": "x0", "clients": MANY}


def _tenths(t: int) -> float:
    return 0.5 ** ((t - 1) // 10)


def _root(t: int) -> float:
    return t**-0.5


def _slow(t: int) -> float:
    return 20 / (19 + t)


def _harmonic(t: int) -> float:
    return 1 / t


def _case(name: str, algorithm: Algorithm, maps: Callable[..., Any], **more: Any) -> Case:
    return Case(name=name, algorithm=algorithm, maps=maps, **more)


def _steps(name: str, size: Callable[[int], float]) -> Case:
    return _case(name, Steps(size=size), reference.with_steps(size), varies=True, default=True)


def _fixed(name: str, alpha: Any, **more: Any) -> Case:
    return _case(name, FixedWeights(alpha=alpha), reference.weighted(alpha), clients=(len(alpha),) * 2, **more)


_PAIR = FixedCoBo(w=torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64), rho=1.0)

CASES = {
    each.name: each
    for each in (
        _case("SGD", Local(), reference.sgd, default=True),
        _case("SGD from a distance", Local(), reference.sgd),
        _case("gradient descent", Local(), reference.sgd, noiseless=True),
        _steps("20 eta/(19 + t)", _slow),
        _steps("eta/t", _harmonic),
        _steps("eta/sqrt(t)", _root),
        _steps("eta halved every ten iterations", _tenths),
        _case("averaged SGD", Averaged(), reference.averaged, state="xx", varies=True, default=True),
        _case("averaged SGD from a distance", Averaged(), reference.averaged, state="xx", varies=True),
        _case("SGD with batches of 4", Batch(batch=4), reference.batches(4), default=True),
        _case("averaging always", LocalSGD(period=1), reference.local_sgd(1), clients=MANY),
        _case("local SGD, H = 3", LocalSGD(period=3), reference.local_sgd(3), clients=MANY, period=3),
        _case("local SGD, curvatures", LocalSGD(period=3), reference.local_sgd(3), clients=MANY, period=3, same="m"),
        _case("averaging, other minimisers", LocalSGD(period=1), reference.local_sgd(1), clients=MANY, same="h"),
        _case("FedAvg, H = 2", FedAvg(period=2), reference.local_sgd(2), clients=MANY, period=2),
        _case("FedAvg, 1 of N", FedAvg(participants=1), reference.sampled(1), clients=MANY),
        _case("FedAvg, 2 of N", FedAvg(participants=2), reference.sampled(2), clients=(2, 8)),
        _case("heavy ball", HeavyBall(q=0.5), reference.heavy_ball(0.5), state="xx", default=True),
        _case("heavy ball, exact", HeavyBall(q=0.5), reference.heavy_ball(0.5), state="xx", noiseless=True),
        _case("heavy ball, 1/4", HeavyBall(q=0.25), reference.heavy_ball(0.25), state="xx", noiseless=True),
        _case("Nesterov", HeavyBall(q=0.5, ahead=True), reference.nesterov(0.5), state="xx", default=True),
        _case("Nesterov, exact", HeavyBall(q=0.5, ahead=True), reference.nesterov(0.5), state="xx", noiseless=True),
        _case("Scaffnew, exact", Scaffnew(p=0.2), reference.scaffnew(0.2), same="m", noiseless=True, **SKIP),
        _case("Scaffnew, p = 0.2", Scaffnew(p=0.2), reference.scaffnew(0.2), **SKIP),
        _case("Scaffnew, p = 1", Scaffnew(p=1.0), reference.scaffnew(1.0), **SKIP),
        _case("Scaffnew, minimisers", Scaffnew(p=1.0), reference.scaffnew(1.0), same="h", **SKIP),
        _case("Scaffnew, alike", Scaffnew(p=0.5), reference.scaffnew(0.5), noiseless=True, **SKIP),
        _case("Scaffnew, p = 0.5", Scaffnew(p=0.5), reference.scaffnew(0.5), **SKIP),
        _fixed("group of three", np.full((3, 3), 1 / 3)),
        _fixed("half of the weight", UNEQUAL),
        _fixed("half, minimisers", UNEQUAL, same="h"),
        _fixed("followed by another", ONE_SIDED),
        _fixed("sum of two", np.ones((2, 2))),
        _case("pair", _PAIR, reference.pair(1.0), clients=(2, 2)),
        _case("pair, minimisers", _PAIR, reference.pair(1.0), clients=(2, 2), same="h"),
    )
}
"""By the names in `quadratics.txt`."""
