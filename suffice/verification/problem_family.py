"""Families of learning problems: domains, and `build` from one value of each to an instance with its scalars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import torch

from suffice.bounds import Parameter
from suffice.bounds.units import DIMENSIONLESS, Unit
from suffice.simulate.mean_loss import scalars as of_mean
from suffice.simulate.problem import Problem
from suffice.simulate.problem_batches import instances
from suffice.support.errors import InputError

from .family import Domain, Values


@dataclass(frozen=True, kw_only=True)
class FamilyInstance:
    """One instance: a problem, a step size, a number of iterations, and the scalars that a bound may ask for.

    What `arguments` leaves out of eta, T, N, d, of e0 and distance2 of client 0, of mu (the smallest), beta (the
    largest) and of sigma2 (where it is that of every client) is asked of the problem.
    """

    problem: Problem
    eta: float
    iterations: int
    arguments: Mapping[str, float] = field(default_factory=dict)

    def complete(self) -> FamilyInstance:
        """Itself with these scalars; `InputError` names what is none."""
        problem, given = self.problem, self.arguments
        if not hasattr(problem, "stochastic_gradient"):
            raise InputError("problem", type(problem).__name__, "give a problem, such as Quadratics.of(...)")
        if not isinstance(given, Mapping):
            raise InputError("arguments", given, 'give scalars by name, such as {"b": 0.5}')
        for name, value in (("eta", self.eta), ("iterations", self.iterations), *given.items()):
            if type(value) not in (float, int) and (np.ndim(value) or np.asarray(value).dtype.kind not in "iuf"):
                raise InputError(name, value, "give one real number")
        if not (self.iterations >= 0 and self.iterations % 1 == 0):
            raise InputError("iterations", self.iterations, "give a whole number, at least 0")
        counts = {"T": self.iterations, "N": problem.clients, "d": problem.features}
        known = {"eta": self.eta} | {name: float(count) for name, count in counts.items()}
        if "e0" not in given:
            known["e0"] = float(problem.excess(problem.start[None])[0, 0])
        if "distance2" not in given:
            known["distance2"] = float((problem.start[0] - problem.optimum[0]).square().sum())
        if (
            "sigma2" not in given
            and float((problem.sigma2 - problem.sigma2[0]).abs().max()) <= 1e-12 * problem.sigma2[0]
        ):
            known["sigma2"] = float(problem.sigma2[0])
        if not {"mu", "beta"} <= given.keys():  # `constants` compares clients too, which takes a millisecond
            A = getattr(problem, "A", None)
            spectrum = None if A is None else torch.linalg.eigvalsh(2 * A)
            flat, steep = (getattr(problem, name, spectrum) for name in ("mu", "smoothness"))
            known |= {} if flat is None else {"mu": float(np.min(np.asarray(flat)))}
            known |= {} if steep is None else {"beta": float(np.max(np.asarray(steep)))}
        return replace(self, iterations=int(self.iterations), arguments={**known, **given})


@dataclass(frozen=True)
class ProblemBatch:
    """A `build` whose instances are all of one shape.

    `many` makes all of a batch of values at once: their problems as one (`simulate.batches`), and their arguments (n,)
    with T and eta among them.
    """

    many: Callable[[Values], tuple[Problem, dict[str, np.ndarray]]]

    def __call__(self, values: Mapping[str, Any]) -> FamilyInstance:
        return self.each({name: np.asarray(value, dtype=float)[None] for name, value in values.items()})[0]

    def each(self, values: Values) -> list[FamilyInstance]:
        problems, arguments = self.many(values)
        columns = zip(*(each.tolist() for each in arguments.values()))
        rows = [dict(zip(arguments, row)) for row in columns]
        return [
            FamilyInstance(problem=problem, eta=row["eta"], iterations=int(row["T"]), arguments=row)
            for problem, row in zip(instances(problems, len(rows)), rows)
        ]


@dataclass(frozen=True, kw_only=True)
class MovableInstances:
    """How instances are moved to where a bound's conditions hold, see `moved_inside`.

    scalars   the arguments of a batch of values, without eta
    moved     values whose scalar of this name (T, sigma2, e0 or mu) is the given one, the rest as it was
    """

    scalars: Callable[[Values], dict[str, np.ndarray]]
    moved: Callable[[Values, str, np.ndarray], Values]


@dataclass(frozen=True, kw_only=True)
class ProblemFamily:
    """Domains of the parameters, and `build(values)`: one number or array per name to one `FamilyInstance`.

    `sharp` lists instances chosen because bounds are often attained there. With `movable`, the domain "step" is a
    share of the largest step that a bound's conditions allow at the instance, and `build` is given it as "eta".
    `outside` says in words what the family leaves out. `mean_loss(own)` gives the same family whose e0, distance2 and
    zeta2 are those of the clients' mean loss, or with `own` all but e0 and distance2, where more has to change.
    `parameters` declares scalars of its own that bounds may take, by name with their units, None where a unit does not
    matter; each `FamilyInstance` has their values among its arguments. `growing(names)` gives the family whose noise
    grows as these scalars of `quantity.GROWING` say.
    """

    name: str
    domains: Mapping[str, Domain]
    build: Callable[[Mapping[str, Any]], FamilyInstance]
    sharp: Callable[[], Values] | None = None
    movable: MovableInstances | None = None
    outside: str = ""
    mean_loss: Callable[[bool], ProblemFamily] | None = None
    parameters: Mapping[str, Unit | None] = field(default_factory=dict)
    growing: Callable[[frozenset[str]], ProblemFamily] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.parameters, Mapping) or not all(
            isinstance(name, str) and name.isidentifier() and isinstance(unit, Unit | None)
            for name, unit in self.parameters.items()
        ):
            raise InputError("parameters", self.parameters, 'give names with units or None, such as {"kappa": None}')
        if not isinstance(self.domains, Mapping) or not all(isinstance(each, Domain) for each in self.domains.values()):
            raise InputError("domains", self.domains, "give a Domain by the name of each parameter")
        if not self.domains:
            raise InputError("domains", self.domains, "give at least one")
        for name, value in (("build", self.build), ("sharp", self.sharp)):
            if not callable(value) and (name, value) != ("sharp", None):
                raise InputError(name, value, "give a function")

    def own(self) -> dict[str, Parameter]:
        """Its own scalars as parameters of a theorem."""
        return {name: own_scalar(name, f"the family {self.name}", unit) for name, unit in self.parameters.items()}

    def setting(self, values: Mapping[str, Any]) -> FamilyInstance:
        """The instance of `values`, or `InputError` if `build` gives none."""
        setting = self.built(values)
        return setting if isinstance(self.build, ProblemBatch) else setting.complete()

    def built(self, values: Mapping[str, Any]) -> FamilyInstance:
        """What `build` gives, with the scalars that it states."""
        try:
            setting = self.build(values)
        except InputError:
            raise
        except Exception as error:
            given = ", ".join(f"{name}={np.asarray(value).tolist()}" for name, value in values.items())
            raise InputError("build", self.name, f"it fails at {given} ({type(error).__name__}: {error})") from error
        if not isinstance(setting, FamilyInstance):
            raise InputError("build", type(setting).__name__, "return a FamilyInstance")
        return setting

    def settings(self, values: Values) -> list[FamilyInstance]:
        """All instances of a batch of values."""
        if isinstance(self.build, ProblemBatch):
            return self.build.each(values)
        given = values if isinstance(values, dict) else {}
        sizes = {np.shape(given.get(name, 0))[:1] for name in self.domains}
        if len(sizes) > 1 or () in sizes:
            remedy = f"give an array of one entry per instance for each of {', '.join(self.domains)}"
            raise InputError("sharp", self.name, remedy)
        rows = ({name: value[at] for name, value in values.items()} for at in range(len(next(iter(values.values())))))
        return [self.setting(row) for row in rows]


def own_scalar(name: str, of: str, unit: Unit | None = None) -> Parameter:
    """A scalar that is none of the library's as a parameter of a theorem."""
    return Parameter(
        name=name, symbol=name, meaning=f"{name} of {of}", unit=unit or DIMENSIONLESS, typical=(0.1, 10.0),
        lower=-np.inf,
    )  # fmt: skip


def with_scalars(family: ProblemFamily, scalars: Mapping[str, float]) -> ProblemFamily:
    """The family whose instances give these arguments too; of R, the iterations of a round, it gives how many rounds
    there are, all of them whole, and no more participate than there are clients."""

    def more(found: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        given: dict[str, Any] = dict(scalars)
        if "R" in scalars:
            given["R"] = np.maximum(np.floor(np.asarray(found["T"]) / scalars["R"]), 1.0)
            given["T"] = scalars["R"] * given["R"]
        if "participants" in scalars:
            given["participants"] = np.minimum(scalars["participants"], found["N"])
        return given

    return _with(family, more) if scalars else family


def of_mean_loss(family: ProblemFamily, *only: str) -> ProblemFamily:
    """The family with e0, distance2 and zeta2 of the clients' mean loss, or `only` some of these scalars, but for those
    that `build` states itself."""
    if family.mean_loss is not None:
        return family.mean_loss(bool(only))

    def build(values: Mapping[str, Any]) -> FamilyInstance:
        setting = family.built(values)
        whole = setting.complete()  # what is no instance is refused by name
        found = {name: value for name, value in of_mean(whole.problem).items() if not only or name in only}
        return replace(whole, arguments={**whole.arguments, **found, **setting.arguments})

    return replace(family, build=build)


def with_level(family: ProblemFamily, name: str) -> ProblemFamily:
    """The family with a domain of its own for `name`, what a client's excess loss (or squared gradient) may fall below:
    a share of e0 (or of beta e0), or of 1 where e0 = 0."""

    def level(found: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        unit = np.asarray(found["e0"]) * (1.0 if name == "eps" else found.get("beta", 1.0))
        return {name: values["share"] * np.where(unit > 0, unit, 1.0)}

    def sharp() -> Values:
        values = cast(Any, family.sharp)()
        return values | {"share": np.full(len(values["T"]), 0.3)}

    return replace(
        _with(family, level),
        domains={**family.domains, "share": Domain(low=1e-3, high=2, log=True)},
        sharp=sharp if family.sharp else None,
    )


def _with(
    family: ProblemFamily, more: Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]
) -> ProblemFamily:
    """The family whose instances give what `more` makes of their arguments and values, of one or of many at once."""
    own, movable = family.build, family.movable

    def build(values: Mapping[str, Any]) -> FamilyInstance:
        setting = family.setting(values)
        given = more({**setting.arguments, "T": setting.iterations}, values)
        return replace(
            setting, arguments={**setting.arguments, **given}, iterations=int(given.get("T", setting.iterations))
        )

    def joined(found: dict[str, np.ndarray], values: Values) -> dict[str, np.ndarray]:
        shape = np.shape(found["T"])
        return found | {name: np.full(shape, value, dtype=float) for name, value in more(found, values).items()}

    def many(values: Values) -> tuple[Problem, dict[str, np.ndarray]]:
        problems, found = cast(ProblemBatch, own).many(values)
        return problems, joined(found, values)

    if movable is not None:
        scalars = movable.scalars
        movable = replace(movable, scalars=lambda values: joined(scalars(values), values))
    return replace(family, build=ProblemBatch(many) if isinstance(own, ProblemBatch) else build, movable=movable)
