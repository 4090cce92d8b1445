"""Measures of `check`: exact expected values of an algorithm on instances of a family of learning problems."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
import torch

from suffice.bounds import Theorem
from suffice.simulate import Algorithm, Local, Quadratics, Randomness
from suffice.simulate.algorithms.algorithm import Wrapper
from suffice.simulate.expected_values import expected_values
from suffice.simulate.moment_maps import origin
from suffice.simulate.moment_powers import MOST_ENTRIES, Block, Cycle, entries
from suffice.simulate.problem import QuadraticProblem
from suffice.simulate.problem_batches import tensors
from suffice.support.errors import InputError

from . import high_precision
from .assumptions import APERIODIC, Assumptions, assumptions, steps_once
from .evidence import Evidence, sides
from .families import FamilyInstance, ProblemBatch, ProblemFamily, of_mean_loss, quadratics, with_scalars
from .family import Domain, Family, Values
from .generated_instances import LATE, inner_modes, late, moved_inside, scans
from .measurement_cache import once
from .quantity import APART, GROWING, Composed, form_of, quadratic_at, scalars_of
from .rounding_violations import enlarged, movable, without_rounding
from .schedule import Scheduled, steps

SHAPES = {
    "quick": ((1, 1), (1, 2), (1, 3), (1, 8), (2, 1), (3, 2), (8, 1)),
    "order": ((1, 1), (1, 2), (1, 3), (2, 1), (3, 2), (4, 1), (8, 1), *((N, 1) for N in (16, 32, 64, 128))),
    "full": (*((1, d) for d in range(1, 9)), (2, 1), (2, 3), (3, 2), (4, 1), (5, 2), (6, 1), (7, 2), (8, 1), (8, 4)),
}
"""(clients, features) of the families that are drawn from unless one is given."""
ZEROS = ("e0", "sigma2", *sorted(GROWING))
"""The scalars that may be 0 in the families of the library."""
GIVEN = frozenset(("mu", "beta", "sigma2", "e0", "distance2", "eta", "T", "N", "d", "delta"))
"""The scalars of the families of the library."""
LETTERS = {
    **dict.fromkeys(("gamma", "alpha", "h", "lr", "stepsize"), "eta"), "L": "beta", "ell": "beta",
    **dict.fromkeys(("k", "t", "n_steps", "iterations"), "T"), **dict.fromkeys(("n", "M", "m", "clients"), "N"),
    **dict.fromkeys(("D2", "R2", "r0", "dist2", "D", "x0"), "distance2"),
    **dict.fromkeys(("H", "E", "tau"), "K"), **dict.fromkeys(("gap", "Delta", "delta0", "f0", "F0"), "e0"),
    "kappa": "lambda *, beta, mu: beta / mu", "sigma": "lambda *, sigma2: sigma2**0.5", "zeta_star2": "zeta2",
    "P": "participants", "S": "participants", "M_V": "noise_factor", "A": "noise_excess",
    **dict.fromkeys(("rho", "M_G", "B"), "lambda *, noise_factor: 1 + noise_factor"),
}  # fmt: skip
"""The scalars, or functions of them, that letters of papers often mean here."""
_STEPPED = 200
"""The largest T where coins make the moments too many to square their map, and of averages over the iterations."""
_STEPPED_LATE = 1010
"""The largest T of a few instances in these cases, and where no two steps are alike."""

_LARGEST_STATE, _SQUARINGS = 260, 28
"""Numbers of a state whose moments are powers of a matrix of as many rows, where clients are up to 128; and how many
products of such matrices these powers take."""
_SCANNED = 3
"""The number of families of two or three dimensions that are scanned: an eigenvalue acts alone, so few suffice."""
_WIDE = 4.0
"""The rounding allowed for, in multiples of what a bound loses in float64: its wrong variants lose about as much."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """The quantity `forms` of `client` under `algorithm`, whose assumptions were tested with the result `tested`.

    `scan`: sharp instances also have eigenvalues where the quantity is extreme, see `inner_modes`; and T up to `late`.
    `reach`: see `reach_on`.
    """

    problems: ProblemFamily
    algorithm: Algorithm
    client: int
    tested: Assumptions
    forms: Composed
    scan: bool = False
    late: int = 0
    reach: float = 1.0
    delta: float | None = None

    @property
    def periodic(self) -> bool:
        return self.tested.periodic

    def cycle(self, iterations: int) -> Cycle:
        """The cycle of steps; where there is none, all iterations, in rounds of what is held."""
        if self.tested.periodic:
            return self.tested.cycle
        held = len(self.tested.cycle.blocks[0].iterations)
        starts = range(1, max(iterations, 1) + 1, held)
        return Cycle(blocks=tuple(Block(iterations=tuple(range(t, t + held))) for t in starts))

    def family(self, theorem: Theorem) -> Family:
        """The family with what it measures; instances are moved to where the theorem's conditions hold."""
        return Family(
            name=self.problems.name,
            domains=self.problems.domains,
            measure=partial(self._evidence, theorem),
            sharp=self.problems.sharp and (lambda: self._sharp(theorem)),
            # the library's own families are moved inside the conditions, the step to its limit too
            arguments=None if self.problems.movable else lambda values: arguments_of(self.settings(theorem, values)),
        )

    def _sharp(self, theorem: Theorem) -> Values:
        """The family's sharp instances, with those of `scan` and `late`."""
        domains = self.problems.domains
        assert self.problems.sharp is not None
        pieces = [self.problems.sharp()]
        if self.scan and self.problems.movable is not None and scans(domains):
            given = partial(self._moved, theorem), partial(self._scores, theorem)
            pieces.append(inner_modes(domains, *given, noise=not self.samples))
        pieces += [late(domains, self.late)] if self.late else []
        return {name: np.concatenate([piece[name] for piece in pieces]) for name in domains}

    def _scores(self, theorem: Theorem, values: Values) -> np.ndarray:
        found = self._evidence(theorem, values)
        return np.where(found.counted(theorem), np.nan_to_num(found.ratio(theorem), posinf=1e6), 0.0)

    @property
    def samples(self) -> bool:
        """Whether a measured number is random, and expensive."""
        return False

    def settings(self, theorem: Theorem, values: Values) -> list[FamilyInstance]:
        """The instances of `values`, moved inside where the family allows it."""
        return self.problems.settings(self._moved(theorem, values)[1])

    def _moved(self, theorem: Theorem, values: Values) -> tuple[Values, Values]:
        """Values moved inside where the family allows it, and the same with what `build` is given besides."""
        if self.problems.movable is None:
            return values, values
        self._check_parameters(theorem, [*self.problems.movable.scalars(values), "eta"])
        inside, eta = moved_inside(theorem, self.problems.movable, values, self.reach)
        return inside, inside | {"eta": eta}

    def _evidence(self, theorem: Theorem, values: Values) -> Evidence:
        values, given = self._moved(theorem, values)
        problems: Any
        if isinstance(self.problems.build, ProblemBatch):
            problems, arguments = self.problems.build.many(given)
            eta, T, clients = arguments["eta"], arguments["T"].astype(int), problems.start.shape[1]
        else:
            settings = self.problems.settings(given)
            problems, arguments = [each.problem for each in settings], arguments_of(settings)
            eta, T = np.array([each.eta for each in settings]), np.array([each.iterations for each in settings])
            clients = problems[0].clients
        self._check_client(clients)
        self._check_parameters(theorem, list(arguments))
        engine = "sampled paths" if self.samples else "exact moments"
        asked = Evidence(engine=engine, measured=np.zeros(len(T)), arguments=arguments, values=values)
        inside = asked.counted(theorem)
        eta = steps(self.algorithm, eta, arguments, int(T.max(initial=0)), lambda: inside)
        self.forms.check_iterates(arguments, inside)
        measured, rounding, certain = self._measured(theorem, problems, eta, T, replace(asked, hypothesis=inside))
        says, own_rounding = stated(theorem, arguments)
        known = ~np.isnan(measured)
        rounding = np.where(known, rounding, 0.0) + own_rounding
        found = replace(asked, measured=np.where(known, measured, 0.0), rounding=rounding, hypothesis=known & says)
        found = replace(found, label=self.problems.name, exact=certain)

        def again(row: int, clear: bool) -> float:
            (setting,) = self.problems.settings({name: each[[row]] for name, each in given.items()})
            value, good = self.exactly(setting, rough=clear)
            if theorem.direction == "lower" and not good:
                return np.inf  # twice a number of no digit, which may be negative, is no limit of it
            # as near to the bound as the digits allow
            return float(value) * (1 - (10.0**-good if theorem.direction == "upper" else -(10.0**-good)))

        return without_rounding(theorem, found, None if self.samples else again)

    def _measured(
        self, theorem: Theorem, problems: Any, eta: Any, T: np.ndarray, asked: Evidence
    ) -> tuple[np.ndarray, np.ndarray, bool | np.ndarray]:
        """The measured values of the instances that are asked for, NaN where they are unknown, how far rounding may
        change them, and whether they are exact rather than random."""
        scalars = scalars_of(self.forms.form.scalars, asked.arguments)
        given = {"cycle": self.cycle(int(T.max())), "client": self.client, "form": self.forms.form, "scalars": scalars}
        measured, rounding = expected_values(problems, self.algorithm, eta=eta, iterations=T, **given)
        # beyond the range of floats nothing is concluded
        return np.where(np.isfinite(measured) & np.isfinite(rounding), measured, np.nan), rounding, True

    def exactly(self, setting: FamilyInstance, *, rough: bool = False) -> tuple[Any, int]:
        """The measured value of an instance, an mpmath number of 50 digits, and how many of these digits are good; if
        `rough`, a few are enough."""
        eta = steps(self.algorithm, setting.eta, setting.arguments, setting.iterations)
        return high_precision.measured(
            cast(QuadraticProblem, setting.problem),
            self.algorithm,
            iterations=setting.iterations,
            eta=eta.ravel() if isinstance(self.algorithm, Scheduled) else eta,
            client=self.client,
            cycle=self.cycle(setting.iterations),
            form=self.forms.form,
            scalars=scalars_of(self.forms.form.scalars, setting.arguments),
            rough=rough,
        )

    def _check_client(self, clients: int) -> None:
        if not 0 <= self.client < clients:
            raise InputError("client", self.client, f"the family {self.problems.name} has clients 0 to {clients - 1}")

    def _check_parameters(self, theorem: Theorem, known: list[str]) -> None:
        for parameter in theorem.parameters:
            if parameter.name not in known:
                gives = f"the family {self.problems.name} gives {', '.join(known)}"
                raise InputError("parameter", parameter.name, f"{meant_by(parameter.name)}{gives}")


def meant_by(letter: str) -> str:
    """A hint at the scalar that a letter of papers means; "" for a letter that is not often used."""
    means = LETTERS.get(letter, "")
    means = means if means.startswith("lambda") or not means else f'"{means}"'
    return f'did you mean names={{"{letter}": {means}}}? ' if means else ""


def arguments_of(settings: list[FamilyInstance]) -> dict[str, np.ndarray]:
    return {name: np.array([each.arguments[name] for each in settings]) for name in settings[0].arguments}


def stated(theorem: Theorem, arguments: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Where the bound states something, and how much rounding changes it.

    Formulas with ln(e0) or 1/sigma2 have no value at 0: they are read as theorems on positive numbers. Close to a
    singularity, as in 1/(2 - eta beta), the last bit of eta moves the bound by more than moments are wrong. What
    formulas such as 1 - (1 - x)^n lose themselves shows in a wider format of floats, where the machine has one. Where
    the bound jumps, as `if eta * beta == 1` does, neither is rounding: so both are asked beside the instance, too.
    """
    bound = theorem.bound
    assert bound is not None
    names = theorem.bound_keywords
    given = {name: arguments[name] for name in names}
    shape = arguments["eta"].shape
    with np.errstate(all="ignore"):
        value = np.broadcast_to(bound(**given), shape)
        beside = [enlarged(given, movable(given), -by * 2.0**-50) for by in (1, 2)]
        near, far = (np.broadcast_to(bound(**each), shape) for each in beside)

        def lost(at: Mapping[str, Any], narrow: np.ndarray) -> np.ndarray:
            wide = bound(**{name: np.asarray(entry, dtype=np.longdouble) for name, entry in at.items()})
            return _WIDE * np.abs(np.broadcast_to(wide, shape) - narrow).astype(float)

        lost_at = np.fmin(lost(given, value), np.fmax(lost(beside[0], near), lost(beside[1], far)))
        slope = np.abs(far - near) * np.fmin(1, np.abs(value) / np.abs(near))  # a share of the value, where it jumps
        # across a pole, as 1/(2 - eta beta) at eta = 2/beta rounded up, it has another sign, and says nothing
        pole = (value * near < 0) & (np.abs(near) > 1.1 * np.abs(far))
        allowed = sum(np.where(np.isfinite(each), each, 0.0) for each in (slope, lost_at))
    zero = np.zeros(shape, dtype=bool)
    for name in (*ZEROS, "distance2"):
        zero |= arguments[name] == 0 if name in names else False
    # a condition that is meant as <, of a bound that is no number at equality alone, or where 1/(b c - 1), to which
    # rounding may give either sign, is hidden in a maximum
    edge = np.zeros(shape, dtype=bool)
    for lhs, rhs in sides(theorem, arguments).values():
        edge |= (np.abs(rhs - lhs) <= 2.0**-40 * np.abs(rhs)) & (rhs != 0)
    rows, less = np.flatnonzero(edge), np.isnan(value) & np.isfinite(near)
    edge &= less
    if len(rows):
        some = {name: np.broadcast_to(entry, shape)[rows] for name, entry in given.items()}
        with np.errstate(all="ignore"):
            for side in (-1, 1):
                one, two = (bound(**enlarged(some, movable(given), side * by * 2.0**-50)) for by in (1, 2))
                edge[rows] |= np.abs(one - two) > 0.1 * np.maximum(np.abs(one), np.abs(two))
    return ~(edge | pole | (zero & (np.isnan(value) | np.isneginf(value)))), np.asarray(allowed)


def measured_family(
    problems: ProblemFamily, theorem: Theorem, algorithm: Algorithm | None = None, client: int = 0
) -> Family:
    """The family with the exact value of the theorem's quantity under `algorithm` (`Local()` unless given).

    Raises `InputError` where the algorithm does not meet what exact moments assume.
    """
    chosen = algorithm if algorithm is not None else Local()
    (measure, *_), reason = measures(theorem, chosen, problems, client, effort="quick")
    if reason:
        raise InputError("algorithm", chosen.name, reason)
    return replace(measure, scan=False).family(theorem)


ROUNDS = {"R": "period", "K": "period", "participants": "participants"}
"""The scalars of a bound of rounds, with the name that the algorithm has for each."""


def constants(
    theorem: Theorem, algorithm: Algorithm, family: ProblemFamily | None, delta: float | None = None
) -> dict[str, float]:
    """The numbers that the algorithm has by the names of scalars that no family gives, such as a momentum weight; of R
    the iterations of a round, see `with_scalars`; and `delta`, where one is asked for."""
    # where nothing is asked with probability 1 - delta, delta is free: the accuracy of a compressor
    own = GIVEN - {"delta"} if theorem.mode == "expectation" else GIVEN
    taken = own if family is None else {"eta", *typical_setting(family).arguments}
    asked = [*form_of(theorem).form.scalars]
    asked += algorithm.scalars if isinstance(algorithm, Scheduled) else []
    names = [name for name in (*(each.name for each in theorem.parameters), *asked) if name not in taken]
    found = {name: own_number(algorithm, ROUNDS.get(name, name)) for name in names}
    for name in ROUNDS:
        if name in found and found[name] is None:
            raise InputError(name, algorithm.name, "it has no rounds: give LocalSGD(period=5), say, or bound by T")
    found |= {} if delta is None else {"delta": delta}
    return {name: value for name, value in found.items() if value is not None}


def own_number(algorithm: Any, name: str) -> float | None:
    """The number that an algorithm, or the one that it wraps or runs beside, has by this name (infinite where all
    participate); None where neither has one."""
    value = getattr(algorithm, name, None)
    if isinstance(value, int | float):
        return float(value)
    if name == "participants" and hasattr(algorithm, name):
        return np.inf
    inner = algorithm.of if isinstance(algorithm, Wrapper) else getattr(algorithm, "server", None)
    return None if inner is None else own_number(inner, name)


def measures(
    theorem: Theorem, algorithm: Algorithm, family: ProblemFamily | None, client: int, *, effort: str
) -> tuple[list[Measure], str]:
    """The families to draw from with the tested algorithm, and why nothing can be measured ("" where it can)."""
    given: dict[str, Any] = {"algorithm": algorithm, "client": client, "forms": form_of(theorem)}
    if family is not None:
        problems = prepared(theorem, algorithm, family, family)
        if problems.movable is not None:  # no instance is moved beyond the T that somebody chose
            most = problems.domains["T"].high
            problems = replace(problems, movable=replace(problems.movable, longest=most))
        tested = tested_once(*typical(problems, algorithm))
        far = reach_on(problems, algorithm)
        return [Measure(problems=problems, tested=tested, scan=True, reach=far, **given)], tested.reason
    tested: Assumptions | None = None

    def measure(shape: tuple[int, int]) -> Measure:
        nonlocal tested
        problem, _, eta = typical(shaped(theorem, algorithm, shape), algorithm)
        steps_once(problem, algorithm, eta)
        tested = tested or tested_once(problem, algorithm, eta)
        form = given["forms"].form
        squared, coins = squares(problem, algorithm, tested, given["forms"])
        longest, last = APERIODIC, _STEPPED_LATE
        if tested.periodic:
            longest = 10_000 if squared else _STEPPED
            # squaring the maps of coins loses digits where modes neither grow nor decay
            last = _STEPPED_LATE if form.stepped or coins > 1 else LATE[-1]
        if effort == "order":
            last = last if squared else longest  # a search at every scale of T follows paths of the largest
            products = _SQUARINGS if squared else longest * coins // (2 if given["forms"].growing else 1)
            if products * _size(problem, algorithm, given["forms"]) ** 3 > _SQUARINGS * _LARGEST_STATE**3:
                raise InputError("clients", shape[0], "give fewer, as moments of so large a state take long")
        problems = shaped(theorem, algorithm, shape, longest=longest)
        return Measure(problems=problems, tested=tested, late=last, **given)

    # what is assumed is tested on a shape in the middle
    found = of_shapes(sorted(SHAPES[effort], key=lambda shape: -shape[0] * shape[1] % 7), client, measure)
    if found[0].tested.reason:
        return [], found[0].tested.reason
    found.sort(key=lambda each: SHAPES[effort].index(shape_of(each.problems)))
    some = [at for at, each in enumerate(found) if shape_of(each.problems)[1] in (2, 3)]
    some = some[: _SCANNED if found[0].periodic else 1]  # where no two steps are alike each is probed for itself
    far = reach_on(found[0].problems, algorithm)
    return [
        replace(each, scan=at in some, late=each.late if at in some[-1:] else 0, reach=far)
        for at, each in enumerate(found)
    ], ""


def prepared(
    theorem: Theorem, algorithm: Algorithm, family: ProblemFamily, own: ProblemFamily | None, delta: Any = None
) -> ProblemFamily:
    """The family with all scalars that the theorem asks for, those of the mean loss where its quantity is of that, and
    levels; its noise is isotropic where the bound counts on that. `own` is None for a family of the library."""
    forms, scalars = form_of(theorem), constants(theorem, algorithm, own, delta)
    if forms.mean_loss or forms.apart:
        family = of_mean_loss(family, *([] if forms.mean_loss else APART))
    if forms.growing and family.growing is not None:
        family = family.growing(forms.growing)
    sharp = family.sharp
    if forms.isotropic and family.movable is not None and "along" in family.domains and sharp is not None:
        domains = {**family.domains, "along": Domain(low=0, high=0)}
        family = replace(family, domains=domains, sharp=lambda: (given := sharp()) | {"along": 0 * given["along"]})
    level = forms.form.level
    given = bool(level) and level in {**typical_setting(family).arguments, **scalars}
    return with_scalars(family, scalars, "" if given else level)


def shaped(
    theorem: Theorem, algorithm: Algorithm, shape: tuple[int, int], delta: float | None = None, **options: Any
) -> ProblemFamily:
    """The quadratics of a shape (clients, features) that the theorem is about, prepared."""
    family = quadratics(clients=shape[0], features=shape[1], identical=alike(theorem), **options)
    return prepared(theorem, algorithm, family, None, delta)


def _size(problem: QuadraticProblem, algorithm: Algorithm, forms: Composed) -> int:
    """The number of variables whose moments are followed."""
    return origin(problem, algorithm)[2].numel() + forms.form.mean * (problem.clients * problem.features + 1)


def squares(problem: QuadraticProblem, algorithm: Algorithm, tested: Assumptions, forms: Composed) -> tuple[bool, int]:
    """Whether the map of a cycle of steps is squared, and how many outcomes its coins have, twice as many where noise
    depends on the state, which costs as much."""
    coins = max((len(algorithm.outcomes(problem, each.iterations[0])) for each in tested.cycle.blocks), default=1)
    coins *= 2 if forms.growing else 1
    many = coins > 1 and entries(_size(problem, algorithm, forms)) > MOST_ENTRIES
    return tested.periodic and not forms.form.stepped and not many, coins


M = TypeVar("M", bound=Measure)


def of_shapes(shapes: Collection[tuple[int, int]], client: int, measure: Callable[[tuple[int, int]], M]) -> list[M]:
    """The measures of the quantity of `client` in each shape (clients, features) that the algorithm is for."""
    found, most = list[M](), max(clients for clients, _ in shapes)
    refused = InputError("client", client, f"give 0 to {most - 1}, or a family of more")
    for shape in shapes:
        try:
            found += [measure(shape)] if client < shape[0] else []
        except InputError as error:
            if error.field == "algorithm" and not isinstance(error.__cause__, Exception):
                raise
            refused = error  # this algorithm is not for so many clients
    if not found:
        raise refused
    return found


def reach_on(family: ProblemFamily, algorithm: Algorithm) -> float:
    """`reach`, where the library sets the step of the family's instances."""
    if isinstance(algorithm, Scheduled):
        arguments = typical_setting(family).arguments
        most = float(steps(algorithm, 0, arguments, APERIODIC).max())
        return max(arguments["eta"] / most, 1.0) if "eta" in algorithm.scalars and most else 1.0
    return reach(algorithm, typical_setting(family).problem.clients, APERIODIC) if family.movable else 1.0


def reach(algorithm: Algorithm, clients: int, iterations: int) -> float:
    """The ratio of eta to the largest step taken in some iterations; 1 where eta is smaller, or where the models do not
    move.

    Where all gradients are 1 a model moves by its step in each iteration: eta of gradient descent, eta/(1 + t0) at most
    where the steps are eta/(t + t0). So eta = reach/beta is what makes the algorithm take a step of 1/beta.
    """
    ones, flat = np.ones((clients, 1)), 1e-9  # so flat that gradients are 1 wherever 40 steps may lead
    problem = Quadratics.of(np.full((clients, 1, 1), flat / 2), ones / flat, sigma2=0 * ones[:, 0], start=0 * ones)
    randomness, eta = Randomness(seeds=torch.arange(16), root=0xA57), torch.ones((), dtype=torch.float64)
    furthest = 0.0
    try:
        with torch.no_grad():
            state = algorithm.init(problem, problem.start.expand(16, -1, -1).clone())
            for t in range(1, iterations + 1):
                before, draw = state["models"], algorithm.draw(problem, randomness, t)
                state = algorithm.step(problem, state, draw, eta)
                furthest = max(furthest, float((state["models"] - before).abs().max()))
    except (InputError, RuntimeError, ValueError, IndexError):  # one for a given number of features
        return 1.0
    return float(f"{1 / furthest:.6g}") if 1e-6 < furthest < 1 else 1.0  # the last places are rounding


def alike(theorem: Theorem) -> bool:
    """Whether the theorem is about clients of one loss alone: it takes no scalar that says how far they are apart."""
    return not APART & {parameter.name for parameter in theorem.parameters}


def tested_once(problem: QuadraticProblem, algorithm: Algorithm, eta: Any) -> Assumptions:
    """`assumptions`, as `once` says."""
    asked = ("assumptions", eta, *(each.numpy() for each in tensors(problem)))
    return once(algorithm, asked, lambda: assumptions(problem, algorithm, eta))


def shape_of(problems: ProblemFamily) -> tuple[int, int]:
    assert problems.sharp is not None
    setting = problems.setting({name: value[0] for name, value in problems.sharp().items()})
    return setting.problem.clients, setting.problem.features


def quadratic(theorem: Theorem, algorithm: Algorithm, family: ProblemFamily | None, client: int) -> bool:
    """Whether second moments of a linear algorithm determine the quantity on the family's instances."""
    if family is not None:
        problem = typical(family, Local())[0]
        try:
            algorithm.outcomes(problem, 1)
        except InputError:  # there are too many
            return False
        if not hasattr(problem, "A"):
            return False
    forms = form_of(theorem)
    if not callable(forms.form.of):
        return True
    some = [family] if family is not None else [quadratics(clients=clients) for clients in range(client + 1, 9)]
    for problems in (prepared(theorem, algorithm, each, family) for each in some):
        setting, (problem, _, eta) = typical_setting(problems), typical(problems, algorithm)
        try:
            steps_once(problem, algorithm, eta)
        except InputError:  # it is not for so many clients
            continue
        given = scalars_of(forms.form.scalars, setting.arguments)
        return quadratic_at(forms.form, problem, algorithm, client, given)
    return True


def typical(family: ProblemFamily, algorithm: Algorithm) -> tuple[Any, Algorithm, Any]:
    """An instance in the middle of the family, on which the algorithm's assumptions are tested."""
    setting = typical_setting(family)
    eta = steps(algorithm, setting.eta, setting.arguments, APERIODIC)
    eta = eta.ravel() if isinstance(algorithm, Scheduled) else eta
    if not hasattr(setting.problem, "A"):
        return setting.problem, algorithm, eta
    beta = float(np.linalg.eigvalsh(2 * cast(QuadraticProblem, setting.problem).A.numpy()).max())
    return setting.problem, algorithm, np.minimum(eta, 0.3 / beta)


def typical_setting(family: ProblemFamily) -> FamilyInstance:
    drawn = Family(name=family.name, domains=family.domains).draw(16, seed=0)
    if family.movable is not None:
        drawn["curvature"] = np.clip(drawn["curvature"], 0.25, 4)
        for name in ("sigma2", "far"):
            drawn[name] = np.clip(drawn[name], 0.5, 2)
        drawn |= {name: np.clip(drawn[name], 0, 0.5) for name in GROWING & drawn.keys()}  # else few paths have it all
        drawn["step"] = np.full(16, 0.05)
    return family.setting({name: value[3] for name, value in drawn.items()})
