"""Families of learning problems that `check` draws from, searches, and shrinks. All public: make your own alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.bounds import InputError, as_number, as_whole
from suffice.simulate import Quadratics
from suffice.simulate.problem import QuadraticProblem

from .family import Domain, Values

SMALLEST_STEP = 0.03125
"""Of a family of quadratics, as a share of its largest."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One instance: a problem, a step size, a number of iterations, and the scalars that a bound may ask for."""

    problem: QuadraticProblem
    eta: float
    iterations: int
    arguments: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class ProblemFamily:
    """Domains of the parameters, and `build(values)`: one number or array per name to one `Setting`.

    `sharp` lists instances chosen because bounds are often attained there.
    """

    name: str
    domains: Mapping[str, Domain]
    build: Callable[[Mapping[str, Any]], Setting]
    sharp: Callable[[], Values] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.domains, Mapping) or not all(isinstance(each, Domain) for each in self.domains.values()):
            raise InputError("domains", self.domains, "give a Domain by the name of each parameter")
        if not self.domains:
            raise InputError("domains", self.domains, "give at least one")
        for name, value in (("build", self.build), ("sharp", self.sharp)):
            if not callable(value) and (name, value) != ("sharp", None):
                raise InputError(name, value, "give a function")

    def setting(self, values: Mapping[str, Any]) -> Setting:
        """The instance of `values`, or `InputError` if `build` gives none."""
        setting = self.build(values)
        if not isinstance(setting, Setting):
            raise InputError("build", type(setting).__name__, "return a Setting")
        return setting


def quadratics(*, clients: int = 1, features: int = 2, longest: int = 40, steps: float = 1.0) -> ProblemFamily:
    """`clients` quadratics in R^d around minimisers of their own, additive isotropic noise, seen from client 0.

    Arguments of a bound: mu, beta (of all clients together), sigma2, e0 (client 0), eta, T, N, d. Step sizes reach
    `steps`/beta, T reaches `longest`. Sharp instances have mu = beta. Raises `InputError`.
    """
    for name, value in (("clients", clients), ("features", features), ("longest", longest)):
        as_whole(name, value)
    as_number("steps", steps)
    if steps <= 0:
        raise InputError("steps", steps, "give a positive number, in units of 1/beta")

    def build(values: Mapping[str, Any]) -> Setting:
        curvature = np.reshape(values["curvature"], (clients, features))
        A = np.stack([np.diag(row) for row in curvature]) / 2
        xi = -np.reshape(values["minimiser"], (clients, features)) if clients > 1 else np.zeros((1, features))
        sigma2 = float(values["sigma2"])
        start = np.asarray(values["start"], dtype=float)
        problem = Quadratics.of(A, xi, sigma2=sigma2, start=start)
        beta, mu = float(curvature.max()), float(curvature.min())
        eta, T = float(values["step"]) / beta, int(values["T"])
        e0 = float(problem.excess(problem.start[None])[0, 0])
        scalars = {"mu": mu, "beta": beta, "sigma2": sigma2, "e0": e0, "eta": eta, "T": float(T)}
        return Setting(
            problem=problem, eta=eta, iterations=T, arguments=scalars | {"N": float(clients), "d": float(features)}
        )

    domains = {
        "curvature": Domain(low=0.0625, high=4, log=True, shape=(clients, features)),
        "sigma2": Domain(low=0.0625, high=16, log=True),
        "start": Domain(low=-4, high=4, shape=(features,)),
        "step": Domain(low=SMALLEST_STEP * steps, high=steps, log=True),
        "T": Domain(low=1, high=longest, integer=True),
    }
    if clients > 1:
        domains["minimiser"] = Domain(low=-2, high=2, shape=(clients, features))

    def sharp() -> Values:
        T = np.minimum([1.0, 2.0, 5.0, longest], longest)
        values = {
            "curvature": np.ones((4, clients, features)),
            "sigma2": np.array([1.0, 16.0, 0.0625, 1.0]),
            "start": np.ones((4, features)),
            "step": np.array([steps, steps, steps / 2, steps / 16]),
            "T": T,
        }
        return values | ({"minimiser": np.zeros((4, clients, features))} if clients > 1 else {})

    name = f"{clients} quadratics" if clients > 1 else "one quadratic"
    return ProblemFamily(name=f"{name} in R^{features}", domains=domains, build=build, sharp=sharp)
