"""A verdict on anybody's own bound, `check(bound, algorithm=...)`; `claims` has the library's own theorems."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from suffice.bounds import PARAMETERS, Parameter, Quantity, Source, Theorem
from suffice.simulate import Algorithm, Local
from suffice.simulate.algorithms.algorithm import check_algorithm
from suffice.simulate.threads import one_thread
from suffice.support import progress as bars
from suffice.support.errors import InputError
from suffice.support.numbers import as_number, as_whole
from suffice.support.parse import nearest

from .check_extent import not_tried, tried
from .claim import EFFORTS, Claim, Effort
from .counterexample import with_counterexample
from .dimension_sweep import Sweep
from .families import ProblemFamily, own_scalar
from .free_constant import with_constant
from .periods import over_periods
from .problem_measure import APART, GIVEN, GROWING, ROUNDS, meant_by, measures, own_number, quadratic, typical_setting
from .proof_request import search_of
from .quantity import Composed, composed, form_of, quantity_of
from .readable_bound import renamed, served, settings_kept
from .sampled_check import LOOKED_AT, left_open, path_counterexample, path_measures, sampled_verdict
from .schedule import Scheduled, with_steps
from .verdict import Outcome, Verdict
from .widened_conditions import explained, loosened


def check(
    bound: Callable[..., Any],
    *,
    conditions: Callable[..., Any] | None = None,
    quantity: str | Quantity = Quantity.EXCESS,
    direction: str = "upper",
    algorithm: Algorithm | None = None,
    step: Callable[..., Any] | None = None,
    family: ProblemFamily | None = None,
    client: int = 0,
    period: tuple[int, int] | None = None,
    assumptions: Collection[str] = (),
    free: str = "",
    names: Mapping[str, str | Callable[..., Any]] | None = None,
    delta: float | None = None,
    effort: str = "quick",
    root: int = 0,
    progress: Callable[[int, int], None] | None = None,
    prove: bool | float = False,
    box: Mapping[str, Any] | None = None,
) -> Verdict:
    """Judge if a quantity stays under `bound` on every instance of `family` that meets `conditions`, or over it where
    `direction` is "lower"; the quantity is E[e_T] of one client unless given.

    bound        a function of keyword scalars from `PARAMETERS` (mu, beta, eta, e0, sigma2, T, ...), the family's own
                 or numbers that the algorithm has by that name (`weight` of heavy ball), in arithmetic, the functions
                 that `readable_bound.FUNCTIONS` names (of math, NumPy or Python) and those of
                 `bounds.elementary`, so that wrong variants of it can be made and refuted; of any other function only
                 keywords are varied, and the verdict says so
    conditions   a function of such scalars that returns {name: (lhs, rhs)} with lhs <= rhs
    quantity     by name, see docs/quantities.md (excess, last_distance, average_gradient, hitting_time, ...), or in
                 four words, by `quantity`. Where it is of f, the mean of the clients' losses, with minimiser x*, e0 is
                 f(xbar_0) - f* at the mean xbar_0 of the starts, distance2 is |xbar_0 - x*|^2, and there are zeta2,
                 Gamma, hessian_gap, G2 and B2 of `PARAMETERS`: a bound that takes one of these is tried on clients that
                 differ
    algorithm    `Local()` unless given. Of a linear one on quadratics expected values are computed exactly; any other
                 is simulated, and so is any on other losses: a false bound is called violated from sampled paths with
                 probability at most 1e-6 a call that it was true, whatever the distribution of what is bounded
    step         a function of t = 0, 1, ... and scalars, the step from theta_t: lambda *, t, mu: 2 / (mu * (t + 1)); of
                 T, say, but not of t it is a constant step, which is then the bound's eta. Unless given, steps are eta
    family       instances; unless given `quadratics(identical=True)` of 1 to 8 clients in 1 to 8 dimensions, with steps
                 up to the largest that `conditions` allow at each instance, at most 4/beta
    names        the letters of your theorem: {"K": "period", "kappa": lambda *, beta, mu: beta / mu} where `bound` and
                 `conditions` call the algorithm's period K and the family's beta/mu kappa
    period       an interval (low, high): the algorithm's period is tried at both ends and at two numbers in between. A
                 bound of R is about whole rounds, T = R period, K is the period, participants those of a round
    assumptions  {"isotropic"} where the bound counts on noise of the same variance in all directions: by default some
                 instances have noise along one end of the spectrum
    free         the name of a constant that the bound takes and grows with: the answer is the least one over what is
                 tried, and whether it grows with kappa = beta/mu, N or T; then the order is false
    client       whose model is measured; scalars such as e0 are the family's, those of `quadratics` seen from client 0
    delta        of a bound that the quantity itself, not its expectation, meets with probability 1 - delta at least; it
                 may be a parameter of the bound. Tested on simulated paths by the exact binomial distribution
    root         root from which all random numbers are derived
    effort       "quick" (seconds) or "full" (minutes); full begins with a quick check and ends there where that refutes
    progress     is told how many families are done, of how many; unless given a terminal shows a bar after two seconds.
                 A quick check of a true bound takes 3 to 20 seconds exactly, 10 to 60 on paths, or minutes where a step
                 is slow: `quadratics(longest=20)` ends paths at 20 iterations; a false one is often refuted sooner
    prove        also search for a proof for all dimensions, spectra, starts, noises and T on quadratics of like
                 clients, or of a family's that differ in their minimisers alone, or for an exact violation, in 30 CPU
                 seconds, or in as many as given: see `verdict.proof`
    box          where to prove: {"eta beta": (0, 1), "mu/beta": (0.01, 1)} unless conditions limit the step otherwise

    The verdict is `valid` where nothing refutes the bound and `holds` where, besides, every deliberately wrong variant
    of bound and conditions is refuted. A violation is shrunk to a simple instance and evaluated again at 50 digits: see
    `verdict.counterexample`. `verdict.tried` says on what, `verdict.not_tried` what was left out. Where the bound is
    not a number it counts as violated, and the verdict names the place. What exact moments assume of the algorithm is
    tested on simulated paths first; where that fails the verdict is inconclusive and `verdict.reason` says why. What
    was sampled is said in `verdict.not_tried`; `verdict.error_probability` is 0 where nothing was.
    Raises `InputError`, also for a bound that is infinite wherever it was tried.
    """
    chosen = algorithm if algorithm is not None else Local()
    check_algorithm(chosen)
    as_whole("client", client, least=0)
    as_whole("root", root, least=0)
    for name, function, remedy in (
        ("bound", bound, "give a function of scalars"),
        ("conditions", conditions, "give a function of scalars that returns {name: (lhs, rhs)}, meaning lhs <= rhs"),
        ("step", step, "give a function of t and scalars, such as lambda *, t, mu: 2 / (mu * (t + 1))"),
    ):
        if not callable(function) and (name == "bound" or function is not None):
            raise InputError(name, function, remedy)
    if not isinstance(family, ProblemFamily | None):
        raise InputError("family", family, "give a ProblemFamily, such as families.quadratics()")
    if direction not in ("upper", "lower"):
        raise InputError("direction", direction, "use upper or lower")
    if delta is not None and not 0 < as_number("delta", delta) < 1:
        raise InputError("delta", delta, "give a probability between 0 and 1")
    if isinstance(assumptions, str) or not {*assumptions} <= {"isotropic"}:
        raise InputError("assumptions", str(assumptions), 'the one that may be stated is {"isotropic"}')
    if effort not in EFFORTS:
        raise InputError("effort", effort, f"use {' or '.join(EFFORTS)}")
    seconds, sides = search_of(prove, box)
    bar = bars.progress("check", after=2.0) if progress is None else nullcontext(progress)
    with settings_kept(), one_thread(), bar as report:
        own = {} if family is None else family.own()
        own |= {free: own_scalar(free, "the bound")} if free else {}
        meant = _names(names, bound, conditions, quantity, *([step] if step else []))
        given = GIVEN | APART | GROWING if family is None else {"eta", *typical_setting(family).arguments}

        def read(function: Callable[..., Any]) -> Callable[..., Any]:
            known = lambda name: name in given or own_number(chosen, ROUNDS.get(name, name)) is not None  # noqa: E731
            return renamed(function, meant, known)

        if step is not None:
            step = read(step)
            meant = with_steps(step, meant, bound, conditions)
        bound, conditions = read(bound), None if conditions is None else read(conditions)
        asked = quantity_of(quantity, meant)
        asked = replace(composed(asked), isotropic=True) if assumptions else asked
        if direction == "lower" and composed(asked).form.over == "time":
            remedy = "paths end at T, which refutes no lower bound of it; bound still_running from below"
            raise InputError("quantity", asked.name.lower(), remedy)

        def judged(chosen: Algorithm) -> Verdict:
            chosen = chosen if step is None else Scheduled(of=chosen, given=step)
            theorem = record(bound, conditions, asked, direction, own, chosen)
            theorem = theorem if delta is None else replace(theorem, mode="probability")
            judge = _Check(
                theorem=theorem, algorithm=chosen, family=family, client=client, delta=delta, root=root,
                progress=report,
            )  # fmt: skip
            if free:

                def at(C: float) -> Theorem:
                    fixed = renamed(partial(bound, **{free: C}), {})
                    return record(fixed, conditions, asked, direction, own, chosen)

                return judge.with_constant(free, at)
            verdict = judge.verdict(effort)
            if not seconds:
                return verdict
            from .proof.prove import with_proof  # SymPy and the search, which few ask for

            return with_proof(verdict, theorem, chosen, family, box=sides, seconds=seconds, client=client)

        return over_periods(judged, chosen, period)


@dataclass(frozen=True, kw_only=True)
class _Check:
    """One question put to the judge: a bound, an algorithm, the instances and whose model is measured."""

    theorem: Theorem
    algorithm: Algorithm
    family: ProblemFamily | None
    client: int
    delta: float | None
    root: int
    progress: Callable[[int, int], None] | None

    def verdict(self, effort: str) -> Verdict:
        """The verdict on instances."""
        verdict = self._on_instances("quick")
        if verdict.outcome is Outcome.VACUOUS:
            some, why = explained(self.theorem, verdict.evidence.unmet)
            outcome = Outcome.INCONCLUSIVE if some else Outcome.VACUOUS
            return replace(verdict, outcome=outcome, evidence=replace(verdict.evidence, unmet=why))
        # What a quick check refutes, a full one refutes too, without the minutes that a true bound takes. Both together
        # certify fewer instances than `MOST_CERTIFIED`.
        if effort != "quick" and verdict.outcome is not Outcome.VIOLATED:
            verdict = self._on_instances(effort)
        if verdict.valid and verdict.worst_ratio <= 0 and any(bound > 0 for bound, _ in verdict.points):
            return replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=_NOTHING[self.theorem.direction])
        return verdict

    def with_constant(self, name: str, at: Callable[[float], Theorem]) -> Verdict:
        """The verdict at the least value of a constant of that name."""
        if name not in self.theorem.bound_keywords:
            raise InputError("free", name, f"the bound takes {', '.join(self.theorem.bound_keywords)}")
        one = at(1.0)
        if not self._by_moments or self.theorem.direction == "lower":
            raise InputError("free", name, "constants are found for upper bounds of linear algorithms on quadratics")
        measured, reason = measures(one, self.algorithm, self.family, self.client, effort="order")
        if reason:
            return Verdict.inconclusive(one, reason)
        spend = replace(EFFORTS["quick"], corners=EFFORTS["quick"].instances)
        return with_constant(
            name, self.theorem, at, measured, spend, self.root,
            lambda theorem: replace(self, theorem=theorem).verdict("quick"),
        )  # fmt: skip

    @property
    def _by_moments(self) -> bool:
        exact = self.algorithm.linear and self.delta is None and not form_of(self.theorem).form.level
        return exact and quadratic(self.theorem, self.algorithm, self.family, self.client)

    def _on_instances(self, effort: str) -> Verdict:
        """The verdict by exact moments, or by simulated paths: see `sampled_check`."""
        theorem, exact, others, left = self.theorem, self._by_moments, None, ""
        given = theorem, self.algorithm, self.family, self.client
        options: dict[str, Any] = {} if exact else {"root": self.root, "delta": self.delta}
        make: Any = measures if exact else path_measures
        measured, reason = make(*given, effort=effort, **options)
        if reason:
            return Verdict.inconclusive(theorem, reason)
        spend = EFFORTS[effort]
        spend = replace(spend, corners=2 * spend.instances if exact else spend.instances)
        if self.family is None:
            others = Sweep(theorem, measured, self.client, effort)
        else:  # as much for one as for all that are drawn from otherwise
            by, deeper = (5, 3) if exact else (3, 2)
            spend = Effort(by * spend.instances, deeper * spend.restarts, deeper * spend.ascents, by * spend.corners)
        if exact:
            claim = Claim(
                theorem=theorem, families=tuple(each.family(theorem) for each in measured), until_refuted=True,
                further=others.evidence if others else None, progress=self.progress,
            )  # fmt: skip
            verdict = claim.verify(effort=spend, root=self.root)
        else:
            verdict, certified = sampled_verdict(
                theorem, measured, spend=spend, root=self.root, others=others, progress=self.progress
            )
            left = f"{left_open(measured, certified, theorem, effort)}; "
        every = [*measured, *(others.found if others else [])]
        verdict = self._with_extent(verdict, every, left, others.left_out if others else [])
        if verdict.outcome is Outcome.VIOLATED and not exact:
            return replace(verdict, counterexample=path_counterexample(theorem, verdict, every))
        if verdict.outcome is Outcome.VIOLATED:
            return with_counterexample(verdict, theorem, every)
        some = measured if exact else [each.certified(LOOKED_AT[effort]) for each in measured[:2]]
        return loosened(verdict, theorem, some, root=self.root) if verdict.valid else verdict

    def _with_extent(
        self, verdict: Verdict, every: Sequence[Any], sampled: str, left_out: Sequence[tuple[int, int]] = ()
    ) -> Verdict:
        """The verdict with what was tried and what was not; `InputError` if the bound is infinite on all instances."""
        if verdict.instances and verdict.evidence.unbounded == verdict.instances:
            count = f"all {verdict.instances} instances"
            remedy = f"it is infinite on {count} tried and says nothing; give a finite one"
            raise InputError("bound", verdict.theorem.title, remedy)
        # none was drawn from after the family where a violation ended the search
        names, label = [each.problems.name for each in every], verdict.evidence.worst_instance.get("label")
        if verdict.outcome is Outcome.VIOLATED and not verdict.evidence.undefined and label in names:
            every = every[: names.index(label) + 1]
        beyond = f"{sampled}{not_tried(every, verdict, left_out)}"
        return replace(verdict, tried=tried(every, self.algorithm, verdict), not_tried=beyond)


_NOTHING = {
    "upper": "what is measured is 0, or no more than rounding or chance leaves, on every instance that was tried: no "
    "positive bound of it could fail there; give a family on which it is positive",
    "lower": "what is measured is known on no instance on which the bound is positive (samples bound no expectation "
    "from above): no bound of it could fail there; give a family without noise",
}


def _names(names: Any, *given: Any) -> Mapping[str, Any]:
    """`names`, or `InputError` where it says nothing of the functions that are given."""
    remedy = 'say what your own keywords mean: {"c": "eta", "kappa": lambda *, beta, mu: beta / mu}'
    if not isinstance(names, Mapping | None):
        raise InputError("names", names, remedy)
    if not names:
        return {}
    parts = [[one.form.of, one.form.over] if isinstance(one, Composed) else [one] for one in given]
    functions = [each for part in parts for each in part]
    taken = {name for each in functions if callable(each) for name in inspect.signature(each).parameters}
    for name, meant in names.items():
        if not (isinstance(meant, str) or callable(meant)):
            raise InputError(f"names[{name!r}]", meant, remedy)
        if name not in taken:
            raise InputError("names", name, f"no function has this keyword; they have {', '.join(sorted(taken))}")
    return names


_SIDES = {"upper": "most", "lower": "least"}


def record(
    bound: Callable[..., Any],
    conditions: Callable[..., Any] | None = None,
    quantity: Quantity = Quantity.EXCESS,
    direction: Any = "upper",
    own: Mapping[str, Parameter] = MappingProxyType({}),
    algorithm: Algorithm | None = None,
) -> Theorem:
    """A bound as a theorem, whose parameters are known keywords, `own` ones of a family, or numbers of `algorithm`."""
    own = dict(own)
    for function in filter(None, (bound, conditions)):
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):  # of a type such as int
            remedy = "its parameters cannot be read; give a function of scalars"
            raise InputError("bound" if function is bound else "conditions", function, remedy) from None
        for name, parameter in signature.parameters.items():
            if name not in PARAMETERS and name not in own:
                if own_number(algorithm, name) is not None:
                    own[name] = own_scalar(name, "the algorithm")
                    continue
                near = nearest(name, [*PARAMETERS, *own])
                meant = meant_by(name) or (f"did you mean {near}? " if near else "")
                raise InputError(
                    "parameter",
                    name,
                    f"{meant}name it as in suffice.PARAMETERS: {', '.join(list(PARAMETERS)[:9])}, ...; or make it a "
                    "number that the algorithm has by this name; or declare it with the family that says its value: "
                    "ProblemFamily(..., parameters={NAME: None})",
                )
            if parameter.kind not in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                raise InputError("parameter", name, "take scalars by keyword")
    given: dict[str, Any] = {} if conditions is None else {"conditions": served(conditions, "conditions")}
    return Theorem(
        key="own/bound",
        edition="corrected",
        title=getattr(bound, "__name__", "own bound"),
        source=Source(paper="yours", locator=getattr(bound, "__name__", "own bound")),
        statement=inspect.getdoc(bound) or f"{quantity.expression} is at {_SIDES[direction]} the bound.",
        quantity=quantity,
        direction=direction,
        mode="expectation",
        bound=served(bound),
        own=own,
        **given,
    )
