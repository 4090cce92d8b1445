"""Families of learning problems: domains, and `build` from one value of each to an instance with its scalars.

These are what `check` draws from, searches, and shrinks. All are public: make your own alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import torch

from suffice.bounds import Parameter
from suffice.bounds.units import DIMENSIONLESS, Unit
from suffice.simulate import Quadratics
from suffice.simulate.mean_loss import apart
from suffice.simulate.mean_loss import minimiser as minimiser_of_mean
from suffice.simulate.mean_loss import scalars as of_mean
from suffice.simulate.problem import Problem
from suffice.simulate.problem_batches import instances
from suffice.simulate.problems import Kink, LogisticPiece, Ripple, Separable
from suffice.simulate.problems.gradient_noise import Additive
from suffice.simulate.problems.growing_noise import GrowingNoise
from suffice.simulate.problems.nonconvex import Profile, Well
from suffice.support.errors import InputError
from suffice.support.numbers import as_number, as_whole

from .family import Domain, Values

LARGEST_STEP = 4.0
"""The largest step in units of 1/beta where no condition limits it: gradient descent diverges beyond 2/beta."""
FLATTEST = 2.0**-20
"""The smallest curvature of a family of quadratics, as a share of the largest possible."""


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
        """The instance with all of these scalars; `InputError` names a value that is of the wrong kind."""
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

    `many` makes all of a batch of values at once: their problems as one (`simulate.problem_batches`), and their
    arguments (n,) with T and eta among them.
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
    longest   the largest T that one is moved to
    """

    scalars: Callable[[Values], dict[str, np.ndarray]]
    moved: Callable[[Values, str, np.ndarray], Values]
    longest: float = np.inf


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
        """The family's own scalars as parameters of a theorem."""
        return {name: own_scalar(name, f"the family {self.name}", unit) for name, unit in self.parameters.items()}

    def setting(self, values: Mapping[str, Any]) -> FamilyInstance:
        """The instance of `values`, or `InputError` if `build` gives none."""
        setting = self.built(values)
        return setting if isinstance(self.build, ProblemBatch) else setting.complete()

    def built(self, values: Mapping[str, Any]) -> FamilyInstance:
        """The instance that `build` gives, with no scalars but those that it states; else `InputError`."""
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


def with_scalars(family: ProblemFamily, scalars: Mapping[str, float], level: str = "") -> ProblemFamily:
    """The family whose instances give these arguments too; of R, the iterations of a round, it gives how many rounds
    there are, all of them whole, and no more participate than there are clients. `level`, what a client's excess loss
    (or squared gradient) may fall below, has a domain of its own: a share of e0 (or of beta e0), or of 1 where e0 = 0.
    """
    if not scalars and not level:
        return family
    own, movable, sharp = family.build, family.movable, family.sharp

    def more(found: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        given: dict[str, Any] = dict(scalars)
        if "R" in scalars:
            given["R"] = np.maximum(np.floor(np.asarray(found["T"]) / scalars["R"]), 1.0)
            given["T"] = scalars["R"] * given["R"]
        if "participants" in scalars:
            given["participants"] = np.minimum(scalars["participants"], found["N"])
        if level:
            unit = np.asarray(found["e0"]) * (1.0 if level == "eps" else found.get("beta", 1.0))
            given[level] = values["share"] * np.where(unit > 0, unit, 1.0)
        return given

    def build(values: Mapping[str, Any]) -> FamilyInstance:
        setting = family.setting(values)
        given = {**setting.arguments, **more({**setting.arguments, "T": setting.iterations}, values)}
        return replace(setting, arguments=given, iterations=int(given["T"] if "R" in scalars else setting.iterations))

    def joined(found: dict[str, np.ndarray], values: Values) -> dict[str, np.ndarray]:
        shape = np.shape(found["T"])
        return found | {name: np.full(shape, value, dtype=float) for name, value in more(found, values).items()}

    def many(values: Values) -> tuple[Problem, dict[str, np.ndarray]]:
        problems, found = cast(ProblemBatch, own).many(values)
        return problems, joined(found, values)

    if movable is not None:
        known = movable.scalars
        movable = replace(movable, scalars=lambda values: joined(known(values), values))
    many_or_one = ProblemBatch(many) if isinstance(own, ProblemBatch) else build
    domains = dict(family.domains)
    if level:
        domains["share"] = Domain(low=1e-3, high=2, log=True)
        sharp = sharp and (lambda of=sharp: (values := of()) | {"share": np.full(len(values["T"]), 0.3)})
    return replace(family, build=many_or_one, movable=movable, domains=domains, sharp=sharp)


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


# --- quadratics ------------------------------------------------------------------------------------------------------


def quadratics(
    *,
    clients: int = 1,
    features: int = 2,
    longest: int = 10_000,
    steps: float = LARGEST_STEP,
    identical: bool | str = False,
) -> ProblemFamily:
    """`clients` quadratics in R^d around minimisers of their own, additive noise, seen from client 0.

    Arguments of a bound: mu, beta (of all clients together), sigma2, e0 and distance2 (client 0), eta, T, N, d.
    Curvatures span six decades, e0 and sigma2 twelve, either may be 0; T reaches `longest`; step sizes reach the
    largest that the bound's conditions allow at each instance, at most `steps`/beta. With `identical` all clients have
    one loss, with identical="hessian" one Hessian. Noise of total variance sigma2 is isotropic, or a share of it is
    along the steepest direction or the flattest one (none is with `check(assumptions={"isotropic"})`). Sharp instances
    have mu = beta or start along an end of the spectrum. Of a quantity of the clients' mean loss e0 and distance2 are
    that loss's, and the start is seen from its minimiser x*. A bound may take zeta2, sigma2_star, Gamma, hessian_gap,
    G2 and B2 too; of one that takes noise_factor or noise_excess the variance of a gradient is sigma2 +
    noise_factor |grad R_k|^2 + 2 noise_excess (R_k - R_k*), along the gradient or turned away from it. Raises
    `InputError`.
    """
    _check_numbers(steps, clients=clients, features=features, longest=longest)
    if identical not in (True, False, "hessian"):
        raise InputError("identical", identical, 'give True, False or "hessian"')
    return _Quadratics(clients, features, longest, steps, identical).family()


def _check_numbers(steps: float, **counts: int) -> None:
    for name, value in counts.items():
        as_whole(name, value)
    if as_number("steps", steps) <= 0:
        raise InputError("steps", steps, "give a positive number, in units of 1/beta")


@dataclass(frozen=True)
class _Quadratics:
    clients: int
    features: int
    longest: int
    steps: float
    identical: bool | str
    mean_loss: bool = False
    constants: bool = False
    growing: frozenset[str] = frozenset()

    @property
    def kinds(self) -> int:
        """The number of Hessians: 1 where all clients share one."""
        return 1 if self.identical else self.clients

    @property
    def apart(self) -> bool:
        """Whether the clients' minimisers differ."""
        return self.clients > 1 and self.identical is not True

    @property
    def turning(self) -> bool:
        return self.kinds > 1 and self.features > 1

    def family(self) -> ProblemFamily:
        clients = f"{self.clients}" if self.apart else f"{self.clients} identical"
        name = f"{clients} quadratics" if self.clients > 1 else "one quadratic"
        name += " of one Hessian" if self.apart and self.identical else ""
        return ProblemFamily(
            name=f"{name} in R^{self.features}",
            domains=self.domains(),
            build=ProblemBatch(self.built),
            sharp=self.sharp,
            movable=MovableInstances(scalars=self.scalars, moved=self.moved),
            mean_loss=lambda own: replace(self, mean_loss=not own, constants=True).family(),
            growing=lambda names: replace(self, growing=names).family(),
            outside=f"T > {self.longest:,}, condition numbers beyond 2^20, losses that are not quadratic, noise that "
            f"is not additive{' or of this growth' if self.growing else ''}",
        )

    def domains(self) -> dict[str, Domain]:
        domains = {
            "curvature": Domain(low=4 * FLATTEST, high=4, log=True, shape=(self.kinds, self.features)),
            "sigma2": Domain(low=1e-6, high=1e6, log=True, zero=0.15),
            "far": Domain(low=1e-3, high=1e3, log=True, zero=0.15),
            "direction": Domain(low=-1, high=1, shape=(self.features,)),
            "step": Domain(low=1e-4, high=1, log=True),
            "T": Domain(low=1, high=self.longest, log=True, integer=True),
        }
        if self.features > 1:
            domains["along"] = Domain(low=-1, high=1, zero=0.4)
        domains |= {name: Domain(low=2.0**-6, high=64, log=True, zero=0.3) for name in sorted(self.growing)}
        if self.growing and self.features > 1:
            domains["crossed"] = Domain(low=0, high=1, integer=True)
        if self.apart:
            domains["minimiser"] = Domain(low=-2, high=2, shape=(self.clients, self.features))
        if self.turning:
            domains["turn"] = Domain(low=-np.pi, high=np.pi, shape=(self.kinds,))
        return domains

    def curvatures(self, values: Mapping[str, Any]) -> np.ndarray:
        return np.reshape(values["curvature"], (-1, self.kinds, self.features))

    def hessians(self, values: Mapping[str, Any]) -> np.ndarray:
        """(n, kinds, d, d); those of several clients are turned in the plane of the first two features."""
        H, turn = self.curvatures(values)[..., None] * np.eye(self.features), self.turns(values)
        H = turn @ H @ turn.swapaxes(-1, -2) if self.turning else H
        return (H + H.swapaxes(-1, -2)) / 2

    def turns(self, values: Mapping[str, Any]) -> np.ndarray:
        """Rotations (n, kinds, d, d)."""
        angle = np.reshape(values["turn"], (-1, self.kinds)) if self.turning else np.zeros((1, self.kinds))
        turn = np.tile(np.eye(self.features), (*angle.shape, 1, 1))
        if self.turning:
            turn[..., 0, 0] = turn[..., 1, 1] = np.cos(angle)
            turn[..., 1, 0] = np.sin(angle)
            turn[..., 0, 1] = -turn[..., 1, 0]
        return turn

    def ends(self, values: Mapping[str, Any], along: np.ndarray) -> np.ndarray:
        """Unit vectors along which losses are steepest, or where `along` < 0 flattest, (n, kinds, d)."""
        curvature = self.curvatures(values) * np.where(along < 0, -1, 1)[:, None, None]
        unit = np.eye(self.features)[curvature.argmax(-1)]
        return (self.turns(values) @ unit[..., None])[..., 0]

    def minimisers(self, values: Mapping[str, Any]) -> np.ndarray:
        if self.apart:
            m = np.reshape(values["minimiser"], (-1, self.clients, self.features))
            return m - m[:, :1]  # where all are one, no mean of them is rounded
        return np.zeros((len(self.curvatures(values)), 1, self.features))

    def seen_from(self, values: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """The Hessian (n, d, d) and the minimiser (n, d) that the start is seen from, and further scalars."""
        H, m = self.hessians(values), self.minimisers(values)
        if not self.constants:
            return H[:, 0], m[:, 0], {}
        middle = m.mean(1)
        pull = (H @ (m - middle[:, None])[..., None]).mean(1)
        best = middle + np.linalg.solve(H.mean(1), pull)[..., 0]
        more = apart(np.broadcast_to(H, (len(m), m.shape[1], *H.shape[2:])), m, best)
        return (H.mean(1), best, more) if self.mean_loss else (H[:, 0], m[:, 0], more)

    def scalars(self, values: Mapping[str, Any]) -> dict[str, np.ndarray]:
        curvature = self.curvatures(values)
        x = np.reshape(values["far"], (-1, 1)) * np.reshape(values["direction"], (-1, self.features))
        ones = np.ones(len(curvature))
        H, _, more = self.seen_from(values)
        return (
            more
            | {name: np.reshape(values[name], -1) * ones for name in self.growing}
            | {
                "mu": curvature.min((1, 2)),
                "beta": curvature.max((1, 2)),
                "sigma2": np.reshape(values["sigma2"], -1) * ones,
                "e0": np.einsum("nd,nde,ne->n", x, H, x) / 2,
                "distance2": (x**2).sum(1),
                "T": np.reshape(values["T"], -1) * ones,
                "N": self.clients * ones,
                "d": self.features * ones,
            }
        )

    def moved(self, values: Values, name: str, target: np.ndarray) -> Values:
        now = self.scalars(values)
        if name in ("e0", "distance2"):
            with np.errstate(all="ignore"):
                factor = np.nan_to_num(np.sqrt(target / now[name]), nan=1.0, posinf=1.0)
            return values | {"far": values["far"] * factor}
        if name == "mu":
            beta = now["beta"]
            spread = np.maximum(np.log(beta / now["mu"]), 1e-300)
            power = np.minimum(np.log(beta / np.minimum(target, beta)) / spread, 1.0)
            relative = self.curvatures(values) / beta[:, None, None]
            bent = beta[:, None, None] * relative ** power[:, None, None]
            return values | {"curvature": bent.reshape(values["curvature"].shape)}
        return values | {name: target}

    def built(self, values: Values) -> tuple[Problem, dict[str, np.ndarray]]:
        """A batch by `Quadratics.of` without its checks, which take longer than the moments of a small instance. A
        share of the noise's variance is along unit vectors, the rest in all directions alike."""
        arguments = self.scalars(values)
        shape = (len(arguments["T"]), self.clients, self.features)
        H = np.broadcast_to(self.hessians(values), (*shape, self.features))
        minimiser = np.broadcast_to(self.minimisers(values), shape)
        start = self.seen_from(values)[1] + values["far"][:, None] * values["direction"]
        arguments["eta"] = values["eta"] if "eta" in values else values["step"] * self.steps / arguments["beta"]
        along = np.reshape(values.get("along", 0.0), -1) * np.ones(shape[0])
        end = np.broadcast_to(self.ends(values, along), shape)
        sigma2, along = arguments["sigma2"], np.abs(along)
        parts = sigma2 * (1 - along) / self.features, sigma2 * along
        even, once = (torch.from_numpy(part)[:, None, None, None] for part in parts)
        identity = torch.eye(self.features, dtype=torch.float64).expand(self.clients, -1, -1)
        onto = torch.from_numpy(end[..., :, None] * end[..., None, :])
        fields: dict[str, Any] = dict(
            A=torch.from_numpy(np.ascontiguousarray(H / 2)),
            xi=torch.from_numpy(-minimiser),
            noise=Additive(
                covariance=even * identity + once * onto,
                factor=even.sqrt() * identity + ((even + once).sqrt() - even.sqrt()) * onto,
            ),
            start=torch.from_numpy(np.repeat(start[:, None], self.clients, axis=1)),
            names=tuple(f"client {index}" for index in range(self.clients)),
        )
        if not self.growing:
            return Quadratics(**fields), arguments
        growth = torch.from_numpy(np.broadcast_to(self.growth(values, arguments), H.shape).copy())
        return GrowingNoise(**fields, growth=growth), arguments

    def growth(self, values: Values, arguments: dict[str, np.ndarray]) -> np.ndarray:
        """(n, kinds, d, d), W with W^T W = M H^2 + A H: with H = Q diag(h) Q^T it takes each eigenvector to itself or,
        where it is crossed, to the one at the other end of the list, (M h^2 + A h)^(1/2) times as long."""
        h, Q = self.curvatures(values), self.turns(values)
        M, A = (arguments.get(name, 0 * arguments["T"])[:, None, None] for name in ("noise_factor", "noise_excess"))
        image = np.where(np.reshape(values.get("crossed", 0.0), (-1, 1, 1, 1)) > 0.5, Q[..., ::-1], Q)
        return (image * np.sqrt(M * h**2 + A * h)[..., None, :]) @ Q.swapaxes(-1, -2)

    def sharp(self) -> Values:
        """Equal curvatures; then spectra from narrow to wide, the start along the flat end, the steep one, or both."""
        rows = self.sharp_rows()
        values = of_rows(self.domains(), rows)
        if self.growing:  # once more with noise that grows along the gradient, and much away from it
            more = {name: np.repeat([0.0, 1.0, 16.0], len(rows)) for name in self.growing}
            more |= {"crossed": np.repeat([0.0, 0.0, 1.0], len(rows))} if self.features > 1 else {}
            values = {name: np.concatenate([value] * 3) for name, value in values.items()} | more
        if not (self.mean_loss and self.apart):
            return values
        # once more with minimisers at -1 and 1 by turns, the first client alone as steep
        apart = {name: value.copy() for name, value in values.items()}
        apart["minimiser"][:] = np.where(np.arange(self.clients) % 2, -1.0, 1.0)[:, None]
        apart["curvature"][:, 1:] /= 4
        found = [values, apart]
        if self.turning:
            # from x*, without noise: gradients there of 1 and -1 by turns along the steep end, which is turned by
            # -+(mu/beta)^(1/2): local steps drift along the flat end, where H^-1 mean_k(H_k grad R_k(x*)), H the mean
            # of the H_k, is (beta/mu)^(1/2)/2 long
            far = values["curvature"].max((1, 2)) / values["curvature"].min((1, 2)) > 2
            tilted, place = {name: value[far] for name, value in values.items()}, np.arange(self.clients)
            side = np.where(place < self.clients // 2 * 2, (-1.0) ** place, 0.0)
            tilted["turn"] = side * (self.curvatures(tilted)[:, :1, -1] / self.curvatures(tilted)[:, :1, 0]) ** 0.5
            away = np.linalg.inv(self.hessians(tilted))[..., 0] * side[:, None]
            tilted |= {name: 0 * tilted[name] for name in ("sigma2", "far")}
            found.append(tilted | {"minimiser": away / np.abs(away).max((1, 2), keepdims=True)})
        return {name: np.concatenate([each[name] for each in found]) for name in values}

    def sharp_rows(self) -> list[tuple[Any, ...]]:
        """Spectrum, sigma2, far, direction, step, T and `along` of each."""
        features, longest = self.features, self.longest
        end, flat, both = np.eye(features)[0], np.eye(features)[-1], np.ones(features)
        wide, half, mild = (np.geomspace(4, flattest, features) for flattest in (2**-8, 2, 0.25))
        rows = [
            (both, sigma2, far, both, step, T)
            for sigma2, far in ((1.0, 1.0), (16.0, 0.0), (0.0, 1.0), (1e-6, 1e3), (1e6, 1e-3))
            for step, T in ((1.0, 1), (1.0, 2), (0.5, 5), (0.0625, longest))
        ] + [
            (spectrum, sigma2, far, direction, step, T)
            for spectrum, scales in (
                (wide, ((0.0, 1.0), (0.0625, 0.5), (0.0625, 2.0), (0.0625, 8.0))),
                (half, ((0.0, 1.0), (0.0625, 1.0))),
                (mild, ((0.0, 1.0), (0.0625, 1.0))),
            )
            for sigma2, far in scales
            for direction in (end, flat, both)
            for step, T in ((1.0, 1), (1.0, 40), (1.0, 1000), (0.9, 100), (0.1, 10))
        ]
        # mu/beta and T at their ends together: a rate that is too good only where mu is least is seen late
        widest = np.geomspace(4, 4 * FLATTEST, features)
        rows += [(widest, sigma2, 1.0, flat, step, longest) for sigma2 in (0.0, 0.0625) for step in (1.0, 0.25)]
        rows = [(*row, 0.0) for row in rows] + [  # noise along the steep end and along the flat one alone
            (spectrum, 1.0, far, flat, step, T, along)
            for spectrum in ((wide, half, widest) if features > 1 else ())
            for far in (0.0, 1.0)
            for step, T in ((1.0, 1), (0.5, 5), (1.0, 1000), (0.0625, longest))
            for along in (1.0, -1.0)
        ]
        return [(*row[:5], min(row[5], longest), row[6]) for row in rows]


def of_rows(domains: Mapping[str, Domain], rows: Sequence[tuple[Any, ...]]) -> Values:
    """Instances of a family of quadratics: of each the spectrum, sigma2, far, direction, step, T and `along`."""
    names = ("curvature", "sigma2", "far", "direction", "step", "T", "along")
    given = {name: np.array(column, dtype=float) for name, column in zip(names, zip(*rows))}
    values = {name: np.zeros((len(rows), *domain.shape)) for name, domain in domains.items()}
    values |= {name: np.full(len(rows), 0.3) for name in ("share",) if name in domains}  # the level of what stops
    values["curvature"][:] = given.pop("curvature")[:, None]
    return values | {name: value for name, value in given.items() if name in domains}


def _ripple(inner: float, outer: float, width: float) -> tuple[Profile, float]:
    profile = _RIPPLES[int(width > 0.1) + int(width > 1)]
    return profile, inner / profile.smoothness


_RIPPLES = tuple(Ripple(amplitude) for amplitude in (1.5, 3.0, 4.6))
_CURVES: dict[str, Callable[[float, float, float], tuple[Profile, float]]] = {
    "kink": lambda inner, outer, width: (Kink(inner=inner, outer=outer, width=width), 1.0),
    "huber": lambda inner, outer, width: (Kink(inner=inner, outer=0.0, width=width), 1.0),
    "well": lambda inner, outer, width: (Well(), inner / Well().smoothness),
    "logistic": lambda inner, outer, width: (LogisticPiece(ridge=outer / inner), inner),
    "ripple": _ripple,
}
"""Profile and scale of the inner curvature, the outer one and the width between them."""


def curves(kind: str = "kink", *, clients: int = 1, longest: int = 100, steps: float = LARGEST_STEP) -> ProblemFamily:
    """`clients` losses of one variable that are not quadratic, minimisers and weights of their own, additive noise.

    kind   "kink": strongly convex, one curvature near the minimiser and another beyond; "huber": convex, mu = 0, linear
           beyond; "logistic": a centred logistic loss and a ridge; "ripple": not convex, but the PL inequality with mu
           holds; "well": u^2/(1 + u^2), smooth, neither convex nor PL, mu = 0
    The other arguments and the scalars of a bound are those of `quadratics`; mu and beta are of all clients together.
    """
    if kind not in _CURVES:
        raise InputError("kind", kind, f"use {', '.join(_CURVES)}")
    _check_numbers(steps, clients=clients, longest=longest)
    return _Curves(kind, clients, longest, steps).family()


@dataclass(frozen=True)
class _Curves:
    kind: str
    clients: int
    longest: int
    steps: float
    mean_loss: bool = False
    constants: bool = False

    def family(self) -> ProblemFamily:
        domains = {
            "curvature": Domain(low=4 * 2.0**-10, high=4, log=True, shape=(2,)),
            "width": Domain(low=0.01, high=10, log=True),
            "sigma2": Domain(low=1e-4, high=1e4, log=True, zero=0.3),
            "far": Domain(low=1e-2, high=1e2, log=True, zero=0.1),
            "step": Domain(low=1e-4, high=1, log=True),
            "T": Domain(low=1, high=self.longest, log=True, integer=True),
        }
        if self.clients > 1:
            domains["minimiser"] = Domain(low=-2, high=2, shape=(self.clients,))
            domains["weight"] = Domain(low=0.25, high=1, shape=(self.clients,))
        return ProblemFamily(
            name=f"{self.clients} {self.kind} losses in R^1",
            domains=domains,
            build=self.built,
            sharp=self.sharp,
            movable=MovableInstances(scalars=self.scalars, moved=self.moved),
            mean_loss=lambda own: replace(self, mean_loss=not own, constants=True).family(),
            outside=f"T > {self.longest:,}, condition numbers beyond 2^10, more than one dimension, noise that is not "
            "additive",
        )

    def problem(self, values: Mapping[str, Any]) -> Separable:
        inner, outer = map(float, values["curvature"])
        profile, scale = _CURVES[self.kind](inner, outer, float(values["width"]))
        shape, several = (self.clients, 1), self.clients > 1
        minimiser = np.reshape(values["minimiser"], shape) if several else np.zeros((1, 1))
        weights = scale * (np.reshape(values["weight"], shape) if several else np.ones((1, 1)))
        noise, start = np.sqrt(values["sigma2"]) * np.ones((*shape, 1)), np.zeros(shape)
        far = float(values["far"])
        made = Separable(  # `Separable.of` checks for longer than a short path takes
            profile=profile,
            optimum=torch.from_numpy(minimiser.astype(float)),
            scale=torch.from_numpy(weights),
            noise=Additive(covariance=torch.from_numpy(noise**2), factor=torch.from_numpy(noise)),
            start=torch.from_numpy(start + minimiser[0] + far),
            names=tuple(f"client {index}" for index in range(self.clients)),
        )
        if not self.mean_loss:
            return made
        # the start is at `far` from the minimiser that it is seen from
        return replace(made, start=minimiser_of_mean(made) + torch.from_numpy(start + far))

    def arguments(self, given: Separable, values: Mapping[str, Any]) -> dict[str, float]:
        constants = {"mu": float(given.mu.min()), "beta": float(given.smoothness.max())}
        e0, far = float(given.excess(given.start[None])[0, 0]), float(values["far"])
        rest = {"sigma2": float(values["sigma2"]), "T": float(values["T"]), "N": float(self.clients), "d": 1.0}
        found = {**constants, "e0": e0, "distance2": far**2, **rest}
        of_f = of_mean(given, given.start[0] - far if self.mean_loss else None) if self.constants else {}
        return found | {name: value for name, value in of_f.items() if self.mean_loss or name not in found}

    def scalars(self, values: Values) -> dict[str, np.ndarray]:
        each = [{name: value[at] for name, value in values.items()} for at in range(len(values["T"]))]
        rows = [self.arguments(self.problem(row), row) for row in each]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]} if rows else {}

    def moved(self, values: Values, name: str, target: np.ndarray) -> Values:
        return values | {name: target} if name in ("T", "sigma2") else values

    def built(self, values: Mapping[str, Any]) -> FamilyInstance:
        given = self.problem(values)
        arguments = self.arguments(given, values)
        arguments["eta"] = float(values.get("eta", values["step"] * self.steps / arguments["beta"]))
        return FamilyInstance(problem=given, eta=arguments["eta"], iterations=int(values["T"]), arguments=arguments)

    def sharp(self) -> Values:
        """Steep inside or outside, the start inside, at and beyond the kink; with noise and without."""
        rows = [
            (pair, 1.0, sigma2, far, step, min(T, self.longest))
            for pair in ((1.0, 0.25), (0.25, 1.0), (1.0, 2.0**-8), (1.0, 1.0))
            for sigma2, far in ((0.0, 0.5), (0.0, 2.0), (0.0, 16.0), (1.0, 0.0))
            for step, T in ((1.0, 1), (1.0, 40), (0.5, 4))
        ]
        names = ("curvature", "width", "sigma2", "far", "step", "T")
        values = {name: np.array(column, dtype=float) for name, column in zip(names, zip(*rows))}
        if self.clients > 1:
            values |= {"minimiser": np.zeros((len(rows), self.clients)), "weight": np.ones((len(rows), self.clients))}
        return values
