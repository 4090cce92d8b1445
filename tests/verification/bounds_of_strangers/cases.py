"""What the bounds are about: algorithms, some of them written by their authors, and families of problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from plain_algorithms import heavy_ball, local_sgd, nesterov, scaffnew
from shorter_steps import Steps

import suffice as sf
from suffice.simulate import Algorithm, Local
from suffice.simulate import algorithms as alg
from suffice.verification import Domain
from suffice.verification.families import FamilyInstance, ProblemFamily, curves, quadratics

from ..published.bounds import OneOfTwo
from . import reference

STEEPEST, LONGEST, FEATURES = 4.0, 60, 3
SHORT = 30
"""Iterations of what is measured on paths."""
SPREAD = ("far", "apart", "far_mean", "apart_mean", "scatter")
"""With minimisers m, their mean M, the start x: |x - m_0|, max |m_k - m_0|, |x - M|, |M - m_0|, mean |m_k - M|^2."""


@dataclass(frozen=True, kw_only=True)
class Own(Algorithm):
    """What the algorithms below share: every client alone, one stochastic gradient each."""

    name: str = "own"
    linear: bool = True

    def init(self, problem, models):
        return {"models": models}


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
class Along(Own):
    """Every client alone, against a function of its stochastic gradient."""

    linear: bool = False

    def direction(self, g, draw):
        """Every subclass has its own; a stranger's algorithm that forgets it is a mistake of the list."""
        raise NotImplementedError

    def step(self, problem, state, draw, eta):
        x = state["models"]
        return {"models": x - eta[..., None] * self.direction(problem.stochastic_gradient(x, None, draw.noise), draw)}


class Clipped(Along):
    """Gradients cut to length 1."""

    def direction(self, g, draw):
        return g / g.norm(dim=-1, keepdim=True).clamp_min(1)


class Sign(Along):
    """Signs of the entries."""

    def direction(self, g, draw):
        return torch.sign(g)


class Largest(Along):
    """The largest entry alone, the first of equal ones."""

    def direction(self, g, draw):
        return g * torch.nn.functional.one_hot(g.abs().argmax(-1), g.shape[-1])


@dataclass(frozen=True, kw_only=True)
class Case:
    """An algorithm and what is bounded: a quantity of `check`, its direction, delta for a bound in probability."""

    name: str
    algorithm: Algorithm
    quantity: str = "excess"
    direction: str = "upper"
    delta: float | None = None


@dataclass(frozen=True, kw_only=True)
class Moments(Case):
    """On diagonal quadratics, where the truth is exact: a rule of the reference, and the problems that bounds speak of.

    coins       what an iteration tosses, with probabilities, by the number of clients
    clients     fewest and most; one client with `default` stands for check's own family
    same        which of "h" (curvatures) and "m" (minimisers) all clients share
    noiseless   sigma2 = 0
    """

    rule: Callable[..., Any] = reference.sgd
    coins: Callable[[int], Any] = lambda N: [(1.0, np.ones((1, N, 1)))]
    varies: bool = False
    period: int = 1
    clients: tuple[int, int] = (1, 1)
    same: str = "hm"
    noiseless: bool = False
    default: bool = False

    exact = True
    agreement = 1e-10
    """T <= 1e4 roundings of 1e-16."""

    def phase(self, t: int) -> int:
        """Iterations of one phase are alike."""
        return t if self.varies else t % self.period

    def family(self, steps: float) -> ProblemFamily | None:
        """What its authors would give to `check`, by the largest step in units of 1/beta; None: nothing."""
        return None if self.default else family(self, steps)

    def setting(self, values: Mapping[str, Any], steps: float) -> FamilyInstance:
        h, m = np.array(values["h"], dtype=float), np.array(values["m"], dtype=float)
        problem = sf.Quadratics.of(
            np.stack([np.diag(row) / 2 for row in h]), -m, sigma2=float(values["sigma2"]), start=values["start"]
        )
        return FamilyInstance(problem=problem, eta=values["eta"], iterations=values["T"], arguments=scalars(values))

    def truth(self, values: Mapping[str, Any], given: FamilyInstance, *, seed: int = 0) -> tuple[float, float]:
        """What is bounded; cancellation in the maps leaves 1e-16 of what there was at the start."""
        start = reference.expected_excess(self, {**values, "T": 0})
        return reference.expected_excess(self, values), 1e-14 * start

    def contains(self, values: Mapping[str, Any]) -> bool:
        """Whether an instance is of the case."""
        N, d = np.shape(values["h"])
        few = self.clients[0] <= N <= self.clients[1] and d <= (8 if self.default else FEATURES)
        return bool(
            few
            and (np.array(values["h"]) > 0).all()
            and all(np.ptp(values[name], axis=0).max() == 0 for name in self.same)
            and values["T"] <= (10_000 if self.default else LONGEST)
            and (values["sigma2"] == 0 or not self.noiseless)
        )


@dataclass(frozen=True, kw_only=True)
class Paths(Case):
    """Any algorithm, whose truth is measured on paths of its rule, with options, in `reference`; a family by the
    largest step in units of 1/beta."""

    rule: str
    family: Callable[[float], ProblemFamily]
    options: Mapping[str, Any] = field(default_factory=dict)
    participants: int = 3

    exact = False
    agreement = 1e-9
    """The same numbers where nothing is drawn, of T <= 30 roundings; the same paths elsewhere."""

    def setting(self, values: Mapping[str, Any], steps: float) -> FamilyInstance:
        return self.family(steps).setting({name: np.asarray(value) for name, value in values.items()})

    def truth(self, values: Mapping[str, Any], given: FamilyInstance, *, seed: int = 0) -> tuple[float, float]:
        """What is bounded, six standard errors and what 30 steps round."""
        measured, error = reference.sampled_truth(self, given, seed=seed)
        return measured, error + 1e-14

    def contains(self, values: Mapping[str, Any]) -> bool:
        return True


def scalars(instance: Mapping[str, Any]) -> dict[str, float]:
    """What a bound may ask for; b is the largest |grad R_0 - grad R_k| where all curvatures are the same."""
    h, m, start = (np.array(instance[name], dtype=float) for name in ("h", "m", "start"))
    N, d = h.shape
    return {
        "mu": float(h.min()), "beta": float(h.max()), "sigma2": float(instance["sigma2"]), "eta": instance["eta"],
        "e0": float((h[0] / 2 * (start - m[0]) ** 2).sum()), "T": float(instance["T"]), "N": float(N), "d": float(d),
        "distance2": float(((start - m[0]) ** 2).sum()), "b": float(np.linalg.norm(h[0] * (m - m[0]), axis=1).max()),
    }  # fmt: skip


def family(case: Moments, steps: float) -> ProblemFamily:
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
        return case.setting(instance, steps)

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


def spread(problem: Any) -> dict[str, float]:
    """The scalars of `SPREAD`."""
    m, x = problem.optimum.numpy(), problem.start.numpy()[0]
    middle = m.mean(0)
    lengths = np.linalg.norm(m - m[0], axis=1)
    values = (np.linalg.norm(x - m[0]), lengths.max(), np.linalg.norm(x - middle), np.linalg.norm(middle - m[0]),
              ((m - middle) ** 2).sum(1).mean())  # fmt: skip
    return dict(zip(SPREAD, map(float, values)))


def described(family: ProblemFamily) -> ProblemFamily:
    """A family of the library whose bounds may ask for `SPREAD`; its steps are then its own."""

    def build(values):
        setting = family.build(values)
        return replace(setting, arguments={**setting.arguments, **spread(setting.problem)})

    return replace(family, build=build, movable=None, parameters=dict.fromkeys(SPREAD))


def one(features: int = 2) -> Callable[[float], ProblemFamily]:
    return lambda steps: quadratics(features=features, longest=SHORT, steps=steps)


def alike(features: int = 1) -> Callable[[float], ProblemFamily]:
    return lambda steps: quadratics(clients=3, features=features, identical=True, longest=SHORT, steps=steps)


def apart(steps: float) -> ProblemFamily:
    return described(quadratics(clients=3, features=1, longest=SHORT, steps=steps))


def curve(kind: str, clients: int = 1) -> Callable[[float], ProblemFamily]:
    def family(steps):
        found = curves(kind, clients=clients, longest=SHORT, steps=steps)
        return found if clients == 1 else described(found)

    return family


def rounds(steps: float) -> ProblemFamily:
    """Three clients of one curvature in R^1, whole rounds of two steps."""

    def build(values):
        h, m = float(values["curvature"]), np.reshape(values["minimiser"], (3, 1))
        sigma2, eta = float(values["sigma2"]), float(values.get("eta", values["step"] / values["curvature"]))
        problem = sf.Quadratics.of(np.full((3, 1, 1), h / 2), -m, sigma2=sigma2, start=[float(values["start"])])
        e0 = h / 2 * float(values["start"] - m[0, 0]) ** 2
        scalars = {
            "eta": eta,
            "mu": h,
            "beta": h,
            "sigma2": sigma2,
            "N": 3.0,
            "T": 2.0 * int(values["rounds"]),
            "e0": e0,
        }
        return FamilyInstance(
            problem=problem, eta=eta, iterations=2 * int(values["rounds"]), arguments=scalars | spread(problem)
        )

    domains = {
        "curvature": Domain(low=1 / 16, high=4, log=True),
        "minimiser": Domain(low=-2, high=2, shape=(3,)),
        "start": Domain(low=-4, high=4),
        "sigma2": Domain(low=1e-3, high=16, log=True, zero=0.2),
        "step": Domain(low=steps / 32, high=steps, log=True),
        "rounds": Domain(low=1, high=SHORT // 2, integer=True),
    }
    return ProblemFamily(
        name="three clients, rounds of two", domains=domains, build=build, parameters=dict.fromkeys(SPREAD)
    )


def _paths(name: str, algorithm: Algorithm, rule: str, family: Callable[[float], ProblemFamily], **more: Any) -> Paths:
    return Paths(name=name, algorithm=algorithm, rule=rule, family=family, **more)


UNEQUAL = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
ONE_SIDED = [[1.0, 0.0], [0.5, 0.5]]
MANY = (1, 8)


def _tenths(t: int) -> float:
    return 0.5 ** ((t - 1) // 10)


def _root(t: int) -> float:
    return t**-0.5


def _slow(t: int) -> float:
    return 20 / (19 + t)


def _harmonic(t: int) -> float:
    return 1 / t


def _case(name: str, algorithm: Algorithm, rule: Callable[..., Any], **more: Any) -> Moments:
    return Moments(name=name, algorithm=algorithm, rule=rule, **more)


def _steps(name: str, size: Callable[[int], float]) -> Case:
    return _case(name, Steps(size=size), reference.with_steps(size), varies=True, default=True)


def _fixed(name: str, alpha: Any, **more: Any) -> Moments:
    return _case(name, alg.FixedWeights(alpha=alpha), reference.weighted(alpha), clients=(len(alpha),) * 2, **more)


def _skip(name: str, p: float, **more: Any) -> Moments:
    rule, coins = partial(scaffnew, p=p), reference.sometimes(p)
    return _case(name, alg.Scaffnew(p=p), rule, coins=coins, clients=MANY, **more)


def _ball(name: str, algorithm: alg.Momentum, rule: Callable[..., Any], **more: Any) -> Moments:
    return _case(name, algorithm, partial(rule, weight=algorithm.weight), **more)


def _rounds(name: str, algorithm: Any, **more: Any) -> Moments:
    rule = partial(local_sgd, period=algorithm.period)
    return _case(name, algorithm, rule, clients=MANY, period=algorithm.period, **more)


_PAIR = alg.FixedCoBo(w=torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64), rho=1.0)


def sgd(of: str, quantity: str = "excess", **more: Any) -> Paths:
    """SGD, every client alone."""
    words = {"direction": " from below", "delta": f" with delta {more.get('delta')}"}
    name = f"SGD, {of}: {quantity}" + "".join(words[each] for each in more)
    return _paths(name, Local(), "local", SGD_FAMILIES[of], quantity=quantity, **more)


SGD_FAMILIES = {
    "kink": curve("kink"),
    "logistic": curve("logistic"),
    "ripple": curve("ripple"),
    "quadratics": one(),
    "three alike": alike(2),
}
_AHEAD = alg.Momentum.nesterov(weight=0.5)
_HULL = {"quantity": "last_distance"}
_AMP = {"period": 1, "share": 0.5, "sigma": 1.0, "pull": 1.0}
_BOX = alg.CoBo(rho=0.5, weight_step=0.1, sampling="none")
_CLUSTERING = alg.FederatedClustering(radius=1.0, rounds=3), "federated-clustering"
_SIMPLEX, _RADIUS, _WARM = {"rho": 0.5, "simplex": True}, {"radius": 1.0}, {"temperature": 1.0}

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
        _case("averaged SGD", Averaged(), reference.averaged, varies=True, default=True),
        _case("averaged SGD from a distance", Averaged(), reference.averaged, varies=True),
        _case("SGD with batches of 4", Batch(batch=4), reference.batches(4), default=True),
        _rounds("averaging always", alg.LocalSGD(period=1)),
        _rounds("local SGD, H = 3", alg.LocalSGD(period=3)),
        _case(
            "local SGD, curvatures",
            alg.LocalSGD(period=3),
            partial(local_sgd, period=3),
            clients=MANY,
            period=3,
            same="m",
        ),
        _case(
            "averaging, other minimisers", alg.LocalSGD(period=1), partial(local_sgd, period=1), clients=MANY, same="h"
        ),
        _rounds("FedAvg, H = 2", alg.FedAvg(period=2)),
        _case("FedAvg, 1 of N", alg.FedAvg(participants=1), reference.sampled, coins=reference.some(1), clients=MANY),
        _case("FedAvg, 2 of N", alg.FedAvg(participants=2), reference.sampled, coins=reference.some(2), clients=(2, 8)),
        _ball("heavy ball", alg.Momentum(weight=0.5), heavy_ball, default=True),
        _ball("heavy ball, exact", alg.Momentum(weight=0.5), heavy_ball, noiseless=True),
        _ball("heavy ball, 1/4", alg.Momentum(weight=0.25), heavy_ball, noiseless=True),
        _ball("Nesterov", _AHEAD, nesterov, default=True),
        _ball("Nesterov, exact", _AHEAD, nesterov, noiseless=True),
        _skip("Scaffnew, exact", 0.2, same="m", noiseless=True),
        _skip("Scaffnew, p = 0.2", 0.2),
        _skip("Scaffnew, p = 1", 1.0),
        _skip("Scaffnew, minimisers", 1.0, same="h"),
        _skip("Scaffnew, alike", 0.5, noiseless=True),
        _skip("Scaffnew, p = 0.5", 0.5),
        _fixed("group of three", np.full((3, 3), 1 / 3)),
        _fixed("half of the weight", UNEQUAL),
        _fixed("half, minimisers", UNEQUAL, same="h"),
        _fixed("followed by another", ONE_SIDED),
        _fixed("sum of two", np.ones((2, 2))),
        _case("pair", _PAIR, reference.pair(1.0), clients=(2, 2)),
        _case("pair, minimisers", _PAIR, reference.pair(1.0), clients=(2, 2), same="h"),
        _paths("clipped SGD", Clipped(), "clipped", curve("kink"), quantity="last_distance"),
        _paths("clipped descent", Clipped(), "clipped", curve("kink")),
        _paths("sign descent", Sign(), "sign", curve("kink"), quantity="last_distance"),
        _paths("sign descent, logistic", Sign(), "sign", curve("logistic"), quantity="last_distance"),
        _paths("one of two entries", OneOfTwo(), "one of two", one()),
        _paths("the largest entry", Largest(), "largest", one()),
        _paths("FedFomo", alg.FedFomo(period=2), "fedfomo", apart),
        _paths("FedAMP", alg.FedAMP(), "fedamp", apart, options=_AMP, **_HULL),
        _paths("FedAMP on kinks", alg.FedAMP(), "fedamp", curve("kink", 3), options=_AMP, **_HULL),
        _paths("FedAMP, alike", alg.FedAMP(), "fedamp", alike(), options=_AMP, quantity="last_consensus"),
        _paths("CoBo", _BOX, "cobo", apart, options={"rho": 0.5}, **_HULL),
        _paths("CoBo on the simplex", replace(_BOX, simplex=True), "cobo", curve("kink", 3), options=_SIMPLEX, **_HULL),
        _paths("federated clustering", *_CLUSTERING, apart, options=_RADIUS, **_HULL),
        _paths("federated clustering on kinks", *_CLUSTERING, curve("kink", 3), options=_RADIUS, **_HULL),
        _paths("by validation, alike", alg.ValidationBased(period=2), "validation-based", alike(2), options=_WARM),
        _paths(
            "SCAFFOLD", alg.Scaffold(period=2), "scaffold", rounds, options={"server": 1.0}, quantity="last_distance"
        ),
        _paths("FedAvg, 1 of 3", alg.FedAvg(period=2, participants=1), "fedavg", rounds, participants=1, **_HULL),
        _paths("FedAvg, 2 of 3", alg.FedAvg(period=2, participants=2), "fedavg", rounds, participants=2, **_HULL),
        _paths("minibatch SGD", alg.MinibatchSGD(period=2), "minibatch-sgd", rounds, quantity="last_distance"),
        _paths("local SGD", alg.LocalSGD(period=2), "fedavg", rounds, quantity="last_distance"),
        _paths("local SGD, alike", alg.LocalSGD(period=2), "fedavg", alike(2), quantity="average_consensus"),
        sgd("kink"),
        sgd("kink", "last_distance"),
        sgd("kink", "last_distance", direction="lower"),
        sgd("kink", "average_gradient"),
        sgd("kink", delta=0.1),
        sgd("logistic"),
        sgd("logistic", "random_iterate_excess"),
        sgd("logistic", "mean_iterate_excess"),
        sgd("ripple"),
        sgd("ripple", "average_gradient"),
        sgd("ripple", delta=0.2),
        sgd("quadratics", direction="lower"),
        sgd("quadratics", delta=0.05),
        *(sgd("quadratics", each) for each in ("random_iterate_excess", "mean_iterate_excess", "last_gradient")),
        *(sgd("three alike", each) for each in ("average_client_gradient", "mean_excess", "last_consensus")),
    )
}
"""By the names in `bounds.txt`."""
