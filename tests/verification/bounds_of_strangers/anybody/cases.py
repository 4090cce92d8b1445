"""What these bounds are about: algorithms, problems, quantities, and the rule that the reference follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

import suffice as sf
from suffice.simulate import Algorithm, CoBo, Draw, FedAvg, FederatedClustering, Local, LocalSGD, Stream
from suffice.simulate.algorithms import FedAMP, FedFomo, FixedRadius, MinibatchSGD, Scaffold, ValidationBased
from suffice.verification import Domain
from suffice.verification.families import ProblemFamily, Setting, curves, quadratics

from ..cases import Own

LONGEST = 30
SPREAD = ("far", "apart", "far_mean", "apart_mean", "scatter")
"""With minimisers m, their mean M, the start x: |x - m_0|, max |m_k - m_0|, |x - M|, |M - m_0|, mean |m_k - M|^2."""


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
class OneOfTwo(Along):
    """In R^2, one entry, drawn with a fair coin, times 2."""

    linear: bool = True

    def draw(self, problem, randomness, iteration):
        u = randomness.uniform(iteration=iteration, stream=Stream.COIN, clients=problem.clients, features=1)
        first = (u < 0.5).to(problem.dtype)
        return Draw(iteration=iteration, noise=problem.draw(randomness, iteration), extra={"first": first})

    def outcomes(self, problem, iteration):
        return [(0.5, {"first": torch.full((1, problem.clients, 1), kept, dtype=problem.dtype)}) for kept in (1.0, 0.0)]

    def direction(self, g, draw):
        first = draw.extra["first"]
        return 2 * g * torch.cat((first, 1 - first), -1)


@dataclass(frozen=True, kw_only=True)
class Case:
    """An algorithm, its rule and options in `reference`, a family by the largest step in units of 1/beta, and what is
    bounded: a quantity of `check`, its direction, and delta for a bound in probability."""

    name: str
    algorithm: Algorithm
    rule: str
    family: Callable[[float], ProblemFamily]
    options: Mapping[str, Any] = field(default_factory=dict)
    participants: int = 3
    quantity: str = "excess"
    direction: str = "upper"
    delta: float | None = None


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
    return lambda steps: quadratics(features=features, longest=LONGEST, steps=steps)


def alike(features: int = 1) -> Callable[[float], ProblemFamily]:
    return lambda steps: quadratics(clients=3, features=features, identical=True, longest=LONGEST, steps=steps)


def apart(steps: float) -> ProblemFamily:
    return described(quadratics(clients=3, features=1, longest=LONGEST, steps=steps))


def curve(kind: str, clients: int = 1) -> Callable[[float], ProblemFamily]:
    def family(steps):
        found = curves(kind, clients=clients, longest=LONGEST, steps=steps)
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
        return Setting(
            problem=problem, eta=eta, iterations=2 * int(values["rounds"]), arguments=scalars | spread(problem)
        )

    domains = {
        "curvature": Domain(low=1 / 16, high=4, log=True),
        "minimiser": Domain(low=-2, high=2, shape=(3,)),
        "start": Domain(low=-4, high=4),
        "sigma2": Domain(low=1e-3, high=16, log=True, zero=0.2),
        "step": Domain(low=steps / 32, high=steps, log=True),
        "rounds": Domain(low=1, high=LONGEST // 2, integer=True),
    }
    return ProblemFamily(
        name="three clients, rounds of two", domains=domains, build=build, parameters=dict.fromkeys(SPREAD)
    )


def _case(name: str, algorithm: Algorithm, rule: str, family: Callable[[float], ProblemFamily], **more: Any) -> Case:
    return Case(name=name, algorithm=algorithm, rule=rule, family=family, **more)


def sgd(of: str, quantity: str = "excess", **more: Any) -> Case:
    """SGD, every client alone."""
    words = {"direction": " from below", "delta": f" with delta {more.get('delta')}"}
    name = f"SGD, {of}: {quantity}" + "".join(words[each] for each in more)
    return _case(name, Local(), "local", SGD_FAMILIES[of], quantity=quantity, **more)


SGD_FAMILIES = {
    "kink": curve("kink"),
    "logistic": curve("logistic"),
    "ripple": curve("ripple"),
    "quadratics": one(),
    "three alike": alike(2),
}
_HULL = {"quantity": "last_distance"}
_AMP = {"period": 1, "share": 0.5, "sigma": 1.0, "pull": 1.0}
_BOX = CoBo(rho=0.5, weight_step=0.1, sampling="none")
_CLUSTERING = FederatedClustering(radius=FixedRadius(tau=1.0), rounds=3), "federated-clustering"
_SIMPLEX, _RADIUS, _WARM = {"rho": 0.5, "simplex": True}, {"radius": 1.0}, {"temperature": 1.0}

CASES = {
    each.name: each
    for each in (
        _case("clipped SGD", Clipped(), "clipped", curve("kink"), quantity="last_distance"),
        _case("clipped descent", Clipped(), "clipped", curve("kink")),
        _case("sign descent", Sign(), "sign", curve("kink"), quantity="last_distance"),
        _case("sign descent, logistic", Sign(), "sign", curve("logistic"), quantity="last_distance"),
        _case("one of two entries", OneOfTwo(), "one of two", one()),
        _case("the largest entry", Largest(), "largest", one()),
        _case("FedFomo", FedFomo(period=2), "fedfomo", apart),
        _case("FedAMP", FedAMP(), "fedamp", apart, options=_AMP, **_HULL),
        _case("FedAMP on kinks", FedAMP(), "fedamp", curve("kink", 3), options=_AMP, **_HULL),
        _case("FedAMP, alike", FedAMP(), "fedamp", alike(), options=_AMP, quantity="last_consensus"),
        _case("CoBo", _BOX, "cobo", apart, options={"rho": 0.5}, **_HULL),
        _case("CoBo on the simplex", replace(_BOX, simplex=True), "cobo", curve("kink", 3), options=_SIMPLEX, **_HULL),
        _case("federated clustering", *_CLUSTERING, apart, options=_RADIUS, **_HULL),
        _case("federated clustering on kinks", *_CLUSTERING, curve("kink", 3), options=_RADIUS, **_HULL),
        _case("by validation, alike", ValidationBased(period=2), "validation-based", alike(2), options=_WARM),
        _case("SCAFFOLD", Scaffold(period=2), "scaffold", rounds, options={"server": 1.0}, quantity="last_distance"),
        _case("FedAvg, 1 of 3", FedAvg(period=2, participants=1), "fedavg", rounds, participants=1, **_HULL),
        _case("FedAvg, 2 of 3", FedAvg(period=2, participants=2), "fedavg", rounds, participants=2, **_HULL),
        _case("minibatch SGD", MinibatchSGD(period=2), "minibatch-sgd", rounds, quantity="last_distance"),
        _case("local SGD", LocalSGD(period=2), "fedavg", rounds, quantity="last_distance"),
        _case("local SGD, alike", LocalSGD(period=2), "fedavg", alike(2), quantity="average_consensus"),
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
"""By the names in `anybody.txt`."""
